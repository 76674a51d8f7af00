/* The target description (target.xml) that lists the registers for gdb. */
#ifndef EMU_DEBUG_GDB_DESCRIPTION_H
#define EMU_DEBUG_GDB_DESCRIPTION_H

#include <stddef.h>

#include "emu/debug/gdb_target.h"

/* Returns target.xml with all registers of gdb_target.h and all CSRs of isa/csr.def, by name. Stores its
 * length in bytes to *length. Never NULL; the caller frees it with free(). */
char *gdb_description_new(size_t *length);

/* Returns gdb's memory map: the target's regions, and the gaps between them as RAM, because programs may have virtual
 * addresses, and gdb refuses accesses outside of the map. The target must have regions(). Stores the length in bytes to
 * *length. Never NULL; the caller frees it with free(). */
char *gdb_memory_map_new(const struct gdb_target *target, size_t *length);

#endif
