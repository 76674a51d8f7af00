#include "emu/hart/hart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/block.h"
#include "emu/hart/exec.h"
#include "emu/hart/exec/compiled.h"
#include "emu/hart/fp.h"
#include "emu/hart/mmu.h"
#include "emu/hart/probe.h"
#include "emu/hart/step.h"

/* Memory has at least a page, so that an 8-byte access always has a window. */
enum { WIDEST_ACCESS = 8 };

/* The privileged state that enables features for a program in user mode. */
static const struct priv user_priv = {
    .mstatus = MSTATUS_FS,
    .mcounteren = UINT32_MAX,
    .scounteren = UINT32_MAX,
    .menvcfg = ENVCFG_CBIE | ENVCFG_CBCFE | ENVCFG_CBZE,
    .senvcfg = ENVCFG_CBIE | ENVCFG_CBCFE | ENVCFG_CBZE,
};

bool hart_init(struct hart *hart, const struct phys *memory, const struct decoder *decoder, struct error *err)
{
    *hart = (struct hart){.memory = memory,
                          .decoder = decoder,
                          .exec = exec_choose(false),
                          .priv = user_priv,
                          .time_divisor = 1,
                          .hook_page = UINT64_MAX,
                          .fetch_page = UINT64_MAX};
    hart->load_base = memory->base;
    hart->load_last = memory->size - WIDEST_ACCESS;
    hart->load_bytes = memory->bytes;
    hart_protect(hart, memory->base);
    hart->blocks = block_cache_new(hart, err);
    if (!hart->blocks)
        return false;
    if (memory->code && memory->code->limited)
        exec_use_tlb(hart);
    block_update(hart);
    return true;
}

bool hart_init_privileged(struct hart *hart, const struct bus *bus, uint32_t hartid, uint64_t ticks,
                          struct error *err)
{
    if (!hart->tlb)
        hart->tlb = mmu_tables();
    if (!hart->tlb)
        return error_set(err, "no memory for the TLB of hart %u: %s", hartid, strerror(errno));
    hart->bus = bus;
    hart->hartid = hartid;
    hart->privileged = true;
    hart->exec = exec_choose(true);
    hart->time_divisor = ticks;
    priv_reset(hart);
    return true;
}

void hart_free(struct hart *hart)
{
    block_cache_free(hart->blocks);
    free(hart->tlb);
    *hart = (struct hart){0};
}

void hart_protect(struct hart *hart, uint64_t first)
{
    const struct phys *memory = hart->memory;
    uint64_t offset = first - memory->base;
    if (offset > memory->size - WIDEST_ACCESS)
        offset = memory->size - WIDEST_ACCESS;
    hart->store_base = memory->base + offset;
    hart->store_last = memory->size - offset - WIDEST_ACCESS;
    hart->store_bytes = memory->bytes + offset;
    mmu_flush(hart);
}

void hart_set_interrupt(struct hart *hart, unsigned number, bool level)
{
    uint64_t wires = hart->priv.wires & ~IRQ_BIT(number);
    hart->priv.wires = level ? wires | IRQ_BIT(number) : wires;
    hart->attention = true;
}

bool hart_has_interrupt(const struct hart *hart)
{
    return priv_pending(hart) & hart->priv.mie;
}

void hart_request_yield(struct hart *hart)
{
    hart->yield = true;
    hart->attention = true;
}

void hart_set_hook(struct hart *hart, uint64_t address,
                   void (*hook)(void *context, uint64_t address, uint64_t size), void *context)
{
    hart->hook_address = address;
    hart->hook_page = address & ~(uint64_t)(MMU_PAGE - 1);
    hart->hook = hook;
    hart->hook_context = context;
    mmu_flush(hart);
}

/* Keeps back what exceeds the rest of the compiler's slice of a budget. The last slices are one, so that the run ends at the same
 * block with and without a compiler. */
static int64_t slice_of(const struct hart *hart, int64_t budget)
{
    struct compiler *compiler = hart->compiler;
    if (!compiler)
        return budget;
    int64_t slice = budget > compiler->slice + compiler->left + BLOCK_INSNS ? compiler->left : budget;
    compiler->reserve = budget - slice;
    compiler->ran = 0;
    return slice;
}

/* Subtracts what the interpreter has executed of a budget from the rest of the compiler's slice, and lets the compiler look if that is
 * used up. Runs of privileged harts end often: a slice is as long as several of them. */
static void note_slice(struct hart *hart, int64_t budget)
{
    struct compiler *compiler = hart->compiler;
    const int64_t executed = budget - hart->budget - compiler->ran;
    compiler->left = compiler->left > executed ? compiler->left - executed : 0;
    if (hart->stop != HART_STOP_LIMIT || compiler->left > 0)
        return;
    compiler->left = compiler->slice;
    compiler->sampled(compiler, hart);
}

/* Runs blocks until the budget is used up or the run ends otherwise. With a compiler, it may be used up in part. */
static enum hart_stop run_blocks(struct hart *hart, int64_t budget)
{
    budget = slice_of(hart, budget);
    hart->origin = hart->instret + (uint64_t)budget;
    block_update(hart); /* registers may have been changed from outside */
    uint32_t saved = fp_begin(hart->frm);
    exec_run(hart, exec_enter(hart), budget);
    hart->fflags |= (uint8_t)fp_end(saved);
    hart->instret = hart->origin - (uint64_t)hart->budget;
    if (hart->compiler)
        note_slice(hart, budget);
    return hart->stop;
}

/* The EBREAK of a semihosting call is between shifts of x0 by 31 and by 7, all uncompressed and on one page (RISC-V
 * semihosting 0.95). User mode has no semihosting calls, as in QEMU. */
static bool is_semihosting_call(struct hart *hart)
{
    static const uint32_t wanted[3] = {0x01f01013, 0x00100073, 0x40705013};
    uint64_t first = hart->pc - 4;
    uint32_t found[3];
    return hart->trap.cause == TRAP_BREAKPOINT && hart->semihosting && hart->privilege != PRIV_U &&
           !step_is_triggered(hart) && first / MMU_PAGE == (first + sizeof found - 1) / MMU_PAGE &&
           hart_memory_read(hart, first, found, sizeof found) && memcmp(found, wanted, sizeof found) == 0;
}

/* Handles a stop that the hart deals with itself; returns HART_STOP_LIMIT for it, else the stop for the caller. */
static enum hart_stop settle(struct hart *hart, enum hart_stop stop)
{
    switch (stop) {
    case HART_STOP_TRAP:
        if (is_semihosting_call(hart))
            return HART_STOP_SEMIHOST;
        if (!hart->privileged || trap_loop_note(hart)) {
            priv_tell_taken(hart, false, hart->trap.cause, hart->trap.value);
            return HART_STOP_TRAP;
        }
        priv_take_trap(hart);
        return HART_STOP_LIMIT;
    case HART_STOP_YIELD: return HART_STOP_LIMIT;
    default: return stop;
    }
}

/* Returns whether hart_request_yield() was called, and clears the request. */
static bool take_yield(struct hart *hart)
{
    bool yield = hart->yield;
    hart->yield = false;
    return yield;
}

static enum hart_stop step_once(struct hart *hart, struct step_report *report)
{
    report->pc = hart->pc;
    report->privilege = hart->privilege;
    hart->watch_hit.hit = false;
    if (step_is_triggered(hart) || !step_fetch(hart, hart->pc, &report->insn) ||
        !step_execute(hart, &report->insn, &report->effects)) {
        report->trap = hart->trap;
        report->trapped = true;
        return settle(hart, HART_STOP_TRAP);
    }
    report->retired = true;
    hart->instret++;
    hart->stepped[insn_table[report->insn.id].iclass]++;
    if (hart->loop.checking)
        trap_loop_step(hart, report);
    if (hart->watch_hit.hit)
        return HART_STOP_WATCH;
    if (report->effects.marker)
        return HART_STOP_MARKER;
    return report->effects.wfi ? HART_STOP_WFI : HART_STOP_LIMIT;
}

/* Takes a pending interrupt. Checks only if attention is requested, and at the start of every run: the same times
 * whether instructions run in blocks or one by one. */
static bool take_interrupt(struct hart *hart, struct step_report *report)
{
    bool look = hart->attention && hart->privileged;
    hart->attention = false;
    if (!look)
        return false;
    report->interrupted_pc = hart->pc;
    report->interrupt = priv_take_interrupt(hart);
    if (report->interrupt)
        trap_loop_forget(&hart->loop);
    return report->interrupt != 0;
}

enum hart_stop hart_step(struct hart *hart, struct step_report *report)
{
    *report = (struct step_report){.pc = hart->pc, .privilege = hart->privilege};
    if (take_yield(hart))
        return HART_STOP_YIELD;
    if (take_interrupt(hart, report))
        return HART_STOP_LIMIT;
    return step_once(hart, report);
}

/* Runs blocks from pc on, each alone, while they are translated, for at most `most` instructions. Returns false, with nothing done, if the
 * first one is not or has to be stepped: what is translated does not depend on where runs end. */
static bool run_last(struct hart *hart, uint64_t most, enum hart_stop *stop)
{
    struct block_cut cut;
    const uint64_t end = hart_progress(hart) + most;
    bool ran = false;
    block_update(hart);
    if (hart->paging_due)
        return false;
    uint32_t saved = fp_begin(hart->frm);
    do {
        const union op *op = block_cut(hart, end - hart_progress(hart), &cut);
        if (!op)
            break;
        hart->origin = hart->instret + (uint64_t)EXEC_ALONE;
        exec_run_alone(hart, op);
        hart->instret = hart->origin - (uint64_t)hart->budget;
        *stop = block_mend(&cut) && hart->stop == HART_STOP_BREAK ? HART_STOP_LIMIT : hart->stop;
        ran = true;
    } while (*stop == HART_STOP_LIMIT && hart_progress(hart) < end && !hart->attention && !hart->yield);
    hart->fflags |= (uint8_t)fp_end(saved);
    return ran;
}

enum hart_stop hart_run(struct hart *hart, uint64_t max_insns)
{
    if (max_insns > INT64_MAX / 2)
        max_insns = INT64_MAX / 2;
    uint64_t end = hart_progress(hart) + max_insns;
    hart->attention = true;
    while (hart_progress(hart) < end) {
        struct step_report report = {0};
        if (take_yield(hart))
            return HART_STOP_YIELD;
        if (take_interrupt(hart, &report))
            continue;
        enum hart_stop stop;
        /* A block may exceed its budget by its length, so the last blocks run one by one, and the last instructions are stepped.
         * Watchpoints are only checked there, the handlers of a streamed hart need its trace, and trap_loop_step() needs reports. */
        uint64_t left = end - hart_progress(hart);
        bool runs = hart->watchpoint_count == 0 && !hart->trace && !hart->loop.checking;
        if (left > BLOCK_INSNS && runs) {
            stop = settle(hart, run_blocks(hart, (int64_t)(left - BLOCK_INSNS)));
        } else if (runs && run_last(hart, left, &stop)) {
            stop = settle(hart, stop);
        } else {
            stop = hart_has_breakpoint(hart, hart->pc) ? HART_STOP_BREAK : step_once(hart, &report);
        }
        if (stop != HART_STOP_LIMIT)
            return stop;
    }
    return HART_STOP_LIMIT;
}

void hart_retire_call(struct hart *hart)
{
    hart->pc += 4;
    hart->instret++;
    hart->stepped[CLASS_SYSTEM]++;
}

void hart_undo_marker(struct hart *hart)
{
    hart->pc -= 4; /* a marker is a SLTIU, which has no compressed form */
    hart->instret--;
    hart->stepped[insn_table[INSN_sltiu].iclass]--;
}

void hart_count_classes(const struct hart *hart, uint64_t counts[CLASS_COUNT])
{
    memcpy(counts, hart->stepped, sizeof hart->stepped);
    block_count_classes(hart->blocks, counts);
}

uint64_t hart_blocks_translated(const struct hart *hart)
{
    return block_translations(hart->blocks);
}
