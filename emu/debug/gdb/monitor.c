#include "emu/debug/gdb/monitor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"
#include "isa/disasm.h"

enum { COLUMNS = 4, DESCRIPTION = 128, SHOWN = 64 /* bytes of an unknown command that the answer repeats */ };

struct request {
    const struct gdb_target *target;
    unsigned thread;
    const char *argument; /* the rest of the line; "" if there is none */
    FILE *out;
};

typedef void command_run(const struct request *request);

static command_run run_help, run_lanes, run_machine, run_regs, run_reset, run_stats, run_threads;

static const struct {
    const char *name;
    const char *help;
    command_run *run;
} commands[] = {
    {"help", "this list", run_help},
    {"lanes",
     "which threads of multiprocessors are listed: lanes warp: the warp's that stopped and one of each other "
     "warp; "
     "lanes all",
     run_lanes},
    {"machine", "the machine's resolved description", run_machine},
    {"regs", "pc, privilege and registers of the selected thread", run_regs},
    {"reset", "restart the machine from its first instruction", run_reset},
    {"stats",
     "the statistics since the start or the last reset; stats PATTERN: those whose names match, as in dram.*",
     run_stats},
    {"threads", "what each hart is doing", run_threads},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void run_help(const struct request *request)
{
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(request->out, "%-9s%s\n", commands[i].name, commands[i].help);
}

static void run_lanes(const struct request *request)
{
    if (request->target->ops->lanes)
        request->target->ops->lanes(request->target->target, request->argument, request->out);
    else
        fputs("there are no multiprocessors here\n", request->out);
}

static void run_machine(const struct request *request)
{
    if (request->target->ops->machine)
        request->target->ops->machine(request->target->target, request->out);
    else
        fputs("there is no machine description here\n", request->out);
}

static uint64_t read_register(const struct request *request, unsigned number)
{
    uint64_t value = 0;
    (void)request->target->ops->register_read(request->target->target, request->thread, number, &value);
    return value;
}

static void print_registers(const struct request *request, const char *const names[32], unsigned first)
{
    for (unsigned i = 0; i < 32; i++)
        fprintf(request->out, "%-4s 0x%016" PRIx64 "%s", names[i], read_register(request, first + i),
                i % COLUMNS == COLUMNS - 1 ? "\n" : "  ");
}

static void run_regs(const struct request *request)
{
    static const char *const modes[] = {"user", "supervisor", "reserved", "machine"};
    fprintf(request->out, "pc   0x%016" PRIx64 "  %s mode\n", read_register(request, GDB_REGISTER_PC),
            modes[read_register(request, GDB_REGISTER_PRIV) & 3]);
    print_registers(request, register_name, GDB_REGISTER_X);
    print_registers(request, fp_register_name, GDB_REGISTER_F);
}

static void run_reset(const struct request *request)
{
    const struct gdb_target_ops *ops = request->target->ops;
    if (!ops->reset)
        fputs("a user program cannot be reset: start croft again\n", request->out);
    else if (ops->reset(request->target->target, request->out))
        fputs("reset; `maintenance flush register-cache` makes gdb read the new registers\n", request->out);
}

static void run_stats(const struct request *request)
{
    const struct gdb_target_ops *ops = request->target->ops;
    if (ops->statistics)
        ops->statistics(request->target->target, request->argument[0] ? request->argument : NULL,
                        request->out);
    else
        fputs("there are no statistics here\n", request->out);
}

static void run_threads(const struct request *request)
{
    const struct gdb_target *target = request->target;
    unsigned count = target->ops->thread_count(target->target);
    for (unsigned i = 0; i < count; i++) {
        char text[DESCRIPTION];
        uint64_t pc = 0;
        if (target->ops->listed && !target->ops->listed(target->target, i))
            continue;
        target->ops->thread_describe(target->target, i, text, sizeof text);
        (void)target->ops->register_read(target->target, i, GDB_REGISTER_PC, &pc);
        fprintf(request->out, "%c thread %u: %s, pc 0x%" PRIx64 "\n", i == request->thread ? '*' : ' ', i + 1,
                text, pc);
    }
}

/* Returns the number of the command that the line begins with, and sets *argument to the rest; COMMANDS if there is
 * none, or if it takes no argument and is given one. */
static size_t find_command(const char *line, const char **argument)
{
    const size_t length = strcspn(line, " ");
    *argument = line + length + strspn(line + length, " ");
    for (size_t i = 0; i < COMMANDS; i++)
        if (strlen(commands[i].name) == length && memcmp(line, commands[i].name, length) == 0 &&
            ((*argument)[0] == '\0' || commands[i].run == run_stats || commands[i].run == run_lanes))
            return i;
    return COMMANDS;
}

static void answer_unknown(const struct request *request, const char *line)
{
    const char *names[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    const char *near = nearest_name(line, names, COMMANDS);
    fprintf(request->out, "unknown monitor command '%.*s'", SHOWN, line);
    if (near)
        fprintf(request->out, "; did you mean '%s'?\n", near);
    else
        fputs("; `monitor help` lists the commands\n", request->out);
}

char *gdb_monitor(const struct gdb_target *target, unsigned thread, const char *line, size_t *length)
{
    char *text = NULL;
    struct request request = {.target = target, .thread = thread, .out = open_memstream(&text, length)};
    if (!request.out)
        alloc_failed();
    const size_t found = find_command(line, &request.argument);
    if (found < COMMANDS)
        commands[found].run(&request);
    else if (line[0] == '\0')
        run_help(&request);
    else
        answer_unknown(&request, line);
    if (fclose(request.out) != 0)
        alloc_failed();
    return text;
}
