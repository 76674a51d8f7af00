/* Writes the Sv39 page tables of a Linux program's address space. */
#ifndef EMU_ENV_LINUX_SPACE_TABLES_H
#define EMU_ENV_LINUX_SPACE_TABLES_H

#include "emu/env/linux/space.h"

/* Bytes that page tables for `length` bytes take at most. */
#define TABLES_MOST(length) (((length) / (512 * FRAME) + 4) * FRAME)

/* Maps [first, end) to physical memory with a protection; SPACE_UNBACKED or protection 0: to nothing. Returns false
 * if no page is left for a table. */
bool tables_set(struct space *space, uint64_t first, uint64_t end, uint64_t physical, uint8_t protection);

#endif
