/* The neural transformation of a function: finds a topology, and trains its weights in each arithmetic. */
#ifndef EMU_NEURAL_SEARCH_H
#define EMU_NEURAL_SEARCH_H

#include "emu/neural/train.h"

enum { SEARCH_TOPOLOGIES = 30, SEARCH_FOLDS = 10 };

struct search_options {
    uint64_t seed;
    unsigned folds;      /* parts of the cross-validation, 2 to SEARCH_FOLDS */
    unsigned epochs;     /* of the chosen network's training; the search takes a fifth */
    unsigned iterations; /* of SHA in all layers, 1 to ARITH_SHIFTS */
    /* Most error of SHA, as a part of an output's range: chooses the iterations by layer; 0: does not. */
    double quality;
    double slack; /* of networks with at most 1 + slack times the least error, the smallest is taken */
    struct network topology; /* layers and sizes; layers 0: search them. `bias` holds for all networks */
    /* Called before each part of the work; NULL: not called. */
    void (*tell)(void *context, unsigned done, unsigned all, const struct network *network);
    void *context;
};

struct search_candidate {
    unsigned layers, size[NETWORK_LAYERS + 1];
    double error; /* mean of the folds' errors (train_error()) */
};

/* The result in one arithmetic. */
struct search_network {
    struct network network;
    double error, relative_error; /* train_error() and train_relative_error() of the calls in `test` */
};

/* What search_options.quality has given. */
struct search_quality {
    unsigned iterations[NETWORK_LAYERS];
    /* In the calls that choose, as a part of an output's range; more than `quality`: not reached. */
    double error;
    uint64_t most_clocks; /* of the units for an invocation with ARITH_SHIFTS iterations everywhere */
};

struct search_result {
    struct search_candidate candidates[SEARCH_TOPOLOGIES];
    unsigned count, chosen;
    struct train_range test; /* calls kept out of the training, for the errors */
    struct search_network of[ARITH_KINDS];
    struct search_quality quality;
};

/* Searches and trains. The last fifth of the samples is kept out of the training, for the errors of the result. The same samples
 * and options give the same result. */
void search_network(struct search_result *result, const struct samples *samples,
                    const struct search_options *options);

#endif
