#include "emu/experiment/runs/prepare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/experiment/digest.h"
#include "emu/experiment/engines/local.h"
#include "emu/experiment/grid.h"
#include "emu/experiment/runs/identity.h"
#include "emu/experiment/runs/task.h"
#include "emu/experiment/signals.h"
#include "emu/io/output.h"
#include "emu/sim/alloc.h"

enum { TEXT = 4096, WAIT = 100 };

/* A program and its source, which commands name. */
struct paths {
    char *program, *source; /* NULL: it has no source */
};

/* Returns the words of a command, NULL-terminated; the caller frees each and all. "croft" first is this croft; $program the program,
 * $source its source; other variables have the values of the first points. */
static char **command_words(const struct experiment *e, const struct experiment_where *where, int program,
                            const struct experiment_texts *command, const struct paths *paths)
{
    int point[EXPERIMENT_AXES] = {program};
    const char *name = e->axes[0].points[program].name;
    char **words = alloc((size_t)command->count + 1, sizeof *words);
    for (int i = 0; i < command->count; i++) {
        const char *word = command->items[i],
                   *value = word[0] == '$' ? experiment_variable(e, point, word) : NULL;
        if (i == 0 && strcmp(word, "croft") == 0)
            value = where->croft;
        if (strcmp(word, "$program") == 0)
            value = paths->program;
        if (strcmp(word, "$source") == 0)
            value = paths->source;
        words[i] = experiment_prepared(where, name, value ? value : word);
    }
    return words;
}

static void free_words(char **words)
{
    for (char **word = words; *word; word++)
        free(*word);
    free(words);
}

static bool write_file(const char *path, const char *text, struct error *err)
{
    struct output *out = output_open(path, err);
    if (!out)
        return false;
    (void)fputs(text ? text : "", output_stream(out));
    return output_keep(out, err);
}

/* Executes a command. Returns what went wrong, or NULL. */
static char *execute(const struct experiment_where *where, char **words, const char *printed,
                     struct error *err, bool *good)
{
    struct engine *engine = engine_local(&(struct engine_local_options){.out = where->out, .jobs = 1});
    struct engine_done done;
    char *failure = NULL;
    int started = engine->ops->start(engine, &(struct engine_run){.words = words}, err), ended = 0;
    while (started > 0 && ended == 0 && !signals_arrived())
        ended = engine->ops->next(engine, WAIT, &done, err);
    *good = started > 0 && ended >= 0;
    if (ended > 0) {
        failure = outcome_failure(&done.outcome, false);
        *good = write_file(printed, done.outcome.streams[OUTCOME_OUTPUT].bytes, err);
        outcome_free(&done.outcome);
    }
    engine->ops->close(engine);
    return failure;
}

/* Returns what determines the prepared files: digests of croft and the program, and the commands; the caller frees it. */
static char *stamp_of(const struct experiment_where *where, const char *program, char **const *commands,
                      int count, struct error *err)
{
    struct digest digests[2];
    char *text = NULL, hex[DIGEST_TEXT];
    size_t size;
    if (!identity_executable(where->croft, &digests[0], err) || !identity_program(program, &digests[1], err))
        return NULL;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        alloc_failed();
    for (int i = 0; i < 2; i++) {
        digest_text(&digests[i], hex);
        (void)fprintf(out, "%s\n", hex);
    }
    for (int i = 0; i < count; i++) {
        char *command = experiment_command(commands[i]);
        (void)fprintf(out, "%s\n", command);
        free(command);
    }
    if (fclose(out) != 0)
        alloc_failed();
    return text;
}

static bool has_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "r");
    char *found = alloc(strlen(text) + 2, 1);
    size_t size = file ? fread(found, 1, strlen(text) + 1, file) : 0;
    bool same = file && size == strlen(text) && memcmp(found, text, size) == 0;
    if (file)
        (void)fclose(file);
    free(found);
    return same;
}

static bool make_folder(const char *path, struct error *err)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST || error_set(err, "%s: %s", path, strerror(errno));
}

/* Executes commands until one fails, then leaves the stamp that all have succeeded. */
static bool execute_all(const struct experiment_where *where, const char *folder, char **const *commands,
                        int count, const char *stamp, char **failure, struct error *err)
{
    char path[TEXT + 32], printed[TEXT + 32];
    bool good = true;
    (void)snprintf(path, sizeof path, "%s/stamp", folder);
    if (has_text(path, stamp))
        return true;
    (void)unlink(path);
    for (int i = 0; i < count && good && !*failure && !signals_arrived(); i++) {
        (void)snprintf(printed, sizeof printed, "%s/%d.txt", folder, i + 1);
        *failure = execute(where, commands[i], printed, err, &good);
    }
    return good && (*failure || signals_arrived() || write_file(path, stamp, err));
}

bool prepare_program(const struct experiment *e, const struct experiment_where *where, int number,
                     char **failure, struct error *err)
{
    const struct experiment_point *point = &e->axes[0].points[number];
    const struct experiment_program *program = point->program;
    char folder[TEXT], all[TEXT];
    *failure = NULL;
    if (program->prepare_count == 0)
        return true;
    (void)snprintf(all, sizeof all, "%s/prepared", where->out);
    (void)snprintf(folder, sizeof folder, "%s/prepared/%s", where->out, point->name);
    if (!make_folder(all, err) || !make_folder(folder, err))
        return false;
    const struct paths paths = {experiment_program_path(e, where, number),
                                experiment_source_path(e, where, number)};
    char ***commands = alloc((size_t)program->prepare_count, sizeof *commands);
    for (int i = 0; i < program->prepare_count; i++)
        commands[i] = command_words(e, where, number, &program->prepare[i], &paths);
    char *stamp = stamp_of(where, paths.program, commands, program->prepare_count, err);
    bool good = stamp && execute_all(where, folder, commands, program->prepare_count, stamp, failure, err);
    for (int i = 0; i < program->prepare_count; i++)
        free_words(commands[i]);
    free(commands);
    free(stamp);
    free(paths.program);
    free(paths.source);
    return good;
}
