/* The part of a machine's description whose accelerators take a program's tasks (emu/core/tasks.h). All functions
 * accept machines without one. */
#ifndef EMU_ENV_TASKS_PART_H
#define EMU_ENV_TASKS_PART_H

#include "emu/core/tasks.h"
#include "emu/schema/tree.h"

/* Returns the part, or NULL. */
const struct instance *tasks_part(const struct tree *tree);

/* Return what the functions of struct tasks_kind return, or for machines without the part: false, 0, all memory. */
bool tasks_wanted(const struct tree *tree);
unsigned tasks_count(const struct tree *tree, const char *firmware);
struct phys tasks_program_memory(const struct tree *tree, const char *firmware, const struct phys *memory);

/* Describes the accelerators for the device tree. Returns false if none takes tasks. */
bool tasks_describe(const struct tree *tree, const char *firmware, struct tasks_node *node);

/* Fills in the fields of the kernel's boot block that describe accelerators and driver. */
void tasks_boot(const struct tree *tree, const char *firmware, uint64_t tick, struct kernel_boot *boot);

/* Lets tasks take any time, because a debugger may stop accelerators. Call it before tasks_new(). */
void tasks_be_patient(const struct tree *tree);

/* Print warnings on standard error: see struct tasks_kind. */
void tasks_warn_without_kernel(const struct tree *tree);
void tasks_warn_hosts(const struct tree *tree);

/* Makes the accelerators. Returns NULL if none takes tasks, with *err not set, or on failure, with *err set. Release with
 * tasks_free(). */
struct tasks *tasks_new(const struct tasks_options *options, struct error *err);

#endif
