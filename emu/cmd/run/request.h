/* The command line of croft run. */
#ifndef EMU_CMD_RUN_REQUEST_H
#define EMU_CMD_RUN_REQUEST_H

#include "emu/cmd/run/timing.h"
#include "emu/env/bare.h"
#include "emu/env/user.h"
#include "emu/jit/jit.h"
#include "emu/simt/grid/grid.h"

enum { REQUEST_SETS = 3 };

enum environment { ENV_CHOOSE, ENV_USER, ENV_KERNEL, ENV_BARE };

/* The parsed command line. */
struct request {
    enum environment env;
    const char *machine, *stats, *log, *gdb;
    /* Room for REQUEST_SETS settings and one variable for each argument. */
    const char **sets, **environment;
    size_t set_count;
    char **made;                 /* the settings that options stand for; the caller frees them */
    size_t made_count, settings; /* settings: of these, which any environment may have */
    unsigned drives;             /* number of --drive options */
    const char *dump_dtb;        /* file for the device tree; NULL: run */
    bool verbose, watched;       /* watched: --warp was given */
    bool loops_given;            /* --trap-loops was given */
    const char *last;            /* the value of the last option, or NULL */
    int last_option;
    struct grid_watch watch;
    enum jit_mode jit;
    bool jit_given;           /* or else programs of --env user compile */
    uint64_t jit_memory;      /* in bytes */
    struct user_options user; /* program, arguments, dir and limits apply to all environments */
    struct bare_options bare;
    struct timing_options timing;
};

/* Fills *request from the command line. The caller sets defaults and gives sets, made and environment
 * room. Returns false, with *status set and messages printed, if the command ends here. */
bool request_parse(struct request *request, int argc, char **argv, int *status);

#endif
