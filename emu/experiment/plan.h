/* The runs of an experiment while it is executed. */
#ifndef EMU_EXPERIMENT_PLAN_H
#define EMU_EXPERIMENT_PLAN_H

#include "emu/experiment/description.h"
#include "emu/experiment/digest.h"

enum experiment_state { EXPERIMENT_LEFT, EXPERIMENT_SKIPPED, EXPERIMENT_FAILED, EXPERIMENT_DONE };

/* The run at a place. */
struct experiment_run {
    enum experiment_state state;
    bool wanted;    /* execute it in this round */
    bool evaluated; /* its statistics are in values */
    bool known;     /* `key` is set, because program and machine could be read */
    struct digest key;
    char *failure;  /* one line about a failed run; NULL: none */
    double *values; /* by column; NaN: unknown */
};

/* Makes runs[experiment_places()], to be released by experiment_unplan(). Returns NULL with err set if the description names
 * variables that have no value, or if nothing is left to run. */
struct experiment_run *experiment_plan(const struct experiment *e, struct error *err);
void experiment_unplan(const struct experiment *e, struct experiment_run *runs);

#endif
