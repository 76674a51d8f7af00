/* croft cc: the cross compiler, told about our headers, newlib, start-up code and linker script. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/cmd/paths.h"
#include "emu/sim/error.h"

static const char compiler[] = "riscv64-unknown-elf-gcc";

static const struct option_set cc_options = {
    .command = "croft cc",
    .synopsis = "[GCC options] FILE...",
    .summary = "Compiles and links C and assembler programs for `croft run` and qemu-riscv64.",
    .example = "croft cc -O2 hello.c -o hello && croft run hello",
    .notes =
        "All options are passed to riscv64-unknown-elf-gcc; `croft cc -v` shows what it does.\n"
        "Added before them: -march=rv64gc -mabi=lp64d -mcmodel=medany, the headers <croft/...>, newlib,\n"
        "the start-up code and the linker script host.ld (program at 0x80000000). Your own -march, "
        "-nostdlib\n"
        "and -T replace these.\n",
};

/* The paths of our files, each within its option. */
struct cc_paths {
    char croft_headers[PATH_MAX];
    char newlib_headers[PATH_MAX];
    char prefix[PATH_MAX]; /* crt0.o and libraries; ends in a slash, as -B wants */
    char specs[PATH_MAX];
    char script[PATH_MAX];
};

static bool cc_locate(struct cc_paths *paths, struct error *err)
{
    static const char specs_option[] = "-specs=";
    size_t used = sizeof specs_option - 1;
    memcpy(paths->specs, specs_option, used);
    return paths_share("include", paths->croft_headers, PATH_MAX, err) &&
           paths_share("sysroot/include", paths->newlib_headers, PATH_MAX, err) &&
           paths_share("sysroot/lib/", paths->prefix, PATH_MAX, err) &&
           paths_share("sysroot/lib/croft.specs", paths->specs + used, PATH_MAX - used, err) &&
           paths_share("sysroot/lib/host.ld", paths->script, PATH_MAX, err);
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Whether the user's option brings a linker script, or makes one wrong. */
static bool cc_replaces_script(const char *option)
{
    /* These only place one section. */
    if (starts_with(option, "-Ttext") || starts_with(option, "-Tdata") || starts_with(option, "-Tbss"))
        return false;
    return starts_with(option, "-T") || starts_with(option, "-Wl,-T") ||
           starts_with(option, "-Wl,--script") || strcmp(option, "-r") == 0;
}

static int cc_exec(char **arguments)
{
    execvp(compiler, arguments);
    if (errno == ENOENT)
        fprintf(stderr,
                "croft cc: %s is not installed; on Debian: "
                "apt-get install gcc-riscv64-unknown-elf binutils-riscv64-unknown-elf\n",
                compiler);
    else
        fprintf(stderr, "croft cc: cannot run %s: %s\n", compiler, strerror(errno));
    return 1;
}

int cmd_cc(int argc, char **argv)
{
    bool own_script = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            options_help(&cc_options);
            return 0;
        }
        own_script = own_script || cc_replaces_script(argv[i]);
    }

    struct cc_paths paths;
    struct error err;
    if (!cc_locate(&paths, &err)) {
        fprintf(stderr, "croft cc: %s\n", err.text);
        return 1;
    }

    char *const before[] = {
        "riscv64-unknown-elf-gcc",
        "-march=rv64gc",
        "-mabi=lp64d",
        "-mcmodel=medany",
        "-isystem",
        paths.croft_headers,
        "-isystem",
        paths.newlib_headers,
        "-B",
        paths.prefix,
        paths.specs,
    };
    enum { BEFORE = sizeof before / sizeof before[0] };
    char **arguments = calloc((size_t)argc + BEFORE + 3, sizeof *arguments);
    if (!arguments) {
        fprintf(stderr, "croft cc: out of memory\n");
        return 1;
    }
    size_t count = BEFORE;
    memcpy(arguments, before, sizeof before);
    if (!own_script) {
        arguments[count++] = "-T";
        arguments[count++] = paths.script;
    }
    memcpy(arguments + count, argv + 1, (size_t)(argc - 1) * sizeof *arguments);
    int status = cc_exec(arguments);
    free(arguments);
    return status;
}
