#include "emu/machine/untimed.h"

#include <stdlib.h>

#include "emu/hart/custom.h"
#include "emu/sim/alloc.h"

struct untimed {
    struct custom_units units;
    struct untimed_part {
        const struct part_kind *kind;
        void *object;
    } * parts;
    size_t count;
};

static bool has(const struct untimed *untimed, const struct part_kind *kind)
{
    for (size_t i = 0; i < untimed->count; i++)
        if (untimed->parts[i].kind == kind)
            return true;
    return false;
}

static void add(struct untimed *untimed, const struct assembly *assembly, const struct instance *instance)
{
    const struct part_kind *kind = instance->kind;
    void *object = kind->hooks->untimed(assembly, instance);
    if (!object)
        return;
    untimed->parts = alloc_resize(untimed->parts, (untimed->count + 1) * sizeof *untimed->parts);
    untimed->parts[untimed->count++] = (struct untimed_part){kind, object};
    kind->units(object, &untimed->units);
}

struct untimed *untimed_new(const struct machine_config *machine, struct hart *harts, unsigned count)
{
    struct untimed *untimed = alloc(1, sizeof *untimed);
    struct assembly assembly = machine_assembly(machine);
    assembly.harts = harts;
    assembly.hart_count = count;
    for (const struct instance *i = tree_next(machine->tree, NULL); i; i = tree_next(machine->tree, i))
        if (i->kind->hooks && i->kind->hooks->untimed && !has(untimed, i->kind))
            add(untimed, &assembly, i);
    for (unsigned i = 0; untimed->count && i < count; i++)
        harts[i].custom = &untimed->units;
    return untimed;
}

void untimed_free(struct untimed *untimed)
{
    if (!untimed)
        return;
    for (size_t i = 0; i < untimed->count; i++)
        untimed->parts[i].kind->free(untimed->parts[i].object);
    free(untimed->parts);
    free(untimed);
}
