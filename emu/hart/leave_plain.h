/* What happens where a handler gives up or control leaves a block, in a hart that runs at full speed: what is
 * rare is executed by step.h, and the run goes on. For exec_fast.h. */
#include "emu/hart/fp.h"
#include "emu/hart/step.h"

#define REACHED(address, bytes) (bytes)
#define NOTE_LEFT(retired)      ((void)0)
#define NOTE_ENTERED(op)        ((void)0)
#define IN_CLASS_ATOMIC         IN_CLASS_ALU

#include "emu/hart/leave.h"

/* The handlers that call out keep no local in memory: its address would forbid the tail call. */

/* Executes the one instruction at op in general form and goes on with the next op of the same block. */
static COLD const union op *op_slow(PARAMETERS)
{
    struct block_site site = block_find(hart->blocks, op);
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
    acc = hart->x[op->rd];
    DISPATCH(op + 1);
}

/* Goes to the code for hart->pc when the jump cache does not know it. */
static COLD const union op *op_find(PARAMETERS)
{
    op = block_at(hart, hart->pc);
    if (UNLIKELY(budget < 0))
        return stop_before(hart, op, acc, budget);
    DISPATCH(op);
}

/* A block's last instruction, when it may change what the code means, or needs an exact instret. */
static COLD const union op *op_step(PARAMETERS)
{
    union op *exit = (union op *)(uintptr_t)(op + 1);
    (void)acc;
    budget -= op->imm - 1; /* what came before it in the block */
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
    if (result == STEP_FENCE_I)
        hart_flush_code(hart);
    if (result == STEP_MARKER || result == STEP_WFI || hart->attention) {
        hart->budget = budget;
        hart->stop = result == STEP_MARKER ? HART_STOP_MARKER
                     : result == STEP_WFI  ? HART_STOP_WFI
                                           : HART_STOP_YIELD;
        return NULL;
    }
    GO_INDIRECT(hart->pc);
}

/* The site's instruction has not been executed. */
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

/* imm of a link stub is the distance, in slots, to its exit. */
static COLD const union op *op_link(PARAMETERS)
{
    union op *exit = (union op *)(uintptr_t)(op + op->imm);
    uint64_t flushes = block_flushes(hart->blocks);
    const union op *to = block_at(hart, op[-1].head.pc);
    if (flushes == block_flushes(hart->blocks))
        exit->exit.to = to;
    DISPATCH(to);
}
