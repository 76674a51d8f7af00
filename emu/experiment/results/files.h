/* Writes the files of single runs. */
#ifndef EMU_EXPERIMENT_RESULTS_FILES_H
#define EMU_EXPERIMENT_RESULTS_FILES_H

#include "emu/experiment/options.h"
#include "emu/experiment/plan.h"
#include "emu/experiment/results/results.h"

/* Writes each run's command, output, messages, statistics and machine to files in runs/. Returns false and sets err on
 * failure. */
bool experiment_files(const struct experiment *e, const struct experiment_where *where,
                      struct results *results, const struct experiment_run *runs, struct error *err);

#endif
