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

bool paths_share(const char *name, char *path, size_t size, struct error *err)
{
    char base[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", base, sizeof base - 1);
    if (length < 0)
        return error_set(err, "cannot find croft's own folder: /proc/self/exe: %s", strerror(errno));
    base[length] = '\0';
    if (!path_cut(base) || !path_cut(base))
        return error_set(err, "cannot find croft's own folder: the executable is not in a bin folder");
    int written = snprintf(path, size, "%s/share/croft/%s", base, name);
    if (written < 0 || (size_t)written >= size)
        return error_set(err, "the path of croft's file %s is too long: move croft to a shorter path", name);
    if (access(path, F_OK) != 0)
        return error_set(err, "%s: %s; build it with `make`, or install croft with `make install`", path,
                         strerror(errno));
    return true;
}
