#include "emu/cmd/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Removes the last component of path. Returns false if there is none. */
static bool path_cut(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

/* Writes the folder above the executable's bin folder to base[PATH_MAX]. */
static bool find_base(char *base, struct error *err)
{
    ssize_t length = readlink("/proc/self/exe", base, PATH_MAX - 1);
    if (length < 0)
        return error_set(err, "cannot find croft's own folder: /proc/self/exe: %s", strerror(errno));
    base[length] = '\0';
    if (!path_cut(base) || !path_cut(base))
        return error_set(err, "cannot find croft's own folder: the executable is not in a bin folder");
    return true;
}

bool paths_share(const char *name, char *path, size_t size, struct error *err)
{
    char base[PATH_MAX];
    if (!find_base(base, err))
        return false;
    int written = snprintf(path, size, "%s/share/croft/%s", base, name);
    if (written < 0 || (size_t)written >= size)
        return error_set(err, "the path of croft's file %s is too long: move croft to a shorter path", name);
    if (access(path, F_OK) != 0)
        return error_set(err, "%s: %s; build it with `make`, or install croft with `make install`", path,
                         strerror(errno));
    return true;
}

void paths_expand(const char *text, char *expanded, size_t size)
{
    char base[PATH_MAX];
    struct error err;
    const bool found = find_base(base, &err);
    size_t used = 0;
    expanded[0] = '\0';
    for (const char *mark; (mark = strstr(text, "$DOC")) && used < size; text = mark + 4)
        used += (size_t)snprintf(expanded + used, size - used, "%.*s%s/share/doc/croft", (int)(mark - text),
                                 text, found ? base : "");
    if (used < size)
        (void)snprintf(expanded + used, size - used, "%s", text);
}

void paths_print(const char *text)
{
    char expanded[PATHS_TEXT];
    paths_expand(text, expanded, sizeof expanded);
    fputs(expanded, stdout);
}
