/* Main memory: one contiguous range of physical addresses, reserved from the host and allocated lazily. */
#ifndef EMU_MEM_PHYS_H
#define EMU_MEM_PHYS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/error.h"

struct phys {
    uint8_t *bytes; /* host address of the byte at guest address `base`; page aligned */
    uint64_t base;  /* guest address of the first byte; a multiple of 4096 */
    uint64_t size;  /* in bytes; a multiple of 4096, not 0 */
};

/* Reserves `size` bytes of address space, which read as zero; the host allocates a page when it is first
 * written. Fails if base or size is not a multiple of 4096, size is 0, base + size wraps around, or the host
 * has no room. */
bool phys_init(struct phys *memory, uint64_t base, uint64_t size, struct error *err);

void phys_free(struct phys *memory);

/* Returns the host address of the guest bytes [address, address + length), or NULL unless all of them are in
 * memory. The pointer is valid until phys_free(). A length of 0 is allowed for any address in [base, base +
 * size]. */
static inline uint8_t *phys_at(const struct phys *memory, uint64_t address, uint64_t length)
{
    uint64_t offset = address - memory->base;
    if (offset > memory->size || length > memory->size - offset)
        return 0;
    return memory->bytes + offset;
}

#endif
