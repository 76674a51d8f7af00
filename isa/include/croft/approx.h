/* Functions that a neural network may approximate. */
#ifndef CROFT_APPROX_H
#define CROFT_APPROX_H

#include <croft/check.h>
#include <stdint.h>

/* CROFT_APPROX defines a function of `inputs` floats that gives `outputs` floats, which need only be nearly right:
 *
 *     CROFT_APPROX(polar, 2, 2)
 *     {
 *         out[0] = sqrtf(in[0] * in[0] + in[1] * in[1]);
 *         out[1] = atan2f(in[1], in[0]);
 *     }
 *
 * `polar(in, out)` calls it; it must depend on in[] alone and change out[] alone. `polar_by_thread(in, out)` is the same in code that
 * threads of multiprocessors alone execute, and does not look whether a host core calls it. `croft neural FILE.c` runs the program,
 * trains a network with the calls that it observes, and writes FILE.network.h. The same source then runs
 *
 *     croft cc FILE.c                                                           the original function
 *     croft cc -DCROFT_APPROX_BY=CROFT_BY_NETWORK -include FILE.network.h FILE.c    the network, in software
 *     croft cc -DCROFT_APPROX_BY=CROFT_BY_AXRAM -include FILE.network.h FILE.c      the network, in AxRAM's chips
 *     croft cc -DCROFT_APPROX_BY=CROFT_BY_NGPU -include FILE.network.h FILE.c       the network, in units of multiprocessors
 *
 * with -DCROFT_APPROX_ARITHMETIC=sha (the default), fxp or fp: the arithmetic of AxRAM's units, to the bit (isa/MANUAL.md).
 * CROFT_APPROX_BATCH is for calls whose inputs are known beforehand (croft/approx/batch.h). */
#define CROFT_APPROX(name, inputs, outputs)                                                                  \
    CROFT_APPROX_CHECK(name, inputs, outputs)                                                                \
    static inline __attribute__((unused)) void name##_original(const float *in, float *out);                 \
    static inline void name(const float *in, float *out)                                                     \
    {                                                                                                        \
        CROFT_APPROX_CALL(name, inputs, outputs);                                                            \
    }                                                                                                        \
    static inline __attribute__((always_inline, unused)) void name##_by_thread(const float *in, float *out)  \
    {                                                                                                        \
        CROFT_APPROX_BY_THREAD(name, inputs, outputs);                                                       \
    }                                                                                                        \
    static inline __attribute__((unused)) void name##_original(const float *in, float *out)

#define CROFT_BY_ORIGINAL 1
#define CROFT_BY_NETWORK  2
#define CROFT_BY_OBSERVER 3 /* the original; writes inputs and outputs to NAME.samples, for croft neural */
#define CROFT_BY_NGPU     4 /* the network, in units of machine ngpu's multiprocessors (croft/approx/ngpu.h) */
#define CROFT_BY_AXRAM    5 /* the network, in the chips of machine axram (croft/approx/axram.h) */

#ifndef CROFT_APPROX_BY
#define CROFT_APPROX_BY CROFT_BY_ORIGINAL
#endif
#ifndef CROFT_APPROX_ARITHMETIC
#define CROFT_APPROX_ARITHMETIC sha
#endif

#define CROFT_APPROX_SIZES(name, inputs, outputs)                                                            \
    CROFT_CHECK((inputs) >= 1 && (inputs) <= CROFT_NETWORK_INPUTS, #name ": a network has 1 to 64 inputs");  \
    CROFT_CHECK((outputs) >= 1 && (outputs) <= CROFT_NETWORK_NEURONS,                                        \
                #name ": a network has 1 to 32 outputs");

#define CROFT_APPROX_SCALE(name, inputs, outputs)                                                            \
    CROFT_CHECK(sizeof name##_scale == 2 * sizeof(float) * ((inputs) + (outputs)),                           \
                #name ": its network has other inputs or outputs; run croft neural again");

#if CROFT_APPROX_BY == CROFT_BY_ORIGINAL
#define CROFT_APPROX_CHECK(name, inputs, outputs) CROFT_APPROX_SIZES(name, inputs, outputs)
#define CROFT_APPROX_CALL(name, inputs, outputs)  name##_original(in, out)
#elif CROFT_APPROX_BY == CROFT_BY_AXRAM
#define CROFT_APPROX_CHECK(name, inputs, outputs)                                                            \
    CROFT_APPROX_SIZES(name, inputs, outputs)                                                                \
    CROFT_APPROX_SCALE(name, inputs, outputs)                                                                \
    CROFT_AXRAM_FUNCTION(name, CROFT_APPROX_IMAGE(name, CROFT_APPROX_ARITHMETIC))
#define CROFT_APPROX_CALL(name, inputs, outputs)                                                             \
    croft_axram_call(&name##_axram, CROFT_APPROX_IMAGE(name, CROFT_APPROX_ARITHMETIC), name##_scale, in, out)
#elif CROFT_APPROX_BY == CROFT_BY_NGPU
#define CROFT_APPROX_CHECK(name, inputs, outputs)                                                            \
    CROFT_APPROX_SIZES(name, inputs, outputs)                                                                \
    CROFT_APPROX_SCALE(name, inputs, outputs)                                                                \
    CROFT_NGPU_FUNCTION(name, CROFT_APPROX_IMAGE(name, CROFT_APPROX_ARITHMETIC))
#define CROFT_APPROX_CALL(name, inputs, outputs)                                                             \
    croft_ngpu_call(CROFT_APPROX_IMAGE(name, CROFT_APPROX_ARITHMETIC), name##_ngpu, name##_scale, in, out)
#define CROFT_APPROX_BY_THREAD(name, inputs, outputs)                                                        \
    croft_ngpu_by_thread(CROFT_APPROX_IMAGE(name, CROFT_APPROX_ARITHMETIC), name##_scale, in, out)
#elif CROFT_APPROX_BY == CROFT_BY_NETWORK
#define CROFT_APPROX_CHECK(name, inputs, outputs)                                                            \
    CROFT_APPROX_SIZES(name, inputs, outputs)                                                                \
    CROFT_APPROX_SCALE(name, inputs, outputs)
#define CROFT_APPROX_CALL(name, inputs, outputs)                                                             \
    croft_network_call(CROFT_APPROX_IMAGE(name, CROFT_APPROX_ARITHMETIC), name##_scale, in, out)
#elif CROFT_APPROX_BY == CROFT_BY_OBSERVER
#include <stdio.h>
#include <stdlib.h>
#define CROFT_APPROX_CHECK(name, inputs, outputs) CROFT_APPROX_SIZES(name, inputs, outputs)
#define CROFT_APPROX_CALL(name, inputs, outputs)                                                             \
    static FILE *croft_file;                                                                                 \
    float croft_in[inputs];                                                                                  \
    __builtin_memcpy(croft_in, in, sizeof croft_in);                                                         \
    name##_original(in, out);                                                                                \
    croft_file = croft_file ? croft_file : croft_samples_open(#name ".samples", inputs, outputs);            \
    croft_samples_write(croft_file, croft_in, inputs);                                                       \
    croft_samples_write(croft_file, out, outputs)

/* A file of samples: the signature, numbers of inputs and outputs (32 bits each), then inputs and outputs of each call. */
static inline FILE *croft_samples_open(const char *path, uint32_t inputs, uint32_t outputs)
{
    const uint32_t header[] = {0x53585041, inputs, outputs}; /* "APXS" */
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(header, sizeof header, 1, file) != 1) {
        perror(path);
        exit(1);
    }
    return file;
}

static inline void croft_samples_write(FILE *file, const float *values, unsigned count)
{
    if (fwrite(values, sizeof *values, count, file) != count) {
        perror("samples");
        exit(1);
    }
}
#else
#error                                                                                                       \
    "CROFT_APPROX_BY is CROFT_BY_ORIGINAL, CROFT_BY_NETWORK, CROFT_BY_NGPU, CROFT_BY_AXRAM or CROFT_BY_OBSERVER"
#endif

#ifndef CROFT_APPROX_BY_THREAD
#define CROFT_APPROX_BY_THREAD(name, inputs, outputs) name(in, out)
#endif

#define CROFT_APPROX_IMAGE(name, arithmetic)  CROFT_APPROX_IMAGE_(name, arithmetic)
#define CROFT_APPROX_IMAGE_(name, arithmetic) name##_##arithmetic

/* Networks in software, as emu/neural/network.h describes their images and emu/neural/arith.h their arithmetic. */

enum {
    CROFT_NETWORK_INPUTS = 64,
    CROFT_NETWORK_NEURONS = 32,
    CROFT_NETWORK_HEADER = 8,
    CROFT_ARITH_SHA = 0,
    CROFT_ARITH_FXP = 1,
    CROFT_ARITH_FP = 2,
};

static const uint32_t croft_sigmoid_table[1024] __attribute__((unused)) = {
#include <croft/sigmoid_table.h>
};

static inline float croft_word_float(uint32_t word)
{
    float value;
    __builtin_memcpy(&value, &word, sizeof value);
    return value;
}

static inline uint32_t croft_float_word(float value)
{
    uint32_t word;
    __builtin_memcpy(&word, &value, sizeof word);
    return word;
}

/* Returns the data word of a value, and the value of a word. */
static inline uint32_t croft_data_word(unsigned kind, float value)
{
    int32_t word;
    if (kind == CROFT_ARITH_FP)
        return croft_float_word(value);
    value *= 0x1p24F;
    __asm__("fcvt.w.s %0, %1, rne" : "=r"(word) : "f"(value));
    return (uint32_t)word;
}

static inline float croft_data_value(unsigned kind, uint32_t word)
{
    return kind == CROFT_ARITH_FP ? croft_word_float(word) : (float)(int32_t)word * 0x1p-24F;
}

static inline int64_t croft_add_saturating(int64_t sum, int64_t term)
{
    int64_t result;
    if (__builtin_add_overflow(sum, term, &result))
        result = term < 0 ? INT64_MIN : INT64_MAX;
    return result;
}

static inline int64_t croft_accumulate_shifts(int64_t sum, int64_t data, uint32_t weight)
{
    unsigned count = weight >> 25 & 7;
    data = weight >> 28 & 1 ? -data : data;
    for (count = count < 5 ? count : 5; count > 0; count--, weight >>= 5)
        sum = croft_add_saturating(sum, data * (INT64_C(1) << (weight & 31)));
    return sum;
}

static inline int64_t croft_accumulate_fixed(int64_t sum, uint32_t data, uint32_t weight)
{
    return croft_add_saturating(sum, (int64_t)(int32_t)data * (int32_t)weight);
}

/* Two roundings: the compiler must not make one instruction of both. */
static inline float croft_accumulate_float(float sum, float data, float weight)
{
    float product = data * weight;
    __asm__("" : "+f"(product));
    return sum + product;
}

static inline uint32_t croft_sigmoid_entry(int64_t step)
{
    step = step < -1024 ? -1024 : step > 1023 ? 1023 : step;
    return step >= 0 ? croft_sigmoid_table[step] : (UINT32_C(1) << 24) - croft_sigmoid_table[-step - 1];
}

static inline uint32_t croft_sigmoid_float(float x)
{
    int32_t step;
    if (x != x)
        return 0x7fc00000;
    x *= 128;
    __asm__("fcvt.w.s %0, %1, rdn" : "=r"(step) : "f"(x));
    return croft_float_word((float)croft_sigmoid_entry(step) * 0x1p-24F);
}

/* Returns the output of a neuron with `count` inputs. */
static inline uint32_t croft_neuron(unsigned kind, unsigned count, const uint32_t *in,
                                    const uint32_t *weights)
{
    int64_t sum = 0;
    float real = 0;
    for (unsigned i = 0; i < count; i++) {
        if (kind == CROFT_ARITH_SHA)
            sum = croft_accumulate_shifts(sum, (int32_t)in[i], weights[i]);
        else if (kind == CROFT_ARITH_FXP)
            sum = croft_accumulate_fixed(sum, in[i], weights[i]);
        else
            real = croft_accumulate_float(real, croft_word_float(in[i]), croft_word_float(weights[i]));
    }
    return kind == CROFT_ARITH_FP ? croft_sigmoid_float(real) : croft_sigmoid_entry(sum >> 33);
}

/* Computes the outputs of an image from its inputs, data words both. */
static inline void croft_network_evaluate(const uint32_t *image, const uint32_t *inputs, uint32_t *outputs)
{
    uint32_t values[2][CROFT_NETWORK_INPUTS + 1];
    unsigned kind = image[1] & 255, layers = image[1] >> 8 & 255, bias = image[1] >> 16 & 1,
             size = image[2] & 255;
    const uint32_t *weight = image + CROFT_NETWORK_HEADER;
    for (unsigned i = 0; i < size; i++)
        values[0][i] = inputs[i];
    for (unsigned layer = 1; layer <= layers; layer++) {
        uint32_t *in = values[(layer - 1) & 1], *out = values[layer & 1];
        unsigned fan = size + bias;
        in[size] = croft_data_word(kind, 1);
        size = image[2] >> (8 * layer) & 255;
        for (unsigned neuron = 0; neuron < size; neuron++, weight += fan)
            out[neuron] = croft_neuron(kind, fan, in, weight);
    }
    for (unsigned i = 0; i < size; i++)
        outputs[i] = values[layers & 1][i];
}

/* Calls a network in place of a function: value * scale[0] + scale[1] for each input, then for each output. */
static inline void croft_network_call(const uint32_t *image, const float *scale, const float *in, float *out)
{
    uint32_t inputs[CROFT_NETWORK_INPUTS], outputs[CROFT_NETWORK_NEURONS];
    unsigned kind = image[1] & 255, layers = image[1] >> 8 & 255;
    for (unsigned i = 0; i < (image[2] & 255); i++, scale += 2)
        inputs[i] = croft_data_word(kind, __builtin_fmaf(in[i], scale[0], scale[1]));
    croft_network_evaluate(image, inputs, outputs);
    for (unsigned i = 0; i < (image[2] >> (8 * layers) & 255); i++, scale += 2)
        out[i] = __builtin_fmaf(croft_data_value(kind, outputs[i]), scale[0], scale[1]);
}

#if CROFT_APPROX_BY == CROFT_BY_AXRAM
#include <croft/approx/axram.h>
#elif CROFT_APPROX_BY == CROFT_BY_NGPU
#include <croft/approx/ngpu.h>
#endif
#include <croft/approx/batch.h>

#endif
