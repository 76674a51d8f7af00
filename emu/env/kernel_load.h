/* Puts the kernel and its program into memory, and writes the boot block. */
#ifndef EMU_ENV_KERNEL_LOAD_H
#define EMU_ENV_KERNEL_LOAD_H

#include "emu/env/kernel.h"

struct kernel_layout {
    uint64_t kernel_entry, boot; /* physical: where hart 0 starts, and what its a1 is */
    uint64_t driver;             /* physical: the boot block's struct kernel_driver */
    uint64_t stack_first;        /* lowest address of the program's stack */
    uint64_t kernel_end;         /* physical: first byte that is not the kernel's from the start */
};

/* False with err set when a file is wrong or does not fit. */
bool kernel_load(const struct kernel_options *options, struct phys *memory, struct kernel_layout *layout,
                 struct error *err);

#endif
