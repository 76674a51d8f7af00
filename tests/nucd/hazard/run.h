/* Runs one random body (tests/nucd/hazard/hazard.c). */
#ifndef TESTS_NUCD_HAZARD_RUN_H
#define TESTS_NUCD_HAZARD_RUN_H

#include <stdint.h>

#include "tests/nucd/hazard/hazard.h"

enum {
    HAZARD_REGISTERS = 24,
    HAZARD_LONGEST = 8192, /* bytes of the longest range; see task.c */
    HAZARD_WORDS = (HAZARD_ARENA + HAZARD_BEHIND + HAZARD_LONGEST) / 8,
};

/* The layout is known to entry.S. */
struct hazard_context {
    int64_t descriptor;
    uint64_t registers[HAZARD_REGISTERS]; /* the last one is fcsr */
};

/* What a body leaves behind. */
struct hazard_digest {
    uint64_t memory, registers, fcsr;
};

typedef void hazard_body(void);

extern hazard_body *const hazard_bodies[], *const hazard_bodies_end[];

/* Runs the body with random registers and random memory, which its number determines. `arena` has HAZARD_WORDS
 * words and begins at a page. context->descriptor is set. */
struct hazard_digest hazard_run(uint64_t *arena, struct hazard_context *context, unsigned body);

#endif
