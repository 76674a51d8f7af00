/* What croft run would refuse in every run of an experiment, found before the first: a machine that does not exist, and settings
 * of keys that the machine does not have; and settings of the command line that take an axis its meaning. */
#include "emu/experiment/runs/check.h"

#include <string.h>

#include "emu/experiment/grid.h"
#include "emu/experiment/runs/task.h"
#include "emu/machine/machine.h"
#include "emu/sim/text/text.h"

enum {
    POINTS_CHECKED = 64, /* of an axis whose points are written out; others set the same keys at all points */
    NAME = 256,          /* bytes of a key */
};

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

/* Returns whether the names, separated by |, have one that `same` accepts as `name`. */
static bool has_name(const char *names, const char *name, bool (*same)(const char *one, const char *name))
{
    char one[NAME];
    for (const char *at = names; *at; at += *at == '|') {
        size_t length = strcspn(at, "|");
        (void)snprintf(one, sizeof one, "%.*s", length < NAME ? (int)length : NAME, at);
        if (same(one, name))
            return true;
        at += length;
    }
    return false;
}

static bool is_equal(const char *one, const char *name)
{
    return strcmp(one, name) == 0;
}

static const yaml_node_t *find_pair(const struct experiment_pairs *pairs, const char *name)
{
    for (int i = 0; i < pairs->count; i++)
        if (is_equal(pairs->items[i].name, name) || has_name(pairs->items[i].name, name, is_equal))
            return pairs->items[i].node;
    return NULL;
}

/* Returns the node of the description that sets a name at a place; NULL: none does. */
static const yaml_node_t *setter(const struct experiment *e, const int point[EXPERIMENT_AXES],
                                 const char *name)
{
    const yaml_node_t *node = find_pair(&e->set, name), *later;
    for (int axis = 0; axis < e->axis_count; axis++)
        if ((later = find_pair(&e->axes[axis].points[point[axis]].pairs, name)) != NULL)
            node = later;
    return node;
}

/* Copies the name of the key that a message about --set calls unknown, or that belongs to a part that the machine lacks. Returns
 * false if the message is another one. */
static bool unknown_key(const char *text, char *name, size_t size)
{
    static const char unknown[] = "unknown key '", lacks[] = "the machine has no ";
    const char *set = strncmp(text, "--set '", 7) == 0 ? text + 7 : NULL;
    const char *rest = set ? strstr(set, "': ") : NULL,
               *key = strncmp(text, "--set: ", 7) == 0 ? text + 7 : NULL;
    rest = rest ? rest + 3 : key ? key : "";
    if (strncmp(rest, unknown, sizeof unknown - 1) == 0)
        key = rest + sizeof unknown - 1;
    else if (set && strncmp(rest, lacks, sizeof lacks - 1) == 0)
        key = set;
    else
        return false;
    (void)snprintf(name, size, "%.*s", (int)strcspn(key, "'="), key);
    return true;
}

/* Checks the machine at a place. Only what no run there can do is an error here: a value that the machine refuses fails its
 * runs, and the tables say so. */
static bool check_place(const struct experiment *e, const struct experiment_where *where,
                        const int point[EXPERIMENT_AXES], struct error *err)
{
    struct experiment_task task;
    struct error wrong, alone;
    char key[NAME];
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
                       ? doc_wrong(&e->doc, node, err, "%s",
                                   wrong.text + (strncmp(wrong.text, "--set: ", 7) == 0 ? 7 : 0))
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
        bool plain = axis == 0 && !points->points[i].pairs.count; /* a program without settings */
        if (i != base[axis] && !plain && !experiment_skipped(e, point) && !check_place(e, where, point, err))
            return false;
    }
    return true;
}

/* Copies the name without numbers and asterisks. */
static void plain_name(const char *name, char plain[NAME])
{
    size_t used = 0;
    for (size_t length; *name; name += length + (name[length] == '.')) {
        length = strcspn(name, ".");
        bool index = strspn(name, "0123456789") == length || (length == 1 && *name == '*');
        if (!index && used + length + 2 < NAME)
            used += (size_t)snprintf(plain + used, NAME - used, "%s%.*s", used ? "." : "", (int)length, name);
    }
    plain[used] = '\0';
}

/* Returns whether both name the same key, be it of some copies of a part only. */
static bool is_same_key(const char *one, const char *name)
{
    char a[NAME], b[NAME];
    plain_name(one, a);
    plain_name(name, b);
    return strcmp(a, b) == 0;
}

/* Returns whether the name is that of the part, or of a key below it. */
static bool is_within(const char *name, const char *part)
{
    char a[NAME], b[NAME];
    plain_name(name, a);
    plain_name(part, b);
    size_t length = strlen(b);
    return strncmp(a, b, length) == 0 && (a[length] == '\0' || a[length] == '.');
}

/* Returns the pair of an axis that a setting of the command line overrides; NULL: none. `none` removes a part with all its keys. */
static const struct experiment_pair *overridden(const struct experiment_axis *axis, const char *set)
{
    const char *value = set + strcspn(set, "=");
    bool removes = strcmp(value, "=none") == 0;
    for (int i = 0; i < axis->count && i < POINTS_CHECKED; i++)
        for (int k = 0; k < axis->points[i].pairs.count; k++) {
            const struct experiment_pair *pair = &axis->points[i].pairs.items[k];
            for (const char *at = set; at < value; at += strcspn(at, "|="), at += *at == '|') {
                char name[NAME];
                (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "|="), at);
                if (has_name(pair->name, name, removes ? is_within : is_same_key))
                    return pair;
            }
        }
    return NULL;
}

/* Refuses a setting of the command line that overrides an axis whose points are named by the values of that key; its runs would
 * have another value than the tables say. Of other axes, says that it overrides them. */
static bool check_sets(const struct experiment *e, const struct experiment_where *where, struct error *err)
{
    for (size_t i = 0; i < where->set_count; i++)
        for (int a = 1; a < e->axis_count; a++) {
            const struct experiment_axis *axis = &e->axes[a];
            const struct experiment_pair *pair = overridden(axis, where->sets[i]);
            struct error said;
            if (pair && (axis->points->value || axis->sampled))
                return doc_wrong(
                    &e->doc, pair->node, err,
                    "axis '%s' sets %s, and --set %s would override it in all runs; leave one of them "
                    "out",
                    axis->name, pair->name, text_quote(where->sets[i]).text);
            if (pair) {
                (void)doc_wrong(&e->doc, pair->node, &said, "--set %s overrides %s of axis '%s'",
                                text_quote(where->sets[i]).text, pair->name, axis->name);
                (void)fprintf(stderr, "croft experiment: warning: %s\n", said.text);
            }
        }
    return true;
}

bool experiment_check(const struct experiment *e, const struct experiment_where *where, struct error *err)
{
    int base[EXPERIMENT_AXES], number = 0;
    const int runs = experiment_runs(e);
    if (!check_sets(e, where, err))
        return false;
    do
        experiment_place(e, number, base);
    while (experiment_skipped(e, base) && ++number < runs);
    if (number == runs)
        return true; /* experiment_plan() says that nothing is left to run */
    if (!check_place(e, where, base, err))
        return false;
    for (int axis = 0; axis < e->axis_count; axis++)
        if (!check_axis(e, where, axis, base, err))
            return false;
    return true;
}
