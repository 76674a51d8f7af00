/* What the programs of diverging threads share: one result a thread, compared with a loop's and printed as a digest. */
#ifndef TESTS_PROGRAMS_SIMT_CHECK_H
#define TESTS_PROGRAMS_SIMT_CHECK_H

#include "run_check.h"

/* A different number for each i, the same everywhere (the finaliser of SplitMix64). */
static inline uint64_t check_random(uint64_t i)
{
    i += UINT64_C(0x9e3779b97f4a7c15);
    i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    i = (i ^ i >> 27) * UINT64_C(0x94d049bb133111eb);
    return i ^ i >> 31;
}

/* Runs a kernel of threads that each write what function(i) returns to results[i], and checks them against function(i)
 * here. `kernel` takes uint64_t results[]. */
#define CHECK_FUNCTION(name, kernel, function, blocks, threads)                                              \
    do {                                                                                                     \
        static uint64_t check_results[(blocks) * (threads)];                                                 \
        CHECK_RUN(kernel, check_results, simt_dim(blocks), simt_dim(threads));                               \
        unsigned check_wrong = 0;                                                                            \
        for (unsigned check_i = 0; check_i < (blocks) * (threads); check_i++)                                \
            check_wrong += check_results[check_i] != function(check_i);                                      \
        printf("%-12s %016llx, %u wrong\n", name,                                                            \
               (unsigned long long)check_digest(check_results, sizeof check_results), check_wrong);          \
    } while (0)

#endif
