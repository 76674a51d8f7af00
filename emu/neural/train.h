/* Training: libfann's RPROP on a network's real weights, with the arithmetic's words in the forward and backward pass. */
#ifndef EMU_NEURAL_TRAIN_H
#define EMU_NEURAL_TRAIN_H

#include "emu/neural/network.h"
#include "emu/neural/samples.h"

/* The kept calls from `first` on, `count` of them. Calls are in random order, so that any range is a random choice. */
struct train_range {
    size_t first, count;
};

struct train_setup {
    const struct samples *samples;
    struct train_range learn;   /* calls that weights are trained with, except for those in `without` */
    struct train_range without; /* a part of `learn`; count 0: none */
    struct train_range check;   /* calls that choose the best epoch */
    unsigned epochs;
    unsigned iterations[NETWORK_LAYERS]; /* of SHA, by layer of neurons */
    uint64_t seed; /* of the random weights at the start; 0: starts with the weights given */
};

/* Trains a network whose topology and kind are set, from random weights or weights[]. Before each epoch, the real weights are
 * rounded to the arithmetic's words; the step that RPROP takes from there is added to the real weights, so training takes the
 * quantisation into account. Keeps the epoch with the least error of the bit-exact network in the checked calls, and stores its
 * words to network->weights and its real weights to weights[]. Returns that error. */
double train_network(struct network *network, float *weights, const struct train_setup *setup);

/* Sets the network's words from real weights, with these iterations of SHA by layer. */
void train_round(struct network *network, const float *weights, const unsigned iterations[NETWORK_LAYERS]);

/* Returns the root mean square of a network's error over calls and outputs, on a scale where SAMPLES_SPAN is the observed range
 * of an output. */
double train_error(const struct network *network, const struct samples *samples, struct train_range range);

/* Returns the mean over calls and outputs of |result - function| / |function|, at most 1 each, in the function's units. */
double train_relative_error(const struct network *network, const struct samples *samples,
                            struct train_range range);

#endif
