#include "emu/machine/untimed.h"

#include <stdlib.h>

#include "emu/axram/axram.h"
#include "emu/hart/custom.h"
#include "emu/sim/alloc.h"

struct untimed {
    struct custom_units units;
    void *axram; /* or NULL */
};

static const struct dram_config *memory_of(const struct tree *tree)
{
    for (const struct instance *i = tree_next(tree, NULL); i; i = tree_next(tree, i))
        if (i->kind == &dram_kind)
            return i->config;
    return NULL;
}

struct untimed *untimed_new(const struct machine_config *machine, struct hart *harts, unsigned count)
{
    struct untimed *untimed = alloc(1, sizeof *untimed);
    const struct dram_config *dram = memory_of(machine->tree);
    for (const struct instance *i = tree_next(machine->tree, NULL); i; i = tree_next(machine->tree, i)) {
        if (i->kind != &axram_kind || !dram || untimed->axram)
            continue;
        untimed->axram =
            axram_untimed(i->config, harts->memory, machine->memory->base, dram->channels, count);
        axram_kind.units(untimed->axram, &untimed->units);
    }
    for (unsigned i = 0; untimed->axram && i < count; i++)
        harts[i].custom = &untimed->units;
    return untimed;
}

void untimed_free(struct untimed *untimed)
{
    if (untimed && untimed->axram)
        axram_kind.free(untimed->axram);
    free(untimed);
}
