/* What an experiment's first run tells of all of them, before it is executed. */
#ifndef EMU_EXPERIMENT_RUNS_FORESEE_H
#define EMU_EXPERIMENT_RUNS_FORESEE_H

#include "emu/experiment/description.h"
#include "emu/experiment/options.h"

/* Executes one instruction of the run at a point, and warns of each column with a statistic that the run will not have, and of each
 * program that does not have the name of its region of interest, with the description's line. */
void experiment_foresee(const struct experiment *e, const struct experiment_where *where,
                        const int point[EXPERIMENT_AXES]);

#endif
