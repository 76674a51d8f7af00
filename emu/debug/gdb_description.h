/* The target description (target.xml) that lists the registers for gdb. */
#ifndef EMU_DEBUG_GDB_DESCRIPTION_H
#define EMU_DEBUG_GDB_DESCRIPTION_H

#include <stddef.h>

/* Returns target.xml with all registers of gdb_target.h and all CSRs of isa/csr.def, by name. Stores its
 * length in bytes to *length. Never NULL; the caller frees it with free(). */
char *gdb_description_new(size_t *length);

#endif
