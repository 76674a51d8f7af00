/* The kind "llc": its fields, ports and callbacks. */
#include <inttypes.h>

#include "emu/mem/denovo.h"
#include "emu/mem/llc/state.h"
#include "emu/mem/llc_slices.h"
#include "emu/mem/site.h"

const char *const llc_policy_names[] = {[LLC_WRITE_BACK] = "write_back",
                                        [LLC_WRITE_THROUGH] = "write_through",
                                        [LLC_WRITE_EVICT] = "write_evict",
                                        NULL};
const char *const llc_coherence_names[] = {[LLC_MESI] = "mesi", [LLC_DENOVO] = "denovo", NULL};
const char *const llc_interleave_names[] = {
    [LLC_BY_LINE] = "line", [LLC_BY_PARTITION] = "partition", [LLC_BY_NODE] = "node", NULL};

static bool is_power(uint64_t value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

static bool check_protocol(const struct llc_config *config, struct error *err)
{
    const struct protocol *protocol = llc_protocol(config);
    if (!protocol_check(protocol, err))
        return false;
    if (protocol->grain != PROTOCOL_LINE)
        return error_set(err, "protocol: %s keeps a state for each word; this cache keeps one for each line",
                         protocol->name);
    if (!protocol->directory_count)
        return error_set(err, "protocol: %s has no directory", protocol->name);
    return true;
}

/* Checks what DeNovo's registry needs. */
static bool check_words(const struct llc_config *config, struct error *err)
{
    if (config->coherence != LLC_DENOVO)
        return true;
    if (config->line > DENOVO_WORDS * sizeof(uint32_t))
        return error_set(err, "coherence: denovo needs lines of at most %zu B; line: %" PRIu32 " B",
                         DENOVO_WORDS * sizeof(uint32_t), config->line);
    if (config->interleave == LLC_BY_PARTITION)
        return error_set(err, "coherence: denovo needs interleave: line or node");
    if (config->prefetch != CACHE_PREFETCH_NONE)
        return error_set(err, "coherence: denovo has no prefetching; prefetch: none");
    if (config->write_policy != LLC_WRITE_BACK)
        return error_set(err, "coherence: denovo needs write_policy: write_back");
    return true;
}

static bool check(const void *part, struct error *err)
{
    const struct llc_config *config = part;
    uint64_t way = (uint64_t)config->ways * config->line;
    if (config->replacement == TAGS_TREE_PLRU && !is_power(config->ways))
        return error_set(err, "ways: %u; tree_plru needs a power of two", config->ways);
    if (config->slice_bytes && (config->slice_bytes < config->line || !is_power(config->slice_bytes)))
        return error_set(err, "slice_bytes: %u; it must be a power of two and at least a line, %u bytes",
                         config->slice_bytes, config->line);
    if (config->size % way || !is_power(config->size / way))
        return error_set(err,
                         "size: %" PRIu64
                         " bytes; with %u ways of %u-byte lines, it must be a power of two times %" PRIu64
                         " bytes",
                         config->size, config->ways, config->line, way);
    if (config->banks > config->size / way)
        return error_set(err,
                         "banks: %u; it must be a power of two and at most size / (ways * line), %" PRIu64,
                         config->banks, config->size / way);
    if (config->prefetch != CACHE_PREFETCH_NONE && config->mshrs <= config->prefetch_reserve)
        return error_set(err,
                         "prefetch: needs more MSHRs (mshrs: %u) than are reserved for demand accesses "
                         "(prefetch_reserve: %u)",
                         config->mshrs, config->prefetch_reserve);
    if (config->tag_clocks > config->hit_clocks)
        return error_set(err, "tag_clocks: %u; it must be at most hit_clocks, %u", config->tag_clocks,
                         config->hit_clocks);
    return check_words(config, err) && check_protocol(config, err);
}

#define PART struct llc_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/mem/llc.def"
};

static const struct part_port ports[] = {
    {.name = "in",
     .type = "memory",
     .direction = PART_SERVES,
     .many = true,
     .optional = true,
     .explanation = "The caches above it."},
    {.name = "memory",
     .type = "memory",
     .direction = PART_ASKS,
     .partners = "crossbar dram",
     .explanation = "The memory that serves its misses."},
    {.name = NULL},
};

/* A part of this kind consists of all slices (llc_slices.h), each of which sends requests. */
static unsigned ends(const void *config, const void *const *below)
{
    (void)below;
    return ((const struct llc_config *)config)->slices;
}

/* By partition, a crossbar or network in front has an output for each slice; by node, a network. */
static unsigned channels(const void *config)
{
    const struct llc_config *llc = config;
    return llc->interleave == LLC_BY_LINE ? 1 : llc->slices;
}

static void *make(const void *config, const struct part_site *site, struct error *err)
{
    const struct mem_site *place = site->place;
    if (!clock_set_frequency(site->clock, ((const struct llc_config *)config)->clock, err))
        return NULL;
    struct llc_slices *slices = llc_slices_new(site->name, config, site->queue, site->clock,
                                               part_component(site), part_requester(site), NULL, NULL);
    llc_slices_place(slices, &place->mail);
    if (((const struct llc_config *)config)->interleave == LLC_BY_PARTITION)
        llc_slices_set_partitions(slices, place->homes, place->controllers);
    if (place->reached)
        llc_slices_set_memories(slices, &(struct llc_memories){place->homes, place->stacks, place->reached});
    for (uint32_t i = 0; place->last && i < llc_slices_count(slices); i++)
        llc_set_homes(llc_slices_at(slices, i), place->homes);
    return slices;
}

static void free_part(void *part)
{
    llc_slices_free(part);
}

static struct part_end serve(void *part, unsigned port, unsigned slot)
{
    (void)port;
    (void)slot;
    return llc_slices_port(part);
}

/* The port has a slot for each slice. */
static void connect_part(void *part, unsigned port, unsigned slot, const struct part_end *server)
{
    (void)port;
    llc_connect(llc_slices_at(part, slot), server->ops, server->object);
}

static void publish(void *part, struct stats *stats, struct scope scope)
{
    llc_slices_publish(part, stats, scope);
}

static void energy(void *part, struct energy_ledger *ledger, struct scope scope)
{
    llc_slices_energy(part, ledger, scope);
}

/* Each slice is a group. */
static void observe(void *part, struct track_sink *sink, const char *name)
{
    (void)name;
    for (uint32_t i = 0; i < llc_slices_count(part); i++)
        llc_track(llc_slices_at(part, i), sink);
}

const struct part_kind llc_kind = {
    .name = "llc",
    .explanation = "A shared, inclusive last-level cache, with the directory of the caches above it.",
    PART_CONFIG(struct llc_config),
    .functional = "",
    .ports = ports,
    .check = check,
    .ends = ends,
    .channels = channels,
    .make = make,
    .free = free_part,
    .serve = serve,
    .connect = connect_part,
    .publish = publish,
    .energy = energy,
    .observe = observe,
};
