/* Back propagation of examples/simt/backprop.c, whose reference and steps it uses: blocks compute products of inputs and weights
 * in local memory. The argument is the number of inputs. */
#include "config.h"

#define main backprop_simt_main
#include "../simt/backprop.c"
#undef main

struct training {
    struct layer layer;
    float *products;                    /* of each block, for configuration Cache */
    const struct croft_stash_map *maps; /* of each block: FORWARD_MAPS, then ADJUST_MAPS */
};

enum { UNITS = HIDDEN * ROWS, FORWARD_MAPS = 3, ADJUST_MAPS = 4, MAPS = FORWARD_MAPS + ADJUST_MAPS };

/* Values `first` to first + count - 1 of an array, at byte `local` of local memory. */
CONFIG_INLINE struct tile row_tile(const float *values, uint32_t first, uint32_t count, uint32_t local)
{
    return (struct tile){.global = (float *)(uintptr_t)values + first,
                         .local = local,
                         .objects = count,
                         .object_size = 4,
                         .rows = 1};
}

/* The weights become products in local memory. */
CONFIG_INLINE struct tile weights_tile(const struct layer *p, uint32_t block)
{
    struct tile tile = row_tile(p->weights, block * UNITS, UNITS, 0);
    tile.noncoherent = 1;
    return tile;
}

CONFIG_INLINE void propagate(const struct training *p, enum config config)
{
    const uint32_t h = thread_x(), row = thread_y(), block = block_x();
    const struct team team = team_of(row * HIDDEN + h, UNITS);
    const struct croft_stash_map *maps = p->maps + MAPS * block;
    const struct tile out = row_tile(p->layer.partial, block * HIDDEN, HIDDEN, UNITS * 4 + 64);
    const struct view weights = view_open(config, LOCAL, READ, weights_tile(&p->layer, block), maps, team);
    const struct view inputs = view_open(
        config, LOCAL, READ, row_tile(p->layer.inputs, block * ROWS, ROWS, UNITS * 4), maps + 1, team);
    struct view products = weights;
    if (config == CACHE)
        products.first = (char *)(p->products + block * UNITS);
    view_barrier(config, LOCAL);
    VIEW(float, products, 0, team.thread) =
        VIEW(float, weights, 0, team.thread) * VIEW(float, inputs, 0, row);
    for (uint32_t half = ROWS / 2; half > 0; half /= 2) {
        simt_barrier();
        if (row < half)
            VIEW(float, products, 0, team.thread) += VIEW(float, products, 0, team.thread + half * HIDDEN);
    }
    const struct view partial = view_open(config, GLOBAL, WRITE, out, maps + 2, team);
    if (row == 0)
        VIEW(float, partial, 0, h) = VIEW(float, products, 0, h);
    view_close(config, GLOBAL, out, maps + 2, team);
}
CONFIG_KERNELS(propagate, const struct training, propagate)

CONFIG_INLINE void learn(const struct training *p, enum config config)
{
    const uint32_t h = thread_x(), row = thread_y(), block = block_x();
    const struct team team = team_of(row * HIDDEN + h, UNITS);
    const struct layer *layer = &p->layer;
    const struct croft_stash_map *maps = p->maps + MAPS * block + FORWARD_MAPS;
    const struct tile weights_at = row_tile(layer->weights, block * UNITS, UNITS, 0);
    const struct tile previous_at = row_tile(layer->previous, block * UNITS, UNITS, UNITS * 4);
    const struct view weights = view_open(config, GLOBAL, READ_WRITE, weights_at, maps, team);
    const struct view previous = view_open(config, GLOBAL, READ_WRITE, previous_at, maps + 1, team);
    const struct view inputs = view_open(
        config, GLOBAL, READ, row_tile(layer->inputs, block * ROWS, ROWS, UNITS * 8), maps + 2, team);
    const struct view delta =
        view_open(config, GLOBAL, READ, row_tile(layer->delta, 0, HIDDEN, UNITS * 8 + 64), maps + 3, team);
    view_barrier(config, GLOBAL);
    const float by = rate * VIEW(float, delta, 0, h) * VIEW(float, inputs, 0, row) +
                     momentum * VIEW(float, previous, 0, team.thread);
    VIEW(float, weights, 0, team.thread) += by;
    VIEW(float, previous, 0, team.thread) = by;
    view_close(config, GLOBAL, weights_at, maps, team);
    view_close(config, GLOBAL, previous_at, maps + 1, team);
}
CONFIG_KERNELS(learn, const struct training, learn)

static const struct croft_stash_map *training_maps(const struct layer *p, uint32_t blocks)
{
    struct croft_stash_map *maps = kernel_array(MAPS * blocks, sizeof *maps);
    for (uint32_t b = 0; b < blocks; b++) {
        const struct tile tiles[MAPS] = {weights_tile(p, b),
                                         row_tile(p->inputs, b * ROWS, ROWS, UNITS * 4),
                                         row_tile(p->partial, b * HIDDEN, HIDDEN, UNITS * 4 + 64),
                                         row_tile(p->weights, b * UNITS, UNITS, 0),
                                         row_tile(p->previous, b * UNITS, UNITS, UNITS * 4),
                                         row_tile(p->inputs, b * ROWS, ROWS, UNITS * 8),
                                         row_tile(p->delta, 0, HIDDEN, UNITS * 8 + 64)};
        for (uint32_t i = 0; i < MAPS; i++)
            maps[MAPS * b + i] = tile_map(tiles[i]);
    }
    return maps;
}

static void train(enum config config, const struct training *p, uint32_t blocks, float out[HIDDEN])
{
    float sums[HIDDEN] = {0};
    propagate_run(config, p, simt_dim(blocks), simt_dim(HIDDEN, ROWS),
                  config == SCRATCH || config == STASH ? UNITS * 4 + 64 : UNITS * 4 + 128);
    for (uint32_t i = 0; i < blocks * HIDDEN; i++)
        sums[i % HIDDEN] += p->layer.partial[i];
    output_layer(sums, out, p->layer.delta);
    learn_run(config, p, simt_dim(blocks), simt_dim(HIDDEN, ROWS),
              config == SCRATCH || config == STASH ? 0 : UNITS * 8 + 128);
}

int main(int argc, char **argv)
{
    const enum config config = config_argument(&argc, &argv);
    const long inputs = kernel_size(argc, argv, 8192, ROWS, 1 << 20, ROWS), count = inputs * HIDDEN;
    float *values = kernel_array(inputs, sizeof *values), out[2][HIDDEN];
    struct layer layers[2];
    kernel_fill(values, inputs, 7);
    for (int i = 0; i < 2; i++) {
        layers[i] = (struct layer){.inputs = values,
                                   .weights = kernel_array(count, sizeof(float)),
                                   .previous = kernel_array(count, sizeof(float)),
                                   .partial = kernel_array(count / ROWS, sizeof(float)),
                                   .delta = kernel_array(HIDDEN, sizeof(float))};
        kernel_fill(layers[i].weights, count, 8);
        for (long w = 0; w < count; w++)
            layers[i].weights[w] = (layers[i].weights[w] - 0.5f) / 64;
        kernel_fill(out[i], HIDDEN, 9);
    }
    const uint32_t blocks = kernel_blocks(inputs, ROWS);
    const struct training p = {layers[0], kernel_array(count, sizeof(float)),
                               training_maps(&layers[0], blocks)};
    croft_roi_begin("backprop");
    for (int epoch = 0; epoch < 2; epoch++)
        train(config, &p, blocks, out[0]);
    croft_roi_end("backprop");

    for (int epoch = 0; epoch < 2; epoch++)
        train_scalar(&layers[1], inputs, out[1]);
    return kernel_report("backprop", inputs, layers[0].weights, (size_t)count * sizeof(float),
                         kernel_close(layers[0].weights, layers[1].weights, count, 1e-5));
}
