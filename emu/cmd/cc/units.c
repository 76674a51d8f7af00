#include "emu/cmd/cc/units.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/sim/alloc.h"

static bool starts(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Returns whether the option's value is the next argument. */
static bool takes_next(const char *option)
{
    static const char *const options[] = {"-o",        "-I",  "-D",       "-U",          "-L",
                                          "-l",        "-x",  "-include", "-isystem",    "-MF",
                                          "-MT",       "-MQ", "-Xlinker", "-Xassembler", "-T",
                                          "-u",        "-z",  "--param",  "-imacros",    "-idirafter",
                                          "-iquote",   "-e",  "-specs",   "-B",          "-Xpreprocessor",
                                          "-aux-info", "-A",  "-wrapper"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(option, options[i]) == 0)
            return true;
    return false;
}

static bool ends(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

static bool is_source(const char *argument)
{
    return argument[0] != '-' && (ends(argument, ".c") || ends(argument, ".i"));
}

/* Returns the file's name without folders and without its last two characters. */
static void stem_of(const char *path, char *stem, size_t size)
{
    const char *slash = strrchr(path, '/');
    (void)snprintf(stem, size, "%s", slash ? slash + 1 : path);
    size_t length = strlen(stem);
    stem[length > 2 ? length - 2 : length] = '\0';
}

static bool add_unit(struct cc_units *u, size_t argument, struct error *err)
{
    struct cc_unit *unit = &u->units[u->count];
    char stem[NAME_MAX + 1], folder[PATH_MAX];
    unit->source = u->arguments[argument];
    unit->argument = argument;
    stem_of(unit->source, stem, sizeof stem);
    int length = snprintf(folder, sizeof folder, "%s/%zu", u->folder, u->count);
    if (length < 0 || (size_t)length + strlen(stem) + 32 > PATH_MAX)
        return error_set(err, "the path of temporary files is too long");
    if (mkdir(folder, 0700) != 0)
        return error_set(err, "cannot make folder '%s': %s", folder, strerror(errno));
    (void)snprintf(unit->text, PATH_MAX, "%.*s/text.s", length, folder);
    (void)snprintf(unit->numbered, PATH_MAX, "%.*s/numbered.s", length, folder);
    (void)snprintf(unit->object, PATH_MAX, "%.*s/numbered.elf", length, folder);
    (void)snprintf(unit->rewritten, PATH_MAX, "%.*s/%s.s", length, folder, stem);
    u->count++;
    return true;
}

static void note_option(struct cc_units *u, const char *option)
{
    u->debug |= starts(option, "-g") && strcmp(option, "-g0") != 0;
    u->assembles |= strcmp(option, "-S") == 0;
    u->only_preprocesses |= strcmp(option, "-E") == 0 || strcmp(option, "-M") == 0 ||
                            strcmp(option, "-MM") == 0 || strcmp(option, "-fsyntax-only") == 0;
    u->lto |= starts(option, "-flto");
    u->links &= strcmp(option, "-c") != 0;
}

bool cc_units_open(struct cc_units *u, char *const *fixed, size_t fixed_count, char *const *arguments,
                   size_t argument_count, struct error *err)
{
    const char *where = getenv("TMPDIR");
    *u = (struct cc_units){
        .fixed = fixed, .arguments = arguments, .fixed_count = fixed_count, .argument_count = argument_count};
    u->units = alloc(argument_count + 1, sizeof *u->units);
    u->links = true;
    int length =
        snprintf(u->folder, sizeof u->folder, "%s/croft-cc.XXXXXX", where && *where ? where : "/tmp");
    if (length < 0 || (size_t)length >= sizeof u->folder || !mkdtemp(u->folder)) {
        u->folder[0] = '\0';
        return error_set(err, "cannot make a folder for temporary files in %s: %s",
                         where && *where ? where : "/tmp", strerror(errno));
    }
    for (size_t i = 0; i < argument_count; i++) {
        note_option(u, arguments[i]);
        if (takes_next(arguments[i]) && i + 1 < argument_count) {
            u->output = strcmp(arguments[i], "-o") == 0 ? arguments[i + 1] : u->output;
            i++;
        } else if (starts(arguments[i], "-o")) {
            u->output = arguments[i] + 2;
        } else if (is_source(arguments[i]) && !add_unit(u, i, err)) {
            return false;
        }
    }
    u->links &= !u->assembles && !u->only_preprocesses;
    return true;
}

void cc_units_close(struct cc_units *u)
{
    char folder[PATH_MAX + 32];
    for (size_t i = 0; i < u->count; i++) {
        const struct cc_unit *unit = &u->units[i];
        (void)unlink(unit->text);
        (void)unlink(unit->numbered);
        (void)unlink(unit->object);
        (void)unlink(unit->rewritten);
        (void)snprintf(folder, sizeof folder, "%s/%zu", u->folder, i);
        (void)rmdir(folder);
    }
    if (u->folder[0]) {
        (void)snprintf(folder, sizeof folder, "%s/program", u->folder);
        (void)unlink(folder);
        (void)rmdir(u->folder);
    }
    free(u->units);
    *u = (struct cc_units){0};
}

int cc_run_command(char *const *words, struct error *err)
{
    int status = 0;
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        (void)execvp(words[0], words);
        fprintf(stderr, "croft cc: cannot run %s: %s\n", words[0], strerror(errno));
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        (void)error_set(err, "cannot run %s: %s", words[0], strerror(errno));
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static char *text_of(const char *text)
{
    return (char *)(uintptr_t)text;
}

/* Returns whether argument i has no meaning when one source is compiled to assembler. Sets *skip if argument i + 1 has none,
 * either. */
static bool dropped(const struct cc_units *u, size_t i, bool *skip)
{
    const char *argument = u->arguments[i];
    *skip = strcmp(argument, "-o") == 0 || strcmp(argument, "-Xlinker") == 0 ||
            strcmp(argument, "-Xassembler") == 0 || strcmp(argument, "-T") == 0 ||
            strcmp(argument, "-l") == 0 || strcmp(argument, "-u") == 0 || strcmp(argument, "-z") == 0 ||
            strcmp(argument, "-e") == 0;
    return *skip || argument[0] != '-' || starts(argument, "-l") || starts(argument, "-o") ||
           starts(argument, "-Wl,") || starts(argument, "-Wa,") || starts(argument, "-T") ||
           strcmp(argument, "-c") == 0 || strcmp(argument, "-S") == 0;
}

/* Adds options that give -MD's file and target the names that they have when GCC compiles the source directly. */
static void add_dependencies(const struct cc_units *u, const struct cc_unit *unit, char *words[5],
                             char *names[2])
{
    bool makes = false, file = false, target = false;
    char stem[NAME_MAX + 1];
    size_t used = 0;
    for (size_t i = 0; i < u->argument_count; i++) {
        makes |= strcmp(u->arguments[i], "-MD") == 0 || strcmp(u->arguments[i], "-MMD") == 0;
        file |= starts(u->arguments[i], "-MF");
        target |= starts(u->arguments[i], "-MT") || starts(u->arguments[i], "-MQ");
    }
    stem_of(unit->source, stem, sizeof stem);
    int cut = u->output ? (int)strlen(u->output) : 0;
    if (ends(u->output ? u->output : "", ".o"))
        cut -= 2;
    bool named = u->output && !u->links;
    if (asprintf(&names[0], "%.*s.d", named ? cut : (int)strlen(stem), named ? u->output : stem) < 0 ||
        asprintf(&names[1], "%s", u->output ? u->output : "") < 0)
        alloc_failed();
    if (!u->output) {
        free(names[1]);
        if (asprintf(&names[1], "%s.o", stem) < 0)
            alloc_failed();
    }
    if (makes && !file) {
        words[used++] = text_of("-MF");
        words[used++] = names[0];
    }
    if (makes && !target) {
        words[used++] = text_of("-MT");
        words[used++] = names[1];
    }
    words[used] = NULL;
}

int cc_unit_compile(const struct cc_units *u, const struct cc_unit *unit, char *const *options,
                    struct error *err)
{
    char **words = alloc(u->fixed_count + u->argument_count + 32, sizeof *words), *names[2], *more[5];
    size_t used = 0;
    for (size_t i = 0; i < u->fixed_count; i++)
        words[used++] = u->fixed[i];
    for (size_t i = 0; i < u->argument_count; i++) {
        bool skip, drop = dropped(u, i, &skip), next = takes_next(u->arguments[i]);
        if (!drop)
            words[used++] = u->arguments[i];
        if (next && i + 1 < u->argument_count && !drop)
            words[used++] = u->arguments[i + 1];
        i += next || skip;
    }
    for (; *options; options++)
        words[used++] = *options;
    add_dependencies(u, unit, more, names);
    for (size_t i = 0; more[i]; i++)
        words[used++] = more[i];
    char *const last[] = {text_of("-S"), text_of(unit->source), text_of("-o"), text_of(unit->text), NULL};
    memcpy(words + used, last, sizeof last);
    int status = cc_run_command(words, err);
    free(names[0]);
    free(names[1]);
    free(words);
    return status;
}

int cc_unit_link(const struct cc_units *u, const struct cc_unit *unit, struct error *err)
{
    static const char *const before[] = {
        "-nostdlib", "-nostartfiles", "-static",
        "-Wl,--unresolved-symbols=ignore-all,--no-relax,--no-warn-rwx-segments,-e,0x10000"};
    char **words = alloc(u->fixed_count + u->argument_count + 16, sizeof *words);
    size_t used = 0;
    words[used++] = u->fixed[0];
    for (size_t i = 0; i < u->fixed_count; i++)
        if (starts(u->fixed[i], "-m"))
            words[used++] = u->fixed[i];
    for (size_t i = 0; i < u->argument_count; i++)
        if (starts(u->arguments[i], "-m"))
            words[used++] = u->arguments[i];
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        words[used++] = text_of(before[i]);
    char *const last[] = {text_of(unit->numbered), text_of("-o"), text_of(unit->object), NULL};
    memcpy(words + used, last, sizeof last);
    int status = cc_run_command(words, err);
    free(words);
    return status;
}

int cc_units_finish(const struct cc_units *u, bool numbered, const char *output, struct error *err)
{
    char **words = alloc(u->fixed_count + u->argument_count + 8, sizeof *words);
    size_t used = u->fixed_count, unit = 0;
    memcpy(words, u->fixed, used * sizeof *words);
    for (size_t i = 0; i < u->argument_count; i++) {
        const char *argument = u->arguments[i];
        if (unit < u->count && u->units[unit].argument == i) {
            words[used++] = numbered ? u->units[unit].numbered : u->units[unit].rewritten;
            unit++;
        } else if (output && strcmp(argument, "-o") == 0) {
            i++;
        } else if (!(output && starts(argument, "-o")) && strcmp(argument, "-MD") != 0 &&
                   strcmp(argument, "-MMD") != 0 && strcmp(argument, "-MP") != 0) {
            if (starts(argument, "-MF") || starts(argument, "-MT") || starts(argument, "-MQ"))
                i += strlen(argument) == 3;
            else
                words[used++] = u->arguments[i];
        }
    }
    if (output) {
        words[used++] = text_of("-o");
        words[used++] = text_of(output);
    }
    words[used] = NULL;
    int status = cc_run_command(words, err);
    free(words);
    return status;
}
