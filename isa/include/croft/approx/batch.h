/* Batches of calls of approximated functions; croft/approx.h includes it.
 *
 * The host knows the inputs of a batch's calls before a kernel starts. With CROFT_BY_AXRAM, it puts them into accelerator memory,
 * scaled, converted and shuffled, as the AxRAM paper's driver does when it copies them (PACT 2018, section 6), and a thread runs
 * its call by two instructions. With the other choices, a batch is two arrays of floats. */
#ifndef CROFT_APPROX_BATCH_H
#define CROFT_APPROX_BATCH_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

struct croft_batch {
    uint64_t count;     /* of calls */
    float *in, *out;    /* value k of call i at [k * count + i], so that a warp's threads touch neighbours; */
    void *region;       /* or accelerator memory: */
    uint32_t **records; /* its record of calls 32 * i to 32 * i + 31, inputs and then results */
};

/* CROFT_APPROX_BATCH(name, inputs, outputs), behind CROFT_APPROX(name, inputs, outputs), defines
 *
 *     int name_batch(struct croft_batch *batch, uint64_t count)    for `count` calls, 1 or more, without contents.
 *                                                                  0, or -1 with errno ENOMEM: no room, or EINVAL: no calls
 *     void name_put(struct croft_batch *batch, uint64_t i, const float *in)      the host: the inputs of call i
 *     void name_run(const struct croft_batch *batch, uint64_t i)                 a thread or the host: call i
 *     void name_get(const struct croft_batch *batch, uint64_t i, float *out)     the host: the outputs of call i
 *     void name_free(struct croft_batch *batch)                                  gives its memory back
 *
 * With CROFT_BY_AXRAM, threads of a warp that run calls together must run some of 32 from a multiple of 32 on; each is one
 * request, and others trap. */
#if CROFT_APPROX_BY == CROFT_BY_AXRAM
#define CROFT_APPROX_BATCH(name, inputs, outputs)                                                            \
    static inline __attribute__((unused)) int name##_batch(struct croft_batch *batch, uint64_t count)        \
    {                                                                                                        \
        return croft_axram_batch(&name##_axram, batch, count);                                               \
    }                                                                                                        \
    static inline                                                                                            \
        __attribute__((unused)) void name##_put(struct croft_batch *batch, uint64_t i, const float *in)      \
    {                                                                                                        \
        const uint32_t *image = CROFT_APPROX_IMAGE(name, CROFT_APPROX_ARITHMETIC);                           \
        croft_axram_put(image, name##_scale, in, batch->records[i / CROFT_AXRAM_WORDS],                      \
                        (unsigned)(i % CROFT_AXRAM_WORDS));                                                  \
    }                                                                                                        \
    static inline __attribute__((unused)) void name##_run(const struct croft_batch *batch, uint64_t i)       \
    {                                                                                                        \
        uint32_t *record = batch->records[i / CROFT_AXRAM_WORDS];                                            \
        croft_axram_thread(record, inputs, record + (inputs)*CROFT_AXRAM_WORDS, outputs,                     \
                           (unsigned)(i % CROFT_AXRAM_WORDS));                                               \
    }                                                                                                        \
    static inline                                                                                            \
        __attribute__((unused)) void name##_get(const struct croft_batch *batch, uint64_t i, float *out)     \
    {                                                                                                        \
        const uint32_t *image = CROFT_APPROX_IMAGE(name, CROFT_APPROX_ARITHMETIC);                           \
        croft_axram_get(image, name##_scale, batch->records[i / CROFT_AXRAM_WORDS],                          \
                        (unsigned)(i % CROFT_AXRAM_WORDS), out);                                             \
    }                                                                                                        \
    static inline __attribute__((unused)) void name##_free(struct croft_batch *batch)                        \
    {                                                                                                        \
        croft_axram_batch_free(batch);                                                                       \
    }
#else
#define CROFT_APPROX_BATCH(name, inputs, outputs)                                                            \
    static inline __attribute__((unused)) int name##_batch(struct croft_batch *batch, uint64_t count)        \
    {                                                                                                        \
        return croft_batch_arrays(batch, count, inputs, outputs);                                            \
    }                                                                                                        \
    static inline                                                                                            \
        __attribute__((unused)) void name##_put(struct croft_batch *batch, uint64_t i, const float *in)      \
    {                                                                                                        \
        for (unsigned k = 0; k < (inputs); k++)                                                              \
            batch->in[k * batch->count + i] = in[k];                                                         \
    }                                                                                                        \
    static inline __attribute__((unused)) void name##_run(const struct croft_batch *batch, uint64_t i)       \
    {                                                                                                        \
        float in[inputs], out[outputs];                                                                      \
        for (unsigned k = 0; k < (inputs); k++)                                                              \
            in[k] = batch->in[k * batch->count + i];                                                         \
        name(in, out);                                                                                       \
        for (unsigned k = 0; k < (outputs); k++)                                                             \
            batch->out[k * batch->count + i] = out[k];                                                       \
    }                                                                                                        \
    static inline                                                                                            \
        __attribute__((unused)) void name##_get(const struct croft_batch *batch, uint64_t i, float *out)     \
    {                                                                                                        \
        for (unsigned k = 0; k < (outputs); k++)                                                             \
            out[k] = batch->out[k * batch->count + i];                                                       \
    }                                                                                                        \
    static inline __attribute__((unused)) void name##_free(struct croft_batch *batch)                        \
    {                                                                                                        \
        free(batch->in);                                                                                     \
    }

/* Gives a batch its arrays, which are one allocation. */
static inline int croft_batch_arrays(struct croft_batch *batch, uint64_t count, unsigned inputs,
                                     unsigned outputs)
{
    *batch = (struct croft_batch){.count = count};
    if (count == 0) {
        errno = EINVAL;
        return -1;
    }
    batch->in = (float *)calloc(count, (inputs + outputs) * sizeof *batch->in);
    if (!batch->in)
        return -1;
    batch->out = batch->in + count * inputs;
    return 0;
}
#endif

#endif
