/* croft cc: runs the cross compiler with our headers, newlib, start-up code and linker script. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/cmd/paths.h"
#include "emu/sim/alloc.h"
#include "emu/sim/error.h"

static const char compiler[] = "riscv64-unknown-elf-gcc";

enum { CC_BEFORE = 13 }; /* maximum number of arguments added before the user's */

static const struct option_row cc_rows[] = {
    {"bare", 0, NULL, "for machine mode (croft run --env bare, qemu-system-riscv64 -M virt -bios none)"},
};

static const struct option_set cc_options = {
    .command = "croft cc",
    .synopsis = "[--bare] [GCC options] FILE...",
    .summary = "Compiles and links C and assembler programs for `croft run` and qemu-riscv64.",
    .count = sizeof cc_rows / sizeof cc_rows[0],
    .rows = cc_rows,
    .example = "croft cc -O2 hello.c -o hello && croft run hello",
    .notes =
        "All options are passed to riscv64-unknown-elf-gcc; `croft cc -v` shows what it does.\n"
        "Added before them: -march=rv64gc -mabi=lp64d -mcmodel=medany, the headers <croft/...>, newlib,\n"
        "the start-up code and the linker script host.ld (program at 0x80000000). Your own -march, "
        "-nostdlib\n"
        "and -T replace these.\n"
        "With --bare: machine-mode start-up code, the drivers of <croft/firmware/...>, newlib with the UART "
        "as its\n"
        "only file, and the linker script bare.ld.\n",
};

/* The paths of our files, each as part of its option. */
struct cc_paths {
    char croft_headers[PATH_MAX];
    char newlib_headers[PATH_MAX];
    char prefix[PATH_MAX]; /* of start-up code and libraries; ends in a slash, as -B requires */
    char specs[PATH_MAX];
    char script[PATH_MAX];
};

static bool cc_locate(struct cc_paths *paths, bool bare, struct error *err)
{
    static const char specs_option[] = "-specs=";
    size_t used = sizeof specs_option - 1;
    const char *specs = bare ? "sysroot/lib/bare.specs" : "sysroot/lib/croft.specs";
    const char *script = bare ? "sysroot/lib/bare.ld" : "sysroot/lib/host.ld";
    memcpy(paths->specs, specs_option, used);
    return paths_share("include", paths->croft_headers, PATH_MAX, err) &&
           paths_share("sysroot/include", paths->newlib_headers, PATH_MAX, err) &&
           paths_share("sysroot/lib/", paths->prefix, PATH_MAX, err) &&
           paths_share(specs, paths->specs + used, PATH_MAX - used, err) &&
           paths_share(script, paths->script, PATH_MAX, err);
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Returns whether the user's option provides a linker script or excludes ours. */
static bool cc_replaces_script(const char *option)
{
    /* These options place only one section. */
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

/* The parsed command line. */
struct cc_request {
    bool help, bare, own_script;
    size_t count;
    char **arguments; /* the arguments for GCC, within a longer array */
};

/* Parses argv; request->arguments has room for argc entries. */
static void cc_parse(struct cc_request *request, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            request->help = true;
        if (strcmp(argv[i], "--bare") == 0) {
            request->bare = true;
            continue;
        }
        request->own_script = request->own_script || cc_replaces_script(argv[i]);
        request->arguments[request->count++] = argv[i];
    }
}

static int cc_run(const struct cc_request *request, char **arguments)
{
    struct cc_paths paths;
    struct error err;
    if (!cc_locate(&paths, request->bare, &err)) {
        fprintf(stderr, "croft cc: %s\n", err.text);
        return 1;
    }
    char *const before[CC_BEFORE] = {
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
        "-T",
        paths.script,
    };
    size_t count = request->own_script ? CC_BEFORE - 2 : CC_BEFORE;
    memcpy(arguments, before, count * sizeof *before);
    memmove(arguments + count, request->arguments, request->count * sizeof *arguments);
    arguments[count + request->count] = NULL;
    return cc_exec(arguments);
}

int cmd_cc(int argc, char **argv)
{
    char **arguments = alloc((size_t)argc + CC_BEFORE + 1, sizeof *arguments);
    struct cc_request request = {.arguments = arguments + CC_BEFORE};
    cc_parse(&request, argc, argv);
    int status = 0;
    if (request.help)
        options_help(&cc_options);
    else
        status = cc_run(&request, arguments);
    free(arguments);
    return status;
}
