/* `croft candidates --for nucd`: loops that NUCD's hosts can give to accelerators as tasks (emu/analysis/loop_tasks.h). */
#ifndef EMU_CMD_CANDIDATES_NUCD_H
#define EMU_CMD_CANDIDATES_NUCD_H

#include "emu/cmd/code/program.h"

struct candidates_nucd_options {
    const char *symbol; /* look at this function and what it calls; NULL: at all */
    bool json, all;     /* all: also print the other loops, and why they cannot */
};

/* Prints the loops of a linked program. Returns false with err set if it cannot be looked at. */
bool candidates_print_nucd(struct program *program, const struct candidates_nucd_options *options,
                           struct error *err);

#endif
