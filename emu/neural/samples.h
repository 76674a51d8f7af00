/* Observed calls of a function: inputs and outputs, their ranges, and their scaling for a network.
 *
 * A file of samples (isa/include/croft/approx.h) has 32-bit little-endian words: SAMPLES_SIGNATURE, the number of inputs, the
 * number of outputs; then for each call its inputs and outputs as single-precision numbers. */
#ifndef EMU_NEURAL_SAMPLES_H
#define EMU_NEURAL_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "emu/sim/error.h"

enum { SAMPLES_LEAST = 32, SAMPLES_LINES = 96 /* most inputs and outputs together */ };

#define SAMPLES_SPAN      0.8 /* a network's output over the observed range: from 0.1 to 0.9 */
#define SAMPLES_SIGNATURE UINT32_C(0x53585041) /* "APXS" */

#define SAMPLES_OUTLIER                                                                                      \
    1000 /* the whole range over that of 98 in 100 calls, from which on scaling leaves them no difference (ours) */

/* A value whose range few calls determine. */
struct samples_outlier {
    bool found;
    unsigned at;            /* inputs, then outputs */
    float value, low, high; /* the farthest one; where 98 in 100 are */
};

struct samples {
    struct samples_outlier outlier; /* the first one */
    unsigned inputs, outputs;
    size_t observed, count; /* calls in the file; calls that were kept */
    float *values;          /* of each kept call, inputs and then outputs */
    /* A pair for each input, then for each output. An input x becomes x * pair[0] + pair[1]: 0 to 2 over the observed range, or
     * 1 if only one value was observed. A network's output y, 0.1 to 0.9 over the observed range, becomes y * pair[0] + pair[1].
     * Both are rounded once (fmaf). */
    float scale[2 * SAMPLES_LINES];
    float *in, *out; /* the kept calls, scaled: a network's inputs, and the outputs that it should give */
};

/* Reads a file and keeps at most `most` calls, chosen and ordered by the seed. An error calls the samples `name`, and says which call.
 * Release it with samples_free(), after errors too. */
bool samples_read(struct samples *samples, const char *path, const char *name, size_t most, uint64_t seed,
                  struct error *err);
void samples_free(struct samples *samples);

/* Returns the observed value, not scaled, of output `output` of a kept call. */
float samples_output(const struct samples *samples, size_t call, unsigned output);

/* Returns the next number of a generator (splitmix64). */
uint64_t samples_random(uint64_t *state);

#endif
