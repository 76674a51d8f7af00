/* The platform-level interrupt controller (PLIC): routes device interrupts to the harts. */
#ifndef EMU_DEV_PLIC_H
#define EMU_DEV_PLIC_H

#include "emu/mem/phys/bus.h"

/* Registers (RISC-V PLIC specification 1.0.0; layout and numbers of the QEMU `virt` board), for accesses of 4
 * bytes:
 *
 *   0x000000 + 4 s       priority of source s: 0 (never) to 7
 *   0x001000 + 4 w       pending bits of sources 32 w to 32 w + 31, read-only
 *   0x002000 + 0x80 c    enable bits of context c
 *   0x200000 + 0x1000 c  priority threshold of context c: 0 to 7
 *   0x200004 + 0x1000 c  claim (read), complete (write)
 *
 * Source 0 does not exist. Gateways are level-triggered: a high level becomes one request, which stays
 * pending until it is claimed, even if the level falls. If the level is still high after completion, it
 * becomes the next request. As the specification requires, a claim ignores the threshold, and completing a
 * source that the context has not enabled does nothing. */
enum {
    PLIC_SOURCES = 96, /* 1 to 96 */
    PLIC_SIZE = 0x600000,
    PLIC_CONTEXTS = (PLIC_SIZE - 0x200000) / 0x1000, /* 1024: the board has room for 512 harts */
    PLIC_ACCESS = BUS_4,
};

struct plic;

/* Creates a PLIC for contexts 0 to contexts - 1 (at most PLIC_CONTEXTS). lines[context] are their interrupt
 * lines; the array is copied. NULL when out of host memory. Free with plic_free(). */
struct plic *plic_new(unsigned contexts, const struct irq_line *lines);
void plic_free(struct plic *plic);

/* Clears all settings and requests. The input levels belong to the devices and are kept. */
void plic_reset(struct plic *plic);

/* Returns the interrupt line into `source`, 1 to PLIC_SOURCES. */
struct irq_line plic_input(struct plic *plic, unsigned source);

extern const struct device_ops plic_ops;

#endif
