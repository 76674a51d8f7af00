/* What the programs of diverging threads share: one result a thread, compared with a loop's and printed as a digest. */
#ifndef TESTS_PROGRAMS_SIMT_CHECK_H
#define TESTS_PROGRAMS_SIMT_CHECK_H

#include <croft/simt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs a kernel to its end; simt_launch()'s arguments. */
#define CHECK_RUN(...)                                                                                       \
    do {                                                                                                     \
        if (simt_launch(__VA_ARGS__) < 0 || simt_wait(0) != 0) {                                             \
            perror("launch");                                                                                \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* A different number for each i, the same everywhere (the finaliser of SplitMix64). */
static inline uint64_t check_random(uint64_t i)
{
    i += UINT64_C(0x9e3779b97f4a7c15);
    i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    i = (i ^ i >> 27) * UINT64_C(0x94d049bb133111eb);
    return i ^ i >> 31;
}

/* FNV-1a over the values. */
static inline uint64_t check_digest(const uint64_t *values, unsigned count)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (unsigned i = 0; i < count * sizeof *values; i++)
        digest = (digest ^ ((const unsigned char *)values)[i]) * UINT64_C(0x100000001b3);
    return digest;
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
               (unsigned long long)check_digest(check_results, (blocks) * (threads)), check_wrong);          \
    } while (0)

#endif
