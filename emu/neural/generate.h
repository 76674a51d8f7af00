/* The C header of a function's networks, for <croft/approx.h>. */
#ifndef EMU_NEURAL_GENERATE_H
#define EMU_NEURAL_GENERATE_H

#include <stdio.h>

#include "emu/neural/search.h"

/* Writes the networks of function `name`: NAME_scale, then the images NAME_sha, NAME_fxp and NAME_fp. */
void generate_network(FILE *file, const char *name, const struct samples *samples,
                      const struct search_result *result);

#endif
