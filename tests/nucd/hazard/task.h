/* Random tasks and their regions. */
#ifndef TESTS_NUCD_HAZARD_TASK_H
#define TESTS_NUCD_HAZARD_TASK_H

#include "tests/nucd/hazard/hazard.h"

enum { HAZARD_RANGES = 6, HAZARD_VALUES = 4 };

struct hazard_range {
    unsigned reg, granules, size;
    unsigned bytes; /* size that the region may access; the range may be longer */
    int offset;     /* of the first byte from s0, unless the base is computed */
    bool in, out, computed, aligned;
};

struct hazard_task {
    struct hazard_range ranges[HAZARD_RANGES];
    unsigned range_count;
    unsigned values[HAZARD_VALUES], value_count;
    unsigned result; /* number of a register; 0: none */
    unsigned used;   /* set of registers that segments name */
    unsigned xn_reg, xd_reg, capabilities;
    unsigned clobbered; /* set of host registers that the region leaves undefined */
};

/* Writes the region's instructions. Sets h->bytes to their length. */
void hazard_region(struct hazard *h, struct hazard_task *task);

#endif
