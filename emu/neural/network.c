#include "emu/neural/network.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Returns the inputs of each neuron of layer 1 to network->layers, the bias included. */
static unsigned fan_in(const struct network *n, unsigned layer)
{
    return n->size[layer - 1] + n->bias;
}

bool network_check(const struct network *n, struct error *err)
{
    if ((unsigned)n->kind >= ARITH_KINDS)
        return error_set(err, "arithmetic %u; 0 (SHA), 1 (FxP) and 2 (FP) are known", (unsigned)n->kind);
    if (n->layers < 1 || n->layers > NETWORK_LAYERS)
        return error_set(err, "%u layers of neurons; a network has 1 to %d", n->layers, NETWORK_LAYERS);
    for (unsigned i = 0; i <= n->layers; i++) {
        unsigned most = i == 0 ? NETWORK_INPUTS : NETWORK_NEURONS;
        if (n->size[i] < 1 || n->size[i] > most)
            return error_set(err, "%u %s %u; 1 to %u are allowed", n->size[i],
                             i == 0 ? "inputs, layer" : "neurons in layer", i, most);
    }
    return true;
}

size_t network_weights(const struct network *n)
{
    size_t count = 0;
    for (unsigned i = 1; i <= n->layers; i++)
        count += (size_t)fan_in(n, i) * n->size[i];
    return count;
}

const char *network_text(const struct network *n, char text[NETWORK_TEXT])
{
    int length = snprintf(text, NETWORK_TEXT, "%u", n->size[0]);
    for (unsigned i = 1; i <= n->layers; i++)
        length += snprintf(text + length, NETWORK_TEXT - (size_t)length, " -> %u", n->size[i]);
    return text;
}

struct network_work network_work(const struct network *n)
{
    size_t weights = network_weights(n);
    struct network_work work = {.input_reads = weights, .weight_reads = (weights + 3) / 4};
    for (unsigned i = 1; i <= n->layers; i++)
        work.output_writes += n->size[i];
    for (size_t i = 0; i < weights; i++)
        work.clocks += arith_clocks(n->kind, n->weights[i]);
    return work;
}

void network_evaluate(const struct network *n, const uint32_t *inputs, uint32_t *outputs)
{
    uint32_t values[2][NETWORK_INPUTS + 1];
    const uint32_t *weight = n->weights, one = arith_data(n->kind, 1);
    memcpy(values[0], inputs, n->size[0] * sizeof *inputs);
    for (unsigned layer = 1; layer <= n->layers; layer++) {
        uint32_t *in = values[(layer - 1) & 1], *out = values[layer & 1];
        in[n->size[layer - 1]] = one;
        for (unsigned neuron = 0; neuron < n->size[layer]; neuron++) {
            uint64_t sum = 0;
            for (unsigned i = 0; i < fan_in(n, layer); i++)
                sum = arith_accumulate(n->kind, sum, in[i], *weight++);
            out[neuron] = arith_sigmoid(n->kind, sum);
        }
    }
    memcpy(outputs, values[n->layers & 1], n->size[n->layers] * sizeof *outputs);
}

size_t network_image_words(const struct network *n)
{
    return NETWORK_HEADER + network_weights(n);
}

void network_write_image(const struct network *n, uint32_t *words)
{
    size_t count = network_weights(n);
    memset(words, 0, NETWORK_HEADER * sizeof *words);
    words[0] = NETWORK_SIGNATURE;
    words[1] = (uint32_t)n->kind | n->layers << 8 | (uint32_t)n->bias << 16;
    for (unsigned i = 0; i <= n->layers; i++)
        words[2] |= n->size[i] << (8 * i);
    words[3] = (uint32_t)count;
    memcpy(words + NETWORK_HEADER, n->weights, count * sizeof *words);
}

bool network_check_reserved(const uint32_t words[NETWORK_HEADER], struct error *err)
{
    if (words[1] >> 17)
        return error_set(err, "word 1 of the network is 0x%08" PRIx32 "; bits 31 to 17 must be 0", words[1]);
    for (unsigned i = 4; i < NETWORK_HEADER; i++)
        if (words[i])
            return error_set(err, "word %u of the network is 0x%08" PRIx32 "; words 4 to 7 must be 0", i,
                             words[i]);
    return true;
}

/* Reads the header's words into everything but the weights. */
static bool read_header(struct network *n, const uint32_t *words, struct error *err)
{
    if (words[0] != NETWORK_SIGNATURE)
        return error_set(err, "word 0 of the network is 0x%08" PRIx32 "; it must be 0x%08" PRIx32 " (AXNN)",
                         words[0], NETWORK_SIGNATURE);
    if (!network_check_reserved(words, err))
        return false;
    n->kind = (enum arith_kind)(words[1] & 255);
    n->layers = words[1] >> 8 & 255;
    n->bias = words[1] >> 16 & 1;
    for (unsigned i = 0; i <= NETWORK_LAYERS; i++)
        n->size[i] = words[2] >> (8 * i) & 255;
    if (!network_check(n, err))
        return error_prefix(err, "header of the network");
    for (unsigned i = n->layers + 1; i <= NETWORK_LAYERS; i++)
        if (n->size[i])
            return error_set(err, "word 2 of the network gives layer %u a size; it has %u layers", i,
                             n->layers);
    if (words[3] != network_weights(n))
        return error_set(err, "word 3 of the network says %" PRIu32 " weights; its topology has %zu",
                         words[3], network_weights(n));
    return true;
}

bool network_read_image(struct network *n, const uint32_t *words, size_t count, struct error *err)
{
    if (count < NETWORK_HEADER)
        return error_set(err, "%zu words are too few for a network; its header has %d", count,
                         NETWORK_HEADER);
    if (!read_header(n, words, err))
        return false;
    if (count < network_image_words(n))
        return error_set(err, "%zu words are too few for the network; it has %zu", count,
                         network_image_words(n));
    memcpy(n->weights, words + NETWORK_HEADER, network_weights(n) * sizeof *words);
    return true;
}
