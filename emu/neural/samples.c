#include "emu/neural/samples.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/neural/network.h"
#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"

enum { HEADER = 3 * sizeof(uint32_t), CHUNK = 1 << 20 };

/* Inputs are scaled to begin at 0: without biases, a network whose inputs lie around 0 is an odd function plus a constant. */
static const double input_most = 2;

/* Outputs are scaled to stay off the ends of the sigmoid, which a network reaches with large weights only. */
static const double output_low = (1 - SAMPLES_SPAN) / 2;

uint64_t samples_random(uint64_t *state)
{
    return mix_next(state);
}

static bool read_header(struct samples *s, FILE *file, const char *name, struct error *err)
{
    uint32_t header[3];
    if (fread(header, sizeof header, 1, file) != 1 || header[0] != SAMPLES_SIGNATURE)
        return error_set(err, "%s: not a file of samples", name);
    if (header[1] < 1 || header[1] > NETWORK_INPUTS || header[2] < 1 || header[2] > NETWORK_NEURONS)
        return error_set(err,
                         "%s: %u inputs and %u outputs; a network has 1 to %d inputs and 1 to %d outputs",
                         name, header[1], header[2], NETWORK_INPUTS, NETWORK_NEURONS);
    s->inputs = header[1];
    s->outputs = header[2];
    return true;
}

/* Reads all calls. */
static bool read_calls(struct samples *s, FILE *file, const char *name, struct error *err)
{
    size_t line = s->inputs + s->outputs, size = 0, count = 0, got;
    do {
        if (count + CHUNK > size) {
            size = 2 * size + CHUNK;
            s->values = alloc_resize(s->values, size * sizeof *s->values);
        }
        got = fread(s->values + count, sizeof *s->values, CHUNK, file);
        count += got;
    } while (got > 0);
    if (ferror(file))
        return error_set(err, "%s: %s", name, strerror(errno));
    s->observed = count / line;
    if (count % line != 0)
        return error_set(err, "%s: the file ends within call %zu; did the program end early?", name,
                         s->observed + 1);
    if (s->observed < SAMPLES_LEAST)
        return error_set(err, "%s: there are %zu; training needs at least %d", name, s->observed,
                         SAMPLES_LEAST);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(s->values[i]))
            return error_set(err, "%s: %s %zu of call %zu is not a finite number", name,
                             i % line < s->inputs ? "input" : "output",
                             i % line < s->inputs ? i % line : i % line - s->inputs, i / line + 1);
    return true;
}

/* Moves a random choice of at most `most` calls, in random order, to the front. */
static void choose(struct samples *s, size_t most, uint64_t seed)
{
    size_t line = s->inputs + s->outputs;
    float swap[SAMPLES_LINES];
    s->count = s->observed < most ? s->observed : most;
    for (size_t i = 0; i < s->count; i++) {
        size_t other = i + samples_random(&seed) % (s->observed - i);
        float *a = s->values + i * line, *b = s->values + other * line;
        memcpy(swap, a, line * sizeof *a);
        memcpy(a, b, line * sizeof *a);
        memcpy(b, swap, line * sizeof *a);
    }
}

/* Sets the scaling pair of value `at` (inputs, then outputs) by the range that the kept calls have. */
static void set_scale(struct samples *s, unsigned at)
{
    size_t line = s->inputs + s->outputs;
    float low = s->values[at], high = low, *pair = s->scale + (size_t)2 * at;
    for (size_t i = 0; i < s->count; i++) {
        low = fminf(low, s->values[i * line + at]);
        high = fmaxf(high, s->values[i * line + at]);
    }
    double span = (double)high - low;
    if (at < s->inputs) {
        pair[0] = span > 0 ? (float)(input_most / span) : 0;
        pair[1] = span > 0 ? (float)(-low / span * input_most) : 1;
    } else {
        pair[0] = (float)(span / SAMPLES_SPAN);
        pair[1] = (float)(low - span / SAMPLES_SPAN * output_low);
    }
}

/* Scales the kept calls. */
static void scale(struct samples *s)
{
    size_t line = s->inputs + s->outputs;
    s->in = alloc(s->count * s->inputs, sizeof *s->in);
    s->out = alloc(s->count * s->outputs, sizeof *s->out);
    for (size_t i = 0; i < s->count; i++)
        for (unsigned k = 0; k < line; k++) {
            float value = s->values[i * line + k];
            const float *pair = s->scale + (size_t)2 * k;
            if (k < s->inputs)
                s->in[i * s->inputs + k] = fmaf(value, pair[0], pair[1]);
            else
                s->out[i * s->outputs + k - s->inputs] = pair[0] != 0 ? (value - pair[1]) / pair[0] : 0.5F;
        }
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Finds an input or output of which few values take nearly the whole range: all others get nearly the same scaled value. */
static void find_outlier(struct samples *s)
{
    const size_t line = s->inputs + s->outputs, few = s->count / 100;
    float *values = alloc(s->count, sizeof *values);
    for (unsigned at = 0; at < line && !s->outlier.found; at++) {
        for (size_t i = 0; i < s->count; i++)
            values[i] = s->values[i * line + at];
        qsort(values, s->count, sizeof *values, ascending);
        const float least = values[0], most = values[s->count - 1], low = values[few],
                    high = values[s->count - 1 - few];
        const bool below = (double)low - least > (double)most - high;
        if ((double)most - least > SAMPLES_OUTLIER * ((double)high - low) && high > low)
            s->outlier = (struct samples_outlier){true, at, below ? least : most, low, high};
    }
    free(values);
}

bool samples_read(struct samples *s, const char *path, const char *name, size_t most, uint64_t seed,
                  struct error *err)
{
    *s = (struct samples){0};
    FILE *file = fopen(path, "rbe");
    if (!file)
        return error_set(err, "%s: %s", path, strerror(errno));
    bool done = read_header(s, file, name, err) && read_calls(s, file, name, err);
    (void)fclose(file);
    if (!done)
        return false;
    choose(s, most, seed);
    find_outlier(s);
    for (unsigned i = 0; i < s->inputs + s->outputs; i++)
        set_scale(s, i);
    scale(s);
    return true;
}

void samples_free(struct samples *s)
{
    free(s->values);
    free(s->in);
    free(s->out);
    *s = (struct samples){0};
}

float samples_output(const struct samples *s, size_t call, unsigned output)
{
    return s->values[call * (s->inputs + s->outputs) + s->inputs + output];
}
