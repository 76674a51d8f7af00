/* PLIC: interrupts of devices, as on the QEMU virt board. */
#ifndef CROFT_FIRMWARE_PLIC_H
#define CROFT_FIRMWARE_PLIC_H

#include <stdbool.h>

/* Interrupts are taken by contexts: two for each hart. */
static inline unsigned plic_machine_context(unsigned hart)
{
    return 2 * hart;
}
static inline unsigned plic_supervisor_context(unsigned hart)
{
    return 2 * hart + 1;
}

/* A source's priority, 1 (lowest) to 7; 0 never interrupts. Sources are 1-95. */
void plic_set_priority(unsigned source, unsigned priority);

/* Whether a source may interrupt a context. */
void plic_enable(unsigned context, unsigned source, bool enabled);

/* Only sources of a higher priority than the threshold interrupt the context. */
void plic_set_threshold(unsigned context, unsigned threshold);

bool plic_pending(unsigned source);

/* Takes the pending source of the highest priority; 0 if there is none. Give it back when it is served. */
unsigned plic_claim(unsigned context);
void plic_complete(unsigned context, unsigned source);

#endif
