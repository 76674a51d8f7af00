/* Steps before the runs of a program: training, a trace by which pages are placed. */
#ifndef EMU_EXPERIMENT_RUNS_PREPARE_H
#define EMU_EXPERIMENT_RUNS_PREPARE_H

#include "emu/experiment/description.h"
#include "emu/experiment/options.h"

/* Executes the `prepare` commands of a program here, one after the other, unless they have been executed with the same words,
 * program and croft. What number N prints goes to the file N.txt of the program's folder. *failure: NULL, or what went wrong, which
 * the caller frees. Returns false with err set if it could not be tried. */
bool prepare_program(const struct experiment *e, const struct experiment_where *where, int program,
                     char **failure, struct error *err);

#endif
