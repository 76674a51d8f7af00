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
    uint32_t warp_shift;   /* log2 of the bytes of a warp's stacks */
    uint32_t first, chips; /* that have its network */
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

/* Scales and converts inputs, and stores them as the words of a unit. Loops that the compiler unrolls keep in[] in registers, not
 * in the stack. */
static inline void croft_axram_put(const uint32_t *image, const float *scale, const float *in,
                                   uint32_t *record, unsigned unit)
{
    const unsigned kind = image[1] & 255, inputs = image[2] & 255;
#pragma GCC unroll 64
    for (unsigned i = 0; i < inputs; i++, scale += 2)
        record[i * CROFT_AXRAM_WORDS + unit] =
            croft_data_word(kind, __builtin_fmaf(in[i], scale[0], scale[1]));
}

/* Loads, converts and scales the results of a unit. */
static inline void croft_axram_get(const uint32_t *image, const float *scale, const uint32_t *record,
                                   unsigned unit, float *out)
{
    const unsigned kind = image[1] & 255, layers = image[1] >> 8 & 255, inputs = image[2] & 255,
                   outputs = image[2] >> (8 * layers) & 255;
    record += inputs * CROFT_AXRAM_WORDS + unit;
    scale += 2 * inputs;
#pragma GCC unroll 64
    for (unsigned i = 0; i < outputs; i++, scale += 2)
        out[i] = __builtin_fmaf(croft_data_value(kind, record[i * CROFT_AXRAM_WORDS]), scale[0], scale[1]);
}

/* As croft_network_call(), to the bit. */
static inline void croft_axram_call(const struct croft_axram_function *function, const uint32_t *image,
                                    const float *scale, const float *in, float *out)
{
    const unsigned layers = image[1] >> 8 & 255, inputs = image[2] & 255,
                   outputs = image[2] >> (8 * layers) & 255;
    unsigned unit;
    uint32_t *record = croft_axram_slot(function, &unit);
    croft_axram_put(image, scale, in, record, unit);
    croft_axram_thread(record, inputs, record + inputs * CROFT_AXRAM_WORDS, outputs, unit);
    croft_axram_get(image, scale, record, unit, out);
}

struct croft_batch;

/* Gives a batch (croft/approx/batch.h) a region in the chips that have the function's network. Returns 0, or -1 with errno and
 * axram_error() as axram_malloc() sets them. */
int croft_axram_batch(const struct croft_axram_function *function, struct croft_batch *batch, uint64_t calls);

/* Gives its memory back. */
void croft_axram_batch_free(struct croft_batch *batch);

#endif
