#include "emu/experiment/description/expression.h"
#include "emu/experiment/description/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/experiment/grid.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"

enum { NUMBERS = 1000 }; /* most of `number` */

/* The fields that name points. They are read after all axes. */

/* Sets err to a message about a name that the value of `key` has. Returns false. */
static bool unknown_name(struct experiment *e, const yaml_node_t *node, const char *key, const char *what,
                         const char *name, const char *const *names, int count, struct error *err)
{
    return doc_wrong(&e->doc, node, err, "%s: unknown %s '%s'%s", key, what, name,
                     nearest_hint(name, names, (size_t)count).text);
}

static int find_axis(struct experiment *e, const yaml_node_t *node, const char *key, const char *name,
                     struct error *err)
{
    const char *names[EXPERIMENT_AXES];
    for (int i = 0; i < e->axis_count; i++) {
        names[i] = e->axes[i].name;
        if (strcmp(name, names[i]) == 0)
            return i;
    }
    (void)unknown_name(e, node, key, "axis", name, names, e->axis_count, err);
    return -1;
}

static int find_point(struct experiment *e, const yaml_node_t *node, const char *key, int axis,
                      const char *name, struct error *err)
{
    int count = experiment_rows(e, axis);
    for (int i = 0; i < count; i++)
        if (strcmp(name, experiment_point_name(e, axis, i)) == 0)
            return i;
    const char **names = alloc((size_t)count, sizeof *names);
    for (int i = 0; i < count; i++)
        names[i] = experiment_point_name(e, axis, i);
    (void)unknown_name(e, node, key, "point", name, names, count, err);
    free(names);
    return -1;
}

static int find_column(struct experiment *e, const yaml_node_t *node, const char *key, const char *name,
                       struct error *err)
{
    const char *names[EXPERIMENT_COLUMNS];
    for (int i = 0; i < e->column_count; i++) {
        names[i] = e->columns[i].name;
        if (strcmp(name, names[i]) == 0)
            return i;
    }
    (void)unknown_name(e, node, key, "column", name, names, e->column_count, err);
    return -1;
}

/* Reads {axis: point} or {axis: [point, point]}; for axes that are not named, all points. */
static bool read_choice(struct experiment *e, const yaml_node_t *node, const char *key,
                        struct experiment_choice *choice, struct error *err)
{
    int count = doc_pairs(&e->doc, node, key, err);
    memset(choice, 0, sizeof *choice);
    for (int i = 0; i < count; i++) {
        const yaml_node_t *value = doc_value(&e->doc, node, i);
        struct experiment_texts names = {0};
        int axis = find_axis(e, node, key, doc_key(&e->doc, node, i), err);
        bool good = axis >= 0 && experiment_texts(e, value, key, &names, err);
        struct experiment_points *points = good ? &choice->axes[axis] : NULL;
        if (good)
            *points = (struct experiment_points){true, experiment_array(names.count, sizeof(int)), 0};
        for (int n = 0; n < names.count && good; n++)
            good =
                (points->items[points->count++] = find_point(e, value, key, axis, names.items[n], err)) >= 0;
        free(names.items);
        if (!good)
            return false;
    }
    return count >= 0;
}

bool experiment_read_skip(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    if (!experiment_measure(e, err))
        return false;
    int count = doc_items(&e->doc, value, "skip", err);
    for (int i = 0; i < count; i++) {
        struct experiment_choice choice;
        bool good = read_choice(e, doc_item(&e->doc, value, i), "skip", &choice, err);
        if (good)
            experiment_skip(e, &choice);
        experiment_free_choice(&choice);
        if (!good)
            return false;
    }
    return count >= 0;
}

/* The fields of columns. */

static bool column_statistic(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_column *column = ((struct experiment_part *)context)->target;
    column->kind = EXPERIMENT_STATISTIC;
    column->node = value;
    return experiment_texts(experiment_of(context), value, "statistic", &column->statistics, err);
}

static bool column_divide(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    struct experiment_column *column = ((struct experiment_part *)context)->target;
    struct experiment_texts names = {0};
    column->kind = EXPERIMENT_DIVIDE;
    bool good = experiment_texts(e, value, "divide", &names, err);
    if (good && names.count != 2)
        good = doc_wrong(&e->doc, value, err, "divide: two columns are expected: [dividend, divisor]");
    for (int i = 0; i < 2 && good; i++)
        good = (column->operands[i] = find_column(e, value, "divide", names.items[i], err)) >= 0;
    free(names.items);
    return good;
}

static bool column_value(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    struct experiment_column *column = ((struct experiment_part *)context)->target;
    const char *names[EXPERIMENT_COLUMNS];
    for (int i = 0; i < e->column_count; i++)
        names[i] = e->columns[i].name;
    column->kind = EXPERIMENT_VALUE;
    column->expression = expression_read(&e->doc, value, "value", names, e->column_count, true,
                                         "earlier columns can be named, as in: 12.5 * misses + cycles", err);
    if (column->expression && expression_parameters(column->expression) > 0)
        return doc_wrong(&e->doc, value, err, "value: %s has no value here; columns have",
                         expression_parameter(column->expression, e->column_count));
    return column->expression != NULL;
}

static bool column_printed(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_column *column = ((struct experiment_part *)context)->target;
    column->kind = EXPERIMENT_PRINTED;
    column->node = value;
    column->printed = doc_text(&experiment_of(context)->doc, value, "printed", err);
    return column->printed != NULL;
}

static bool column_file(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_column *column = ((struct experiment_part *)context)->target;
    return (column->file = doc_text(&experiment_of(context)->doc, value, "file", err)) != NULL;
}

static bool column_number(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    struct experiment_column *column = ((struct experiment_part *)context)->target;
    double number;
    if (!doc_number(&e->doc, value, "number", &number, err))
        return false;
    if (number != floor(number) || number < 1 || number > NUMBERS)
        return doc_wrong(&e->doc, value, err, "number: 1 to %d is allowed", NUMBERS);
    column->number = (int)number;
    return true;
}

static bool column_compared(void *context, const yaml_node_t *value, enum experiment_kind kind,
                            struct error *err)
{
    struct experiment *e = experiment_of(context);
    struct experiment_column *column = ((struct experiment_part *)context)->target;
    const char *key = kind == EXPERIMENT_RATIO ? "ratio" : "speedup",
               *name = doc_text(&e->doc, value, key, err);
    column->kind = kind;
    return name && (column->operands[0] = find_column(e, value, key, name, err)) >= 0;
}

static bool column_speedup(void *context, const yaml_node_t *value, struct error *err)
{
    return column_compared(context, value, EXPERIMENT_SPEEDUP, err);
}

static bool column_ratio(void *context, const yaml_node_t *value, struct error *err)
{
    return column_compared(context, value, EXPERIMENT_RATIO, err);
}

/* Reads points of some axes; in the others, place[] stays. */
static bool read_baseline(struct experiment *e, const yaml_node_t *value, int place[EXPERIMENT_AXES],
                          struct error *err)
{
    int count = doc_pairs(&e->doc, value, "baseline", err);
    for (int i = 0; i < count; i++) {
        const char *name = doc_text(&e->doc, doc_value(&e->doc, value, i), "baseline", err);
        int axis = name ? find_axis(e, value, "baseline", doc_key(&e->doc, value, i), err) : -1;
        int point = axis >= 0 ? find_point(e, value, "baseline", axis, name, err) : -1;
        if (point < 0)
            return false;
        if (axis == 0)
            return doc_wrong(&e->doc, value, err, "a baseline is of the same program");
        place[e->axes[axis].leader] = point;
    }
    return count >= 0;
}

static bool column_baseline(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_column *column = ((struct experiment_part *)context)->target;
    return read_baseline(experiment_of(context), value, column->baseline, err);
}

static bool column_absent(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_column *column = ((struct experiment_part *)context)->target;
    return doc_number(&experiment_of(context)->doc, value, "absent", &column->absent, err);
}

static bool column_times(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_column *column = ((struct experiment_part *)context)->target;
    return doc_number(&experiment_of(context)->doc, value, "times", &column->times, err);
}

static bool column_of(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    struct experiment_column *column = ((struct experiment_part *)context)->target;
    const char *name = doc_text(&e->doc, value, "of", err);
    column->most = name && strcmp(name, "most") == 0;
    return name && (column->most || strcmp(name, "sum") == 0 ||
                    doc_wrong(&e->doc, value, err, "of: '%s': sum and most are allowed", name));
}

static bool column_mean(void *context, const yaml_node_t *value, struct error *err)
{
    static const char *const names[] = {"arithmetic", "geometric"};
    struct experiment *e = experiment_of(context);
    struct experiment_column *column = ((struct experiment_part *)context)->target;
    const char *name = doc_text(&e->doc, value, "mean", err);
    if (!name)
        return false;
    column->mean = strcmp(name, names[0]) == 0   ? EXPERIMENT_ARITHMETIC
                   : strcmp(name, names[1]) == 0 ? EXPERIMENT_GEOMETRIC
                                                 : EXPERIMENT_NO_MEAN;
    return column->mean != EXPERIMENT_NO_MEAN || unknown_name(e, value, "mean", "mean", name, names, 2, err);
}

static bool has_key(struct experiment *e, const yaml_node_t *node, const char *name)
{
    for (int i = 0; i < (int)(node->data.mapping.pairs.top - node->data.mapping.pairs.start); i++)
        if (strcmp(doc_key(&e->doc, node, i), name) == 0)
            return true;
    return false;
}

/* Checks that a column has exactly one kind, and a baseline if its kind needs one. */
static bool column_whole(struct experiment *e, const char *name, const yaml_node_t *node, struct error *err)
{
    bool speedup = has_key(e, node, "speedup"), ratio = has_key(e, node, "ratio");
    if (has_key(e, node, "statistic") + has_key(e, node, "divide") + has_key(e, node, "value") +
            has_key(e, node, "printed") + speedup + ratio !=
        1)
        return doc_wrong(
            &e->doc, node, err,
            "%s: a column has one of 'statistic', 'divide', 'speedup', 'ratio', 'value', 'printed'", name);
    if (!has_key(e, node, "statistic") && (has_key(e, node, "of") || has_key(e, node, "times")))
        return doc_wrong(&e->doc, node, err, "%s: 'of' and 'times' need a 'statistic'", name);
    if (!has_key(e, node, "printed") && (has_key(e, node, "file") || has_key(e, node, "number")))
        return doc_wrong(&e->doc, node, err, "%s: 'file' and 'number' need 'printed'", name);
    if (has_key(e, node, "from") != speedup || has_key(e, node, "to") != ratio)
        return doc_wrong(&e->doc, node, err, "%s: 'speedup' has a baseline 'from', 'ratio' one 'to'", name);
    return true;
}

/* Checks that no run has a skipped baseline. */
static bool baseline_is_run(struct experiment *e, const struct experiment_column *column,
                            const yaml_node_t *node, struct error *err)
{
    int point[EXPERIMENT_AXES], base[EXPERIMENT_AXES];
    for (int n = 0; n < experiment_runs(e); n++) {
        experiment_place(e, n, point);
        for (int axis = 0; axis < e->axis_count; axis++)
            base[axis] = column->baseline[axis] < 0 ? point[axis] : column->baseline[axis];
        experiment_follow(e, base);
        if (!experiment_skipped(e, point) && experiment_skipped(e, base))
            return doc_wrong(&e->doc, node, err, "%s: the baseline of a run is among those that 'skip' names",
                             column->name);
    }
    return true;
}

bool experiment_read_columns(void *context, const yaml_node_t *value, struct error *err)
{
    static const struct doc_field fields[] = {
        {"statistic", column_statistic, false},
        {"divide", column_divide, false},
        {"value", column_value, false},
        {"printed", column_printed, false},
        {"file", column_file, false},
        {"number", column_number, false},
        {"speedup", column_speedup, false},
        {"ratio", column_ratio, false},
        {"from", column_baseline, false},
        {"to", column_baseline, false},
        {"absent", column_absent, false},
        {"mean", column_mean, false},
        {"of", column_of, false},
        {"times", column_times, false},
    };
    struct experiment *e = experiment_of(context);
    if (!experiment_measure(e, err))
        return false;
    int count = doc_pairs(&e->doc, value, "columns", err);
    if (count > EXPERIMENT_COLUMNS)
        return doc_wrong(&e->doc, value, err, "more than %d columns", EXPERIMENT_COLUMNS);
    e->columns = experiment_array(count, sizeof *e->columns);
    while (e->column_count < count) {
        struct experiment_column *column = &e->columns[e->column_count];
        const yaml_node_t *node = doc_value(&e->doc, value, e->column_count);
        struct experiment_part part = {e, column};
        column->absent = NAN;
        column->times = 1;
        column->number = 1;
        memset(column->baseline, 0xff, sizeof column->baseline);
        const char *name = doc_key(&e->doc, value, e->column_count);
        bool good = doc_fields(&e->doc, node, name, fields, sizeof fields / sizeof *fields, &part, err) &&
                    column_whole(e, name, node, err);
        column->name = name;
        e->column_count++;
        if (!good || !baseline_is_run(e, column, node, err))
            return false;
    }
    return count >= 0;
}

/* The fields of tables and references. */

static bool table_column(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_table *table = ((struct experiment_part *)context)->target;
    const char *name = doc_text(&experiment_of(context)->doc, value, "column", err);
    return name && (table->column = find_column(experiment_of(context), value, "tables", name, err)) >= 0;
}

static bool table_across(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_table *table = ((struct experiment_part *)context)->target;
    const char *name = doc_text(&experiment_of(context)->doc, value, "across", err);
    if (!name || (table->across = find_axis(experiment_of(context), value, "tables", name, err)) < 0)
        return false;
    table->across = experiment_of(context)->axes[table->across].leader;
    return true;
}

static bool table_at(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_table *table = ((struct experiment_part *)context)->target;
    return read_choice(experiment_of(context), value, "tables", &table->at, err);
}

static bool table_title(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_table *table = ((struct experiment_part *)context)->target;
    return (table->title = doc_text(&experiment_of(context)->doc, value, "title", err)) != NULL;
}

static bool table_text(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_table *table = ((struct experiment_part *)context)->target;
    return (table->text = doc_text(&experiment_of(context)->doc, value, "text", err)) != NULL;
}

bool experiment_read_tables(void *context, const yaml_node_t *value, struct error *err)
{
    static const struct doc_field fields[] = {{"column", table_column, true},
                                              {"across", table_across, true},
                                              {"at", table_at, false},
                                              {"title", table_title, false},
                                              {"text", table_text, false}};
    struct experiment *e = experiment_of(context);
    int count = doc_items(&e->doc, value, "tables", err);
    e->tables = experiment_array(count, sizeof *e->tables);
    while (e->table_count < count) {
        int i = e->table_count++;
        struct experiment_part part = {e, &e->tables[i]};
        if (!doc_fields(&e->doc, doc_item(&e->doc, value, i), "tables", fields,
                        sizeof fields / sizeof *fields, &part, err))
            return false;
    }
    return count >= 0;
}

static bool reference_column(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_reference *reference = ((struct experiment_part *)context)->target;
    const char *name = doc_text(&experiment_of(context)->doc, value, "column", err);
    return name &&
           (reference->column = find_column(experiment_of(context), value, "references", name, err)) >= 0;
}

static bool reference_at(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_reference *reference = ((struct experiment_part *)context)->target;
    return read_choice(experiment_of(context), value, "references", &reference->at, err);
}

static bool reference_value(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_reference *reference = ((struct experiment_part *)context)->target;
    return doc_number(&experiment_of(context)->doc, value, "value", &reference->value, err);
}

static bool reference_source(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_reference *reference = ((struct experiment_part *)context)->target;
    return (reference->source = doc_text(&experiment_of(context)->doc, value, "source", err)) != NULL;
}

bool experiment_read_references(void *context, const yaml_node_t *value, struct error *err)
{
    static const struct doc_field fields[] = {{"column", reference_column, true},
                                              {"at", reference_at, true},
                                              {"value", reference_value, true},
                                              {"source", reference_source, true}};
    struct experiment *e = experiment_of(context);
    int count = doc_items(&e->doc, value, "references", err);
    e->references = experiment_array(count, sizeof *e->references);
    while (e->reference_count < count) {
        int i = e->reference_count++;
        struct experiment_part part = {e, &e->references[i]};
        if (!doc_fields(&e->doc, doc_item(&e->doc, value, i), "references", fields, 4, &part, err))
            return false;
    }
    return count >= 0;
}

/* Means over some programs. */

bool experiment_read_mean_names(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    int count = doc_pairs(&e->doc, value, "means", err);
    if (count < 0)
        return false;
    struct experiment_group *groups = e->groups = experiment_array(count, sizeof *e->groups);
    for (int i = 0; i < count; i++) {
        const yaml_node_t *members = doc_value(&e->doc, value, i);
        const char *name = doc_key(&e->doc, value, i);
        for (int k = 0; k < experiment_rows(e, 0); k++)
            if (strcmp(name, experiment_point_name(e, 0, k)) == 0)
                return doc_wrong(&e->doc, members, err,
                                 "means: '%s' is the name of a program or another mean", name);
        if (!experiment_good_name(name))
            return doc_wrong(&e->doc, members, err, "'%s': a name has letters, digits, '_', '-' and '+'",
                             name);
        groups[i] = (struct experiment_group){.name = name, .column = -1, .least = NAN, .most = NAN};
        e->group_count++;
    }
    return true;
}

static bool group_column(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_group *group = ((struct experiment_part *)context)->target;
    const char *name = doc_text(&experiment_of(context)->doc, value, "column", err);
    return name && (group->column = find_column(experiment_of(context), value, "means", name, err)) >= 0;
}

static bool group_least(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_group *group = ((struct experiment_part *)context)->target;
    return doc_number(&experiment_of(context)->doc, value, "at_least", &group->least, err);
}

static bool group_most(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_group *group = ((struct experiment_part *)context)->target;
    return doc_number(&experiment_of(context)->doc, value, "at_most", &group->most, err);
}

static bool group_at(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_group *group = ((struct experiment_part *)context)->target;
    return read_baseline(experiment_of(context), value, group->place, err);
}

/* Reads the list of a mean's programs. */
static bool read_members(struct experiment *e, const yaml_node_t *node, struct experiment_group *group,
                         struct error *err)
{
    struct experiment_texts names = {0};
    bool good = experiment_texts(e, node, "means", &names, err);
    group->members = experiment_array(e->axes[0].count, sizeof *group->members);
    for (int i = 0; i < names.count && good; i++) {
        int point = find_point(e, node, "means", 0, names.items[i], err);
        if (point >= e->axes[0].count)
            good =
                doc_wrong(&e->doc, node, err, "means: '%s' is a mean; programs are expected", names.items[i]);
        else if ((good = point >= 0))
            group->members[point] = true;
    }
    free(names.items);
    return good;
}

bool experiment_read_mean_members(void *context, const yaml_node_t *value, struct error *err)
{
    static const struct doc_field fields[] = {{"column", group_column, true},
                                              {"at_least", group_least, false},
                                              {"at_most", group_most, false},
                                              {"at", group_at, false}};
    struct experiment *e = experiment_of(context);
    for (int i = 0; i < e->group_count; i++) {
        const yaml_node_t *node = doc_value(&e->doc, value, i);
        struct experiment_part part = {e, &e->groups[i]};
        for (int axis = 0; axis < EXPERIMENT_AXES; axis++)
            e->groups[i].place[axis] = -1;
        bool listed = node->type != YAML_MAPPING_NODE;
        if (listed ? !read_members(e, node, &e->groups[i], err)
                   : !doc_fields(&e->doc, node, "means", fields, 4, &part, err))
            return false;
        if (!listed && isnan(e->groups[i].least) && isnan(e->groups[i].most))
            return doc_wrong(&e->doc, node, err, "means: 'at_least' or 'at_most' is missing");
    }
    return true;
}

/* The fields of searches. */

static bool search_axis(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    struct experiment_search *search = ((struct experiment_part *)context)->target;
    const char *name = doc_text(&e->doc, value, "axis", err);
    if (!name || (search->axis = find_axis(e, value, "searches", name, err)) < 0)
        return false;
    search->axis = e->axes[search->axis].leader;
    return search->axis > 0 || doc_wrong(&e->doc, value, err, "axis: programs are in no order");
}

static bool search_column(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_search *search = ((struct experiment_part *)context)->target;
    const char *name = doc_text(&experiment_of(context)->doc, value, "column", err);
    return name && (search->column = find_column(experiment_of(context), value, "searches", name, err)) >= 0;
}

static bool search_least(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_search *search = ((struct experiment_part *)context)->target;
    return doc_number(&experiment_of(context)->doc, value, "at_least", &search->least, err);
}

static bool search_most(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_search *search = ((struct experiment_part *)context)->target;
    return doc_number(&experiment_of(context)->doc, value, "at_most", &search->most, err);
}

static bool search_best(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    struct experiment_search *search = ((struct experiment_part *)context)->target;
    const char *name = doc_text(&e->doc, value, "best", err);
    if (!name)
        return false;
    search->best = strcmp(name, "least") == 0 ? EXPERIMENT_LEAST : EXPERIMENT_MOST;
    return search->best == EXPERIMENT_LEAST || strcmp(name, "most") == 0 ||
           doc_wrong(&e->doc, value, err, "best: '%s' is not allowed; allowed: least, most", name);
}

/* Reads the columns of a budget, and the most that each may have. */
static bool search_within(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    struct experiment_search *search = ((struct experiment_part *)context)->target;
    int count = doc_pairs(&e->doc, value, "within", err);
    if (count > EXPERIMENT_LIMITS)
        return doc_wrong(&e->doc, value, err, "within: %d columns; %d are allowed", count, EXPERIMENT_LIMITS);
    for (int i = 0; i < count; i++) {
        const yaml_node_t *most = doc_value(&e->doc, value, i);
        search->limits[i].column = find_column(e, most, "searches", doc_key(&e->doc, value, i), err);
        if (search->limits[i].column < 0 ||
            !doc_number(&e->doc, most, "within", &search->limits[i].most, err))
            return false;
    }
    search->limit_count = count;
    return count >= 0;
}

static bool search_at(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_search *search = ((struct experiment_part *)context)->target;
    return read_choice(experiment_of(context), value, "searches", &search->at, err);
}

bool experiment_read_searches(void *context, const yaml_node_t *value, struct error *err)
{
    static const struct doc_field fields[] = {
        {"axis", search_axis, true},     {"column", search_column, true}, {"at_least", search_least, false},
        {"at_most", search_most, false}, {"best", search_best, false},    {"within", search_within, false},
        {"at", search_at, false}};
    struct experiment *e = experiment_of(context);
    int count = doc_items(&e->doc, value, "searches", err);
    e->searches = experiment_array(count, sizeof *e->searches);
    while (e->search_count < count) {
        const yaml_node_t *node = doc_item(&e->doc, value, e->search_count);
        struct experiment_search *search = &e->searches[e->search_count++];
        struct experiment_part part = {e, search};
        search->least = search->most = NAN;
        if (!doc_fields(&e->doc, node, "searches", fields, sizeof fields / sizeof *fields, &part, err))
            return false;
        if (isnan(search->least) + isnan(search->most) + (search->best == EXPERIMENT_FIRST) != 2)
            return doc_wrong(&e->doc, node, err,
                             "searches: a threshold is either 'at_least' or 'at_most'; 'best' has none");
        if (search->limit_count && search->best == EXPERIMENT_FIRST)
            return doc_wrong(&e->doc, node, err,
                             "searches: 'within' is for a search for the best: 'best: least'");
    }
    return count >= 0;
}

/* The fields of comparisons. */

static bool compare_axis(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    struct experiment_comparison *comparison = ((struct experiment_part *)context)->target;
    const char *name = doc_text(&e->doc, value, "axis", err);
    if (!name || (comparison->axis = find_axis(e, value, "compare", name, err)) < 0)
        return false;
    comparison->axis = e->axes[comparison->axis].leader;
    return true;
}

static bool compare_point(void *context, const yaml_node_t *value, int *point, struct error *err)
{
    struct experiment *e = experiment_of(context);
    struct experiment_comparison *comparison = ((struct experiment_part *)context)->target;
    const char *name = doc_text(&e->doc, value, "point", err);
    if (!name || (*point = find_point(e, value, "compare", comparison->axis, name, err)) < 0)
        return false;
    return *point < e->axes[comparison->axis].count ||
           doc_wrong(&e->doc, value, err, "a mean has no statistics");
}

static bool compare_from(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_comparison *comparison = ((struct experiment_part *)context)->target;
    return compare_point(context, value, &comparison->from, err);
}

static bool compare_to(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_comparison *comparison = ((struct experiment_part *)context)->target;
    return compare_point(context, value, &comparison->to, err);
}

bool experiment_read_compare(void *context, const yaml_node_t *value, struct error *err)
{
    static const struct doc_field fields[] = {
        {"axis", compare_axis, true}, {"from", compare_from, true}, {"to", compare_to, true}};
    struct experiment *e = experiment_of(context);
    int count = doc_items(&e->doc, value, "compare", err);
    e->comparisons = experiment_array(count, sizeof *e->comparisons);
    while (e->comparison_count < count) {
        int i = e->comparison_count++;
        struct experiment_part part = {e, &e->comparisons[i]};
        if (!doc_fields(&e->doc, doc_item(&e->doc, value, i), "compare", fields, 3, &part, err))
            return false;
    }
    return count >= 0;
}
