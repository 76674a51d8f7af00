/* A timed machine as the hooks of mechanisms see it (emu/schema/assembly.h). */
#include "emu/machine/timed/state.h"

static void *object(const struct assembly *assembly, const struct instance *part)
{
    const struct timed *timed = assembly->context;
    return builder_object(&timed->builder, part);
}

static const struct instance *client(const struct assembly *assembly, const struct instance *part,
                                     const struct part_kind *kind)
{
    const struct timed *timed = assembly->context;
    const struct wiring *wiring = &timed->builder.plan.wiring;
    for (size_t i = 0; i < wiring->count; i++)
        if (wiring->wires[i].server == part && wiring->wires[i].client->kind == kind)
            return wiring->wires[i].client;
    return NULL;
}

static bool memory_beside(const struct assembly *assembly, const struct instance *part, uint32_t *number)
{
    const struct timed *timed = assembly->context;
    const struct instance *memory = part->parent ? tree_below(part->parent, &dram_kind) : NULL;
    if (memory)
        *number = plan_memory_number(&timed->builder.plan, memory);
    return memory;
}

static struct Elf *program(const struct assembly *assembly)
{
    const struct timed *timed = assembly->context;
    return symbols_elf(timed->symbols);
}

static void *keep(const struct assembly *assembly, size_t bytes)
{
    return timed_keep(assembly->context, bytes);
}

void timed_assemble(struct timed *timed)
{
    static const struct assembly_ops ops = {
        .object = object, .client = client, .memory_beside = memory_beside, .program = program, .keep = keep};
    timed->assembly = machine_assembly(timed->options.machine);
    timed->assembly.homes = timed->builder.plan.homes;
    timed->assembly.layout = &timed->builder.plan.layout;
    timed->assembly.harts = timed->harts;
    timed->assembly.hart_count = timed->count;
    timed->assembly.peers = &timed->peers;
    timed->assembly.grid = timed_simt_grid(timed);
    timed->assembly.check_coherence = timed->options.check_coherence;
    timed->assembly.ops = &ops;
    timed->assembly.context = timed;
}
