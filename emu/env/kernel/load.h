/* Loads the kernel and its program into memory, and writes the boot block. */
#ifndef EMU_ENV_KERNEL_LOAD_H
#define EMU_ENV_KERNEL_LOAD_H

#include "emu/env/kernel.h"

struct kernel_layout {
    uint64_t kernel_entry, boot; /* physical: hart 0's start address, and its a1 */
    uint64_t stack_first;        /* lowest address of the program's stack */
    uint64_t kernel_end;         /* physical: end of the memory that the kernel owns from the start */
};

/* Returns the number of hosts on which the kernel runs threads of the program. */
unsigned kernel_hosts(const struct kernel_options *options);

/* Loads kernel and program into memory, writes the boot block, and sets *layout. Returns false and sets err
 * if a file is wrong or does not fit. */
bool kernel_load(const struct kernel_options *options, struct phys *memory, struct kernel_layout *layout,
                 struct error *err);

#endif
