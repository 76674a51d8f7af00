#include <stdlib.h>
#include <string.h>

#include "emu/cmd/experiment_read.h"
#include "emu/sim/alloc.h"

enum { WORDS = 512, TEXT = 4096 }; /* maximum words of a command; maximum bytes of a path or setting */

/* A command under construction. */
struct command {
    char **words; /* room for WORDS + 1 */
    int count;
    bool full;
};

static void add(struct command *command, const char *word)
{
    if (command->count == WORDS) {
        command->full = true;
        return;
    }
    if (!(command->words[command->count++] = strdup(word)))
        alloc_failed();
}

static void add_joined(struct command *command, const char *a, const char *b, const char *c)
{
    char text[TEXT];
    int length = snprintf(text, sizeof text, "%s%s%s", a, b, c);
    command->full = command->full || length < 0 || (size_t)length >= sizeof text;
    add(command, text);
}

static void add_settings(struct command *command, const struct experiment_pairs *pairs)
{
    for (int i = 0; i < pairs->count; i++) {
        if (pairs->items[i].name[0] == '$')
            continue;
        add(command, "--set");
        add_joined(command, pairs->items[i].name, "=", pairs->items[i].value);
    }
}

/* Returns the variable's value, from the last axis that sets it; NULL: none does. */
static const char *variable(const struct experiment *e, const int point[EXPERIMENT_AXES], const char *name)
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

static bool add_arguments(struct command *command, const struct experiment *e,
                          const int point[EXPERIMENT_AXES], struct error *err)
{
    const struct experiment_program *program = e->axes[0].points[point[0]].program;
    for (int i = 0; i < program->arguments.count; i++) {
        const char *word = program->arguments.items[i];
        const char *value = word[0] == '$' ? variable(e, point, word) : word;
        if (!value)
            return tree_wrong(&e->tree, program->node, err, "%s: no axis gives %s a value",
                              e->axes[0].points[point[0]].name, word);
        add(command, value);
    }
    return true;
}

/* Adds a path of the description, which is relative to the description's folder. */
static void add_path(struct command *command, const struct experiment_where *where, const char *path)
{
    bool absolute = path[0] == '/';
    add_joined(command, absolute ? "" : where->folder, absolute ? "" : "/", path);
}

static bool is_file(const char *machine)
{
    size_t length = strlen(machine);
    return strchr(machine, '/') || (length > 5 && strcmp(machine + length - 5, ".yaml") == 0);
}

static bool plan_run(struct command *command, const struct experiment *e,
                     const struct experiment_where *where, const int point[EXPERIMENT_AXES],
                     const char *label, struct error *err)
{
    const struct experiment_point *program = &e->axes[0].points[point[0]];
    char path[TEXT];
    add(command, where->croft);
    add(command, "run");
    add(command, "--machine");
    if (is_file(e->machine))
        add_path(command, where, e->machine);
    else
        add(command, e->machine);
    for (int i = 0; i < e->options.count; i++)
        add(command, e->options.items[i]);
    add_settings(command, &e->set);
    for (int axis = 1; axis < e->axis_count; axis++)
        add_settings(command, &e->axes[axis].points[point[axis]].pairs);
    for (size_t i = 0; i < where->set_count; i++) {
        add(command, "--set");
        add(command, where->sets[i]);
    }
    (void)snprintf(path, sizeof path, "/runs/%s.json", label);
    add(command, "--stats");
    add_joined(command, where->out, path, "");
    if (program->program->file)
        add_path(command, where, program->program->file);
    else
        add_joined(command, where->out, "/programs/", program->name);
    if (!add_arguments(command, e, point, err))
        return false;
    return !command->full || error_set(err, "%s: the command of %s is too long", e->tree.path, label);
}

static char *label_of(const struct experiment *e, const int point[EXPERIMENT_AXES])
{
    size_t length = 1;
    for (int axis = 0; axis < e->axis_count; axis++)
        length += strlen(experiment_point_name(e, axis, point[axis])) + 1;
    char *label = experiment_array((int)length, 1);
    for (int axis = 0; axis < e->axis_count; axis++) {
        if (axis > 0)
            strcat(label, ".");
        strcat(label, experiment_point_name(e, axis, point[axis]));
    }
    return label;
}

static bool no_program_runs(const struct experiment *e, const int place[EXPERIMENT_AXES])
{
    int point[EXPERIMENT_AXES];
    memcpy(point, place, sizeof point);
    for (point[0] = 0; point[0] < e->axes[0].count; point[0]++)
        if (!experiment_skipped(e, point))
            return false;
    return true;
}

struct experiment_run *experiment_plan(const struct experiment *e, const struct experiment_where *where,
                                       struct error *err)
{
    int places = experiment_places(e), runs = experiment_runs(e), point[EXPERIMENT_AXES];
    struct experiment_run *plan = experiment_array(places, sizeof *plan);
    bool good = true;
    for (int n = 0; n < places && good; n++) {
        plan[n].command = experiment_array(WORDS + 1, sizeof *plan[n].command);
        struct command command = {.words = plan[n].command};
        experiment_place(e, n, point);
        plan[n].label = label_of(e, point);
        plan[n].skipped = n < runs ? experiment_skipped(e, point) : no_program_runs(e, point);
        plan[n].values = experiment_array(e->column_count, sizeof *plan[n].values);
        if (n < runs)
            good = plan_run(&command, e, where, point, plan[n].label, err);
    }
    if (good)
        return plan;
    experiment_unplan(e, plan);
    return NULL;
}

void experiment_unplan(const struct experiment *e, struct experiment_run *runs)
{
    for (int n = 0; n < experiment_places(e) && runs; n++) {
        for (char **word = runs[n].command; word && *word; word++)
            free(*word);
        free(runs[n].command);
        free(runs[n].label);
        free(runs[n].values);
    }
    free(runs);
}
