/* The part kind `nucd`: the configuration of offloading by nucd. */
#include "emu/nucd/config.h"
#include "emu/sim/text.h"
#include "linker/map.h"

const char *const nucd_mode_names[] = {[NUCD_MODE_NONE] = "none",
                                       [NUCD_MODE_DRIVER] = "driver",
                                       [NUCD_MODE_NUCD] = "nucd",
                                       [NUCD_MODE_IDEAL] = "ideal",
                                       NULL};

#define PART struct nucd_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/nucd/nucd.def"
};

const struct part_kind nucd_kind = {
    .name = "nucd",
    .explanation =
        "Offloading by nucd: task units of accelerators, and the offload engine beside the host's core.",
    .config_size = sizeof(struct nucd_config),
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .functional = "",
};
