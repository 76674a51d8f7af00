#include "emu/machine/study/parties.h"

#include <stdlib.h>

#include "emu/net/fabric.h"
#include "emu/sim/alloc.h"

/* Adds an element's weight to its partition, which gets a number and this name if it is new. numbers: by old number, from 1. */
static void add(struct parties *parties, uint32_t *numbers, uint32_t partition, const char *name,
                uint64_t weight)
{
    uint32_t *of = &numbers[partition];
    if (*of == 0) {
        *of = ++parties->count;
        parties->names[*of - 1] = name;
    }
    parties->weights[*of - 1] += weight;
}

void parties_make(struct parties *parties, struct cut *cut, const struct builder *builder)
{
    uint32_t *numbers = alloc(cut->count, sizeof *numbers);
    *parties = (struct parties){.names = alloc(cut->count, sizeof *parties->names),
                                .weights = alloc(cut->count, sizeof *parties->weights)};
    for (size_t i = 0; i < builder->count; i++) {
        const struct built_part *part = &builder->parts[i];
        if (part->object && part->instance->kind != &network_kind)
            add(parties, numbers, cut_of(cut, part->instance), part->instance->path, part->components);
    }
    for (uint32_t i = 0; i < cut->network_count; i++) {
        const struct cut_network *network = &cut->networks[i];
        for (uint32_t r = 0; r < network->shape.topology.router_count; r++)
            add(parties, numbers, cut->partitions[network->first + r], network->instance->path, 1);
    }
    for (uint32_t i = 0; i < cut->elements; i++) {
        const uint32_t own = numbers[cut->partitions[i]];
        cut->partitions[i] = own ? own - 1 : 0;
    }
    free(numbers);
}

void parties_free(struct parties *parties)
{
    free(parties->names);
    free(parties->weights);
}
