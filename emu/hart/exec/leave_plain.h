/* Leaving handlers and blocks in a hart that runs at full speed: step.h executes rare instructions, and the run
 * continues. For emu/hart/exec/handlers.h. */
#include "emu/hart/exec.h"
#include "emu/hart/exec/compiled.h"
#include "emu/hart/fp.h"
#include "emu/hart/step.h"

#define REACHED(address, bytes) (bytes)
#define PREFETCH(address)       ((void)(address))
#define NOTE_LEFT(retired)      ((void)0)
#define NOTE_ENTERED(op)        ((void)0)
#define IN_CLASS_SERIAL         IN_CLASS_ALU
#define MISALIGNED_HITS         true
#define OP_COMPILED             op_compiled
#ifndef NOTE_COMPILER
#define NOTE_COMPILER(compiler) ((void)0)
#endif

#include "emu/hart/exec/leave.h"

/* Handlers that call functions have no locals in memory: taking an address would prevent the tail call. */

/* Executes the instruction at op with step.h and continues with the next op of the block; or elsewhere, if the
 * instruction has changed code, perhaps of this block. */
static COLD const union op *op_slow(PARAMETERS)
{
    struct block_site site = block_find(hart->blocks, op);
    uint64_t drops = block_drops(hart->blocks);
    hart->instret = hart->origin - (uint64_t)budget + site.retired;
    if (UNLIKELY(step_general(hart, site.pc, site.insn) == STEP_TRAP)) {
        block_count_before(hart->blocks, op);
        hart->budget = budget - site.retired;
        hart->stop = HART_STOP_TRAP;
        return NULL;
    }
    if (UNLIKELY(hart->attention)) {
        block_count_through(hart->blocks, op);
        hart->budget = budget - site.retired - 1;
        hart->stop = HART_STOP_YIELD;
        return NULL;
    }
    if (UNLIKELY(hart->stale || drops != block_drops(hart->blocks))) {
        block_count_through(hart->blocks, op);
        budget -= site.retired + 1;
        block_update(hart);
        GO_INDIRECT(hart->pc);
    }
    acc = hart->x[op->rd];
    DISPATCH(op + 1);
}

/* Ends the run before the code at pc, because the hart needs a TLB first (exec_enter()). */
static COLD const union op *end_for_tlb(struct hart *hart, uint64_t pc, int64_t budget)
{
    hart->pc = pc;
    hart->budget = budget;
    hart->stop = HART_STOP_YIELD;
    return NULL;
}

/* Continues at hart->pc, which the jump cache does not have. */
static COLD const union op *op_find(PARAMETERS)
{
    if (UNLIKELY(budget < EXEC_ALONE / 2)) {
        hart->budget = budget;
        hart->stop = HART_STOP_LIMIT;
        return NULL;
    }
    op = block_at(hart, hart->pc);
    if (UNLIKELY(!op))
        return end_for_tlb(hart, hart->pc, budget);
    if (UNLIKELY(budget < 0))
        return stop_before(hart, op, acc, budget);
    DISPATCH(op);
}

/* Returns whether the run goes on after an instruction that asks for a look at interrupts: hart_run() would run blocks again. */
static bool goes_on(struct hart *hart, int64_t budget)
{
    if (budget <= 0 || !hart->privileged || hart->yield || hart->paging_due || priv_due_interrupt(hart))
        return false;
    hart->attention = false;
    block_update(hart);
    return true;
}

/* Executes a block's last instruction, which may change the meaning of code, or needs an exact instret. */
static COLD const union op *op_step(PARAMETERS)
{
    union op *exit = (union op *)(uintptr_t)(op + 1);
    (void)acc;
    budget -= op->imm - 1; /* the block's instructions before it */
    exit->link.count++;
    hart->fflags |= (uint8_t)fp_flags();
    hart->instret = hart->origin - (uint64_t)budget;
    enum step_result result = step_general(hart, exit->link.value, op[2].insn);
    if (result == STEP_TRAP) {
        exit->link.count--;
        block_count_before(hart->blocks, op);
        hart->budget = budget;
        hart->stop = HART_STOP_TRAP;
        return NULL;
    }
    budget--;
    (void)fp_begin(hart->frm);
    if (UNLIKELY(hart->stale))
        block_update(hart);
    if (result == STEP_MARKER || result == STEP_WFI || (hart->attention && !goes_on(hart, budget))) {
        hart->budget = budget;
        hart->stop = result == STEP_MARKER ? HART_STOP_MARKER
                     : result == STEP_WFI  ? HART_STOP_WFI
                                           : HART_STOP_YIELD;
        return NULL;
    }
    GO_INDIRECT(hart->pc);
}

/* Stops before the instruction at op. */
static COLD const union op *op_stop(PARAMETERS)
{
    struct block_site site = block_find(hart->blocks, op);
    (void)acc;
    block_count_before(hart->blocks, op);
    hart->pc = site.pc;
    hart->budget = budget - site.retired;
    hart->stop = HART_STOP_BREAK;
    return NULL;
}

/* Continues with the block that replaces the dropped one. */
static COLD const union op *op_dropped(PARAMETERS)
{
    uint64_t pc = op[-1].head.pc;
    op = block_at(hart, pc);
    if (UNLIKELY(!op))
        return end_for_tlb(hart, pc, budget);
    DISPATCH(op);
}

/* Finds the target of an exit. imm of a link stub is the distance to the exit in slots. */
static COLD const union op *op_link(PARAMETERS)
{
    union op *exit = (union op *)(uintptr_t)(op + op->imm);
    uint64_t flushes = block_flushes(hart->blocks);
    const uint64_t pc = op[-1].head.pc;
    const union op *to = block_at(hart, pc);
    if (UNLIKELY(!to))
        return end_for_tlb(hart, pc, budget);
    if (flushes == block_flushes(hart->blocks))
        exit->exit.to = to;
    DISPATCH(to);
}

/* The region gets the budget of the whole run, up to compiler->longest. Afterwards the interpreter has as much of it as before, less
 * what an entry takes: instructions of regions are not sampled. Returns the exit; hart->budget is the interpreter's. */
static inline const struct compiled_exit *run_region(struct hart *hart, const struct compiled_entry *entry,
                                                     int64_t budget)
{
    const struct compiled_region *region = entry->region;
    struct compiler *compiler = hart->compiler;
    NOTE_COMPILER(compiler);
    int64_t all = budget + compiler->reserve, kept = all > compiler->longest ? all - compiler->longest : 0;
    compiler->entered++;
    hart->origin += (uint64_t)compiler->reserve;
    uint32_t exit = UNLIKELY(compiler->run)
                        ? compiler->run(compiler, hart, entry, all)
                        : region->code(hart, all - kept, entry->number, region->slots, region->memory);
    bool used_up = kept && region->exits[exit].kind == COMPILED_ENTER;
    all = hart->budget + (UNLIKELY(compiler->run) ? 0 : kept);
    compiler->ran += compiler->reserve ? 0 : budget - all;
    budget = compiler->reserve ? budget - compiler->entry : budget;
    hart->budget = used_up ? -1 : all < budget ? all : budget;
    compiler->long_run |= used_up;
    compiler->reserve = all - hart->budget;
    hart->origin -= (uint64_t)compiler->reserve;
    return &region->exits[exit];
}

/* The first op of a block that is an entry of a region. */
static const union op *op_compiled(PARAMETERS)
{
    struct compiled_entry *entry = op[-1].head.compiled;
    if (UNLIKELY(entry->region->store_base != hart->store_base))
        TAIL_RETURN entry->run(hart, op, acc, budget);
    if (UNLIKELY(entry->region->drops != block_drops(hart->blocks))) {
        op_handler *instead = hart->compiler->dropped(hart->compiler, entry);
        if (instead)
            TAIL_RETURN instead(hart, op, acc, budget);
    }
    entry->entered++;
    const struct compiled_exit *exit = run_region(hart, entry, budget);
    budget = hart->budget;
    op = exit->op;
    if (exit->kind == COMPILED_INDIRECT)
        GO_INDIRECT(hart->pc);
    if (exit->kind == COMPILED_LEAVE) {
        op = op->exit.to;
        if (UNLIKELY(budget < 0))
            return stop_before(hart, op, acc, budget);
        DISPATCH(op);
    }
    if (UNLIKELY(exit->kind == COMPILED_ENTER && budget < 0))
        return stop_before(hart, op, acc, budget);
    acc = hart->x[exit->acc];
    if (op->run == op_compiled)
        TAIL_RETURN op[-1].head.compiled->run(hart, op, acc, budget);
    DISPATCH(op);
}
