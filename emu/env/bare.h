/* The `bare` environment: programs in machine mode, and firmware that boots something, with the devices of
 * the board. */
#ifndef EMU_ENV_BARE_H
#define EMU_ENV_BARE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/debug/log.h"
#include "emu/machine/machine.h"
#include "emu/machine/system.h"
#include "emu/sim/error.h"
#include "emu/sim/stats.h"

struct bare_options {
    const struct machine_config *machine;
    const char *program; /* ELF, started by the boot ROM; or NULL with a bios */
    const char *bios;    /* firmware: ELF, or raw at the start of memory; or NULL */
    const char
        *kernel; /* what the firmware starts in supervisor mode: ELF, or raw 2 MiB into memory; or NULL */
    const char *firmware;  /* of accelerators, which take tasks then; NULL: they are harts like others */
    const char *signature; /* file for the words between begin_signature and end_signature; or NULL */
    const char *record, *replay;  /* files of console input; or NULL */
    const char *dir;              /* the folder whose files semihosting may open */
    const char *const *arguments; /* for semihosting's command line */
    size_t argument_count;
    bool debugged;      /* by gdb: neither a pipe nor a semihosting call keeps the system from stopping */
    uint64_t max_insns; /* of all harts together */
    struct log *log;    /* or NULL */
    /* The number of a signal that ends the run, 0: none so far; whoever sets it calls system_interrupt(). May
     * be NULL. */
    const volatile sig_atomic_t *signal;
    struct stats *stats; /* regions of markers are counted here; or NULL */
};

struct bare;

/* Loads everything, makes harts and devices, and stands ready to run. NULL with err set when something is
 * wrong with a file or the machine. options must outlive it. Release with bare_free(). */
struct bare *bare_new(const struct bare_options *options, struct error *err);
bool bare_free(struct bare *bare, struct error *err);

struct system *bare_system(struct bare *bare);

/* For the timed machine; or NULL. */
struct nucd *bare_nucd(const struct bare *bare);

/* The exit status of a run of the system that has ended so: what the program gave the finisher or HTIF, 1 when that is a
 * failure of a test, 124 at max_insns; or -1 with err set. Prints why, when it was not the program's wish. */
int bare_finish(struct bare *bare, enum system_stop stop, struct error *err);

/* Starts the machine (a struct bare) anew: devices, harts and images as at first. */
bool bare_restart(void *bare, struct error *err);

#endif
