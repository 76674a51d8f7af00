#include "emu/cmd/candidates/storage.h"

#include <limits.h>
#include <stdlib.h>

#include "emu/cmd/paths.h"
#include "emu/machine/machine.h"
#include "emu/sim/alloc.h"

static struct part_child *list_parts(const struct tree *tree, size_t *count)
{
    *count = 0;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        (*count)++;
    struct part_child *parts = alloc(*count, sizeof *parts), *part = parts;
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        *part++ = (struct part_child){i->name, i->kind, i->config, i->given};
    return parts;
}

bool candidates_print_storage(const char *machine, struct error *err)
{
    char folder[PATH_MAX];
    struct machine_config config;
    if (!paths_share("machines", folder, sizeof folder, err) ||
        !machine_load(&config, machine, folder, NULL, 0, err))
        return false;
    size_t count;
    struct part_child *parts = list_parts(config.tree, &count);
    bool printed = true;
    for (const struct part_kind *const *kind = machine_kinds; *kind && printed; kind++)
        printed = !(*kind)->print_storage || (*kind)->print_storage(machine, parts, count, err);
    free(parts);
    machine_free(&config);
    return printed;
}
