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
