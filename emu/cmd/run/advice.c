#include "emu/cmd/run/advice.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/cmd/code/program.h"
#include "emu/env/loader/image.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"
#include "emu/sim/text/text.h"

enum { NAMES_MOST = 1000 }; /* files of a folder among which a misspelt name is looked for */

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

static void append(struct error *err, const char *advice)
{
    const size_t used = strlen(err->text);
    (void)snprintf(err->text + used, sizeof err->text - used, "; %s", advice);
}

/* Appends the command that makes a program of a source; `name`: of the program. */
static void append_compile(struct error *err, const char *compiler, const char *source, const char *name)
{
    char text[2 * PATH_MAX];
    (void)snprintf(text, sizeof text, "compile it first: croft %s -O2 %s -o %s", compiler, source, name);
    append(err, text);
}

static void advise_source(const char *path, const char *suffix, const char *compiler, struct error *err)
{
    char name[PATH_MAX];
    (void)snprintf(name, sizeof name, "%.*s", (int)(strlen(path) - strlen(suffix)), path);
    append_compile(err, compiler, path, name);
}

/* Appends the file of the same folder whose name is nearest. */
static void advise_name(const char *path, struct error *err)
{
    char folder[PATH_MAX], text[NAME_MAX + 32], *names[NAMES_MOST];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t count = 0;
    (void)snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && count < NAMES_MOST && (entry = readdir(dir));)
        names[count++] = alloc_text(entry->d_name);
    if (dir)
        (void)closedir(dir);
    const char *near = nearest_name(name, (const char *const *)names, count);
    if (near && text_printable(near)) {
        (void)snprintf(text, sizeof text, "did you mean '%s'?", near);
        append(err, text);
    }
    while (count > 0)
        free(names[--count]);
}

static void advise_missing(const char *path, struct error *err)
{
    static const struct {
        const char *suffix, *compiler;
    } kinds[] = {{".c", "cc"}, {".cc", "c++"}, {".cpp", "c++"}, {".S", "cc"}};
    char source[PATH_MAX];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        (void)snprintf(source, sizeof source, "%s%s", path, kinds[i].suffix);
        if (access(source, F_OK) == 0) {
            append_compile(err, kinds[i].compiler, source, path);
            return;
        }
    }
    advise_name(path, err);
}

static void advise_file(const char *path, const Elf64_Ehdr *head, size_t length, struct error *err)
{
    const bool elf = length == sizeof *head && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0;
    if (!elf && (ends_in(path, ".c") || ends_in(path, ".S")))
        advise_source(path, path[strlen(path) - 1] == 'c' ? ".c" : ".S", "cc", err);
    else if (!elf && (ends_in(path, ".cc") || ends_in(path, ".cpp")))
        advise_source(path, strrchr(path, '.'), "c++", err);
    else if (!elf && ends_in(path, ".yaml"))
        append(err, "a machine's description stands behind -m");
}

void advice_program(const char *path, struct error *err)
{
    Elf64_Ehdr head;
    struct stat stat_of;
    const size_t length = strlen(path);
    if (strncmp(err->text, path, length) != 0 || err->text[length] != ':')
        return;
    if (stat(path, &stat_of) != 0) {
        if (errno == ENOENT)
            advise_missing(path, err);
        return;
    }
    FILE *file = S_ISREG(stat_of.st_mode) ? fopen(path, "rbe") : NULL;
    if (!file)
        return;
    advise_file(path, &head, fread(&head, 1, sizeof head, file), err);
    (void)fclose(file);
}

bool advice_lacks_launch(const char *path)
{
    uint64_t value;
    return image_symbol(path, "croft_simt", &value) && !program_launches(path);
}

bool advice_is_machine(const char *const *arguments, size_t count, const char *folder)
{
    char path[PATH_MAX];
    if (count < 2 || (strcmp(arguments[0], "-m") != 0 && strcmp(arguments[0], "--machine") != 0))
        return false;
    (void)snprintf(path, sizeof path, "%s/%s.yaml", folder, arguments[1]);
    return !strchr(arguments[1], '/') && access(path, F_OK) == 0;
}
