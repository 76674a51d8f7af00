#include "emu/env/guest/region.h"

#include <string.h>

#include "emu/debug/backtrace.h"
#include "emu/hart/probe.h"
#include "isa/include/croft/simt_call.h"

enum { A7 = 17 };

/* Returns whether the call launches threads or waits for them. Such a call stays open while threads run, so
 * the host must stand at it. */
static bool is_launch(uint64_t number)
{
    return number == SIMT_CALL_LAUNCH || number == SIMT_CALL_WAIT;
}

bool region_call(const struct user *user, unsigned accelerator, struct tasks_region *region)
{
    return tasks_region(user->tasks, accelerator, region) && !is_launch(region->x[A7]);
}

struct reader {
    const struct user *user;
    struct phys stack;
};

/* Reads bytes for a backtrace. The region's stack is at its physical address, everything else at the
 * program's addresses. */
static bool read_memory(const void *context, uint64_t address, void *to, uint64_t length)
{
    const struct reader *reader = context;
    const void *at = phys_at(&reader->stack, address, length);
    if (!at)
        return hart_memory_read(reader->user->hart, address, to, length);
    memcpy(to, at, length);
    return true;
}

size_t region_walk(const struct user *user, unsigned accelerator, uint64_t pc, uint64_t *frames, size_t max)
{
    struct tasks_region region;
    if (!tasks_region(user->tasks, accelerator, &region))
        return 0;
    const struct reader reader = {user, region.stack};
    const struct backtrace_memory memory = {read_memory, &reader};
    size_t count = backtrace_walk_through(user->symbols, region.x, pc, &memory, frames, max);
    for (size_t i = 0; i < count; i++)
        if (frames[i] >= region.begin && frames[i] <= region.end)
            return i + 1;
    return count;
}
