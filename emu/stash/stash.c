/* The part kind `stash`: construction, statistics and energy. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/schema/assembly.h"
#include "emu/sim/alloc.h"
#include "emu/stash/map_track.h"
#include "emu/stash/part.h"
#include "emu/stash/place.h"

/* Multiprocessors that only execute what others offload have no launches, and so no local memory of their own. */
static bool is_launcher(const struct instance *part)
{
    return part->kind == &simt_kind && ((const struct simt_config *)part->config)->launches;
}

static bool allows_place(const struct tree *tree, const struct instance *part, struct error *err)
{
    if (part->parent == tree_root(tree))
        return true;
    (void)error_set(
        err,
        "a stash in %s is not possible: below its multiprocessors is memory, and no level that could record "
        "who "
        "has a word; allowed: a part of the machine itself, for all multiprocessors that have launches",
        part->parent->path);
    return tree_at_part(tree, part, err);
}

static bool allows_size(const struct tree *tree, const struct instance *multiprocessor, struct error *err)
{
    const struct simt_config *simt = multiprocessor->config;
    if (simt->scratchpad % STASH_CHUNK == 0 && simt->scratchpad <= UINT32_C(1) << STASH_ADDRESS_BITS)
        return true;
    (void)error_set(err, "a stash of %" PRIu64 " B is not possible; allowed: a multiple of 64 B, up to 1 MiB",
                    (uint64_t)simt->scratchpad);
    return tree_at(tree, multiprocessor, "scratchpad", err);
}

static bool allows(const struct assembly *assembly, const struct instance *part, struct error *err)
{
    const struct tree *tree = assembly->tree;
    const struct stash_config *config = part->config;
    uint32_t count = 0;
    if (config->maps > config->entries) {
        (void)error_set(
            err, "%" PRIu32 " maps of a block need as many entries; allowed: up to `entries`, %" PRIu32,
            config->maps, config->entries);
        return tree_at(tree, part, "maps", err);
    }
    if (!allows_place(tree, part, err))
        return false;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        count += is_launcher(i);
        if (is_launcher(i) && !allows_size(tree, i, err))
            return false;
    }
    if (count)
        return true;
    (void)error_set(
        err, "a stash stands in multiprocessors, and the machine has none (simt): loads and stores of cores "
             "have no "
             "local memory in front of their cache; for an in-order core with a stash, take a multiprocessor "
             "with simt.width: 1");
    return tree_at_part(tree, part, err);
}

static const void *place(const struct assembly *assembly, const struct instance *part,
                         const struct mem_site *memory)
{
    (void)part, (void)memory;
    return stash_place_of(assembly, true);
}

static uint32_t maps(void *context, const struct warp_scratchpad *pad)
{
    struct stash_part *part = context;
    return stash_space_of(part, pad->bytes) ? part->config.maps : 0;
}

static void *make(const void *config, const struct part_site *site, struct error *err)
{
    const struct stash_place *around = site->place;
    struct stash_part *part = alloc(1, sizeof *part);
    (void)err;
    part->config = *(const struct stash_config *)config;
    part->queue = site->queue;
    part->local = (struct warp_local){maps, stash_space_reach, stash_space_place, stash_space_fault, part};
    part->core_count = simt_clusters_count(around->clusters, around->cluster_count);
    part->cores = alloc(part->core_count, sizeof *part->cores);
    for (uint32_t number = 0; number < part->core_count; number++) {
        const struct simt_beside beside = simt_clusters_beside(around->clusters, number);
        stash_core_init(&part->cores[number], part, &beside,
                        (uint32_t)simt_cluster_config(beside.cluster)->scratchpad, part_component(site));
    }
    return part;
}

static void free_part(void *object)
{
    struct stash_part *part = object;
    for (uint32_t i = 0; i < part->core_count; i++)
        stash_core_free(&part->cores[i]);
    free(part->cores);
    free(part);
}

static void units(void *object, struct custom_units *table)
{
    struct stash_part *part = object;
    custom_serve(table, EXTENSION_Xstash,
                 &(struct custom_unit){stash_instruction, stash_instruction_lanes, .context = part});
    table->local = &part->local;
}

static void publish_map(const struct stash_counters *counters, bool mapped, bool prefetched,
                        struct stats *stats, struct scope scope)
{
    const struct stats_row rows[] = {
        {"hits", &counters->hits, "words", "Words of accesses that were there"},
        {"misses", &counters->misses, "words", "Words of accesses that were not there, or not registered"},
        {"maps", &counters->maps, "maps", "Maps that blocks have added"},
        {"copies", &counters->copies, "words", "Words that another map of the stash had"},
        {"fetched", &counters->fetched, "words", "Words that answers have brought"},
        {"unused", &counters->unused, "words", "Of these, words that no thread has used"},
        {"registered", &counters->registered, "words", "Words that were registered because they were stored"},
        {"written_back", &counters->written_back, "words", "Words that were written back"},
        {"kept", &counters->kept, "words",
         "Words that a later map of the same tile found registered: write-backs saved by reuse"},
        {"taken", &counters->taken, "words", "Registered words that other units have registered"},
        {"prefetched", &counters->prefetched, "words", "Words that were asked for when the map was added"},
    };
    stats_counters(stats, scope, rows, mapped ? sizeof rows / sizeof *rows - !prefetched : 2);
}

static void publish_core(const struct stash_core *core, struct stats *stats, struct scope scope)
{
    const struct stash_port_counters *port =
        core->unit ? stash_unit_counted(core->unit) : stash_port_counted(core->port);
    const struct stats_row rows[] = {
        {"blocks", &core->blocks, "blocks", "Blocks whose local memory was in the stash"},
        {"hits", &core->hits, "words", "Words of threads' accesses that were there, unmapped ones included"},
        {"misses", &core->misses, "words", "Words of threads' accesses that had to be fetched or registered"},
        {"hit_words", &core->hit_words, "words",
         "Of hits, a word once for all threads of a warp that want it"},
        {"miss_words", &core->miss_words, "words", "Of misses, the same"},
        {"reads", &port->reads, "requests", "Requests for words of a line"},
        {"registrations", &port->registrations, "requests", "Registrations of words of a line"},
        {"write_backs", &port->write_backs, "requests", "Write-backs of words of a line"},
        {"words_read", &port->words_read, "words", "Words that requests have asked for"},
        {"words_written", &port->words_written, "words", "Words that were written back"},
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows);
    stats_histogram(stats, scope, "hits_of", &core->hits_of, "words/block", "blocks", "Blocks by their hits");
    stats_histogram(stats, scope, "misses_of", &core->misses_of, "words/block", "blocks",
                    "Blocks by their misses");
    stats_histogram(stats, scope, "fetched_of", &core->fetched_of, "words/block", "blocks",
                    "Blocks by words that answers have brought");
    stats_histogram(stats, scope, "unused_of", &core->unused_of, "words/block", "blocks",
                    "Blocks by those that no thread has used");
    stats_histogram(stats, scope, "kept_of", &core->kept_of, "words/block", "blocks",
                    "Blocks by words that an earlier block had registered: write-backs saved by reuse");
}

static void publish(void *object, struct stats *stats, struct scope scope)
{
    const struct stash_part *part = object;
    for (uint32_t i = 0; i < part->core_count; i++) {
        const struct stash_core *core = &part->cores[i];
        const struct scope here = scope_number(&scope, i);
        publish_core(core, stats, here);
        publish_map(stash_counted(core->stash, 0), false, false, stats, scope_enter(&here, "unmapped"));
        for (uint32_t j = 0; j < part->config.maps; j++)
            publish_map(stash_counted(core->stash, 1 + j), true, part->config.prefetch > 0, stats,
                        scope_at(&here, "map", j));
    }
}

static void energy(void *object, struct energy_ledger *ledger, struct scope scope)
{
    const struct stash_part *part = object;
    for (uint32_t i = 0; i < part->core_count; i++) {
        const struct stash_core *core = &part->cores[i];
        const struct energy_account accounts[] = {
            {.name = "hit",
             .count = &core->hit_words,
             .unit = part->config.energy_hit,
             .fields = "energy_hit"},
            {.name = "miss",
             .count = &core->miss_words,
             .unit = part->config.energy_miss,
             .fields = "energy_miss"},
        };
        energy_add_all(ledger, scope_number(&scope, i), "stash", accounts,
                       sizeof accounts / sizeof *accounts);
    }
}

static void observe(void *object, struct track_sink *sink, const char *name)
{
    struct stash_part *part = object;
    for (uint32_t i = 0; i < part->core_count && track_takes(sink, TRACK_TIMELINE); i++) {
        struct stash_core *core = &part->cores[i];
        char group[64];
        (void)snprintf(group, sizeof group, "%s.%" PRIu32, name, i);
        core->track = map_track_new(sink, group, core->stash, part->queue);
    }
}

#define PART struct stash_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/stash/stash.def"
};

static const struct assembly_hooks hooks = {.allows = allows, .place = place};

const struct part_kind stash_kind = {
    .name = "stash",
    .explanation = "Stashes in the place of the scratchpads of all multiprocessors.",
    PART_CONFIG(struct stash_config),
    .make = make,
    .free = free_part,
    .units = units,
    .publish = publish,
    .energy = energy,
    .observe = observe,
    .hooks = &hooks,
};
