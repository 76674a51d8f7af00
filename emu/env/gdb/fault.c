#include "emu/env/gdb/fault.h"

#include <string.h>

#include "emu/env/gdb/hart.h"
#include "emu/env/gdb/region.h"
#include "emu/hart/probe.h"
#include "isa/csr.h"

#define UNKNOWN UINT64_MAX

enum { SP = 2 };

/* Returns the thread of the first accelerator. */
static unsigned first_of(const struct gdb_fault *fault)
{
    return (unsigned)(fault->tasks->harts - fault->system->harts);
}

/* Fills in the region that has stopped at the thread's accelerator. False: there is none. */
static bool region_of(const struct gdb_fault *fault, unsigned thread, struct tasks_region *region)
{
    return fault->tasks && thread >= first_of(fault) && thread - first_of(fault) < fault->tasks->count &&
           tasks_region(fault->tasks, thread - first_of(fault), region);
}

void gdb_fault_show(struct gdb_fault *fault)
{
    struct tasks_region region;
    fault->on = true;
    fault->host = fault->thread = (unsigned)(fault->fault.hart - fault->system->harts);
    if (fault->fault.task && region_of(fault, first_of(fault) + fault->fault.accelerator, &region))
        fault->thread = first_of(fault) + fault->fault.accelerator;
}

bool gdb_fault_at(const struct gdb_fault *fault, unsigned thread)
{
    struct tasks_region region;
    return fault->on && ((thread == fault->host && fault->fault.over) || region_of(fault, thread, &region));
}

bool gdb_fault_read(const struct gdb_fault *fault, unsigned thread, unsigned number, uint64_t *value)
{
    struct tasks_region region;
    const bool stopped = region_of(fault, thread, &region);
    if (number < GDB_REGISTER_PC)
        *value = stopped ? region.x[number] : fault->fault.x[number];
    else if (number == GDB_REGISTER_PC)
        *value = stopped ? region.pc : fault->fault.pc;
    else if (number == GDB_REGISTER_PRIV)
        *value = PRIV_U;
    else
        return gdb_hart_read(&fault->system->harts[thread], number, value);
    return true;
}

bool gdb_fault_write(struct gdb_fault *fault, unsigned thread, unsigned number, uint64_t value)
{
    struct hart *hart = &fault->system->harts[thread];
    struct tasks_region region;
    if (fault->fault.over || !region_of(fault, thread, &region))
        return false;
    if (number == GDB_REGISTER_PRIV)
        return value == PRIV_U;
    if (number == GDB_REGISTER_PC)
        return value % 2 == 0 && hart_csr_poke(hart, CSR_mepc, value);
    if (number > GDB_REGISTER_PC)
        return gdb_hart_write(hart, number, value);
    if (number > GDB_REGISTER_X)
        memcpy((uint8_t *)region.saved + sizeof value * number, &value, sizeof value);
    return true;
}

bool gdb_fault_memory(const struct gdb_fault *fault, unsigned thread, uint64_t address, void *bytes,
                      size_t length, bool write)
{
    struct hart *harts = fault->system->harts;
    struct tasks_region region;
    if (region_of(fault, thread, &region)) {
        struct tasks_caller caller = {region.stack.base + region.stack.size,
                                      thread == fault->thread ? fault->fault.x[SP] : UNKNOWN};
        (void)fault->tasks->ops->caller(fault->tasks, thread - first_of(fault), &caller);
        uint8_t *at = phys_at(&region.stack, address, length);
        if (at) {
            memcpy(write ? at : bytes, write ? bytes : at, length);
            return true;
        }
        address = gdb_region_address(fault->tasks, &caller, address);
    }
    return write ? gdb_harts_memory_write(harts, fault->system->threads, fault->host, address, bytes, length)
                 : gdb_harts_memory_read(harts, fault->host, address, bytes, length);
}

const char *gdb_fault_describe(const struct gdb_fault *fault, unsigned thread)
{
    if (!fault->on || (thread != fault->host && !gdb_fault_at(fault, thread)))
        return NULL;
    if (thread == fault->thread)
        return thread != fault->host ? "faulted in a region" : "faulted";
    return thread == fault->host ? "at the instruction that began the task"
                                 : "stopped in a region, waits for the host";
}
