#include "emu/machine/timed_tom.h"

#include <stdlib.h>
#include <string.h>

#include "emu/analysis/candidate_table.h"
#include "emu/machine/timed_state.h"
#include "emu/net/link.h"
#include "emu/sim/alloc.h"
#include "emu/tom/mapping.h"

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

/* Returns whether the symbol is a static array for the allocation table. */
static bool is_array(const GElf_Sym *symbol)
{
    return GELF_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_size >= TOM_RANGE_LEAST;
}

/* Stores the arrays among the symbols of a section, unless `arrays` is NULL. Returns their number. */
static uint32_t list_symbols(Elf_Scn *section, struct tom_span *arrays)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;
    uint32_t count = 0;
    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
        if (!is_array(&symbol))
            continue;
        if (arrays)
            arrays[count] = (struct tom_span){symbol.st_value, symbol.st_size};
        count++;
    }
    return count;
}

/* Lists the program's static arrays, and finds the end of its sections. */
static void list_arrays(struct timed *timed, struct tom_site *site)
{
    Elf *elf = symbols_elf(timed->symbols);
    Elf_Scn *section = NULL;
    while (elf && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        if (header.sh_flags & SHF_ALLOC && header.sh_addr + header.sh_size > site->program_end)
            site->program_end = header.sh_addr + header.sh_size;
        if (header.sh_type != SHT_SYMTAB) /* an ELF file has one at most */
            continue;
        struct tom_span *arrays = timed_keep(timed, (list_symbols(section, NULL) + 1) * sizeof *arrays);
        site->array_count = list_symbols(section, arrays);
        site->arrays = arrays;
    }
}

/* Lists the PCIe links to host memory. */
static void list_pcies(struct timed *timed, struct tom_site *site)
{
    const struct builder *builder = &timed->builder;
    struct tom_pcie **pcies = timed_keep(timed, (builder->count + 1) * sizeof(struct tom_pcie *));
    for (size_t i = 0; i < builder->count; i++)
        if (builder->parts[i].instance->kind == &tom_pcie_kind && builder->parts[i].object)
            pcies[site->pcie_count++] = builder->parts[i].object;
    site->pcies = pcies;
}

const void *timed_tom_site(struct timed *timed, const struct mem_site *memory)
{
    struct tom_site *site = timed_keep(timed, sizeof *site);
    *site = (struct tom_site){.memory = memory,
                              .grid = timed_simt_grid(timed),
                              .decoder = timed->harts[0].decoder,
                              .check = timed->options.check_coherence,
                              .layout = plan_layout(&timed->builder.plan),
                              .memory_base = timed->options.machine->memory->base,
                              .memory_size = timed->options.machine->memory->size};
    list_stacks(timed, site);
    list_clusters(timed, site);
    list_arrays(timed, site);
    list_pcies(timed, site);
    find_table(timed, site);
    return site;
}

/* Returns the next part of kind `tom` from *at on, or NULL. */
static void *next_tom(const struct timed *timed, size_t *at)
{
    while (*at < timed->builder.count) {
        const struct built_part *part = &timed->builder.parts[(*at)++];
        if (part->instance->kind == &tom_kind && part->object)
            return part->object;
    }
    return NULL;
}

void timed_tom_allocated(const struct timed *timed, uint64_t base, uint64_t bytes)
{
    void *tom;
    for (size_t at = 0; (tom = next_tom(timed, &at));)
        tom_allocated(tom, base, bytes);
}

void timed_tom_finish(const struct timed *timed)
{
    void *tom;
    for (size_t at = 0; (tom = next_tom(timed, &at));)
        tom_finish(tom);
}

unsigned timed_tom_findings(const struct timed *timed)
{
    unsigned findings = 0;
    const void *tom;
    for (size_t at = 0; (tom = next_tom(timed, &at));)
        findings += tom_findings(tom) > 0;
    return findings;
}
