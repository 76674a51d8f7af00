/* What croft run would refuse in every run of an experiment, found before the first: a machine that does not exist, and settings
 * of keys that the machine does not have. */
#include "emu/experiment/runs/check.h"

#include <string.h>

#include "emu/experiment/grid.h"
#include "emu/experiment/runs/task.h"
#include "emu/machine/machine.h"

enum {
    POINTS_CHECKED = 64
}; /* of an axis whose points are written out; others set the same keys at all points */

/* Loads the machine of a task with its first `count` settings. */
static bool loads(const struct experiment_where *where, const struct experiment_task *task, size_t count,
                  struct error *err)
{
    struct machine_config machine;
    if (!machine_load(&machine, task->machine, where->machines, (const char *const *)task->sets, count, err))
        return false;
    machine_free(&machine);
    return true;
}

static const yaml_node_t *find_pair(const struct experiment_pairs *pairs, const char *name)
{
    for (int i = 0; i < pairs->count; i++)
        if (strcmp(pairs->items[i].name, name) == 0)
            return pairs->items[i].node;
    return NULL;
}

/* Returns the node of the description that sets a name at a place; NULL: none does. */
static const yaml_node_t *setter(const struct experiment *e, const int point[EXPERIMENT_AXES],
                                 const char *name)
{
    const yaml_node_t *node = find_pair(&e->set, name), *later;
    for (int axis = 1; axis < e->axis_count; axis++)
        if ((later = find_pair(&e->axes[axis].points[point[axis]].pairs, name)) != NULL)
            node = later;
    return node;
}

/* Copies the name of the key that a message about --set calls unknown. Returns false if the message is another one. */
static bool unknown_key(const char *text, char *name, size_t size)
{
    static const char start[] = "--set: unknown key '";
    if (strncmp(text, start, sizeof start - 1) != 0)
        return false;
    const char *key = text + sizeof start - 1;
    (void)snprintf(name, size, "%.*s", (int)strcspn(key, "'"), key);
    return true;
}

/* Checks the machine at a place. Only what no run there can do is an error here: a value that the machine refuses fails its
 * runs, and the tables say so. */
static bool check_place(const struct experiment *e, const struct experiment_where *where,
                        const int point[EXPERIMENT_AXES], struct error *err)
{
    struct experiment_task task;
    struct error wrong, alone;
    char key[256];
    size_t count = 0;
    bool good = true;
    experiment_task(e, where, point, &task);
    while (task.sets[count])
        count++;
    if (!task.croft && !loads(where, &task, count, &wrong)) { /* another croft may have other keys */
        const yaml_node_t *node = setter(e, point, "$machine");
        if (!loads(where, &task, 0, &alone) && strcmp(alone.text, wrong.text) == 0)
            good = doc_wrong(&e->doc, node ? node : e->machine_node, err, "machine: %s", wrong.text);
        else if (unknown_key(wrong.text, key, sizeof key))
            good = (node = setter(e, point, key)) != NULL
                       ? doc_wrong(&e->doc, node, err, "%s", wrong.text + strlen("--set: "))
                       : error_set(err, "%s", wrong.text);
    }
    experiment_task_free(&task);
    return good;
}

/* Checks the places that differ from `base` in one axis and those that follow it. */
static bool check_axis(const struct experiment *e, const struct experiment_where *where, int axis,
                       const int base[EXPERIMENT_AXES], struct error *err)
{
    const struct experiment_axis *points = &e->axes[axis];
    const int count = points->count < POINTS_CHECKED ? points->count : POINTS_CHECKED;
    for (int i = 0; i < count && !points->points[i].value && !points->sampled; i++) {
        int point[EXPERIMENT_AXES];
        memcpy(point, base, sizeof point);
        point[points->leader] = i;
        experiment_follow(e, point);
        if (i != base[axis] && !experiment_skipped(e, point) && !check_place(e, where, point, err))
            return false;
    }
    return true;
}

bool experiment_check(const struct experiment *e, const struct experiment_where *where, struct error *err)
{
    int base[EXPERIMENT_AXES], number = 0;
    const int runs = experiment_runs(e);
    do
        experiment_place(e, number, base);
    while (experiment_skipped(e, base) && ++number < runs);
    if (number == runs)
        return true; /* experiment_plan() says that nothing is left to run */
    if (!check_place(e, where, base, err))
        return false;
    for (int axis = 1; axis < e->axis_count; axis++)
        if (!check_axis(e, where, axis, base, err))
            return false;
    return true;
}
