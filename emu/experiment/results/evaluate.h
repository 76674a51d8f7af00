/* Computes the columns of runs from their statistics. */
#ifndef EMU_EXPERIMENT_RESULTS_EVALUATE_H
#define EMU_EXPERIMENT_RESULTS_EVALUATE_H

#include "emu/experiment/options.h"
#include "emu/experiment/plan.h"
#include "emu/experiment/results/results.h"

/* Reads the runs' statistics and computes all columns and means. Reports runs without statistics and marks them as failed. */
void experiment_evaluate(const struct experiment *e, const struct experiment_where *where,
                         struct results *results, struct experiment_run *runs);

/* Reads the statistics of the run at place n, if it is done, and stores its columns that are statistics. Reports as above. */
void experiment_evaluate_run(const struct experiment *e, const struct experiment_where *where,
                             struct results *results, struct experiment_run *runs, int n);

#endif
