/* The log of a chosen warp, which shows each lane as a core. */
#include <string.h>

#include "emu/debug/log.h"
#include "emu/env/threads/state.h"
#include "emu/sim/alloc.h"

enum { F0 = 32 };

/* Reads the instruction at pc. */
static struct insn insn_at(const struct threads *threads, const struct warp *warp, uint64_t pc)
{
    struct warp_memory *memory = warp_memory_of(warp);
    uint32_t bits = 0;
    if (!warp_memory_load(memory, warp_scratchpad(warp), pc, &bits, 4))
        (void)warp_memory_load(memory, warp_scratchpad(warp), pc, &bits, 2);
    return decode(threads->user->hart->decoder, bits);
}

/* Fills in the address and size of a lane's load or store, and a store's data, which it reads back from
 * memory. */
static void note_access(const struct warp *warp, const struct warp_report *report, unsigned lane,
                        struct effects *effects)
{
    const struct stream_op *op = report->op;
    effects->loaded = op->flags & STREAM_LOAD;
    effects->stored = op->flags & STREAM_STORE;
    if (!effects->loaded && !effects->stored)
        return;
    effects->address = report->address[lane];
    effects->size = op->size;
    if (effects->stored)
        (void)warp_memory_load(warp_memory_of(warp), warp_scratchpad(warp), effects->address, &effects->data,
                               op->size);
}

static void show(struct hart *hart, const struct warp *warp, unsigned lane)
{
    hart->hartid = lane;
    for (unsigned i = 0; i < 32; i++) {
        hart->x[i] = warp_register(warp, i, lane);
        hart->f[i] = warp_register(warp, F0 + i, lane);
    }
}

void threads_log(void *context, struct warp *warp, const struct warp_report *report)
{
    struct threads *threads = context;
    struct step_report step = {.pc = report->pc, .privilege = PRIV_U};
    if (report->event == WARP_EXIT)
        return;
    if (!threads->shown)
        threads->shown = alloc(1, sizeof *threads->shown);
    step.insn = insn_at(threads, warp, report->pc);
    step.trapped = report->event == WARP_TRAP || report->event == WARP_CALL;
    step.retired = !step.trapped;
    step.trap = report->event == WARP_CALL ? (struct trap){.cause = TRAP_ECALL_USER} : report->trap;
    uint32_t lanes = step.trapped ? UINT32_C(1) << report->lane : report->mask;
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctz(lanes);
        step.effects = (struct effects){0};
        if (report->event == WARP_DONE)
            note_access(warp, report, lane, &step.effects);
        show(threads->shown, warp, lane);
        log_report(threads->user->options->warp_log, threads->shown, &step);
    }
}
