/* What the programs share: launches that must succeed, random numbers, and the mapping by the paper's figure 2, element by
 * element. */
#ifndef TESTS_STASH_PROGRAMS_STASH_CHECK_H
#define TESTS_STASH_PROGRAMS_STASH_CHECK_H

#include "../../programs/run_check.h"

#include <croft/dma.h>
#include <croft/stash.h>
#include <stdbool.h>
#include <string.h>

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("line %d: not %s\n", __LINE__, #condition);                                               \
            check_failures++;                                                                                \
        }                                                                                                    \
    } while (0)
static unsigned check_failures;

/* xorshift64*, Vigna 2016. */
static uint64_t check_state = 33;
static inline uint32_t check_random(uint32_t below)
{
    check_state ^= check_state >> 12;
    check_state ^= check_state << 25;
    check_state ^= check_state >> 27;
    return (uint32_t)((check_state * UINT64_C(2685821657736338717)) >> 33) % below;
}

/* Copies a tile to or from what is its place in local memory, by three nested loops over rows, objects and words. */
static inline void model_copy(const struct croft_stash_map *map, uint32_t *local, bool back)
{
    char *at = (char *)local + map->stash_base;
    for (uint64_t row = 0; row < map->strides; row++)
        for (uint64_t object = 0; object < map->row_size; object += map->object_size)
            for (uint64_t byte = 0; byte < map->field_size; byte += 4, at += 4) {
                char *global = (char *)map->global_base + row * map->stride_size + object + byte;
                memcpy(back ? global : at, back ? at : global, 4);
            }
}

/* Prints a digest and whether all checks have held; returns the exit status. */
static inline int check_end(const char *name, const void *bytes, size_t count)
{
    printf("%s: digest %016llx, %u wrong\n", name, (unsigned long long)check_digest(bytes, count),
           check_failures);
    return check_failures != 0;
}

#endif
