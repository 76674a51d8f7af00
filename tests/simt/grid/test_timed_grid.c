/* Launches of real warps on timed multiprocessors: results, order of queues, limits by registers, traps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/custom.h"
#include "emu/mem/cache/state.h"
#include "emu/simt/grid/timed_grid.h"
#include "emu/simt/warp_debug.h"
#include "tests/mem/slow_memory.h"
#include "tests/simt/code_fixture.h"

#define BASE  CODE_BASE
#define DATA  (BASE + 0x10000)
#define COUNT (BASE + 0xf000) /* sum computed by atomics */
#define STACK (BASE + 0x80000)

enum {
    SIZE = 1 << 20,
    MPS = 2,
    T0 = 5,
    T1,
    T2,
    A0 = 10,
    A1,
    THREAD_ID = 0xccf,
    BARRIER = 0x8c0,
    CYCLE = 0xc00
};

struct bench {
    struct custom_units units;
    struct event_queue queue;
    struct slow_memory below;
    struct code_fixture code;
    struct grid_host host;
    struct simt_config config;
    struct cache *l1[MPS];
    struct simt *simt[MPS];
    struct simt_grid *grid;
    unsigned failed;
};

static bool no_calls(void *context, struct warp *warp, unsigned lane, uint64_t *result)
{
    (void)context, (void)warp, (void)lane, (void)result;
    return false;
}

static void failed(void *context, enum grid_end end, struct warp *warp, const struct warp_report *report)
{
    struct bench *bench = context;
    (void)warp;
    assert_int_equal(end, GRID_TRAP);
    assert_int_equal(report->trap.cause, TRAP_ILLEGAL_INSTRUCTION);
    bench->failed++;
}

static void make_multiprocessor(struct bench *bench, unsigned i)
{
    const struct clock clock = {CLOCK};
    struct cache_config cache;
    part_defaults(&cache_kind, 0, &cache);
    cache.line = 128;
    cache.write_through = true;
    cache.write_allocate = false;
    bench->l1[i] =
        cache_new("l1", &cache, &bench->queue, &clock, 10 + 2 * i, (uint16_t)i, &slow_ops, &bench->below);
    const struct simt_parts parts = {.name = "simt",
                                     .queue = &bench->queue,
                                     .clock = clock,
                                     .component = 11 + 2 * i,
                                     .l1 = bench->l1[i],
                                     .lower_ops = &slow_ops,
                                     .lower = &bench->below,
                                     .source = simt_grid_source(bench->grid, i)};
    bench->simt[i] = simt_new(&bench->config, &parts);
    simt_grid_attach(bench->grid, i, bench->simt[i]);
}

static struct bench *bench_new(enum simt_policy policy, uint32_t width)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    event_queue_init(&bench->queue);
    bench->below.queue = &bench->queue;
    bench->host = (struct grid_host){.call = no_calls};
    part_defaults(&simt_kind, 0, &bench->config);
    bench->config.policy = policy;
    bench->config.width = width;
    code_fixture_init(&bench->code, SIZE,
                      (struct warp_memory_setup){.width = width,
                                                 .stack_shift = 6,
                                                 .stack_physical = STACK,
                                                 .stack_warps = MPS * 48,
                                                 .custom = &bench->units});
    const struct simt_config *configs[MPS];
    for (unsigned i = 0; i < MPS; i++)
        configs[i] = &bench->config;
    const struct simt_grid_parts parts = {.queue = &bench->queue,
                                          .clock = {CLOCK},
                                          .component = 5,
                                          .count = MPS,
                                          .configs = configs,
                                          .tick = CLOCK,
                                          .failed = failed,
                                          .context = bench};
    bench->grid = simt_grid_new(&parts);
    simt_grid_bind(bench->grid, &bench->code.memory, &bench->host);
    for (unsigned i = 0; i < MPS; i++)
        make_multiprocessor(bench, i);
    return bench;
}

static void bench_free(struct bench *bench)
{
    simt_grid_free(bench->grid);
    for (unsigned i = 0; i < MPS; i++) {
        simt_free(bench->simt[i]);
        cache_free(bench->l1[i]);
    }
    code_fixture_free(&bench->code);
    free(bench);
}

static uint32_t *word(struct bench *bench, uint64_t address)
{
    return (void *)phys_at(&bench->code.phys, address, 4);
}

struct line {
    enum insn_id id;
    struct operands operands;
};

static void write_code(struct bench *bench, uint64_t at, const struct line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *word(bench, at + 4 * i) = encode(lines[i].id, &lines[i].operands);
}

#define CODE(bench, at, lines) write_code(bench, at, lines, sizeof(lines) / sizeof *(lines))

/* data[id] = 3 * data[id ^ 1] + id, read before the barrier and written after it. Each thread adds 1 to the
 * sum. */
static void write_kernel(struct bench *bench)
{
    const struct line lines[] = {
        {INSN_csrrs, {.rd = T0, .imm = THREAD_ID}},
        {INSN_xori, {.rd = T1, .rs1 = T0, .imm = 1}},
        {INSN_slli, {.rd = T1, .rs1 = T1, .imm = 2}},
        {INSN_add, {.rd = T1, .rs1 = T1, .rs2 = A0}},
        {INSN_lw, {.rd = T2, .rs1 = T1}},
        {INSN_csrrw, {.imm = BARRIER}},
        {INSN_slli, {.rd = T1, .rs1 = T0, .imm = 2}},
        {INSN_add, {.rd = T1, .rs1 = T1, .rs2 = A0}},
        {INSN_slli, {.rd = A1, .rs1 = T2, .imm = 1}},
        {INSN_add, {.rd = T2, .rs1 = T2, .rs2 = A1}},
        {INSN_add, {.rd = T2, .rs1 = T2, .rs2 = T0}},
        {INSN_sw, {.rs1 = T1, .rs2 = T2}},
        {INSN_lui, {.rd = T1, .imm = (int32_t)0x8000f000}},
        {INSN_slli, {.rd = T1, .rs1 = T1, .imm = 32}},
        {INSN_srli, {.rd = T1, .rs1 = T1, .imm = 32}},
        {INSN_addi, {.rd = T2, .imm = 1}},
        {INSN_amoadd_w, {.rs1 = T1, .rs2 = T2}},
        {INSN_jalr, {.rs1 = 1}},
    };
    CODE(bench, BASE + 0x100, lines);
}

static struct grid_launch launch_of(uint32_t blocks, uint32_t threads)
{
    return (struct grid_launch){
        .entry = BASE + 0x100, .argument = DATA, .grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
}

/* Blocks consist of pairs of threads, so that a thread reads only what its neighbour writes. */
static void results_do_not_depend_on_time(void **state)
{
    (void)state;
    enum { BLOCKS = 20, THREADS = 100, ALL = BLOCKS * THREADS };
    static const uint32_t widths[] = {1, 4, 32};
    for (enum simt_policy policy = SIMT_GTO; policy <= SIMT_ROUND_ROBIN; policy++)
        for (size_t w = 0; w < 3; w++) {
            struct bench *bench = bench_new(policy, widths[w]);
            uint32_t threads = widths[w] == 1 ? 40 : THREADS, all = BLOCKS * threads;
            const struct grid_launch launch = launch_of(BLOCKS, threads);
            write_kernel(bench);
            for (uint32_t i = 0; i < ALL; i++)
                *word(bench, DATA + 4 * i) = i * i;
            assert_true(simt_grid_possible(bench->grid, &launch, 20));
            simt_grid_launch(bench->grid, &launch, 20, 0, 1);
            assert_false(simt_grid_done(bench->grid, 1));
            event_queue_run(&bench->queue, CLOCK_NEVER);
            assert_true(simt_grid_done(bench->grid, 0));
            for (uint32_t i = 0; i < all; i++)
                assert_int_equal(*word(bench, DATA + 4 * i), 3 * (i ^ 1) * (i ^ 1) + i);
            assert_int_equal(*word(bench, COUNT), all);
            uint64_t insns = 0, blocks = 0, barriers = 0;
            for (unsigned i = 0; i < MPS; i++) {
                const struct simt_counters *c = simt_counted(bench->simt[i]);
                insns += c->thread_instructions;
                blocks += c->blocks;
                barriers += c->barriers;
                assert_true(c->blocks > 0);
            }
            assert_int_equal(insns, 18 * all);
            assert_int_equal(blocks, BLOCKS);
            assert_int_equal(barriers, BLOCKS);
            bench_free(bench);
        }
}

/* Times at which the launches end, by number. */
static void ends(struct bench *bench, uint64_t *times, unsigned count)
{
    for (bool more = true; more;) {
        more = event_queue_step(&bench->queue);
        for (unsigned i = 0; i < count; i++)
            if (times[i] == 0 && simt_grid_done(bench->grid, i + 1))
                times[i] = bench->queue.now;
    }
}

/* Two launches of one block each: in one queue the second ends after twice the time; in two queues they run
 * at the same time. */
static void queues_keep_their_order(void **state)
{
    (void)state;
    for (unsigned queues = 1; queues <= 2; queues++) {
        struct bench *bench = bench_new(SIMT_GTO, 32);
        const struct grid_launch launch = launch_of(1, 64);
        uint64_t times[2] = {0};
        write_kernel(bench);
        for (unsigned i = 0; i < 2; i++)
            simt_grid_launch(bench->grid, &launch, 20, i % queues, i + 1);
        ends(bench, times, 2);
        assert_int_equal(*word(bench, COUNT), 128);
        if (queues == 1)
            assert_in_range(times[1], 2 * times[0] - 3 * CLOCK, 2 * times[0] + 3 * CLOCK);
        else
            assert_in_range(times[1], times[0], times[0] + 3 * CLOCK);
        bench_free(bench);
    }
}

/* 8 warps of 32 threads with 64 registers of 32 bits each take 16384 of 32768 registers: two blocks at a time
 * on each of two multiprocessors. With 20 registers, all 8 blocks run at once. */
static void registers_limit_blocks(void **state)
{
    (void)state;
    for (unsigned many = 0; many < 2; many++) {
        struct bench *bench = bench_new(SIMT_GTO, 32);
        const struct grid_launch launch = launch_of(8, 256);
        write_kernel(bench);
        simt_grid_launch(bench->grid, &launch, many ? 64 : 20, 0, 1);
        unsigned most = 0;
        while (event_queue_step(&bench->queue)) {
            unsigned held = 0;
            for (unsigned i = 0; i < MPS; i++)
                held += simt_held(bench->simt[i]);
            most = held > most ? held : most;
        }
        assert_int_equal(most, many ? 4 : 8);
        bench_free(bench);
    }
}

static void note_stop(void *context)
{
    *(bool *)context = true;
}

/* Steps all lanes that are at the breakpoint over it, while all other warps are held, as gdb does. */
static void step_over(struct bench *bench, struct warp_debug *debug, bool *stopped)
{
    struct warp *at = debug->warp;
    uint32_t lanes = debug->lanes;
    assert_int_equal(debug->why, WARP_STOP_BREAK);
    assert_true(warp_debug_remove(debug, &bench->code.memory, debug->pc));
    for (uint32_t i = 0; i < MPS * 48; i++) {
        struct warp *warp = simt_grid_warp(bench->grid, i);
        if (warp)
            warp_debug_move(warp, warp != at, warp == at ? lanes : 0);
    }
    debug->why = WARP_STOP_NONE;
    debug->hold = true;
    *stopped = false;
    simt_grid_moved(bench->grid);
    while (!*stopped)
        assert_true(event_queue_step(&bench->queue));
    assert_int_equal(debug->why, WARP_STOP_STEP);
    assert_true(debug->warp == at && debug->lanes == lanes);
}

static void continue_all(struct bench *bench, struct warp_debug *debug, uint64_t breakpoint)
{
    assert_true(warp_debug_insert(debug, &bench->code.memory, breakpoint));
    for (uint32_t i = 0; i < MPS * 48; i++)
        if (simt_grid_warp(bench->grid, i))
            warp_debug_move(simt_grid_warp(bench->grid, i), false, 0);
    debug->hold = false;
    debug->why = WARP_STOP_NONE;
    simt_grid_moved(bench->grid);
}

/* Adds up the clocks of each scheduler: a held warp waits for no cause. */
static void add_stalls(struct simt_counters *counters)
{
    for (unsigned i = 0; i < SIMT_SCHEDULERS; i++) {
        uint64_t *stalls = counters->stalls[i], issued = stalls[SIMT_STALL_base], all = 0;
        for (unsigned cause = 0; cause < SIMT_STALLS; cause++)
            all += stalls[cause];
        memset(stalls, 0, sizeof counters->stalls[i]);
        stalls[0] = issued;
        stalls[1] = all;
    }
}

/* Returns how often the breakpoint stops warps of the launch; 0: there is none. Stores the counters at the end. */
static unsigned run_debugged(enum simt_policy policy, uint64_t breakpoint, struct simt_counters *counters,
                             uint64_t *end)
{
    enum { BLOCKS = 20, THREADS = 100 };
    struct bench *bench = bench_new(policy, 32);
    const struct grid_launch launch = launch_of(BLOCKS, THREADS);
    bool stopped = false;
    struct warp_debug debug = {.stop = note_stop, .context = &stopped};
    unsigned stops = 0;
    write_kernel(bench);
    if (breakpoint) {
        bench->code.memory.debug = &debug;
        simt_grid_bind(bench->grid, &bench->code.memory, &bench->host);
        assert_true(warp_debug_insert(&debug, &bench->code.memory, breakpoint));
    }
    simt_grid_launch(bench->grid, &launch, 20, 0, 1);
    while (event_queue_step(&bench->queue)) {
        if (!stopped)
            continue;
        assert_int_equal(debug.pc, breakpoint);
        step_over(bench, &debug, &stopped);
        continue_all(bench, &debug, breakpoint);
        stopped = false;
        stops++;
    }
    assert_true(simt_grid_done(bench->grid, 0));
    assert_int_equal(*word(bench, COUNT), BLOCKS * THREADS);
    for (unsigned i = 0; i < MPS; i++) {
        counters[i] = *simt_counted(bench->simt[i]);
        add_stalls(&counters[i]);
    }
    *end = bench->queue.now;
    bench_free(bench);
    return stops;
}

/* Each of 20 * 4 warps stops at each breakpoint, before a load, a barrier, an atomic and the end. The times are those
 * without a debugger. */
static void debuggers_change_no_times(void **state)
{
    (void)state;
    static const unsigned lines[] = {4, 5, 16, 17};
    for (enum simt_policy policy = SIMT_GTO; policy <= SIMT_ROUND_ROBIN; policy++) {
        struct simt_counters plain[MPS], debugged[MPS];
        uint64_t end, debugged_end;
        assert_int_equal(run_debugged(policy, 0, plain, &end), 0);
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
            assert_int_equal(run_debugged(policy, BASE + 0x100 + 4 * lines[i], debugged, &debugged_end),
                             20 * 4);
            assert_int_equal(debugged_end, end);
            assert_memory_equal(debugged, plain, sizeof plain);
        }
    }
}

static void traps_are_told(void **state)
{
    (void)state;
    struct bench *bench = bench_new(SIMT_GTO, 32);
    const struct grid_launch launch = launch_of(1, 32);
    *word(bench, BASE + 0x100) = 0;
    simt_grid_launch(bench->grid, &launch, 20, 0, 1);
    event_queue_run(&bench->queue, CLOCK_NEVER);
    assert_int_equal(bench->failed, 1);
    assert_false(simt_grid_done(bench->grid, 1));
    bench_free(bench);
}

/* Records the cycles of lane 0's instructions, and adds the operands. */
struct adder {
    const struct warp_memory *memory; /* of the warps */
    uint64_t cycles[8];
    unsigned count;
};

static bool add(void *context, struct custom_call *call)
{
    struct adder *adder = context;
    assert_int_equal(call->time, call->cycle * CLOCK);
    assert_true(warp_memory_of(call->warp) == adder->memory);
    if (call->lane == 0)
        adder->cycles[adder->count++] = call->cycle;
    call->result = call->operand[0] + call->operand[1];
    return true;
}

/* Custom instructions execute in the cycle of their issue, and the warp continues after the latency of
 * `control`, even if the next instructions do not use the result. */
static void custom_instructions_issue_in_time(void **state)
{
    (void)state;
    enum { COUNT_OF = 5, THREADS = 32, FIRST = 16 };
    struct bench *bench = bench_new(SIMT_GTO, THREADS);
    struct adder adder = {.memory = &bench->code.memory};
    const struct grid_launch launch = launch_of(1, THREADS);
    struct line lines[1 + COUNT_OF] = {{INSN_csrrs, {.rd = T0, .imm = THREAD_ID}}};
    const struct line last[] = {{INSN_slli, {.rd = T0, .rs1 = T0, .imm = 2}},
                                {INSN_add, {.rd = T0, .rs1 = T0, .rs2 = A0}},
                                {INSN_sw, {.rs1 = T0, .rs2 = FIRST}},
                                {INSN_jalr, {.rs1 = 1}}};
    for (uint8_t i = 0; i < COUNT_OF; i++)
        lines[1 + i] = (struct line){INSN_stash_chgmap, {.rd = (uint8_t)(FIRST + i), .rs1 = T0, .rs2 = T0}};
    custom_serve(&bench->units, EXTENSION_Xstash, &(struct custom_unit){add, .context = &adder});
    CODE(bench, BASE + 0x100, lines);
    CODE(bench, BASE + 0x104 + 4 * COUNT_OF, last);
    simt_grid_launch(bench->grid, &launch, 20, 0, 1);
    event_queue_run(&bench->queue, CLOCK_NEVER);
    assert_true(simt_grid_done(bench->grid, 1));
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(*word(bench, DATA + 4 * i), 2 * i);
    assert_int_equal(adder.count, COUNT_OF);
    for (unsigned i = 1; i < COUNT_OF; i++)
        assert_int_equal(adder.cycles[i] - adder.cycles[i - 1],
                         bench->config.work[SIMT_WORK_control].latency);
    bench_free(bench);
}

/* Takes the threads in `takes` of the first warp at nucds for `away` cycles, and then returns them behind
 * the next instruction. */
struct keeper {
    struct bench *bench;
    struct warp *warp;
    struct custom_waiter *waiter;
    struct event event;
    uint64_t away, taken, returned; /* cycles */
    uint32_t takes, mask;
};

static void return_lanes(void *owner, uint64_t now)
{
    struct keeper *keeper = owner;
    keeper->returned = now / CLOCK;
    for (uint32_t left = keeper->mask; left; left &= left - 1)
        warp_return(keeper->warp, (unsigned)__builtin_ctz(left), BASE + 0x110, NULL);
    custom_returned(keeper->waiter, now);
}

static uint32_t keep(void *context, struct custom_lanes *lanes)
{
    struct keeper *keeper = context;
    if (warp_where(lanes->warp)->warp != 0)
        return 0;
    keeper->warp = lanes->warp;
    keeper->mask = lanes->mask & keeper->takes;
    keeper->taken = lanes->cycle;
    keeper->waiter = lanes->waiter;
    event_init(&keeper->event, 20, return_lanes, keeper);
    event_schedule(&keeper->bench->queue, &keeper->event, lanes->time + keeper->away * CLOCK);
    return keeper->mask;
}

/* Executes the kernel with 64 threads, of which the keeper takes `takes`. */
static struct bench *run_kept(struct keeper *keeper, const struct line *lines, size_t count)
{
    struct bench *bench = bench_new(SIMT_GTO, 32);
    const struct grid_launch launch = launch_of(1, 64);
    keeper->bench = bench;
    write_code(bench, BASE + 0x100, lines, count);
    *word(bench, DATA) = 7;
    custom_serve(&bench->units, EXTENSION_Xnucd,
                 &(struct custom_unit){.take_lanes = keep, .context = keeper});
    for (unsigned i = 0; i < MPS; i++)
        simt_offer(bench->simt[i], EXTENSION_Xnucd);
    simt_grid_launch(bench->grid, &launch, 20, 0, 1);
    event_queue_run(&bench->queue, CLOCK_NEVER);
    assert_true(simt_grid_done(bench->grid, 1));
    assert_int_equal(keeper->returned, keeper->taken + keeper->away);
    assert_int_equal(simt_counted(bench->simt[0])->barriers, 1);
    return bench;
}

/* A warp whose threads were taken waits for them, as for memory. It has waited for its load before. The
 * other warp of the block goes on, to the barrier, and the block's barrier waits for all. */
static void taken_threads_are_waited_for(void **state)
{
    (void)state;
    enum { THREADS = 64, FIRST = 16, AWAY = 5000 };
    struct keeper keeper = {.takes = UINT32_MAX, .away = AWAY};
    const struct line lines[] = {{INSN_csrrs, {.rd = T0, .imm = THREAD_ID}},
                                 {INSN_lw, {.rd = T1, .rs1 = A0}},
                                 {INSN_nucd, {.rs1 = T0, .rs2 = FIRST}},
                                 {INSN_addi, {.rd = T1, .rs1 = T1, .imm = 1}},
                                 {INSN_csrrs, {.rd = T2, .imm = CYCLE}},
                                 {INSN_slli, {.rd = T0, .rs1 = T0, .imm = 3}},
                                 {INSN_add, {.rd = T0, .rs1 = T0, .rs2 = A0}},
                                 {INSN_sw, {.rs1 = T0, .rs2 = T1, .imm = 8}},
                                 {INSN_sw, {.rs1 = T0, .rs2 = T2, .imm = 12}},
                                 {INSN_csrrwi, {.imm = BARRIER}},
                                 {INSN_jalr, {.rs1 = 1}}};
    struct bench *bench = run_kept(&keeper, lines, sizeof lines / sizeof *lines);
    assert_int_equal(keeper.mask, UINT32_MAX);
    assert_true(keeper.taken >= MEMORY); /* after the load */
    for (unsigned i = 0; i < THREADS; i++) {
        bool away = i < 32;
        uint64_t cycle = *word(bench, DATA + 8 * i + 12);
        assert_int_equal(*word(bench, DATA + 8 * i + 8), away ? 7 : 8);
        assert_true(away ? cycle >= keeper.returned && cycle < keeper.returned + 4
                         : cycle < keeper.taken + 100);
    }
    assert_true(simt_counted(bench->simt[0])->stalls[0][SIMT_STALL_memory] >= AWAY - 100);
    bench_free(bench);
}

/* Half of a warp is taken; the other half is in a loop behind when they are returned. At whichever of its
 * instructions that is: the returned threads are next, and each instruction is timed as the one that it
 * is. */
static void returned_threads_may_be_next(void **state)
{
    (void)state;
    enum { THREADS = 64, FIRST = 16, ROUNDS = 200, EVEN = 0x55555555, T3 = 28 };
    const struct line lines[] = {{INSN_csrrs, {.rd = T0, .imm = THREAD_ID}},
                                 {INSN_lw, {.rd = T1, .rs1 = A0}},
                                 {INSN_nucd, {.rs1 = T0, .rs2 = FIRST}},
                                 {INSN_addi, {.rd = T1, .rs1 = T1, .imm = 1}},
                                 {INSN_csrrs, {.rd = T2, .imm = CYCLE}},
                                 {INSN_slli, {.rd = T0, .rs1 = T0, .imm = 3}},
                                 {INSN_add, {.rd = T0, .rs1 = T0, .rs2 = A0}},
                                 {INSN_sw, {.rs1 = T0, .rs2 = T1, .imm = 8}},
                                 {INSN_addi, {.rd = A1, .rs1 = A1, .imm = 1}},
                                 {INSN_slti, {.rd = T3, .rs1 = A1, .imm = ROUNDS}},
                                 {INSN_bne, {.rs1 = T3, .imm = -12}},
                                 {INSN_sw, {.rs1 = T0, .rs2 = T2, .imm = 12}},
                                 {INSN_csrrwi, {.imm = BARRIER}},
                                 {INSN_jalr, {.rs1 = 1}}};
    for (uint64_t away = 2000; away < 2080; away += 3) {
        struct keeper keeper = {.takes = EVEN, .away = away};
        struct bench *bench = run_kept(&keeper, lines, sizeof lines / sizeof *lines);
        const struct simt_counters *counted = simt_counted(bench->simt[0]);
        assert_int_equal(keeper.mask, EVEN);
        assert_int_equal(counted->work[SIMT_WORK_store], THREADS * (ROUNDS + 1));
        assert_int_equal(counted->work[SIMT_WORK_branch], THREADS * (ROUNDS + 1)); /* and the return */
        for (unsigned i = 0; i < THREADS; i++) {
            bool was_away = i < 32 && i % 2 == 0;
            uint64_t cycle = *word(bench, DATA + 8 * i + 12);
            assert_int_equal(*word(bench, DATA + 8 * i + 8), was_away ? 7 : 8);
            assert_true(was_away ? cycle >= keeper.returned && cycle < keeper.returned + 100
                                 : cycle < keeper.taken + 100);
        }
        bench_free(bench);
    }
}

/* Of 32768 registers, 1536 threads in 48 warps have 21 each. With 22, blocks of 256 threads take 5632: five fit. */
static void registers_limit_occupancy(void **state)
{
    (void)state;
    static const struct {
        uint32_t registers, warps;
        const char *limit;
    } cases[] = {{20, 48, "warps"}, {21, 48, "warps"}, {22, 40, "registers"}};
    struct simt_config config;
    part_defaults(&simt_kind, 0, &config);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct simt_need need = {.warps = 8, .threads = 256, .registers = cases[i].registers};
        const char *limit;
        assert_int_equal(8 * simt_occupancy(&config, &need, &limit), cases[i].warps);
        assert_string_equal(limit, cases[i].limit);
    }
    const struct simt_need pad = {.warps = 1, .threads = 32, .registers = 8, .scratchpad = 20 * 1024};
    const char *limit;
    assert_int_equal(simt_occupancy(&config, &pad, &limit), 2);
    assert_string_equal(limit, "scratchpad");
}

/* Each of 10 blocks of 100 threads spills a register: in warps of 32 lanes these are 7 lines of 128 bytes, of which the
 * last, of 4 lanes, is written in part. None of them leaves the first level. Not dropped, they stay there. */
static void stacks_end_with_their_blocks(void **state)
{
    (void)state;
    for (unsigned drop = 0; drop < 2; drop++) {
        struct bench *bench = bench_new(SIMT_GTO, 32);
        const struct grid_launch launch = launch_of(10, 100);
        const struct line lines[] = {
            {INSN_sd, {.rs1 = 2, .rs2 = A0, .imm = -8}},
            {INSN_ld, {.rd = T0, .rs1 = 2, .imm = -8}},
            {INSN_jalr, {.rs1 = 1}},
        };
        unsigned lines_left = 0, dropped = 0;
        CODE(bench, BASE + 0x100, lines);
        for (unsigned i = 0; i < MPS; i++)
            simt_free(bench->simt[i]);
        bench->config.stack_drop = drop;
        for (unsigned i = 0; i < MPS; i++) {
            cache_free(bench->l1[i]);
            make_multiprocessor(bench, i);
        }
        simt_grid_launch(bench->grid, &launch, 20, 0, 1);
        event_queue_run(&bench->queue, CLOCK_NEVER);
        for (unsigned i = 0; i < MPS; i++) {
            for (uint64_t at = STACK; at < BASE + SIZE; at += 128)
                lines_left += cache_line_state(bench->l1[i], at) != CACHE_INVALID;
            dropped += (unsigned)bench->l1[i]->stacks.dropped;
            assert_int_equal(cache_stacks_written(bench->l1[i]), 0);
        }
        assert_int_equal(dropped, drop ? 10 * 7 : 0);
        assert_int_equal(lines_left, drop ? 0 : 10 * 7);
        bench_free(bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_do_not_depend_on_time), cmocka_unit_test(queues_keep_their_order),
        cmocka_unit_test(registers_limit_blocks),        cmocka_unit_test(traps_are_told),
        cmocka_unit_test(debuggers_change_no_times),     cmocka_unit_test(registers_limit_occupancy),
        cmocka_unit_test(taken_threads_are_waited_for),  cmocka_unit_test(returned_threads_may_be_next),
        cmocka_unit_test(stacks_end_with_their_blocks),  cmocka_unit_test(custom_instructions_issue_in_time),
    };
    return cmocka_run_group_tests_name("launches on timed multiprocessors", tests, NULL, NULL);
}
