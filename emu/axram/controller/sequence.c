#include "emu/axram/controller/sequence.h"

#include <limits.h>

static uint64_t block_at(uint64_t region, uint32_t block)
{
    return region + (uint64_t)block * AXRAM_BLOCK;
}

/* Returns the number of the first temporary block of a hidden layer. */
static uint32_t temporary_of(const struct axram_sequence *s, unsigned layer)
{
    uint32_t block = s->layout.temporary;
    for (unsigned i = 1; i < layer; i++)
        block += s->topology->size[i];
    return block;
}

/* Returns the set of parts that have some of the units. */
static uint32_t parts_of(uint32_t units, unsigned parts)
{
    uint32_t set = 0;
    for (unsigned part = 0; part < parts; part++)
        if (units >> part * (AXRAM_UNITS / parts) & UINT32_MAX >> (AXRAM_UNITS - AXRAM_UNITS / parts))
            set |= 1U << part;
    return set;
}

void axram_sequence_begin(struct axram_sequence *s, const struct axram_topology *topology,
                          uint64_t configuration, uint64_t inputs, uint64_t results, uint32_t units,
                          unsigned parts)
{
    const uint32_t left = parts_of(units, parts);
    *s = (struct axram_sequence){.topology = topology,
                                 .configuration = configuration,
                                 .inputs = inputs,
                                 .results = results,
                                 .part = (unsigned)__builtin_ctz(left),
                                 .parts = parts,
                                 .left = left,
                                 .layout = axram_layout_of(topology),
                                 .weight_count = axram_weight_count(topology),
                                 .layer = 1};
    s->refills = s->refill_end = (s->weight_count + AXRAM_REFILL - 1) / AXRAM_REFILL;
    s->inputs_here = s->results_here = (struct axram_range){0, UINT_MAX};
    s->total = s->weight_count + s->refills;
    for (unsigned layer = 1; layer <= topology->layers; layer++)
        s->total += topology->size[layer];
    s->total *= (uint32_t)__builtin_popcount(left);
}

void axram_sequence_hold(struct axram_sequence *s, uint32_t words)
{
    s->holds = words > 0;
    for (unsigned layer = 1; layer <= s->topology->layers; layer++)
        s->holds = s->holds && axram_fan_in(s->topology, layer) +
                                       (layer < s->topology->layers ? s->topology->size[layer] : 0) <=
                                   words;
}

/* Goes to the first command of a part. */
static void rewind_part(struct axram_sequence *s)
{
    s->layer = s->only ? s->only : 1;
    s->neuron = s->only ? s->neurons.first : 0;
    s->weight = s->weight_first;
    s->refill = s->refill_first;
}

void axram_sequence_share(struct axram_sequence *s, const struct axram_sharing *sharing, unsigned member,
                          unsigned layer)
{
    const unsigned fan_in = axram_fan_in(s->topology, layer);
    s->only = layer;
    s->holds = false;
    s->neurons = axram_share_neurons(sharing, member, layer);
    s->inputs_here = axram_share_own(sharing, member, false);
    s->results_here = axram_share_own(sharing, member, true);
    s->weight_first = s->neurons.first * fan_in;
    for (unsigned i = 1; i < layer; i++)
        s->weight_first += axram_fan_in(s->topology, i) * s->topology->size[i];
    const uint32_t neurons = s->neurons.end - s->neurons.first, weights = neurons * fan_in;
    s->refill_first = s->weight_first / AXRAM_REFILL;
    s->refill_end = (s->weight_first + weights + AXRAM_REFILL - 1) / AXRAM_REFILL;
    s->total = (weights + s->refill_end - s->refill_first + neurons) * (uint32_t)__builtin_popcount(s->left);
    rewind_part(s);
}

/* Returns whether a refill comes next: the next weight needs it, or it follows the first input of the block of weights before, to whose
 * arrival the units have finished with the four entries that it overwrites. */
static bool refills(const struct axram_sequence *s)
{
    if (s->refill == s->refill_end)
        return false;
    const uint32_t first = s->refill * AXRAM_REFILL;
    return first <= s->weight || (s->weight > s->weight_first &&
                                  first <= (s->weight - 1) / AXRAM_REFILL * AXRAM_REFILL + AXRAM_REFILL);
}

static bool at_output(const struct axram_sequence *s)
{
    return s->input == axram_fan_in(s->topology, s->layer);
}

static uint64_t input_at(const struct axram_sequence *s)
{
    if (s->input == s->topology->size[s->layer - 1])
        return block_at(s->configuration, s->layout.ones); /* the bias */
    if (s->layer == 1 && (s->input < s->inputs_here.first || s->input >= s->inputs_here.end))
        return block_at(s->configuration, s->layout.blocks + s->input);
    if (s->layer == 1)
        return block_at(s->inputs, s->input);
    return block_at(s->configuration, temporary_of(s, s->layer - 1) + s->input);
}

static uint64_t output_at(const struct axram_sequence *s, bool result, bool aside)
{
    if (aside)
        return block_at(s->configuration, s->layout.blocks + s->topology->size[0] + s->neuron);
    return result ? block_at(s->results, s->neuron)
                  : block_at(s->configuration, temporary_of(s, s->layer) + s->neuron);
}

struct axram_op axram_sequence_next(const struct axram_sequence *s)
{
    struct axram_op op = {.step = AXRAM_END, .part = s->part, .last = s->done + 1 == s->total};
    if (!s->left)
        return op;
    if (refills(s)) {
        op.step = AXRAM_WEIGHTS;
        op.number = s->refill;
        op.address = block_at(s->configuration, s->layout.weights + s->refill);
    } else if (at_output(s)) {
        op.step = AXRAM_OUTPUT;
        op.result = s->layer == s->topology->layers;
        op.number = s->neuron;
        op.aside = op.result && (s->neuron < s->results_here.first || s->neuron >= s->results_here.end);
        op.address = output_at(s, op.result, op.aside);
        op.held = s->holds && !op.result;
    } else {
        op.step = AXRAM_INPUT;
        op.number = s->weight;
        op.first = s->input == 0;
        op.address = input_at(s);
        op.held = s->holds && (s->layer > 1 || s->neuron > 0);
    }
    return op;
}

void axram_sequence_step(struct axram_sequence *s)
{
    s->done++;
    if (refills(s)) {
        s->refill++;
        return;
    }
    if (!at_output(s)) {
        s->input++;
        s->weight++;
        return;
    }
    s->input = 0;
    if (++s->neuron < (s->only ? s->neurons.end : s->topology->size[s->layer]))
        return;
    s->neuron = 0;
    if (++s->layer <= s->topology->layers && !s->only)
        return;
    s->left &= s->left - 1;
    if (!s->left)
        return;
    s->part = (unsigned)__builtin_ctz(s->left);
    rewind_part(s);
}
