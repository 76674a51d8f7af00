#include "tests/debug/gdb_fake.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What the session promises to its target is checked here: abort() where a promise is broken. */
static void promise(bool kept)
{
    if (!kept)
        abort();
}

static unsigned thread_count(void *target)
{
    (void)target;
    return FAKE_THREADS;
}

static uint64_t *find_register(struct fake *fake, unsigned thread, unsigned number)
{
    promise(thread < FAKE_THREADS && number <= GDB_REGISTER_PRIV);
    if (number < GDB_REGISTER_GENERAL)
        return &fake->registers[thread][number];
    return number == FAKE_MSTATUS ? &fake->mstatus : NULL;
}

static bool register_read(void *target, unsigned thread, unsigned number, uint64_t *value)
{
    const uint64_t *found = find_register(target, thread, number);
    if (found)
        *value = *found;
    return found;
}

static bool register_write(void *target, unsigned thread, unsigned number, uint64_t value)
{
    uint64_t *found = find_register(target, thread, number);
    if (!found || (number == GDB_REGISTER_PC && value % 2 != 0))
        return false;
    *found = value;
    return true;
}

static uint8_t *find_memory(struct fake *fake, unsigned thread, uint64_t address, size_t length)
{
    uint64_t offset = address - FAKE_BASE;
    promise(thread < FAKE_THREADS && length > 0 && length <= GDB_PACKET);
    if (offset >= FAKE_SIZE || length > FAKE_SIZE - offset)
        return NULL;
    return fake->memory + offset;
}

static bool memory_read(void *target, unsigned thread, uint64_t address, void *to, size_t length)
{
    const uint8_t *from = find_memory(target, thread, address, length);
    if (from)
        memcpy(to, from, length);
    return from;
}

static bool memory_write(void *target, unsigned thread, uint64_t address, const void *from, size_t length)
{
    uint8_t *to = find_memory(target, thread, address, length);
    if (to)
        memcpy(to, from, length);
    return to;
}

static bool count_point(unsigned *count, bool insert)
{
    if (insert && *count == FAKE_POINTS)
        return false;
    promise(insert || *count > 0);
    *count += insert ? 1 : UINT_MAX;
    return true;
}

static bool breakpoint(void *target, bool insert, uint64_t address)
{
    (void)address;
    return count_point(&((struct fake *)target)->breakpoints, insert);
}

static bool watchpoint(void *target, bool insert, uint64_t address, uint64_t length, unsigned kinds)
{
    promise(length > 0 && address + (length - 1) >= address && kinds > 0 && kinds < 4);
    return count_point(&((struct fake *)target)->watchpoints, insert);
}

static void run(void *target, const struct gdb_action *actions, struct gdb_stop *stop)
{
    struct fake *fake = target;
    fake->runs++;
    memcpy(fake->actions, actions, sizeof fake->actions);
    *stop = fake->next;
}

static void thread_describe(void *target, unsigned thread, char *text, size_t size)
{
    (void)target;
    (void)snprintf(text, size, "fake %u", thread);
}

static void statistics(void *target, FILE *out)
{
    for (unsigned i = 0; i < 2000; i++)
        fprintf(out, "counter %u: %u\n", i, ((struct fake *)target)->runs);
}

const struct gdb_target_ops fake_ops = {
    .thread_count = thread_count,
    .register_read = register_read,
    .register_write = register_write,
    .memory_read = memory_read,
    .memory_write = memory_write,
    .breakpoint = breakpoint,
    .watchpoint = watchpoint,
    .run = run,
    .thread_describe = thread_describe,
    .statistics = statistics,
};
