/* The part kind `nucd`: the configuration of offloading by nucd. */
#include <inttypes.h>

#include "emu/nucd/description.h"
#include "emu/nucd/environment/environment.h"
#include "emu/schema/assembly.h"
#include "emu/sim/text/text.h"
#include "linker/map.h"

const char *const nucd_mode_names[] = {[NUCD_MODE_NONE] = "none",
                                       [NUCD_MODE_DRIVER] = "driver",
                                       [NUCD_MODE_NUCD] = "nucd",
                                       [NUCD_MODE_IDEAL] = "ideal",
                                       NULL};

const char *const nucd_retire_names[] = {
    [NUCD_RETIRE_INORDER] = "inorder", [NUCD_RETIRE_CHECKPOINT] = "checkpoint", NULL};

const char *const nucd_arbitration_names[] = {[NUCD_ROUND_ROBIN] = "round_robin",
                                              [NUCD_FIRST_COME] = "first_come",
                                              [NUCD_PARTITION] = "partition",
                                              NULL};

const char *const nucd_granule_names[] = {
    [NUCD_GRANULE_LINE] = "line", [NUCD_GRANULE_PAGE] = "page", [NUCD_GRANULE_ORACLE] = "oracle", NULL};

#define PART struct nucd_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/nucd/nucd.def"
};

static void derive(void *part, const bool given[])
{
    enum { TRANSFER_LINES = 4 };
    struct nucd_config *config = part, derived = *config;
    derived.transfer_lines = config->queue_lines < TRANSFER_LINES ? config->queue_lines : TRANSFER_LINES;
    part_take(&nucd_kind, 0, config, &derived, given);
}

static bool check(const void *part, struct error *err)
{
    const struct nucd_config *config = part;
    return config->transfer_lines <= config->queue_lines ||
           error_set(err,
                     "transfer_lines: %" PRIu32 " is not allowed; allowed: 2 to %" PRIu32
                     ", the value of nucd.queue_lines, because a transfer goes into one work queue",
                     config->transfer_lines, config->queue_lines);
}

static bool allows(const struct assembly *assembly, const struct instance *part, struct error *err)
{
    (void)part;
    return nucd_check_memory(assembly->tree, assembly->memory_base, assembly->memory_size,
                             assembly->stack_size, err);
}

static const struct assembly_hooks hooks = {.fixed = true, .allows = allows, .inlined = nucd_warn_inlined};

const struct part_kind nucd_kind = {
    .name = "nucd",
    .explanation =
        "Offloading by nucd: task units of accelerators, and the offload engine beside the host's core.",
    PART_CONFIG(struct nucd_config),
    .functional = "",
    .tasks = &nucd_tasks,
    .hooks = &hooks,
    .derive = derive,
    .check = check,
};
