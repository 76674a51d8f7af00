/* The end of an offloaded region: when pc arrives at it at the call depth at which the region began. */
#ifndef EMU_NUCD_REGION_H
#define EMU_NUCD_REGION_H

#include "emu/hart/stream.h"

/* The depth is counted from the jumps executed: by the link registers x1 and x5, as return-address stacks are
 * managed (unprivileged specification, table 2.1). A region that leaves its calls by other means, as
 * longjmp() does, is not seen to end. */
struct nucd_region {
    uint64_t end;
    int64_t depth; /* calls less returns since the region began */
};

/* What the jump does to the call depth: 1, 0 or -1. A JALR between the two link registers returns to a
 * coroutine, which calls back. */
static inline int nucd_region_step(const struct stream_op *op)
{
    if (op->flags & STREAM_RETURN)
        return -1;
    if (!(op->flags & STREAM_CALL))
        return 0;
    bool swap = op->flags & STREAM_INDIRECT && (op->rs1 == 1 || op->rs1 == 5) && op->rs1 != op->rd;
    return swap ? 0 : 1;
}

/* To be told of every instruction that the region has executed, in order. */
static inline void nucd_region_follow(struct nucd_region *region, const struct stream_op *op)
{
    if (op->flags & STREAM_JUMP)
        region->depth += nucd_region_step(op);
}

/* Whether the region is over, with pc where the instructions followed so far have led. */
static inline bool nucd_region_ends(const struct nucd_region *region, uint64_t pc)
{
    return pc == region->end && region->depth == 0;
}

#endif
