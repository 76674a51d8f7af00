/* The configuration of offloading by nucd. */
#ifndef EMU_NUCD_CONFIG_H
#define EMU_NUCD_CONFIG_H

#include "emu/sim/part.h"

/* The component that executes offloaded regions: see key nucd.mode. */
enum nucd_mode { NUCD_MODE_NONE, NUCD_MODE_DRIVER, NUCD_MODE_NUCD, NUCD_MODE_IDEAL };
extern const char *const nucd_mode_names[]; /* indexed by value; ends with NULL */

/* How instructions after an unfinished task retire: see key nucd.retire. */
enum nucd_retire { NUCD_RETIRE_INORDER, NUCD_RETIRE_CHECKPOINT };
extern const char *const nucd_retire_names[]; /* indexed by value; ends with NULL */

/* How hosts share the accelerators: see key nucd.arbitration. */
enum nucd_arbitration { NUCD_ROUND_ROBIN, NUCD_FIRST_COME, NUCD_PARTITION };
extern const char *const nucd_arbitration_names[]; /* indexed by value; ends with NULL */

/* The granularity at which tasks are compared with each other and with accesses of the host: see key
 * nucd.ranges. */
enum nucd_granule { NUCD_GRANULE_LINE, NUCD_GRANULE_PAGE, NUCD_GRANULE_ORACLE };
extern const char *const nucd_granule_names[]; /* indexed by value; ends with NULL */

struct nucd_config {
#include "emu/sim/fields_struct.h"

#include "emu/nucd/nucd.def"
};

extern const struct part_kind nucd_kind;

#endif
