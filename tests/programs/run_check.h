/* What programs for multiprocessors share: launches that must succeed, and digests of results. */
#ifndef TESTS_PROGRAMS_RUN_CHECK_H
#define TESTS_PROGRAMS_RUN_CHECK_H

#include <croft/simt.h>
#include <stddef.h>
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

/* FNV-1a over bytes. */
static inline uint64_t check_digest(const void *bytes, size_t count)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++)
        digest = (digest ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return digest;
}

#endif
