#include "emu/hart/probe.h"

#include <string.h>

#include "emu/hart/csr.h"
#include "emu/hart/mmu.h"

bool hart_csr_peek(const struct hart *hart, unsigned number, uint64_t *value)
{
    return csr_peek(hart, number, value);
}

bool hart_csr_poke(struct hart *hart, unsigned number, uint64_t value)
{
    return csr_poke(hart, number, value);
}

/* The host address of the bytes from address to the end of its page, at most *length of them; *length becomes
 * their number. */
static uint8_t *reach(const struct hart *hart, uint64_t address, uint64_t *length)
{
    uint64_t physical, rest = MMU_PAGE - (address & (MMU_PAGE - 1));
    if (*length > rest)
        *length = rest;
    return mmu_peek(hart, address, &physical) ? phys_at(hart->memory, physical, *length) : NULL;
}

bool hart_memory_read(const struct hart *hart, uint64_t address, void *to, uint64_t length)
{
    for (uint64_t done = 0, part; done < length; done += part) {
        part = length - done;
        const uint8_t *bytes = reach(hart, address + done, &part);
        if (!bytes)
            return false;
        memcpy((uint8_t *)to + done, bytes, part);
    }
    return true;
}

bool hart_memory_write(struct hart *hart, uint64_t address, const void *from, uint64_t length)
{
    for (uint64_t done = 0, part; done < length; done += part) {
        part = length - done;
        uint8_t *bytes = reach(hart, address + done, &part);
        if (!bytes)
            return false;
        memcpy(bytes, (const uint8_t *)from + done, part);
    }
    hart_flush_code(hart);
    return true;
}

bool hart_has_breakpoint(const struct hart *hart, uint64_t address)
{
    for (unsigned i = 0; i < hart->breakpoint_count; i++)
        if (hart->breakpoints[i] == address)
            return true;
    return false;
}

bool hart_breakpoint_add(struct hart *hart, uint64_t address)
{
    if (hart_has_breakpoint(hart, address))
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
