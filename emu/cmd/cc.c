/* croft cc: runs the cross compiler with our headers, newlib, start-up code and linker script. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/cmd/cc/linux.h"
#include "emu/cmd/cc/loops.h"
#include "emu/cmd/cc/offload.h"
#include "emu/cmd/cc/units.h"
#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/cmd/paths.h"
#include "emu/sim/alloc.h"
#include "emu/sim/error.h"
#include "emu/sim/text/nearest.h"
#include "emu/sim/text/text.h"

static const char compiler[] = "riscv64-unknown-elf-gcc";

enum { CC_BEFORE = 14 }; /* maximum number of arguments added before the user's */

static const struct option_row cc_rows[] = {
    {"bare", 0, NULL, "for machine mode (croft run --env bare, qemu-system-riscv64 -M virt -bios none)"},
    {"linux", 0, NULL, "for Linux, by riscv64-linux-gnu-gcc, with the headers <croft/...> (C++: croft c++)"},
    {"offload", 0, NULL,
     "mark the blocks that `croft candidates` finds by hints (tom.begin), add their table, and let malloc() "
     "say what it "
     "allocates; -foffload-address=BYTES of an address (default 8; the TOM paper's GPU: 4); "
     "-foffload-registers=whole|held: what a register counts as"},
};

const struct option_set cc_interface = {
    .command = "croft cc",
    .synopsis = "[--bare | --linux] [--offload] [GCC options] FILE...",
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
        "-foffload-loops[=TASKS] turns loops into tasks of accelerators (NUCD) where the machine code allows "
        "a proof\n"
        "(at most TASKS, 16, of a loop); -foffload-least=COUNT: if they have COUNT instructions (" TEXT_VALUE(
            CC_LOOPS_LEAST) ");\n"
                            "-foffload-cache=BYTES: the data cache of an accelerator (" TEXT_VALUE(
                                CC_LOOPS_CACHE) "); -foffload-ahead=ROUNDS: how far ahead\n"
                                                "its tasks prefetch columns (" TEXT_VALUE(
                                                    CC_LOOPS_AHEAD) "; 0: not at all);\n"
                                                                    "-foffload-report[=FILE] says what "
                                                                    "becomes of each loop, and why;\n"
                                                                    "$DOC/emu/nucd/README.md has the "
                                                                    "conditions.\n"
                                                                    "With --bare: machine-mode start-up "
                                                                    "code, the drivers of "
                                                                    "<croft/firmware/...>, "
                                                                    "newlib with the UART "
                                                                    "as its\n"
                                                                    "only file, and the linker script "
                                                                    "bare.ld.\n",
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

/* Returns the first C++ source among the user's arguments, or NULL. */
static const char *cc_find_cxx(char *const *arguments, size_t count)
{
    static const char *const ends[] = {".cc", ".cpp", ".cxx", ".C", NULL};
    for (size_t i = 0; i < count; i++) {
        const char *dot = arguments[i][0] == '-' ? NULL : strrchr(arguments[i], '.');
        for (size_t k = 0; dot && ends[k]; k++)
            if (strcmp(dot, ends[k]) == 0)
                return arguments[i];
    }
    return NULL;
}

/* Compiles a C++ source, for which there is no library here. Returns the exit status. */
static int cc_try_cxx(char **arguments, const char *source)
{
    struct error err;
    int status = cc_run_command(arguments, &err);
    if (status < 0)
        fprintf(stderr, "croft cc: %s\n", err.text);
    else if (status > 0)
        fprintf(
            stderr,
            "croft cc: '%s' is C++, for which there is no library without an operating system; for Linux: "
            "croft c++ -static\n",
            source);
    return status < 0 ? 1 : status;
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

enum { ADDRESS = 8 }; /* bytes of an address, for --offload */

/* The parsed command line. */
struct cc_request {
    bool help, bare, linux_program, own_script, loops, offload, reports;
    unsigned tasks, least, cache, ahead, address; /* address 0: not given */
    bool held, registers;                         /* -foffload-registers=held; the option is given */
    const char *report;                           /* a file, or NULL */
    int status;                                   /* that of a usage error, or OPTIONS_TAKEN */
    size_t count;
    char **arguments; /* the arguments for GCC, within a longer array */
};

/* Parses the number at the end of an option. */
static void cc_number(struct cc_request *request, const char *option, unsigned least, unsigned most,
                      unsigned *value)
{
    char *end;
    const char *text = strchr(option, '=') + 1;
    unsigned long parsed = strtoul(text, &end, 10);
    if (end == text || *end || *text == '-' || parsed < least || parsed > most)
        request->status =
            options_usage_error(&cc_interface, "%.*s is '%s'; it must be a number from %u to %u",
                                (int)(text - option - 1), option, text, least, most);
    *value = (unsigned)parsed;
}

enum cc_option {
    CC_ADDRESS,
    CC_REGISTERS,
    CC_LOOPS,
    CC_LEAST,
    CC_CACHE,
    CC_AHEAD,
    CC_REPORT,
    CC_OPTIONS, /* their number; also: none of them */
};

static const char *const cc_names[CC_OPTIONS] = {
    [CC_ADDRESS] = "-foffload-address", [CC_REGISTERS] = "-foffload-registers",
    [CC_LOOPS] = "-foffload-loops",     [CC_LEAST] = "-foffload-least",
    [CC_CACHE] = "-foffload-cache",     [CC_AHEAD] = "-foffload-ahead",
    [CC_REPORT] = "-foffload-report",
};

/* Returns which of cc_names an option is, and what stands behind its '='; NULL: there is none. */
static enum cc_option cc_find(const char *option, const char **value)
{
    for (enum cc_option i = 0; i < CC_OPTIONS; i++) {
        const size_t length = strlen(cc_names[i]);
        if (starts_with(option, cc_names[i]) && (option[length] == '\0' || option[length] == '=')) {
            *value = option[length] ? option + length + 1 : NULL;
            return i;
        }
    }
    return CC_OPTIONS;
}

static void cc_held(struct cc_request *request, const char *value)
{
    request->registers = true;
    request->held = strcmp(value, "held") == 0;
    if (!request->held && strcmp(value, "whole") != 0)
        request->status = options_usage_error(&cc_interface,
                                              "-foffload-registers is '%s'; it must be whole or held", value);
}

/* Takes one of cc_names. Returns whether it is one. */
static bool cc_take_offload(struct cc_request *request, const char *option)
{
    const char *value = NULL;
    const enum cc_option which = cc_find(option, &value);
    if (!value && which < CC_OPTIONS && which != CC_LOOPS && which != CC_REPORT) {
        request->status = options_usage_error(&cc_interface, "%s needs a value: %s=VALUE", option, option);
        return true;
    }
    switch (which) {
    case CC_ADDRESS: cc_number(request, option, 1, 16, &request->address); break;
    case CC_REGISTERS: cc_held(request, value); break;
    case CC_LOOPS:
        request->loops = true;
        if (value)
            cc_number(request, option, 2, 1024, &request->tasks);
        break;
    case CC_LEAST: cc_number(request, option, 1, 1000000000, &request->least); break;
    case CC_CACHE: cc_number(request, option, 1024, 1 << 30, &request->cache); break;
    case CC_AHEAD: cc_number(request, option, 0, 1024, &request->ahead); break;
    case CC_REPORT:
        request->reports = true;
        request->report = value;
        break;
    case CC_OPTIONS: return false;
    }
    return true;
}

/* Takes one of our own options. Returns whether it is one. */
static bool cc_take(struct cc_request *request, const char *option)
{
    if (strcmp(option, "--bare") == 0)
        request->bare = true;
    else if (strcmp(option, "--linux") == 0)
        request->linux_program = true;
    else if (strcmp(option, "--offload") == 0)
        request->offload = true;
    else
        return cc_take_offload(request, option);
    return true;
}

/* Refuses an option that looks like one of ours, for which GCC would suggest one of its own. */
static void cc_refuse(struct cc_request *request, const char *option)
{
    char name[64];
    if (!starts_with(option, "-foffload-") || starts_with(option, "-foffload-abi=") ||
        starts_with(option, "-foffload-options="))
        return;
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(option, "="), option);
    request->status = options_usage_error(&cc_interface, "unknown option '%s'%s", name,
                                          nearest_hint(name, cc_names, CC_OPTIONS).text);
}

/* Parses argv; request->arguments has room for argc entries. */
static void cc_parse(struct cc_request *request, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            request->help = true;
        if (cc_take(request, argv[i]))
            continue;
        cc_refuse(request, argv[i]);
        request->own_script = request->own_script || cc_replaces_script(argv[i]);
        request->arguments[request->count++] = argv[i];
    }
    if (request->linux_program && (request->bare || request->offload || request->loops || request->reports))
        request->status = options_usage_error(
            &cc_interface,
            "--linux is for riscv64-linux-gnu-gcc, without --bare, --offload and -foffload-loops");
    if ((request->address || request->registers) && !request->offload)
        request->status = options_usage_error(&cc_interface, "-foffload-%s is for --offload",
                                              request->address ? "address" : "registers");
    if (request->loops && request->offload)
        request->status =
            options_usage_error(&cc_interface, "--offload and -foffload-loops cannot be combined");
    if (request->loops && request->bare)
        request->status = options_usage_error(
            &cc_interface,
            "-foffload-loops is not for --bare: loops may access devices there, which tasks must not");
}

/* Rewrites the assembler of one source. Returns an exit status. */
static int cc_rewrite(const struct cc_units *units, size_t number, const struct cc_loops_options *options,
                      struct error *err)
{
    const struct cc_unit *unit = &units->units[number];
    /* Without section anchors, an address names its own object. RTL (-dP) says what calls read. Line tables give the
     * report its source lines. */
    char *const added[] = {(char *)(uintptr_t) "-fno-section-anchors", (char *)(uintptr_t) "-dP",
                           units->debug ? NULL : (char *)(uintptr_t) "-g1", NULL};
    struct assembly assembly = {0};
    struct program program = {0};
    int status = cc_unit_compile(units, unit, added, err);
    bool done = status == 0 && assembly_read(&assembly, unit->text, err) &&
                assembly_write_numbered(&assembly, number, unit->numbered, err);
    if (done)
        status = cc_unit_link(units, unit, err);
    done = done && status == 0 && program_open(&program, unit->object, err);
    FILE *out = done ? fopen(unit->rewritten, "we") : NULL;
    if (done && !out)
        done = error_set(err, "%s: %s", unit->rewritten, strerror(errno));
    done = done && cc_loops_rewrite(&assembly, &program, options, out, err);
    if (out && fclose(out) != 0 && done)
        done = error_set(err, "%s: %s", unit->rewritten, strerror(errno));
    program_close(&program);
    assembly_free(&assembly);
    return done ? 0 : status ? status : -1;
}

/* Copies the rewritten assembler to where -S writes it. */
static int cc_copy(const struct cc_units *units, const struct cc_unit *unit, struct error *err)
{
    const char *name = units->output ? units->output : strrchr(unit->rewritten, '/') + 1;
    struct assembly assembly = {0};
    bool done = assembly_read(&assembly, unit->rewritten, err);
    FILE *out = !done ? NULL : strcmp(name, "-") == 0 ? stdout : fopen(name, "we");
    for (size_t i = 0; out && i < assembly.count; i++)
        (void)fprintf(out, "%s\n", assembly.lines[i].text);
    done = done && (out || error_set(err, "%s: %s", name, strerror(errno)));
    if (out && out != stdout && fclose(out) != 0 && done)
        done = error_set(err, "%s: %s", name, strerror(errno));
    assembly_free(&assembly);
    return done ? 0 : -1;
}

/* Compiles with loops as tasks. Returns the exit status, or -1 with err set. */
static int cc_with_loops(const struct cc_request *request, struct cc_units *units, struct error *err)
{
    struct cc_loops_options options = {.tasks = request->tasks,
                                       .least = request->least,
                                       .cache = request->cache,
                                       .ahead = request->ahead,
                                       .debug = units->debug};
    int status = 0;
    if (units->lto) {
        (void)error_set(err, "-foffload-loops needs the assembler of each source, which -flto does not make");
        return -1;
    }
    if (request->reports)
        options.report = request->report ? fopen(request->report, "we") : stderr;
    if (request->reports && !options.report) {
        (void)error_set(err, "%s: %s", request->report, strerror(errno));
        return -1;
    }
    for (size_t i = 0; i < units->count && status == 0; i++)
        status = cc_rewrite(units, i, &options, err);
    for (size_t i = 0; i < units->count && status == 0 && units->assembles; i++)
        status = cc_copy(units, &units->units[i], err);
    if (status == 0 && !units->assembles)
        status = cc_units_finish(units, false, NULL, err);
    if (options.report && options.report != stderr && fclose(options.report) != 0 && status == 0) {
        (void)error_set(err, "%s: %s", request->report, strerror(errno));
        status = -1;
    }
    return status;
}

/* Compiles through changed assembler. Returns the exit status, or -1 if there is nothing to change: GCC does it alone. */
static int cc_units(const struct cc_request *request, char *const *fixed, size_t fixed_count)
{
    struct cc_units units = {0};
    struct error err;
    int status = -1;
    bool done = cc_units_open(&units, fixed, fixed_count, request->arguments, request->count, &err);
    bool alone = done && !request->offload && (units.count == 0 || units.only_preprocesses);
    if (done && !alone)
        status = request->offload
                     ? cc_offload(&units, request->address ? request->address : ADDRESS, request->held, &err)
                     : cc_with_loops(request, &units, &err);
    cc_units_close(&units);
    if (!done || (status < 0 && !alone)) {
        fprintf(stderr, "croft cc: %s\n", err.text);
        return 1;
    }
    return status;
}

static int cc_run(const struct cc_request *request, char **arguments)
{
    struct cc_paths paths;
    struct error err;
    if (request->linux_program)
        return cc_linux("croft cc", "riscv64-linux-gnu-gcc", request->arguments, (int)request->count);
    if (!cc_locate(&paths, request->bare, &err)) {
        fprintf(stderr, "croft cc: %s\n", err.text);
        return 1;
    }
    char *before[CC_BEFORE] = {
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
    size_t count = request->own_script ? CC_BEFORE - 3 : CC_BEFORE - 1;
    if (request->offload && !request->bare) /* host/calls/allocation.c */
        before[count++] = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=memalign";
    if (request->loops || request->offload) {
        int status = cc_units(request, before, count);
        if (status >= 0)
            return status;
    }
    memcpy(arguments, before, count * sizeof *before);
    memmove(arguments + count, request->arguments, request->count * sizeof *arguments);
    arguments[count + request->count] = NULL;
    const char *cxx = cc_find_cxx(arguments + count, request->count);
    return cxx ? cc_try_cxx(arguments, cxx) : cc_exec(arguments);
}

int cmd_cc(int argc, char **argv)
{
    char **arguments = alloc((size_t)argc + CC_BEFORE + 1, sizeof *arguments);
    struct cc_request request = {.arguments = arguments + CC_BEFORE,
                                 .tasks = 16,
                                 .least = CC_LOOPS_LEAST,
                                 .cache = CC_LOOPS_CACHE,
                                 .ahead = CC_LOOPS_AHEAD,
                                 .status = OPTIONS_TAKEN};
    cc_parse(&request, argc, argv);
    int status = 0;
    if (request.help)
        options_help(&cc_interface);
    else
        status = request.status == OPTIONS_TAKEN ? cc_run(&request, arguments) : request.status;
    free(arguments);
    return status;
}

const struct option_set cxx_interface = {
    .command = "croft c++",
    .synopsis = "[G++ options] FILE...",
    .summary = "Compiles and links C++ programs for Linux, which `croft run` and qemu-riscv64 run.",
    .example = "croft c++ -O2 -static hello.cc -o hello && croft run hello",
    .notes =
        "All options are passed to riscv64-linux-gnu-g++, behind the folder of the headers <croft/...>.\n"
        "Without -static, `croft run` needs --sysroot /usr/riscv64-linux-gnu.\n",
};

int cmd_cxx(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            options_help(&cxx_interface);
            return 0;
        }
    return cc_linux("croft c++", "riscv64-linux-gnu-g++", argv + 1, argc - 1);
}
