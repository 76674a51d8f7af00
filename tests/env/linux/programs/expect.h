/* Compares what Linux's calls return with the expected result, where qemu-riscv64 is no oracle. */
#ifndef TESTS_ENV_LINUX_EXPECT_H
#define TESTS_ENV_LINUX_EXPECT_H

#include "calls.h"

static int wrong; /* results so far */

static void expect(int line, const char *call, long result, long wanted)
{
    const long got = result == -1 ? -errno : result;
    if (got == wanted)
        return;
    printf("%d %s: %ld, not %ld\n", line, call, got, wanted);
    wrong++;
}

/* Makes the call, and counts and prints its result, or -errno, unless it is the wanted one. */
#define EXPECT(wanted, name, ...) expect(__LINE__, #name, syscall(SYS_##name, ##__VA_ARGS__), wanted)

#endif
