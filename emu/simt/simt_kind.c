/* The part kind `simt`: the configuration of multiprocessors. */
#include <stdio.h>

#include "emu/mem/llc.h"
#include "emu/net/crossbar.h"
#include "emu/simt/cluster.h"

const char *const simt_policy_names[] = {[SIMT_GTO] = "gto", [SIMT_ROUND_ROBIN] = "round_robin", NULL};

#define REGISTER_SOURCE                                                                                      \
    "Kepler, 28 nm: an access to a register file 2 pJ (BMC Bioinformatics 2018, s12859-018-2389-6, table 7)"
#define STATIC_SOURCE "GPUWattch, gpuwattch_gtx480.xml, 40 nm: an idle core"

#define PART          struct simt_config
#define PLACE(member) (uint32_t) offsetof(PART, member), (uint32_t)sizeof(((PART *)0)->member)
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/simt/simt.def"
#define SIMT_WORK(name, meaning, clocks, every, unit, source)                                                \
    {"latency." #name,                                                                                       \
     FIELD_COUNT,                                                                                            \
     PLACE(work[SIMT_WORK_##name].latency),                                                                  \
     "1",                                                                                                    \
     "1000",                                                                                                 \
     "1",                                                                                                    \
     NULL,                                                                                                   \
     {#clocks, #clocks},                                                                                     \
     0,                                                                                                      \
     "Latency of " meaning ".",                                                                              \
     {source, source}},
#include "emu/simt/multiprocessor/work.def"
#define SIMT_WORK(name, meaning, clocks, every, unit, source)                                                \
    {"interval." #name,                                                                                      \
     FIELD_COUNT,                                                                                            \
     PLACE(work[SIMT_WORK_##name].interval),                                                                 \
     "1",                                                                                                    \
     "1000",                                                                                                 \
     "1",                                                                                                    \
     NULL,                                                                                                   \
     {#every, #every},                                                                                       \
     0,                                                                                                      \
     "Interval of " meaning ".",                                                                             \
     {source, source}},
#include "emu/simt/multiprocessor/work.def"
    {"power.static",
     FIELD_POWER,
     PLACE(power_static),
     "0 uW",
     "1000 W",
     "1 uW",
     NULL,
     {"1590 mW", "1590 mW"},
     0,
     "Power of a multiprocessor at all times: leakage, and the clock of an idle one.",
     {STATIC_SOURCE, STATIC_SOURCE}},
    {"energy.register",
     FIELD_ENERGY,
     PLACE(energy_register),
     "0 fJ",
     "1 uJ",
     "1 fJ",
     NULL,
     {"2 pJ", "2 pJ"},
     0,
     "Energy of reading or writing one register of a thread.",
     {REGISTER_SOURCE, REGISTER_SOURCE}},
    {"energy.instruction",
     FIELD_ENERGY,
     PLACE(energy_instruction),
     "0 fJ",
     "1 uJ",
     "1 fJ",
     NULL,
     {"70 pJ", "70 pJ"},
     0,
     "Energy of a warp's instruction of any kind.",
     {"Horowitz, ISSCC 2014, 45 nm: about 70 pJ (recalled); ours: of a warp",
      "Horowitz, ISSCC 2014, 45 nm: about 70 pJ (recalled); ours: of a warp"}},
#define SIMT_WORK(name, meaning, clocks, every, unit, source)                                                \
    {"energy." #name,                                                                                        \
     FIELD_ENERGY,                                                                                           \
     PLACE(energy[SIMT_WORK_##name]),                                                                        \
     "0 fJ",                                                                                                 \
     "1 uJ",                                                                                                 \
     "1 fJ",                                                                                                 \
     NULL,                                                                                                   \
     {NULL, NULL},                                                                                           \
     0,                                                                                                      \
     "Energy of a thread in " meaning ".",                                                                   \
     {"", ""}},
#include "emu/simt/multiprocessor/work.def"
};

static const struct {
    uint64_t energy;
    const char *source;
} energies[SIMT_WORKS] = {
#define SIMT_ENERGY(name, energy, source) [SIMT_WORK_##name] = {energy, source},
#include "emu/simt/energy.def"
};

static void derive(void *part, const bool given[])
{
    struct simt_config *config = part, derived = *config;
    for (unsigned i = 0; i < SIMT_WORKS; i++)
        derived.energy[i] = energies[i].energy;
    derived.stack = SIMT_STACK; /* the machine's builder knows whether memory holds them */
    part_take(&simt_kind, 0, config, &derived, given);
}

static void note(const void *config, const struct part_field *field, char *buffer, size_t size)
{
    const char *source = NULL;
    const struct simt_config *simt = config;
    if (field->offset == offsetof(struct simt_config, stack))
        source = simt->stack < SIMT_STACK ? "at most half of memory.size for all threads"
                                          : "ours: newlib's printf of a double takes 3 KiB";
    for (unsigned i = 0; i < SIMT_WORKS; i++)
        if (field->offset == offsetof(struct simt_config, energy) + i * sizeof(uint64_t))
            source = energies[i].source;
    (void)snprintf(buffer, size, "%s", source ? source : "");
}

static const struct part_section sections[] = {
    {"latency", "Clocks from issue until a dependent instruction can issue."},
    {"interval", "Clocks until the unit takes the next instruction of the kind."},
    {"energy", "Energies of instructions: per warp, and per thread that executes one."},
    {"power", "Power that does not depend on what is executed."},
    {NULL, NULL},
};

#define FERMI "like Fermi"
#define WIDE  "CACTI 7, itrs-hp, 32 nm, 48 KiB RAM, 32 bytes: 15.2 pJ; four times, for a line of 128 bytes"
#define ALIKE                                                                                                \
    "ISPASS 2015 (Andersch, Lucas, Alvarez-Mesa, Juurlink, On latency in GPU throughput "                    \
    "microarchitectures; recalled)"

/* On Fermi, a load that hits takes 45 clocks until its result is used (Andersch et al., ISPASS 2015): 18 in
 * the pipeline, and the 27 of hit_clocks. Here it takes 46, because an instruction enters the memory pipeline
 * one clock after it issues. On machine gpu, an access to a closed row takes 546 clocks
 * (tests/machine/timed/test_simt_bandwidth.c adds up its parts); the same source has 685, without its parts. To use
 * all of the bandwidth, each of 15 multiprocessors needs 192 GB/s * 390 ns / 128 B / 15 = 39 lines under way,
 * and 49 at 685 clocks. */
static const struct part_default l1_defaults[] = {
    {"size", "32 KiB", FERMI},
    {"ways", "4", FERMI},
    {"line", "128 B", FERMI},
    {"hit_clocks", "27", ALIKE ": 45 clocks in all, of which 18 in the pipeline"},
    {"mshrs", "64", "ours: 192 GB/s * 390 ns / 128 B / 15 = 39 lines under way"},
    {"mshr_targets", "32", "ours"},
    {"write_buffer", "64", "ours"},
    {"write_through", "true", FERMI},
    {"write_allocate", "false", FERMI},
    {"energy_read", "60.8 pJ", WIDE},
    {"energy_write", "60.8 pJ", WIDE},
    {NULL, NULL, NULL},
};

#define LEAKAGE                                                                                              \
    "CACTI 7, itrs-hp, 40 nm, 360 K, 128 KiB, 16 ways, 128 bytes, 512 bits: 127.9 mW and gates 4.8 mW"

/* On Fermi, a hit in the second level takes 310 clocks of 1.4 GHz in all (ISPASS 2015). Here it takes 306:
 * the 46 clocks of a load that hits in the first level, 2 * 8 clocks and 4 for the line's bytes in the
 * crossbar, and 120 of 700 MHz (hit_clocks). */
static const struct part_default l2_defaults[] = {
    {"memory", "", "what the multiprocessors are connected to"},
    {"slices", "8", "TOM Table 1: 1 MiB, here 8 of 128 KiB"},
    {"clock", "700 MHz", "TOM Table 1"},
    {"size", "128 KiB", "TOM Table 1: 1 MiB in all"},
    {"ways", "16", "TOM Table 1"},
    {"line", "128 B", FERMI},
    {"hit_clocks", "120", "GPGPU-Sim's rop latency (SM2_GTX480; recalled)"},
    {"tag_clocks", "60", "ours: half of it"},
    {"probe_clocks", "0", "no caches are probed"},
    {"fill_clocks", "60", "ours"},
    {"mshrs", "64", "ours"},
    {"queue", "256", "ours"},
    {"write_buffer", "64", "ours"},
    {"write_policy", "write_back", FERMI "; TOM Table 1: write_through; AxRAM Table 2: write_evict"},
    {"write_allocate", "true", FERMI "; AxRAM Table 2: false"},
    {"leakage", "1037 uW", LEAKAGE},
    {"interleave", "line", "ours; AxRAM has a slice for each of 6 channels: partition"},
    {NULL, NULL, NULL},
};

static const struct part_default crossbar_defaults[] = {
    {"out", "", "the slices, or what the multiprocessors are connected to"},
    {"clock", "1.4 GHz", "AxRAM Table 2; TOM's has 1.25 GHz"},
    {"width", "32 B", "GPGPU-Sim's flits"},
    {"latency", "8", "ours: an input's and an output's queue, arbitration and wires"},
    {"request_queue", "16", "ours"},
    {"response_queue", "16", "ours"},
    {"buffer", "16", "ours"},
    {NULL, NULL, NULL},
};

#define LANES_PAPER                                                                                          \
    "Power, Hill, Wood, Supporting x86-64 address translation for 100s of GPU lanes, HPCA 2014"
#define MOSAIC "Ausavarungnirun et al., Mosaic, MICRO 2017 (recalled)"

static const struct part_default tlb_defaults[] = {
    {"l1_entries", "128", MOSAIC},
    {"l2_entries", "512", MOSAIC},
    {"l2_ways", "16", MOSAIC},
    {"l2_clocks", "10", MOSAIC},
    {NULL, NULL, NULL},
};

static const struct part_default walk_cache_defaults[] = {
    {"size", "8 KiB", LANES_PAPER " (size recalled)"},
    {"ways", "4", "ours"},
    {"line", "128 B", "as the caches'"},
    {"hit_clocks", "8", "ours"},
    {"mshrs", "32", "ours: one for each walker"},
    {"mshr_targets", "32", "ours"},
    {"write_through", "true", "it is only read"},
    {"write_allocate", "false", "it is only read"},
    {NULL, NULL, NULL},
};

static const struct part_role roles[] = {
    [SIMT_L1] = {.name = "l1",
                 .kind = &cache_kind,
                 .explanation = "The first-level cache of each multiprocessor; not coherent.",
                 .defaults = l1_defaults,
                 .leads = "crossbar l2"},
    [SIMT_CROSSBAR] = {.name = "crossbar",
                       .kind = &crossbar_kind,
                       .presence = PART_REMOVABLE,
                       .explanation =
                           "The crossbar from the multiprocessors to the slices of their second-level cache.",
                       .defaults = crossbar_defaults,
                       .leads = "l2"},
    [SIMT_L2] = {.name = "l2",
                 .kind = &llc_kind,
                 .presence = PART_REMOVABLE,
                 .explanation =
                     "The slices of the multiprocessors' second-level cache; the keys apply to each slice.",
                 .defaults = l2_defaults,
                 .leads = ""},
    [SIMT_TLB] = {.name = "tlb",
                  .kind = &tlb_kind,
                  .explanation =
                      "The TLBs where programs have virtual addresses (--env kernel): a first level of each "
                      "multiprocessor, and one second level, whose clocks are theirs.",
                  .defaults = tlb_defaults},
    [SIMT_WALK_CACHE] = {.name = "walk_cache",
                         .kind = &cache_kind,
                         .explanation =
                             "The cache through which page walks read, beside the first-level caches.",
                         .defaults = walk_cache_defaults,
                         .leads = "crossbar l2"},
    {.name = NULL},
};

static const struct part_port ports[] = {
    {.name = "memory",
     .type = "memory",
     .direction = PART_ASKS,
     .partners = "crossbar dram",
     .explanation = "The memory that serves the requests of the slices."},
    {.name = NULL},
};

/* One end for each slice; without slices, one for the crossbar or, without that too, one for each multiprocessor. */
static unsigned ends(const void *config, const void *const *below)
{
    if (below[SIMT_L2])
        return ((const struct llc_config *)below[SIMT_L2])->slices;
    return below[SIMT_CROSSBAR] ? 1 : ((const struct simt_config *)config)->count;
}

const struct part_kind simt_kind = {
    .name = "simt",
    .explanation = "Multiprocessors of a GPU, which run warps of the threads that programs launch.",
    PART_CONFIG(struct simt_config),
    .functional = "count width reconvergence warps threads block_threads blocks scratchpad stack",
    .sections = sections,
    .roles = roles,
    .ports = ports,
    .whole = true,
    .derive = derive,
    .note = note,
    .ends = ends,
    .make = simt_cluster_make,
    .free = simt_cluster_free,
    .connect = simt_cluster_connect,
    .publish = simt_cluster_publish,
    .energy = simt_cluster_energy,
    .observe = simt_cluster_observe,
};
