/* The grid of an experiment: a place for each combination of the axes' points. */
#ifndef EMU_EXPERIMENT_GRID_H
#define EMU_EXPERIMENT_GRID_H

#include "emu/experiment/description.h"

/* What the name of a variable has behind its $. */
#define EXPERIMENT_NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* A place is a point of each axis. Places are numbered in the description's order; the last axis varies
 * fastest. The places of the means follow those of the last program. */
int experiment_places(const struct experiment *e); /* including the places of the means */
int experiment_runs(const struct experiment *e);   /* without the places of the means */
void experiment_place(const struct experiment *e, int number, int point[EXPERIMENT_AXES]);
int experiment_number(const struct experiment *e, const int point[EXPERIMENT_AXES]);
void experiment_follow(const struct experiment *e,
                       int point[EXPERIMENT_AXES]); /* sets the axes that others lead */

/* Return whether a point, or a place, is among the chosen ones. */
bool experiment_has_point(const struct experiment_points *points, int point);
bool experiment_chosen(const struct experiment *e, const struct experiment_choice *choice,
                       const int point[EXPERIMENT_AXES]);
void experiment_free_choice(struct experiment_choice *choice);

/* Checks the size of the grid after its axes were read, and allocates the marks of skipped places. Returns false and sets err on
 * failure. */
bool experiment_measure(struct experiment *e, struct error *err);

/* Excludes the chosen places. */
void experiment_skip(struct experiment *e, const struct experiment_choice *choice);

/* Excludes all places but those of some points of an axis: "axis=point,point". Returns false and sets err if there are none of
 * these names. */
bool experiment_only(struct experiment *e, const char *text, struct error *err);

/* Returns whether `skip` or `where` excludes a place of a run. */
bool experiment_skipped(const struct experiment *e, const int point[EXPERIMENT_AXES]);

/* Return the number of means, and of an axis's points, in that of the programs with the means. */
int experiment_means(const struct experiment *e);
int experiment_rows(const struct experiment *e, int axis);

/* Returns a point's name; those of the means for the points after the last program. */
const char *experiment_point_name(const struct experiment *e, int axis, int point);

/* Returns the points' names of a place, separated by dots; the caller frees it. */
char *experiment_label(const struct experiment *e, const int point[EXPERIMENT_AXES]);

/* Returns a variable's value at a place, from the last axis that sets it; NULL: none does. */
const char *experiment_variable(const struct experiment *e, const int point[EXPERIMENT_AXES],
                                const char *name);

/* Returns the text with the variables' values in place of $names, which the caller frees; NULL with *unknown, which has room for the
 * text, set to a name: none gives it a value. */
char *experiment_fill(const struct experiment *e, const int point[EXPERIMENT_AXES], const char *text,
                      char *unknown);

/* Returns whether an axis, or `set`, names the machine of each run, so that the description's `machine` is not used. */
bool experiment_machine_axis(const struct experiment *e);

/* Returns the names of the runs' machines for people, "nucd, ddr3"; the caller frees it. */
char *experiment_machines(const struct experiment *e);

#endif
