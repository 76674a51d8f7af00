/* Threads on multiprocessors, as a debugger sees them: a gdb thread for each lane of each warp that is at work. Its number
 * follows from the place of its stack, so it is that of another thread when the next block is there.
 *
 * The lanes of a warp move together. A stop at a breakpoint is reported for the lane that steps or that stopped last, if it is
 * there, else for the first one; so is a condition evaluated. Without a clock, threads execute within the host's call: they
 * are held only while the host is. */
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
    unsigned first, width, warps; /* number of the first gdb thread; lanes of a warp; warps */
    unsigned current;             /* thread that steps or stopped last */
    unsigned signal;              /* of the trap by which a lane has ended the program */
    bool all;                     /* all lanes are listed */
    bool borrows;                 /* the host, which gdb holds, steps to serve threads */
    struct warp_debug debug;
};

/* Takes control of the threads, before the first launch. gdb's threads below `first` are harts. `lanes` must not move, and
 * outlives the launches' use of it only until gdb_lanes_close(). */
void gdb_lanes_open(struct gdb_lanes *lanes, struct threads *threads, struct system *system, unsigned first);
void gdb_lanes_close(struct gdb_lanes *lanes);

/* Returns the number of gdb threads, of which most do not exist. */
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

/* Call it before system_run() with what each thread does and with system->motion set. fault(): gdb's signal of a trap. */
void gdb_lanes_move(struct gdb_lanes *lanes, const struct gdb_action *actions,
                    unsigned (*fault)(const struct trap *trap));

/* Call it after system_run(), which has returned *why. Returns true if *stop tells what stopped a lane; if a lane that
 * stepped has ended, another thread stops. If *why is SYSTEM_EXIT because of a lane's trap, sets the stop's kind and signal,
 * too. If the host has only served threads, *why becomes SYSTEM_WATCHED. */
bool gdb_lanes_stopped(struct gdb_lanes *lanes, enum system_stop *why,
                       unsigned (*fault)(const struct trap *trap), struct gdb_stop *stop);

#endif
