/* Comparisons of all statistics of two points of an axis. */
#ifndef EMU_EXPERIMENT_RESULTS_COMPARE_H
#define EMU_EXPERIMENT_RESULTS_COMPARE_H

#include "emu/experiment/options.h"
#include "emu/experiment/plan.h"
#include "emu/experiment/results/results.h"

struct experiment_differences {
    int runs; /* pairs that were compared */
    long lines, compared;
    char name[32]; /* of the file in the folder for results */
};

/* Writes every statistic that differs between the two points of a comparison. Returns false and sets err on failure. */
bool experiment_compare(const struct experiment *e, const struct experiment_where *where,
                        struct results *results, const struct experiment_run *runs, int number,
                        struct experiment_differences *differences, struct error *err);

#endif
