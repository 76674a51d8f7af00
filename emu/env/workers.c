#include "emu/env/workers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "emu/env/elf.h"
#include "emu/machine/system.h"
#include "linker/map.h"

struct workers {
    struct workers_options options;
    struct offload *offload;
};

unsigned workers_count(const struct machine_config *machine, const char *firmware)
{
    return firmware && offload_wanted(machine) ? (unsigned)machine->accel_count : 0;
}

struct phys workers_program_memory(const struct machine_config *machine, const char *firmware,
                                   const struct phys *memory)
{
    return workers_count(machine, firmware) ? offload_program_memory(machine, memory) : *memory;
}

/* Loads the firmware into its memory, whose upper half is for stacks. */
static bool load(const struct workers_options *o, uint64_t *entry, struct error *err)
{
    struct phys memory = offload_firmware_memory(o->machine, o->memory);
    const struct phys window = {memory.bytes, CROFT_NUCD_FIRMWARE, memory.size / 2};
    struct elf_program program;
    if (!elf_load(&program, o->firmware, ELF_PHYSICAL, &(struct bytes){&window, NULL}, err))
        return error_prefix(err, "--firmware");
    *entry = program.entry - CROFT_NUCD_FIRMWARE + memory.base;
    return true;
}

bool workers_restart(struct workers *workers, struct error *err)
{
    uint64_t entry = 0;
    if (!workers)
        return true;
    if (!load(&workers->options, &entry, err))
        return false;
    offload_reset(workers->offload, entry);
    return true;
}

struct workers *workers_new(const struct workers_options *o, struct error *err)
{
    unsigned count = workers_count(o->machine, o->firmware);
    if (count == 0)
        return NULL;
    const struct offload_options options = {.machine = o->machine,
                                            .harts = o->harts + (o->count - count),
                                            .count = count,
                                            .memory = o->memory,
                                            .done = o->done};
    struct workers *workers = malloc(sizeof *workers);
    if (!workers)
        abort();
    *workers = (struct workers){.options = *o, .offload = offload_new(&options, o->bus, err)};
    if (workers->offload && workers_restart(workers, err))
        return workers;
    workers_free(workers);
    return NULL;
}

void workers_free(struct workers *workers)
{
    if (!workers)
        return;
    offload_free(workers->offload);
    free(workers);
}

void workers_set_ranges(struct workers *workers, uint64_t table)
{
    if (workers)
        offload_set_ranges(workers->offload, table);
}

void workers_protect(struct workers *workers, uint64_t first)
{
    if (workers)
        offload_protect(workers->offload, first);
}

bool workers_overflowed(const struct workers *workers, unsigned accelerator, uint64_t address, uint64_t *size)
{
    uint64_t firmware, first;
    if (!workers)
        return false;
    offload_stack(workers->offload, accelerator, &firmware, &first, size);
    return address >= firmware && address < first;
}

struct offload *workers_offload(const struct workers *workers)
{
    return workers ? workers->offload : NULL;
}

bool user_harts_init(struct user_harts *user, const struct machine_config *machine, const char *firmware,
                     struct phys *memory, const struct decoder *decoder, struct error *err)
{
    unsigned accelerators = workers_count(machine, firmware);
    *user = (struct user_harts){.program = workers_program_memory(machine, firmware, memory)};
    if (!system_init_user(&user->system, accelerators, memory, decoder, err))
        return false;
    const struct workers_options options = {.machine = machine,
                                            .firmware = firmware,
                                            .memory = memory,
                                            .harts = user->system.harts,
                                            .count = user->system.count,
                                            .bus = &user->system.bus};
    user->workers = workers_new(&options, err);
    if (user->workers || accelerators == 0)
        return true;
    user_harts_free(user);
    return false;
}

void user_harts_free(struct user_harts *user)
{
    system_free(&user->system);
    workers_free(user->workers);
    *user = (struct user_harts){0};
}
