#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/cmd/paths.h"
#include "emu/io/output.h"
#include "emu/machine/describe/graph.h"
#include "emu/machine/plan/plan.h"
#include "emu/schema/renames.h"
#include "emu/sim/alloc.h"

enum { OPTION_SET, OPTION_GRAPH, OPTION_MIGRATE };

static const struct option_row rows[] = {
    [OPTION_SET] = {"set", 0, "NAME=VALUE",
                    "change a key; may be repeated. A|B=VALUE: of several names, those that it has"},
    [OPTION_GRAPH] = {"graph", 0, "FILE",
                      "draw the parts and their links instead: FILE.svg, .png, .dot; - for text"},
    [OPTION_MIGRATE] = {"migrate", 0, "FILE", "print the description FILE with current keys instead"},
};

const struct option_set show_interface = {
    .command = "croft show",
    .synopsis = "[options] MACHINE | --migrate FILE",
    .summary = "Prints a machine's resolved description as YAML, with every key explained.",
    .example = "croft show functional --set memory.size=2GiB",
    .notes =
        "MACHINE is a name that `croft machines` lists, or a file (its path contains a '/' or ends in "
        ".yaml).\n"
        "--migrate keeps the order, values and comments of FILE and what it extends. A comment behind a key\n"
        "moves above it. A comment names each key that is left out.\n",
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
};

/* The parsed command line. */
struct request {
    const char *machine;
    const char *old;   /* FILE of --migrate, or NULL */
    const char *graph; /* FILE of --graph, or NULL */
    const char **sets; /* room for argc entries */
    size_t set_count;
};

static int take(void *context, int option, const char *value)
{
    struct request *request = context;
    if (option == OPTION_SET)
        request->sets[request->set_count++] = value;
    else if (option == OPTION_GRAPH)
        request->graph = value;
    else if (option == OPTION_MIGRATE)
        request->old = value;
    else if (request->machine)
        return options_usage_error(&show_interface, "one MACHINE at a time; '%s' is a second one", value);
    else
        request->machine = value;
    return OPTIONS_TAKEN;
}

static int migrate(const struct request *request)
{
    struct error err;
    if (renames_migrate(request->old, stdout, &err))
        return 0;
    (void)fprintf(stderr, "croft show: %s\n", err.text);
    return 2;
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

/* Runs Graphviz's dot to lay out the graph and write it in `format` to the file at `path`. */
static bool run_dot(const struct machine_config *machine, const char *format, const char *path,
                    struct error *err)
{
    char command[PATH_MAX + 64];
    (void)snprintf(command, sizeof command, "dot -T%s", format);
    struct output *file = output_open(path, err);
    if (!file)
        return error_prefix(err, "--graph");
    int old = dup(STDOUT_FILENO);
    bool fine = old >= 0 && fflush(stdout) == 0 && dup2(fileno(output_stream(file)), STDOUT_FILENO) >= 0;
    void (*on_pipe)(int) =
        signal(SIGPIPE, SIG_IGN); /* if dot is missing, the shell exits before it has read the graph */
    FILE *dot = fine ? popen(command, "we") : NULL;
    fine = dot && graph_dot(machine, dot, err);
    int status = dot ? pclose(dot) : -1;
    (void)signal(SIGPIPE, on_pipe);
    (void)dup2(old, STDOUT_FILENO);
    (void)close(old);
    if (fine && status == 0)
        return output_keep(file, err) || error_prefix(err, "--graph");
    output_drop(file);
    if (dot && !fine)
        return false;
    return error_set(err, "--graph: Graphviz's command dot has failed; is the package "
                          "graphviz installed? FILE.dot and - "
                          "need none");
}

static bool draw(const struct machine_config *machine, const char *path, struct error *err)
{
    if (strcmp(path, "-") == 0)
        return graph_text(machine, stdout, err);
    if (ends_in(path, ".svg") || ends_in(path, ".png"))
        return run_dot(machine, path + strlen(path) - 3, path, err);
    if (!ends_in(path, ".dot"))
        return error_set(
            err, "--graph: '%s' is not a picture; name a FILE.svg, FILE.png or FILE.dot, or - for text",
            path);
    struct output *file = output_open(path, err);
    if (!file)
        return error_prefix(err, "--graph");
    if (graph_dot(machine, output_stream(file), err))
        return output_keep(file, err) || error_prefix(err, "--graph");
    output_drop(file);
    return false;
}

static int show(const struct request *request)
{
    if (!request->machine)
        return options_usage_error(&show_interface,
                                   "no MACHINE given; `croft machines` lists the shipped machines");
    char folder[PATH_MAX];
    struct error err;
    struct machine_config config;
    if (!paths_share("machines", folder, sizeof folder, &err) ||
        !machine_load(&config, request->machine, folder, request->sets, request->set_count, &err)) {
        (void)fprintf(stderr, "croft show: %s\n", err.text);
        return 2; /* the machine is part of the command line, so an error in it is a usage error */
    }
    bool shown = plan_check(&config, &err);
    if (shown && request->graph)
        shown = draw(&config, request->graph, &err);
    else if (shown)
        machine_show(&config, stdout);
    machine_free(&config);
    if (!shown) {
        (void)fprintf(stderr, "croft show: %s\n", err.text);
        return 2;
    }
    return 0;
}

int cmd_show(int argc, char **argv)
{
    struct request request = {.sets = alloc((size_t)argc + 1, sizeof *request.sets)};
    int status = options_parse(&show_interface, argc, argv, take, &request);
    if (status == OPTIONS_TAKEN)
        status = request.old ? migrate(&request) : show(&request);
    free(request.sets);
    return status;
}
