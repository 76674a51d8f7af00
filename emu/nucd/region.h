/* The end of an offloaded region: pc reaches its end at the call depth at which the region began. To leave the region in
 * another way is a fault. */
#ifndef EMU_NUCD_REGION_H
#define EMU_NUCD_REGION_H

#include "emu/hart/stream.h"

enum { NUCD_REGION_SP = 2, NUCD_REGION_PLACES = 32 };

/* A place at which the region has stored its stack pointer, as setjmp() does. */
struct nucd_place {
    uint64_t address;
    int64_t depth; /* then */
};

/* The depth is counted at jumps by the link registers x1 and x5, as a return-address stack does (unprivileged
 * specification, table 2.1). A jump out of calls, such as longjmp(), loads the stack pointer from where it was stored: then the
 * depth is what it was at the store. If the region has not stored it there, it goes to calls of others, and has left. Functions
 * also restore sp by a load: so if more than NUCD_REGION_PLACES were stored, an unknown place leaves the depth as it is. */
struct nucd_region {
    uint64_t begin, end;
    int64_t depth;   /* calls minus returns since the region began; -1: left */
    uint32_t stored; /* number of places; the youngest NUCD_REGION_PLACES are kept */
    struct nucd_place places[NUCD_REGION_PLACES];
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

/* Follows an instruction that stores or loads the stack pointer at an address. */
static inline void nucd_region_place(struct nucd_region *region, const struct stream_op *op, uint64_t address)
{
    uint32_t kept = region->stored < NUCD_REGION_PLACES ? region->stored : NUCD_REGION_PLACES, i = 0;
    while (i < kept && region->places[i].address != address)
        i++;
    if (op->flags & STREAM_LOAD && i == kept)
        region->depth = region->stored > NUCD_REGION_PLACES ? region->depth : -1; /* perhaps an older place */
    else if (op->flags & STREAM_LOAD)
        region->depth = region->places[i].depth;
    else if (i < kept)
        region->places[i].depth = region->depth;
    else
        region->places[region->stored++ % NUCD_REGION_PLACES] = (struct nucd_place){address, region->depth};
}

/* Call it for every instruction that the region has executed, in order; address: of its memory access, if it has one. */
static inline void nucd_region_follow(struct nucd_region *region, const struct stream_op *op,
                                      uint64_t address)
{
    if (op->flags & STREAM_JUMP)
        region->depth += nucd_region_step(op);
    else if ((op->rd == NUCD_REGION_SP && op->flags & STREAM_LOAD) ||
             (op->rs2 == NUCD_REGION_SP && op->flags & STREAM_STORE))
        nucd_region_place(region, op, address);
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
