/* A target for the gdb session without an emulator: registers, a little memory, and a script of stops. */
#ifndef TESTS_DEBUG_GDB_FAKE_H
#define TESTS_DEBUG_GDB_FAKE_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/debug/gdb/state.h"

enum {
    FAKE_THREADS = 2,
    FAKE_BASE = 0x1000,
    FAKE_SIZE = 0x2800, /* two pages and a half: more than a packet holds */
    FAKE_MSTATUS = GDB_REGISTER_CSR + 0x300,
    FAKE_POINTS = 100, /* that the target has room for */
};

struct fake {
    uint64_t registers[FAKE_THREADS][GDB_REGISTER_GENERAL];
    uint64_t mstatus;
    uint8_t memory[FAKE_SIZE];
    unsigned breakpoints, watchpoints; /* inserted now */
    unsigned runs;
    struct gdb_action actions[FAKE_THREADS]; /* of the last run */
    struct gdb_stop next;                    /* what the next run ends with */
};

/* What the session promises to its target is checked here: abort() where a promise is broken. */
static void fake_promise(bool kept)
{
    if (!kept)
        abort();
}

static unsigned fake_thread_count(void *target)
{
    (void)target;
    return FAKE_THREADS;
}

static uint64_t *fake_find_register(struct fake *fake, unsigned thread, unsigned number)
{
    fake_promise(thread < FAKE_THREADS && number <= GDB_REGISTER_PRIV);
    if (number < GDB_REGISTER_GENERAL)
        return &fake->registers[thread][number];
    return number == FAKE_MSTATUS ? &fake->mstatus : NULL;
}

static bool fake_register_read(void *target, unsigned thread, unsigned number, uint64_t *value)
{
    const uint64_t *found = fake_find_register(target, thread, number);
    if (found)
        *value = *found;
    return found;
}

static bool fake_register_write(void *target, unsigned thread, unsigned number, uint64_t value)
{
    uint64_t *found = fake_find_register(target, thread, number);
    if (!found || (number == GDB_REGISTER_PC && value % 2 != 0))
        return false;
    *found = value;
    return true;
}

static uint8_t *fake_find_memory(struct fake *fake, unsigned thread, uint64_t address, size_t length)
{
    uint64_t offset = address - FAKE_BASE;
    fake_promise(thread < FAKE_THREADS && length > 0 && length <= GDB_PACKET);
    if (offset >= FAKE_SIZE || length > FAKE_SIZE - offset)
        return NULL;
    return fake->memory + offset;
}

static bool fake_memory_read(void *target, unsigned thread, uint64_t address, void *to, size_t length)
{
    const uint8_t *from = fake_find_memory(target, thread, address, length);
    if (from)
        memcpy(to, from, length);
    return from;
}

static bool fake_memory_write(void *target, unsigned thread, uint64_t address, const void *from,
                              size_t length)
{
    uint8_t *to = fake_find_memory(target, thread, address, length);
    if (to)
        memcpy(to, from, length);
    return to;
}

static bool fake_count_point(unsigned *count, bool insert)
{
    if (insert && *count == FAKE_POINTS)
        return false;
    fake_promise(insert || *count > 0);
    *count += insert ? 1 : UINT_MAX;
    return true;
}

static bool fake_breakpoint(void *target, bool insert, uint64_t address)
{
    (void)address;
    return fake_count_point(&((struct fake *)target)->breakpoints, insert);
}

static bool fake_watchpoint(void *target, bool insert, uint64_t address, uint64_t length, unsigned kinds)
{
    fake_promise(length > 0 && address + (length - 1) >= address && kinds > 0 && kinds < 4);
    return fake_count_point(&((struct fake *)target)->watchpoints, insert);
}

static void fake_run(void *target, const struct gdb_action *actions, struct gdb_stop *stop)
{
    struct fake *fake = target;
    fake->runs++;
    memcpy(fake->actions, actions, sizeof fake->actions);
    *stop = fake->next;
}

static void fake_thread_describe(void *target, unsigned thread, char *text, size_t size)
{
    (void)target;
    (void)snprintf(text, size, "fake %u", thread);
}

static void fake_statistics(void *target, const char *pattern, FILE *out)
{
    if (pattern)
        fprintf(out, "like %s\n", pattern);
    for (unsigned i = 0; i < 2000; i++)
        fprintf(out, "counter %u: %u\n", i, ((struct fake *)target)->runs);
}

static const struct gdb_target_ops fake_ops = {
    .thread_count = fake_thread_count,
    .register_read = fake_register_read,
    .register_write = fake_register_write,
    .memory_read = fake_memory_read,
    .memory_write = fake_memory_write,
    .breakpoint = fake_breakpoint,
    .watchpoint = fake_watchpoint,
    .run = fake_run,
    .thread_describe = fake_thread_describe,
    .statistics = fake_statistics,
};

#endif
