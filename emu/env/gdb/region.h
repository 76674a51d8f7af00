/* The stack of a region as gdb shows it.
 *
 * A region is entered in a frame of the host, but its sp then is the end of a stack of its own. So that gdb finds the
 * callers, the host's stack, from its sp at the instruction that began the task, follows that end in the memory of the
 * accelerator's thread. */
#ifndef EMU_ENV_GDB_REGION_H
#define EMU_ENV_GDB_REGION_H

#include "emu/core/tasks.h"

enum { GDB_REGION_NAME = 48 };

/* Writes the name of a hart, "hart 3, accelerator 2", and returns it. tasks may be NULL. */
const char *gdb_region_name(const struct tasks *tasks, const struct hart *hart, char text[GDB_REGION_NAME]);

/* Returns the program's address of an address in that memory. */
uint64_t gdb_region_address(const struct tasks *tasks, const struct tasks_caller *caller, uint64_t address);

/* Likewise, for gdb's thread of a hart: `address` if that executes no region in user mode. tasks may be NULL. */
uint64_t gdb_region_translate(const struct tasks *tasks, const struct hart *hart, uint64_t address);

#endif
