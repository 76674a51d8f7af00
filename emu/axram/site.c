/* What AxRAM's part knows of the machine around it: the memory, its homes, and the multiprocessors. */
#include "emu/axram/site.h"

#include "emu/axram/axram.h"
#include "emu/hart/hart.h"

const struct dram_config *axram_memory(const struct tree *tree)
{
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        if (i->kind == &dram_kind)
            return i->config;
    return NULL;
}

void axram_reserves(const void *config, uint64_t *offset, uint64_t *size)
{
    const struct axram_config *axram = config;
    *offset = axram->offset;
    *size = axram->size;
}

/* Gives the memory the distances of columns inside its chips, before it is made. */
static void set_columns(const struct tree *tree, const struct axram_config *axram)
{
    for (struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        if (i->kind == &dram_kind)
            ((struct dram_config *)i->config)->inside =
                axram->columns == AXRAM_COLUMNS_PAPER ? DRAM_INSIDE_CLOCK : DRAM_INSIDE_GROUP;
}

bool axram_plan(const struct assembly *assembly, const struct instance *axram, struct error *err)
{
    const struct tree *tree = assembly->tree;
    unsigned count = 0;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        count += i->kind == &dram_kind;
    if (count > 1)
        (void)error_set(err, "the machine has several memories; allowed: one");
    else if (axram_homes(axram->config, axram_memory(tree), assembly->memory_base, assembly->memory_size,
                         assembly->homes, err)) {
        set_columns(tree, axram->config);
        return true;
    }
    return tree_at_part(tree, axram, err);
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
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        if (i->kind == &dram_kind)
            site->dram = ops->object(assembly, i);
    /* Without multiprocessors, or if nobody uses them, none is made. */
    site->cluster_count = assembly_objects(assembly, &simt_kind, &clusters);
    site->clusters = clusters;
    return site;
}
