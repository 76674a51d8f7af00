/* Uses memory: guest_memory fill|reserve|turns|read|region|threads|stacks MIB. */
#include <croft/nucd.h>
#include <croft/simt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

enum { TURNS = 20 };

/* Writes a byte of each page, from the last one to the first. */
__attribute__((noinline)) static void fill(volatile char *bytes, size_t size)
{
    for (size_t at = size; at >= 4096; at -= 4096)
        bytes[at - 1] = 1;
}

CROFT_REGION(fill_far, CROFT_INOUT(volatile char *, bytes, size), CROFT_VALUE(size_t, size))
{
    for (size_t at = 0; at < size; at += 4096)
        bytes[at] = 1;
}

/* 1024 threads, each with its part of the bytes. */
enum { THREADS = 1024 };
struct parts {
    volatile char *bytes;
    size_t each;
};

static void fill_part(struct parts *parts)
{
    volatile char *own = parts->bytes + thread_id() * parts->each;
    for (size_t at = 0; at < parts->each; at += 4096)
        own[at] = 1;
}

/* Writes 8 KiB of each thread's stack. */
static void fill_stack(struct parts *parts)
{
    volatile char own[8192];
    (void)parts;
    for (size_t at = 0; at < sizeof own; at += 8)
        own[at] = 1;
}

#define LAUNCH(kernel, parts)                                                                                \
    do {                                                                                                     \
        if (simt_launch(kernel, parts, simt_dim(THREADS / 64), simt_dim(64)) < 0)                            \
            return 4;                                                                                        \
        simt_wait(0);                                                                                        \
    } while (0)

static char *map(size_t size)
{
    enum { READ_WRITE = 3, PRIVATE_ANONYMOUS = 0x22 };
    long at = CALL(N_MMAP, 0, (long)size, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
    if (at < 0)
        exit(3);
    return (char *)at;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    size_t size = (size_t)atol(argv[2]) << 20;
    if (strcmp(argv[1], "fill") == 0)
        fill(map(size), size);
    else if (strcmp(argv[1], "reserve") == 0)
        map(size)[0] = 1;
    else if (strcmp(argv[1], "region") == 0)
        fill_far(map(size), size);
    else if (strcmp(argv[1], "read") == 0 && read(0, map(size), size) < (ssize_t)size)
        return 5;
    if (strcmp(argv[1], "threads") == 0) {
        struct parts parts = {map(size), size / THREADS};
        LAUNCH(fill_part, &parts);
    } else if (strcmp(argv[1], "stacks") == 0) {
        struct parts parts = {0};
        LAUNCH(fill_stack, &parts);
    }
    for (int i = 0; i < TURNS && strcmp(argv[1], "turns") == 0; i++) {
        char *at = map(size);
        fill(at, size);
        CALL(N_MUNMAP, at, size);
        (void)map(size); /* the next turn's bytes are elsewhere */
    }
    puts("done");
    return 0;
}
