/* Keeps the reports of the coherence checker for tests. */
#ifndef TESTS_MEM_COHERENCE_RIG_H
#define TESTS_MEM_COHERENCE_RIG_H

#include "emu/mem/coherence.h"
#include "tests/mem/slow_memory.h"

enum { LINE = 64, A = 0x1000, B = 0x1040, REPORTS = 64 };

/* pcs of the histories */
enum { HOST_STORE = 0x100, HOST_LOAD = 0x104, ACCEL_LOAD = 0x200, ACCEL_STORE = 0x204, OTHER = 0x300 };

struct history {
    struct coherence *checker;
    unsigned host, accel; /* holders */
    uint64_t time;
    unsigned count;
    struct coherence_finding reports[REPORTS];
};

static inline void report(void *context, const struct coherence_finding *finding)
{
    struct history *history = context;
    assert_true(history->count < REPORTS);
    history->reports[history->count++] = *finding;
}

#endif
