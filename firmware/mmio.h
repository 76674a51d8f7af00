/* Accesses to device registers. */
#ifndef FIRMWARE_MMIO_H
#define FIRMWARE_MMIO_H

#include <stdint.h>

/* Addresses are physical. Accesses keep their order (I/O memory is strongly ordered); mmio_fence() orders
 * them with accesses to memory. */
static inline volatile uint8_t *mmio8(unsigned long address)
{
    return (volatile uint8_t *)address;
}
static inline volatile uint32_t *mmio32(unsigned long address)
{
    return (volatile uint32_t *)address;
}
static inline volatile uint64_t *mmio64(unsigned long address)
{
    return (volatile uint64_t *)address;
}
static inline void mmio_fence(void)
{
    __asm__ volatile("fence iorw, iorw" : : : "memory");
}

#endif
