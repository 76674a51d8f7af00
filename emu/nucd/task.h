/* An offloaded task: the contents of a well-formed nucd, as host and accelerators keep them. */
#ifndef EMU_NUCD_TASK_H
#define EMU_NUCD_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/include/croft/nucd_bits.h"

enum {
    NUCD_SEGMENTS = CROFT_NUCD_SEGMENTS,
    NUCD_LINE = 64,     /* bytes of a cache line; ranges are rounded out to lines */
    NUCD_LIVE_INS = 10, /* one register per segment, gp and tp */
};

/* Bytes first..last, which are whole cache lines. */
struct nucd_range {
    uint64_t first, last;
};

struct nucd_ranges {
    unsigned count;
    struct nucd_range range[NUCD_SEGMENTS];
};

/* The memory that a task reads and writes, without empty ranges. */
struct nucd_footprint {
    struct nucd_ranges in, out;
};

/* Registers that are handed over. Bit r of `mask` stands for x[r]; value[] has the values in order of
 * register numbers. */
struct nucd_live_ins {
    uint32_t mask;
    uint64_t value[NUCD_LIVE_INS];
};

struct nucd_task {
    uint64_t pc; /* address of the nucd */
    /* address of the region's first instruction; address after its last instruction */
    uint64_t begin, end;
    uint64_t sp; /* the host's at the nucd, for debuggers; 0: not known */
    struct nucd_footprint memory;
    struct nucd_live_ins live_ins; /* values, base addresses of ranges, gp (x3) and tp (x4) */
    uint8_t capabilities;
    uint8_t result; /* number of the register that brings the result back, or 0 */
    uint8_t frm;
    bool ordered; /* the region stops at its first order point (nucd.order) */
};

/* Returns whether any range shares a byte with [first, last]. */
static inline bool nucd_ranges_touch(const struct nucd_ranges *ranges, uint64_t first, uint64_t last)
{
    for (unsigned i = 0; i < ranges->count; i++)
        if (ranges->range[i].first <= last && first <= ranges->range[i].last)
            return true;
    return false;
}

static inline bool nucd_ranges_overlap(const struct nucd_ranges *a, const struct nucd_ranges *b)
{
    for (unsigned i = 0; i < b->count; i++)
        if (nucd_ranges_touch(a, b->range[i].first, b->range[i].last))
            return true;
    return false;
}

/* Returns whether the younger of two tasks must wait for the older one: an output range of one overlaps a
 * range of the other (NUCD paper, section IV-A: RAW, WAR, WAW). Inputs may be shared. */
static inline bool nucd_footprints_conflict(const struct nucd_footprint *a, const struct nucd_footprint *b)
{
    return nucd_ranges_overlap(&a->out, &b->in) || nucd_ranges_overlap(&a->in, &b->out) ||
           nucd_ranges_overlap(&a->out, &b->out);
}

#endif
