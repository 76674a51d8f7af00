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
    struct train_range learn;   /* calls that weights are trained with, */
    struct train_range without; /* these among them left out */
    struct train_range check;   /* calls that choose the best epoch */
    unsigned epochs;
    unsigned iterations; /* of SHA */
    uint64_t seed;       /* of the weights at the start; 0: those given */
};

/* Trains a network whose topology and kind are set, from random weights or weights[]. Before each epoch the weights become the
 * arithmetic's words, and the step that RPROP takes from there is added to the real weights: so they learn around their
 * quantisation. Keeps the epoch with the least error in the checked calls, by the bit-exact network: network->weights are its
 * words, weights[] its real weights. Returns that error. */
double train_network(struct network *network, float *weights, const struct train_setup *setup);

/* Returns the root mean square of a network's error, where SAMPLES_SPAN is the range of an output. */
double train_error(const struct network *network, const struct samples *samples, struct train_range range);

/* Returns the mean over calls and outputs of |result - function| / |function|, at most 1 each, in the function's units. */
double train_relative_error(const struct network *network, const struct samples *samples,
                            struct train_range range);

#endif
