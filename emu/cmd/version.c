#include "emu/cmd/version.h"

#include <stdio.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"

static const struct option_set interface = {
    .command = "croft version",
    .synopsis = "",
    .summary = "Prints the version of croft and how it was built.",
    .example = "croft version",
};

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

int cmd_version(int argc, char **argv)
{
    const char *value;
    struct options options = options_start(&interface, argc, argv);
    switch (options_next(&options, &value)) {
    case OPTION_HELP: return 0;
    case OPTION_ERROR: return 2;
    case OPTION_ARGUMENT:
        return options_usage_error(&interface, "takes no argument, but '%s' was given", value);
    default: break;
    }
    printf("croft %s\nbuilt with %s\n", CROFT_VERSION, COMPILER);
    return 0;
}
