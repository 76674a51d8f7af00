#include "emu/api/share.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes the folder above that of the library to base. */
static bool find_base(char base[PATH_MAX], struct error *err)
{
    static const char here = 0;
    Dl_info info;
    if (!dladdr(&here, &info) || !info.dli_fname || !realpath(info.dli_fname, base))
        return error_set(err,
                         "cannot find the folder of libundercroft; say where croft's files are (`share`)");
    for (unsigned i = 0; i < 2; i++) {
        char *slash = strrchr(base, '/');
        if (slash)
            *slash = '\0';
    }
    return true;
}

bool share_find(const char *share, const char *name, char path[PATH_MAX], struct error *err)
{
    char base[PATH_MAX];
    if (!share && !find_base(base, err))
        return false;
    const int length = share ? snprintf(path, PATH_MAX, "%s/%s", share, name)
                             : snprintf(path, PATH_MAX, "%s/share/croft/%s", base, name);
    if (length < 0 || length >= PATH_MAX)
        return error_set(err, "the path of croft's file %s is too long", name);
    return access(path, F_OK) == 0 ||
           error_set(err, "%s: %s; say where croft's files are (`share`)", path, strerror(errno));
}
