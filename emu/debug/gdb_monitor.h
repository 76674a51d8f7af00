/* The commands behind gdb's `monitor`. */
#ifndef EMU_DEBUG_GDB_MONITOR_H
#define EMU_DEBUG_GDB_MONITOR_H

#include "emu/debug/gdb_target.h"

/* Carries out the command line, which may be any text, for the target and its thread, and returns what it
 * prints: lines for the user, of *length bytes. Never NULL; free it with free(). */
char *gdb_monitor(const struct gdb_target *target, unsigned thread, const char *line, size_t *length);

#endif
