#include "emu/experiment/results/evaluate.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/experiment/description/expression.h"
#include "emu/experiment/grid.h"
#include "emu/experiment/runs/task.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"

/* The place in the description that asks for a statistic: the key's node, and its name. */
struct asked {
    const struct doc *doc;
    const yaml_node_t *node; /* NULL: nowhere */
    const char *key;
};

/* Reports an error in a run's statistics and marks the run as failed. The table has the key but no line, so that it does not
 * change with the file's name. hint: the nearest known name, or "". */
static void complain(struct experiment_run *run, const struct asked *asked, const char *label,
                     const char *what, const char *name, const char *hint)
{
    char *text = NULL, *failure = NULL;
    struct error err;
    if (asprintf(&text, *name ? "%s '%s'%s" : "%s", what, name, hint) < 0 ||
        asprintf(&failure, asked->node ? "%s: %s" : "%s%s", asked->node ? asked->key : "", text) < 0)
        alloc_failed();
    if (asked->node)
        (void)doc_wrong(asked->doc, asked->node, &err, "%s: %s: %s", asked->key, label, text);
    else
        (void)error_set(&err, "%s: %s", label, text);
    (void)fprintf(stderr, "croft experiment: %s\n", err.text);
    run->state = EXPERIMENT_FAILED;
    free(text);
    free(run->failure);
    run->failure = failure;
}

static struct nearest_hint nearest(const struct statistics *statistics, const char *name)
{
    return nearest_hint(name, statistics->names->names, statistics->names->count);
}

static struct nearest_hint nearest_region(const struct statistics *statistics, const char *name)
{
    json_t *regions = (json_t *)(uintptr_t)statistics_regions(statistics),
           *value; /* jansson iterates without const */
    size_t count = 0;
    const char **names = alloc(json_object_size(regions) + 1, sizeof *names), *key;
    json_object_foreach(regions, key, value) names[count++] = key;
    struct nearest_hint hint = nearest_hint(name, names, count);
    free(names);
    return hint;
}

/* Adds the statistics whose names match the pattern to *total, or, with `most`, raises it to the largest. Returns false if there is
 * none. */
static bool sum(const struct statistics *statistics, const json_t *values, const char *pattern, bool most,
                double *total)
{
    bool found = false, plain = !strchr(pattern, '*');
    for (size_t i = 0; i < statistics->names->count && !(plain && found); i++) {
        const char *name = statistics->names->names[i];
        if (plain ? strcmp(pattern, name) != 0 : fnmatch(pattern, name, 0) != 0)
            continue;
        double value = statistics_number(json_array_get(values, i));
        if (isnan(value))
            continue;
        *total = !most ? *total + value : found && *total > value ? *total : value;
        found = true;
    }
    return found;
}

/* Returns one of a column's statistics, or its value where there is none. */
static double statistic_part(const struct experiment *e, const struct experiment_column *column,
                             const char *name, const struct statistics *statistics, const json_t *values,
                             const int point[EXPERIMENT_AXES], struct experiment_run *run)
{
    const struct asked asked = {&e->doc, column->node, column->name};
    char *unknown = alloc(strlen(name) + 1, 1), *filled = experiment_fill(e, point, name, unknown);
    double part = 0;
    if (!sum(statistics, values, filled, column->most, &part)) {
        part = column->absent;
        if (isnan(part)) {
            char *label = experiment_label(e, point);
            complain(run, &asked, label, "no statistic", filled, nearest(statistics, filled).text);
            free(label);
        }
    }
    free(filled);
    free(unknown);
    return part;
}

static double statistic(const struct experiment *e, const struct experiment_column *column,
                        const struct statistics *statistics, const json_t *values,
                        const int point[EXPERIMENT_AXES], struct experiment_run *run)
{
    double total = 0;
    for (int i = 0; i < column->statistics.count; i++) {
        bool minus = column->statistics.items[i][0] == '-';
        double part =
            statistic_part(e, column, column->statistics.items[i] + minus, statistics, values, point, run);
        if (isnan(part))
            return NAN;
        part = minus ? -part : part;
        total = !column->most ? total + part : i && total > part ? total : part;
    }
    return total * column->times;
}

/* Returns the number behind a column's text in what the program has printed, or in the column's file. */
static double printed(const struct experiment *e, const struct experiment_column *column, const char *output,
                      const char *label, struct experiment_run *run)
{
    const struct asked asked = {&e->doc, column->node, column->name};
    const char *found = output ? strstr(output, column->printed) : NULL;
    char *end;
    const char *number = found ? found + strlen(column->printed) : "";
    double value = strtod(number, &end);
    for (int i = 1; i < column->number && end > number; i++)
        value = strtod(number = end, &end);
    bool hex = end > number && memchr(number, 'x', (size_t)(end - number)) != NULL;
    bool grouped = end && *end == ',' && end[1] >= '0' && end[1] <= '9'; /* 1,234 */
    if (end > number && isfinite(value) && !hex && !grouped)
        return value;
    complain(run, &asked, label,
             found          ? "no number behind"
             : column->file ? "its file has no"
                            : "the program has not printed",
             column->printed, "");
    return NAN;
}

/* Reads a column's file, a path that may name the program's folder of prepared files or is relative to the description. */
static bool read_file(const struct experiment_where *where, const char *program, const char *name,
                      struct outcome_text *text, struct error *err)
{
    char *path = experiment_prepared(where, program, name), *full = NULL;
    if (asprintf(&full, *path == '/' || strstr(name, "$prepared") ? "%s%s" : "%s/%s",
                 *path == '/' || strstr(name, "$prepared") ? "" : where->folder, path) < 0)
        alloc_failed();
    int file = open(full, O_RDONLY | O_CLOEXEC);
    bool good = file >= 0 ? outcome_read(file, OUTCOME_MOST, text, err)
                          : error_set(err, "%s: %s", name, strerror(errno));
    if (file >= 0)
        (void)close(file);
    free(full);
    free(path);
    return good;
}

/* Reads the columns that are numbers in the program's output, or in a file. */
static void read_output(const struct experiment *e, const struct experiment_where *where,
                        struct results *results, const int point[EXPERIMENT_AXES], const char *label,
                        struct experiment_run *run)
{
    struct outcome_text output = {0};
    struct error err;
    bool good = true;
    for (int c = 0; c < e->column_count && good; c++) {
        const struct experiment_column *column = &e->columns[c];
        struct outcome_text file = {0};
        if (column->kind != EXPERIMENT_PRINTED)
            continue;
        good = column->file   ? read_file(where, e->axes[0].points[point[0]].name, column->file, &file, &err)
               : output.bytes ? true
                              : results_read(results, &run->key, RESULTS_OUTPUT, &output, &err);
        if (good)
            run->values[c] = printed(e, column, column->file ? file.bytes : output.bytes, label, run);
        free(file.bytes);
    }
    if (!good)
        complain(run, &(struct asked){NULL, NULL, ""}, label, err.text, "", "");
    free(output.bytes);
}

static void read_run(const struct experiment *e, const struct experiment_where *where,
                     struct results *results, const int point[EXPERIMENT_AXES], struct experiment_run *run)
{
    struct statistics statistics;
    struct error err;
    const struct experiment_program *program = e->axes[0].points[point[0]].program;
    const char *region = program->region;
    char *label = experiment_label(e, point);
    if (!results_statistics(results, &run->key, &statistics, &err))
        complain(run, &(struct asked){NULL, NULL, ""}, label, err.text, "", "");
    else {
        const json_t *values = statistics_region(&statistics, region);
        if (!values)
            complain(run, &(struct asked){&e->doc, program->node, "region"}, label,
                     "the program has no region of interest", region,
                     nearest_region(&statistics, region).text);
        for (int c = 0; c < e->column_count && values; c++)
            if (e->columns[c].kind == EXPERIMENT_STATISTIC)
                run->values[c] = statistic(e, &e->columns[c], &statistics, values, point, run);
        statistics_free(&statistics);
    }
    read_output(e, where, results, point, label, run);
    free(label);
}

/* Returns a / b, or NaN if b is 0. */
static double quotient(double a, double b)
{
    return b != 0 ? a / b : NAN;
}

/* Evaluates an expression over the columns before it. */
static double value_of(const struct experiment *e, const struct experiment_column *column,
                       struct experiment_run *run, const int point[EXPERIMENT_AXES])
{
    struct error err;
    double value = NAN;
    expression_begin(column->expression);
    for (int i = 0; i < column - e->columns; i++)
        expression_bind_number(column->expression, i, run->values[i]);
    if (run->state == EXPERIMENT_DONE && !expression_value(column->expression, &value, &err)) {
        char *label = experiment_label(e, point);
        complain(run, &(struct asked){NULL, NULL, ""}, label, err.text, "", "");
        free(label);
    }
    return value;
}

static double derived(const struct experiment *e, const struct experiment_column *column,
                      struct experiment_run *runs, const int point[EXPERIMENT_AXES])
{
    int base[EXPERIMENT_AXES];
    const double *own = runs[experiment_number(e, point)].values;
    if (column->kind == EXPERIMENT_DIVIDE)
        return quotient(own[column->operands[0]], own[column->operands[1]]);
    if (column->kind == EXPERIMENT_VALUE)
        return value_of(e, column, &runs[experiment_number(e, point)], point);
    for (int axis = 0; axis < e->axis_count; axis++)
        base[axis] = column->baseline[axis] < 0 ? point[axis] : column->baseline[axis];
    experiment_follow(e, base);
    double a = runs[experiment_number(e, base)].values[column->operands[0]], b = own[column->operands[0]];
    return column->kind == EXPERIMENT_SPEEDUP ? quotient(a, b) : quotient(b, a);
}

/* Returns whether a program counts for a mean; NULL: over all programs. */
static bool counts(const struct experiment *e, const struct experiment_group *group,
                   const struct experiment_run *runs, const int point[EXPERIMENT_AXES])
{
    int at[EXPERIMENT_AXES];
    if (!group)
        return true;
    if (group->members)
        return group->members[point[0]];
    for (int axis = 0; axis < e->axis_count; axis++)
        at[axis] = group->place[axis] < 0 ? point[axis] : group->place[axis];
    experiment_follow(e, at);
    double value = runs[experiment_number(e, at)].values[group->column];
    return !isnan(value) && !(value < group->least) && !(value > group->most);
}

/* Returns the mean over its programs; NaN if there are none, or one of the values is unknown. */
static double mean(const struct experiment *e, const struct experiment_column *column, int c,
                   const struct experiment_run *runs, const int point[EXPERIMENT_AXES])
{
    int at[EXPERIMENT_AXES], programs = e->axes[0].count, number = point[0] - programs, count = 0;
    double total = 0;
    if (column->mean == EXPERIMENT_NO_MEAN)
        return NAN;
    memcpy(at, point, sizeof at);
    for (at[0] = 0; at[0] < programs; at[0]++) {
        double value = runs[experiment_number(e, at)].values[c];
        if (!counts(e, number ? &e->groups[number - 1] : NULL, runs, at))
            continue;
        total += column->mean == EXPERIMENT_GEOMETRIC ? log(value) : value;
        count++;
    }
    if (!count)
        return NAN;
    return column->mean == EXPERIMENT_GEOMETRIC ? exp(total / count) : total / count;
}

void experiment_evaluate_run(const struct experiment *e, const struct experiment_where *where,
                             struct results *results, struct experiment_run *runs, int n)
{
    int point[EXPERIMENT_AXES];
    if (runs[n].evaluated)
        return;
    experiment_place(e, n, point);
    for (int c = 0; c < e->column_count; c++)
        runs[n].values[c] = NAN;
    runs[n].evaluated = n < experiment_runs(e) && runs[n].state == EXPERIMENT_DONE;
    if (runs[n].evaluated)
        read_run(e, where, results, point, &runs[n]);
}

void experiment_evaluate(const struct experiment *e, const struct experiment_where *where,
                         struct results *results, struct experiment_run *runs)
{
    int point[EXPERIMENT_AXES], all = experiment_runs(e);
    for (int n = 0; n < experiment_places(e); n++)
        experiment_evaluate_run(e, where, results, runs, n);
    for (int c = 0; c < e->column_count; c++) {
        for (int n = 0; n < experiment_places(e); n++) {
            experiment_place(e, n, point);
            if (n >= all)
                runs[n].values[c] = mean(e, &e->columns[c], c, runs, point);
            else if (e->columns[c].kind != EXPERIMENT_STATISTIC && e->columns[c].kind != EXPERIMENT_PRINTED &&
                     runs[n].state != EXPERIMENT_SKIPPED)
                runs[n].values[c] = derived(e, &e->columns[c], runs, point);
        }
    }
}
