/* What offloading by nucd is described by. */
#ifndef EMU_NUCD_CONFIG_H
#define EMU_NUCD_CONFIG_H

#include "emu/sim/part.h"

/* Who takes regions. */
enum nucd_mode { NUCD_MODE_NONE, NUCD_MODE_DRIVER, NUCD_MODE_NUCD, NUCD_MODE_IDEAL };
extern const char *const nucd_mode_names[]; /* by value, then NULL */

struct nucd_config {
#include "emu/sim/fields_struct.h"

#include "emu/nucd/nucd.def"
};

extern const struct part_kind nucd_kind;

#endif
