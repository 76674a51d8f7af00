/* Searches of an experiment: the runs that they need, and what they have found. */
#ifndef EMU_EXPERIMENT_RUNS_SEARCH_H
#define EMU_EXPERIMENT_RUNS_SEARCH_H

#include "emu/experiment/plan.h"

/* Sets `wanted` of the runs to execute next: all that are left or, with searches, those that the searches need for their next
 * step. Returns whether there are any. */
bool experiment_want(const struct experiment *e, struct experiment_run *runs);

enum experiment_found { EXPERIMENT_FOUND, EXPERIMENT_NONE, EXPERIMENT_SEARCHING, EXPERIMENT_UNKNOWN };

/* Returns whether a search begins at a place: the place has the axis's first point, is of a program, is among those of `at`, and not
 * all places along the axis are skipped. */
bool experiment_searched(const struct experiment *e, const struct experiment_search *search,
                         const int point[EXPERIMENT_AXES]);

/* Follows a search from the place where it begins as far as values are known, and sets point[] of its axis. EXPERIMENT_UNKNOWN:
 * a value is missing, because a run failed. */
enum experiment_found experiment_search(const struct experiment *e, const struct experiment_search *search,
                                        struct experiment_run *runs, int point[EXPERIMENT_AXES]);

#endif
