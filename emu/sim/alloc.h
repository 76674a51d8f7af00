/* Memory of the host, by one rule: what the user's sizes decide (main memory, a hart's TLB, a window) is allocated with an
 * error that names it; all else by these functions, which end the emulator with a message when there is none. */
#ifndef EMU_SIM_ALLOC_H
#define EMU_SIM_ALLOC_H

#include <stddef.h>

/* Returns count * size bytes of zeros, or a pointer to none; free() them. */
void *alloc(size_t count, size_t size);

/* Returns the block `old` (or NULL) with so many bytes, as realloc(). */
void *alloc_resize(void *old, size_t bytes);

/* Returns a copy of the text; free() it. */
char *alloc_text(const char *text);

/* Returns what a library has allocated, if it is not NULL. */
void *alloc_checked(void *memory);

/* Ends the emulator: a library has no memory. */
_Noreturn void alloc_failed(void);

#endif
