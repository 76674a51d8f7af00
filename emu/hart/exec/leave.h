/* How control leaves a block. leave_plain.h and leave_traced.h define what is recorded: NOTE_LEFT(retired), the current
 * block is left after that many of its instructions; NOTE_ENTERED(op), a block or a link stub is entered. */
#include <stddef.h>

#include "emu/hart/block.h"
#include "emu/hart/dispatch.h"
#include "emu/hart/exec/op.h"
#include "emu/hart/hart.h"

#define PARAMETERS struct hart *hart, const union op *op, uint64_t acc, int64_t budget

/* Ends the run before the op `to`, which a head slot precedes. */
static COLD const union op *stop_before(struct hart *hart, const union op *to, uint64_t acc, int64_t budget)
{
    (void)acc;
    hart->pc = to[-1].head.pc;
    hart->budget = budget;
    hart->stop = HART_STOP_LIMIT;
    return NULL;
}

static COLD const union op *op_find(PARAMETERS);

/* Leaves the block by an indirect jump. */
#define GO_INDIRECT(target_)                                                                                 \
    do {                                                                                                     \
        uint64_t to_pc_ = (target_);                                                                         \
        const union op *to_ = hart->jump_cache[to_pc_ >> 1 & (HART_JUMP_ENTRIES - 1)];                       \
        if (UNLIKELY(to_[-1].head.pc != to_pc_)) {                                                           \
            hart->pc = to_pc_;                                                                               \
            TAIL_RETURN op_find(hart, op, acc, budget);                                                      \
        }                                                                                                    \
        NOTE_ENTERED(to_);                                                                                   \
        if (UNLIKELY(budget < 0))                                                                            \
            return stop_before(hart, to_, acc, budget);                                                      \
        DISPATCH(to_);                                                                                       \
    } while (0)

/* Leaves the block for another leaf. */
static const union op *op_far(PARAMETERS)
{
    uint64_t to_pc = op[-1].head.pc;
    const union op *to = hart->jump_cache[to_pc >> 1 & (HART_JUMP_ENTRIES - 1)];
    if (UNLIKELY(to[-1].head.pc != to_pc)) {
        hart->pc = to_pc;
        TAIL_RETURN op_find(hart, op, acc, budget);
    }
    NOTE_ENTERED(to);
    DISPATCH(to);
}

/* Leaves the block through the exit slot after `op_`, after op_->imm instructions. */
#define GO_EXIT(op_)                                                                                         \
    do {                                                                                                     \
        union op *exit_ = (union op *)(uintptr_t)((op_) + 1);                                                \
        const union op *to_ = exit_->exit.to;                                                                \
        budget -= (op_)->imm;                                                                                \
        exit_->exit.count++;                                                                                 \
        NOTE_LEFT((op_)->imm);                                                                               \
        NOTE_ENTERED(to_);                                                                                   \
        if (UNLIKELY(budget < 0))                                                                            \
            return stop_before(hart, to_, acc, budget);                                                      \
        DISPATCH(to_);                                                                                       \
    } while (0)
