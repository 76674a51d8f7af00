/* The device tree of a machine, which tells firmware what hardware exists. */
#ifndef EMU_MACHINE_BOARD_FDT_H
#define EMU_MACHINE_BOARD_FDT_H

#include <stddef.h>

#include "emu/core/tasks.h"
#include "emu/machine/machine.h"

/* Makes the flattened device tree (Devicetree Specification 0.4, version 17) of the machine: harts, memory,
 * and devices as the QEMU `virt` board describes them. `units`, the task units of accelerators, and bootargs, the kernel's
 * command line, may be NULL. Returns a blob of *size bytes, which the caller frees with free(), or NULL with err set. */
void *machine_fdt(const struct machine_config *config, const struct tasks_node *units, const char *bootargs,
                  size_t *size, struct error *err);

/* What a device tree tells a kernel about its start. */
struct fdt_chosen {
    const char *arguments;             /* the kernel's command line; NULL: as the tree says */
    uint64_t initrd_first, initrd_end; /* addresses of the initial file system; equal: there is none */
};

/* Changes the node /chosen of a device tree, a blob of *size bytes from malloc(). Returns the new blob, sets
 * *size and frees the old blob; or returns NULL with err set and keeps the old blob. */
void *fdt_choose(void *blob, size_t *size, const struct fdt_chosen *chosen, struct error *err);

/* Reads a device tree from a file. Returns a blob of *size bytes, which the caller frees with free(), or NULL
 * with err set; the message names the file. */
void *fdt_read(const char *path, size_t *size, struct error *err);

#endif
