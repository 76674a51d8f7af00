/* Functions that the neural units in multiprocessors approximate; croft/approx.h includes it for CROFT_BY_NGPU.
 *
 * Before main(), the units get the network of the program's function; they hold one, so a program has one such function. Threads of
 * multiprocessors scale and send their inputs, and receive and scale their results. The host, which has no unit, evaluates the
 * network in software. */
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

#define CROFT_NGPU_FUNCTION(function, its_image)                                                             \
    __attribute__((constructor(1000))) static void function##_ngpu_begin(void)                               \
    {                                                                                                        \
        croft_ngpu_begin(#function, its_image);                                                              \
    }

/* As croft_network_call(), to the bit. Threads of multiprocessors have an sp in the window of stacks, whose bit 46 is set
 * (isa/MANUAL.md, chapter SIMT). */
static inline void croft_ngpu_call(const uint32_t *image, const float *scale, const float *in, float *out)
{
    const unsigned kind = image[1] & 255, layers = image[1] >> 8 & 255, inputs = image[2] & 255,
                   outputs = image[2] >> (8 * layers) & 255;
    uint64_t sp;
    __asm__("mv %0, sp" : "=r"(sp));
    if (!(sp >> 46 & 1)) {
        croft_network_call(image, scale, in, out);
        return;
    }
#pragma GCC unroll 64
    for (unsigned i = 0; i < inputs; i++, scale += 2)
        croft_ngpu_send(croft_data_word(kind, __builtin_fmaf(in[i], scale[0], scale[1])));
#pragma GCC unroll 64
    for (unsigned i = 0; i < outputs; i++, scale += 2)
        out[i] = __builtin_fmaf(croft_data_value(kind, croft_ngpu_recv()), scale[0], scale[1]);
}

#endif
