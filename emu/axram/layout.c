#include "emu/axram/layout.h"

#include <inttypes.h>
#include <string.h>

enum { WORD = 4, WORDS = AXRAM_BLOCK / WORD };

unsigned axram_fan_in(const struct axram_topology *topology, unsigned layer)
{
    return topology->size[layer - 1] + topology->bias;
}

uint32_t axram_weight_count(const struct axram_topology *topology)
{
    uint32_t count = 0;
    for (unsigned layer = 1; layer <= topology->layers; layer++)
        count += axram_fan_in(topology, layer) * topology->size[layer];
    return count;
}

uint32_t axram_refill_count(const struct axram_topology *topology)
{
    return (axram_weight_count(topology) + AXRAM_REFILL - 1) / AXRAM_REFILL;
}

uint32_t axram_neuron_count(const struct axram_topology *topology)
{
    uint32_t count = 0;
    for (unsigned layer = 1; layer <= topology->layers; layer++)
        count += topology->size[layer];
    return count;
}

struct axram_layout axram_layout_of(const struct axram_topology *topology)
{
    struct axram_layout layout = {.ones = 1};
    layout.weights = layout.ones + topology->bias;
    layout.temporary = layout.weights + axram_refill_count(topology);
    layout.saved = layout.temporary;
    for (unsigned layer = 1; layer < topology->layers; layer++)
        layout.saved += topology->size[layer];
    layout.blocks = layout.saved + AXRAM_SAVED;
    layout.shared_blocks = layout.blocks + topology->size[0] + topology->size[topology->layers];
    return layout;
}

bool axram_read_header(struct axram_topology *topology, const uint32_t header[NETWORK_HEADER],
                       struct error *err)
{
    struct network network = {.kind = (enum arith_kind)(header[1] & 0xff),
                              .layers = header[1] >> 8 & 0xff,
                              .bias = header[1] >> 16 & 1};
    if (header[0] != NETWORK_SIGNATURE)
        return error_set(err, "its first word is 0x%08" PRIx32 ", not 0x%08" PRIx32, header[0],
                         NETWORK_SIGNATURE);
    for (unsigned i = 0; i <= NETWORK_LAYERS; i++)
        network.size[i] = header[2] >> 8 * i & 0xff;
    if (!network_check_reserved(header, err) || !network_check(&network, err))
        return false;
    *topology = (struct axram_topology){.kind = network.kind, .layers = network.layers, .bias = network.bias};
    memcpy(topology->size, network.size, sizeof topology->size);
    return header[3] == axram_weight_count(topology) ||
           error_set(err, "it has %" PRIu32 " weights, but the topology needs %" PRIu32, header[3],
                     axram_weight_count(topology));
}

struct axram_topology axram_topology_of(const struct network *network)
{
    struct axram_topology topology = {
        .kind = network->kind, .layers = network->layers, .bias = network->bias};
    memcpy(topology.size, network->size, sizeof topology.size);
    return topology;
}

void axram_write_configuration(const struct network *network, uint32_t *words)
{
    const struct axram_topology topology = axram_topology_of(network);
    const struct axram_layout layout = axram_layout_of(&topology);
    const uint32_t count = axram_weight_count(&topology);
    uint32_t image[NETWORK_HEADER + NETWORK_WEIGHTS];
    memset(words, 0, (size_t)layout.blocks * AXRAM_BLOCK);
    network_write_image(network, image);
    memcpy(words, image, NETWORK_HEADER * sizeof *words);
    for (unsigned unit = 0; topology.bias && unit < AXRAM_UNITS; unit++)
        words[(size_t)layout.ones * WORDS + unit] = arith_data(network->kind, 1);
    for (uint32_t i = 0; i < count; i++)
        for (unsigned half = 0; half < AXRAM_HALVES; half++)
            words[(size_t)(layout.weights + i / AXRAM_REFILL) * WORDS + half * AXRAM_REFILL +
                  i % AXRAM_REFILL] = image[NETWORK_HEADER + i];
}

bool axram_split(struct axram_part *part, uint64_t start, uint64_t end, uint64_t space, uint32_t together,
                 struct error *err)
{
    const uint64_t pieces = (uint64_t)AXRAM_PIECE * together;
    if (start % WORD || end % WORD)
        return error_set(err, "the region 0x%" PRIx64 "-0x%" PRIx64 " is not of whole words of 4 bytes",
                         start, end);
    if (end <= start)
        return error_set(err, "the region from 0x%" PRIx64 " to 0x%" PRIx64 " is empty", start, end);
    const uint64_t first = start / AXRAM_BLOCK, last = (end - 1) / AXRAM_BLOCK;
    const unsigned low = start % AXRAM_BLOCK / WORD, high = (end - 1) % AXRAM_BLOCK / WORD;
    if (low > high)
        return error_set(err,
                         "the region begins at word %u of a block of 128 bytes and ends behind word %u; it "
                         "must end at the same or a later word",
                         low, high);
    if ((start - space) / pieces != (end - 1 - space) / pieces)
        return error_set(err,
                         "the region 0x%" PRIx64 "-0x%" PRIx64
                         " crosses to another %s; %s change every %" PRIu64 " KiB (axram.together)",
                         start, end, together > 1 ? "team of chips" : "chip",
                         together > 1 ? "teams" : "chips", pieces / 1024);
    *part = (struct axram_part){.base = first * AXRAM_BLOCK,
                                .blocks = (uint32_t)(last - first + 1),
                                .units = UINT32_MAX >> (31 - (high - low)) << low};
    return true;
}

void axram_unit_region(uint64_t base, uint32_t blocks, unsigned unit, uint64_t *start, uint64_t *end)
{
    *start = base + (uint64_t)unit * WORD;
    *end = base + (uint64_t)(blocks - 1) * AXRAM_BLOCK + (uint64_t)(unit + 1) * WORD;
}
