/* Shows the progress of an experiment: on a terminal one line that changes, otherwise one line for each run. */
#ifndef EMU_EXPERIMENT_RUNS_TALLY_H
#define EMU_EXPERIMENT_RUNS_TALLY_H

#include <stdbool.h>

struct tally {
    int all, done, failed, found; /* runs; found: of those done, how many were in results.db */
    unsigned running;
    double start, shown; /* host times */
    bool terminal;
};

void tally_begin(struct tally *tally, int all);

/* Counts a run that has ended. failure: NULL if it succeeded. */
void tally_run(struct tally *tally, const char *label, double seconds, const char *failure);

/* Updates the line on a terminal, a few times a second. */
void tally_show(struct tally *tally, unsigned running);

/* Removes the line from the terminal, before something else is printed. */
void tally_hide(struct tally *tally);

#endif
