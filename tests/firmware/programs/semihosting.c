/* Semihosting: every operation; with `refusals` in the command line also what is refused. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../semihosting_call.h"

enum {
    OPEN = 1,
    CLOSE = 2,
    WRITEC = 3,
    WRITE0 = 4,
    WRITE = 5,
    READ = 6,
    ISERROR = 8,
    ISTTY = 9,
    SEEK = 0xa,
    FLEN = 0xc,
    TMPNAM = 0xd,
    REMOVE = 0xe,
    RENAME = 0xf,
    CLOCK = 0x10,
    TIME = 0x11,
    SYSTEM = 0x12,
    ERRNO = 0x13,
    GET_CMDLINE = 0x15,
    HEAPINFO = 0x16,
    EXIT = 0x18,
    EXIT_EXTENDED = 0x20,
    ELAPSED = 0x30,
    TICKFREQ = 0x31,
};
enum { MODE_R = 0, MODE_RP = 2, MODE_W = 4, MODE_WP = 6, MODE_A = 8 };

static int64_t call3(uint64_t operation, uint64_t first, uint64_t second, uint64_t third)
{
    const volatile uint64_t block[] = {first, second, third};
    return call(operation, (const void *)block);
}

static int64_t open_file(const char *name, unsigned mode)
{
    return call3(OPEN, (uint64_t)name, mode, strlen(name));
}

static void test_files(void)
{
    char text[32] = {0};
    int64_t file = open_file("semi.txt", MODE_WP);
    printf("open: %d\n", file > 0);
    printf("write: %ld\n", (long)call3(WRITE, (uint64_t)file, (uint64_t) "hello, world", 12));
    printf("length: %ld\n", (long)call3(FLEN, (uint64_t)file, 0, 0));
    printf("seek: %ld\n", (long)call3(SEEK, (uint64_t)file, 7, 0));
    printf("read: %ld", (long)call3(READ, (uint64_t)file, (uint64_t)text, 20));
    printf(" '%s'\n", text);
    printf("read at the end: %ld\n", (long)call3(READ, (uint64_t)file, (uint64_t)text, 4));
    printf("terminal: %ld\n", (long)call3(ISTTY, (uint64_t)file, 0, 0));
    printf("close: %ld\n", (long)call3(CLOSE, (uint64_t)file, 0, 0));
    printf("close again: %ld\n", (long)call3(CLOSE, (uint64_t)file, 0, 0));
    file = open_file("semi.txt", MODE_A);
    printf("append: %ld\n", (long)call3(WRITE, (uint64_t)file, (uint64_t) "!", 1));
    printf("spec: length: %s\n", call3(FLEN, (uint64_t)file, 0, 0) == 13 ? "yes" : "FAILED");
    call3(CLOSE, (uint64_t)file, 0, 0);
    const uint64_t names[] = {(uint64_t) "semi.txt", 8, (uint64_t) "semj.txt", 8};
    printf("rename: %ld\n", (long)call(RENAME, names));
    printf("open of the old name: %ld\n", (long)open_file("semi.txt", MODE_R));
    printf("its reason: %ld\n", (long)call(ERRNO, NULL));
    printf("remove: %ld\n", (long)call3(REMOVE, (uint64_t) "semj.txt", 8, 0));
    printf("remove again: %d\n", call3(REMOVE, (uint64_t) "semj.txt", 8, 0) != 0);
}

static void test_values(void)
{
    const int64_t error = -1, fine = 5;
    uint64_t ticks = 0, block[4] = {1, 1, 1, 1};
    uint64_t *where = block;
    char line[4096] = ""; /* has the path of the program */
    uint64_t command[] = {(uint64_t)line, sizeof line};
    printf("iserror: %d %d\n", call(ISERROR, &error) != 0, call(ISERROR, &fine) != 0);
    printf("clock: %d\n", call(CLOCK, NULL) >= 0);
    printf("time: %d\n", call(TIME, NULL) > 1500000000);
    printf("elapsed: %ld %d\n", (long)call(ELAPSED, &ticks), ticks > 0);
    printf("tick frequency: %ld\n", (long)call(TICKFREQ, NULL));
    call(HEAPINFO, &where);
    printf("heap information: %d\n", block[0] != 1 && block[1] != 1 && block[2] != 1 && block[3] != 1);
    printf("command line: %ld %d\n", (long)call(GET_CMDLINE, command),
           command[1] == strlen(line) && command[1] > 0);
}

/* Some of these end QEMU. */
static void test_refusals(void)
{
    printf("spec: system: %s\n", call3(SYSTEM, (uint64_t) "true", 4, 0) == -1 ? "yes" : "FAILED");
    printf("spec: a path to the outside: %s\n", open_file("../outside", MODE_R) == -1 ? "yes" : "FAILED");
    printf("spec: an absolute one: %s\n", open_file("/etc/passwd", MODE_R) == -1 ? "yes" : "FAILED");
    printf("spec: a directory: %s\n", open_file(".", MODE_R) == -1 ? "yes" : "FAILED");
    printf("spec: a mode that is none: %s\n", open_file("x", 12) == -1 ? "yes" : "FAILED");
    printf("spec: a block outside of memory: %s\n",
           call(OPEN, (const void *)0x08000000) == -1 ? "yes" : "FAILED");
    printf("spec: a name outside of memory: %s\n", call3(OPEN, 0x08000000, 0, 4) == -1 ? "yes" : "FAILED");
    printf("spec: a name without end: %s\n",
           call3(OPEN, (uint64_t) "x", 0, UINT64_MAX) == -1 ? "yes" : "FAILED");
    printf("spec: an operation that is none: %s\n", call(0x77, NULL) == -1 ? "yes" : "FAILED");
    printf("spec: a handle that is none: %s\n", call3(READ, 999, 0, 4) == 4 ? "yes" : "FAILED");
}

static void test_special(void)
{
    int64_t features = open_file(":semihosting-features", MODE_R);
    char magic[5] = "";
    call3(READ, (uint64_t)features, (uint64_t)magic, 5);
    printf("features: %.4s %d\n", magic, magic[4] & 3);
    int64_t console = open_file(":tt", MODE_W);
    printf("spec: console is a terminal: %s\n",
           call3(ISTTY, (uint64_t)console, 0, 0) == 1 ? "yes" : "FAILED");
}

/* Whether the command line asks for more. */
static int wants_refusals(void)
{
    char line[512] = "";
    uint64_t command[] = {(uint64_t)line, sizeof line};
    return call(GET_CMDLINE, command) == 0 && strstr(line, "refusals") != NULL;
}

int main(void)
{
    test_files();
    test_values();
    test_special();
    if (wants_refusals())
        test_refusals();
    const uint64_t reason[] = {0x20026, 77};
    call(EXIT, reason);
    return 1;
}
