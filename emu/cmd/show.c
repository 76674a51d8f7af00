#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/cmd/paths.h"
#include "emu/machine/machine.h"
#include "emu/schema/renames.h"

enum { OPTION_SET, OPTION_MIGRATE };

static const struct option_row rows[] = {
    [OPTION_SET] = {"set", 0, "NAME=VALUE", "give a key another value; may be repeated"},
    [OPTION_MIGRATE] = {"migrate", 0, "FILE", "instead, write the description FILE with today's keys"},
};

static const struct option_set interface = {
    .command = "croft show",
    .synopsis = "[options] MACHINE | --migrate FILE",
    .summary = "Prints a machine's resolved description as YAML, with every key explained.",
    .example = "croft show functional --set memory.size=2GiB",
    .notes = "MACHINE is a name that `croft machines` lists, or a file (its path contains a '/' or ends in "
             ".yaml).\n"
             "--migrate keeps order and values of FILE and what it extends, but not its comments.\n",
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
};

/* What the command line asks for. */
struct request {
    const char *machine;
    const char *old;   /* of --migrate, or NULL */
    const char **sets; /* room for argc of them */
    size_t set_count;
};

static int take(void *context, int option, const char *value)
{
    struct request *request = context;
    if (option == OPTION_SET)
        request->sets[request->set_count++] = value;
    else if (option == OPTION_MIGRATE)
        request->old = value;
    else if (request->machine)
        return options_usage_error(&interface, "one MACHINE at a time; '%s' is a second one", value);
    else
        request->machine = value;
    return OPTIONS_TAKEN;
}

static int flushed(void)
{
    if (fflush(stdout) != EOF && !ferror(stdout))
        return 0;
    (void)fprintf(stderr, "croft show: the output cannot be written: %s\n", strerror(errno));
    return 1;
}

static int migrate(const struct request *request)
{
    struct error err;
    if (renames_migrate(request->old, stdout, &err))
        return flushed();
    (void)fprintf(stderr, "croft show: %s\n", err.text);
    return 2;
}

static int show(const struct request *request)
{
    if (!request->machine)
        return options_usage_error(&interface,
                                   "which MACHINE? `croft machines` lists those that are shipped");
    char folder[PATH_MAX];
    struct error err;
    struct machine_config config;
    if (!paths_share("machines", folder, sizeof folder, &err) ||
        !machine_load(&config, request->machine, folder, request->sets, request->set_count, &err)) {
        (void)fprintf(stderr, "croft show: %s\n", err.text);
        return 2; /* the machine is part of the command line */
    }
    machine_show(&config, stdout);
    machine_free(&config);
    return flushed();
}

int cmd_show(int argc, char **argv)
{
    struct request request = {.sets = calloc((size_t)argc + 1, sizeof *request.sets)};
    if (!request.sets)
        abort();
    int status = options_parse(&interface, argc, argv, take, &request);
    if (status == OPTIONS_TAKEN)
        status = request.old ? migrate(&request) : show(&request);
    free(request.sets);
    return status;
}
