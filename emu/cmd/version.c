#include "emu/cmd/version.h"

#include <stdio.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/jit/jit.h"

const struct option_set version_interface = {
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

static int take(void *context, int option, const char *value)
{
    (void)context, (void)option;
    return options_usage_error(&version_interface, "takes no argument, but '%s' was given", value);
}

int cmd_version(int argc, char **argv)
{
    int status = options_parse(&version_interface, argc, argv, take, NULL);
    if (status != OPTIONS_TAKEN)
        return status;
    const char *lacks = jit_lacks(), *lacks_llvm = lacks ? NULL : jit_lacks_llvm();
    printf("croft %s\nbuilt with %s\n", CROFT_VERSION, COMPILER);
    if (lacks)
        printf("croft run --jit=on compiles nothing here: this host has not %s\n", lacks);
    else if (lacks_llvm)
        printf("croft run --jit=on compiles hot code, but not better what runs long: this host has not %s\n",
               lacks_llvm);
    else
        printf("croft run --jit=on compiles hot code, and better what runs long, by LLVM 14\n");
    return 0;
}
