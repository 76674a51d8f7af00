/* Functions that the units in AxRAM's chips approximate; croft/approx.h includes it for CROFT_BY_AXRAM.
 *
 * Before main(), the program's functions share the chips out: of n functions, each gets a network in an n-th of them. Each warp
 * that a multiprocessor can hold has a record of its own for each function, inputs and then outputs, and so has the host. A call
 * scales and stores its inputs, invokes the unit, and loads and scales its outputs; lanes that call together make one request. */
#ifndef CROFT_APPROX_AXRAM_H
#define CROFT_APPROX_AXRAM_H

#include <croft/axram.h>
#include <stdint.h>

struct croft_axram_function {
    const char *name;
    const uint32_t *image;
    uint32_t **records; /* by the number of the warp's stacks; [slots] is the host's */
    uint32_t slots;
    uint32_t warp_shift; /* log2 of the bytes of a warp's stacks */
    struct croft_axram_function *next;
};

/* Adds a function; before main(). */
void croft_axram_add(struct croft_axram_function *function);

/* Gives the chips the networks of all functions, once; before main(), behind the last croft_axram_add(). Ends the program with a
 * sentence and status 1 if that is not possible. */
void croft_axram_begin(void);

#define CROFT_AXRAM_FUNCTION(function, its_image)                                                            \
    static struct croft_axram_function function##_axram = {.name = #function, .image = (its_image)};         \
    __attribute__((constructor(1000))) static void function##_axram_add(void)                                \
    {                                                                                                        \
        croft_axram_add(&function##_axram);                                                                  \
    }                                                                                                        \
    __attribute__((constructor(1001))) static void function##_axram_begin(void)                              \
    {                                                                                                        \
        croft_axram_begin();                                                                                 \
    }

/* Stores the record and the unit of the calling thread: sp of a multiprocessor's threads is in the window of stacks, whose bit 46
 * is set (isa/MANUAL.md, chapter SIMT), and 0xccc is their CSR slane. */
static inline uint32_t *croft_axram_slot(const struct croft_axram_function *function, unsigned *unit)
{
    uint64_t sp, lane;
    __asm__("mv %0, sp" : "=r"(sp));
    if (!(sp >> 46 & 1)) {
        *unit = 0;
        return function->records[function->slots];
    }
    __asm__ volatile("csrr %0, 0xccc" : "=r"(lane)); /* not before the test */
    *unit = (unsigned)lane;
    return function->records[(sp & ((UINT64_C(1) << 46) - 1)) >> function->warp_shift];
}

/* As croft_network_call(), to the bit. Loops that the compiler unrolls keep in[] and out[] in registers, not in the stack. */
static inline void croft_axram_call(const struct croft_axram_function *function, const uint32_t *image,
                                    const float *scale, const float *in, float *out)
{
    const unsigned kind = image[1] & 255, layers = image[1] >> 8 & 255, inputs = image[2] & 255,
                   outputs = image[2] >> (8 * layers) & 255;
    unsigned unit;
    uint32_t *record = croft_axram_slot(function, &unit), *results = record + inputs * CROFT_AXRAM_WORDS;
#pragma GCC unroll 64
    for (unsigned i = 0; i < inputs; i++, scale += 2)
        record[i * CROFT_AXRAM_WORDS + unit] =
            croft_data_word(kind, __builtin_fmaf(in[i], scale[0], scale[1]));
    croft_axram_thread(record, inputs, results, outputs, unit);
#pragma GCC unroll 64
    for (unsigned i = 0; i < outputs; i++, scale += 2)
        out[i] =
            __builtin_fmaf(croft_data_value(kind, results[i * CROFT_AXRAM_WORDS + unit]), scale[0], scale[1]);
}

#endif
