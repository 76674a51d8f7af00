#include "emu/experiment/runs/foresee.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/experiment/engines/local.h"
#include "emu/experiment/grid.h"
#include "emu/experiment/results/statistics.h"
#include "emu/experiment/runs/task.h"
#include "emu/experiment/signals.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"

enum { WAIT = 100 }; /* ms between looks at signals */

static void warn(const struct experiment *e, const yaml_node_t *node, const char *what, const char *format,
                 const char *name, const char *hint)
{
    struct error message, err;
    (void)error_set(&message, format, name, hint);
    (void)doc_wrong(&e->doc, node, &err, "%s: %s", what, message.text);
    (void)fprintf(stderr, "croft experiment: warning: %s\n", err.text);
}

static bool has_name(const struct statistics_names *names, const char *pattern)
{
    for (size_t i = 0; i < names->count; i++)
        if (fnmatch(pattern, names->names[i], 0) == 0)
            return true;
    return false;
}

/* Warns of the column's statistics that are not among the names. */
static void check_column(const struct experiment *e, const struct experiment_column *column,
                         const struct statistics_names *names, const int point[EXPERIMENT_AXES])
{
    for (int i = 0; i < column->statistics.count; i++) {
        const char *name = column->statistics.items[i];
        char *unknown = alloc(strlen(name) + 1, 1);
        char *filled = experiment_fill(e, point, name + (name[0] == '-'), unknown);
        if (!has_name(names, filled))
            warn(e, column->node, column->name, "no statistic '%s'%s", filled,
                 nearest_hint(filled, names->names, names->count).text);
        free(filled);
        free(unknown);
    }
}

/* Warns of columns that a run with these statistics will not have. */
static void check_columns(const struct experiment *e, const struct outcome_text *text,
                          const int point[EXPERIMENT_AXES])
{
    struct statistics_latest latest = {NULL, 0, NULL, NULL};
    struct statistics_names names;
    struct error ignored;
    char *known = NULL, *values = NULL;
    if (text->bytes && statistics_pack(&latest, text->bytes, text->size, &known, &values, &ignored) &&
        statistics_names_load(&names, known, strlen(known))) {
        for (int c = 0; c < e->column_count; c++)
            if (e->columns[c].kind == EXPERIMENT_STATISTIC && isnan(e->columns[c].absent))
                check_column(e, &e->columns[c], &names, point);
        statistics_names_free(&names);
    }
    free(known);
    free(values);
    statistics_forget(&latest);
}

/* Returns the command of the run, which ends after an instruction. */
static char **one_instruction(const struct experiment_where *where, const struct experiment_task *task,
                              int *statistics)
{
    char **words = experiment_words(where, task, statistics);
    size_t count = 0, before = (size_t)*statistics - 1; /* `before`: of --stats */
    while (words[count])
        count++;
    char **longer = alloc(count + 3, sizeof *longer);
    memcpy(longer, words, before * sizeof *words);
    longer[before] = (char *)(uintptr_t) "--max-insns";
    longer[before + 1] = (char *)(uintptr_t) "1";
    memcpy(longer + before + 2, words + before, (count - before) * sizeof *words);
    *statistics += 2;
    free(words);
    return longer;
}

/* Warns of a program without the text of its region's name, which may be empty for the whole run. */
static void check_region(const struct experiment *e, const struct experiment_where *where, int number)
{
    const struct experiment_program *program = e->axes[0].points[number].program;
    char *path = experiment_program_path(e, where, number);
    FILE *file = fopen(path, "r");
    struct outcome_text text = {NULL, 0};
    struct error ignored;
    if (strcmp(program->region, "total") != 0 && file &&
        outcome_read(fileno(file), OUTCOME_MOST, &text, &ignored) && text.size < OUTCOME_MOST &&
        !memmem(text.bytes, text.size, program->region, strlen(program->region) + 1))
        warn(e, program->node, "region",
             "nothing in the program of '%s' is called '%s', as its region of interest would be",
             e->axes[0].points[number].name, program->region);
    if (file)
        (void)fclose(file);
    free(text.bytes);
    free(path);
}

void experiment_foresee(const struct experiment *e, const struct experiment_where *where,
                        const int point[EXPERIMENT_AXES])
{
    struct engine *engine = engine_local(&(struct engine_local_options){.out = where->out, .jobs = 1});
    struct experiment_task task;
    struct engine_done done;
    struct error ignored;
    struct engine_run run = {.number = 0};
    experiment_task(e, where, point, &task);
    run.words = one_instruction(where, &task, &run.statistics);
    int ended = engine->ops->start(engine, &run, &ignored) > 0 ? 0 : -1;
    while (ended == 0 && !signals_arrived())
        ended = engine->ops->next(engine, WAIT, &done, &ignored);
    if (ended > 0) {
        check_columns(e, &done.outcome.streams[OUTCOME_STATISTICS], point);
        outcome_free(&done.outcome);
    }
    engine->ops->close(engine);
    free(run.words);
    experiment_task_free(&task);
    for (int i = 0; i < e->axes[0].count; i++)
        check_region(e, where, i);
}
