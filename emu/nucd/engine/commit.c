/* Retirement: the effects of instructions executed ahead reach hart and memory, and observers are told. */
#include "emu/nucd/engine/state.h"

/* Reports what hart_step() would have reported, except that FS becomes Dirty. */
static void observe(struct engine *e, const struct window_entry *entry, uint8_t privilege)
{
    struct hart *hart = e->parts.hart;
    struct step_report report = {
        .pc = entry->op.pc, .insn = entry->insn, .privilege = privilege, .retired = true};
    struct effects *effects = &report.effects;
    effects->address = entry->address;
    effects->physical = entry->physical;
    effects->size = entry->op.size;
    effects->loaded = entry->op.flags & STREAM_LOAD;
    effects->stored = entry->op.flags & STREAM_STORE;
    if (effects->stored)
        effects->data =
            entry->op.size == 8 ? entry->data : entry->data & ((UINT64_C(1) << 8 * entry->op.size) - 1);
    if (entry->fflags) {
        enum { CSR_FFLAGS = 1 };
        effects->fp_written = true;
        effects->csrs[effects->csr_count++] = (struct csr_note){hart->fflags, CSR_FFLAGS};
    }
    e->stream->observe(e->stream->context, hart, &report);
}

static void retire_task(struct engine *e, uint64_t number, uint64_t at)
{
    struct engine_task *t = engine_numbered(e, number);
    assert(t->number == number && t->done);
    engine_list_remove(&e->ahead, t);
    engine_task_restored(t);
    engine_tell_left(t, NUCD_RETIRED, at);
    t->dead = true;
    (void)engine_task_ended(t);
}

void engine_commit(struct engine *e, uint64_t number, uint64_t at)
{
    for (uint64_t i = window_oldest(e->window); i <= number; i++) {
        const struct window_entry *entry = window_entry(e->window, i);
        window_commit(e->window, i);
        if (entry->op.flags & STREAM_STORE)
            stream_note_store(e->stream, entry->physical, entry->op.size);
        if (e->stream->observe)
            observe(e, entry, e->parts.hart->privilege);
        if (entry->is_task)
            retire_task(e, i, at);
    }
}
