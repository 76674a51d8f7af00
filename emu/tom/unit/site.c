/* What an offload unit knows of the machine around it. */
#include "emu/tom/site.h"
#include "emu/tom/tom.h"

bool tom_unit_plan(const struct assembly *assembly, const struct instance *unit, struct error *err)
{
    const struct tree *tree = assembly->tree;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        if (i->kind->hooks && i->kind->hooks->offloads)
            return true;
    (void)error_set(err, "no part sends blocks to this unit; allowed: with a part of kind tom, or no unit");
    return tree_at_part(tree, unit, err);
}

const void *tom_unit_place(const struct assembly *assembly, const struct instance *unit,
                           const struct mem_site *memory)
{
    const struct instance *simt = unit->parent ? tree_below(unit->parent, &simt_kind) : NULL;
    if (!assembly->grid)
        return NULL;
    struct tom_unit_site *site = assembly->ops->keep(assembly, sizeof *site);
    *site = (struct tom_unit_site){.memory = memory,
                                   .grid = assembly->grid,
                                   .cluster = simt ? assembly->ops->object(assembly, simt) : NULL};
    return site;
}
