#include <croft/firmware/map.h>
#include <croft/firmware/plic.h>

#include "firmware/mmio.h"

/* Register offsets (RISC-V PLIC specification), and the distances between contexts. */
enum {
    PRIORITY = 0,
    PENDING = 0x1000,
    ENABLE = 0x2000,
    ENABLE_STRIDE = 0x80,
    THRESHOLD = 0x200000,
    CLAIM = 0x200004,
    CONTEXT_STRIDE = 0x1000,
};

static volatile uint32_t *plic_register(unsigned long offset)
{
    return mmio32(CROFT_PLIC_BASE + offset);
}

void plic_set_priority(unsigned source, unsigned priority)
{
    *plic_register(PRIORITY + 4ul * source) = priority;
}

void plic_enable(unsigned context, unsigned source, bool enabled)
{
    volatile uint32_t *word =
        plic_register(ENABLE + (unsigned long)ENABLE_STRIDE * context + source / 32 * 4);
    uint32_t bit = UINT32_C(1) << source % 32;
    *word = enabled ? *word | bit : *word & ~bit;
}

void plic_set_threshold(unsigned context, unsigned threshold)
{
    *plic_register(THRESHOLD + (unsigned long)CONTEXT_STRIDE * context) = threshold;
}

bool plic_pending(unsigned source)
{
    return *plic_register(PENDING + source / 32 * 4) >> source % 32 & 1;
}

unsigned plic_claim(unsigned context)
{
    return *plic_register(CLAIM + (unsigned long)CONTEXT_STRIDE * context);
}

void plic_complete(unsigned context, unsigned source)
{
    *plic_register(CLAIM + (unsigned long)CONTEXT_STRIDE * context) = source;
}
