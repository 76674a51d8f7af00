#include "emu/experiment/description.h"

#include <stdlib.h>
#include <string.h>

#include "emu/experiment/description/expression.h"
#include "emu/experiment/description/state.h"
#include "emu/experiment/grid.h"
#include "emu/schema/renames.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"

static bool read_pairs(struct experiment *e, const yaml_node_t *node, const char *what,
                       struct experiment_pairs *pairs, struct error *err)
{
    int count = doc_pairs(&e->doc, node, what, err);
    if (count < 0)
        return false;
    pairs->items = experiment_array(count, sizeof *pairs->items);
    for (pairs->count = 0; pairs->count < count; pairs->count++) {
        struct experiment_pair *pair = &pairs->items[pairs->count];
        const yaml_node_t *value = doc_value(&e->doc, node, pairs->count);
        pair->name = doc_key(&e->doc, node, pairs->count);
        pair->node = value;
        const char *part = renames_presence(pair->name);
        if (part)
            return doc_wrong(&e->doc, value, err,
                             "%s is obsolete; write `%s: default` to add the part, `%s: none` to remove it",
                             pair->name, part, part);
        if (!(pair->value = doc_text(&e->doc, value, pair->name, err)))
            return false;
    }
    return true;
}

#define TEXT_FIELD(name, type, field, key)                                                                   \
    static bool name(void *context, const yaml_node_t *value, struct error *err)                             \
    {                                                                                                        \
        type *target = ((struct experiment_part *)context)->target;                                          \
        return (target->field = doc_text(&experiment_of(context)->doc, value, #key, err)) != NULL;           \
    }
#define TEXTS_FIELD(name, type, field, key)                                                                  \
    static bool name(void *context, const yaml_node_t *value, struct error *err)                             \
    {                                                                                                        \
        type *target = ((struct experiment_part *)context)->target;                                          \
        return experiment_texts(experiment_of(context), value, #key, &target->field, err);                   \
    }

/* The fields of programs. */

static bool program_set(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment_point *point = ((struct experiment_part *)context)->target;
    return read_pairs(experiment_of(context), value, "set", &point->pairs, err);
}

TEXT_FIELD(program_file, struct experiment_point, program->file, file)
TEXT_FIELD(program_source, struct experiment_point, program->source, source)
TEXT_FIELD(program_region, struct experiment_point, program->region, region)
TEXTS_FIELD(program_flags, struct experiment_point, program->flags, flags)
TEXTS_FIELD(program_arguments, struct experiment_point, program->arguments, arguments)
TEXTS_FIELD(program_inputs, struct experiment_point, program->inputs, inputs)

static bool program_prepare(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    struct experiment_program *program =
        ((struct experiment_point *)((struct experiment_part *)context)->target)->program;
    int count = doc_items(&e->doc, value, "prepare", err);
    program->prepare = experiment_array(count, sizeof *program->prepare);
    for (int i = 0; i < count; i++) {
        const yaml_node_t *command = doc_item(&e->doc, value, i);
        program->prepare_count++;
        if (!experiment_texts(e, command, "prepare", &program->prepare[i], err))
            return false;
        if (command->type != YAML_SEQUENCE_NODE || program->prepare[i].count == 0)
            return doc_wrong(&e->doc, command, err,
                             "prepare: a list of commands, each a list of words, is expected");
    }
    return count >= 0;
}

static bool read_program(struct experiment *e, struct experiment_point *point, const yaml_node_t *node,
                         struct error *err)
{
    static const struct doc_field fields[] = {
        {"file", program_file, false},     {"source", program_source, false},
        {"flags", program_flags, false},   {"arguments", program_arguments, false},
        {"region", program_region, false}, {"inputs", program_inputs, false},
        {"set", program_set, false},       {"prepare", program_prepare, false},
    };
    struct experiment_program *program = point->program = experiment_array(1, sizeof *program);
    struct experiment_part part = {e, point};
    program->region = point->name;
    program->node = node;
    if (!doc_fields(&e->doc, node, point->name, fields, sizeof fields / sizeof *fields, &part, err))
        return false;
    if (!program->file == !program->source)
        return doc_wrong(&e->doc, node, err, "%s: a program has either a 'file' or a 'source'", point->name);
    return true;
}

/* The axes. The first one is that of the programs. */

static bool read_axis(struct experiment *e, const char *name, const yaml_node_t *node, bool programs,
                      struct error *err)
{
    if (e->axis_count == EXPERIMENT_AXES)
        return doc_wrong(&e->doc, node, err, "more than %d axes", EXPERIMENT_AXES - 1);
    struct experiment_axis *axis = &e->axes[programs ? 0 : e->axis_count];
    axis->name = name;
    axis->leader = programs ? 0 : e->axis_count;
    if (!programs && experiment_axis_is_form(e, node)) {
        e->axis_count++;
        return experiment_read_form(e, axis, node, err);
    }
    if (!programs && node->type != YAML_MAPPING_NODE)
        return doc_wrong(&e->doc, node, err,
                         "%s: an axis is a mapping: {set: KEY, values: [32, 64]}, or "
                         "{small: {KEY: 32}, large: {KEY: 64}}",
                         name);
    int count = doc_pairs(&e->doc, node, name, err);
    if (count < 0)
        return false;
    if (count < 1 || count > EXPERIMENT_POINTS)
        return doc_wrong(&e->doc, node, err, "%s: 1 to %d points are allowed, not %d", name,
                         EXPERIMENT_POINTS, count);
    if (!programs)
        e->axis_count++;
    axis->points = experiment_array(count, sizeof *axis->points);
    for (axis->count = 0; axis->count < count;) {
        const yaml_node_t *value = doc_value(&e->doc, node, axis->count);
        struct experiment_point *point = &axis->points[axis->count];
        point->name = doc_key(&e->doc, node, axis->count++);
        if (!experiment_good_name(point->name) || (programs && strcmp(point->name, "mean") == 0))
            return doc_wrong(&e->doc, value, err, "'%s': a name has letters, digits, '_', '-' and '+'%s%s",
                             point->name, programs ? ", and is not 'mean'" : "",
                             !programs && strchr(point->name, '.')
                                 ? "; an axis of a key's values is {set: KEY, values: [32, 64]}"
                                 : "");
        if (!(programs ? read_program(e, point, value, err)
                       : read_pairs(e, value, point->name, &point->pairs, err)))
            return false;
    }
    return true;
}

static bool read_programs(void *context, const yaml_node_t *value, struct error *err)
{
    return read_axis(experiment_of(context), "program", value, true, err);
}

static bool read_axes(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    int count = doc_pairs(&e->doc, value, "axes", err);
    e->axes_node = value;
    for (int i = 0; i < count; i++) {
        const char *name = doc_key(&e->doc, value, i);
        if (!experiment_good_name(name) || strcmp(name, "program") == 0)
            return doc_wrong(
                &e->doc, doc_value(&e->doc, value, i), err, "'%s' cannot be the name of an axis%s", name,
                strchr(name, '.') ? "; name it, as in rob: {set: host.rob, values: [32, 64]}" : "");
        if (!read_axis(e, name, doc_value(&e->doc, value, i), false, err))
            return false;
    }
    return count >= 0;
}

static int find_name(const struct experiment *e, const char *name)
{
    for (int axis = 1; axis < e->axis_count; axis++)
        if (strcmp(e->axes[axis].name, name) == 0)
            return axis;
    return -1;
}

/* The programs are not among the axes that can be zipped. */
static struct nearest_hint axis_hint(const struct experiment *e, const char *name)
{
    const char *names[EXPERIMENT_AXES];
    for (int axis = 1; axis < e->axis_count; axis++)
        names[axis - 1] = e->axes[axis].name;
    return nearest_hint(name, names, (size_t)e->axis_count - 1);
}

/* Lets axes advance together: the first of them leads the others. */
static bool zip(struct experiment *e, const yaml_node_t *node, struct error *err)
{
    struct experiment_texts names = {NULL, 0};
    int leader = -1;
    bool good = experiment_texts(e, node, "zip", &names, err);
    for (int i = 0; i < names.count && good; i++) {
        int axis = find_name(e, names.items[i]);
        if (axis < 0)
            good = doc_wrong(&e->doc, node, err, "zip: unknown axis '%s'%s", names.items[i],
                             axis_hint(e, names.items[i]).text);
        else if (e->axes[axis].leader != axis || (leader >= 0 && axis == leader))
            good = doc_wrong(&e->doc, node, err, "zip: '%s' appears twice", names.items[i]);
        else if (leader >= 0 && e->axes[axis].count != e->axes[leader].count)
            good = doc_wrong(&e->doc, node, err, "zip: '%s' has %d points, but '%s' has %d", names.items[i],
                             e->axes[axis].count, e->axes[leader].name, e->axes[leader].count);
        else if (leader >= 0)
            e->axes[axis].leader = leader;
        leader = leader < 0 ? axis : leader;
    }
    free(names.items);
    return good;
}

static bool read_zip(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    int count = doc_items(&e->doc, value, "zip", err);
    for (int i = 0; i < count; i++) {
        const yaml_node_t *group = doc_item(&e->doc, value, i);
        if (doc_items(&e->doc, group, "zip: a list of lists of axes, as in [[a, b]]", err) < 0 ||
            !zip(e, group, err))
            return false;
    }
    return count >= 0;
}

/* The fields of the whole description. */

TEXT_FIELD(read_title, struct experiment, title, title)
TEXT_FIELD(read_text, struct experiment, text_of_page, text)
TEXTS_FIELD(read_options, struct experiment, options, options)

static bool read_machine(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    e->machine_node = value;
    return (e->machine = doc_text(&e->doc, value, "machine", err)) != NULL;
}

static bool read_set(void *context, const yaml_node_t *value, struct error *err)
{
    return read_pairs(experiment_of(context), value, "set", &experiment_of(context)->set, err);
}

/* Returns the place of a size's settings among `count`, or -1 with err set. */
static int find_size(struct experiment *e, const yaml_node_t *value, int count, struct error *err)
{
    const char **names = alloc((size_t)count + 1, sizeof *names);
    int found = e->size ? -1 : 0;
    for (int i = 0; i < count; i++) {
        names[i] = doc_key(&e->doc, value, i);
        found = e->size && strcmp(names[i], e->size) == 0 ? i : found;
    }
    if (found < 0)
        (void)doc_wrong(&e->doc, value, err, "sizes: no size '%s'%s", e->size,
                        nearest_hint(e->size, names, (size_t)count).text);
    free(names);
    return found;
}

/* Adds the size's settings to those of all runs. */
static bool read_sizes(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    struct experiment_pairs pairs = {NULL, 0};
    int count = doc_pairs(&e->doc, value, "sizes", err);
    if (count == 0)
        return doc_wrong(&e->doc, value, err, "sizes: at least one is expected");
    int size = count > 0 ? find_size(e, value, count, err) : -1;
    bool good = size >= 0 && read_pairs(e, doc_value(&e->doc, value, size), "sizes", &pairs, err);
    e->sized = true;
    if (good) {
        e->size = doc_key(&e->doc, value, size);
        e->set.items =
            alloc_resize(e->set.items, (size_t)(e->set.count + pairs.count + 1) * sizeof *pairs.items);
        for (int i = 0; i < pairs.count; i++)
            e->set.items[e->set.count++] = pairs.items[i];
    }
    free(pairs.items);
    return good;
}

/* Checks that each run has a machine: that of the description, or an axis's. */
static bool check_machines(struct experiment *e, struct error *err)
{
    int point[EXPERIMENT_AXES], runs = e->machine || experiment_machine_axis(e) ? 0 : experiment_runs(e);
    for (int n = 0; n < runs; n++) {
        experiment_place(e, n, point);
        if (experiment_skipped(e, point) || experiment_variable(e, point, "$machine"))
            continue;
        char *label = experiment_label(e, point);
        (void)doc_wrong(&e->doc, doc_root(&e->doc), err,
                        "experiment: 'machine' is missing; no axis sets $machine in run %s", label);
        free(label);
        return false;
    }
    return true;
}

static bool check_size(struct experiment *e, struct error *err)
{
    return !e->size || e->sized ||
           doc_wrong(&e->doc, doc_root(&e->doc), err,
                     "the description has no 'sizes', so --size %s means nothing", e->size);
}

bool experiment_read(struct experiment *e, const char *path, const char *size, struct error *err)
{
    static const struct doc_field fields[] = {
        {"title", read_title, true},
        {"text", read_text, false},
        {"machine", read_machine, false},
        {"options", read_options, false},
        {"set", read_set, false},
        {"sizes", read_sizes, false},
        {"programs", read_programs, true},
        {"means", experiment_read_mean_names, false},
        {"axes", read_axes, false},
        {"zip", read_zip, false},
        {"skip", experiment_read_skip, false},
        {"where", experiment_read_where, false},
        {"columns", experiment_read_columns, true},
        {"means", experiment_read_mean_members, false},
        {"tables", experiment_read_tables, false},
        {"references", experiment_read_references, false},
        {"searches", experiment_read_searches, false},
        {"compare", experiment_read_compare, false},
    };
    *e = (struct experiment){.axis_count = 1, .size = size};
    struct experiment_part part = {e, e};
    if (!doc_load(&e->doc, path, &e->text, err))
        return false;
    e->axes_node = e->machine_node = doc_root(&e->doc);
    if (doc_fields(&e->doc, doc_root(&e->doc), "experiment", fields, sizeof fields / sizeof *fields, &part,
                   err) &&
        check_size(e, err) && experiment_measure(e, err) && check_machines(e, err))
        return true;
    experiment_free(e);
    return false;
}

void experiment_free(struct experiment *e)
{
    for (int i = 0; i < e->search_count; i++)
        experiment_free_choice(&e->searches[i].at);
    for (int i = 0; i < e->made_count; i++)
        free(e->made[i]);
    free(e->made);
    free(e->skipped);
    free(e->searches);
    free(e->comparisons);
    for (int i = 0; i < e->reference_count; i++)
        experiment_free_choice(&e->references[i].at);
    for (int i = 0; i < e->table_count; i++)
        experiment_free_choice(&e->tables[i].at);
    for (int a = 0; a < e->axis_count; a++) {
        for (int i = 0; i < e->axes[a].count; i++) {
            struct experiment_point *point = &e->axes[a].points[i];
            free(point->pairs.items);
            if (point->program) {
                free(point->program->flags.items);
                free(point->program->arguments.items);
                free(point->program->inputs.items);
                for (int p = 0; p < point->program->prepare_count; p++)
                    free(point->program->prepare[p].items);
                free(point->program->prepare);
            }
            free(point->program);
        }
        free(e->axes[a].points);
    }
    for (int i = 0; i < e->column_count; i++) {
        free(e->columns[i].statistics.items);
        expression_free(e->columns[i].expression);
    }
    free(e->options.items);
    free(e->set.items);
    free(e->columns);
    free(e->tables);
    free(e->references);
    for (int i = 0; i < e->group_count; i++)
        free(e->groups[i].members);
    free(e->groups);
    free(e->text);
    doc_free(&e->doc);
}
