/* Host memory for the emulator's own data. If the host has none left, these functions end the emulator with a
 * message. Memory whose size the user decides (main memory, a hart's TLB, a window) is allocated elsewhere,
 * with an error that names it. */
#ifndef EMU_SIM_ALLOC_H
#define EMU_SIM_ALLOC_H

#include <stddef.h>

/* Returns a block of count * size zeroed bytes; either factor may be 0. Release it with free(). */
void *alloc(size_t count, size_t size);

/* Changes the size of the block `old` to `bytes` bytes, which may be 0. Returns the block, which may have
 * moved. If `old` is NULL, returns a new block. */
void *alloc_resize(void *old, size_t bytes);

/* Returns a copy of the text. Release it with free(). */
char *alloc_text(const char *text);

/* Returns a text as printf() would print it. Release it with free(). */
char *alloc_format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

/* Returns `memory`, which a library has allocated; calls alloc_failed() if it is NULL. */
void *alloc_checked(void *memory);

/* Prints that the host has no memory left, and aborts. */
_Noreturn void alloc_failed(void);

#endif
