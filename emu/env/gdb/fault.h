/* A trap that stops a program, as gdb shows it until the program continues.
 *
 * If a region has trapped, the thread of its accelerator stops. It has the region's registers, not those of the
 * firmware, which waits for the host. So have the threads of other accelerators whose regions have stopped. The
 * memory of such a thread is the program's, with the region's stack (region.h) at its physical address. If the kernel has
 * ended the program, the host's thread has the program's registers, not the kernel's.
 *
 * At other stops, threads show the firmware: gdb may hold the host, and a step must not find the pc unchanged. */
#ifndef EMU_ENV_GDB_FAULT_H
#define EMU_ENV_GDB_FAULT_H

#include "emu/core/tasks.h"
#include "emu/debug/gdb_target.h"
#include "emu/env/user.h"

struct gdb_fault {
    bool on;
    struct user_fault fault;
    struct system *system;
    struct tasks *tasks;   /* NULL: no accelerator takes tasks */
    unsigned host, thread; /* gdb's threads: of the host, and the one that stopped */
};

/* Shows the fault, in fault->fault. */
void gdb_fault_show(struct gdb_fault *fault);

/* Returns whether the thread shows the program instead of its hart. */
bool gdb_fault_at(const struct gdb_fault *fault, unsigned thread);

/* As in struct gdb_target_ops, for a thread of which gdb_fault_at() is true. Registers cannot be written if the program is
 * over. */
bool gdb_fault_read(const struct gdb_fault *fault, unsigned thread, unsigned number, uint64_t *value);
bool gdb_fault_write(struct gdb_fault *fault, unsigned thread, unsigned number, uint64_t value);
bool gdb_fault_memory(const struct gdb_fault *fault, unsigned thread, uint64_t address, void *bytes,
                      size_t length, bool write);

/* Returns a few words about what the fault means to a thread, for `info threads`, or NULL if nothing. */
const char *gdb_fault_describe(const struct gdb_fault *fault, unsigned thread);

#endif
