/* Comparisons of all statistics of two points of an axis. */
#include "emu/experiment/results/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/experiment/grid.h"
#include "emu/io/output.h"

enum { TEXT = 4096 };

/* The state of a comparison. */
struct comparing {
    const struct experiment *e;
    const struct experiment_comparison *comparison;
    FILE *out;
    const int *point;
    const struct statistics *a, *b;
    struct experiment_differences *differences;
};

static size_t index_of(const struct statistics_names *names, const char *name, size_t hint)
{
    if (hint < names->count && strcmp(names->names[hint], name) == 0)
        return hint;
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->names[i], name) == 0)
            return i;
    return SIZE_MAX;
}

static void write_value(FILE *out, const json_t *value)
{
    if (json_is_integer(value))
        (void)fprintf(out, ",%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        (void)fprintf(out, ",%.9g", json_real_value(value));
    else
        (void)fprintf(out, ",%s", json_is_string(value) ? json_string_value(value) : "");
}

/* Writes a line about a statistic; a and b NULL: that run does not have it. */
static void write_line(struct comparing *x, const char *region, const char *name, const char *unit,
                       const json_t *a, const json_t *b)
{
    double from = statistics_number(a), to = statistics_number(b);
    for (int axis = 0; axis < x->e->axis_count; axis++)
        if (x->e->axes[axis].leader != x->comparison->axis)
            (void)fprintf(x->out, "%s,", experiment_point_name(x->e, axis, x->point[axis]));
    (void)fprintf(x->out, "%s,%s,%s", region, name, unit);
    write_value(x->out, a);
    write_value(x->out, b);
    (void)fprintf(x->out, ",");
    if (!isnan(from) && !isnan(to) && from != 0)
        (void)fprintf(x->out, "%.6g", to / from);
    (void)fputc('\n', x->out);
    x->differences->lines++;
}

static const char *unit_of(const struct statistics *statistics, size_t i)
{
    const char *unit =
        json_string_value(json_array_get(json_object_get(statistics->names->json, "units"), i));
    return unit ? unit : "";
}

/* Compares one region; values NULL: the run has no such region. */
static void compare_region(struct comparing *x, const char *region)
{
    const json_t *a = statistics_region(x->a, region), *b = statistics_region(x->b, region);
    for (size_t i = 0; a && i < x->a->names->count; i++) {
        const char *name = x->a->names->names[i];
        size_t other = index_of(x->b->names, name, i);
        const json_t *from = json_array_get(a, i),
                     *to = b && other != SIZE_MAX ? json_array_get(b, other) : NULL;
        x->differences->compared++;
        if (!to || !json_equal(from, to))
            write_line(x, region, name, unit_of(x->a, i), from, to);
    }
    for (size_t i = 0; b && i < x->b->names->count; i++) {
        const char *name = x->b->names->names[i];
        if (a && index_of(x->a->names, name, i) != SIZE_MAX)
            continue;
        x->differences->compared++;
        write_line(x, region, name, unit_of(x->b, i), NULL, json_array_get(b, i));
    }
}

static void compare_runs(struct comparing *x)
{
    const char *region;
    json_t *value, *a = (json_t *)(uintptr_t)statistics_regions(x->a), /* jansson iterates without const */
                       *b = (json_t *)(uintptr_t)statistics_regions(x->b);
    compare_region(x, "total");
    json_object_foreach(a, region, value) compare_region(x, region);
    json_object_foreach(b, region, value) if (!json_object_get(a, region)) compare_region(x, region);
}

static void write_head(const struct experiment *e, const struct experiment_comparison *comparison, FILE *out)
{
    for (int axis = 0; axis < e->axis_count; axis++)
        if (e->axes[axis].leader != comparison->axis)
            (void)fprintf(out, "%s,", e->axes[axis].name);
    (void)fprintf(out, "region,statistic,unit,%s,%s,ratio\n",
                  experiment_point_name(e, comparison->axis, comparison->from),
                  experiment_point_name(e, comparison->axis, comparison->to));
}

/* Compares the runs at a place, at which the axis has its first point. */
static bool compare_place(struct comparing *x, struct results *results, const struct experiment_run *runs,
                          struct error *err)
{
    const struct experiment *e = x->e;
    int from[EXPERIMENT_AXES], to[EXPERIMENT_AXES];
    struct statistics a, b;
    memcpy(from, x->point, sizeof from);
    memcpy(to, x->point, sizeof to);
    from[x->comparison->axis] = x->comparison->from;
    to[x->comparison->axis] = x->comparison->to;
    experiment_follow(e, from);
    experiment_follow(e, to);
    const struct experiment_run *first = &runs[experiment_number(e, from)],
                                *second = &runs[experiment_number(e, to)];
    if (first->state != EXPERIMENT_DONE || second->state != EXPERIMENT_DONE)
        return true;
    if (!results_statistics(results, &first->key, &a, err))
        return false;
    bool good = results_statistics(results, &second->key, &b, err);
    if (good) {
        x->a = &a;
        x->b = &b;
        x->differences->runs++;
        compare_runs(x);
        x->a = x->b = NULL;
        statistics_free(&b);
    }
    statistics_free(&a);
    return good;
}

bool experiment_compare(const struct experiment *e, const struct experiment_where *where,
                        struct results *results, const struct experiment_run *runs, int number,
                        struct experiment_differences *differences, struct error *err)
{
    char path[TEXT];
    int point[EXPERIMENT_AXES];
    const struct experiment_comparison *comparison = &e->comparisons[number];
    *differences = (struct experiment_differences){0, 0, 0, ""};
    (void)snprintf(differences->name, sizeof differences->name,
                   number ? "differences%d.csv" : "differences.csv", number + 1);
    (void)snprintf(path, sizeof path, "%s/%s", where->out, differences->name);
    struct output *file = output_open(path, err);
    if (!file)
        return false;
    struct comparing x = {.e = e,
                          .comparison = comparison,
                          .out = output_stream(file),
                          .point = point,
                          .differences = differences};
    write_head(e, comparison, x.out);
    bool good = true;
    for (int n = 0; n < experiment_runs(e) && good; n++) {
        experiment_place(e, n, point);
        if (point[comparison->axis] == 0)
            good = compare_place(&x, results, runs, err);
    }
    if (good)
        return output_keep(file, err);
    output_drop(file);
    return false;
}
