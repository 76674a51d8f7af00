/* All kinds of parts, and the parts that a machine has under fixed names. A new mechanism adds its kind to the list, and nothing
 * else outside its own folder. Parts are made, and components numbered, in the order of the list. */
#include "emu/machine/describe/root.h"
#include "emu/machine/machine.h"
#include "linker/map.h"

#define KINDS(KIND)                                                                                          \
    KIND(group)    /* emu/machine */                                                                         \
    KIND(dram)     /* emu/dram */                                                                            \
    KIND(link)     /* emu/net */                                                                             \
    KIND(crossbar) /* emu/net */                                                                             \
    KIND(network)  /* emu/net */                                                                             \
    KIND(network_router)                                                                                     \
    KIND(network_wire)                                                                                       \
    KIND(llc)      /* emu/mem */                                                                             \
    KIND(core)     /* emu/core */                                                                            \
    KIND(simt)     /* emu/simt */                                                                            \
    KIND(nucd)     /* emu/nucd */                                                                            \
    KIND(tom_unit) /* emu/tom */                                                                             \
    KIND(tom_pcie)                                                                                           \
    KIND(tom)                                                                                                \
    KIND(axram) /* emu/axram */                                                                              \
    KIND(ngpu)  /* emu/ngpu */                                                                               \
    KIND(stash) /* emu/stash */                                                                              \
    KIND(dma)   /* emu/stash/dma */

#define DECLARE(name) extern const struct part_kind name##_kind;
KINDS(DECLARE)

#define LIST(name) &name##_kind,
const struct part_kind *const machine_kinds[] = {KINDS(LIST) NULL};

static const struct part_default host_defaults[] = {
    {"clock", "2 GHz", "ours: the NUCD paper names no clocks"},
    {NULL, NULL, NULL},
};
static const struct part_default accel_defaults[] = {
    {"memory", "crossbar", "NUCD paper, section IV"},
    {"core", "inorder", "NUCD paper, Table I"},
    {"clock", "1 GHz", "ours: the NUCD paper names no clocks"},
    {NULL, NULL, NULL},
};
static const struct part_default l2_defaults[] = {
    {"clock", "@host.0.clock", "the host's clock"},
    {NULL, NULL, NULL},
};

const struct part_role root_roles[] = {
    {.name = "memory", .kind = &memory_kind, .explanation = ROOT_MEMORY_MEANING},
    {.name = "user_stack",
     .kind = &user_stack_kind,
     .explanation = "The user program's stack, at the top of main memory."},
    {.name = "host",
     .kind = &core_kind,
     .many = true,
     .initial = "1",
     .most = TEXT_VALUE(ROOT_HARTS),
     .explanation = "The host processor: the cores that run the program.",
     .counts = "Number of cores; a user program begins on the first, and its threads run on the others. The "
               "functional core "
               "ignores this key.",
     .defaults = host_defaults},
    {.name = "accel",
     .kind = &core_kind,
     .presence = PART_OPTIONAL,
     .many = true,
     .initial = "1",
     .most = TEXT_VALUE(CROFT_HARTS_MAX),
     .limit = "the stacks that their firmware has (CROFT_HARTS_MAX)",
     .explanation = "The accelerators: small cores on the logic layer of the memory stack.",
     .counts = "Number of accelerators; their harts follow the host's.",
     .defaults = accel_defaults},
    {.name = "nucd",
     .kind = &nucd_kind,
     .presence = PART_OPTIONAL,
     .explanation = "Offloading by nucd: the accelerators' task units and their firmware's memory."},
    {.name = "l2",
     .kind = &llc_kind,
     .presence = PART_TIMED,
     .explanation = "The host's shared last-level cache (L2), inclusive, with the MESI directory.",
     .defaults = l2_defaults},
    {.name = "simt",
     .kind = &simt_kind,
     .presence = PART_OPTIONAL,
     .explanation = "The multiprocessors of a GPU, which run launched threads in warps."},
    {.name = "crossbar",
     .kind = &crossbar_kind,
     .presence = PART_OPTIONAL,
     .explanation =
         "The crossbar between the host's coherent network, the accelerators and the memory controllers."},
    {.name = "dram",
     .kind = &dram_kind,
     .presence = PART_TIMED,
     .explanation = "The memory devices and their controllers, one per channel."},
    {.name = "mmu", .kind = &mmu_kind, .explanation = ROOT_MMU_MEANING},
    {.name = "devices", .kind = &devices_kind, .explanation = ROOT_DEVICES_MEANING},
    {.name = NULL},
};
