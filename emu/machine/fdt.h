/* The device tree of a machine, which tells firmware what hardware exists. */
#ifndef EMU_MACHINE_FDT_H
#define EMU_MACHINE_FDT_H

#include <stddef.h>

#include "emu/machine/machine.h"

/* Makes the flattened device tree (Devicetree Specification 0.4, version 17) of the machine: harts, memory,
 * and devices as the QEMU `virt` board describes them. bootargs, the kernel's command line, may be NULL.
 * Returns a blob of *size bytes, which the caller frees with free(), or NULL with err set. */
void *machine_fdt(const struct machine_config *config, const char *bootargs, size_t *size, struct error *err);

#endif
