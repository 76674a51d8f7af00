/* `croft candidates --for stash`: copies between global memory and the scratchpad that maps of a stash replace
 * (emu/analysis/tiles.h). */
#ifndef EMU_CMD_CANDIDATES_STASH_H
#define EMU_CMD_CANDIDATES_STASH_H

#include "emu/cmd/code/program.h"

struct candidates_stash_options {
    const char *symbol; /* look at this function and what it calls; NULL: at what kernels call, else at all */
    bool json, all;     /* all: at all functions, also if there are kernels */
    bool why;           /* also print the other copies, and why no map replaces them */
};

/* Prints the maps of a linked program. Returns false with err set if it cannot be looked at. */
bool candidates_print_stash(struct program *program, const struct candidates_stash_options *options,
                            struct error *err);

#endif
