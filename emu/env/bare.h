/* The `bare` environment: runs machine-mode programs, or firmware that boots a kernel, with the board's
 * devices. */
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
#include "emu/sim/report/stats.h"

struct bare_options {
    const struct machine_config *machine;
    const char *program;          /* ELF, started by the boot ROM; or NULL with a bios */
    const char *bios;             /* firmware: ELF, or raw at the start of memory; or NULL */
    const char *kernel;           /* run by the firmware in supervisor mode: ELF, or raw at 2 MiB; or NULL */
    const char *append;           /* the kernel's command line; or NULL */
    const char *initrd;           /* file with the kernel's initial file system; or NULL */
    const char *dtb;              /* file with the device tree; NULL: the machine's */
    const char *firmware;         /* makes accelerators take tasks; NULL: they are ordinary harts */
    const char *signature;        /* file for the words between begin_signature and end_signature; or NULL */
    const char *record, *replay;  /* files of console input; or NULL */
    const char *dir;              /* the only folder in which semihosting may open files */
    const char *const *arguments; /* joined to semihosting's command line */
    size_t argument_count;
    const char *save; /* file for a snapshot of the machine; or NULL */
    uint64_t
        save_at; /* instructions after which it is taken; 0: where the run ends, or as save_at_region says */
    bool save_at_region;
    /* File of a snapshot with which the run begins, instead of the program or firmware; or NULL. */
    const char *restore;
    bool debugged;       /* run under gdb, which must be able to interrupt waits for input */
    uint64_t max_insns;  /* limit for all harts together */
    uint64_t max_memory; /* limit of written memory in bytes, memory_limit.h; 0: none */
    uint64_t
        trap_loops; /* same traps after which a hart looks for a trap loop (emu/hart/priv/trap_loop.h); 0: never */
    struct log *log; /* or NULL */
    /* Number of the signal that ends the run; 0: none yet. Set it before calling system_interrupt(). May be
     * NULL. */
    const volatile sig_atomic_t *signal;
    struct stats *stats; /* counts the markers' regions; or NULL */
};

struct bare;

/* Loads all files and makes harts and devices, ready to run. Returns NULL and sets err if a file or the
 * machine is wrong. options must outlive the result. Release with bare_free(), which returns false and sets
 * err if the console's output or recording could not be written; NULL is allowed. */
struct bare *bare_new(const struct bare_options *options, struct error *err);
bool bare_free(struct bare *bare, struct error *err);

struct system *bare_system(struct bare *bare);

/* Returns the accelerators, for the timed machine; NULL if none takes tasks. */
struct tasks *bare_tasks(const struct bare *bare);

/* Takes the snapshot if it is due at this stop. *goes_on tells whether the run continues. Returns false with err set if the file
 * cannot be written, or if the run ends without a snapshot that was wanted. */
bool bare_save(void *bare, enum system_stop stop, bool *goes_on, struct error *err);

/* Returns the exit status of a run that ended with `stop`: the value that the program stored to the finisher
 * or HTIF, 1 if that value reports a failed test, 124 at a limit, 128 + the number of a signal after a trap that
 * ended it; or -1 with err set. Prints the reason if the program did not end the run itself. */
int bare_finish(struct bare *bare, enum system_stop stop, struct error *err);

/* Restarts the machine (a struct bare): resets devices and harts and loads the images again. */
bool bare_restart(void *bare, struct error *err);

#endif
