/* What croft run would refuse in every run of an experiment or of a point, found before the first: a machine or program that does not exist,
 * settings of keys that the machine does not have, and values that a key cannot have; and settings of the command line that take an axis its meaning. */
#include "emu/experiment/runs/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/experiment/grid.h"
#include "emu/experiment/runs/task.h"
#include "emu/machine/machine.h"
#include "emu/sim/text/text.h"

enum {
    POINTS_CHECKED = 64, /* of an axis, and the last one; those of samples set the same keys at all points */
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

/* Returns the node of the description whose value a message about --set, "--set: KEY: 'VALUE' ...", refuses; NULL: the message is another
 * one, such as about values that do not go together. */
static const yaml_node_t *refused(const struct experiment *e, const int point[EXPERIMENT_AXES],
                                  const char *text)
{
    char key[NAME];
    const char *behind = strncmp(text, "--set: ", 7) == 0 ? strstr(text + 7, ": '") : NULL;
    if (!behind)
        return NULL;
    (void)snprintf(key, sizeof key, "%.*s", (int)(behind - text) - 7, text + 7);
    return strchr(key, ' ') ? NULL : setter(e, point, key);
}

/* Checks the machine at a place. Only what no run there can do is an error here: values that do not go together fail their
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
        else if ((node = refused(e, point, wrong.text)) != NULL)
            good = doc_wrong(&e->doc, node, err, "%s", wrong.text + strlen("--set: "));
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
    const int last = points->count - 1;
    for (int i = 0; i <= last && !points->sampled; i = i == POINTS_CHECKED && i < last ? last : i + 1) {
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

/* Returns the value of a key of a mapping, or the mapping if it has no such key. */
static const yaml_node_t *value_of(const struct experiment *e, const yaml_node_t *node, const char *key)
{
    struct doc *doc = (struct doc *)(uintptr_t)&e->doc; /* libyaml's functions take it non-const */
    for (int i = 0; i < doc_pair_count(node); i++)
        if (strcmp(doc_key(doc, node, i), key) == 0)
            return doc_value(doc, node, i);
    return node;
}

/* Checks that the files of the programs exist, except for those that `prepare` makes. */
static bool check_programs(const struct experiment *e, const struct experiment_where *where,
                           const int base[EXPERIMENT_AXES], struct error *err)
{
    bool good = true;
    for (int i = 0; i < e->axes[0].count && good; i++) {
        const struct experiment_program *program = e->axes[0].points[i].program;
        const char *key = program->source ? "source" : "file",
                   *name = program->source ? program->source : program->file;
        int point[EXPERIMENT_AXES];
        memcpy(point, base, sizeof point);
        point[0] = i;
        if (strchr(name, '$') || experiment_skipped(e, point))
            continue;
        char *path =
            program->source ? experiment_source_path(e, where, i) : experiment_program_path(e, where, i);
        good = access(path, F_OK) == 0 || doc_wrong(&e->doc, value_of(e, program->node, key), err,
                                                    "%s: %s: %s", key, name, strerror(errno));
        free(path);
    }
    return good;
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
    if (!check_programs(e, where, base, err) || !check_place(e, where, base, err))
        return false;
    for (int axis = 0; axis < e->axis_count; axis++)
        if (!check_axis(e, where, axis, base, err))
            return false;
    return true;
}
