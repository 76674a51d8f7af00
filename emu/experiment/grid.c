#include "emu/experiment/grid.h"

#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"

bool experiment_measure(struct experiment *e, struct error *err)
{
    if (e->skipped)
        return true;
    double places = e->axes[0].count + experiment_means(e);
    for (int axis = 1; axis < e->axis_count; axis++)
        places *= e->axes[axis].leader == axis ? e->axes[axis].count : 1;
    if (places > EXPERIMENT_RUNS)
        return doc_wrong(&e->doc, e->axes_node, err, "axes: %.0f runs and means; %d are allowed", places,
                         EXPERIMENT_RUNS);
    e->skipped = alloc((size_t)experiment_runs(e) / 8 + 1, 1);
    return true;
}

void experiment_free_choice(struct experiment_choice *choice)
{
    for (int axis = 0; axis < EXPERIMENT_AXES; axis++)
        free(choice->axes[axis].items);
}

const char *experiment_point_name(const struct experiment *e, int axis, int point)
{
    int mean = axis == 0 ? point - e->axes[0].count : -1;
    if (mean > 0)
        return e->groups[mean - 1].name;
    return mean == 0 ? "mean" : e->axes[axis].points[point].name;
}

int experiment_means(const struct experiment *e)
{
    return 1 + e->group_count;
}

int experiment_rows(const struct experiment *e, int axis)
{
    return e->axes[axis].count + (axis == 0 ? experiment_means(e) : 0);
}

int experiment_runs(const struct experiment *e)
{
    int count = 1;
    for (int axis = 0; axis < e->axis_count; axis++)
        count *= e->axes[axis].leader == axis ? e->axes[axis].count : 1;
    return count;
}

int experiment_places(const struct experiment *e)
{
    return experiment_runs(e) / e->axes[0].count * experiment_rows(e, 0);
}

void experiment_place(const struct experiment *e, int number, int point[EXPERIMENT_AXES])
{
    for (int axis = e->axis_count - 1; axis > 0; axis--) {
        if (e->axes[axis].leader != axis)
            continue;
        point[axis] = number % e->axes[axis].count;
        number /= e->axes[axis].count;
    }
    point[0] = number;
    experiment_follow(e, point);
}

void experiment_follow(const struct experiment *e, int point[EXPERIMENT_AXES])
{
    for (int axis = 1; axis < e->axis_count; axis++)
        point[axis] = point[e->axes[axis].leader];
}

int experiment_number(const struct experiment *e, const int point[EXPERIMENT_AXES])
{
    int number = 0;
    for (int axis = 0; axis < e->axis_count; axis++)
        if (e->axes[axis].leader == axis)
            number = number * e->axes[axis].count + point[axis];
    return number;
}

bool experiment_has_point(const struct experiment_points *points, int point)
{
    for (int i = 0; i < points->count; i++)
        if (points->items[i] == point)
            return true;
    return !points->chosen;
}

bool experiment_chosen(const struct experiment *e, const struct experiment_choice *choice,
                       const int point[EXPERIMENT_AXES])
{
    for (int axis = 0; axis < e->axis_count; axis++)
        if (!experiment_has_point(&choice->axes[axis], point[axis]))
            return false;
    return true;
}

bool experiment_skipped(const struct experiment *e, const int point[EXPERIMENT_AXES])
{
    int number = experiment_number(e, point);
    return e->skipped[number / 8] >> number % 8 & 1;
}

void experiment_skip(struct experiment *e, const struct experiment_choice *choice)
{
    int point[EXPERIMENT_AXES];
    for (int n = 0; n < experiment_runs(e); n++) {
        experiment_place(e, n, point);
        if (experiment_chosen(e, choice, point))
            e->skipped[n / 8] = (unsigned char)(e->skipped[n / 8] | 1U << n % 8);
    }
}

static int axis_of(const struct experiment *e, const char *name, struct error *err)
{
    const char *names[EXPERIMENT_AXES];
    for (int axis = 0; axis < e->axis_count; axis++) {
        names[axis] = e->axes[axis].name;
        if (strcmp(name, names[axis]) == 0)
            return axis;
    }
    (void)error_set(err, "%s: there is no axis '%s'%s", e->doc.path, name,
                    nearest_hint(name, names, (size_t)e->axis_count).text);
    return -1;
}

static int point_of(const struct experiment *e, int axis, const char *name, struct error *err)
{
    const struct experiment_axis *of = &e->axes[axis];
    const char **names = alloc((size_t)of->count, sizeof *names);
    int found = -1;
    for (int i = 0; i < of->count; i++) {
        names[i] = of->points[i].name;
        found = strcmp(name, names[i]) == 0 ? i : found;
    }
    if (found < 0)
        (void)error_set(err, "%s: axis %s has no point '%s'%s", e->doc.path, of->name, name,
                        nearest_hint(name, names, (size_t)of->count).text);
    free(names);
    return found;
}

/* Excludes the places whose point of an axis is not kept. */
static void keep(struct experiment *e, int axis, const bool *kept)
{
    int point[EXPERIMENT_AXES];
    for (int n = 0; n < experiment_runs(e); n++) {
        experiment_place(e, n, point);
        if (!kept[point[axis]])
            e->skipped[n / 8] = (unsigned char)(e->skipped[n / 8] | 1U << n % 8);
    }
}

bool experiment_only(struct experiment *e, const char *text, struct error *err)
{
    char *copy = alloc_text(text), *points = strchr(copy, '='), *left = NULL;
    bool good = points != NULL ||
                error_set(err, "%s: an axis and its points are expected, as in: program=meabo2", text);
    if (points)
        *points++ = '\0';
    int axis = good ? axis_of(e, copy, err) : -1;
    if (points && good && !*points)
        good = error_set(err, "%s: points of the axis are expected, as in: program=meabo2", text);
    bool *kept = alloc(axis >= 0 ? (size_t)e->axes[axis].count : 1, sizeof *kept);
    for (char *name = axis >= 0 ? strtok_r(points, ",", &left) : NULL; name && good;
         name = strtok_r(NULL, ",", &left)) {
        int point = point_of(e, axis, name, err);
        good = point >= 0;
        if (good)
            kept[point] = true;
    }
    if (good && axis >= 0)
        keep(e, axis, kept);
    free(kept);
    free(copy);
    return good && axis >= 0;
}

char *experiment_label(const struct experiment *e, const int point[EXPERIMENT_AXES])
{
    size_t length = 1;
    for (int axis = 0; axis < e->axis_count; axis++)
        length += strlen(experiment_point_name(e, axis, point[axis])) + 1;
    char *label = alloc(length, 1);
    for (int axis = 0; axis < e->axis_count; axis++) {
        if (axis > 0)
            strcat(label, ".");
        strcat(label, experiment_point_name(e, axis, point[axis]));
    }
    return label;
}

const char *experiment_variable(const struct experiment *e, const int point[EXPERIMENT_AXES],
                                const char *name)
{
    const char *value = NULL;
    for (int axis = 0; axis <= e->axis_count; axis++) {
        const struct experiment_pairs *pairs =
            axis == 0 ? &e->set : &e->axes[axis - 1].points[point[axis - 1]].pairs;
        for (int i = 0; i < pairs->count; i++)
            if (strcmp(pairs->items[i].name, name) == 0)
                value = pairs->items[i].value;
    }
    return value;
}

char *experiment_fill(const struct experiment *e, const int point[EXPERIMENT_AXES], const char *text,
                      char *unknown)
{
    char *filled = NULL;
    size_t size;
    FILE *out = open_memstream(&filled, &size);
    bool good = out != NULL;
    if (!out)
        alloc_failed();
    for (const char *next; *text && good; text = next) {
        size_t plain = strcspn(text, "$");
        next = text + plain;
        (void)fprintf(out, "%.*s", (int)plain, text);
        if (!*next)
            break;
        size_t length = 1 + strspn(next + 1, EXPERIMENT_NAME);
        (void)snprintf(unknown, length + 1, "%s", next);
        const char *value = experiment_variable(e, point, unknown);
        good = value != NULL;
        (void)fputs(value ? value : "", out);
        next += length;
    }
    if (fclose(out) != 0)
        alloc_failed();
    if (good)
        return filled;
    free(filled);
    return NULL;
}

static const char *machine_of(const struct experiment_pairs *pairs)
{
    for (int i = 0; i < pairs->count; i++)
        if (strcmp(pairs->items[i].name, "$machine") == 0)
            return pairs->items[i].value;
    return NULL;
}

bool experiment_machine_axis(const struct experiment *e)
{
    bool all = machine_of(&e->set);
    for (int axis = 1; axis < e->axis_count && !all; axis++) {
        all = e->axes[axis].count > 0;
        for (int i = 0; i < e->axes[axis].count && all; i++)
            all = machine_of(&e->axes[axis].points[i].pairs);
    }
    return all;
}

/* Adds a name to a list of different names. */
static void add_machine(struct experiment_texts *names, const char *name)
{
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return;
    names->items = alloc_resize(names->items, (size_t)(names->count + 1) * sizeof *names->items);
    names->items[names->count++] = name;
}

char *experiment_machines(const struct experiment *e)
{
    enum { SHOWN = 4 };
    struct experiment_texts names = {NULL, 0};
    const char *name = machine_of(&e->set);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        alloc_failed();
    if (!experiment_machine_axis(e) && e->machine)
        add_machine(&names, e->machine);
    else if (name)
        add_machine(&names, name);
    for (int axis = 1; axis < e->axis_count; axis++)
        for (int i = 0; i < e->axes[axis].count; i++)
            if ((name = machine_of(&e->axes[axis].points[i].pairs)) != NULL)
                add_machine(&names, name);
    for (int i = 0; i < names.count && i < SHOWN; i++)
        (void)fprintf(out, "%s%s", i ? ", " : "", names.items[i]);
    if (names.count > SHOWN)
        (void)fprintf(out, " and %d others", names.count - SHOWN);
    if (fclose(out) != 0)
        alloc_failed();
    free(names.items);
    return text;
}
