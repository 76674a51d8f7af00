#include "emu/neural/quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

/* Iterations by layer, and what they give without training. */
struct choice {
    unsigned iterations[NETWORK_LAYERS];
    uint64_t clocks;
    double error;
};

static int by_clocks(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    if (x->clocks != y->clocks)
        return x->clocks < y->clocks ? -1 : 1;
    return (x->error > y->error) - (x->error < y->error);
}

/* Evaluates all choices. Returns their number. */
static size_t list(struct choice *choices, struct network *n, const float *weights,
                   const struct train_setup *setup)
{
    size_t count = 1;
    for (unsigned layer = 0; layer < n->layers; layer++)
        count *= ARITH_SHIFTS;
    for (size_t i = 0; i < count; i++) {
        size_t digits = i;
        for (unsigned layer = 0; layer < n->layers; layer++, digits /= ARITH_SHIFTS)
            choices[i].iterations[layer] = 1 + (unsigned)(digits % ARITH_SHIFTS);
        train_round(n, weights, choices[i].iterations);
        choices[i].clocks = network_work(n).clocks;
        choices[i].error = train_error(n, setup->samples, setup->check);
    }
    qsort(choices, count, sizeof *choices, by_clocks);
    return count;
}

double quality_choose(struct network *n, float *weights, struct train_setup *setup, double most)
{
    struct choice choices[ARITH_SHIFTS * ARITH_SHIFTS * ARITH_SHIFTS];
    const size_t count = list(choices, n, weights, setup), size = network_weights(n) * sizeof *weights;
    float *trained = alloc(network_weights(n), sizeof *trained),
          *best = alloc(network_weights(n), sizeof *best);
    unsigned iterations[NETWORK_LAYERS];
    double least = INFINITY;
    for (size_t i = 0; i < count && least > most; i++) {
        const bool last = i + 1 == count;
        if (choices[i].error > 2 * most && !(last && isinf(least)))
            continue;
        memcpy(trained, weights, size);
        memcpy(setup->iterations, choices[i].iterations, sizeof iterations);
        const double error = train_network(n, trained, setup);
        if (error >= least)
            continue;
        least = error;
        memcpy(best, trained, size);
        memcpy(iterations, choices[i].iterations, sizeof iterations);
    }
    memcpy(weights, best, size);
    memcpy(setup->iterations, iterations, sizeof iterations);
    train_round(n, weights, iterations);
    free(trained);
    free(best);
    return least;
}
