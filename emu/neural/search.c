#include "emu/neural/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/neural/quality.h"
#include "emu/sim/alloc.h"

enum {
    TEST_PART = 5,       /* 1/5 of the calls is kept for the errors of the result */
    CHECK_PART = 8,      /* 1/8 of the others chooses the best epoch and start */
    SEARCH_CALLS = 2048, /* most calls that the search uses */
    SEARCH_SPEED = 5,    /* the search trains for 1/5 of the epochs */
    STARTS = 3,          /* random starts from which the chosen network is trained */
};

static const unsigned hidden[] = {2, 4, 8, 16, 32};

enum { HIDDEN = sizeof hidden / sizeof hidden[0] };

/* The work of a search. */
struct search {
    const struct samples *samples;
    const struct search_options *options;
    struct search_result *result;
    struct train_range all; /* calls for training and its checks */
    struct network network;
    float weights[NETWORK_WEIGHTS];
    unsigned done, parts;
};

static void tell(struct search *s)
{
    if (s->options->tell)
        s->options->tell(s->options->context, s->done, s->parts, &s->network);
    s->done++;
}

static void add_candidate(struct search *s, unsigned first, unsigned second)
{
    struct search_candidate *c = &s->result->candidates[s->result->count++];
    *c = (struct search_candidate){.layers = second ? 3 : 2, .size = {s->samples->inputs, first, second}};
    c->size[c->layers] = s->samples->outputs;
}

static void list_candidates(struct search *s)
{
    const struct network *given = &s->options->topology;
    if (given->layers) {
        struct search_candidate *c = &s->result->candidates[s->result->count++];
        c->layers = given->layers;
        memcpy(c->size, given->size, sizeof c->size);
        return;
    }
    for (unsigned first = 0; first < HIDDEN; first++)
        add_candidate(s, hidden[first], 0);
    for (unsigned first = 0; first < HIDDEN; first++)
        for (unsigned second = 0; second < HIDDEN; second++)
            add_candidate(s, hidden[first], hidden[second]);
}

static void take_topology(struct search *s, const struct search_candidate *c)
{
    s->network = (struct network){.kind = ARITH_FP, .layers = c->layers, .bias = s->options->topology.bias};
    memcpy(s->network.size, c->size, sizeof c->size);
}

static uint64_t seed_of(const struct search *s)
{
    uint64_t state = s->options->seed * 1000 + s->done;
    uint64_t seed = samples_random(&state);
    return seed ? seed : 1;
}

/* Returns the mean error of a topology over the folds: each fold once checks the training with the others. */
static double validate(struct search *s, const struct search_candidate *c)
{
    struct train_range learn = {s->all.first, s->all.count < SEARCH_CALLS ? s->all.count : SEARCH_CALLS};
    unsigned folds = s->options->folds;
    double sum = 0;
    take_topology(s, c);
    for (unsigned fold = 0; fold < folds; fold++) {
        size_t first = learn.count * fold / folds, end = learn.count * (fold + 1) / folds;
        struct train_range part = {first, end - first};
        tell(s);
        const struct train_setup setup = {.samples = s->samples,
                                          .learn = learn,
                                          .without = part,
                                          .check = part,
                                          .epochs = s->options->epochs / SEARCH_SPEED,
                                          .seed = seed_of(s)};
        sum += train_network(&s->network, s->weights, &setup);
    }
    return sum / folds;
}

static size_t weights_of(const struct search *s, const struct search_candidate *c)
{
    struct network n = {.layers = c->layers, .bias = s->options->topology.bias};
    memcpy(n.size, c->size, sizeof c->size);
    return network_weights(&n);
}

/* Chooses the candidate with the fewest weights whose error is near the least. */
static unsigned choose(const struct search *s)
{
    const struct search_result *r = s->result;
    double least = INFINITY;
    unsigned best = 0;
    size_t fewest = SIZE_MAX;
    for (unsigned i = 0; i < r->count; i++)
        least = fmin(least, r->candidates[i].error);
    for (unsigned i = 0; i < r->count; i++) {
        size_t weights = weights_of(s, &r->candidates[i]);
        if (r->candidates[i].error > least * (1 + s->options->slack) || weights >= fewest)
            continue;
        best = i;
        fewest = weights;
    }
    return best;
}

/* Chooses the iterations of the trained SHA network. */
static void choose_iterations(struct search *s, struct train_setup setup)
{
    struct search_quality *quality = &s->result->quality;
    setup.epochs /= SEARCH_SPEED;
    quality->most_clocks = network_work(&s->network).clocks;
    quality->error =
        quality_choose(&s->network, s->weights, &setup, s->options->quality * SAMPLES_SPAN) / SAMPLES_SPAN;
    memcpy(quality->iterations, setup.iterations, sizeof quality->iterations);
}

/* Trains the chosen topology in single precision from several starts, then in each arithmetic from the best. */
static void train_chosen(struct search *s)
{
    float best[NETWORK_WEIGHTS];
    double least = INFINITY;
    size_t checks = s->all.count / CHECK_PART;
    struct train_setup setup = {.samples = s->samples,
                                .learn = {s->all.first + checks, s->all.count - checks},
                                .check = {s->all.first, checks},
                                .epochs = s->options->epochs};
    const bool chooses = s->options->quality > 0;
    for (unsigned layer = 0; layer < NETWORK_LAYERS; layer++)
        setup.iterations[layer] = chooses ? ARITH_SHIFTS : s->options->iterations;
    for (unsigned start = 0; start < STARTS; start++) {
        tell(s);
        setup.seed = seed_of(s);
        double error = train_network(&s->network, s->weights, &setup);
        if (error < least)
            memcpy(best, s->weights, sizeof best);
        least = fmin(least, error);
    }
    setup.seed = 0;
    for (int kind = 0; kind < ARITH_KINDS; kind++) {
        s->network.kind = (enum arith_kind)kind;
        memcpy(s->weights, best, sizeof best);
        tell(s);
        (void)train_network(&s->network, s->weights, &setup);
        if (kind == ARITH_SHA && chooses)
            choose_iterations(s, setup);
        s->result->of[kind].network = s->network;
    }
}

void search_network(struct search_result *result, const struct samples *samples,
                    const struct search_options *options)
{
    struct search *s = alloc(1, sizeof *s);
    size_t tests = samples->count / TEST_PART;
    *result = (struct search_result){.test = {samples->count - tests, tests}};
    s->samples = samples;
    s->options = options;
    s->result = result;
    s->all = (struct train_range){0, samples->count - tests};
    list_candidates(s);
    s->parts = result->count * options->folds + STARTS + ARITH_KINDS;
    for (unsigned i = 0; i < result->count; i++)
        result->candidates[i].error = validate(s, &result->candidates[i]);
    result->chosen = choose(s);
    take_topology(s, &result->candidates[result->chosen]);
    train_chosen(s);
    for (int kind = 0; kind < ARITH_KINDS; kind++) {
        struct search_network *of = &result->of[kind];
        of->error = train_error(&of->network, samples, result->test);
        of->relative_error = train_relative_error(&of->network, samples, result->test);
    }
    free(s);
}
