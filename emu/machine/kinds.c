/* All kinds of parts. A new mechanism adds its kind here, and nothing else outside its own folder. Parts are
 * made, and components numbered, in this order. */
#include "emu/axram/axram.h"
#include "emu/machine/machine.h"
#include "emu/mem/llc.h"
#include "emu/net/crossbar.h"
#include "emu/net/link.h"
#include "emu/net/network.h"
#include "emu/ngpu/ngpu.h"
#include "emu/nucd/config.h"
#include "emu/tom/tom.h"

const struct part_kind *const machine_kinds[] = {
    &group_kind,    /* emu/machine */
    &dram_kind,     /* emu/dram */
    &link_kind,     /* emu/net */
    &crossbar_kind, /* emu/net */
    &network_kind,  /* emu/net */
    &network_router_kind,
    &network_wire_kind, /* emu/net */
    &llc_kind,          /* emu/mem */
    &core_kind,         /* emu/core */
    &simt_kind,         /* emu/simt */
    &nucd_kind,         /* emu/nucd */
    &tom_unit_kind,     /* emu/tom */
    &tom_pcie_kind,
    &tom_kind,
    &axram_kind, /* emu/axram */
    &ngpu_kind,  /* emu/ngpu */
    NULL,
};
