/* Writes the tables of an experiment. */
#ifndef EMU_EXPERIMENT_RESULTS_TABLES_H
#define EMU_EXPERIMENT_RESULTS_TABLES_H

#include "emu/experiment/options.h"
#include "emu/experiment/plan.h"
#include "emu/experiment/results/results.h"

/* Writes results.csv, results.json, tables.txt and a copy of the description, stores the tables in results.db, and prints
 * them. Returns false and sets err on failure. */
bool experiment_write(const struct experiment *e, const struct experiment_where *where,
                      struct results *results, struct experiment_run *runs, struct error *err);

#endif
