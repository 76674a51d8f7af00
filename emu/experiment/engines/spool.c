#include "emu/experiment/engines/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/experiment/engines/local.h"
#include "emu/experiment/signals.h"
#include "emu/sim/alloc.h"

enum { WAIT = 250 }; /* ms between two looks at the lock */

static void path_of(const char *folder, const char *key, const char *ending, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s%s", folder, key, ending) >= PATH_MAX)
        path[0] = '\0';
}

/* Removes the files that a killed croft has left. */
static void empty(const char *folder)
{
    static const char *const endings[] = {"*.run", "*.done", "*.part"};
    char pattern[PATH_MAX];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        glob_t found;
        path_of(folder, endings[i], "", pattern);
        if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
            continue;
        for (size_t file = 0; file < found.gl_pathc; file++)
            (void)unlink(found.gl_pathv[file]);
        globfree(&found);
    }
}

bool spool_open(struct spool *spool, const char *out, struct error *err)
{
    char path[PATH_MAX];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    *spool = (struct spool){.lock = -1};
    path_of(out, "spool", "", spool->folder);
    if (mkdir(spool->folder, 0777) != 0 && errno != EEXIST)
        return error_set(err, "%s: %s", spool->folder, strerror(errno));
    path_of(spool->folder, "lock", "", path);
    spool->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (spool->lock < 0)
        return error_set(err, "%s: %s", path, strerror(errno));
    if (fcntl(spool->lock, F_SETLK, &lock) == 0) {
        empty(spool->folder);
        return true;
    }
    (void)close(spool->lock);
    spool->lock = -1;
    return error_set(err, "%s: another croft experiment uses this folder", path);
}

static void remove_files(const struct spool *spool, const struct spool_run *run)
{
    char path[PATH_MAX];
    path_of(spool->folder, run->key, ".run", path);
    (void)unlink(path);
    path_of(spool->folder, run->key, ".done", path);
    (void)unlink(path);
}

void spool_close(struct spool *spool)
{
    char path[PATH_MAX];
    for (int i = 0; i < spool->count; i++)
        remove_files(spool, &spool->runs[i]);
    free(spool->runs);
    path_of(spool->folder, "lock", "", path);
    (void)unlink(path);
    if (spool->lock >= 0)
        (void)close(spool->lock);
    (void)rmdir(spool->folder);
}

bool spool_add(struct spool *spool, const struct engine_run *run, struct error *err)
{
    char path[PATH_MAX], cwd[PATH_MAX];
    json_t *words = json_array();
    struct spool_run *added;
    spool->runs = alloc_resize(spool->runs, (size_t)(spool->count + 1) * sizeof *spool->runs);
    added = &spool->runs[spool->count++];
    *added = (struct spool_run){.number = run->number};
    digest_text(run->key, added->key);
    for (char **word = run->words; *word; word++)
        (void)json_array_append_new(words, json_string(*word));
    json_t *all = json_pack("{s:o, s:i, s:b, s:s}", "words", words, "statistics", run->statistics, "own",
                            run->own, "folder", getcwd(cwd, sizeof cwd) ? cwd : "/");
    path_of(spool->folder, added->key, ".run", path);
    bool good = all && json_dump_file(all, path, JSON_COMPACT) == 0;
    json_decref(all);
    return good ||
           error_set(err, all ? "%s: %s" : "%s: a word of the command is not UTF-8", path, strerror(errno));
}

bool spool_has(const struct spool *spool, int i)
{
    char path[PATH_MAX];
    path_of(spool->folder, spool->runs[i].key, ".done", path);
    return access(path, R_OK) == 0;
}

/* Takes the parts of an outcome apart: a line of JSON, and what was printed. */
static bool decode(const struct outcome_text *text, struct outcome *outcome)
{
    size_t line = strcspn(text->bytes, "\n") + 1;
    json_t *head = json_loadb(text->bytes, line, JSON_DISABLE_EOF_CHECK, NULL),
           *sizes = json_object_get(head, "sizes");
    outcome->status = (int)json_integer_value(json_object_get(head, "status"));
    outcome->seconds = json_number_value(json_object_get(head, "seconds"));
    outcome->memory = (long)json_integer_value(json_object_get(head, "memory"));
    bool good = head != NULL;
    for (int i = 0; i < OUTCOME_STREAMS && good; i++) {
        size_t size = (size_t)json_integer_value(json_array_get(sizes, (size_t)i));
        good = line <= text->size && size <= text->size - line;
        if (good) {
            outcome->streams[i] = (struct outcome_text){alloc(size + 1, 1), size};
            memcpy(outcome->streams[i].bytes, text->bytes + line, size);
            line += size;
        }
    }
    json_decref(head);
    return good;
}

static void forget(struct spool *spool, int i)
{
    remove_files(spool, &spool->runs[i]);
    spool->runs[i] = spool->runs[--spool->count];
}

int spool_next(struct spool *spool, struct engine_done *done, struct error *err)
{
    char path[PATH_MAX];
    for (int i = 0; i < spool->count; i++) {
        struct outcome_text text;
        if (!spool_has(spool, i))
            continue;
        *done = (struct engine_done){.number = spool->runs[i].number};
        path_of(spool->folder, spool->runs[i].key, ".done", path);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        bool good = file >= 0 && outcome_read(file, SIZE_MAX, &text, err);
        if (file >= 0)
            (void)close(file);
        if (!good) {
            (void)error_set(err, "%s: %s", path, strerror(errno));
            return -1;
        }
        done->again = !decode(&text, &done->outcome);
        free(text.bytes);
        forget(spool, i);
        return 1;
    }
    return 0;
}

void spool_lose(struct spool *spool, int i, const char *message, struct engine_done *done)
{
    *done = (struct engine_done){.number = spool->runs[i].number, .again = message == NULL};
    if (message) {
        done->outcome.status = 1 << 8; /* as an exit status of 1 */
        done->outcome.streams[OUTCOME_MESSAGES] = (struct outcome_text){alloc_text(message), strlen(message)};
    }
    forget(spool, i);
}

/* Returns whether the croft that wants the outcome is still there. */
static bool is_wanted(const char *folder)
{
    char path[PATH_MAX];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    path_of(folder, "lock", "", path);
    int file = open(path, O_RDWR | O_CLOEXEC);
    bool held = file >= 0 && fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (file >= 0)
        (void)close(file);
    return held;
}

static bool leave(const char *folder, const char *key, const struct outcome *outcome)
{
    char part[PATH_MAX], path[PATH_MAX], ending[64];
    (void)snprintf(ending, sizeof ending, ".%ld.part", (long)getpid());
    path_of(folder, key, ending, part);
    path_of(folder, key, ".done", path);
    FILE *out = fopen(part, "we");
    json_t *head =
        json_pack("{s:i, s:f, s:I, s:[I, I, I]}", "status", outcome->status, "seconds", outcome->seconds,
                  "memory", (json_int_t)outcome->memory, "sizes", (json_int_t)outcome->streams[0].size,
                  (json_int_t)outcome->streams[1].size, (json_int_t)outcome->streams[2].size);
    bool good = out && json_dumpf(head, out, JSON_COMPACT) == 0;
    json_decref(head);
    if (out)
        (void)fputc('\n', out);
    for (int i = 0; i < OUTCOME_STREAMS && good; i++)
        good =
            fwrite(outcome->streams[i].bytes, 1, outcome->streams[i].size, out) == outcome->streams[i].size;
    good = out && fclose(out) == 0 && good && rename(part, path) == 0;
    if (!good) {
        (void)fprintf(stderr, "croft experiment: %s: %s\n", path, strerror(errno));
        (void)unlink(part);
    }
    return good;
}

/* Executes a run on the local engine, while it is wanted. */
static int work(const char *folder, const char *key, const struct engine_run *run, engine_body *body)
{
    struct error err;
    struct engine_done done;
    const struct engine_local_options options = {.out = folder, .jobs = 1, .body = body};
    struct engine *engine = engine_local(&options);
    int ended = engine->ops->start(engine, run, &err) > 0 ? 0 : -1;
    while (ended == 0 && !signals_arrived() && is_wanted(folder))
        ended = engine->ops->next(engine, WAIT, &done, &err);
    bool left = ended > 0 && !signals_arrived() && leave(folder, key, &done.outcome);
    if (ended < 0)
        (void)fprintf(stderr, "croft experiment: %s\n", err.text);
    if (ended > 0)
        outcome_free(&done.outcome);
    engine->ops->close(engine);
    return left ? 0 : 1;
}

int spool_work(const char *folder, const char *key, engine_body *body)
{
    char path[PATH_MAX];
    path_of(folder, key, ".run", path);
    json_t *all = json_load_file(path, 0, NULL), *list = json_object_get(all, "words");
    const char *start = json_string_value(json_object_get(all, "folder"));
    if (!list || !start || chdir(start) != 0) {
        (void)fprintf(stderr, "croft experiment: %s: no run to execute\n", path);
        json_decref(all);
        return 1;
    }
    size_t count = json_array_size(list);
    char **words = alloc(count + 1, sizeof *words);
    for (size_t i = 0; i < count; i++)
        words[i] = (char *)(uintptr_t)json_string_value(json_array_get(list, i));
    const struct engine_run run = {.words = words,
                                   .statistics = (int)json_integer_value(json_object_get(all, "statistics")),
                                   .own = json_is_true(json_object_get(all, "own"))};
    signals_hold();
    int status = work(folder, key, &run, body);
    free(words);
    json_decref(all);
    return status;
}
