#include "emu/machine/timed_tom.h"

#include <stdlib.h>
#include <string.h>

#include "emu/analysis/candidate_table.h"
#include "emu/machine/timed_state.h"
#include "emu/net/link.h"
#include "emu/sim/alloc.h"
#include "emu/tom/tom.h"

/* Returns the part of a kind that stands beside another one in its group, or NULL. */
static const struct instance *beside(const struct instance *part, const struct part_kind *kind)
{
    return part->parent ? tree_below(part->parent, kind) : NULL;
}

const void *timed_tom_unit_site(struct timed *timed, const struct instance *instance,
                                const struct mem_site *memory)
{
    const struct instance *simt = beside(instance, &simt_kind);
    struct simt_grid *grid = timed_simt_grid(timed);
    if (!grid)
        return NULL;
    struct tom_unit_site *site = timed_keep(timed, sizeof *site);
    *site = (struct tom_unit_site){
        .memory = memory, .grid = grid, .cluster = simt ? builder_object(&timed->builder, simt) : NULL};
    return site;
}

/* Returns the link that leads to the unit, or NULL. */
static struct link *link_to(const struct timed *timed, const struct instance *unit)
{
    const struct wiring *wiring = &timed->builder.plan.wiring;
    for (size_t i = 0; i < wiring->count; i++)
        if (wiring->wires[i].server == unit && wiring->wires[i].client->kind == &link_kind)
            return builder_object(&timed->builder, wiring->wires[i].client);
    return NULL;
}

/* Lists the stacks by their memories. */
static void list_stacks(struct timed *timed, struct tom_site *site)
{
    const struct plan *plan = &timed->builder.plan;
    const struct tree *tree = timed->options.machine->tree;
    site->stack_count = plan->modules * plan->stacks;
    struct tom_stack *stacks = timed_keep(timed, site->stack_count * sizeof *stacks);
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        const struct instance *memory = i->kind == &tom_unit_kind ? beside(i, &dram_kind) : NULL;
        if (memory)
            stacks[plan_memory_number(plan, memory)] =
                (struct tom_stack){builder_object(&timed->builder, i), link_to(timed, i)};
    }
    site->stacks = stacks;
}

/* Lists the multiprocessors on which launches place blocks. */
static void list_clusters(struct timed *timed, struct tom_site *site)
{
    const struct tree *tree = timed->options.machine->tree;
    uint32_t count = 0;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        count += i->kind == &simt_kind;
    struct simt_cluster **clusters = timed_keep(timed, (count + 1) * sizeof(struct simt_cluster *));
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        const struct simt_config *config = i->config;
        if (i->kind == &simt_kind && config->count && config->launches)
            clusters[site->cluster_count++] = builder_object(&timed->builder, i);
    }
    site->clusters = clusters;
}

/* Finds the program's table of candidates. */
static void find_table(struct timed *timed, struct tom_site *site)
{
    Elf *elf = symbols_elf(timed->symbols);
    size_t names;
    Elf_Scn *section = NULL;
    if (!elf || elf_getshdrstrndx(elf, &names) != 0)
        return;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        const Elf_Data *data =
            name && strcmp(name, CANDIDATE_SECTION) == 0 ? elf_rawdata(section, NULL) : NULL;
        if (!data)
            continue;
        uint8_t *bytes = timed_keep(timed, data->d_size + 1);
        if (data->d_size)
            memcpy(bytes, data->d_buf, data->d_size);
        site->table = bytes;
        site->table_size = data->d_size;
    }
}

const void *timed_tom_site(struct timed *timed, const struct mem_site *memory)
{
    struct simt_grid *grid = timed_simt_grid(timed);
    if (!grid)
        return NULL;
    struct tom_site *site = timed_keep(timed, sizeof *site);
    *site = (struct tom_site){.memory = memory,
                              .grid = grid,
                              .decoder = timed->harts[0].decoder,
                              .check = timed->options.check_coherence};
    list_stacks(timed, site);
    list_clusters(timed, site);
    find_table(timed, site);
    return site;
}

unsigned timed_tom_findings(const struct timed *timed)
{
    unsigned findings = 0;
    for (size_t i = 0; i < timed->builder.count; i++) {
        const struct built_part *part = &timed->builder.parts[i];
        if (part->instance->kind == &tom_kind && part->object)
            findings += tom_findings(part->object) > 0;
    }
    return findings;
}
