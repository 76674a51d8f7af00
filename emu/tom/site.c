/* What the offload controllers know of the machine and the program: stacks, multiprocessors, ways to host memory, the table of
 * candidates and the static arrays. */
#include "emu/tom/site.h"

#include <gelf.h>
#include <string.h>

#include "emu/analysis/candidate_table.h"
#include "emu/hart/hart.h"
#include "emu/net/link.h"
#include "emu/net/network.h"
#include "emu/tom/mapping/mapping.h"

/* Returns the link that leads to the unit, or NULL. */
static struct link *link_to(const struct assembly *assembly, const struct instance *unit)
{
    const struct instance *link = assembly->ops->client(assembly, unit, &link_kind);
    return link ? assembly->ops->object(assembly, link) : NULL;
}

/* Notes what a unit's packets meet on their way: a network, perhaps behind the way to host memory. */
static void note_way(const struct assembly *assembly, const struct instance *unit, struct tom_site *site)
{
    const struct assembly_ops *ops = assembly->ops;
    const struct instance *pcie = ops->client(assembly, unit, &tom_pcie_kind),
                          *network = ops->client(assembly, pcie ? pcie : unit, &network_kind);
    const struct tom_unit_config *config = unit->config;
    if (!network)
        return;
    if (!site->by_network || config->queue < site->unit_queue)
        site->unit_queue = config->queue;
    site->by_network = true;
    site->whole = site->whole || ((const struct network_config *)network->config)->flow != NETWORK_WORMHOLE;
}

/* Lists the stacks by their memories. */
static void list_stacks(const struct assembly *assembly, struct tom_site *site)
{
    const struct assembly_ops *ops = assembly->ops;
    const struct tree *tree = assembly->tree;
    uint32_t number;
    site->stack_count = site->memory->modules * site->memory->stacks;
    struct tom_stack *stacks = assembly->ops->keep(assembly, site->stack_count * sizeof *stacks);
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        if (i->kind == &tom_unit_kind && ops->memory_beside(assembly, i, &number)) {
            stacks[number] = (struct tom_stack){ops->object(assembly, i), link_to(assembly, i)};
            note_way(assembly, i, site);
        }
    site->stacks = stacks;
}

/* Lists the multiprocessors on which launches place blocks. */
static void list_clusters(const struct assembly *assembly, struct tom_site *site)
{
    const struct tree *tree = assembly->tree;
    uint32_t count = 0;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        count += i->kind == &simt_kind;
    void **clusters = assembly->ops->keep(assembly, (count + 1) * sizeof *clusters);
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        const struct simt_config *config = i->config;
        if (i->kind == &simt_kind && config->count && config->launches) {
            clusters[site->cluster_count++] = assembly->ops->object(assembly, i);
            site->front_warps += (uint64_t)config->count * config->warps;
        }
    }
    site->clusters = clusters;
}

/* Finds the program's table of candidates. */
static void find_table(const struct assembly *assembly, struct tom_site *site)
{
    Elf *elf = assembly->ops->program(assembly);
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
        uint8_t *bytes = assembly->ops->keep(assembly, data->d_size + 1);
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
static void list_arrays(const struct assembly *assembly, struct tom_site *site)
{
    Elf *elf = assembly->ops->program(assembly);
    Elf_Scn *section = NULL;
    while (elf && (section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        if (header.sh_flags & SHF_ALLOC && header.sh_addr + header.sh_size > site->program_end)
            site->program_end = header.sh_addr + header.sh_size;
        if (header.sh_type != SHT_SYMTAB) /* an ELF file has one at most */
            continue;
        struct tom_span *arrays =
            assembly->ops->keep(assembly, (list_symbols(section, NULL) + 1) * sizeof *arrays);
        site->array_count = list_symbols(section, arrays);
        site->arrays = arrays;
    }
}

/* Lists the PCIe links to host memory. */
static void list_pcies(const struct assembly *assembly, struct tom_site *site)
{
    const struct tree *tree = assembly->tree;
    uint32_t count = 0;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        count += i->kind == &tom_pcie_kind;
    struct tom_pcie **pcies = assembly->ops->keep(assembly, (count + 1) * sizeof(struct tom_pcie *));
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        struct tom_pcie *pcie = i->kind == &tom_pcie_kind ? assembly->ops->object(assembly, i) : NULL;
        if (pcie)
            pcies[site->pcie_count++] = pcie;
    }
    site->pcies = pcies;
}

const void *tom_place(const struct assembly *assembly, const struct instance *tom,
                      const struct mem_site *memory)
{
    struct tom_site *site = assembly->ops->keep(assembly, sizeof *site);
    (void)tom;
    *site = (struct tom_site){.memory = memory,
                              .grid = assembly->grid,
                              .decoder = assembly->harts->decoder,
                              .check = assembly->check_coherence,
                              .memory_base = assembly->memory_base,
                              .memory_size = assembly->memory_size,
                              .reserved_first = assembly->reserved_first,
                              .reserved_end = assembly->reserved_end};
    site->layout = *assembly->layout;
    list_stacks(assembly, site);
    list_clusters(assembly, site);
    list_arrays(assembly, site);
    list_pcies(assembly, site);
    find_table(assembly, site);
    return site;
}
