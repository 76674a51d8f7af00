/* The page of an experiment: its text and tables as Markdown. */
#ifndef EMU_EXPERIMENT_RESULTS_MARKDOWN_H
#define EMU_EXPERIMENT_RESULTS_MARKDOWN_H

#include "emu/experiment/description.h"
#include "emu/experiment/plan.h"

/* Writes the page, with values in place of {{column point ...}} (description.h). runs: NULL: only checks the texts, and writes nothing.
 * Returns false and sets err on failure. */
bool markdown_page(const struct experiment *e, const struct experiment_run *runs, FILE *out,
                   struct error *err);

#endif
