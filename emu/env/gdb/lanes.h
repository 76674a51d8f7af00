/* Threads on multiprocessors for a debugger: one gdb thread for each lane of each warp that is running. The
 * number of a gdb thread depends on the place of the thread's stack, so a thread of a later block at that
 * place has the same number.
 *
 * The lanes of a warp move together. A stop at a breakpoint is reported for the lane that steps or that
 * stopped last if it is at the breakpoint, else for the first lane there; a breakpoint's condition is
 * evaluated for the same lane. Without a clock, threads execute within the host's call, so they are held only
 * while the host is held. */
#ifndef EMU_ENV_GDB_LANES_H
#define EMU_ENV_GDB_LANES_H

#include "emu/debug/gdb_target.h"
#include "emu/machine/system.h"
#include "emu/simt/warp_debug.h"

struct threads;
struct launch;

struct gdb_lanes {
    struct threads *threads; /* NULL: there are no multiprocessors */
    struct launch *launch;
    struct system *system;
    unsigned first, width, warps; /* number of the first gdb thread; lanes of a warp; number of warps */
    unsigned current;             /* thread that steps or stopped last */
    unsigned signal;              /* gdb's signal of the trap by which a lane has ended the program */
    bool all;                     /* list all lanes, not one of each warp */
    bool borrows;                 /* host `borrowed` steps to serve threads, although gdb holds it */
    unsigned borrowed;
    struct warp_debug debug;
};

/* Takes control of the threads. Call it before the first launch. gdb's threads below `first` are harts. The
 * launches keep pointers to *lanes until gdb_lanes_close(). */
void gdb_lanes_open(struct gdb_lanes *lanes, struct threads *threads, struct system *system, unsigned first);
void gdb_lanes_close(struct gdb_lanes *lanes);

/* Returns the number of possible gdb threads: all lanes of all warps, running or not. */
unsigned gdb_lanes_count(const struct gdb_lanes *lanes);

/* As in struct gdb_target_ops, for threads from `first` on. A lane that does not exist has no registers and no memory. */
bool gdb_lanes_exist(const struct gdb_lanes *lanes, unsigned thread);
bool gdb_lanes_listed(const struct gdb_lanes *lanes, unsigned thread);
bool gdb_lanes_read(const struct gdb_lanes *lanes, unsigned thread, unsigned number, uint64_t *value);
bool gdb_lanes_write(const struct gdb_lanes *lanes, unsigned thread, unsigned number, uint64_t value);
bool gdb_lanes_memory(const struct gdb_lanes *lanes, unsigned thread, uint64_t address, void *bytes,
                      size_t length, bool write);
bool gdb_lanes_breakpoint(struct gdb_lanes *lanes, bool insert, uint64_t address);
void gdb_lanes_describe(const struct gdb_lanes *lanes, unsigned thread, char *text, size_t size);
void gdb_lanes_list(struct gdb_lanes *lanes, const char *which, FILE *out);

/* Sets what each thread does in the next system_run(). Call it before that, after setting system->motion.
 * fault() returns gdb's signal of a trap. */
void gdb_lanes_move(struct gdb_lanes *lanes, const struct gdb_action *actions,
                    unsigned (*fault)(const struct trap *trap));

/* Call it after system_run(), which has returned *why. Returns true if a lane stopped; *stop then has the
 * thread and the reason. If a lane that stepped has ended, the stop is reported for another thread. Returns
 * false otherwise; if *why is SYSTEM_EXIT because of a lane's trap, it sets the stop's kind and signal. If
 * the host has only stepped to serve threads, sets *why to SYSTEM_WATCHED. */
bool gdb_lanes_stopped(struct gdb_lanes *lanes, enum system_stop *why,
                       unsigned (*fault)(const struct trap *trap), struct gdb_stop *stop);

#endif
