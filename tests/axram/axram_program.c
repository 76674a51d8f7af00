/* Invocations of AxRAM's units, compared with the same networks in software. axram.sh runs this and looks at what it prints.
 *
 *   axram host KIND WARPS    by the scalar core, 32 units at a time
 *   axram simt KIND WARPS    by the warps of a launch, spread over the chips
 *   axram masked KIND 1      by a warp of which the odd threads only invoke
 *   axram reread KIND WARPS [TIMES]  by warps that read the results before and after, twice or as often
 *   axram again KIND WARPS [TIMES]   by warps that invoke again and again
 *   axram stores KIND WARPS  by warps whose inputs wait behind stores of many lines
 *   axram FAULT KIND 1       something that traps; see main() */
#include <croft/approx.h>
#include <croft/axram.h>
#include <croft/simt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 6, HIDDEN = 8, OUTPUTS = 1, WEIGHTS = INPUTS * HIDDEN + HIDDEN * OUTPUTS, MOST_CHIPS = 64 };
enum { RECORD = (INPUTS + OUTPUTS) * CROFT_AXRAM_WORDS }; /* words of a warp's inputs and results */

static uint32_t image[8 + WEIGHTS];
static uint64_t chips, base, piece;
static unsigned kind;
static uint32_t before[64 * 32], after[64 * 32];            /* what threads read of their results */
static volatile uint32_t apart[64 * 32][CROFT_AXRAM_WORDS]; /* a line for each thread */

static uint32_t state = 1;

static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* A SHA weight of two shifts. */
static uint32_t weight_word(unsigned number)
{
    uint32_t word;
    float value = ((float)(next() % 4096) - 2048) / 512;
    if (kind == CROFT_ARITH_SHA)
        return (next() % 4 + 13) | (next() % 4 + 9) << 5 | (1 + number % 2) << 25 | (number % 3 == 0) << 28;
    if (kind == CROFT_ARITH_FXP)
        return (uint32_t)(int32_t)(value * 65536);
    memcpy(&word, &value, sizeof word);
    return word;
}

static void make_image(void)
{
    image[0] = 0x4e4e5841;
    image[1] = kind | 2 << 8;
    image[2] = INPUTS | HIDDEN << 8 | OUTPUTS << 16;
    image[3] = WEIGHTS;
    for (unsigned i = 0; i < WEIGHTS; i++)
        image[8 + i] = weight_word(i);
}

static char *piece_at(uint64_t number)
{
    return (char *)(uintptr_t)(base + number * piece);
}

static char *configuration(uint64_t chip)
{
    return piece_at(chip) + CROFT_AXRAM_HALF_PAGE;
}

static bool
    borders; /* records lie across the borders of pieces 0 and 1, 2 and 3, and so on: one for each warp */

/* Warps take turns among the chips; those of a chip follow each other, 18 in each half page of 128 blocks. */
static uint32_t *record_of(uint64_t warp)
{
    uint64_t of_chip = warp / chips;
    if (borders)
        return (uint32_t *)(void *)(piece_at(2 * warp + 1) - (1 + warp) * CROFT_AXRAM_BLOCK);
    return (uint32_t *)(void *)(piece_at(warp % chips) + of_chip / 18 * 2 * CROFT_AXRAM_HALF_PAGE) +
           of_chip % 18 * RECORD;
}

static void configure_all(void)
{
    for (uint64_t chip = 0; chip < chips; chip++) {
        char *end = croft_axram_lay_out(image, croft_data_word(kind, 1), configuration(chip));
        if (croft_axram_query(CROFT_AXRAM_TOGETHER) > 1)
            end = configuration(chip) + (uint64_t)croft_axram_shared_blocks(image) * CROFT_AXRAM_BLOCK;
        croft_axram_config(configuration(chip), end);
    }
}

static void fill(unsigned warps)
{
    for (unsigned warp = 0; warp < warps; warp++) {
        uint32_t *record = record_of(warp);
        for (unsigned i = 0; i < INPUTS * CROFT_AXRAM_WORDS; i++)
            record[i] = croft_data_word(kind, ((float)(next() % 4096) - 2048) / 1024);
        for (unsigned i = INPUTS * CROFT_AXRAM_WORDS; i < RECORD; i++)
            record[i] = 0xdeadbeef;
    }
}

static void compare(unsigned warps, unsigned modulus)
{
    unsigned equal = 0, kept = 0;
    uint32_t last = 0;
    for (unsigned warp = 0; warp < warps; warp++)
        for (unsigned unit = 0; unit < 32; unit++) {
            uint32_t inputs[INPUTS], outputs[CROFT_NETWORK_NEURONS];
            const uint32_t *record = record_of(warp);
            for (unsigned i = 0; i < INPUTS; i++)
                inputs[i] = record[i * CROFT_AXRAM_WORDS + unit];
            croft_network_evaluate(image, inputs, outputs);
            last = record[INPUTS * CROFT_AXRAM_WORDS + unit];
            equal += last == outputs[0];
            kept += last == 0xdeadbeef && unit % modulus == 0;
        }
    printf("%u of %u equal, %u kept, last 0x%08x\n", equal, warps * 32, kept, (unsigned)last);
}

static void by_host(unsigned warps)
{
    for (unsigned warp = 0; warp < warps; warp++) {
        uint32_t *record = record_of(warp), *results = record + INPUTS * CROFT_AXRAM_WORDS;
        croft_axram_initiate(record, results);
        croft_axram_wrt_res(results, results + OUTPUTS * CROFT_AXRAM_WORDS);
    }
}

static void by_warp(const unsigned *modulus)
{
    const unsigned unit = (unsigned)thread_id() % 32;
    uint32_t *record = record_of(thread_id() / 32);
    if (unit % *modulus == *modulus - 1)
        croft_axram_thread(record, INPUTS, record + INPUTS * CROFT_AXRAM_WORDS, OUTPUTS, unit);
}

/* Reads the results before and after, so that they are in the caches. */
static void by_reader(const unsigned *times)
{
    const unsigned unit = (unsigned)thread_id() % 32;
    uint32_t *record = record_of(thread_id() / 32);
    volatile uint32_t *result = record + INPUTS * CROFT_AXRAM_WORDS + unit;
    for (unsigned i = 0; i < *times; i++) {
        before[thread_id()] = *result;
        croft_axram_thread(record, INPUTS, record + INPUTS * CROFT_AXRAM_WORDS, OUTPUTS, unit);
        after[thread_id()] = *result;
    }
}

static void again(const unsigned *times)
{
    const unsigned unit = (unsigned)thread_id() % 32;
    uint32_t *record = record_of(thread_id() / 32);
    for (unsigned i = 0; i < *times; i++)
        croft_axram_thread(record, INPUTS, record + INPUTS * CROFT_AXRAM_WORDS, OUTPUTS, unit);
}

/* Stores a line for each thread, and then the inputs, which wait in the memory pipeline behind these. */
static void by_storer(const unsigned *unused)
{
    const unsigned unit = (unsigned)thread_id() % 32;
    uint32_t *record = record_of(thread_id() / 32);
    (void)unused;
    apart[thread_id()][0] = unit;
    for (unsigned i = 0; i < INPUTS; i++)
        record[i * CROFT_AXRAM_WORDS + unit] = (unit * INPUTS + i) << 9;
    croft_axram_thread(record, INPUTS, record + INPUTS * CROFT_AXRAM_WORDS, OUTPUTS, unit);
}

static void compare_read(unsigned warps)
{
    unsigned equal = 0;
    for (unsigned i = 0; i < warps * 32; i++)
        equal += after[i] == record_of(i / 32)[INPUTS * CROFT_AXRAM_WORDS + i % 32] && before[i] != 0;
    printf("%u read their results\n", equal);
}

static void one_thread(const unsigned *unused)
{
    (void)unused;
    if (thread_id() == 5)
        croft_axram_initiate((char *)record_of(0) + 22, (char *)record_of(0) + 26);
}

static void initiate_only(const unsigned *unused)
{
    (void)unused;
    croft_axram_initiate(record_of(0), record_of(0) + INPUTS * CROFT_AXRAM_WORDS);
}

static void write_only(const unsigned *unused)
{
    uint32_t *results = record_of(0) + INPUTS * CROFT_AXRAM_WORDS;
    (void)unused;
    croft_axram_wrt_res(results, results + CROFT_AXRAM_WORDS);
}

/* Threads that end between the two instructions leave nothing to those that take their places. */
static void die_in_between(void)
{
    unsigned one = 1;
    simt_launch(initiate_only, &one, simt_dim(1), simt_dim(32));
    simt_wait(0);
    simt_launch(write_only, &one, simt_dim(1), simt_dim(32));
    simt_wait(0);
}

static int fault(const char *name)
{
    uint32_t *record = record_of(0), *results = record + INPUTS * CROFT_AXRAM_WORDS;
    char *region = configuration(0);
    const char *start = (const char *)record, *end = (const char *)results;
    if (strcmp(name, "unconfigured") == 0)
        croft_axram_initiate(record, results);
    if (strcmp(name, "wrong") == 0)
        croft_axram_config(piece_at(1), piece_at(1) + 4096);
    configure_all();
    if (strcmp(name, "small") == 0)
        croft_axram_config(region, region + 10 * CROFT_AXRAM_BLOCK);
    if (strcmp(name, "teams") == 0)
        croft_axram_initiate(piece_at(2) - 256, piece_at(2) + 256);
    if (strcmp(name, "different") == 0) {
        image[2] = (INPUTS + 1) | (HIDDEN - 1) << 8 | OUTPUTS << 16;
        image[3] = (INPUTS + 1 + OUTPUTS) * (HIDDEN - 1);
        char *last = croft_axram_lay_out(image, croft_data_word(kind, 1), configuration(1));
        croft_axram_config(configuration(1), last + 32 * CROFT_AXRAM_BLOCK);
    }
    if (strcmp(name, "two") == 0)
        croft_axram_config(memcpy(piece_at(1) - 256, image, 32), piece_at(1) + 40 * CROFT_AXRAM_BLOCK);
    if (strcmp(name, "misaligned") == 0)
        croft_axram_initiate(start + 2, end + 2);
    if (strcmp(name, "empty") == 0)
        croft_axram_initiate(end, start);
    if (strcmp(name, "crossing") == 0)
        croft_axram_initiate(piece_at(1) - 256, piece_at(1) + 256);
    if (strcmp(name, "inputs") == 0)
        croft_axram_initiate(start, start + 5 * CROFT_AXRAM_BLOCK);
    if (strcmp(name, "outside") == 0)
        croft_axram_initiate(image, image + 32);
    if (strcmp(name, "died") == 0)
        die_in_between();
    if (strcmp(name, "alone") == 0)
        croft_axram_wrt_res(results, results + 32);
    croft_axram_initiate(record, results);
    if (strcmp(name, "units") == 0)
        croft_axram_wrt_res(results + 1, results + 32);
    if (strcmp(name, "chips") == 0)
        croft_axram_wrt_res(piece_at(1), piece_at(1) + 128);
    if (strcmp(name, "lane") == 0) {
        unsigned one = 1;
        simt_launch(one_thread, &one, simt_dim(1), simt_dim(32));
        simt_wait(0);
    }
    return 0;
}

int main(int count, char **arguments)
{
    const char *mode = count > 1 ? arguments[1] : "host";
    kind = count > 2 ? (unsigned)atoi(arguments[2]) : 0;
    unsigned warps = count > 3 ? (unsigned)atoi(arguments[3]) : 4, modulus = 1,
             times = count > 4 ? (unsigned)atoi(arguments[4]) : 2;
    chips = croft_axram_query(CROFT_AXRAM_CHIPS);
    base = croft_axram_query(CROFT_AXRAM_BASE);
    piece = croft_axram_query(CROFT_AXRAM_PIECE);
    borders = strcmp(mode, "borders") == 0;
    make_image();
    fill(warps);
    if (!borders && strcmp(mode, "host") != 0 && strcmp(mode, "simt") != 0 && strcmp(mode, "masked") != 0 &&
        strcmp(mode, "reread") != 0 && strcmp(mode, "again") != 0 && strcmp(mode, "stores") != 0)
        return fault(mode);
    configure_all();
    if (strcmp(mode, "host") == 0) {
        by_host(warps);
    } else if (strcmp(mode, "again") == 0) {
        simt_launch(again, &times, simt_dim(warps), simt_dim(32));
    } else if (strcmp(mode, "stores") == 0) {
        simt_launch(by_storer, &times, simt_dim(warps), simt_dim(32));
    } else if (strcmp(mode, "reread") == 0) {
        simt_launch(by_reader, &times, simt_dim(warps), simt_dim(32));
    } else {
        modulus = strcmp(mode, "masked") == 0 ? 2 : 1;
        simt_launch(by_warp, &modulus, simt_dim(warps), simt_dim(32));
    }
    simt_wait(0);
    compare(warps, modulus);
    if (strcmp(mode, "reread") == 0)
        compare_read(warps);
    return 0;
}
