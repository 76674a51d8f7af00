/* An offloaded task: what a well-formed nucd says, as host and accelerators keep it. */
#ifndef EMU_NUCD_TASK_H
#define EMU_NUCD_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/include/croft/nucd_bits.h"

enum {
    NUCD_SEGMENTS = CROFT_NUCD_SEGMENTS,
    NUCD_LINE = 64,     /* bytes of a cache line, to which ranges are rounded out */
    NUCD_LIVE_INS = 10, /* a register for each segment, gp and tp */
};

/* Memory in whole cache lines: from the first byte of a line to the last one of the same or a later line. */
struct nucd_range {
    uint64_t first, last;
};

struct nucd_ranges {
    unsigned count;
    struct nucd_range range[NUCD_SEGMENTS];
};

/* Memory that a task reads and writes; empty ranges are left out. */
struct nucd_footprint {
    struct nucd_ranges in, out;
};

/* Registers that are handed over: bit r of `mask` says that xr is one of them, and value[] has their contents
 * in order of their numbers. */
struct nucd_live_ins {
    uint32_t mask;
    uint64_t value[NUCD_LIVE_INS];
};

struct nucd_task {
    uint64_t pc;         /* of the nucd */
    uint64_t begin, end; /* of the region: its first instruction, and what follows its last */
    struct nucd_footprint memory;
    struct nucd_live_ins live_ins; /* values, bases of ranges, gp (x3) and tp (x4) */
    uint8_t capabilities;
    uint8_t result; /* number of the register that comes back, or 0 */
    uint8_t frm;
};

/* Whether any range shares a byte with [first, last]. */
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

/* Whether the younger of two tasks must wait for the older one: an output range of one meets a range of the
 * other (NUCD paper, section IV-A: RAW, WAR, WAW); inputs may be shared. */
static inline bool nucd_footprints_conflict(const struct nucd_footprint *a, const struct nucd_footprint *b)
{
    return nucd_ranges_overlap(&a->out, &b->in) || nucd_ranges_overlap(&a->in, &b->out) ||
           nucd_ranges_overlap(&a->out, &b->out);
}

#endif
