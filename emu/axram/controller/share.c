#include "emu/axram/controller/share.h"

unsigned axram_share_member(const struct axram_sharing *sharing, uint64_t address)
{
    return sharing->count > 1 ? (unsigned)((address - sharing->space) / AXRAM_PIECE % sharing->count) : 0;
}

struct axram_range axram_share_neurons(const struct axram_sharing *sharing, unsigned member, unsigned layer)
{
    const unsigned count = sharing->count > 1 ? sharing->count : 1, neurons = sharing->topology->size[layer],
                   turn = (member + count - axram_share_member(sharing, sharing->inputs)) % count;
    return (struct axram_range){(turn * neurons + count - 1) / count,
                                ((turn + 1) * neurons + count - 1) / count};
}

struct axram_range axram_share_own(const struct axram_sharing *sharing, unsigned member, bool results)
{
    const uint64_t region = results ? sharing->results : sharing->inputs;
    const unsigned count = sharing->topology->size[results ? sharing->topology->layers : 0];
    struct axram_range own = {0, 0};
    for (unsigned i = 0; i < count; i++) {
        if (axram_share_member(sharing, region + (uint64_t)i * AXRAM_BLOCK) != member)
            continue;
        own.first = own.end == 0 ? i : own.first;
        own.end = i + 1;
    }
    return own;
}

unsigned axram_share_holder(const struct axram_sharing *sharing, unsigned layer, unsigned value)
{
    if (layer == 0)
        return axram_share_member(sharing, sharing->inputs + (uint64_t)value * AXRAM_BLOCK);
    unsigned member = 0;
    struct axram_range neurons = axram_share_neurons(sharing, member, layer);
    while (value < neurons.first || value >= neurons.end)
        neurons = axram_share_neurons(sharing, ++member, layer);
    return member;
}

bool axram_share_wants(const struct axram_sharing *sharing, unsigned member, unsigned layer, unsigned value)
{
    if (axram_share_holder(sharing, layer, value) == member)
        return false;
    if (layer == sharing->topology->layers)
        return axram_share_member(sharing, sharing->results + (uint64_t)value * AXRAM_BLOCK) == member;
    const struct axram_range next = axram_share_neurons(sharing, member, layer + 1);
    return next.first < next.end;
}

uint64_t axram_share_place(const struct axram_sharing *sharing, unsigned member, unsigned layer,
                           unsigned value)
{
    const struct axram_topology *topology = sharing->topology;
    const struct axram_layout layout = axram_layout_of(topology);
    const bool outer = layer == 0 || layer == topology->layers;
    const uint64_t block = (layer == 0 ? sharing->inputs : sharing->results) + (uint64_t)value * AXRAM_BLOCK;
    uint32_t number = layer == 0 ? layout.blocks : layout.blocks + topology->size[0];
    if (outer && axram_share_member(sharing, block) == member)
        return block;
    for (unsigned i = 1; !outer && i <= layer; i++)
        number = i == 1 ? layout.temporary : number + topology->size[i - 1];
    return sharing->configurations[member] + (uint64_t)(number + value) * AXRAM_BLOCK;
}
