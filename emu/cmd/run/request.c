#include "emu/cmd/run/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cmd/cmd.h"
#include "emu/debug/log.h"
#include "emu/dev/device.h"
#include "emu/env/loader/image.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"
#include "emu/sim/text/quantity.h"

enum {
    MACHINE,
    SET,
    ISA,
    STATS,
    ENV,
    BIOS,
    KERNEL,
    APPEND,
    INITRD,
    DTB,
    DUMP_DTB,
    DRIVE,
    NETDEV,
    FIRMWARE,
    DIR,
    SYSROOT,
    NET,
    LOG,
    WARP,
    GDB,
    SIGNATURE,
    CORE,
    MAX_INSNS,
    MAX_MEMORY,
    TRAP_LOOPS,
    MAX_TIME,
    DETAIL,
    CHECK,
    TRACE,
    PARTITION_STUDY,
    THREADS,
    JIT,
    JIT_BYTES,
    SETENV,
    RECORD,
    REPLAY,
    SAVE,
    SAVE_AT,
    RESTORE,
    VERBOSE
};

static const struct option_row rows[] = {
    [MACHINE] = {"machine", 'm', "NAME|FILE", "machine to run on (default: functional)"},
    [SET] = {"set", 0, "NAME=VALUE",
             "change a key of the machine's description; A|B=VALUE: of several names, those that it has"},
    [ISA] = {"isa", 0, "ISA",
             "extensions of the harts: rv64gc_zba, rva22u64 (default: all); for --set isa=ISA"},
    [STATS] = {"stats", 0, "FILE", "write statistics as JSON to FILE ('-': standard output)"},
    [ENV] = {"env", 0, "user|kernel|bare",
             "environment (default: bare for firmware and `tohost`, else user); kernel: with virtual memory"},
    [BIOS] = {"bios", 0, "FILE", "firmware for machine mode: ELF, or raw at the start of memory"},
    [KERNEL] = {"kernel", 0, "FILE", "program that the firmware starts: ELF, or raw at 2 MiB in memory"},
    [APPEND] = {"append", 0, "TEXT", "the kernel's command line"},
    [INITRD] = {"initrd", 0, "FILE", "the kernel's initial file system"},
    [DTB] = {"dtb", 0, "FILE", "device tree in place of the machine's"},
    [DUMP_DTB] = {"dump-dtb", 0, "FILE", "write the device tree to FILE ('-': standard output), and end"},
    [DRIVE] = {"drive", 0, "file=FILE[,readonly=on]", "virtio disk whose bytes are in FILE; may be repeated"},
    [NETDEV] = {"netdev", 0, "unix:PATH|none",
                "virtio network device, connected to a Unix socket or to nothing"},
    [FIRMWARE] = {"firmware", 0, "FILE", "firmware for accelerators (default: croft's; none in --env bare)"},
    [DIR] = {"dir", 0, "DIR", "only folder whose files the program can use (default: .)"},
    [SYSROOT] =
        {"sysroot", 0, "DIR",
         "folder of the dynamic linker and libraries of Linux programs, such as /usr/riscv64-linux-gnu"},
    [NET] = {"net", 0, NULL,
             "let a Linux program have sockets of the host's network (default: refused); not --netdev, a "
             "system's device"},
    [LOG] =
        {"log", 0, "KIND[:FILE]",
         "log each instruction; KIND is commit or insn, or trap: only traps (default FILE: standard error)"},
    [WARP] = {"warp", 0, "LAUNCH.BLOCK.WARP",
              "log this warp of a launch on multiprocessors, not the host; core N of the log is lane N"},
    [GDB] = {"gdb", 0, "PORT|PATH", "wait for gdb on a port of 127.0.0.1 or on a Unix socket"},
    [SIGNATURE] = {"signature", 0, "FILE",
                   "at the end, write the words from begin_signature to end_signature"},
    [CORE] =
        {"core", 0, "FILE",
         "if a signal ends the user program, write its memory and registers to FILE, a core file for gdb"},
    [MAX_INSNS] = {"max-insns", 0, "N", "stop after N instructions, with exit status 124"},
    [MAX_MEMORY] = {"max-memory", 0, "SIZE",
                    "stop when more than SIZE of main memory (64 MiB, 1GiB) is in use, with exit status 124"},
    [TRAP_LOOPS] =
        {"trap-loops", 0, "N|off",
         "end a machine-mode program that takes the same trap N times without progress (default: 1000)"},
    [MAX_TIME] = {"max-time", 0, "T", "stop after T of simulated time (10 ms, 1.5us), with exit status 124"},
    [DETAIL] = {"detail", 0, "all|roi", "roi: time only regions of interest and launches (default: all)"},
    [CHECK] = {"check", 0, "coherence|dram|nucd",
               "find stale data in the caches of host and accelerators, violated DRAM rules, or accesses of "
               "tasks that their nucds do not declare; exit status 3 if there are any"},
    [TRACE] = {"trace", 0, "KIND[:FILE]",
               "write a trace of the timed run; may be repeated; KIND is perfetto, konata, dram, nucd or "
               "memory (default FILE: "
               "trace.json, trace.kanata, trace.dram, trace.csv, trace.memory.zst)"},
    [PARTITION_STUDY] =
        {"partition-study", 0, "FILE",
         "write to FILE ('-': standard output) how much work the parts between links have in each "
         "window of the links' latency, and what several threads would gain"},
    [THREADS] = {"threads", 0, "N",
                 "execute a machine's modules on N threads of the host (1 to 64; default: 1), with the "
                 "statistics of one; not "
                 "more than processors are free"},
    [JIT] =
        {"jit", 0, "off|on|always|check",
         "compile hot code without a clock (default: on for programs in --env user, else off); always: all "
         "code, for tests"},
    [JIT_BYTES] = {"jit-memory", 0, "SIZE", "memory for compiled code (default: 64 MiB)"},
    [SETENV] = {"setenv", 'E', "NAME=VALUE", "add a variable to the program's environment (default: empty)"},
    [RECORD] = {"record", 0, "FILE", "record console input and its times to FILE"},
    [REPLAY] = {"replay", 0, "FILE", "replay console input that --record wrote to FILE"},
    [SAVE] = {"save", 0, "FILE",
              "write a snapshot of a machine-mode run to FILE: at its end, or at --save-at"},
    [SAVE_AT] = {"save-at", 0, "N|roi",
                 "take it after N instructions, or before the first region of interest, and go on"},
    [RESTORE] = {"restore", 0, "FILE",
                 "begin with the snapshot in FILE, on any machine with its harts, memory and devices"},
    [VERBOSE] = {"verbose", 0, NULL, "print the registers and the occupancy of kernels on a timed machine"},
};

const struct option_set run_interface = {
    .command = "croft run",
    .synopsis = "[options] PROGRAM [ARGS...]",
    .summary = "Runs a program, or with --bios a firmware and what it boots. The exit status is the "
               "program's, or 128 + n if signal n ended it.",
    .example = "croft run --stats stats.json --dir data spmv circuit.mtx",
    .notes = "--max-time, --detail, --check, --trace, --partition-study and --threads are for timed "
             "machines, such as "
             "nucd.\n"
             "The machine's resolved description is written beside the statistics, as FILE.machine.yaml.\n",
    .stop_at_argument = true,
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
    .words = (const struct option_words[]){{"log", log_kinds}, {"trace", trace_kinds}, {NULL, NULL}},
};

static bool parse_count(const char *text, uint64_t *value)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' && *value > 0;
}

static bool take_environment(struct request *r, const char *name)
{
    static const char *const known[] = {"user", "kernel", "bare"};
    static const enum environment values[] = {ENV_USER, ENV_KERNEL, ENV_BARE};
    for (size_t i = 0; i < 3; i++)
        if (strcmp(name, known[i]) == 0) {
            r->env = values[i];
            return true;
        }
    (void)options_usage_error(&run_interface, "unknown environment '%s'%s", name,
                              nearest_allowed(name, known, 3).text);
    return false;
}

static bool take_log(struct request *r, const char *value)
{
    struct error err;
    r->log = value;
    if (log_check(value, &err))
        return true;
    (void)options_usage_error(&run_interface, "%s", err.text);
    return false;
}

/* Takes the numbers of a launch (from 1), a block and a warp (from 0). */
static bool take_warp(struct request *r, const char *value)
{
    unsigned long long launch;
    unsigned block, warp;
    int length = 0;
    r->watched = value[0] >= '1' && value[0] <= '9' && strspn(value, "0123456789.") == strlen(value) &&
                 sscanf(value, "%19llu.%9u.%9u%n", &launch, &block, &warp, &length) == 3 &&
                 value[length] == '\0';
    if (!r->watched) {
        (void)options_usage_error(
            &run_interface,
            "--warp needs the numbers of a launch, from 1, of a block and of a warp in it, from 0, "
            "such as 1.0.0, not '%s'",
            value);
        return false;
    }
    r->watch = (struct grid_watch){.launch = launch, .block = block, .warp = warp};
    return true;
}

/* Handles the options of timed machines. */
static bool take_timing(struct request *r, int option, const char *value)
{
    struct error err;
    bool taken;
    switch (option) {
    case MAX_TIME: taken = timing_take_max_time(&r->timing, value, &err); break;
    case DETAIL: taken = timing_take_detail(&r->timing, value, &err); break;
    case THREADS: taken = timing_take_threads(&r->timing, value, &err); break;
    case PARTITION_STUDY: taken = timing_take_study(&r->timing, value, &err); break;
    case CHECK: taken = timing_take_check(&r->timing, value, &err); break;
    default: taken = timing_take_trace(&r->timing, value, &err); break;
    }
    if (!taken)
        (void)options_usage_error(&run_interface, "%s", err.text);
    return taken;
}

/* Adds a setting NAME=VALUE, whose value has `length` characters. */
static void set(struct request *r, const char *name, const char *value, size_t length)
{
    size_t size = strlen(name) + 1 + length + 1;
    char *text = alloc(1, size);
    (void)snprintf(text, size, "%s=%.*s", name, (int)length, value);
    r->sets[r->set_count++] = r->made[r->made_count++] = text;
}

static void set_isa(struct request *r, const char *value)
{
    set(r, "isa", value, strlen(value));
    r->settings++;
}

static bool equals(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && strncmp(text, word, length) == 0;
}

/* Adds the next disk, or sets the file of the description's. */
static void add_disk(struct request *r, const char *file, size_t length, const char *readonly)
{
    char name[48], count[16];
    (void)snprintf(count, sizeof count, "%u", r->drives + 1);
    if (r->drives == 0)
        set(r, "devices.disk", "default", strlen("default"));
    else
        set(r, "devices.disk.count", count, strlen(count));
    (void)snprintf(name, sizeof name, "devices.disk.%u.file", r->drives);
    set(r, name, file, length);
    (void)snprintf(name, sizeof name, "devices.disk.%u.readonly", r->drives);
    set(r, name, readonly, strlen(readonly));
    r->drives++;
}

/* Parses QEMU's --drive options for a raw disk; format, if and id have no effect. */
static bool take_drive(struct request *r, const char *value)
{
    static const char file_key[] = "file=";
    const size_t file_start = sizeof file_key - 1;
    const char *file = NULL, *readonly = "false";
    size_t file_length = 0;
    for (const char *at = value; *at;) {
        size_t length = strcspn(at, ",");
        if (strncmp(at, file_key, file_start) == 0 && length > file_start) {
            file = at + file_start;
            file_length = length - file_start;
        } else if (equals(at, length, "readonly=on") || equals(at, length, "readonly=off")) {
            readonly = equals(at, length, "readonly=on") ? "true" : "false";
        } else if (!equals(at, length, "format=raw") && !equals(at, length, "if=none") &&
                   !equals(at, length, "if=virtio") && strncmp(at, "id=", 3) != 0) {
            (void)options_usage_error(&run_interface,
                                      "--drive: '%.*s' is unknown; allowed: file=FILE, readonly=on|off",
                                      (int)length, at);
            return false;
        }
        at += length + (at[length] == ',');
    }
    if (!file || r->drives == DISK_MOST) {
        (void)options_usage_error(&run_interface,
                                  file ? "--drive: a machine has at most %d disks"
                                       : "--drive needs file=FILE[,readonly=on]",
                                  DISK_MOST);
        return false;
    }
    add_disk(r, file, file_length, readonly);
    return true;
}

static bool take_netdev(struct request *r, const char *value)
{
    static const char unix_prefix[] = "unix:";
    size_t prefix = strlen(unix_prefix);
    set(r, "devices.net", "default", strlen("default"));
    if (strcmp(value, "none") == 0)
        return true;
    if (strncmp(value, unix_prefix, prefix) == 0 && value[prefix]) {
        set(r, "devices.net.socket", value + prefix, strlen(value + prefix));
        return true;
    }
    (void)options_usage_error(&run_interface, "--netdev needs unix:PATH or none, not '%s'", value);
    return false;
}

static bool take_max_memory(struct request *r, const char *value)
{
    struct error err;
    if (!quantity_parse(QUANTITY_SIZE, value, &r->user.max_memory, &err))
        (void)options_usage_error(&run_interface, "--max-memory: %s", err.text);
    else if (r->user.max_memory == 0)
        (void)options_usage_error(&run_interface,
                                  "--max-memory: '%s' is not allowed; it must be greater than 0", value);
    else
        return true;
    return false;
}

static bool take_jit(struct request *r, const char *name)
{
    static const char *const known[] = {"off", "on", "always", "check"};
    static const enum jit_mode modes[] = {JIT_OFF, JIT_ON, JIT_ALWAYS, JIT_CHECK};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i]) == 0) {
            const char *lacks = modes[i] >= JIT_ALWAYS ? jit_lacks() : NULL;
            if (!lacks && modes[i] >= JIT_ALWAYS)
                lacks = jit_lacks_llvm();
            r->jit = modes[i];
            r->jit_given = true;
            if (lacks)
                (void)options_usage_error(&run_interface, "--jit=%s: this host has not %s", name, lacks);
            return !lacks;
        }
    (void)options_usage_error(&run_interface, "unknown --jit '%s'%s", name,
                              nearest_allowed(name, known, sizeof known / sizeof *known).text);
    return false;
}

static bool take_jit_memory(struct request *r, const char *value)
{
    struct error err;
    if (!quantity_parse(QUANTITY_SIZE, value, &r->jit_memory, &err))
        (void)options_usage_error(&run_interface, "--jit-memory: %s", err.text);
    else if (r->jit_memory < JIT_MEMORY_LEAST || r->jit_memory > JIT_MEMORY_MOST)
        (void)options_usage_error(&run_interface,
                                  "--jit-memory: '%s' is not allowed; it must be 1 MiB to 1 GiB", value);
    else
        return true;
    return false;
}

static bool take_trap_loops(struct request *r, const char *value)
{
    r->loops_given = true;
    r->bare.trap_loops = 0;
    if (strcmp(value, "off") == 0 || parse_count(value, &r->bare.trap_loops))
        return true;
    (void)options_usage_error(&run_interface,
                              "--trap-loops needs a number from 1 to 18446744073709551615, or off, not '%s'",
                              value);
    return false;
}

static bool take_save_at(struct request *r, const char *value)
{
    r->bare.save_at_region = strcmp(value, "roi") == 0;
    if (r->bare.save_at_region || parse_count(value, &r->bare.save_at))
        return true;
    (void)options_usage_error(
        &run_interface, "--save-at needs a number from 1 to 18446744073709551615, or roi, not '%s'", value);
    return false;
}

static bool take_option(struct request *r, int option, const char *value)
{
    switch (option) {
    case MAX_TIME:
    case DETAIL:
    case CHECK:
    case TRACE:
    case THREADS:
    case PARTITION_STUDY: return take_timing(r, option, value);
    case MACHINE: r->machine = value; return true;
    case SET: r->sets[r->set_count++] = value; return true;
    case ISA: set_isa(r, value); return true;
    case STATS: r->stats = value; return true;
    case VERBOSE: r->verbose = true; return true;
    case ENV: return take_environment(r, value);
    case BIOS: r->bare.bios = value; return true;
    case KERNEL: r->bare.kernel = value; return true;
    case APPEND: r->bare.append = value; return true;
    case INITRD: r->bare.initrd = value; return true;
    case DTB: r->bare.dtb = value; return true;
    case DUMP_DTB: r->dump_dtb = value; return true;
    case DRIVE: return take_drive(r, value);
    case NETDEV: return take_netdev(r, value);
    case FIRMWARE: r->bare.firmware = value; return true;
    case DIR: r->user.dir = value; return true;
    case SYSROOT: r->user.sysroot = value; return true;
    case NET: r->user.net = true; return true;
    case LOG: return take_log(r, value);
    case WARP: return take_warp(r, value);
    case GDB: r->gdb = value; return true;
    case SIGNATURE: r->bare.signature = value; return true;
    case CORE: r->user.core = value; return true;
    case RECORD: r->bare.record = value; return true;
    case REPLAY: r->bare.replay = value; return true;
    case SAVE: r->bare.save = value; return true;
    case SAVE_AT: return take_save_at(r, value);
    case RESTORE: r->bare.restore = value; return true;
    case MAX_MEMORY: return take_max_memory(r, value);
    case TRAP_LOOPS: return take_trap_loops(r, value);
    case JIT: return take_jit(r, value);
    case JIT_BYTES: return take_jit_memory(r, value);
    case MAX_INSNS:
        if (parse_count(value, &r->user.max_insns))
            return true;
        (void)options_usage_error(
            &run_interface, "--max-insns needs a number from 1 to 18446744073709551615, not '%s'", value);
        return false;
    default:
        r->environment[r->user.environment_count++] = value;
        if (strchr(value, '=') && value[0] != '=')
            return true;
        (void)options_usage_error(&run_interface, "--setenv needs NAME=VALUE, not '%s'", value);
        return false;
    }
}

struct named_option {
    bool given;
    const char *name;
};

/* Returns the name of the first of `count` options that is given, or NULL. */
static const char *first_given(const struct named_option *options, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (options[i].given)
            return options[i].name;
    return NULL;
}

/* Returns a given option that only programs in machine mode have; NULL: none. */
static const char *machine_mode_option(const struct request *r)
{
    const struct named_option options[] = {
        {r->bare.bios, "--bios"},
        {r->bare.kernel, "--kernel"},
        {r->bare.append, "--append"},
        {r->bare.initrd, "--initrd"},
        {r->bare.dtb, "--dtb"},
        {r->dump_dtb, "--dump-dtb"},
        {r->bare.restore, "--restore"},
        {r->bare.save, "--save"},
        {r->bare.save_at, "--save-at"},
        {r->bare.save_at_region, "--save-at"},
        {r->bare.record, "--record"},
        {r->bare.replay, "--replay"},
        {r->bare.signature, "--signature"},
        {r->loops_given, "--trap-loops"},
        {r->made_count > r->settings, "--drive or --netdev"},
    };
    return first_given(options, sizeof options / sizeof *options);
}

/* Returns a given option that stops a run between two events, or tells of each instruction, which only one thread of the host can; NULL:
 * none. */
static const char *one_thread_option(const struct request *r)
{
    const struct named_option options[] = {
        {r->gdb, "--gdb"},
        {r->log, "--log"},
        {r->user.max_insns != UINT64_MAX, "--max-insns"},
        {r->user.max_memory, "--max-memory"},
    };
    return first_given(options, sizeof options / sizeof *options);
}

/* Chooses the environment if --env does not, and refuses options that have no effect in it. */
static bool choose_environment(struct request *r)
{
    uint64_t tohost;
    bool firmware = r->bare.bios || r->bare.kernel || r->dump_dtb || r->bare.restore;
    bool saves = r->bare.save || r->bare.save_at || r->bare.save_at_region;
    if (r->env == ENV_CHOOSE)
        r->env = firmware || image_symbol(r->user.program, "tohost", &tohost) ? ENV_BARE : ENV_USER;
    if (r->watched && (!r->log || r->env == ENV_BARE))
        (void)options_usage_error(&run_interface, "--warp needs --log, and a user program");
    else if (r->env == ENV_BARE && r->bare.record && r->bare.replay)
        (void)options_usage_error(&run_interface, "--record and --replay exclude each other");
    else if (saves && (!r->bare.save || r->gdb))
        (void)options_usage_error(&run_interface,
                                  r->bare.save ? "--save: not under gdb, which has its own stops"
                                               : "--save-at says when --save writes its file; give both");
    else if (r->env == ENV_BARE && r->user.environment_count)
        (void)options_usage_error(
            &run_interface, "--setenv is for user programs; programs in machine mode have no environment");
    else if (r->env == ENV_BARE && r->user.core)
        (void)options_usage_error(
            &run_interface, "--core is for user programs; programs in machine mode serve their own traps");
    else if (r->env == ENV_BARE && r->user.net)
        (void)options_usage_error(
            &run_interface, "--net is for programs of Linux; a system has a network device by --netdev");
    else if (r->timing.threads > 1 && one_thread_option(r))
        (void)options_usage_error(
            &run_interface,
            "%s and --threads exclude each other: it looks at the whole machine between two "
            "instructions",
            one_thread_option(r));
    else if (r->env != ENV_BARE && machine_mode_option(r))
        (void)options_usage_error(&run_interface,
                                  "%s: options of machine mode are for --env bare; this run has --env user "
                                  "or kernel, as programs of "
                                  "croft cc without --bare do",
                                  machine_mode_option(r));
    else
        return true;
    return false;
}

/* Handles one option or argument. Program and arguments come last, so only their number is recorded. */
static int take(void *context, int option, const char *value)
{
    struct request *r = context;
    r->last = option == OPTION_ARGUMENT ? NULL : value;
    r->last_option = option;
    if (option != OPTION_ARGUMENT)
        return take_option(r, option, value) ? OPTIONS_TAKEN : 2;
    if (!r->user.program)
        r->user.program = value;
    r->user.argument_count++;
    return OPTIONS_TAKEN;
}

bool request_parse(struct request *r, int argc, char **argv, int *status)
{
    *status = options_parse(&run_interface, argc, argv, take, r);
    if (*status != OPTIONS_TAKEN)
        return false;
    *status = 2;
    if (r->user.program) {
        r->user.arguments = (const char *const *)&argv[argc - (int)r->user.argument_count];
        r->user.environment = r->environment;
    } else if (!r->bare.bios && !r->dump_dtb && !r->bare.restore) {
        if (r->last)
            (void)options_usage_error(&run_interface, "no program given: '%s' is the value of --%s", r->last,
                                      rows[r->last_option].name);
        else
            (void)options_usage_error(&run_interface, "no program given");
        return false;
    }
    return choose_environment(r);
}
