/* Leaving handlers and blocks in a hart that leaves a trace (trace.h): the run ends before every instruction that the
 * fast path does not execute. For emu/hart/exec/handlers.h. */
#include "emu/hart/stream/trace.h"

/* Records an access in the entry of its instruction: op->rs3 is its index in the block. */
#define REACHED(address_, bytes_)                                                                            \
    __extension__({                                                                                          \
        uint8_t *reached_ = (bytes_);                                                                        \
        struct stream_entry *noted_ = &hart->trace_entry[op->rs3];                                           \
        noted_->address = (address_);                                                                        \
        noted_->physical = PHYSICAL(address_, reached_);                                                     \
        reached_;                                                                                            \
    })
#define MISALIGNED_HITS    false
#define OP_COMPILED        NULL /* nothing is compiled for a hart with a trace */
/* What may be loaded may be prefetched; for other addresses, step.h finds out. */
#define PREFETCH(address_) ((void)WINDOW(load, address_, 8))
#define NOTE_LEFT(retired_)                                                                                  \
    do {                                                                                                     \
        const uint64_t left_ = (uint64_t)(retired_);                                                         \
        hart->trace_entry += left_;                                                                          \
        hart->trace_run++->retired = left_;                                                                  \
    } while (0)
#define NOTE_ENTERED(op_) (hart->trace_run->first = (op_))
#define IN_CLASS_SERIAL(format, use, name)

#include "emu/hart/exec/leave.h"

/* Ends the run before the instruction at op. */
static COLD const union op *end_at(PARAMETERS)
{
    struct block_site site = block_find(hart->blocks, op);
    (void)acc;
    block_count_before(hart->blocks, op);
    NOTE_LEFT(site.retired);
    hart->pc = site.pc;
    hart->budget = budget - site.retired;
    return NULL;
}

static COLD const union op *op_slow(PARAMETERS)
{
    hart->trace->end = TRACE_REFUSED;
    return end_at(hart, op, acc, budget);
}

static COLD const union op *op_step(PARAMETERS)
{
    hart->trace->end = TRACE_REFUSED;
    return end_at(hart, op, acc, budget);
}

static COLD const union op *op_stop(PARAMETERS)
{
    hart->trace->end = TRACE_BREAK;
    return end_at(hart, op, acc, budget);
}

/* Ends the run before code whose translation would need a flush, which would drop what the trace points to. */
static COLD const union op *end_full(struct hart *hart, uint64_t pc, int64_t budget)
{
    hart->trace->end = TRACE_FULL;
    hart->pc = pc;
    hart->budget = budget;
    return NULL;
}

static COLD const union op *op_find(PARAMETERS)
{
    op = block_at_kept(hart, hart->pc);
    if (!op)
        return end_full(hart, hart->pc, budget);
    NOTE_ENTERED(op);
    if (UNLIKELY(budget < 0))
        return stop_before(hart, op, acc, budget);
    DISPATCH(op);
}

static COLD const union op *op_dropped(PARAMETERS)
{
    uint64_t pc = op[-1].head.pc;
    op = block_at_kept(hart, pc);
    if (!op)
        return end_full(hart, pc, budget);
    NOTE_ENTERED(op);
    DISPATCH(op);
}

static COLD const union op *op_link(PARAMETERS)
{
    union op *exit = (union op *)(uintptr_t)(op + op->imm);
    const union op *to = block_at_kept(hart, op[-1].head.pc);
    if (!to)
        return end_full(hart, op[-1].head.pc, budget);
    exit->exit.to = to;
    NOTE_ENTERED(to);
    DISPATCH(to);
}
