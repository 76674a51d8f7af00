/* Executes the runs of an experiment. */
#ifndef EMU_EXPERIMENT_RUNS_EXECUTE_H
#define EMU_EXPERIMENT_RUNS_EXECUTE_H

#include "emu/experiment/options.h"
#include "emu/experiment/plan.h"
#include "emu/experiment/results/results.h"

/* Compiles the programs that have sources, then executes all runs that are not in results.db, and adds each as it ends. Marks
 * failed runs and reports them on standard error. A signal ends the runs that are under way. Returns false and sets err if results
 * cannot be stored or no run can be started. */
bool experiment_execute(const struct experiment *e, const struct experiment_where *where,
                        struct results *results, struct experiment_run *runs, struct error *err);

#endif
