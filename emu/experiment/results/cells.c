#include "emu/experiment/results/cells.h"

#include <math.h>
#include <string.h>

#include "emu/experiment/grid.h"

const struct experiment_reference *cells_reference(const struct experiment *e, int column,
                                                   const int point[EXPERIMENT_AXES])
{
    for (int i = 0; i < e->reference_count; i++)
        if (e->references[i].column == column && experiment_chosen(e, &e->references[i].at, point))
            return &e->references[i];
    return NULL;
}

void cells_text(const struct experiment *e, const struct experiment_run *runs, int column,
                const int point[EXPERIMENT_AXES], double scale, char text[CELLS_TEXT])
{
    const struct experiment_run *run = &runs[experiment_number(e, point)];
    const struct experiment_reference *reference = cells_reference(e, column, point);
    const double value = run->values[column] / scale;
    bool unneeded = e->search_count && run->state == EXPERIMENT_LEFT && !run->wanted;
    if (run->state == EXPERIMENT_SKIPPED || unneeded || (isnan(value) && point[0] >= e->axes[0].count))
        (void)snprintf(text, CELLS_TEXT, "-");
    else if (isnan(value))
        (void)snprintf(text, CELLS_TEXT, "%s",
                       run->state == EXPERIMENT_FAILED ? "failed"
                       : run->state == EXPERIMENT_LEFT ? "left"
                                                       : "unknown");
    else if (fabs(value) >= 1e4)
        (void)snprintf(text, CELLS_TEXT, "%.0f", value);
    else
        (void)snprintf(text, CELLS_TEXT, fabs(value) >= 100 ? "%.1f" : "%.3f", value);
    size_t used = strlen(text);
    if (reference)
        (void)snprintf(text + used, CELLS_TEXT - used, " (%.3g)", reference->value / scale);
}

bool cells_has_axis(const struct experiment *e, const struct experiment_table *table, int axis)
{
    return e->axes[axis].leader != table->across &&
           !(table->at.axes[axis].chosen && table->at.axes[axis].count == 1);
}

bool cells_has_point(const struct experiment_table *table, int point)
{
    return experiment_has_point(&table->at.axes[table->across], point);
}

bool cells_line(const struct experiment *e, const struct experiment_run *runs,
                const struct experiment_table *table, const int place[EXPERIMENT_AXES])
{
    int point[EXPERIMENT_AXES], across = table->across, points = experiment_rows(e, across);
    bool mean = false, known = false, run = false;
    memcpy(point, place, sizeof point);
    for (int axis = 0; axis < e->axis_count; axis++)
        if (e->axes[axis].leader != across && !experiment_has_point(&table->at.axes[axis], point[axis]))
            return false;
    for (point[across] = 0; point[across] < points; point[across]++) {
        if (!cells_has_point(table, point[across]))
            continue;
        const struct experiment_run *at = &runs[experiment_number(e, point)];
        mean = point[0] >= e->axes[0].count;
        known = known || !isnan(at->values[table->column]);
        run = run || (!mean && at->state != EXPERIMENT_SKIPPED);
    }
    return known || run;
}
