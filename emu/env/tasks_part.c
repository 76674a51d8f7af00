#include "emu/env/tasks_part.h"

const struct instance *tasks_part(const struct tree *tree)
{
    const struct instance *part = tree_next(tree, NULL);
    while (part && !part->kind->tasks)
        part = tree_next(tree, part);
    return part;
}

static const struct tasks_kind *kind_of(const struct tree *tree)
{
    const struct instance *part = tasks_part(tree);
    return part ? part->kind->tasks : NULL;
}

bool tasks_wanted(const struct tree *tree)
{
    const struct tasks_kind *kind = kind_of(tree);
    return kind && kind->wanted(tree);
}

unsigned tasks_count(const struct tree *tree, const char *firmware)
{
    const struct tasks_kind *kind = kind_of(tree);
    return kind ? kind->count(tree, firmware) : 0;
}

struct phys tasks_program_memory(const struct tree *tree, const char *firmware, const struct phys *memory)
{
    const struct tasks_kind *kind = kind_of(tree);
    return kind ? kind->program_memory(tree, firmware, memory)
                : phys_view(memory, memory->base, memory->size, memory->base);
}

bool tasks_describe(const struct tree *tree, const char *firmware, struct tasks_node *node)
{
    const struct tasks_kind *kind = kind_of(tree);
    if (!kind || kind->count(tree, firmware) == 0)
        return false;
    kind->node(tree, firmware, node);
    return true;
}

void tasks_boot(const struct tree *tree, const char *firmware, uint64_t tick, struct kernel_boot *boot)
{
    const struct tasks_kind *kind = kind_of(tree);
    if (kind)
        kind->boot(tree, firmware, tick, boot);
}

void tasks_be_patient(const struct tree *tree)
{
    const struct tasks_kind *kind = kind_of(tree);
    if (kind)
        kind->be_patient(tree);
}

void tasks_warn_without_kernel(const struct tree *tree)
{
    const struct tasks_kind *kind = kind_of(tree);
    if (kind)
        kind->warn_without_kernel(tree);
}

void tasks_warn_hosts(const struct tree *tree)
{
    const struct tasks_kind *kind = kind_of(tree);
    if (kind)
        kind->warn_hosts(tree);
}

struct tasks *tasks_new(const struct tasks_options *options, struct error *err)
{
    const struct tasks_kind *kind = kind_of(options->tree);
    return kind && kind->count(options->tree, options->firmware) ? kind->make(options, err) : NULL;
}
