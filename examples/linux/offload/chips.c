/* What the chips of AxRAM give a program's host: networks are evaluated for `threads` rows of numbers, compared with the same in the
 * program's own instructions, and timed. Runs under `croft run -m axram` and in Debian on that machine. */
#include <croft/approx.h>
#include <croft/axram_memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INPUTS = 6, HIDDEN = 8, OUTPUTS = 2, WEIGHTS = INPUTS * HIDDEN + HIDDEN * OUTPUTS, FLOATS = 2 };
enum { THREADS = 1000, ROUNDS = 200 };

static uint32_t image[8 + WEIGHTS], in[THREADS * INPUTS], out[THREADS * OUTPUTS];

static uint32_t word(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Numbers from -2 to 2. */
static uint32_t next(void)
{
    static uint32_t state = 7;
    state = state * 1664525u + 1013904223u;
    return word((float)(state >> 20) / 1024 - 2);
}

static void make(void)
{
    image[0] = 0x4e4e5841;
    image[1] = FLOATS | 2u << 8;
    image[2] = INPUTS | HIDDEN << 8 | OUTPUTS << 16;
    image[3] = WEIGHTS;
    for (unsigned i = 0; i < WEIGHTS; i++)
        image[8 + i] = next();
    for (unsigned i = 0; i < THREADS * INPUTS; i++)
        in[i] = next();
}

/* Evaluates the network for 32 rows. */
static void evaluate(const uint32_t *inputs, const uint32_t *results)
{
    croft_axram_initiate(inputs, inputs + INPUTS * CROFT_AXRAM_WORDS);
    croft_axram_wrt_res(results, results + OUTPUTS * CROFT_AXRAM_WORDS);
}

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void invocations(const void *from, const void *to)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        evaluate(axram_record(from, INPUTS, 0), axram_record(to, OUTPUTS, 0));
}

static void own(const void *from, const void *to)
{
    (void)from;
    (void)to;
    for (unsigned i = 0; i < ROUNDS; i++)
        for (unsigned row = 0; row < CROFT_AXRAM_WORDS; row++)
            croft_network_evaluate(image, in + row * INPUTS, out + row * OUTPUTS);
}

static void measure(const char *what, void (*run)(const void *from, const void *to), const void *from,
                    const void *to)
{
    run(from, to); /* pages and caches */
    long begun = now();
    run(from, to);
    printf("%s: %ld ns\n", what, (now() - begun) / ROUNDS);
}

int main(void)
{
    unsigned equal = 0;
    make();
    void *from = axram_malloc(INPUTS, THREADS), *to = axram_malloc(OUTPUTS, THREADS);
    if (!from || !to || !axram_network(image, 0)) {
        printf("%s\n", axram_error());
        return 1;
    }
    axram_copy_in(from, in, INPUTS, 1, THREADS);
    for (unsigned first = 0; first < THREADS; first += CROFT_AXRAM_WORDS)
        evaluate(axram_record(from, INPUTS, first / CROFT_AXRAM_WORDS),
                 axram_record(to, OUTPUTS, first / CROFT_AXRAM_WORDS));
    axram_copy_out(out, OUTPUTS, 1, to, THREADS);
    for (unsigned row = 0; row < THREADS; row++) {
        uint32_t wanted[CROFT_NETWORK_NEURONS];
        croft_network_evaluate(image, in + row * INPUTS, wanted);
        equal += memcmp(wanted, out + row * OUTPUTS, OUTPUTS * sizeof *out) == 0;
    }
    printf("%u chips, %u of %d rows equal\n", (unsigned)croft_axram_geometry.chips, equal, THREADS);
    measure("32 rows by a chip", invocations, from, to);
    measure("32 rows by the host", own, from, to);
    return equal != THREADS;
}
