/* Neural networks as AxRAM's units execute them (PACT 2018, section 3.1): topology, weights, their image in memory, what an
 * invocation reads and writes, and the bit-exact result.
 *
 * A network has inputs and one to three layers of neurons (up to two hidden layers and the output). With `bias`, each neuron
 * has one more input, which is 1 and is laid out, read and counted like the others. A neuron's value is the sigmoid of the sum
 * of weight times input. Units work layer by layer, neuron by neuron, input by input, the bias last.
 */
#ifndef EMU_NEURAL_NETWORK_H
#define EMU_NEURAL_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/neural/arith.h"
#include "emu/sim/error.h"

enum {
    NETWORK_LAYERS = 3,   /* most layers of neurons: two hidden ones and the output */
    NETWORK_INPUTS = 64,  /* most inputs */
    NETWORK_NEURONS = 32, /* most neurons of a layer */
    NETWORK_WEIGHTS = (NETWORK_INPUTS + 1 + (NETWORK_LAYERS - 1) * (NETWORK_NEURONS + 1)) * NETWORK_NEURONS,
    NETWORK_HEADER = 8, /* words of an image before its weights: 32 bytes, a burst of GDDR5 */
    NETWORK_TEXT = 32,  /* bytes of a topology as text */
};

#define NETWORK_SIGNATURE UINT32_C(0x4e4e5841) /* "AXNN" */

struct network {
    enum arith_kind kind;
    unsigned layers;                   /* of neurons, 1 to NETWORK_LAYERS */
    unsigned size[NETWORK_LAYERS + 1]; /* [0] inputs, [1] to [layers] neurons of each layer */
    bool bias;
    uint32_t weights[NETWORK_WEIGHTS]; /* words in the order in which units use them */
};

/* What one invocation of a chip does, by the topology and weights alone; reads and writes of accumulators for suspensions are
 * not included. */
struct network_work {
    uint64_t input_reads;   /* RD4 of inputs: inputs times neurons, over all layers */
    uint64_t weight_reads;  /* RD4 of weights: one for four weights, rounded up for the whole network */
    uint64_t output_writes; /* WR4: neurons of all layers */
    uint64_t clocks;        /* clocks of the units for all multiply-accumulate steps */
};

/* Checks sizes and kind. Returns false with err set if the units cannot execute such a network. */
bool network_check(const struct network *network, struct error *err);

/* Returns the number of weights of a network that has passed network_check(). */
size_t network_weights(const struct network *network);

/* Writes the topology, as "6 -> 8 -> 1"; returns text. */
const char *network_text(const struct network *network, char text[NETWORK_TEXT]);

struct network_work network_work(const struct network *network);

/* Computes one thread's outputs, network->size[network->layers] data words, from its inputs, network->size[0] data words. */
void network_evaluate(const struct network *network, const uint32_t *inputs, uint32_t *outputs);

/* The image that config.axram reads, in words of 32 bits, little-endian in memory: NETWORK_SIGNATURE; kind in [7:0], layers in
 * [15:8], bias in [16]; sizes in [7:0], [15:8], [23:16], [31:24]; number of weights; zeros up to NETWORK_HEADER; weights.
 * network_image_words() is its size; network_write_image() writes that many words. */
size_t network_image_words(const struct network *network);
void network_write_image(const struct network *network, uint32_t *words);

/* Checks the words and bits of an image's header that must be 0; an error says which is not. */
bool network_check_reserved(const uint32_t words[NETWORK_HEADER], struct error *err);

/* Reads an image of `count` words (more may follow the weights); an error says which word is wrong. */
bool network_read_image(struct network *network, const uint32_t *words, size_t count, struct error *err);

#endif
