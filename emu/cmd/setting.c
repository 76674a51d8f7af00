#include "emu/cmd/setting.h"

#include <stdio.h>

#include "emu/cmd/paths.h"
#include "emu/machine/offload.h"

void setting_warn(const struct machine_config *machine, bool user)
{
    enum { NAMES = 64 };
    const char *names[NAMES];
    char source[MACHINE_SOURCE];
    size_t count = tree_unused(machine->tree, names, NAMES);
    for (size_t i = 0; i < count && i < NAMES; i++) {
        machine_source(machine, names[i], source);
        fprintf(stderr, "croft run: warning: %s (%s) has no effect on %s\n", names[i], source,
                machine_timed(machine) ? "this kind of core" : "a functional core");
    }
    if (user && offload_wanted(machine) && machine->nucd->mode == NUCD_MODE_DRIVER) {
        machine_source(machine, "nucd.mode", source);
        fprintf(
            stderr,
            "croft run: warning: nucd.mode (%s): the driver is in the kernel: without --env kernel the host "
            "runs all regions\n",
            source);
    }
}

void setting_warn_regions(const struct machine_config *machine, const char *option)
{
    if (!option || !offload_wanted(machine))
        return;
    enum nucd_mode mode = machine->nucd->mode;
    if (mode == NUCD_MODE_NUCD || mode == NUCD_MODE_IDEAL)
        fprintf(
            stderr,
            "croft run: warning: %s does not show what accelerators execute; with --set nucd.mode=none the "
            "host runs all regions, and --env kernel shows all harts\n",
            option);
}

bool setting_firmware(const struct machine_config *machine, const char *given, bool bare, char path[PATH_MAX],
                      struct error *err)
{
    path[0] = '\0';
    if (given && !offload_wanted(machine))
        return error_set(err, "--firmware: machine '%s' has no accelerators with task units, as nucd has",
                         machine->name);
    if (given && (size_t)snprintf(path, PATH_MAX, "%s", given) >= PATH_MAX)
        return error_set(err, "--firmware: '%.64s...' is too long", given);
    if (!given && !bare && offload_wanted(machine))
        return paths_share("firmware/nucd.elf", path, PATH_MAX, err);
    return true;
}
