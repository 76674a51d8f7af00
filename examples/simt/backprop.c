/* Back propagation in a network of `size` inputs, 16 hidden units and one output. Two kernels do most of the
 * work: the forward sums of the hidden layer, which blocks compute in their scratchpads, and the adjustment
 * of its weights. */
#include "kernel.h"

enum { HIDDEN = 16, ROWS = 16 }; /* a block: 16 inputs times 16 hidden units */

static const float rate = 0.3f, momentum = 0.3f;

struct layer {
    const float *inputs;
    float *weights;  /* [input][hidden] */
    float *previous; /* previous change of each weight */
    float *partial;  /* [block][hidden] */
    float *delta;    /* [hidden] */
};

static void forward(const struct layer *p)
{
    float *products = simt_shared();
    uint32_t h = thread_x(), row = thread_y(), input = block_x() * ROWS + row;
    products[row * HIDDEN + h] = p->weights[input * HIDDEN + h] * p->inputs[input];
    for (uint32_t half = ROWS / 2; half > 0; half /= 2) {
        simt_barrier();
        if (row < half)
            products[row * HIDDEN + h] += products[(row + half) * HIDDEN + h];
    }
    if (row == 0)
        p->partial[block_x() * HIDDEN + h] = products[h];
}

static float change(const struct layer *p, uint32_t input, uint32_t h)
{
    return rate * p->delta[h] * p->inputs[input] + momentum * p->previous[input * HIDDEN + h];
}

static void adjust(const struct layer *p)
{
    uint32_t h = thread_x(), input = block_x() * ROWS + thread_y();
    float by = change(p, input, h);
    p->weights[input * HIDDEN + h] += by;
    p->previous[input * HIDDEN + h] = by;
}

static float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

/* Computes the output from the hidden units' sums, adjusts its weights, and propagates the error back to
 * delta[]. */
static void output_layer(const float sums[HIDDEN], float weights[HIDDEN], float delta[HIDDEN])
{
    float hidden[HIDDEN], sum = 0;
    for (int h = 0; h < HIDDEN; h++) {
        hidden[h] = sigmoid(sums[h]);
        sum += hidden[h] * weights[h];
    }
    float out = sigmoid(sum), error = out * (1 - out) * (0.1f - out);
    for (int h = 0; h < HIDDEN; h++) {
        delta[h] = hidden[h] * (1 - hidden[h]) * error * weights[h];
        weights[h] += rate * error * hidden[h];
    }
}

static void train_simt(struct layer *layer, uint32_t blocks, float out[HIDDEN])
{
    float sums[HIDDEN] = {0};
    KERNEL_RUN(forward, layer, simt_dim(blocks), simt_dim(HIDDEN, ROWS),
               .scratchpad = HIDDEN * ROWS * sizeof(float));
    for (uint32_t i = 0; i < blocks * HIDDEN; i++)
        sums[i % HIDDEN] += layer->partial[i];
    output_layer(sums, out, layer->delta);
    KERNEL_RUN(adjust, layer, simt_dim(blocks), simt_dim(HIDDEN, ROWS));
}

static void train_scalar(struct layer *layer, long inputs, float out[HIDDEN])
{
    float sums[HIDDEN] = {0};
    for (long i = 0; i < inputs * HIDDEN; i++)
        sums[i % HIDDEN] += layer->weights[i] * layer->inputs[i / HIDDEN];
    output_layer(sums, out, layer->delta);
    for (long i = 0; i < inputs * HIDDEN; i++) {
        layer->previous[i] = change(layer, (uint32_t)(i / HIDDEN), (uint32_t)(i % HIDDEN));
        layer->weights[i] += layer->previous[i];
    }
}

int main(int argc, char **argv)
{
    long inputs = kernel_size(argc, argv, 256, ROWS, 1 << 20, ROWS), count = inputs * HIDDEN;
    float *values = kernel_memory(inputs, sizeof *values);
    struct layer layers[2];
    float out[2][HIDDEN];
    kernel_fill(values, inputs, 7);
    for (int i = 0; i < 2; i++) {
        layers[i] = (struct layer){.inputs = values,
                                   .weights = kernel_memory(count, sizeof(float)),
                                   .previous = kernel_memory(count, sizeof(float)),
                                   .partial = kernel_memory(count / ROWS, sizeof(float)),
                                   .delta = kernel_memory(HIDDEN, sizeof(float))};
        kernel_fill(layers[i].weights, count, 8);
        for (long w = 0; w < count; w++)
            layers[i].weights[w] = (layers[i].weights[w] - 0.5f) / 64;
        kernel_fill(out[i], HIDDEN, 9);
    }
    croft_roi_begin("backprop");
    for (int epoch = 0; epoch < 2; epoch++)
        train_simt(&layers[0], kernel_blocks(inputs, ROWS), out[0]);
    croft_roi_end("backprop");

    for (int epoch = 0; epoch < 2; epoch++)
        train_scalar(&layers[1], inputs, out[1]);
    return kernel_report("backprop", inputs, layers[0].weights, (size_t)count * sizeof(float),
                         kernel_close(layers[0].weights, layers[1].weights, count, 1e-5));
}
