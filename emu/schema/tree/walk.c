/* Finds the parts of a description. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emu/schema/dotted.h"
#include "emu/schema/tree/state.h"
#include "emu/sim/alloc.h"

struct instance *tree_root(const struct tree *tree)
{
    return tree->root;
}

struct instance *tree_next_of(const struct instance *instance, bool below)
{
    if (below && instance->first)
        return instance->first;
    while (instance && !instance->next)
        instance = instance->parent;
    return instance ? instance->next : NULL;
}

struct instance *tree_next(const struct tree *tree, const struct instance *instance)
{
    struct instance *next = instance ? tree_next_of(instance, true) : tree->root;
    while (next && next->absent)
        next = tree_next_of(next, false);
    return next;
}

struct instance *tree_find_below(const struct instance *instance, const char *path)
{
    if (!*path)
        return (struct instance *)(uintptr_t)instance;
    for (const struct instance *below = instance->first; below; below = below->next) {
        size_t length = name_length(path);
        if (below->absent || strlen(below->name) != length || strncmp(below->name, path, length) != 0)
            continue;
        const char *rest = path + length + (path[length] == '.');
        if (below->index >= 0 && name_is_index(rest)) {
            if (strtoul(rest, NULL, 10) != (unsigned long)below->index)
                continue;
            rest += name_length(rest);
            rest += *rest == '.';
        } else if (below->index > 0) {
            continue;
        }
        return tree_find_below(below, rest);
    }
    return NULL;
}

struct instance *tree_find(const struct tree *tree, const char *path)
{
    return tree_find_below(tree->root, path);
}

const struct instance *tree_below(const struct instance *instance, const struct part_kind *kind)
{
    for (const struct instance *i = instance->first; i; i = i->next)
        if (!i->absent && i->kind == kind)
            return i;
    return NULL;
}

const void **tree_configs_below(const struct instance *instance)
{
    const struct part_role *roles = instance->kind->roles;
    size_t count = 0;
    while (roles && roles[count].name)
        count++;
    const void **configs = alloc(count + 1, sizeof *configs);
    for (size_t i = 0; i < count; i++) {
        for (const struct instance *part = instance->first; part; part = part->next)
            if (part->role == &roles[i] && !part->absent)
                configs[i] = part->config;
    }
    return configs;
}

const void *tree_config(const struct tree *tree, const char *path)
{
    const struct instance *instance = tree_find(tree, path);
    return instance ? instance->config : NULL;
}

const char *tree_file(const struct tree *tree)
{
    return tree->files[0].path;
}
