/* The end of an offloaded region: pc reaches its end at the call depth at which the region began. To leave the region in
 * another way is a fault. */
#ifndef EMU_NUCD_REGION_H
#define EMU_NUCD_REGION_H

#include "emu/hart/stream.h"

/* The depth is counted at jumps by the link registers x1 and x5, as a return-address stack does (unprivileged
 * specification, table 2.1). The end of a region that leaves calls in other ways, such as longjmp(), is not
 * recognised. */
struct nucd_region {
    uint64_t begin, end;
    int64_t depth; /* calls minus returns since the region began */
};

/* Returns the change of the call depth by a jump: 1, 0 or -1. A JALR from one link register to the other
 * switches between coroutines: a return and a call. */
static inline int nucd_region_step(const struct stream_op *op)
{
    if (op->flags & STREAM_RETURN)
        return -1;
    if (!(op->flags & STREAM_CALL))
        return 0;
    bool swap = op->flags & STREAM_INDIRECT && (op->rs1 == 1 || op->rs1 == 5) && op->rs1 != op->rd;
    return swap ? 0 : 1;
}

/* Call it for every instruction that the region has executed, in order. */
static inline void nucd_region_follow(struct nucd_region *region, const struct stream_op *op)
{
    if (op->flags & STREAM_JUMP)
        region->depth += nucd_region_step(op);
}

/* Returns whether the region is over, where pc is the address after the instructions followed so far. */
static inline bool nucd_region_ends(const struct nucd_region *region, uint64_t pc)
{
    return pc == region->end && region->depth == 0;
}

/* Returns whether the region was left by anything but its end: a return at the depth at which it began, or another way
 * out of its code at that depth. pc is the address after the instructions followed so far. */
static inline bool nucd_region_left(const struct nucd_region *region, uint64_t pc)
{
    return region->depth < 0 || (region->depth == 0 && pc - region->begin > region->end - region->begin);
}

#endif
