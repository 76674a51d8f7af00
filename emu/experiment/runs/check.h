/* Checks of an experiment before its first run. */
#ifndef EMU_EXPERIMENT_RUNS_CHECK_H
#define EMU_EXPERIMENT_RUNS_CHECK_H

#include "emu/experiment/description.h"
#include "emu/experiment/options.h"

/* Checks the machine and the names of settings at the first run and at each written point of the axes. Returns false with err
 * set, which names the description's line, if the machine does not exist or lacks a key. */
bool experiment_check(const struct experiment *e, const struct experiment_where *where, struct error *err);

#endif
