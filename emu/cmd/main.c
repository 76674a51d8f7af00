/* croft: finds and calls the subcommand. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/help/complete.h"
#include "emu/cmd/help/man.h"
#include "emu/cmd/paths.h"
#include "emu/sim/text/nearest.h"

static const struct command commands[] = {
    {"run", cmd_run, "run a program on a machine", &run_interface},
    {"cc", cmd_cc, "compile C programs for the machines", &cc_interface},
    {"c++", cmd_cxx, "compile C++ programs for Linux, which the machines run", &cxx_interface},
    {"experiment", cmd_experiment, "run programs on variants of a machine, and tabulate statistics",
     &experiment_interface},
    {"report", cmd_report, "make a page of an experiment's or a run's results", &report_interface},
    {"net", cmd_net, "drive a network alone, and tabulate latency by injection rate", &net_interface},
    {"dram", cmd_dram, "drive a memory alone with a trace, and print bandwidth and latency", &dram_interface},
    {"neural", cmd_neural, "train neural networks that stand for marked functions", &neural_interface},
    {"candidates", cmd_candidates, "find blocks of code that are worth executing near memory",
     &candidates_interface},
    {"pages", cmd_pages, "tell how blocks of threads share the pages of a memory trace, and place them",
     &pages_interface},
    {"disasm", cmd_disasm, "disassemble a program, or single instructions", &disasm_interface},
    {"machines", cmd_machines, "list the machines that come with croft", &machines_interface},
    {"show", cmd_show, "print a machine's description, every key explained", &show_interface},
    {"version", cmd_version, "print the version", &version_interface},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(void)
{
    printf("usage: croft COMMAND [ARGS...]\nAn instruction-set emulator of RISC-V machines that compute near "
           "their "
           "memory.\n\ncommands:\n");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  %-12s%s\n", commands[i].name, commands[i].help);
    printf("  %-12s%s\n", "help",
           "print this text, or a command's: croft help run; with --man, as a manual page");
    paths_print(
        "\n$DOC/README.md is the way in, isa/MANUAL.md beside it the manual;\n$DOC/examples has programs, "
        "machines, networks and experiments.\n"
        "\nexample: croft cc -O2 $DOC/examples/hello.c -o hello && croft run hello\n");
}

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

static int unknown(const char *name)
{
    const char *names[COMMANDS + 1] = {"help"};
    for (size_t i = 0; i < COMMANDS; i++)
        names[i + 1] = commands[i].name;
    const char *near = nearest_name(name, names, COMMANDS + 1);
    if (access(name, R_OK) == 0)
        fprintf(stderr, "croft: unknown command '%s'; to run a program of that name: croft run %s\n", name,
                name);
    else if (near)
        fprintf(stderr, "croft: unknown command '%s'; did you mean '%s'?\n", name, near);
    else
        fprintf(stderr, "croft: unknown command '%s'; 'croft --help' lists the commands\n", name);
    return 2;
}

/* Returns why output could not be written, or 0. A write that failed before has left no reason; of an output that is incomplete
 * anyway, one more character tells it. */
static int output_error(void)
{
    if (fflush(stdout) != 0)
        return errno;
    if (!ferror(stdout))
        return 0;
    clearerr(stdout);
    return fputc('\n', stdout) == EOF || fflush(stdout) != 0 ? errno : EIO;
}

/* Returns a command's status, or 1 if it succeeded but its output could not be written. */
static int finish(const char *name, int status)
{
    const int reason = output_error();
    if (status != 0 || reason == 0)
        return status;
    fprintf(stderr, "croft %s: the output cannot be written: %s\n", name, strerror(reason));
    return 1;
}

/* croft help --man [COMMAND] */
static int manual(int argc, char **argv)
{
    const struct command *command = argc > 2 ? find(argv[2]) : NULL;
    if (argc > 2 && !command)
        return unknown(argv[2]);
    if (command)
        man_command(command);
    else
        man_croft(commands, COMMANDS);
    return finish("help", 0);
}

static int help(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--man") == 0)
        return manual(argc, argv);
    if (argc < 2 || strcmp(argv[1], "help") == 0 || strncmp(argv[1], "-", 1) == 0) {
        print_help();
        return finish("help", 0);
    }
    const struct command *command = find(argv[1]);
    char option[] = "--help";
    char *arguments[] = {argv[1], option, NULL};
    return command ? finish(argv[1], command->run(2, arguments)) : unknown(argv[1]);
}

/* Opens closed standard streams, so that no file that croft opens becomes one of the program's standard
 * streams. */
static void hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    if (argc < 2) {
        fprintf(stderr, "croft: no command given; 'croft --help' lists the commands\n");
        return 2;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(name, "complete") == 0) /* for the shells' completion, which emu/cmd/help has */
        return finish(name, complete(commands, COMMANDS, argc - 2, argv + 2));
    if (strcmp(name, "--version") == 0)
        name = "version";
    const struct command *command = find(name);
    return command ? finish(name, command->run(argc - 1, argv + 1)) : unknown(name);
}
