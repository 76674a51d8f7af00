#include "emu/machine/timed_axram.h"

#include "emu/axram/axram.h"
#include "emu/machine/timed_state.h"

const void *timed_axram_site(struct timed *timed, const struct mem_site *memory)
{
    const struct tree *tree = timed->options.machine->tree;
    struct axram_site *site = timed_keep(timed, sizeof *site);
    struct simt_cluster **clusters;
    uint32_t count = 0;
    *site = (struct axram_site){.memory = memory,
                                .bytes = timed->harts[0].memory,
                                .peers = &timed->peers,
                                .base = timed->options.machine->memory->base,
                                .harts = timed->count,
                                .check = timed->options.check_coherence};
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        count += i->kind == &simt_kind;
        if (i->kind == &dram_kind)
            site->dram = builder_object(&timed->builder, i);
    }
    clusters = timed_keep(timed, (count + 1) * sizeof *clusters);
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        const struct simt_config *config = i->config;
        if (i->kind == &simt_kind && config->count)
            clusters[site->cluster_count++] = builder_object(&timed->builder, i);
    }
    site->clusters = clusters;
    return site;
}

unsigned timed_axram_findings(const struct timed *timed)
{
    unsigned findings = 0;
    for (size_t i = 0; i < timed->builder.count; i++) {
        const struct built_part *part = &timed->builder.parts[i];
        if (part->instance->kind == &axram_kind && part->object)
            findings += axram_findings(part->object) > 0;
    }
    return findings;
}
