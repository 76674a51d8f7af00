#include <limits.h>
#include <stdio.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/cmd/paths.h"
#include "emu/machine/plan/plan.h"
#include "emu/schema/machine_list.h"

const struct option_set machines_interface = {
    .command = "croft machines",
    .synopsis = "",
    .summary = "Lists the machines that come with croft, each with its description.",
    .example = "croft machines",
};

/* Prints one line for the machine, or reports the error in its description. */
static bool machine_line(const char *name, const char *folder)
{
    struct machine_config config;
    struct error err;
    bool loaded = machine_load(&config, name, folder, NULL, 0, &err);
    bool fine = loaded && plan_check(&config, &err);
    if (fine)
        (void)printf("%-16s %s\n", name, config.description);
    else
        (void)fprintf(stderr, "croft machines: %s\n", err.text);
    if (loaded)
        machine_free(&config);
    return fine;
}

static int take(void *context, int option, const char *value)
{
    (void)context, (void)option;
    return options_usage_error(&machines_interface, "takes no argument; `croft show %s` shows one machine",
                               value);
}

int cmd_machines(int argc, char **argv)
{
    int status = options_parse(&machines_interface, argc, argv, take, NULL);
    if (status != OPTIONS_TAKEN)
        return status;
    char folder[PATH_MAX];
    struct error err;
    struct machine_list list;
    if (!paths_share("machines", folder, sizeof folder, &err) || !machine_list(&list, folder, &err)) {
        (void)fprintf(stderr, "croft machines: %s\n", err.text);
        return 1;
    }
    status = 0;
    for (size_t i = 0; i < list.count; i++)
        if (!machine_line(list.names[i], folder))
            status = 1;
    machine_list_free(&list);
    return status;
}
