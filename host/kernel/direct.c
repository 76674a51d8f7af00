/* Physical memory as the kernel sees it: pages.h's part that needs the machine. */
#include <croft/firmware/map.h>

#include "host/kernel/pages.h"

enum { BLOCK = 64 /* bytes of a cache block */ };

void *pages_at(uint64_t physical)
{
    return (void *)(physical - CROFT_DRAM_BASE + DIRECT_BASE);
}

void pages_zero(uint64_t physical)
{
    char *first = pages_at(physical);
    for (char *at = first; at < first + PAGE; at += BLOCK)
        __asm__ volatile(".insn i 0x0f, 2, x0, %0, 4" : : "r"(at) : "memory"); /* cbo.zero (%0) */
}
