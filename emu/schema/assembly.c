#include "emu/schema/assembly.h"

uint32_t assembly_objects(const struct assembly *assembly, const struct part_kind *kind, void ***objects)
{
    const struct tree *tree = assembly->tree;
    uint32_t count = 0, made = 0;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        count += i->kind == kind;
    *objects = assembly->ops->keep(assembly, (count + 1) * sizeof **objects);
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i)) {
        void *object = i->kind == kind ? assembly->ops->object(assembly, i) : NULL;
        if (object) /* a machine without programs for multiprocessors makes none */
            (*objects)[made++] = object;
    }
    return made;
}

const struct instance *assembly_reserver(const struct tree *tree, const struct instance *last)
{
    const struct instance *i = tree_next(tree, last);
    while (i && !(i->kind->hooks && i->kind->hooks->reserves))
        i = tree_next(tree, i);
    return i;
}

void assembly_reserved(const struct instance *part, uint64_t base, uint64_t *first, uint64_t *end)
{
    uint64_t offset = 0, size = 0;
    if (part)
        part->kind->hooks->reserves(part->config, &offset, &size);
    *first = base + offset;
    *end = *first + size;
}
