#include "emu/experiment/runs/task.h"

#include <stdlib.h>
#include <string.h>

#include "emu/experiment/grid.h"
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

/* Returns a path of the description, which is relative to the description's folder. */
static char *path_of(const struct experiment_where *where, const char *path)
{
    bool absolute = path[0] == '/';
    return joined(absolute ? "" : where->folder, absolute ? "" : "/", path);
}

char *experiment_program_path(const struct experiment *e, const struct experiment_where *where, int program)
{
    const struct experiment_point *place = &e->axes[0].points[program];
    return place->program->file ? path_of(where, place->program->file)
                                : joined(where->out, "/programs/", place->name);
}

char *experiment_source_path(const struct experiment *e, const struct experiment_where *where, int program)
{
    const char *source = e->axes[0].points[program].program->source;
    return source ? path_of(where, source) : NULL;
}

static bool is_file(const char *machine)
{
    size_t length = strlen(machine);
    return strchr(machine, '/') || (length > 5 && strcmp(machine + length - 5, ".yaml") == 0);
}

static const char mark[] = "$prepared";

char *experiment_prepared(const struct experiment_where *where, const char *program, const char *text)
{
    char *copy = NULL;
    size_t size;
    FILE *out = open_memstream(&copy, &size);
    if (!out)
        alloc_failed();
    for (const char *found; (found = strstr(text, mark)) != NULL; text = found + sizeof mark - 1)
        (void)fprintf(out, "%.*s%s/prepared/%s", (int)(found - text), text, where->out, program);
    (void)fputs(text, out);
    if (fclose(out) != 0)
        alloc_failed();
    return copy;
}

/* Puts the program's folder of prepared files into a setting. */
static void place_prepared(const struct experiment_where *where, const char *program, char **setting)
{
    if (!strstr(*setting, mark))
        return;
    char *text = experiment_prepared(where, program, *setting);
    free(*setting);
    *setting = text;
}

void experiment_task(const struct experiment *e, const struct experiment_where *where,
                     const int point[EXPERIMENT_AXES], struct experiment_task *task)
{
    const struct experiment_point *place = &e->axes[0].points[point[0]];
    const struct experiment_program *program = place->program;
    struct texts sets = {alloc(1, sizeof(char *)), 0}, arguments = {alloc(1, sizeof(char *)), 0},
                 files = {alloc(1, sizeof(char *)), 0};
    add_settings(&sets, &e->set);
    for (int axis = 0; axis < e->axis_count; axis++)
        add_settings(&sets, &e->axes[axis].points[point[axis]].pairs);
    for (size_t i = 0; i < sets.count; i++)
        place_prepared(where, place->name, &sets.items[i]);
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
               *croft = experiment_variable(e, point, "$croft"),
               *other = experiment_variable(e, point, "$program");
    if (!machine)
        machine = e->machine ? e->machine : ""; /* "": only of a place that is not run */
    *task = (struct experiment_task){
        .label = experiment_label(e, point),
        .croft = croft ? path_of(where, croft) : NULL,
        .machine = is_file(machine) ? path_of(where, machine) : alloc_text(machine),
        .program = other ? experiment_prepared(where, place->name, other)
                         : experiment_program_path(e, where, point[0]),
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
