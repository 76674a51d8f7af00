/* The command line of croft run. */
#ifndef EMU_CMD_REQUEST_H
#define EMU_CMD_REQUEST_H

#include "emu/cmd/timing.h"
#include "emu/env/bare.h"
#include "emu/env/user.h"

enum environment { ENV_CHOOSE, ENV_USER, ENV_KERNEL, ENV_BARE };

/* The command line, understood. */
struct request {
    enum environment env;
    const char *machine, *stats, *log, *gdb;
    const char **sets, **environment; /* as many as the command line has words */
    size_t set_count;
    struct user_options user; /* program, arguments, dir and limits serve both environments */
    struct bare_options bare;
    struct timing_options timing;
};

/* Fills in what the command line says; sets and environment have room for argc entries each, all else is as it is to
 * be by default. False when the command ends here, with *status; its messages are printed. */
bool request_parse(struct request *request, int argc, char **argv, int *status);

#endif
