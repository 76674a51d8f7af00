#include "emu/env/gdb/region.h"

#include <inttypes.h>
#include <stdio.h>

#include "emu/hart/hart.h"

static bool is_accelerator(const struct tasks *tasks, const struct hart *hart)
{
    return tasks && hart >= tasks->harts && hart < tasks->harts + tasks->count;
}

const char *gdb_region_name(const struct tasks *tasks, const struct hart *hart, char text[GDB_REGION_NAME])
{
    if (is_accelerator(tasks, hart))
        (void)snprintf(text, GDB_REGION_NAME, "hart %" PRIu32 ", accelerator %u", hart->hartid,
                       (unsigned)(hart - tasks->harts));
    else
        (void)snprintf(text, GDB_REGION_NAME, "hart %" PRIu32, hart->hartid);
    return text;
}

uint64_t gdb_region_address(const struct tasks *tasks, const struct tasks_caller *caller, uint64_t address)
{
    const uint64_t distance = address - caller->stack_end, limit = tasks->memory.base;
    const bool above = address >= caller->stack_end && caller->sp < limit && distance < limit - caller->sp;
    return above ? caller->sp + distance : address;
}

uint64_t gdb_region_translate(const struct tasks *tasks, const struct hart *hart, uint64_t address)
{
    struct tasks_caller caller;
    if (!is_accelerator(tasks, hart) || hart->privilege != PRIV_U ||
        !tasks->ops->caller(tasks, (unsigned)(hart - tasks->harts), &caller))
        return address;
    return gdb_region_address(tasks, &caller, address);
}
