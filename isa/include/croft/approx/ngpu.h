/* Functions that the neural units in multiprocessors approximate; croft/approx.h includes it for CROFT_BY_NGPU.
 *
 * Before main(), the units get the network of the program's function; they hold one, so a program has one such function. Threads of
 * multiprocessors scale and send their inputs, and receive and scale their results. The host, which has no unit, evaluates the
 * network in software. With -DCROFT_NGPU_FOLD, networks in FP take inputs as they are: scaling is in the weights of the first layer, and a
 * thread executes a load and a send.ngpu for each. Their results then differ from those of other choices by roundings. */
#ifndef CROFT_APPROX_NGPU_H
#define CROFT_APPROX_NGPU_H

#include <croft/ngpu.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern const char *croft_ngpu_function; /* whose network the units have */
__attribute__((weak)) const char *croft_ngpu_function;

static inline void croft_ngpu_begin(const char *name, const uint32_t *image)
{
    if (croft_ngpu_function) {
        fprintf(stderr, "croft: CROFT_BY_NGPU: %s: the units have the network of %s, and hold one\n", name,
                croft_ngpu_function);
        exit(1);
    }
    croft_ngpu_function = name;
    croft_ngpu_configure(image);
}

/* Inputs up to which saving registers for early loads costs more than waiting (measured). */
enum { CROFT_NGPU_FEW = 12 };

#ifdef CROFT_NGPU_FOLD
enum { CROFT_NGPU_FOLDS = 1 };
#else
enum { CROFT_NGPU_FOLDS = 0 };
#endif

enum {
    CROFT_NGPU_BIASES = 3 * CROFT_NETWORK_NEURONS
}; /* words that a network with a bias has more, at most */

/* Copies the weights of `neurons` neurons from `from` to `to`: weight i of `fan` times scale[2 * i], and, as the weight of a bias, the sum of
 * weight i times scale[2 * i + 1]. Without a scale, they stay as they are. `biased`: `from` has weights of a bias. Returns the end of `to`. */
static inline uint32_t *croft_ngpu_fold_layer(uint32_t *to, const uint32_t *from, unsigned neurons,
                                              unsigned fan, int biased, const float *scale)
{
    for (unsigned neuron = 0; neuron < neurons; neuron++) {
        double bias = 0;
        for (unsigned i = 0; i < fan; i++, from++) {
            double weight = croft_word_float(*from);
            bias += scale ? weight * scale[2 * i + 1] : 0;
            *to++ = croft_float_word((float)(scale ? weight * scale[2 * i] : weight));
        }
        bias += biased ? croft_word_float(*from++) : 0;
        *to++ = croft_float_word((float)bias);
    }
    return to;
}

/* Returns whether inputs of an arithmetic are sent as they are. In fixed point they must be converted anyway. */
static inline int croft_ngpu_folds(unsigned kind)
{
    return CROFT_NGPU_FOLDS && kind == CROFT_ARITH_FP;
}

/* Writes the image for the units: with the scaling of inputs in the weights of the first layer, and in those of a bias, if inputs are
 * sent as they are; else a copy. */
static inline void croft_ngpu_fold(const uint32_t *image, const float *scale, uint32_t *folded)
{
    const unsigned layers = image[1] >> 8 & 255, biased = image[1] >> 16 & 1;
    const uint32_t *from = image + CROFT_NETWORK_HEADER;
    uint32_t *to = folded + CROFT_NETWORK_HEADER;
    __builtin_memcpy(folded, image, CROFT_NETWORK_HEADER * sizeof *folded);
    if (!croft_ngpu_folds(image[1] & 255)) {
        __builtin_memcpy(to, from, image[3] * sizeof *to);
        return;
    }
    folded[1] |= UINT32_C(1) << 16;
    for (unsigned layer = 1; layer <= layers; layer++) {
        const unsigned fan = image[2] >> (8 * layer - 8) & 255, neurons = image[2] >> (8 * layer) & 255;
        to = croft_ngpu_fold_layer(to, from, neurons, fan, (int)biased, layer == 1 ? scale : NULL);
        from += (size_t)neurons * (fan + biased);
    }
    folded[3] = (uint32_t)(to - folded) - CROFT_NETWORK_HEADER;
}

#define CROFT_NGPU_FUNCTION(function, its_image)                                                             \
    static uint32_t function##_ngpu[sizeof(its_image) / sizeof(uint32_t) + CROFT_NGPU_BIASES];               \
    __attribute__((constructor(1000))) static void function##_ngpu_begin(void)                               \
    {                                                                                                        \
        croft_ngpu_fold(its_image, function##_scale, function##_ngpu);                                       \
        croft_ngpu_begin(#function, function##_ngpu);                                                        \
    }

/* Returns the word of an input for the units' image. */
static inline uint32_t croft_ngpu_input(unsigned kind, float value, const float *scale)
{
    return croft_ngpu_folds(kind) ? croft_float_word(value)
                                  : croft_data_word(kind, __builtin_fmaf(value, scale[0], scale[1]));
}

/* What the units compute, in software, to the bit. Apart, so that threads save no registers for it. */
static __attribute__((noinline, unused)) void croft_ngpu_by_host(const uint32_t *image,
                                                                 const uint32_t *folded, const float *scale,
                                                                 const float *in, float *out)
{
    uint32_t inputs[CROFT_NETWORK_INPUTS], outputs[CROFT_NETWORK_NEURONS];
    const unsigned kind = image[1] & 255, layers = image[1] >> 8 & 255;
    for (unsigned i = 0; i < (image[2] & 255); i++, scale += 2)
        inputs[i] = croft_ngpu_input(kind, in[i], scale);
    croft_network_evaluate(folded, inputs, outputs);
    for (unsigned i = 0; i < (image[2] >> (8 * layers) & 255); i++, scale += 2)
        out[i] = __builtin_fmaf(croft_data_value(kind, outputs[i]), scale[0], scale[1]);
}

/* As croft_network_call(), to the bit unless the image was folded, in a thread of a multiprocessor. Part of its caller always: inputs and
 * outputs that are passed lie on the thread's stack. */
static inline __attribute__((always_inline)) void
croft_ngpu_by_thread(const uint32_t *image, const float *scale, const float *in, float *out)
{
    const unsigned kind = image[1] & 255, layers = image[1] >> 8 & 255, inputs = image[2] & 255,
                   outputs = image[2] >> (8 * layers) & 255;
    int64_t words[CROFT_NETWORK_INPUTS];
#pragma GCC unroll 64
    for (unsigned i = 0; i < inputs; i++, scale += 2) {
        words[i] = (int32_t)croft_ngpu_input(kind, in[i], scale);
        if (inputs > CROFT_NGPU_FEW)
            __asm__ volatile(""
                             : "+r"(words[i])); /* all loads come before the first input that waits for one */
    }
#pragma GCC unroll 64
    for (unsigned i = 0; i < inputs; i++)
        croft_ngpu_send((uint32_t)words[i]);
#pragma GCC unroll 64
    for (unsigned i = 0; i < outputs; i++, scale += 2)
        out[i] = __builtin_fmaf(croft_data_value(kind, croft_ngpu_recv()), scale[0], scale[1]);
}

/* The same in a thread or on the host. Threads of multiprocessors have an sp in the window of stacks, whose bit 46 is set
 * (isa/MANUAL.md, chapter SIMT). */
static inline void croft_ngpu_call(const uint32_t *image, const uint32_t *folded, const float *scale,
                                   const float *in, float *out)
{
    uint64_t sp;
    __asm__("mv %0, sp" : "=r"(sp));
    if (sp >> 46 & 1)
        croft_ngpu_by_thread(image, scale, in, out);
    else
        croft_ngpu_by_host(image, folded, scale, in, out);
}

#endif
