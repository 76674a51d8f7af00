/* The units of an experiment's columns. */
#ifndef EMU_EXPERIMENT_RESULTS_UNITS_H
#define EMU_EXPERIMENT_RESULTS_UNITS_H

#include "emu/experiment/description.h"
#include "emu/experiment/results/results.h"

/* Sets units[] to the unit of each column, as the runs' statistics that were read have it: "fs". "": it is a number without a unit,
 * such as a speedup. NULL: the unit is not certain, because statistics of different units are summed or divided. The texts are valid
 * until results_close(). */
void experiment_units(const struct experiment *e, const struct results *results, const char *units[]);

#endif
