/* The places of the grid that are not run: those that `skip` names or `where` excludes. */
#include <stdlib.h>

#include "emu/experiment/description/expression.h"
#include "emu/experiment/description/state.h"
#include "emu/experiment/grid.h"
#include "emu/sim/alloc.h"

static struct expression *read_condition(struct experiment *e, const yaml_node_t *node, struct error *err)
{
    const char *names[EXPERIMENT_AXES];
    for (int axis = 0; axis < e->axis_count; axis++)
        names[axis] = e->axes[axis].name;
    return expression_read(&e->doc, node, "where", names, e->axis_count, false,
                           "axes and $variables can be compared, as in: rob >= 2 * width", err);
}

/* Evaluates a condition at a place. Returns false with err set if it has no value there. */
static bool evaluate(struct experiment *e, struct expression *condition, const yaml_node_t *node,
                     const int point[EXPERIMENT_AXES], bool *holds, struct error *err)
{
    double value;
    expression_begin(condition);
    for (int axis = 0; axis < e->axis_count; axis++) {
        const struct experiment_point *at = &e->axes[axis].points[point[axis]];
        expression_bind_text(condition, axis, at->value ? at->value : at->name);
    }
    for (int i = 0; i < expression_parameters(condition); i++) {
        const char *name = expression_parameter(condition, e->axis_count + i),
                   *text = name ? experiment_variable(e, point, name) : NULL;
        if (!text)
            return doc_wrong(&e->doc, node, err, "where: no axis gives %s a value",
                             name ? name : "a parameter");
        expression_bind_text(condition, e->axis_count + i, text);
    }
    bool good = expression_value(condition, &value, err);
    *holds = value < 0 || value > 0; /* no value: it does not hold */
    return good;
}

/* Marks the places where one condition does not hold. */
static bool exclude(struct experiment *e, const yaml_node_t *node, struct error *err)
{
    int point[EXPERIMENT_AXES];
    bool holds = true, good = true;
    struct expression *condition = read_condition(e, node, err);
    if (!condition)
        return false;
    for (int n = 0; n < experiment_runs(e) && good; n++) {
        experiment_place(e, n, point);
        if (experiment_skipped(e, point))
            continue;
        good = evaluate(e, condition, node, point, &holds, err);
        if (good && !holds)
            e->skipped[n / 8] = (unsigned char)(e->skipped[n / 8] | 1U << n % 8);
    }
    expression_free(condition);
    return good;
}

bool experiment_read_where(void *context, const yaml_node_t *value, struct error *err)
{
    struct experiment *e = experiment_of(context);
    bool one = value->type == YAML_SCALAR_NODE, good = true;
    int count = one ? 1 : doc_items(&e->doc, value, "where", err);
    if (count < 0 || !experiment_measure(e, err))
        return false;
    for (int i = 0; i < count && good; i++)
        good = exclude(e, one ? value : doc_item(&e->doc, value, i), err);
    return good;
}
