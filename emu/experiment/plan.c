#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "emu/experiment/read.h"
#include "emu/sim/alloc.h"

/* Texts under construction, ended by NULL. */
struct texts {
    char **items;
    size_t count;
};

static void add(struct texts *texts, char *text)
{
    texts->items = alloc_resize(texts->items, (texts->count + 2) * sizeof *texts->items);
    texts->items[texts->count++] = text;
    texts->items[texts->count] = NULL;
}

static char *joined(const char *a, const char *b, const char *c)
{
    char *text;
    if (asprintf(&text, "%s%s%s", a, b, c) < 0)
        alloc_failed();
    return text;
}

static void add_settings(struct texts *sets, const struct experiment_pairs *pairs)
{
    for (int i = 0; i < pairs->count; i++)
        if (pairs->items[i].name[0] != '$')
            add(sets, joined(pairs->items[i].name, "=", pairs->items[i].value));
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

/* Returns a path of the description, which is relative to the description's folder. */
static char *path_of(const struct experiment_where *where, const char *path)
{
    bool absolute = path[0] == '/';
    return joined(absolute ? "" : where->folder, absolute ? "" : "/", path);
}

static bool is_file(const char *machine)
{
    size_t length = strlen(machine);
    return strchr(machine, '/') || (length > 5 && strcmp(machine + length - 5, ".yaml") == 0);
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

void experiment_task(const struct experiment *e, const struct experiment_where *where,
                     const int point[EXPERIMENT_AXES], struct experiment_task *task)
{
    const struct experiment_point *place = &e->axes[0].points[point[0]];
    const struct experiment_program *program = place->program;
    struct texts sets = {alloc(1, sizeof(char *)), 0}, arguments = {alloc(1, sizeof(char *)), 0},
                 files = {alloc(1, sizeof(char *)), 0};
    add_settings(&sets, &e->set);
    for (int axis = 1; axis < e->axis_count; axis++)
        add_settings(&sets, &e->axes[axis].points[point[axis]].pairs);
    for (size_t i = 0; i < where->set_count; i++)
        add(&sets, alloc_text(where->sets[i]));
    for (int i = 0; i < program->arguments.count; i++) {
        const char *word = program->arguments.items[i];
        const char *value = word[0] == '$' ? experiment_variable(e, point, word) : word;
        add(&arguments, alloc_text(value ? value : word)); /* experiment_plan() has checked that it has one */
    }
    for (int i = 0; i < program->inputs.count; i++)
        add(&files, path_of(where, program->inputs.items[i]));
    const char *machine = experiment_variable(e, point, "$machine"),
               *croft = experiment_variable(e, point, "$croft");
    if (!machine)
        machine = e->machine;
    *task = (struct experiment_task){
        .label = experiment_label(e, point),
        .croft = croft ? path_of(where, croft) : NULL,
        .machine = is_file(machine) ? path_of(where, machine) : alloc_text(machine),
        .program =
            program->file ? path_of(where, program->file) : joined(where->out, "/programs/", place->name),
        .sets = sets.items,
        .arguments = arguments.items,
        .files = files.items,
        .options = (char **)(uintptr_t)e->options.items,
    };
}

static void free_texts(char **texts)
{
    for (char **text = texts; text && *text; text++)
        free(*text);
    free(texts);
}

void experiment_task_free(struct experiment_task *task)
{
    free(task->label);
    free(task->croft);
    free(task->machine);
    free(task->program);
    free_texts(task->sets);
    free_texts(task->arguments);
    free_texts(task->files);
}

static size_t length_of(char *const *texts)
{
    size_t count = 0;
    while (texts && texts[count])
        count++;
    return count;
}

char **experiment_words(const struct experiment_where *where, const struct experiment_task *task,
                        int *statistics)
{
    size_t room = 8 + length_of(task->options) + 2 * length_of(task->sets) + length_of(task->arguments);
    char **words = alloc(room, sizeof *words), **word = words;
    *word++ = task->croft ? task->croft : (char *)(uintptr_t)where->croft;
    *word++ = (char *)(uintptr_t) "run";
    *word++ = (char *)(uintptr_t) "--machine";
    *word++ = task->machine;
    for (char **option = task->options; option && *option; option++)
        *word++ = *option;
    for (char **set = task->sets; *set; set++) {
        *word++ = (char *)(uintptr_t) "--set";
        *word++ = *set;
    }
    if (statistics) {
        *word++ = (char *)(uintptr_t) "--stats";
        *statistics = (int)(word - words);
        *word++ = (char *)(uintptr_t) "-";
    }
    *word++ = task->program;
    for (char **argument = task->arguments; *argument; argument++)
        *word++ = *argument;
    return words;
}

char *experiment_command(char *const *words)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        alloc_failed();
    for (; *words; words++) {
        bool plain = **words && !strpbrk(*words, " \t\n'\"\\$&|;<>()*?[]{}~#!`");
        (void)fputs(plain ? "" : "'", out);
        for (const char *c = *words; *c; c++)
            if (*c == '\'')
                (void)fputs("'\\''", out);
            else
                (void)fputc(*c, out);
        (void)fprintf(out, "%s%s", plain ? "" : "'", words[1] ? " " : "");
    }
    if (fclose(out) != 0)
        alloc_failed();
    return text;
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

/* Checks that each variable in a program's arguments has a value at the place. */
static bool has_values(const struct experiment *e, const int point[EXPERIMENT_AXES], struct error *err)
{
    const struct experiment_point *place = &e->axes[0].points[point[0]];
    for (int i = 0; i < place->program->arguments.count; i++) {
        const char *word = place->program->arguments.items[i];
        if (word[0] == '$' && !experiment_variable(e, point, word))
            return doc_wrong(&e->doc, place->program->node, err, "%s: no axis gives %s a value", place->name,
                             word);
    }
    return true;
}

/* Returns the bytes of runs[], which has a mapping of its own, so that children need not inherit it. */
static size_t plan_bytes(const struct experiment *e)
{
    return (size_t)experiment_places(e) *
           (sizeof(struct experiment_run) + (size_t)e->column_count * sizeof(double));
}

struct experiment_run *experiment_plan(const struct experiment *e, struct error *err)
{
    int places = experiment_places(e), runs = experiment_runs(e), point[EXPERIMENT_AXES], left = 0;
    void *memory =
        mmap(NULL, plan_bytes(e), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        (void)error_set(err, "%s: there is no memory for %d runs", e->doc.path, runs);
        return NULL;
    }
    (void)madvise(memory, plan_bytes(e), MADV_DONTFORK);
    struct experiment_run *plan = memory;
    double *values = (double *)(plan + places);
    bool good = true;
    for (int n = 0; n < places && good; n++) {
        experiment_place(e, n, point);
        bool skipped = n < runs ? experiment_skipped(e, point) : no_program_runs(e, point);
        plan[n].state = skipped ? EXPERIMENT_SKIPPED : EXPERIMENT_LEFT;
        plan[n].values = values + (size_t)n * (size_t)e->column_count;
        left += n < runs && !skipped;
        good = n >= runs || skipped || has_values(e, point, err);
    }
    if (good && left == 0)
        good = error_set(err, "%s: 'skip' and 'where' leave no run", e->doc.path);
    if (good)
        return plan;
    experiment_unplan(e, plan);
    return NULL;
}

void experiment_unplan(const struct experiment *e, struct experiment_run *runs)
{
    if (!runs)
        return;
    for (int n = 0; n < experiment_places(e); n++)
        free(runs[n].failure);
    (void)munmap(runs, plan_bytes(e));
}
