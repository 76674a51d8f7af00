/* Host memory for compiled code: never writable and executable at once. */
#ifndef EMU_JIT_MEMORY_H
#define EMU_JIT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct code_memory {
    uint8_t *bytes; /* NULL: nothing is reserved yet */
    uint64_t size;  /* address space to reserve */
    uint64_t used;
    uint64_t sealed; /* below it, pages are executable and not writable; above it the other way round */
};

/* Returns `size` writable bytes, or NULL if there is no room. alignment: a power of two. */
uint8_t *code_memory_take(struct code_memory *memory, uint64_t size, uint64_t alignment);

/* Makes all that was taken executable and no longer writable. */
bool code_memory_seal(struct code_memory *memory);

/* Gives everything back. */
void code_memory_empty(struct code_memory *memory);

#endif
