/* The part kind `dma`: construction, statistics and energy. */
#include "emu/stash/dma/dma.h"

#include <stdlib.h>

#include "emu/schema/assembly.h"
#include "emu/sim/alloc.h"
#include "emu/stash/dma/part.h"
#include "emu/stash/kind.h"
#include "emu/stash/place.h"

const char *const dma_blocks_names[] = {[DMA_BLOCKS_CORE] = "core", [DMA_BLOCKS_BLOCK] = "block", NULL};

static bool allows(const struct assembly *assembly, const struct instance *part, struct error *err)
{
    const struct tree *tree = assembly->tree;
    bool found = false;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        found |= i->kind == &simt_kind;
        if (i->kind != &stash_kind && !(i->kind->hooks && i->kind->hooks->offloads))
            continue;
        (void)error_set(err,
                        "a DMA engine is not possible beside %s: it copies to the scratchpads of "
                        "multiprocessors, and blocks have their local memory elsewhere",
                        i->kind->name);
        return tree_at_part(tree, part, err);
    }
    if (found)
        return true;
    (void)error_set(err, "a DMA engine stands beside a multiprocessor, and the machine has none (simt)");
    return tree_at_part(tree, part, err);
}

static const void *place(const struct assembly *assembly, const struct instance *part,
                         const struct mem_site *memory)
{
    (void)part, (void)memory;
    return stash_place_of(assembly, false);
}

static void left(void *context, const struct warp_place *warp, uint64_t from, uint64_t to)
{
    struct dma_core *core = context;
    (void)from, (void)to;
    for (uint32_t i = 0; i < core->block_count; i++)
        if (core->blocks[i].bytes && core->blocks[i].bytes == warp->scratchpad)
            dma_block_end(&core->blocks[i]);
}

static void busy(void *context, bool busy, uint64_t now)
{
    struct dma_core *core = context;
    simt_stop_memory(core->simt, busy, now);
}

static void init_core(struct dma_core *core, const struct dma_config *config, const struct part_site *site,
                      const struct simt_beside *beside)
{
    core->simt = beside->simt;
    core->line = cache_configuration(beside->l1)->line;
    core->engine =
        dma_engine_new(&(struct dma_engine_parts){.queue = site->queue,
                                                  .component = part_component(site),
                                                  .requester = beside->number,
                                                  .clock = beside->clock,
                                                  .setup = config->setup_clocks,
                                                  .requests = config->requests,
                                                  .packed = config->packed,
                                                  .link = simt_lower(beside->simt),
                                                  .busy = config->blocks == DMA_BLOCKS_CORE ? busy : NULL,
                                                  .context = core});
    core->observer = (struct simt_observer){.left = left, .context = core};
    simt_observe(beside->simt, &core->observer);
}

static void *make(const void *config, const struct part_site *site, struct error *err)
{
    const struct stash_place *around = site->place;
    struct dma_part *part = alloc(1, sizeof *part);
    (void)err;
    part->config = *(const struct dma_config *)config;
    part->core_count = simt_clusters_count(around->clusters, around->cluster_count);
    part->cores = alloc(part->core_count, sizeof *part->cores);
    for (uint32_t number = 0; number < part->core_count; number++) {
        const struct simt_beside beside = simt_clusters_beside(around->clusters, number);
        init_core(&part->cores[number], &part->config, site, &beside);
    }
    return part;
}

static void free_part(void *object)
{
    struct dma_part *part = object;
    for (uint32_t i = 0; i < part->core_count; i++) {
        struct dma_core *core = &part->cores[i];
        for (uint32_t j = 0; j < core->block_count; j++)
            dma_block_end(&core->blocks[j]);
        free(core->blocks);
        dma_engine_free(core->engine);
    }
    free(part->cores);
    free(part);
}

static void units(void *object, struct custom_units *table)
{
    custom_serve(table, EXTENSION_Xdma,
                 &(struct custom_unit){dma_instruction, dma_instruction_lanes, .context = object});
}

static void publish(void *object, struct stats *stats, struct scope scope)
{
    const struct dma_part *part = object;
    for (uint32_t i = 0; i < part->core_count; i++) {
        const struct dma_counters *counters = dma_engine_counted(part->cores[i].engine);
        const struct stats_row rows[] = {
            {"loads", &counters->loads, "copies", "Tiles that were copied into scratchpads"},
            {"stores", &counters->stores, "copies", "Tiles that were copied from scratchpads"},
            {"reads", &counters->reads, "requests", "Requests for words of a line"},
            {"writes", &counters->writes, "requests", "Requests that write words of a line"},
            {"words_read", &counters->words_read, "words", "Words that were copied into scratchpads"},
            {"words_written", &counters->words_written, "words", "Words that were copied from scratchpads"},
            {"busy", &counters->time, "fs", "Time in which copies were under way"},
        };
        stats_counters(stats, scope_number(&scope, i), rows, sizeof rows / sizeof *rows);
    }
}

/* Each word is an access of the scratchpad; the engine has no energy of its own (Stash paper, section 5.3). */
static void energy(void *object, struct energy_ledger *ledger, struct scope scope)
{
    const struct dma_part *part = object;
    for (uint32_t i = 0; i < part->core_count; i++) {
        const struct dma_core *core = &part->cores[i];
        const struct dma_counters *counters = dma_engine_counted(core->engine);
        const struct energy_account accounts[] = {
            {.name = "load",
             .count = &counters->words_read,
             .unit = part->config.energy_word,
             .fields = "energy_word"},
            {.name = "store",
             .count = &counters->words_written,
             .unit = part->config.energy_word,
             .fields = "energy_word"},
        };
        energy_add_all(ledger, scope_number(&scope, i), "scratchpad", accounts,
                       sizeof accounts / sizeof *accounts);
    }
}

#define PART struct dma_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/stash/dma/dma.def"
};

static const struct assembly_hooks hooks = {.allows = allows, .place = place};

const struct part_kind dma_kind = {
    .name = "dma",
    .explanation = "DMA engines beside the scratchpads of all multiprocessors.",
    PART_CONFIG(struct dma_config),
    .make = make,
    .free = free_part,
    .units = units,
    .publish = publish,
    .energy = energy,
    .hooks = &hooks,
};
