/* The target description that tells gdb which registers there are. */
#ifndef EMU_DEBUG_GDB_DESCRIPTION_H
#define EMU_DEBUG_GDB_DESCRIPTION_H

#include <stddef.h>

/* target.xml, with all registers of gdb_target.h and all CSRs of isa/csr.def under their names. Never NULL;
 * free it with free(). */
char *gdb_description_new(size_t *length);

#endif
