/* Main memory: one contiguous range of physical addresses, reserved from the host and allocated lazily. */
#ifndef EMU_MEM_PHYS_H
#define EMU_MEM_PHYS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/mem/phys/code_pages.h"
#include "emu/sim/error.h"

struct phys {
    uint8_t *bytes; /* host address of the byte at guest address `base`; page aligned */
    uint64_t base;  /* guest address of the first byte; a multiple of 4096 */
    uint64_t size;  /* in bytes; a multiple of 4096, not 0 */
    /* Shared by all views of the same bytes; NULL: stores are not noted, so code must not change. */
    struct code_pages *code;
    bool shared; /* phys_init_shared() made it */
};

/* Reserves `size` bytes of address space, which read as zero; the host allocates a page when it is first
 * written. Fails if base or size is not a multiple of 4096, size is 0, base + size wraps around, or the host
 * has no room. */
bool phys_init(struct phys *memory, uint64_t base, uint64_t size, struct error *err);

/* The same, of memory that can be mapped at other host addresses, too: from the host file *file, whose first byte is that at `base`;
 * -1: the host has no such files. The caller closes it. */
bool phys_init_shared(struct phys *memory, uint64_t base, uint64_t size, int *file, struct error *err);

/* Makes whole host pages zero and gives them back to the host. Returns false, with nothing done, if that is not possible. */
bool phys_discard(const struct phys *memory, uint8_t *bytes, uint64_t size);

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

/* Returns a view of part of memory, [address, address + size), as memory that starts at `base`. */
static inline struct phys phys_view(const struct phys *memory, uint64_t address, uint64_t size, uint64_t base)
{
    return (struct phys){memory->bytes + (address - memory->base), base, size, memory->code, memory->shared};
}

/* Returns the number of the page that holds the byte at an address in memory, as code_pages.h numbers pages. */
static inline uint64_t phys_page(const struct phys *memory, uint64_t address)
{
    return (uint64_t)(memory->bytes + (address - memory->base) - memory->code->bytes) / CODE_PAGE;
}

/* Returns whether the page that holds an address in memory has translated code. */
static inline bool phys_has_code(const struct phys *memory, uint64_t address)
{
    return memory->code && memory->code->ends[phys_page(memory, address)];
}

/* Call it before or after bytes [address, address + length) of memory are written. No hart may run between
 * the write and the call. */
static inline void phys_note_store(const struct phys *memory, uint64_t address, uint64_t length)
{
    bool within = length > 0 && address % CODE_PAGE + length <= CODE_PAGE;
    if (memory->code && length > 0 && (!within || phys_has_code(memory, address)))
        code_pages_store(memory->code, memory->bytes + (address - memory->base), length);
}

/* As phys_note_store(), for whole pages that have become zero and were given back to the host. */
static inline void phys_note_release(const struct phys *memory, uint64_t address, uint64_t length)
{
    if (memory->code && length > 0)
        code_pages_release(memory->code, memory->bytes + (address - memory->base), length);
}

#endif
