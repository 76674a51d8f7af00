#include "emu/cmd/run/setting.h"

#include <stdio.h>
#include <string.h>

#include "emu/cmd/paths.h"
#include "emu/env/tasks_part.h"
#include "emu/sim/text/say.h"
#include "isa/decoder/set.h"

/* Copies the name of the part at the top that a key belongs to, if the machine has none of its copies (accel.count=0). */
static bool is_missing(const struct machine_config *machine, const char *key, char part[MACHINE_SOURCE])
{
    const size_t length = strcspn(key, ".");
    (void)snprintf(part, MACHINE_SOURCE, "%.*s", (int)length, key);
    return key[length] && !strchr(part, '*') && !tree_find(machine->tree, part);
}

void setting_warn(const struct machine_config *machine, bool user)
{
    enum { NAMES = 64 };
    const char *names[NAMES];
    char source[MACHINE_SOURCE], part[MACHINE_SOURCE];
    size_t count = tree_unused(machine->tree, names, NAMES);
    for (size_t i = 0; i < count && i < NAMES; i++) {
        machine_source(machine, names[i], source);
        if (is_missing(machine, names[i], part)) {
            if (strcmp(source, "--set") == 0) /* what a description says of a part waits until there is one */
                say_warning("%s (--set) has no effect, because %s.count is 0", names[i], part);
            continue;
        }
        say_warning("%s (%s) has no effect on %s", names[i], source,
                    machine_timed(machine) ? "this kind of core" : "a functional core");
    }
    if (user)
        tasks_warn_without_kernel(machine->tree);
}

/* What host/kernel.mk and firmware/firmware.mk compile for, and what their assembly adds: both switch floating-point
 * contexts, the kernel counts cycles and maintains caches. */
#define KERNEL_ISA   "rv64imafdc_zicbom_zicntr_zicsr_zifencei"
#define FIRMWARE_ISA "rv64imafdc_zicsr_zifencei"

static bool needs(const struct machine_config *machine, const char *isa, const char *who, struct error *err)
{
    char text[ISA_STRING], message[ISA_MESSAGE], source[MACHINE_SOURCE];
    uint64_t set = 0;
    if (!isa_parse(isa, &set, message) || !(set & ~machine->isa))
        return true;
    machine_source(machine, "isa", source);
    isa_string(set & ~machine->isa, text);
    return error_set(err, "isa (%s): %s uses extensions that the harts lack: %s; allowed: %s and more",
                     source, who, text + strlen("rv64"), isa);
}

bool setting_isa(const struct machine_config *machine, bool kernel, bool firmware, struct error *err)
{
    if (kernel && !needs(machine, KERNEL_ISA, "the kernel of --env kernel", err))
        return false;
    return !firmware || !tasks_wanted(machine->tree) ||
           needs(machine, FIRMWARE_ISA, "the firmware of the accelerators", err);
}

bool setting_own_firmware(char path[PATH_MAX], struct error *err)
{
    for (const struct part_kind *const *kind = machine_kinds; *kind; kind++) {
        const struct tasks_kind *tasks = (*kind)->tasks;
        if (tasks)
            return paths_share(tasks->firmware, path, PATH_MAX, err);
    }
    return error_set(err, "no kind of part takes tasks");
}

bool setting_firmware(const struct machine_config *machine, const char *given, bool bare, char path[PATH_MAX],
                      struct error *err)
{
    path[0] = '\0';
    if (given && !tasks_wanted(machine->tree))
        return error_set(err, "--firmware: machine '%s' has no accelerators with task units, as nucd has",
                         machine->name);
    if (given && (size_t)snprintf(path, PATH_MAX, "%s", given) >= PATH_MAX)
        return error_set(err, "--firmware: '%.64s...' is too long", given);
    if (!given && !bare && tasks_wanted(machine->tree))
        return setting_own_firmware(path, err);
    return true;
}
