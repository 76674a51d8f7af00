/* Prints digests of the outputs of random networks: by <croft/approx.h> if it is compiled for RISC-V, else by the reference. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/isa/random.h"

enum { NETWORKS = 400, HEADER = 8, WEIGHTS = 4192, INPUTS = 64, OUTPUTS = 32, KINDS = 3, STEPS = 20000 };

#ifdef __riscv
#include <croft/approx.h>

static void evaluate(const uint32_t *image, uint32_t count, const uint32_t *inputs, uint32_t *outputs)
{
    (void)count;
    croft_network_evaluate(image, inputs, outputs);
}

static uint64_t accumulate(uint32_t kind, uint64_t sum, uint32_t data, uint32_t weight)
{
    switch (kind) {
    case CROFT_ARITH_SHA: return (uint64_t)croft_accumulate_shifts((int64_t)sum, (int32_t)data, weight);
    case CROFT_ARITH_FXP: return (uint64_t)croft_accumulate_fixed((int64_t)sum, data, weight);
    default:
        return croft_float_word(croft_accumulate_float(croft_word_float((uint32_t)sum),
                                                       croft_word_float(data), croft_word_float(weight)));
    }
}
#else
#include "tests/neural/reference.h"

static void evaluate(const uint32_t *image, uint32_t count, const uint32_t *inputs, uint32_t *outputs)
{
    static struct network network;
    struct error err;
    if (!network_read_image(&network, image, count, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    reference_network(&network, inputs, outputs);
}

static uint64_t accumulate(uint32_t kind, uint64_t sum, uint32_t data, uint32_t weight)
{
    return reference_accumulate((enum arith_kind)kind, sum, data, weight);
}
#endif

/* A word for data or weights: mostly such that sigmoids are not at their ends; kind 3: any. */
static uint32_t word_of(struct random *random, uint32_t kind, int weight)
{
    uint32_t word = (uint32_t)random_next(random);
    if (kind == 3 || random_chance(random, 3))
        return word;
    if (kind == 2) /* 2^-4 to 2^3 */
        return (word & 0x80ffffff) | (123 + random_below(random, 7)) << 23;
    if (!weight || kind == 1)
        return (uint32_t)((int32_t)word >> (weight ? 12 : 6));
    word &= 0x10000000;
    for (uint32_t i = 0; i < 5; i++)
        word |= (10 + random_below(random, 8)) << (5 * i);
    return word | random_below(random, 6) << 25;
}

/* Writes an image; returns its words. */
static uint32_t make(uint32_t *image, uint32_t kind, struct random *random)
{
    uint32_t layers = 1 + random_below(random, 3), bias = random_below(random, 2), count = 0, below = 0;
    image[0] = 0x4e4e5841;
    image[1] = kind | layers << 8 | bias << 16;
    image[2] = 0;
    for (uint32_t layer = 0; layer <= layers; layer++) {
        uint32_t size = 1 + random_below(random, random_chance(random, 90) ? 9 : layer ? OUTPUTS : INPUTS);
        image[2] |= size << (8 * layer);
        count += layer ? (below + bias) * size : 0;
        below = size;
    }
    image[3] = count;
    for (uint32_t i = 4; i < HEADER; i++)
        image[i] = 0;
    for (uint32_t i = 0; i < count; i++)
        image[HEADER + i] = word_of(random, kind, 1);
    return HEADER + count;
}

/* Prints a digest of single steps: of any words, and of floating point whose roundings matter. */
static void print_steps(uint32_t kind)
{
    struct random random = {kind + 10};
    uint64_t digest = 0;
    for (int i = 0; i < STEPS; i++) {
        uint32_t data = word_of(&random, i & 1 ? kind : 3, 0), weight = word_of(&random, i & 1 ? kind : 3, 1);
        uint64_t sum = kind == 2 ? word_of(&random, kind, 0) : random_next(&random);
        digest = random_digest(digest, accumulate(kind, sum, data, weight));
    }
    printf("%" PRIu32 " %016" PRIx64 " steps\n", kind, digest);
}

int main(void)
{
    static uint32_t image[HEADER + WEIGHTS];
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        struct random random = {kind + 1};
        uint64_t digest = 0;
        for (int i = 0; i < NETWORKS; i++) {
            uint32_t inputs[INPUTS], outputs[OUTPUTS], count = make(image, kind, &random);
            uint32_t layers = image[1] >> 8 & 255;
            for (uint32_t k = 0; k < (image[2] & 255); k++)
                inputs[k] = word_of(&random, kind, 0);
            evaluate(image, count, inputs, outputs);
            for (uint32_t k = 0; k < (image[2] >> (8 * layers) & 255); k++)
                digest = random_digest(digest, outputs[k]);
        }
        printf("%" PRIu32 " %016" PRIx64 "\n", kind, digest);
        print_steps(kind);
    }
    return 0;
}
