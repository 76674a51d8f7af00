/* All kinds of parts, one per line. A new mechanism adds its kind here and nothing else outside its room.
 * Parts are made, and components numbered, in this order. */
#include "emu/machine/machine.h"
#include "emu/mem/llc.h"
#include "emu/net/crossbar.h"
#include "emu/net/link.h"
#include "emu/nucd/config.h"

const struct part_kind *const machine_kinds[] = {
    &group_kind, &dram_kind, &link_kind, &crossbar_kind, &llc_kind, &core_kind, &simt_kind, &nucd_kind, NULL,
};
