/* Checks of an experiment before its first run. */
#ifndef EMU_EXPERIMENT_RUNS_CHECK_H
#define EMU_EXPERIMENT_RUNS_CHECK_H

#include "emu/experiment/description.h"
#include "emu/experiment/options.h"

/* Checks the programs' files, and the machine and the settings at the first run and at the points of the axes. Returns false with err
 * set, which names the description's line, if a program or the machine does not exist, or a key or a value of one is unknown. */
bool experiment_check(const struct experiment *e, const struct experiment_where *where, struct error *err);

#endif
