/* What AxRAM's part knows of the machine around it: the memories, their homes, and the multiprocessors. */
#include "emu/axram/site.h"

#include "emu/axram/axram.h"
#include "emu/hart/hart.h"

const struct dram_config *axram_memory(const struct tree *tree, uint32_t *count)
{
    const struct dram_config *first = NULL;
    *count = 0;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        if (i->kind == &dram_kind) {
            first = first ? first : i->config;
            ++*count;
        }
    return first;
}

void axram_reserves(const void *config, uint64_t *offset, uint64_t *size)
{
    const struct axram_config *axram = config;
    *offset = axram->offset;
    *size = axram->size;
}

bool axram_describes(const struct tree *tree, const void *config, struct assembly_pieces *pieces)
{
    const struct axram_config *axram = config;
    uint32_t memories;
    const struct dram_config *dram = axram_memory(tree, &memories);
    if (!dram)
        return false;
    *pieces = (struct assembly_pieces){.compatible = "undercroft,axram",
                                       .units = memories * dram->channels * axram->halves,
                                       .together = axram->together,
                                       .piece = AXRAM_PIECE};
    return true;
}

/* Gives the memories the distances of columns inside their chips, and the groups of a wide command, before they are made. */
static void set_columns(const struct tree *tree, const struct axram_config *axram)
{
    for (struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        if (i->kind == &dram_kind) {
            struct dram_config *dram = (struct dram_config *)i->config;
            dram->inside = axram->columns == AXRAM_COLUMNS_PAPER ? DRAM_INSIDE_CLOCK : DRAM_INSIDE_GROUP;
            dram->wide = axram->halves > 1 ? dram->groups / axram->halves : 0;
        }
}

bool axram_plan(const struct assembly *assembly, const struct instance *axram, struct error *err)
{
    const struct tree *tree = assembly->tree;
    uint32_t count;
    const struct dram_config *dram = axram_memory(tree, &count);
    if (!axram_homes(axram->config, dram, assembly->layout, assembly->memory_base, assembly->memory_size,
                     assembly->homes, err))
        return tree_at_part(tree, axram, err);
    set_columns(tree, axram->config);
    return true;
}

const void *axram_place(const struct assembly *assembly, const struct instance *axram,
                        const struct mem_site *memory)
{
    const struct assembly_ops *ops = assembly->ops;
    const struct tree *tree = assembly->tree;
    struct axram_site *site = ops->keep(assembly, sizeof *site);
    void **clusters;
    (void)axram;
    *site = (struct axram_site){.memory = memory,
                                .bytes = assembly->harts->memory,
                                .peers = assembly->peers,
                                .base = assembly->memory_base,
                                .harts = assembly->hart_count,
                                .check = assembly->check_coherence};
    (void)axram_memory(tree, &site->memory_count);
    site->memories = ops->keep(assembly, site->memory_count * sizeof(struct dram_memory *));
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        uint32_t number;
        if (i->kind == &dram_kind && ops->memory_beside(assembly, i, &number))
            site->memories[number] = ops->object(assembly, i);
    }
    /* Without multiprocessors, or if nobody uses them, none is made. */
    site->cluster_count = assembly_objects(assembly, &simt_kind, &clusters);
    site->clusters = clusters;
    return site;
}
