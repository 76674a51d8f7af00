#include "emu/env/user_harts.h"

#include "emu/env/loader/elf.h"
#include "emu/env/tasks_part.h"

unsigned user_harts_hosts(const struct machine_config *machine)
{
    return machine_timed(machine) && !tasks_wanted(machine->tree) ? machine->host_count : 1;
}

bool user_harts_init(struct user_harts *user, const struct machine_config *machine, const char *firmware,
                     struct phys *memory, const struct decoder *decoder, struct error *err)
{
    unsigned accelerators = tasks_count(machine->tree, firmware);
    *user = (struct user_harts){.program = tasks_program_memory(machine->tree, firmware, memory)};
    if (!system_init_user(&user->system, user_harts_hosts(machine), accelerators, memory, decoder, err))
        return false;
    const struct tasks_options options = {.tree = machine->tree,
                                          .firmware = firmware,
                                          .load = elf_load_firmware,
                                          .memory = memory,
                                          .harts = user->system.harts,
                                          .count = user->system.count,
                                          .bus = &user->system.bus};
    user->tasks = tasks_new(&options, err);
    if (user->tasks || accelerators == 0)
        return true;
    user_harts_free(user);
    return false;
}

void user_harts_free(struct user_harts *user)
{
    system_free(&user->system);
    tasks_free(user->tasks);
    *user = (struct user_harts){0};
}
