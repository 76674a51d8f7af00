/* Finds the first point of an axis at which a column reaches a threshold, by bisection, or the best point within a budget. Nothing is kept between rounds: each round
 * follows the bisection through the known values, and asks for the next runs that it needs. */
#include "emu/experiment/runs/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/experiment/grid.h"
#include "emu/sim/alloc.h"

/* Asks for the runs that a column's value at a place depends on. Returns whether all have ended. */
static bool want(const struct experiment *e, struct experiment_run *runs, const int point[EXPERIMENT_AXES],
                 int c)
{
    const struct experiment_column *column = &e->columns[c];
    int base[EXPERIMENT_AXES];
    if (column->kind == EXPERIMENT_STATISTIC || column->kind == EXPERIMENT_PRINTED) {
        struct experiment_run *run = &runs[experiment_number(e, point)];
        run->wanted = run->state == EXPERIMENT_LEFT;
        return !run->wanted;
    }
    if (column->kind == EXPERIMENT_DIVIDE) {
        bool first = want(e, runs, point, column->operands[0]);
        return want(e, runs, point, column->operands[1]) && first;
    }
    if (column->kind == EXPERIMENT_VALUE) { /* of earlier columns; quotients are made of these, too */
        bool all = true;
        for (int i = 0; i < c; i++)
            if (e->columns[i].kind != EXPERIMENT_DIVIDE && e->columns[i].kind != EXPERIMENT_VALUE)
                all = want(e, runs, point, i) && all;
        return all;
    }
    for (int axis = 0; axis < e->axis_count; axis++)
        base[axis] = column->baseline[axis] < 0 ? point[axis] : column->baseline[axis];
    experiment_follow(e, base);
    bool own = want(e, runs, point, column->operands[0]);
    return want(e, runs, base, column->operands[0]) && own;
}

static bool reached(const struct experiment_search *search, double value)
{
    return isnan(search->least) ? value <= search->most : value >= search->least;
}

static bool is_within(const struct experiment_search *search, const double *values)
{
    bool within = !isnan(values[search->column]);
    for (int i = 0; i < search->limit_count; i++)
        within =
            within && values[search->limits[i].column] <= search->limits[i].most; /* not if it is missing */
    return within;
}

/* Finds the best of all points within the budget, and sets point[] of the axis; asks for all runs first. */
static enum experiment_found search_best(const struct experiment *e, const struct experiment_search *search,
                                         struct experiment_run *runs, int point[EXPERIMENT_AXES])
{
    bool all = true;
    int best = -1;
    double value = 0;
    for (int i = 0; i < e->axes[search->axis].count; i++) {
        point[search->axis] = i;
        experiment_follow(e, point);
        if (experiment_skipped(e, point))
            continue;
        all = want(e, runs, point, search->column) && all;
        for (int k = 0; k < search->limit_count; k++)
            all = want(e, runs, point, search->limits[k].column) && all;
        const double *values = runs[experiment_number(e, point)].values;
        const double own =
            search->best == EXPERIMENT_LEAST ? values[search->column] : -values[search->column];
        if (!is_within(search, values) || (best >= 0 && own >= value))
            continue;
        best = i;
        value = own;
    }
    point[search->axis] = best < 0 ? 0 : best;
    experiment_follow(e, point);
    return !all ? EXPERIMENT_SEARCHING : best < 0 ? EXPERIMENT_NONE : EXPERIMENT_FOUND;
}

enum experiment_found experiment_search(const struct experiment *e, const struct experiment_search *search,
                                        struct experiment_run *runs, int point[EXPERIMENT_AXES])
{
    if (search->best != EXPERIMENT_FIRST)
        return search_best(e, search, runs, point);
    int count = 0, low = 0, *points = alloc((size_t)e->axes[search->axis].count, sizeof *points);
    enum experiment_found found = EXPERIMENT_FOUND;
    for (int i = 0; i < e->axes[search->axis].count; i++) {
        point[search->axis] = i;
        if (!experiment_skipped(e, point))
            points[count++] = i;
    }
    /* The first point that reaches the threshold is in low..high; high = count: none does. Try the last point first. */
    for (int high = count, middle = count - 1; low < high && found == EXPERIMENT_FOUND;
         middle = low + (high - low) / 2) {
        point[search->axis] = points[middle];
        experiment_follow(e, point);
        double value = runs[experiment_number(e, point)].values[search->column];
        if (!want(e, runs, point, search->column))
            found = EXPERIMENT_SEARCHING;
        else if (isnan(value))
            found = EXPERIMENT_UNKNOWN;
        else if (reached(search, value))
            high = middle;
        else
            low = middle + 1;
    }
    if (found == EXPERIMENT_FOUND && low == count)
        found = EXPERIMENT_NONE;
    if (count > 0) {
        point[search->axis] = points[low < count ? low : count - 1];
        experiment_follow(e, point);
    }
    free(points);
    return count ? found : EXPERIMENT_NONE;
}

bool experiment_searched(const struct experiment *e, const struct experiment_search *search,
                         const int point[EXPERIMENT_AXES])
{
    int at[EXPERIMENT_AXES];
    memcpy(at, point, sizeof at);
    if (point[search->axis] != 0 || point[0] >= e->axes[0].count || !experiment_chosen(e, &search->at, point))
        return false;
    for (at[search->axis] = 0; at[search->axis] < e->axes[search->axis].count; at[search->axis]++) {
        experiment_follow(e, at);
        if (!experiment_skipped(e, at))
            return true;
    }
    return false;
}

bool experiment_want(const struct experiment *e, struct experiment_run *runs)
{
    int point[EXPERIMENT_AXES], at[EXPERIMENT_AXES];
    bool wanted = false;
    for (int n = 0; n < experiment_runs(e); n++)
        runs[n].wanted = e->search_count == 0 && runs[n].state == EXPERIMENT_LEFT;
    for (int i = 0; i < e->search_count; i++)
        for (int n = 0; n < experiment_runs(e); n++) {
            experiment_place(e, n, point);
            if (!experiment_searched(e, &e->searches[i], point))
                continue;
            memcpy(at, point, sizeof at);
            (void)experiment_search(e, &e->searches[i], runs, at);
        }
    for (int n = 0; n < experiment_runs(e); n++)
        wanted = wanted || runs[n].wanted;
    return wanted;
}
