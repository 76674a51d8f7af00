#include "emu/hart/probe.h"

#include <string.h>

#include "emu/hart/mmu.h"
#include "emu/hart/priv/csr.h"

bool hart_csr_peek(const struct hart *hart, unsigned number, uint64_t *value)
{
    return csr_peek(hart, number, value);
}

bool hart_csr_poke(struct hart *hart, unsigned number, uint64_t value)
{
    return csr_poke(hart, number, value);
}

/* Copies at most *length bytes, up to the end of the first byte's page; *length becomes the number copied. */
static bool copy_part(const struct hart *hart, const struct mem_access *access, uint64_t *length)
{
    const struct bytes bytes = {hart->memory, hart->holders};
    uint64_t physical, rest = MMU_PAGE - (access->address & (MMU_PAGE - 1));
    *length = access->size < rest ? access->size : rest;
    if (!mmu_peek(hart, access->address, &physical))
        return false;
    return (access->write ? bytes_write(&bytes, physical, access->bytes, *length)
                          : bytes_read(&bytes, physical, access->bytes, *length)) == *length;
}

static bool copy(const struct hart *hart, struct mem_access access)
{
    for (uint64_t part; access.size > 0; access.size -= part) {
        if (!copy_part(hart, &access, &part))
            return false;
        access.address += part;
        access.bytes = (uint8_t *)access.bytes + part;
    }
    return true;
}

bool hart_memory_read(const struct hart *hart, uint64_t address, void *to, uint64_t length)
{
    return copy(hart, (struct mem_access){address, to, length, false});
}

bool hart_memory_write(struct hart *hart, uint64_t address, const void *from, uint64_t length)
{
    if (!copy(hart, (struct mem_access){address, (void *)(uintptr_t)from, length, true}))
        return false;
    hart_flush_code(hart);
    return true;
}

void hart_compare(struct hart *hart, uint64_t address)
{
    if (hart->compares && hart->comparator == address)
        return;
    hart->compares = true;
    hart->comparator = address;
    hart_flush_code(hart);
}

static bool is_listed(const struct hart *hart, uint64_t address)
{
    for (unsigned i = 0; i < hart->breakpoint_count; i++)
        if (hart->breakpoints[i] == address)
            return true;
    return false;
}

bool hart_has_breakpoint(const struct hart *hart, uint64_t address)
{
    return (hart->compares && hart->comparator == address) || is_listed(hart, address);
}

bool hart_breakpoint_add(struct hart *hart, uint64_t address)
{
    if (is_listed(hart, address))
        return true;
    if (hart->breakpoint_count == HART_BREAKPOINTS)
        return false;
    hart->breakpoints[hart->breakpoint_count++] = address;
    hart_flush_code(hart);
    return true;
}

bool hart_breakpoint_remove(struct hart *hart, uint64_t address)
{
    for (unsigned i = 0; i < hart->breakpoint_count; i++) {
        if (hart->breakpoints[i] == address) {
            hart->breakpoints[i] = hart->breakpoints[--hart->breakpoint_count];
            hart_flush_code(hart);
            return true;
        }
    }
    return false;
}

bool hart_watchpoint_add(struct hart *hart, uint64_t address, uint64_t length, unsigned kinds)
{
    if (hart->watchpoint_count == HART_WATCHPOINTS || length == 0)
        return false;
    hart->watchpoints[hart->watchpoint_count++] = (struct watchpoint){address, length, kinds};
    return true;
}

bool hart_watchpoint_remove(struct hart *hart, uint64_t address, uint64_t length, unsigned kinds)
{
    for (unsigned i = 0; i < hart->watchpoint_count; i++) {
        const struct watchpoint *w = &hart->watchpoints[i];
        if (w->address == address && w->length == length && w->kinds == kinds) {
            hart->watchpoints[i] = hart->watchpoints[--hart->watchpoint_count];
            return true;
        }
    }
    return false;
}
