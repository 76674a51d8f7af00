/* PLIC: device interrupts, as on the QEMU virt board. */
#ifndef CROFT_FIRMWARE_PLIC_H
#define CROFT_FIRMWARE_PLIC_H

#include <stdbool.h>

/* Each hart has two contexts that receive interrupts. */
static inline unsigned plic_machine_context(unsigned hart)
{
    return 2 * hart;
}
static inline unsigned plic_supervisor_context(unsigned hart)
{
    return 2 * hart + 1;
}

/* Sets a source's priority, 1 (lowest) to 7; 0: never interrupts. Sources are 1 to 95. */
void plic_set_priority(unsigned source, unsigned priority);

/* Enables or disables a source for a context. */
void plic_enable(unsigned context, unsigned source, bool enabled);

/* Sets the threshold: only sources of higher priority interrupt the context. */
void plic_set_threshold(unsigned context, unsigned threshold);

bool plic_pending(unsigned source);

/* plic_claim() returns the pending source with the highest priority, or 0. Call plic_complete() when it has
 * been served. */
unsigned plic_claim(unsigned context);
void plic_complete(unsigned context, unsigned source);

#endif
