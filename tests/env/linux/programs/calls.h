/* Shows what Linux's calls return, for comparison with qemu-riscv64. */
#ifndef TESTS_ENV_LINUX_CALLS_H
#define TESTS_ENV_LINUX_CALLS_H

#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __GLIBC__
#define strerrorname_np strerror
#endif

/* Makes the call and prints its result, or the name of its error. */
#define SHOW(name, ...)    show(__LINE__, #name, syscall(SYS_##name, ##__VA_ARGS__))
/* The same, of a call whose result is not the same everywhere: an address, a number of bytes. */
#define SHOW_OK(name, ...) show_ok(__LINE__, #name, syscall(SYS_##name, ##__VA_ARGS__))

#define NOWHERE ((void *)8L) /* an address that nothing is mapped at */

static inline long show(int line, const char *name, long result)
{
    if (result == -1)
        printf("%d %s: %s\n", line, name, strerrorname_np(errno));
    else
        printf("%d %s: %ld\n", line, name, result);
    return result;
}

static inline long show_ok(int line, const char *name, long result)
{
    if (result == -1)
        printf("%d %s: %s\n", line, name, strerrorname_np(errno));
    else
        printf("%d %s: done\n", line, name);
    return result;
}

/* Keeps what was printed if the program is ended. */
__attribute__((constructor)) static void show_lines(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
}

#endif
