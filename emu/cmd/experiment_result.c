#include <fnmatch.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cmd/experiment.h"
#include "emu/sim/alloc.h"
#include "emu/sim/nearest.h"

enum { TEXT = 4096 };

/* Reports an error in a run's statistics and marks the run as failed. hint: the nearest known name, or "". */
static void complain(struct experiment_run *run, const char *what, const char *name, const char *hint)
{
    (void)fprintf(stderr, "croft experiment: %s: %s '%s'%s\n", run->label, what, name, hint);
    run->failed = true;
}

static struct nearest_hint nearest(json_t *statistics, const char *name)
{
    size_t count = 0;
    const char **names = alloc(json_object_size(statistics) + 1, sizeof *names), *key;
    json_t *value;
    json_object_foreach(statistics, key, value) names[count++] = key;
    struct nearest_hint hint = nearest_hint(name, names, count);
    free(names);
    return hint;
}

/* Adds the statistics whose names match the pattern to *total. Returns false if there is none. */
static bool sum(json_t *statistics, const char *pattern, double *total)
{
    bool found = false;
    const char *key;
    json_t *value;
    if (!strchr(pattern, '*')) {
        value = json_object_get(statistics, pattern);
        *total += json_number_value(value);
        return json_is_number(value);
    }
    json_object_foreach(statistics, key, value)
    {
        if (json_is_number(value) && fnmatch(pattern, key, 0) == 0) {
            *total += json_number_value(value);
            found = true;
        }
    }
    return found;
}

static double statistic(const struct experiment_column *column, json_t *statistics,
                        struct experiment_run *run)
{
    double total = 0;
    for (int i = 0; i < column->statistics.count; i++) {
        double part = 0;
        bool minus = column->statistics.items[i][0] == '-';
        const char *name = column->statistics.items[i] + minus;
        if (sum(statistics, name, &part)) {
            total += minus ? -part : part;
            continue;
        }
        if (isnan(column->absent)) {
            complain(run, "no statistic", name, nearest(statistics, name).text);
            return NAN;
        }
        total += minus ? -column->absent : column->absent;
    }
    return total;
}

/* Returns the statistics of the program's region, or of the whole run; NULL if there are none. The caller
 * releases *file. */
static json_t *load_statistics(const struct experiment_where *where, const char *region,
                               struct experiment_run *run, json_t **file)
{
    char path[TEXT];
    json_error_t error;
    (void)snprintf(path, sizeof path, "%s/runs/%s.json", where->out, run->label);
    *file = json_load_file(path, 0, &error);
    if (!*file) {
        complain(run, error.text, path, "");
        return NULL;
    }
    json_t *regions = json_object_get(*file, "regions");
    json_t *found =
        strcmp(region, "total") == 0 ? json_object_get(*file, "total") : json_object_get(regions, region);
    if (!found)
        complain(run, "the program has no region of interest", region, nearest(regions, region).text);
    return found;
}

static void read_run(const struct experiment *e, const struct experiment_where *where, int program,
                     struct experiment_run *run)
{
    json_t *file = NULL;
    json_t *statistics = load_statistics(where, e->axes[0].points[program].program->region, run, &file);
    for (int c = 0; c < e->column_count && statistics; c++)
        if (e->columns[c].kind == EXPERIMENT_STATISTIC)
            run->values[c] = statistic(&e->columns[c], statistics, run);
    json_decref(file);
}

/* Returns a / b, or NaN if b is 0. */
static double quotient(double a, double b)
{
    return b != 0 ? a / b : NAN;
}

static double derived(const struct experiment *e, const struct experiment_column *column,
                      const struct experiment_run *runs, const int point[EXPERIMENT_AXES])
{
    int base[EXPERIMENT_AXES];
    const double *own = runs[experiment_number(e, point)].values;
    if (column->kind == EXPERIMENT_DIVIDE)
        return quotient(own[column->operands[0]], own[column->operands[1]]);
    for (int axis = 0; axis < e->axis_count; axis++)
        base[axis] = column->baseline[axis] < 0 ? point[axis] : column->baseline[axis];
    double a = runs[experiment_number(e, base)].values[column->operands[0]], b = own[column->operands[0]];
    return column->kind == EXPERIMENT_SPEEDUP ? quotient(a, b) : quotient(b, a);
}

/* Returns the mean over all programs; NaN if one of the values is unknown. */
static double mean(const struct experiment *e, const struct experiment_column *column, int c,
                   const struct experiment_run *runs, const int point[EXPERIMENT_AXES])
{
    int at[EXPERIMENT_AXES], count = e->axes[0].count;
    double total = 0;
    if (column->mean == EXPERIMENT_NO_MEAN)
        return NAN;
    memcpy(at, point, sizeof at);
    for (at[0] = 0; at[0] < count; at[0]++) {
        double value = runs[experiment_number(e, at)].values[c];
        total += column->mean == EXPERIMENT_GEOMETRIC ? log(value) : value;
    }
    return column->mean == EXPERIMENT_GEOMETRIC ? exp(total / count) : total / count;
}

void experiment_evaluate(const struct experiment *e, const struct experiment_where *where,
                         struct experiment_run *runs)
{
    int point[EXPERIMENT_AXES], all = experiment_runs(e);
    for (int n = 0; n < experiment_places(e); n++) {
        experiment_place(e, n, point);
        for (int c = 0; c < e->column_count; c++)
            runs[n].values[c] = NAN;
        if (n < all && !runs[n].skipped && !runs[n].failed)
            read_run(e, where, point[0], &runs[n]);
    }
    for (int c = 0; c < e->column_count; c++) {
        for (int n = 0; n < experiment_places(e); n++) {
            experiment_place(e, n, point);
            if (n >= all)
                runs[n].values[c] = mean(e, &e->columns[c], c, runs, point);
            else if (e->columns[c].kind != EXPERIMENT_STATISTIC && !runs[n].skipped)
                runs[n].values[c] = derived(e, &e->columns[c], runs, point);
        }
    }
}
