/* Regions and networks of <croft/axram_memory.h>. memory.sh runs this and looks at what it prints.
 *
 *   memory random ROUNDS    regions come and go; each word keeps its value, and lies where the manual says
 *   memory full             how many regions fit
 *   memory errors           what is refused, and with which sentence
 *   memory busy             a region that a kernel uses is not freed
 *   memory evaluate KIND THREADS   a network evaluated by warps, with copies in and out
 *   memory untouched        results in a page that nothing has touched
 *   memory turns            threads that take turns on a hart, as an operating system's do: each gets its own inputs' results
 *   memory copy THREADS     copies in and out alone */
#include <croft/approx.h>
#include <croft/axram_memory.h>
#include <croft/simt.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REGIONS = 12, INPUTS = 6, HIDDEN = 8, OUTPUTS = 2, WEIGHTS = INPUTS * HIDDEN + HIDDEN * OUTPUTS };

static uint32_t state = 7;
static unsigned faults;

static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void expect(int condition, const char *what)
{
    if (!condition && faults++ < 5)
        printf("wrong: %s\n", what);
}

struct region {
    uint32_t *at, seed;
    unsigned values;
    uint64_t threads;
};

static uint32_t content(const struct region *r, uint64_t thread, unsigned value)
{
    return r->seed * 2654435761u + (uint32_t)thread * 97 + value;
}

/* The place of a word by the manual: records take turns among the pieces, which are in turn in the chips; a record is in one
 * half page; value i of thread u is word u of block i. */
static void check_place(const struct region *r, uint64_t thread)
{
    const uint64_t base = croft_axram_query(CROFT_AXRAM_BASE), piece = croft_axram_query(CROFT_AXRAM_PIECE),
                   chips = croft_axram_query(CROFT_AXRAM_CHIPS), size = croft_axram_query(CROFT_AXRAM_SIZE);
    const uint64_t first = (uint64_t)(uintptr_t)axram_word(r->at, r->values, thread, 0) - base;
    expect(first < size && first / piece % chips == thread / 32 % chips, "the chip");
    expect(first % CROFT_AXRAM_BLOCK == thread % 32 * 4, "the unit");
    expect(first / CROFT_AXRAM_HALF_PAGE % 2 == 0, "the half of the banks");
    for (unsigned i = 0; i < r->values; i++) {
        const uint64_t at = (uint64_t)(uintptr_t)axram_word(r->at, r->values, thread, i) - base;
        expect(at == first + i * CROFT_AXRAM_BLOCK, "the block");
        expect(at / CROFT_AXRAM_HALF_PAGE == first / CROFT_AXRAM_HALF_PAGE, "the half page");
        expect(*(uint32_t *)(uintptr_t)(base + at) == content(r, thread, i), "the value");
    }
}

static void verify(struct region *r)
{
    uint32_t *plain = malloc(r->values * r->threads * sizeof *plain);
    expect(axram_copy_out(plain, 1, r->threads, r->at, r->threads) == 0, "the copy out");
    for (uint64_t t = 0; t < r->threads; t++)
        for (unsigned i = 0; i < r->values; i++)
            expect(plain[i * r->threads + t] == content(r, t, i), "a word that was copied out");
    for (uint64_t t = 0; t < r->threads; t += 1 + r->threads / 8)
        check_place(r, t);
    free(plain);
    expect(axram_free(r->at) == 0, "the end of a region");
    r->at = NULL;
}

static void fill(struct region *r)
{
    static uint32_t seeds;
    r->seed = ++seeds;
    r->values = next() % 8 == 0 ? 1 + next() % 128 : 1 + next() % 20;
    r->threads = 1 + next() % (next() % 4 == 0 ? 60000 / r->values : 900);
    r->at = axram_malloc(r->values, r->threads);
    uint32_t *plain = malloc(r->values * r->threads * sizeof *plain);
    if (!r->at || !plain) {
        printf("%s\n", axram_error());
        exit(1);
    }
    for (uint64_t t = 0; t < r->threads; t++)
        for (unsigned i = 0; i < r->values; i++)
            plain[t * r->values + i] = content(r, t, i);
    expect(axram_copy_in(r->at, plain, r->values, 1, r->threads) == 0, "the copy in");
    free(plain);
}

static void random_regions(unsigned rounds)
{
    struct region regions[REGIONS] = {{.at = NULL}};
    for (unsigned i = 0; i < rounds; i++) {
        struct region *r = &regions[next() % REGIONS];
        if (r->at)
            verify(r);
        fill(r);
    }
    for (unsigned i = 0; i < REGIONS; i++)
        if (regions[i].at)
            verify(&regions[i]);
    printf("%u rounds, %u wrong, %llu bytes left\n", rounds, faults, (unsigned long long)axram_bytes());
}

static void fill_up(void)
{
    const uint64_t half = croft_axram_query(CROFT_AXRAM_SIZE) / 2, each = 64 * 128;
    unsigned count = 0;
    for (void *at, *first = NULL; (at = axram_malloc(64, 12 * 32)); count++)
        expect((first = first ? first : at) != NULL, "a region");
    expect(errno == ENOMEM, "ENOMEM");
    printf("%u regions of %llu that fit; %s\n", count, (unsigned long long)(half / each / 12), axram_error());
    /* The heap ends before accelerator memory. */
    const char *base = (const char *)(uintptr_t)croft_axram_query(CROFT_AXRAM_BASE);
    size_t mebibytes = 0;
    for (char *at; (at = malloc(1 << 20)); mebibytes++)
        expect(at + (1 << 20) <= base, "the heap");
    printf("%u MiB of heap, %u wrong\n", (unsigned)mebibytes, faults);
}

static uint32_t image[8 + WEIGHTS];

static void make_image(unsigned kind)
{
    image[0] = 0x4e4e5841;
    image[1] = kind | 2 << 8;
    image[2] = INPUTS | HIDDEN << 8 | OUTPUTS << 16;
    image[3] = WEIGHTS;
    for (unsigned i = 0; i < WEIGHTS; i++) {
        float value = ((float)(next() % 4096) - 2048) / 512;
        image[8 + i] = kind == CROFT_ARITH_SHA   ? (next() % 4 + 13) | 1u << 25 | (i % 3 == 0) << 28
                       : kind == CROFT_ARITH_FXP ? (uint32_t)(int32_t)(value * 65536)
                                                 : croft_float_word(value);
    }
}

static void refused(int result)
{
    if (result == 0)
        puts("not refused");
    else
        printf("%d: %s\n", errno, axram_error());
}

static void errors(void)
{
    uint32_t word = 0;
    void *region = axram_malloc(4, 100), *network = axram_network(image, 0);
    if (!region || !network) {
        refused(-1);
        exit(1);
    }
    refused(axram_copy_in(region, &word, 1, 1, 101));
    refused(axram_copy_out(&word, 1, 1, network, 1));
    refused(axram_free((char *)region + 128));
    refused(axram_free(&word));
    refused(axram_free(region));
    refused(axram_free(region));
    refused(axram_malloc(129, 1) ? 0 : -1);
    refused(axram_malloc(1, 1u << 30) ? 0 : -1);
    refused(axram_network_at(image, 5, 60) ? 0 : -1);
    refused(axram_network(&image[1], 0) ? 0 : -1);
    printf("%llu bytes of weights twice or more, of %llu\n", (unsigned long long)axram_duplicated(),
           (unsigned long long)axram_bytes());
    refused(axram_free(network));
    printf("%llu bytes left, %u wrong\n", (unsigned long long)axram_bytes(), faults);
}

struct work {
    void *in, *out;
    uint64_t threads;
    unsigned times;
};

static void evaluate(const struct work *w)
{
    for (unsigned i = 0; i < w->times && thread_id() < w->threads; i++)
        axram_evaluate(w->in, INPUTS, w->out, OUTPUTS, thread_id());
}

static void run(struct work *w)
{
    simt_launch(evaluate, w, simt_dim((uint32_t)((w->threads + 95) / 96)), simt_dim(96));
}

/* Two warps invoke again and again. */
static void busy(void)
{
    enum { MANY = 64 };
    struct work w = {axram_malloc(INPUTS, MANY), axram_malloc(OUTPUTS, MANY), MANY, 60};
    void *network = axram_network(image, 0), *other = axram_malloc(INPUTS, 64);
    volatile unsigned spins = 0;
    unsigned refusals = 0;
    run(&w);
    while (croft_axram_query(CROFT_AXRAM_REQUESTS) == 0)
        spins++;
    int result = 0;
    for (unsigned i = 0; i < 100 && result == 0; i++) {
        result = axram_free(w.in);
        if (result == 0) /* between two invocations: it gets the same place again */
            expect(axram_malloc(INPUTS, MANY) == w.in, "the place");
    }
    unsigned uses = 0;
    for (unsigned i = 0; i < 1000; i++)
        uses += (unsigned)croft_axram_query((uint64_t)(uintptr_t)network);
    refused(result);
    expect(uses > 0, "the use of the network");
    expect(axram_free(other) == 0, "another region's end");
    simt_wait(0);
    while (axram_free(w.in) != 0 && errno == EBUSY)
        refusals++;
    expect(axram_free(w.out) == 0 && axram_free(network) == 0, "the end of all");
    printf("%u refusals after the end, %u wrong\n", refusals, faults);
}

static void evaluate_all(unsigned kind, uint64_t threads)
{
    struct work w = {axram_malloc(INPUTS, threads), axram_malloc(OUTPUTS, threads), threads, 1};
    uint32_t *in = malloc(threads * INPUTS * sizeof *in), *out = malloc(threads * OUTPUTS * sizeof *out);
    uint64_t equal = 0;
    expect(axram_network(image, 0) != NULL, "the network");
    for (uint64_t i = 0; i < threads * INPUTS; i++)
        in[i] = croft_data_word(kind, ((float)(next() % 4096) - 2048) / 1024);
    expect(axram_copy_in(w.in, in, INPUTS, 1, threads) == 0, "the copy in");
    run(&w);
    simt_wait(0);
    expect(axram_copy_out(out, OUTPUTS, 1, w.out, threads) == 0, "the copy out");
    for (uint64_t t = 0; t < threads; t++) {
        uint32_t wanted[CROFT_NETWORK_NEURONS];
        croft_network_evaluate(image, in + t * INPUTS, wanted);
        equal += memcmp(wanted, out + t * OUTPUTS, OUTPUTS * sizeof *out) == 0;
    }
    printf("%llu of %llu equal, %u wrong\n", (unsigned long long)equal, (unsigned long long)threads, faults);
}

/* Results of threads in a page that nothing has touched. */
static void untouched(void)
{
    struct work w = {axram_malloc(INPUTS, 32), axram_malloc(128, 32), 32, 1}; /* half pages of their own */
    uint32_t in[INPUTS], wanted[CROFT_NETWORK_NEURONS];
    const uint32_t *out = w.out;
    expect(axram_network(image, 0) != NULL, "the network");
    for (unsigned i = 0; i < INPUTS; i++)
        for (unsigned unit = 0; unit < 32; unit++)
            axram_record(w.in, INPUTS, 0)[i * 32 + unit] = in[i] = i << 22;
    run(&w);
    simt_wait(0);
    croft_network_evaluate(image, in, wanted);
    for (unsigned unit = 0; unit < 32; unit++)
        expect(out[unit] == wanted[0] && out[32 + unit] == wanted[1], "a result");
    printf("%u wrong\n", faults);
}

/* Executes initiate.axram, or wrt_res.axram, as the thread whose tp is `number`. */
static void as_thread(uint64_t number, int results, const void *start, const void *end)
{
    if (results)
        __asm__ volatile("mv t0, tp\n mv tp, %0\n .insn r 0x0b, 2, 0, x0, %1, %2\n mv tp, t0"
                         :
                         : "r"(number), "r"(start), "r"(end)
                         : "t0", "memory");
    else
        __asm__ volatile("mv t0, tp\n mv tp, %0\n .insn r 0x0b, 1, 0, x0, %1, %2\n mv tp, t0"
                         :
                         : "r"(number), "r"(start), "r"(end)
                         : "t0", "memory");
}

/* All threads name their inputs, then all their results; some name others first, which do not count. */
static void take_turns(void)
{
    enum { COUNT = 60, VALUES = INPUTS * 32 };
    uint32_t *in = axram_malloc(INPUTS, 12 * 32 * COUNT), *out = axram_malloc(OUTPUTS, 12 * 32 * COUNT);
    expect(axram_network(image, 0) != NULL, "the network");
    for (unsigned t = 0; t < COUNT; t++)
        for (unsigned i = 0; i < VALUES; i++)
            axram_record_at(in, INPUTS, 0, t)[i] = t << 18 | i;
    for (unsigned t = 0; t < COUNT; t++) {
        const uint32_t *own = axram_record_at(in, INPUTS, 0, t);
        if (t % 3 == 0)
            as_thread(t, 0, axram_record_at(in, INPUTS, 0, 5), axram_record_at(in, INPUTS, 0, 5) + VALUES);
        as_thread(t, 0, own, own + VALUES);
    }
    for (unsigned t = COUNT; t-- > 0;) {
        const uint32_t *own = axram_record_at(out, OUTPUTS, 0, t), *from = axram_record_at(in, INPUTS, 0, t);
        as_thread(t, 1, own, own + OUTPUTS * 32);
        for (unsigned unit = 0; unit < 32; unit++) {
            uint32_t inputs[INPUTS], wanted[CROFT_NETWORK_NEURONS];
            for (unsigned i = 0; i < INPUTS; i++)
                inputs[i] = from[i * 32 + unit];
            croft_network_evaluate(image, inputs, wanted);
            expect(own[unit] == wanted[0] && own[32 + unit] == wanted[1], "a thread's result");
        }
    }
    printf("%u wrong\n", faults);
}

static void copy_only(uint64_t threads)
{
    void *region = axram_malloc(INPUTS, threads);
    uint32_t *plain = calloc(threads, INPUTS * sizeof *plain);
    expect(axram_copy_in(region, plain, INPUTS, 1, threads) == 0, "the copy");
    printf("%u wrong\n", faults);
}

int main(int count, char **arguments)
{
    const char *mode = count > 1 ? arguments[1] : "errors";
    const unsigned first = count > 2 ? (unsigned)atoi(arguments[2]) : 0;
    make_image(strcmp(mode, "evaluate") == 0 ? first : 1);
    if (strcmp(mode, "random") == 0)
        random_regions(first);
    else if (strcmp(mode, "full") == 0)
        fill_up();
    else if (strcmp(mode, "busy") == 0)
        busy();
    else if (strcmp(mode, "evaluate") == 0)
        evaluate_all(first, count > 3 ? (uint64_t)atoi(arguments[3]) : 1000);
    else if (strcmp(mode, "untouched") == 0)
        untouched();
    else if (strcmp(mode, "turns") == 0)
        take_turns();
    else if (strcmp(mode, "copy") == 0)
        copy_only(first);
    else
        errors();
    return faults > 0;
}
