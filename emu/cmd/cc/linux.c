#include "emu/cmd/cc/linux.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/cmd/paths.h"
#include "emu/sim/alloc.h"
#include "emu/sim/error.h"

int cc_linux(const char *command, const char *compiler, char *const *arguments, int count)
{
    enum { BEFORE = 4, AFTER = 1 };
    char headers[PATH_MAX], library[PATH_MAX] = "-L";
    struct error err;
    if (!paths_share("include", headers, sizeof headers, &err) ||
        !paths_share("linux", library + 2, sizeof library - 2, &err)) {
        fprintf(stderr, "%s: %s\n", command, err.text);
        return 1;
    }
    char **all = alloc((size_t)count + BEFORE + AFTER + 1, sizeof *all);
    all[0] = (char *)(uintptr_t)compiler;
    all[1] = (char *)(uintptr_t) "-isystem";
    all[2] = headers;
    all[3] = library;
    for (int i = 0; i < count; i++)
        all[BEFORE + i] = arguments[i];
    all[BEFORE + count] = (char *)(uintptr_t) "-lcroft"; /* launches of <croft/simt.h> */
    execvp(compiler, all);
    if (errno == ENOENT)
        fprintf(stderr, "%s: %s is not installed; on Debian: apt-get install %s libc6-dev-riscv64-cross\n",
                command, compiler,
                strstr(compiler, "g++") ? "g++-riscv64-linux-gnu" : "gcc-riscv64-linux-gnu");
    else
        fprintf(stderr, "%s: cannot run %s: %s\n", command, compiler, strerror(errno));
    free(all);
    return 1;
}
