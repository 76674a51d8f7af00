#include "emu/neural/train.h"

#include <fann.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

enum { CHECKS = 50 /* about the most epochs after which the error is checked */ };

/* Evaluates the network for one call. Stores its outputs, scaled as in samples->out. */
static void evaluate(const struct network *n, const struct samples *s, size_t call, double *outputs)
{
    uint32_t in[NETWORK_INPUTS], out[NETWORK_NEURONS];
    for (unsigned i = 0; i < s->inputs; i++)
        in[i] = arith_data(n->kind, (double)s->in[call * s->inputs + i]);
    network_evaluate(n, in, out);
    for (unsigned i = 0; i < s->outputs; i++)
        outputs[i] = arith_value(n->kind, out[i]);
}

void train_round(struct network *n, const float *weights, const unsigned iterations[NETWORK_LAYERS])
{
    size_t weight = 0;
    for (unsigned layer = 1; layer <= n->layers; layer++) {
        const size_t end = weight + (size_t)n->size[layer] * (n->size[layer - 1] + n->bias);
        for (; weight < end; weight++)
            n->weights[weight] = arith_weight(n->kind, iterations[layer - 1], (double)weights[weight]);
    }
}

double train_error(const struct network *n, const struct samples *s, struct train_range range)
{
    double outputs[NETWORK_NEURONS], sum = 0;
    for (size_t call = range.first; call < range.first + range.count; call++) {
        evaluate(n, s, call, outputs);
        for (unsigned i = 0; i < s->outputs; i++)
            sum += pow(outputs[i] - (double)s->out[call * s->outputs + i], 2);
    }
    return range.count ? sqrt(sum / (double)range.count / s->outputs) : 0;
}

double train_relative_error(const struct network *n, const struct samples *s, struct train_range range)
{
    double outputs[NETWORK_NEURONS], sum = 0;
    for (size_t call = range.first; call < range.first + range.count; call++) {
        evaluate(n, s, call, outputs);
        for (unsigned i = 0; i < s->outputs; i++) {
            const float *pair = s->scale + (size_t)2 * (s->inputs + i);
            double wanted = (double)samples_output(s, call, i);
            double got = (double)fmaf((float)outputs[i], pair[0], pair[1]), error = fabs(got - wanted);
            sum += error == 0 ? 0 : fmin(1, error / fabs(wanted));
        }
    }
    return range.count ? sum / (double)range.count / s->outputs : 0;
}

/* Returns the training data in libfann's form. */
static struct fann_train_data *learn_data(const struct train_setup *setup)
{
    const struct samples *s = setup->samples;
    const struct train_range *without = &setup->without;
    struct fann_train_data *data = alloc_checked(
        fann_create_train((unsigned)(setup->learn.count - without->count), s->inputs, s->outputs));
    size_t row = 0;
    for (size_t i = setup->learn.first; i < setup->learn.first + setup->learn.count; i++) {
        if (i >= without->first && i < without->first + without->count)
            continue;
        memcpy(data->input[row], s->in + i * s->inputs, s->inputs * sizeof(float));
        memcpy(data->output[row], s->out + i * s->outputs, s->outputs * sizeof(float));
        row++;
    }
    return data;
}

/* Makes libfann's network, which always has biases: weights in the units' order, each neuron's bias last. */
static struct fann *make_fann(const struct network *n)
{
    struct fann *ann = alloc_checked(fann_create_standard_array(n->layers + 1, n->size));
    fann_set_activation_function_hidden(ann, FANN_SIGMOID);
    fann_set_activation_function_output(ann, FANN_SIGMOID);
    fann_set_activation_steepness_hidden(ann, 0.5F); /* libfann's sigmoid is 1 / (1 + exp(-2 s x)) */
    fann_set_activation_steepness_output(ann, 0.5F);
    fann_set_train_error_function(ann, FANN_ERRORFUNC_LINEAR);
    fann_set_training_algorithm(ann, FANN_TRAIN_RPROP);
    return ann;
}

/* Calls give() with each weight of the network and its place in libfann's array; biases that the network does not have are 0. */
static void each_weight(const struct network *n, struct fann *ann,
                        void (*give)(void *context, unsigned layer, size_t weight, float *fann_weight),
                        void *context)
{
    float *place = ann->weights;
    size_t weight = 0;
    for (unsigned layer = 1; layer <= n->layers; layer++)
        for (unsigned neuron = 0; neuron < n->size[layer]; neuron++) {
            for (unsigned i = 0; i < n->size[layer - 1] + n->bias; i++)
                give(context, layer, weight++, place++);
            if (!n->bias)
                *place++ = 0;
        }
}

/* The weights of an epoch. */
struct epoch {
    struct network *network;
    const unsigned *iterations; /* by layer of neurons */
    float *real;
    float used[NETWORK_WEIGHTS]; /* values of the words */
};

static void give_words(void *context, unsigned layer, size_t i, float *place)
{
    struct epoch *e = context;
    enum arith_kind kind = e->network->kind;
    e->network->weights[i] = arith_weight(kind, e->iterations[layer - 1], (double)e->real[i]);
    *place = e->used[i] = (float)arith_weight_value(kind, e->network->weights[i]);
}

static void take_steps(void *context, unsigned layer, size_t i, float *place)
{
    struct epoch *e = context;
    (void)layer;
    e->real[i] += *place - e->used[i];
}

static void start_weights(const struct network *n, float *weights, uint64_t seed)
{
    for (size_t i = 0; i < network_weights(n); i++)
        weights[i] = (float)((double)(samples_random(&seed) >> 40) / (1 << 24) * 2 - 1);
}

double train_network(struct network *n, float *weights, const struct train_setup *setup)
{
    struct epoch *e = alloc(1, sizeof *e);
    float *best = alloc(network_weights(n), sizeof *best);
    struct fann_train_data *data = learn_data(setup);
    struct fann *ann = make_fann(n);
    double least = INFINITY;
    unsigned every = setup->epochs / CHECKS + 1;
    *e = (struct epoch){.network = n, .iterations = setup->iterations, .real = weights};
    if (setup->seed)
        start_weights(n, weights, setup->seed);
    for (unsigned epoch = 0; epoch <= setup->epochs; epoch++) {
        each_weight(n, ann, give_words, e);
        if (epoch % every == 0 || epoch == setup->epochs) {
            double error = train_error(n, setup->samples, setup->check);
            if (error < least)
                memcpy(best, weights, network_weights(n) * sizeof *best);
            least = fmin(least, error);
        }
        (void)fann_train_epoch(ann, data);
        each_weight(n, ann, take_steps, e);
    }
    memcpy(weights, best, network_weights(n) * sizeof *best);
    each_weight(n, ann, give_words, e);
    fann_destroy(ann);
    fann_destroy_train(data);
    free(best);
    free(e);
    return least;
}
