#include "emu/hart/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/access.h"
#include "emu/hart/block.h"
#include "emu/hart/exec.h"
#include "emu/hart/fp.h"
#include "emu/hart/mmu.h"
#include "emu/hart/probe.h"
#include "emu/hart/stream/op.h"
#include "emu/hart/stream/trace.h"

bool stream_init(struct stream *stream, struct hart *hart, struct error *err)
{
    *stream = (struct stream){.hart = hart, .next_pc = hart->pc};
    stream->trace = calloc(1, sizeof *stream->trace);
    if (!stream->trace)
        return error_set(err, "no memory for an instruction stream: %s", strerror(errno));
    hart_flush_code(hart);
    block_update(hart);
    if (!block_describe(hart->blocks, true, err)) {
        free(stream->trace);
        return false;
    }
    stream->trace->plain = hart->exec;
    hart->exec = exec_traced(hart->exec);
    hart->trace = stream->trace;
    hart->trace_offset = hart->memory->base - (uint64_t)(uintptr_t)hart->memory->bytes;
    return true;
}

void stream_free(struct stream *stream)
{
    struct hart *hart = stream->hart;
    if (!hart)
        return;
    hart_flush_code(hart);
    block_update(hart);
    (void)block_describe(hart->blocks, false, NULL);
    hart->exec = stream->trace->plain;
    hart->trace = NULL;
    free(stream->trace);
    *stream = (struct stream){0};
}

static bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

static bool watched(const struct hart *hart, uint64_t address, unsigned size, unsigned kind)
{
    for (unsigned i = 0; i < hart->watchpoint_count; i++) {
        const struct watchpoint *w = &hart->watchpoints[i];
        if ((w->kinds & kind) && overlap(address, size, w->address, w->length))
            return true;
    }
    return false;
}

/* Returns whether bytes within one page are accessible main memory, and no hook watches the access. */
static bool part_plain(struct hart *hart, uint64_t address, unsigned size, enum mmu_access access)
{
    uint64_t physical;
    if (!mmu_check(hart, address, size, access, priv_data_mode(hart), &physical) ||
        !phys_at(hart->memory, physical, size))
        return false;
    return access != MMU_STORE || !hart->hook || !overlap(physical, size, hart->hook_address, 8);
}

static bool access_plain(struct hart *hart, const struct stream_op *op)
{
    bool store = op->flags & STREAM_STORE;
    enum mmu_access access = store ? MMU_STORE : MMU_LOAD;
    uint64_t address = hart->x[op->insn->rs1] + (uint64_t)(int64_t)op->imm;
    unsigned rest = MMU_PAGE - (unsigned)(address & (MMU_PAGE - 1));
    if (watched(hart, address, op->size, store ? HART_WATCH_WRITE : HART_WATCH_READ))
        return false;
    if (hart->triggers.armed &&
        trigger_may_access(hart, address, op->size, store ? TRIGGER_STORE : TRIGGER_LOAD))
        return false;
    if (op->size <= rest)
        return part_plain(hart, address, op->size, access);
    return part_plain(hart, address, rest, access) &&
           part_plain(hart, address + rest, op->size - rest, access);
}

/* Returns whether the instruction, unless it traps, can be executed before the core's clock has reached it. */
static bool is_plain(struct hart *hart, const struct stream_op *op)
{
    if (op->flags & STREAM_SERIAL)
        return false;
    if (insn_needs_fp(&insn_table[op->id]) && !(hart->priv.mstatus & MSTATUS_FS))
        return false;
    return !(op->flags & (STREAM_LOAD | STREAM_STORE)) || access_plain(hart, op);
}

/* Executes the instruction at pc and adds its entry. Returns false, with nothing changed, if it must be stepped. */
static bool run_one(struct stream *stream)
{
    struct hart *hart = stream->hart;
    struct stream_trace *trace = stream->trace;
    struct insn *insn = &trace->single_insns[trace->single_count];
    struct stream_op *op = &trace->single_ops[trace->single_count];
    struct step_report report = {.pc = hart->pc, .privilege = hart->privilege, .retired = true};
    if (hart->triggers.armed && trigger_may_execute(hart, hart->pc))
        return false;
    if (!step_fetch(hart, hart->pc, insn))
        return false;
    stream_op_describe(op, hart->pc, insn);
    if (!is_plain(hart, op) || !step_execute(hart, insn, &report.effects))
        return false;
    trace->single_count++;
    hart->instret++;
    hart->stepped[op->iclass]++;
    stream->entries[stream->count++] =
        (struct stream_entry){op, report.effects.address, report.effects.physical};
    report.insn = *insn;
    if (hart->loop.checking)
        trap_loop_step(hart, &report);
    if (stream->observe)
        stream->observe(stream->context, hart, &report);
    return true;
}

/* Returns whether stream_step() must handle an interrupt or yield before the next instruction. */
static bool is_interrupted(struct hart *hart)
{
    hart->attention = hart->yield || (hart->privileged && priv_due_interrupt(hart));
    return hart->attention;
}

/* Completes the entries of the instructions that handlers have executed; the handlers have set the addresses. */
static void complete_entries(struct stream *stream)
{
    const struct stream_trace *trace = stream->trace;
    struct stream_entry *entry = &stream->entries[stream->count];
    for (const struct trace_run *run = trace->runs; run < stream->hart->trace_run; run++) {
        const struct stream_op *op = run->first[-1].head.ops;
        struct stream_entry *end = entry + run->retired;
        /* Two at a time: one after the end is written again, or is that of stream_end_at(). */
        for (; entry < end; entry += 2, op += 2) {
            entry[0].op = op;
            entry[1].op = op + 1;
        }
        entry = end;
    }
    stream->count = (uint32_t)(entry - stream->entries);
}

/* Runs handlers until more than `budget` instructions have retired or the run ends otherwise. */
static enum trace_end run_traced(struct stream *stream, int64_t budget)
{
    struct hart *hart = stream->hart;
    struct stream_trace *trace = stream->trace;
    const union op *op = stream->count ? block_at_kept(hart, hart->pc) : exec_enter(hart);
    if (!op)
        return TRACE_FULL;
    trace->end = TRACE_BUDGET;
    trace->runs[0].first = op;
    hart->trace_entry = &stream->entries[stream->count];
    hart->trace_run = trace->runs;
    hart->origin = hart->instret + (uint64_t)budget;
    uint32_t saved = fp_begin(hart->frm);
    exec_run(hart, op, budget);
    hart->fflags |= (uint8_t)fp_end(saved);
    hart->instret = hart->origin - (uint64_t)hart->budget;
    complete_entries(stream);
    return trace->end;
}

/* Executes one by one: instructions that the handlers refuse, the last ones before a limit (because a block may exceed
 * its budget by its length), and everything if the hart is observed. */
static enum stream_end run_batch(struct stream *stream, uint32_t limit)
{
    struct hart *hart = stream->hart;
    const bool fast = !stream->observe && hart->watchpoint_count == 0 && !hart->loop.checking &&
                      limit >= BLOCK_INSNS_DESCRIBED;
    while (stream->count < limit) {
        if (fast && limit - stream->count < BLOCK_INSNS_DESCRIBED)
            return STREAM_MORE;
        if (fast)
            block_update(hart); /* registers may have been changed from outside */
        uint64_t flushes = block_flushes(hart->blocks);
        if (fast) {
            enum trace_end end = run_traced(stream, limit - stream->count - BLOCK_INSNS_DESCRIBED);
            if (end != TRACE_REFUSED)
                return end == TRACE_BREAK ? STREAM_STOP : STREAM_MORE;
        }
        if (hart_has_breakpoint(hart, hart->pc))
            return STREAM_STOP;
        if (!run_one(stream))
            return STREAM_STEP;
        if (fast && (flushes != block_flushes(hart->blocks) || (hart->stale & HART_STALE_CODE)))
            return STREAM_MORE; /* a translation would now overwrite what the entries point to */
    }
    return STREAM_MORE;
}

/* Ends threads' reservations (size 0: none). Returns whether a thread may still hold one. */
static bool end_threads(const struct stream_peers *peers, uint64_t physical, unsigned size)
{
    return peers->threads_stored && peers->threads_stored(peers->threads, physical, size);
}

/* Ends the reservations, of harts other than `own`, that a store touches. Returns whether any of them still holds
 * one. */
static bool end_harts(const struct stream_peers *peers, const struct hart *own, uint64_t physical,
                      unsigned size)
{
    bool reserved = false;
    for (unsigned i = 0; i < peers->count; i++) {
        struct hart *hart = &peers->harts[i];
        uint64_t block = hart->reservation_physical & ~(uint64_t)(STREAM_RESERVATION - 1);
        if (hart != own && overlap(physical, size, block, STREAM_RESERVATION))
            hart->reserved = false;
        reserved |= hart->reserved;
    }
    return reserved;
}

void stream_peers_stored(struct stream_peers *peers, uint64_t physical, unsigned size)
{
    bool threads = end_threads(peers, 0, 0);
    peers->reserved = end_harts(peers, NULL, physical, size) || threads;
}

/* Ends the reservations that a store of this hart touches. */
static bool end_reservations(const struct stream *stream, uint64_t physical, unsigned size)
{
    const struct stream_peers *peers = stream->peers;
    bool threads = end_threads(peers, physical, size);
    return end_harts(peers, stream->hart, physical, size) || threads;
}

/* Likewise; the store may cross into another page, which lies anywhere. */
static bool end_at_store(const struct stream *stream, uint64_t address, uint64_t physical, unsigned size)
{
    unsigned here = MMU_PAGE - (unsigned)(physical & (MMU_PAGE - 1));
    uint64_t next;
    if (size <= here || !mmu_peek(stream->hart, address + here, &next))
        return end_reservations(stream, physical, size);
    (void)end_reservations(stream, physical, here);
    return end_reservations(stream, next, size - here);
}

/* Ends the reservations that the stores of the batch touch. */
static void tell_peers(struct stream *stream)
{
    bool reserved = end_reservations(stream, 0, 0);
    for (uint32_t i = 0; i < stream->count && reserved; i++) {
        const struct stream_entry *entry = &stream->entries[i];
        if (entry->op->flags & STREAM_STORE)
            reserved = end_at_store(stream, entry->address, entry->physical, entry->op->size);
    }
    stream->peers->reserved = reserved;
}

static void tell_peers_of_step(struct stream *stream, const struct step_report *report)
{
    struct hart *hart = stream->hart;
    const struct effects *effects = &report->effects;
    if (effects->stored || effects->block == BLOCK_ZERO)
        stream->peers->reserved = end_at_store(stream, effects->address, effects->physical,
                                               effects->block == BLOCK_ZERO ? CACHE_BLOCK : effects->size);
    if (!hart->reserved)
        return;
    if (insn_table[report->insn.id].access == ACCESS_LR)
        hart->reservation_physical = effects->physical;
    stream->peers->reserved = true;
}

void stream_note_store(struct stream *stream, uint64_t physical, unsigned size)
{
    if (stream->peers && stream->peers->reserved)
        stream->peers->reserved = end_reservations(stream, physical, size);
}

enum stream_end stream_run(struct stream *stream, uint64_t max_insns)
{
    uint32_t limit = max_insns < STREAM_BATCH ? (uint32_t)max_insns : STREAM_BATCH;
    stream->count = stream->trace->single_count = 0;
    enum stream_end end = is_interrupted(stream->hart) ? STREAM_STEP : run_batch(stream, limit);
    stream_end_at(stream, stream->hart->pc);
    if (stream->peers && stream->peers->reserved)
        tell_peers(stream);
    if (stream->follow && stream->count)
        stream->follow(stream->follow_context, stream->entries, stream->count);
    return end;
}

enum hart_stop stream_step(struct stream *stream, struct step_report *report)
{
    (void)is_interrupted(stream->hart); /* a timer may be due just because the clock has advanced */
    enum hart_stop stop = hart_step(stream->hart, report);
    if (report->retired) {
        stream->stepped_insn = report->insn;
        stream_op_describe(&stream->stepped, report->pc, &stream->stepped_insn);
        stream->stepped.flags |= STREAM_SERIAL;
        if (stream->peers)
            tell_peers_of_step(stream, report);
        stream->step_entry =
            (struct stream_entry){&stream->stepped, report->effects.address, report->effects.physical};
        if (stream->follow)
            stream->follow(stream->follow_context, &stream->step_entry, 1);
    }
    if (stream->observe && (report->retired || report->trapped || report->interrupt))
        stream->observe(stream->context, stream->hart, report);
    return stop;
}
