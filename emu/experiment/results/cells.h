/* The cells of an experiment's tables. */
#ifndef EMU_EXPERIMENT_RESULTS_CELLS_H
#define EMU_EXPERIMENT_RESULTS_CELLS_H

#include "emu/experiment/description.h"
#include "emu/experiment/plan.h"

enum { CELLS_TEXT = 64 };

/* Returns the reference for a column at a place, or NULL. */
const struct experiment_reference *cells_reference(const struct experiment *e, int column,
                                                   const int point[EXPERIMENT_AXES]);

/* Writes a table's cell: our value, and the reference in brackets, both divided by `scale`. */
void cells_text(const struct experiment *e, const struct experiment_run *runs, int column,
                const int point[EXPERIMENT_AXES], double scale, char text[CELLS_TEXT]);

/* Return whether a table names an axis in each line, and whether it shows a point of its axis `across`. */
bool cells_has_axis(const struct experiment *e, const struct experiment_table *table, int axis);
bool cells_has_point(const struct experiment_table *table, int point);

/* Returns whether a table has the line of a place: it is chosen, and a value is known, or one of its runs is not skipped. */
bool cells_line(const struct experiment *e, const struct experiment_run *runs,
                const struct experiment_table *table, const int place[EXPERIMENT_AXES]);

#endif
