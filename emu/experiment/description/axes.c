/* Reads axes that are not given as points: lists and ranges of values, and samples of several settings. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emu/experiment/description/state.h"
#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"
#include "emu/sim/text/quantity.h"

/* The values that a setting can take: a list, or from, from + step, ... up to `to`. */
struct range {
    char **list; /* NULL: a range */
    int count;   /* of the list */
    enum quantity quantity;
    uint64_t from, to, step;
};

/* The fields of such an axis while it is read. */
struct form {
    struct experiment *e;
    const yaml_node_t *node;
    const yaml_node_t *values, *from, *to, *step, *times, *of; /* NULL: absent */
    struct experiment_texts settings;
    const char *method;
    double count, seed;
};

static struct form *form_of(void *context)
{
    return ((struct experiment_part *)context)->target;
}

#define NODE_FIELD(name, field)                                                                              \
    static bool name(void *context, const yaml_node_t *value, struct error *err)                             \
    {                                                                                                        \
        (void)err;                                                                                           \
        form_of(context)->field = value;                                                                     \
        return true;                                                                                         \
    }
NODE_FIELD(form_values, values)
NODE_FIELD(form_from, from)
NODE_FIELD(form_to, to)
NODE_FIELD(form_step, step)
NODE_FIELD(form_times, times)
NODE_FIELD(form_of_settings, of)

static bool form_set(void *context, const yaml_node_t *value, struct error *err)
{
    return experiment_texts(experiment_of(context), value, "set", &form_of(context)->settings, err);
}

static bool form_method(void *context, const yaml_node_t *value, struct error *err)
{
    struct form *form = form_of(context);
    form->method = doc_text(&form->e->doc, value, "sample", err);
    if (form->method && strcmp(form->method, "random") != 0 && strcmp(form->method, "latin") != 0)
        return doc_wrong(&form->e->doc, value, err, "sample: 'random' or 'latin' is expected, not '%s'",
                         form->method);
    return form->method != NULL;
}

static bool form_count(void *context, const yaml_node_t *value, struct error *err)
{
    struct form *form = form_of(context);
    if (!doc_number(&form->e->doc, value, "count", &form->count, err))
        return false;
    if (form->count < 1 || form->count > EXPERIMENT_POINTS || form->count != floor(form->count))
        return doc_wrong(&form->e->doc, value, err, "count: 1 to %d samples are allowed", EXPERIMENT_POINTS);
    return true;
}

static bool form_seed(void *context, const yaml_node_t *value, struct error *err)
{
    struct form *form = form_of(context);
    if (!doc_number(&form->e->doc, value, "seed", &form->seed, err))
        return false;
    if (form->seed < 0 || form->seed > 9e15 || form->seed != floor(form->seed))
        return doc_wrong(&form->e->doc, value, err, "seed: a whole number from 0 to 9e15 is expected");
    return true;
}

static const char *keep(struct experiment *e, char *text)
{
    e->made = alloc_resize(e->made, (size_t)(e->made_count + 1) * sizeof *e->made);
    return e->made[e->made_count++] = text;
}

/* Returns the name of the point that a value makes: "64 KiB" is 64KiB. */
static const char *point_name(struct experiment *e, const char *value)
{
    char *name = alloc_text(value), *to = name;
    for (const char *c = value; *c; c++)
        if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
            strchr("+-_", *c))
            *to++ = *c;
        else if (*c != ' ')
            *to++ = '_';
    *to = '\0';
    return keep(e, *name ? name : strcpy(name, value));
}

static bool quantity_of(struct experiment *e, const yaml_node_t *node, const char *what,
                        enum quantity quantity, uint64_t *value, struct error *err)
{
    struct error wrong;
    const char *text = doc_text(&e->doc, node, what, err);
    if (!text)
        return false;
    return quantity_parse(quantity, text, value, &wrong) ||
           doc_wrong(&e->doc, node, err, "%s: %s", what, wrong.text);
}

/* Finds the unit of a range by its lower end. */
static bool range_quantity(struct experiment *e, const yaml_node_t *from, struct range *range,
                           struct error *err)
{
    static const enum quantity kinds[] = {QUANTITY_COUNT,     QUANTITY_SIZE,      QUANTITY_TIME,
                                          QUANTITY_FREQUENCY, QUANTITY_BANDWIDTH, QUANTITY_ENERGY,
                                          QUANTITY_POWER};
    struct error wrong;
    const char *text = doc_text(&e->doc, from, "from", err);
    for (size_t i = 0; text && i < sizeof kinds / sizeof *kinds; i++)
        if (quantity_parse(range->quantity = kinds[i], text, &range->from, &wrong))
            return true;
    return text &&
           doc_wrong(&e->doc, from, err, "from: '%s' is not a whole number, or one with a unit", text);
}

static void add_value(struct range *range, uint64_t value)
{
    char text[QUANTITY_TEXT];
    quantity_format(range->quantity, value, text);
    range->list = alloc_resize(range->list, (size_t)(range->count + 1) * sizeof *range->list);
    range->list[range->count++] = alloc_text(text);
}

/* Lists the values of a geometric range. */
static bool list_times(struct form *form, struct range *range, struct error *err)
{
    double times;
    if (!doc_number(&form->e->doc, form->times, "times", &times, err))
        return false;
    if (times <= 1 || range->from == 0)
        return doc_wrong(&form->e->doc, form->times, err,
                         "times: a factor above 1 is expected, and 'from' above 0");
    double value = (double)range->from;
    for (; value <= (double)range->to * (1 + 1e-12) && range->count <= EXPERIMENT_POINTS; value *= times)
        add_value(range, value < (double)range->to ? (uint64_t)(value + 0.5) : range->to);
    return true;
}

/* Reads `from`, `to`, and `step` or `times`. Without `step` and `times`, a sample takes any value from `from` to `to`. */
static bool read_range(struct form *form, struct range *range, bool listed, struct error *err)
{
    struct experiment *e = form->e;
    range->step = 1;
    if (!form->from || !form->to)
        return doc_wrong(&e->doc, form->node, err, "a list of 'values' is expected, or 'from' and 'to'");
    if (!range_quantity(e, form->from, range, err) ||
        !quantity_of(e, form->to, "to", range->quantity, &range->to, err))
        return false;
    if (range->to < range->from)
        return doc_wrong(&e->doc, form->to, err, "to: below 'from'");
    if (form->times && form->step)
        return doc_wrong(&e->doc, form->step, err, "either 'step' or 'times' is allowed");
    if (form->times)
        return list_times(form, range, err);
    if (form->step && !quantity_of(e, form->step, "step", range->quantity, &range->step, err))
        return false;
    if (form->step && range->step == 0)
        return doc_wrong(&e->doc, form->step, err, "step: must be above 0");
    if (listed && (range->to - range->from) / range->step >= EXPERIMENT_POINTS)
        return doc_wrong(
            &e->doc, form->node, err,
            "from: %.0Lf points up to 'to'; an axis has at most %d. Take a larger step, or several "
            "axes",
            (long double)((range->to - range->from) / range->step) + 1, EXPERIMENT_POINTS);
    for (uint64_t i = 0; listed && i <= (range->to - range->from) / range->step; i++)
        add_value(range, range->from + i * range->step);
    return true;
}

static bool read_list(struct form *form, struct range *range, struct error *err)
{
    struct experiment_texts texts = {NULL, 0};
    bool good = experiment_texts(form->e, form->values, "values", &texts, err);
    range->list = alloc((size_t)texts.count + 1, sizeof *range->list);
    for (; good && range->count < texts.count; range->count++)
        range->list[range->count] = alloc_text(texts.items[range->count]);
    free(texts.items);
    return good;
}

static void free_range(struct range *range)
{
    for (int i = 0; i < range->count; i++)
        free(range->list[i]);
    free(range->list);
}

static bool check_setting(struct form *form, const char *name, struct error *err)
{
    if (strcmp(name, "$") != 0 && *name)
        return true;
    return doc_wrong(&form->e->doc, form->node, err, "'%s' is not the name of a setting", name);
}

/* Makes a point of each value. */
static bool make_points(struct form *form, struct experiment_axis *axis, const struct range *range,
                        struct error *err)
{
    struct experiment *e = form->e;
    if (range->count < 1 || range->count > EXPERIMENT_POINTS)
        return doc_wrong(&e->doc, form->node, err, "%s: 1 to %d points are allowed", axis->name,
                         EXPERIMENT_POINTS);
    axis->points = experiment_array(range->count, sizeof *axis->points);
    for (axis->count = 0; axis->count < range->count; axis->count++) {
        struct experiment_point *point = &axis->points[axis->count];
        point->value = keep(e, alloc_text(range->list[axis->count]));
        point->name = point_name(e, point->value);
        point->pairs.items = experiment_array(form->settings.count, sizeof *point->pairs.items);
        for (int i = 0; i < form->settings.count; i++)
            point->pairs.items[point->pairs.count++] =
                (struct experiment_pair){form->settings.items[i], point->value, form->node};
        for (int i = 0; i < axis->count && axis->count < 4096; i++) /* ranges have no equal values */
            if (strcmp(axis->points[i].name, point->name) == 0) {
                axis->count++;
                return doc_wrong(&e->doc, form->node, err, "%s: '%s' appears twice", axis->name, point->name);
            }
    }
    return true;
}

/* Returns a number from 0 to below 1. */
static double next_fraction(uint64_t *state)
{
    return (double)(mix_next(state) >> 11) * 0x1p-53;
}

static const char *value_at(struct experiment *e, const struct range *range, double fraction)
{
    char text[QUANTITY_TEXT];
    if (range->list)
        return keep(e, alloc_text(range->list[(int)(fraction * range->count)]));
    uint64_t last = (range->to - range->from) / range->step; /* may be UINT64_MAX */
    double step = fraction * ((double)last + 1);
    quantity_format(range->quantity,
                    range->from + (step < (double)last ? (uint64_t)step : last) * range->step, text);
    return keep(e, alloc_text(text));
}

/* Gives each point a value of one setting. For a Latin hypercube, divides the range into as many equal parts as there are
 * points, and takes one value from each part. */
static void sample_setting(struct form *form, struct experiment_axis *axis, const char *name,
                           const struct range *range, uint64_t *state)
{
    int *parts = experiment_array(axis->count, sizeof *parts);
    bool latin = strcmp(form->method, "latin") == 0;
    for (int i = 0; i < axis->count; i++)
        parts[i] = i;
    for (int i = axis->count - 1; i > 0; i--) {
        int other = (int)(next_fraction(state) * (i + 1)), part = parts[i];
        parts[i] = parts[other];
        parts[other] = part;
    }
    for (int i = 0; i < axis->count; i++) {
        struct experiment_pairs *pairs = &axis->points[i].pairs;
        double fraction = next_fraction(state);
        pairs->items[pairs->count++] = (struct experiment_pair){
            name, value_at(form->e, range, latin ? (parts[i] + fraction) / axis->count : fraction), form->of};
    }
    free(parts);
}

static const struct doc_field range_fields[] = {
    {"values", form_values, false}, {"from", form_from, false},   {"to", form_to, false},
    {"step", form_step, false},     {"times", form_times, false},
};
enum { RANGE_FIELDS = sizeof range_fields / sizeof *range_fields };

/* Reads the range of one setting of a sample, and samples it. */
static bool read_sampled(struct form *form, struct experiment_axis *axis, const char *name,
                         const yaml_node_t *node, uint64_t *state, struct error *err)
{
    struct form own = {.e = form->e, .node = node};
    struct experiment_part part = {form->e, &own};
    struct range range = {0};
    if (node->type == YAML_SEQUENCE_NODE)
        own.values = node;
    else if (!doc_fields(&form->e->doc, node, name, range_fields, RANGE_FIELDS, &part, err))
        return false;
    bool good = check_setting(form, name, err) &&
                (own.values ? read_list(&own, &range, err) : read_range(&own, &range, false, err));
    if (good && own.values && range.count == 0)
        good = doc_wrong(&form->e->doc, node, err, "%s: no values", name);
    if (good)
        sample_setting(form, axis, name, &range, state);
    free_range(&range);
    return good;
}

static bool make_samples(struct form *form, struct experiment_axis *axis, struct error *err)
{
    struct experiment *e = form->e;
    uint64_t state = (uint64_t)form->seed;
    int settings = doc_pairs(&e->doc, form->of, "of", err);
    if (settings < 0)
        return false;
    axis->sampled = true;
    axis->count = (int)form->count;
    axis->points = experiment_array(axis->count, sizeof *axis->points);
    for (int i = 0; i < axis->count; i++) {
        char *name = NULL;
        if (asprintf(&name, "%d", i + 1) < 0)
            alloc_failed();
        axis->points[i].name = keep(e, name);
        axis->points[i].pairs.items = experiment_array(settings, sizeof *axis->points[i].pairs.items);
    }
    for (int i = 0; i < settings; i++)
        if (!read_sampled(form, axis, doc_key(&e->doc, form->of, i), doc_value(&e->doc, form->of, i), &state,
                          err))
            return false;
    return true;
}

static bool has_key(struct experiment *e, const yaml_node_t *node, const char *name)
{
    for (int i = 0; node->type == YAML_MAPPING_NODE && i < doc_pair_count(node); i++)
        if (strcmp(doc_key(&e->doc, node, i), name) == 0 &&
            doc_value(&e->doc, node, i)->type != YAML_MAPPING_NODE)
            return true;
    return false;
}

bool experiment_axis_is_form(struct experiment *e, const yaml_node_t *node)
{
    return has_key(e, node, "set") || has_key(e, node, "sample") || has_key(e, node, "values");
}

bool experiment_read_form(struct experiment *e, struct experiment_axis *axis, const yaml_node_t *node,
                          struct error *err)
{
    static const struct doc_field list_fields[] = {
        {"set", form_set, true}, {"values", form_values, false}, {"from", form_from, false},
        {"to", form_to, false},  {"step", form_step, false},     {"times", form_times, false},
    };
    static const struct doc_field sample_fields[] = {
        {"sample", form_method, true},
        {"count", form_count, true},
        {"seed", form_seed, true},
        {"of", form_of_settings, true},
    };
    struct form form = {.e = e, .node = node};
    struct experiment_part part = {e, &form};
    struct range range = {0};
    if (has_key(e, node, "sample"))
        return doc_fields(&e->doc, node, axis->name, sample_fields,
                          sizeof sample_fields / sizeof *sample_fields, &part, err) &&
               make_samples(&form, axis, err);
    bool good = doc_fields(&e->doc, node, axis->name, list_fields, sizeof list_fields / sizeof *list_fields,
                           &part, err);
    for (int i = 0; i < form.settings.count && good; i++)
        good = check_setting(&form, form.settings.items[i], err);
    if (good && form.values && form.from)
        good = doc_wrong(&e->doc, node, err, "%s: either 'values' or 'from' is allowed", axis->name);
    good = good && (form.values ? read_list(&form, &range, err) : read_range(&form, &range, true, err)) &&
           make_points(&form, axis, &range, err);
    free(form.settings.items);
    free_range(&range);
    return good;
}
