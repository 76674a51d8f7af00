/* Bandwidth and latency of reads by machine gpu's multiprocessors, and the traffic of their stores: scripted
 * warps on the machine's parts, against bounds computed below. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "emu/dram/memory.h"
#include "emu/machine/machine.h"
#include "emu/mem/llc.h"
#include "emu/net/crossbar.h"

#define SHIPPED "emu/machine/shipped"
#define BASE    UINT64_C(0x80000000)
#define CROWDED UINT64_C(80000000000) /* 80 us */

enum { LINE = 128, LOADS = 8, MOST = 16, WARPS = 48 };

/* The warps read lines in turn: load k of round r of warp w is line (r * LOADS + k) * warps + w, modulo
 * `lines`. */
struct bench {
    struct event_queue queue;
    struct machine_config machine;
    const struct simt_config *config;
    const struct cache_config *l1_config;
    struct crossbar_config crossbar_config;
    const struct llc_config *l2;
    struct clock clock, crossbar_clock, l2_clock;
    struct home_map *homes;
    struct dram_memory memory;
    struct crossbar *crossbar;
    struct llc *slices[64];
    struct cache *l1[MOST];
    struct simt *simt[MOST];
    unsigned count, rounds;
    uint64_t lines; /* number of lines that are read repeatedly */
    unsigned warp_count;
    uint64_t stride;         /* lines between consecutive lines */
    bool chase;              /* each load needs the previous one */
    bool stores;             /* stores instead of loads */
    bool atomics;            /* atomics, all on the first word, instead of loads */
    uint64_t written, read;  /* bursts that memory has been sent and asked for */
    uint64_t hits, kept;     /* hits in the second level; lines that it holds in the end */
    uint64_t from, until;    /* first and last load of the chase */
    uint64_t began, stopped; /* clocks */
    uint64_t crowded;        /* bursts that memory has read in the first CROWDED fs */
    struct warp_of {
        struct bench *bench;
        unsigned number, at, round;
        struct stream_op op;
    } warps[MOST][WARPS];
    struct simt_block blocks[MOST];
};

static const struct stream_op *next_load(void *context, void *name)
{
    struct warp_of *warp = name;
    (void)context;
    if (warp->at == LOADS) {
        warp->at = 0;
        warp->round++;
    }
    if (warp->round == warp->bench->rounds)
        return NULL;
    warp->op =
        (struct stream_op){.id = INSN_lw, .iclass = CLASS_LOAD, .flags = STREAM_LOAD, .length = 4, .size = 4};
    warp->op.rd = (uint8_t)(10 + warp->at);
    warp->op.rs1 = warp->op.rs2 = warp->op.rs3 = STREAM_NONE;
    if (warp->bench->stores) {
        warp->op.id = INSN_sw;
        warp->op.iclass = CLASS_STORE;
        warp->op.flags = STREAM_STORE;
        warp->op.rd = STREAM_NONE;
    }
    if (warp->bench->atomics) {
        warp->op.id = INSN_amoadd_w;
        warp->op.iclass = CLASS_AMO;
        warp->op.rd = STREAM_NONE;
    }
    if (warp->bench->chase)
        warp->op.rd = warp->op.rs1 = 10;
    return &warp->op;
}

static void load(void *context, void *name, uint64_t cycle, struct custom_waiter *waiter,
                 struct warp_report *report, bool *ended)
{
    struct warp_of *warp = name;
    struct bench *bench = warp->bench;
    (void)context;
    (void)waiter;
    *ended = next_load(context, name) == NULL;
    report->event = *ended ? WARP_IDLE : WARP_DONE;
    if (*ended)
        return;
    uint64_t load = (uint64_t)warp->round * LOADS + warp->at++;
    uint64_t line = (load * bench->count * bench->warp_count + warp->number) * bench->stride;
    if (load == bench->from)
        bench->began = cycle;
    if (load == bench->until)
        bench->stopped = cycle;
    report->op = &warp->op;
    report->mask = UINT32_MAX;
    report->shared_mask = 0;
    report->taken_apart = report->handed_over = false;
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
        report->physical[lane] = BASE + (bench->atomics ? 0 : line % bench->lines * LINE + 4 * lane);
}

static void ended(void *context, struct simt *simt, struct simt_block *block, uint64_t now)
{
    (void)context, (void)simt, (void)block, (void)now;
}

static void make_levels(struct bench *bench)
{
    struct error err;
    const struct dram_config *dram = tree_config(bench->machine.tree, "dram");
    bench->homes = dram_map_homes(dram, BASE);
    assert_true(part_check(&dram_kind, dram, &err));
    dram_memory_init(&bench->memory, dram, &bench->queue, 1, bench->homes);
    const struct crossbar_route route = {.shift = (uint32_t)__builtin_ctz(LINE)};
    bench->crossbar = crossbar_new(&bench->crossbar_config, &bench->queue, &bench->crossbar_clock, 2, &route);
    for (uint32_t i = 0; i < bench->l2->slices; i++) {
        bench->slices[i] = llc_new("l2", bench->l2, &bench->queue, &bench->l2_clock, 3 + i, (uint16_t)i,
                                   &dram_memory_ops, &bench->memory);
        llc_set_homes(bench->slices[i], bench->homes);
        crossbar_connect(bench->crossbar, i, &llc_ops, bench->slices[i]);
    }
}

/* The ports of first-level caches: those of the crossbar, or these without `quiet`. */
static const struct mem_port_ops *ports = &crossbar_ops;

static void make_multiprocessor(struct bench *bench, unsigned i)
{
    void *port = crossbar_port(bench->crossbar, i);
    bench->l1[i] = cache_new("l1", bench->l1_config, &bench->queue, &bench->clock, 100 + 2 * i, (uint16_t)i,
                             ports, port);
    const struct simt_parts parts = {
        .name = "simt",
        .queue = &bench->queue,
        .clock = bench->clock,
        .component = 101 + 2 * i,
        .l1 = bench->l1[i],
        .lower_ops = &crossbar_ops,
        .lower = port,
        .source = {.next = next_load, .step = load, .ended = ended},
    };
    bench->simt[i] = simt_new(bench->config, &parts);
    bench->blocks[i].need =
        (struct simt_need){.warps = bench->warp_count, .threads = bench->warp_count * WARP_LANES};
    for (unsigned w = 0; w < bench->warp_count; w++) {
        bench->warps[i][w] = (struct warp_of){.bench = bench, .number = w * bench->count + i};
        bench->blocks[i].warps[w] = &bench->warps[i][w];
    }
}

/* Notes what has come to memory, and what is in the second level. */
static void count_traffic(struct bench *bench)
{
    dram_memory_sync(&bench->memory, bench->queue.now + CLOCK_SECOND / 1000);
    bench->written = DRAM_MEMORY_SUM(&bench->memory, writes) + DRAM_MEMORY_SUM(&bench->memory, merged);
    bench->read = DRAM_MEMORY_SUM(&bench->memory, reads);
    for (uint32_t i = 0; i < bench->l2->slices; i++) {
        bench->hits += llc_counted(bench->slices[i])->hits;
        for (uint64_t line = 0; line < bench->lines && bench->lines != UINT64_MAX; line++)
            bench->kept += llc_line_state(bench->slices[i], BASE + line * LINE).present;
    }
}

/* Runs machine gpu with these settings. Returns the simulated time in seconds. */
static double run(struct bench *bench, const char *const *sets, size_t set_count)
{
    struct error err;
    if (!machine_load(&bench->machine, "gpu", SHIPPED, sets, set_count, &err))
        fail_msg("%s", err.text);
    bench->config = bench->machine.simt;
    bench->l1_config = tree_config(bench->machine.tree, "simt.l1");
    bench->l2 = tree_config(bench->machine.tree, "simt.l2");
    bench->crossbar_config =
        *(const struct crossbar_config *)tree_config(bench->machine.tree, "simt.crossbar");
    bench->crossbar_config.inputs = bench->config->count;
    bench->crossbar_config.outputs = bench->l2->slices;
    event_queue_init(&bench->queue);
    assert_true(clock_set_frequency(&bench->clock, bench->config->clock, &err));
    assert_true(clock_set_frequency(&bench->crossbar_clock, bench->crossbar_config.clock, &err));
    assert_true(clock_set_frequency(&bench->l2_clock, bench->l2->clock, &err));
    bench->count = bench->config->count;
    make_levels(bench);
    for (unsigned i = 0; i < bench->count; i++)
        make_multiprocessor(bench, i);
    for (unsigned i = 0; i < bench->count; i++)
        simt_place(bench->simt[i], &bench->blocks[i], 0);
    event_queue_run(&bench->queue, CROWDED);
    dram_memory_sync(&bench->memory, bench->queue.now);
    bench->crowded = DRAM_MEMORY_SUM(&bench->memory, reads);
    event_queue_run(&bench->queue, CLOCK_NEVER);
    double seconds = (double)bench->queue.now / (double)CLOCK_SECOND;
    count_traffic(bench);
    for (unsigned i = 0; i < bench->count; i++) {
        assert_false(simt_busy(bench->simt[i]));
        simt_free(bench->simt[i]);
        cache_free(bench->l1[i]);
    }
    for (uint32_t i = 0; i < bench->l2->slices; i++)
        llc_free(bench->slices[i]);
    crossbar_free(bench->crossbar);
    dram_memory_free(&bench->memory);
    home_map_free(bench->homes);
    machine_free(&bench->machine);
    return seconds;
}

/* Returns the bytes that the warps have received per second, from the first access to the last. Stores how many memory has
 * read per second in the first CROWDED fs. */
static double bandwidth_at(const char *const *sets, size_t set_count, unsigned rounds, uint64_t lines,
                           double *crowded)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    bench->rounds = rounds;
    bench->lines = lines;
    bench->warp_count = WARPS;
    bench->stride = 1;
    double seconds = run(bench, sets, set_count);
    double bytes = (double)bench->count * WARPS * LOADS * rounds * LINE;
    *crowded = (double)bench->crowded * 64 * (double)CLOCK_SECOND / (double)CROWDED;
    free(bench);
    return bytes / seconds;
}

static double bandwidth(const char *const *sets, size_t set_count, unsigned rounds, uint64_t lines)
{
    double ignored;
    return bandwidth_at(sets, set_count, rounds, lines, &ignored);
}

/* Returns the clocks from a load to the next, dependent load: the mean from load `from` to the last one. One
 * warp, no other work. */
static double latency(unsigned rounds, uint64_t lines, uint64_t stride, uint64_t from)
{
    static const char *const sets[] = {"simt.count=1"};
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    bench->rounds = rounds;
    bench->lines = lines;
    bench->warp_count = 1;
    bench->stride = stride;
    bench->chase = true;
    bench->from = from;
    bench->until = (uint64_t)rounds * LOADS - 1;
    (void)run(bench, sets, 1);
    double clocks = (double)(bench->stopped - bench->began) / (double)(bench->until - from);
    free(bench);
    print_message("%.2f clocks\n", clocks);
    return clocks;
}

static void assert_share(double is, double bound, double least)
{
    print_message("%.1f GB/s, bound %.1f GB/s: %.1f %%\n", is / 1e9, bound / 1e9, 100 * is / bound);
    assert_true(is <= bound * 1.001);
    assert_true(is >= bound * least);
}

/* 16 multiprocessors read 50 MB once. The least of the bounds is DRAM's: 6 channels of 64 bytes each tCCDS = 2 ns give
 * 192 GB/s; of each tREFI = 3900 ns a refresh takes tRFC = 65 ns. (The crossbar's 8 slices give 8 * 32 B * 1.4 GHz =
 * 358 GB/s, its 16 inputs 717 GB/s, and 1024 MSHRs 1024 * 128 B / 390 ns = 336 GB/s.) All read every 16th line, in
 * turn, and so from all channels alike. */
static void memory_bounds_the_machine(void **state)
{
    (void)state;
    static const char *const sets[] = {"simt.policy=round_robin", "simt.count=16"};
    assert_share(bandwidth(sets, sizeof sets / sizeof *sets, 64, UINT64_MAX), 192e9 * (1 - 65.0 / 3900),
                 0.97);
}

/* The built-in machine against the same bound. While nearly all warps are under way, it reaches 98 %. Later the oldest
 * warps have ended, and the others are at different places: a row then serves 2.5 bursts instead of 5 to 10, and 77 to 89 %
 * are what activates allow, 2.5 * 64 bytes each tRRD = 6 ns and channel. In all, 86 %. Without limits of activates 93 % are
 * left; the rest is the end, when few warps still read. Activates before column commands gain 1.6 %; with them, warps that
 * issue in turn reach 93 %. */
static void greedy_warps_need_activates(void **state)
{
    (void)state;
    const double bound = 192e9 * (1 - 65.0 / 3900);
    static const char *const free[] = {"dram.tRRDS=1 ns", "dram.tRRDL=1 ns", "dram.tFAW=0 ns",
                                       "dram.t32AW=0 ns"};
    static const char *const first[] = {"dram.activate_first=true", "simt.policy=round_robin"};
    double crowded;
    const double greedy = bandwidth_at(NULL, 0, 64, UINT64_MAX, &crowded);
    assert_share(greedy, bound, 0.84);
    /* Multiprocessors that cannot foresee refusals execute more cycles, but with the same result. */
    struct mem_port_ops blind = crossbar_ops;
    blind.quiet = NULL;
    ports = &blind;
    assert_true(bandwidth(NULL, 0, 64, UINT64_MAX) == greedy);
    ports = &crossbar_ops;
    assert_share(crowded, bound, 0.97);
    assert_share(bandwidth(free, sizeof free / sizeof *free, 64, UINT64_MAX), bound, 0.92);
    assert_share(bandwidth(first, 1, 64, UINT64_MAX), bound, 0.87);
    assert_share(bandwidth(&first[1], 1, 64, UINT64_MAX), bound, 0.9);
    assert_share(bandwidth(first, 2, 64, UINT64_MAX), bound, 0.92);
}

/* One multiprocessor repeatedly reads 512 KiB in a second level that is fast enough for its 64 MSHRs: then
 * its port of the crossbar is the bound, 32 bytes at 1.4 GHz. */
static void crossbar_bounds_one(void **state)
{
    (void)state;
    static const char *const sets[] = {"simt.policy=round_robin", "simt.count=1",
                                       "simt.l2.clock=1.4 GHz",   "simt.l2.hit_clocks=20",
                                       "simt.l2.tag_clocks=10",   "simt.l1.hit_clocks=4"};
    assert_share(bandwidth(sets, sizeof sets / sizeof *sets, 1000, 4096), 44.8e9, 0.97);
}

/* Clocks of 1.4 GHz, part by part. A hit: 1 to the memory pipeline, 27 in the first level, 18 to the user. In the second
 * level: 2 * 8 in the crossbar, 4 for 128 bytes on 32, and 120 of 700 MHz, twice as many. From closed rows of different
 * banks: 142 ns in the controller, tRCDRD 12 + tCL 12 + tCCDL 3 + tBURST 2, 171 ns or 239.4 clocks, and the edges of
 * the two clocks that are crossed, up to 1 ns and 1 / 700 MHz. Rows 384 KiB apart lie in 16 banks by their hash. */
static void latencies_add_up(void **state)
{
    (void)state;
    const double l1 = 1 + 27 + 18, l2 = l1 + 2 * 8 + 4 + 2 * 120, dram = l2 + 171 * 1.4;
    assert_true(latency(2, 8, 1, 8) == l1);
    double hit = latency(128, 512, 1, 512);
    assert_true(hit >= l2 && hit <= l2 + 2);
    double miss = latency(1, UINT64_MAX, 6 * 65536 / LINE, 0);
    assert_true(miss >= dram && miss <= dram + 1.4 + 2 + 2);
}

/* Stores whole lines, 8 a warp and round. Memory takes 2 bursts a line. */
static void store(struct bench *bench, const char *policy, unsigned rounds, uint64_t lines)
{
    char set[64];
    const char *const sets[] = {set, "simt.l2.slices=6"};
    (void)snprintf(set, sizeof set, "simt.l2.write_policy=%s", policy);
    *bench =
        (struct bench){.rounds = rounds, .lines = lines, .warp_count = WARPS, .stride = 1, .stores = true};
    (void)run(bench, sets, 2);
}

/* 15 multiprocessors store 11,520 lines once: write-through and write-evict write all of them; write-back, what 768 KiB of
 * cache, 6,144 lines, do not hold. Then they store 1,440 lines, 180 KiB, 8 times: write-back writes nothing; with
 * write-evict, no store hits and no line stays. Whole lines are never read. */
static void stores_make_the_policys_traffic(void **state)
{
    enum { ONCE = 15 * WARPS * LOADS * 2, FEW = ONCE / 8 };
    struct bench *bench = calloc(1, sizeof *bench);
    (void)state;
    assert_non_null(bench);
    store(bench, "write_through", 2, UINT64_MAX);
    assert_int_equal(bench->written, 2 * ONCE);
    store(bench, "write_evict", 2, UINT64_MAX);
    assert_int_equal(bench->written, 2 * ONCE);
    store(bench, "write_back", 2, UINT64_MAX);
    assert_in_range(bench->written, 2 * (ONCE - 6144), 2 * ONCE - 1);
    assert_int_equal(bench->read, 0);
    store(bench, "write_back", 2, FEW);
    assert_int_equal(bench->written, 0);
    assert_int_equal(bench->kept, FEW);
    store(bench, "write_through", 2, FEW);
    assert_in_range(bench->written, 2 * FEW, 2 * ONCE);
    assert_int_equal(bench->kept, FEW);
    store(bench, "write_evict", 2, FEW);
    assert_in_range(bench->written, 2 * FEW, 2 * ONCE);
    assert_int_equal(bench->hits + bench->kept, 0);
    assert_int_equal(bench->read, 0);
    free(bench);
}

/* All lanes of two multiprocessors' warps operate on one word: one operation in 5 clocks of 700 MHz. The first one
 * misses; 2 * 32 requests under way cover the latency of a hit. So beyond the operations, the time is at most that of
 * a miss, 546 clocks of 1.4 GHz, and of a hit, 306, after the last of them has begun. */
static void atomics_have_their_rate(void **state)
{
    static const char *const sets[] = {"simt.count=2"};
    const double least = 2 * WARPS * LOADS * WARP_LANES * 5 / 700e6;
    struct bench *bench = calloc(1, sizeof *bench);
    (void)state;
    assert_non_null(bench);
    bench->rounds = 1;
    bench->lines = 1;
    bench->warp_count = WARPS;
    bench->atomics = true;
    const double seconds = run(bench, sets, 1);
    free(bench);
    print_message("%.2f us, at least %.2f us\n", seconds * 1e6, least * 1e6);
    assert_true(seconds >= least && seconds <= least + (546 + 306) / 1.4e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_bounds_the_machine),
        cmocka_unit_test(greedy_warps_need_activates),
        cmocka_unit_test(crossbar_bounds_one),
        cmocka_unit_test(latencies_add_up),
        cmocka_unit_test(stores_make_the_policys_traffic),
        cmocka_unit_test(atomics_have_their_rate),
    };
    return cmocka_run_group_tests_name("bandwidth of multiprocessors", tests, NULL, NULL);
}
