/* The kind of cores: fields, variants, checks and children. */
#include <inttypes.h>

#include "emu/core/config.h"
#include "emu/core/inorder.h"
#include "emu/core/tile.h"

static const char *const model_names[] = {
    [CORE_FUNCTIONAL] = "functional", [CORE_INORDER] = "inorder", [CORE_OOO] = "ooo", NULL};
static const char *const variants[] = {"core inorder", "core ooo"};

static unsigned variant(const void *part)
{
    const struct core_config *config = part;
    return config->core == CORE_INORDER ? CORE_VARIANT_INORDER : CORE_VARIANT_OOO;
}

static void choose(void *part, unsigned chosen)
{
    struct core_config *config = part;
    config->core = chosen == CORE_VARIANT_INORDER ? CORE_INORDER : CORE_OOO;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Shrinks the windows that must not exceed the reorder buffer along with it, so that a sweep of the buffer's
 * size sets one key. */
static void derive(void *part, const bool given[])
{
    static const uint16_t ports[CORE_WORKS] = {
#define LATENCY(name, meaning, latency53, interval53, latency57, interval57, ports57, source) ports57,
#include "emu/core/config/latency.def"
    };
    struct core_config *config = part, derived = *config;
    derived.fetch_queue = least(48, config->rob);
    derived.iq = least(64, config->rob);
    for (unsigned i = 0; i < CORE_WORKS; i++)
        derived.latency.of[i].ports = ports[i];
    part_take(&core_kind, variant(part), config, &derived, given);
}

static bool at_most(const char *name, uint32_t value, uint32_t most, struct error *err)
{
    return value <= most ||
           error_set(err, "%s: %" PRIu32 " is not allowed in order: at most %" PRIu32, name, value, most);
}

static bool check_inorder(const struct core_config *config, struct error *err)
{
    return at_most("fetch_queue", config->fetch_queue, INORDER_BLOCKS / 2, err) &&
           at_most("frontend_clocks", config->frontend_clocks, 32, err) &&
           at_most("decode_clocks", config->decode_clocks, config->frontend_clocks, err) &&
           at_most("taken_clocks", config->taken_clocks, 8, err) &&
           at_most("load_queue", config->load_queue, INORDER_LOADS, err);
}

static bool check_ooo(const struct core_config *config, struct error *err)
{
    if (config->fetch_queue < 8)
        return error_set(err, "fetch_queue: %" PRIu32 " is not allowed out of order: at least 8",
                         config->fetch_queue);
    if (config->fetch_queue > config->rob || config->iq > config->rob)
        return error_set(err, "%s: %u is not allowed: at most rob (%u)",
                         config->iq > config->rob ? "iq" : "fetch_queue",
                         config->iq > config->rob ? config->iq : config->fetch_queue, config->rob);
    return true;
}

static bool check(const void *part, struct error *err)
{
    const struct core_config *config = part;
    if (config->predict.btb < config->predict.btb_ways)
        return error_set(err, "predict.btb: %" PRIu32 " is not allowed: at least btb_ways (%" PRIu32 ")",
                         config->predict.btb, config->predict.btb_ways);
    return config->core == CORE_INORDER ? check_inorder(config, err) : check_ooo(config, err);
}

#define PART                         struct core_config
#define TEXT_OF(x)                   #x
#define PLACE(member)                (uint32_t) offsetof(PART, member), (uint32_t)sizeof(((PART *)0)->member)
/* A load's latency may be 0, since the hit time of its cache is added. */
#define LEAST(...)                   LEAST_OF(__VA_ARGS__, "1", )
#define LEAST_OF(ignored, text, ...) text
#define LEAST_load                   , "0"
static const struct part_field fields[] = {
    {"core",
     FIELD_CHOICE,
     PLACE(core),
     "",
     "",
     "",
     model_names,
     {"functional", "functional"},
     0,
     "Core model: functional (untimed), inorder (in order) or ooo (out of order).",
     {"", ""}},
    {"clock",
     FIELD_FREQUENCY,
     PLACE(clock),
     "1 MHz",
     "20 GHz",
     "1 Hz",
     NULL,
     {"2 GHz", "2 GHz"},
     0,
     "Clock of the core and of its first-level caches.",
     {"ours", "ours"}},
    {"range_tlb_entries",
     FIELD_COUNT,
     PLACE(range_tlb_entries),
     "1",
     "64",
     "1",
     NULL,
     {"8", "8"},
     0,
     "Entries of an accelerator's TLB of ranges (--env kernel).",
     {"ours: the NUCD paper gives no number", "ours: the NUCD paper gives no number"}},
#include "emu/sim/fields_rows.h"

#include "emu/core/config/core.def"
#undef PREFIX
#undef WITHIN
#define PREFIX       "predict."
#define WITHIN(name) predict.name
#include "emu/sim/fields_rows.h"

#include "emu/core/frontend/predict.def"
#define LATENCY(name, meaning, latency53, interval53, latency57, interval57, ports57, source)                \
    {"latency." #name,                                                                                       \
     FIELD_COUNT,                                                                                            \
     PLACE(latency.of[CORE_WORK_##name].latency),                                                            \
     LEAST(LEAST_##name),                                                                                    \
     "1000",                                                                                                 \
     "1",                                                                                                    \
     NULL,                                                                                                   \
     {#latency53, #latency57},                                                                               \
     0,                                                                                                      \
     "Latency of " meaning ".",                                                                              \
     {source, source}},
#include "emu/core/config/latency.def"
#define LATENCY(name, meaning, latency53, interval53, latency57, interval57, ports57, source)                \
    {"interval." #name,                                                                                      \
     FIELD_COUNT,                                                                                            \
     PLACE(latency.of[CORE_WORK_##name].interval),                                                           \
     "1",                                                                                                    \
     "1000",                                                                                                 \
     "1",                                                                                                    \
     NULL,                                                                                                   \
     {#interval53, #interval57},                                                                             \
     0,                                                                                                      \
     "Interval of " meaning ".",                                                                             \
     {source, source}},
#include "emu/core/config/latency.def"
#define LATENCY(name, meaning, latency53, interval53, latency57, interval57, ports57, source)                \
    {"ports." #name,                                                                                         \
     FIELD_COUNT,                                                                                            \
     PLACE(latency.of[CORE_WORK_##name].ports),                                                              \
     "1",                                                                                                    \
     "255",                                                                                                  \
     "1",                                                                                                    \
     NULL,                                                                                                   \
     {NULL, NULL},                                                                                           \
     CORE_BIT_OOO,                                                                                           \
     "Ports of " meaning ".",                                                                                \
     {"AArch64SchedA57.td", "AArch64SchedA57.td"}},
#include "emu/core/config/latency.def"
};

static const struct part_section sections[] = {
    {"predict", "Branch prediction: a tournament of bimodal and gshare counters, targets, returns."},
    {"latency", "Core clocks from issue to the cycle in which a dependent instruction can issue."},
    {"interval", "Core clocks before the unit takes the next instruction of the kind; 1: pipelined."},
    {"ports",
     "Issue ports of ooo cores, a sum: branch 1, integer 2 and 4, multiply and divide 8, load 16, store "
     "32, FP 64, 128."},
    {NULL, NULL},
};

static const struct part_role roles[] = {
    {.name = "l1i", .kind = &cache_kind, .explanation = "The first-level instruction cache of each core."},
    {.name = "l1d", .kind = &cache_kind, .explanation = "The first-level data cache of each core."},
    {.name = "tlb",
     .kind = &tlb_kind,
     .explanation = "The translation lookaside buffers of each core; used where addresses are translated."},
    {.name = NULL},
};

static const struct part_port ports[] = {
    {.name = "memory",
     .type = "memory",
     .direction = PART_ASKS,
     .partners = "l2 crossbar dram",
     .explanation = "The memory that serves its caches."},
    {.name = NULL},
};

const struct part_kind core_kind = {
    .name = "core",
    .explanation = "A core of one hart, with its caches and TLBs.",
    PART_CONFIG(struct core_config),
    .functional = "core",
    .sections = sections,
    .roles = roles,
    .ports = ports,
    .whole = true,
    .variants = variants,
    .variant = variant,
    .choose = choose,
    .derive = derive,
    .check = check,
    .make = core_tile_make,
    .free = core_tile_free,
    .connect = core_tile_connect,
    .publish = core_tile_publish,
    .energy = core_tile_energy,
    .observe = core_tile_observe,
    .reset = core_tile_reset,
};

void core_config_default(struct core_config *config, enum core_model model)
{
    part_defaults(&core_kind, model == CORE_INORDER ? CORE_VARIANT_INORDER : CORE_VARIANT_OOO, config);
}
