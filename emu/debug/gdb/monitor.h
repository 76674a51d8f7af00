/* The commands of gdb's `monitor`. */
#ifndef EMU_DEBUG_GDB_MONITOR_H
#define EMU_DEBUG_GDB_MONITOR_H

#include "emu/debug/gdb_target.h"

/* Runs one monitor command for the target and the user's thread. `line` may hold any text. Returns the
 * output, lines of text for the user, and stores its length in bytes to *length. Never NULL; the caller frees
 * it with free(). */
char *gdb_monitor(const struct gdb_target *target, unsigned thread, const char *line, size_t *length);

#endif
