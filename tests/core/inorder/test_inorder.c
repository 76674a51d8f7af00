/* The in-order core's timing on small programs whose cost is computed by hand. Loops end in addi and bne, which pair;
 * after the taken branch the front end needs taken_clocks = 1 more cycle, which the fetch queue hides if the loop body
 * is long enough. */
#include <stdio.h>

#include "emu/core/inorder.h"
#include "tests/core/rig.h"
#include "tests/sim/value.h"

enum { N = 1000, HIT = 2, FRONT = HIT + 6 };

static struct core *make(struct rig *rig, const void *context)
{
    struct core_config config;
    struct core_parts parts = rig_parts(rig);
    struct error err;
    core_config_default(&config, CORE_INORDER);
    if (context)
        config = *(const struct core_config *)context;
    if (!part_check(&core_kind, &config, &err))
        fail_msg("%s", err.text);
    struct core *core = inorder_new(&config, &parts, &err);
    assert_non_null(core);
    return core;
}

static struct core_config defaults(void)
{
    struct core_config config;
    core_config_default(&config, CORE_INORDER);
    return config;
}

static void check(const char *what, void (*setup)(struct rig *), void (*body)(struct rig *),
                  const struct core_config *config, uint64_t hundredths, uint64_t causes[CPI_CAUSES])
{
    struct rig_loop loop = {.setup = setup, .body = body, .make = make, .context = config, .iterations = N};
    rig_check(rig_loop(&loop, causes), N, hundredths, 100, what);
}

static void multiplies(struct rig *rig)
{
    for (unsigned i = 0; i < 8; i++)
        RIG_EMIT(rig, mul, .rd = 5, .rs1 = 5, .rs2 = 5);
}

static void free_multiplies(struct rig *rig)
{
    for (unsigned i = 0; i < 8; i++)
        RIG_EMIT(rig, mul, .rd = (uint8_t)(5 + i), .rs1 = 20, .rs2 = 21);
}

/* 8 dependent multiplies of 3 cycles, the last one overlapping addi and bne: 22 + 2 cycles. Independent ones: one a
 * cycle. */
static void arithmetic_latency(void **state)
{
    (void)state;
    uint64_t causes[CPI_CAUSES];
    check("dependent multiplies", NULL, multiplies, NULL, 2400, causes);
    rig_check(causes[CPI_dependency], N, 1500, 100, "their waiting");
    check("independent multiplies", NULL, free_multiplies, NULL, 900, causes);
    assert_int_equal(causes[CPI_dependency], 0);
}

static void adds(struct rig *rig)
{
    for (unsigned i = 0; i < 40; i++)
        RIG_EMIT(rig, addi, .rd = (uint8_t)(5 + i % 8), .rs1 = 20, .imm = (int32_t)i);
}

static void chained_adds(struct rig *rig)
{
    for (unsigned i = 0; i < 40; i++)
        RIG_EMIT(rig, addi, .rd = 5, .rs1 = 5, .imm = 1);
}

/* 42 instructions: 21 pairs; 42 cycles on a core of width 1; as a chain: 40 + 1 cycles. */
static void dual_issue(void **state)
{
    (void)state;
    struct core_config single = defaults();
    single.width = 1;
    uint64_t causes[CPI_CAUSES];
    check("independent adds", NULL, adds, NULL, 2100, causes);
    rig_check(causes[CPI_base], N, 2100, 100, "base of adds");
    check("adds, width 1", NULL, adds, &single, 4200, causes);
    check("dependent adds", NULL, chained_adds, NULL, 4100, causes);
}

enum { GROUPS = 4, GROUP_ADDS = 8 };

static void mixture(struct rig *rig)
{
    for (unsigned i = 0; i < GROUPS; i++) {
        for (unsigned k = 0; k < GROUP_ADDS; k++)
            RIG_EMIT(rig, addi, .rd = (uint8_t)(5 + k), .rs1 = 20, .imm = 1);
        RIG_EMIT(rig, ld, .rd = 13, .rs1 = 20, .imm = 0);
        RIG_EMIT(rig, ld, .rd = 14, .rs1 = 20, .imm = 8);
        RIG_EMIT(rig, mul, .rd = 15, .rs1 = 20, .rs2 = 21);
        RIG_EMIT(rig, mul, .rd = 16, .rs1 = 20, .rs2 = 21);
    }
}

/* Returns the cycles of an iteration of mixture() by the issue rules alone; `pairs` loads and multiplies in a cycle. The
 * loop's addi comes last, and its bne a cycle later. */
static unsigned mixture_cycles(unsigned width, unsigned pairs)
{
    unsigned cycles = 1, slots = 0, used[3] = {0};
    const unsigned limit[3] = {width, pairs, pairs};
    for (unsigned i = 0; i < GROUPS * (GROUP_ADDS + 4) + 1; i++) {
        const unsigned at = i % (GROUP_ADDS + 4);
        const unsigned unit = at < GROUP_ADDS ? 0 : at < GROUP_ADDS + 2 ? 1 : 2;
        if (slots == width || used[unit] == limit[unit]) {
            cycles++;
            slots = used[0] = used[1] = used[2] = 0;
        }
        slots++;
        used[unit]++;
    }
    return cycles + 1;
}

static void data_register(struct rig *rig);

static void check_exactly(const char *what, unsigned width, void (*body)(struct rig *),
                          const struct core_config *config, unsigned wanted)
{
    struct rig_loop loop = {
        .setup = data_register, .body = body, .make = make, .context = config, .iterations = N};
    uint64_t causes[CPI_CAUSES];
    char name[48];
    (void)snprintf(name, sizeof name, "%s, width %u", what, width);
    rig_check(rig_loop(&loop, causes), N, 100 * wanted, 5, name);
}

/* 41 independent instructions and the bne after them; dependent ones one a cycle; units with one or two of a cycle's
 * instructions; and 16 bytes fetched a cycle, which are 4 instructions. */
static void wide_issue(void **state)
{
    (void)state;
    for (unsigned width = 1; width <= 8; width++) {
        struct core_config config = defaults();
        config.width = width;
        config.fetch_bytes = 64;
        check_exactly("adds", width, adds, &config, (41 + width - 1) / width + 1);
        check_exactly("dependent adds", width, chained_adds, &config, width == 1 ? 42 : 41);
        check_exactly("mixture", width, mixture, &config, mixture_cycles(width, 1));
        config.pair_memory = config.pair_multiply = true;
        check_exactly("mixture in pairs", width, mixture, &config, mixture_cycles(width, 2));
        config.fetch_bytes = 16;
        check_exactly("little fetched", width, adds, &config, width < 4 ? (41 + width - 1) / width + 1 : 12);
    }
}

static void divides(struct rig *rig)
{
    for (unsigned i = 0; i < 4; i++)
        RIG_EMIT(rig, div, .rd = (uint8_t)(5 + i), .rs1 = 20, .rs2 = 21);
}

/* 4 independent divides; the divider takes a new one every 20 cycles. */
static void divider_is_not_pipelined(void **state)
{
    (void)state;
    uint64_t causes[CPI_CAUSES];
    check("independent divides", NULL, divides, NULL, 8000, causes);
    rig_check(causes[CPI_dependency], N, 7500, 200, "waiting for the divider");
}

static void data_register(struct rig *rig)
{
    rig_set(rig, 20, RIG_BASE + 0x8000);
    rig_warm(rig, RIG_BASE + 0x8000, 0x1000, true);
}

static void load_use(struct rig *rig)
{
    for (unsigned i = 0; i < 8; i++) {
        RIG_EMIT(rig, ld, .rd = 5, .rs1 = 20, .imm = (int32_t)(8 * i));
        RIG_EMIT(rig, addi, .rd = 6, .rs1 = 5, .imm = 1);
    }
}

static void independent_loads(struct rig *rig)
{
    for (unsigned i = 0; i < 8; i++)
        RIG_EMIT(rig, ld, .rd = (uint8_t)(5 + i), .rs1 = 20, .imm = (int32_t)(8 * i));
}

/* A load issues at 0, its use at 2, the next load beside the use: 8 * 2 cycles. Loads alone issue one a cycle, the last
 * one beside the loop's addi. */
static void loads_that_hit(void **state)
{
    (void)state;
    uint64_t causes[CPI_CAUSES];
    check("load and use", data_register, load_use, NULL, 1700, causes);
    rig_check(causes[CPI_l1], N, 800, 100, "waiting for hits");
    check("independent loads", data_register, independent_loads, NULL, 850, causes);
    struct core_config paired = defaults();
    paired.pair_memory = true;
    check("paired loads", data_register, independent_loads, &paired, 500, causes);
}

/* A ring of pointers through `lines` lines, each `stride` bytes from the next. */
static void make_ring(struct rig *rig, uint64_t at, uint64_t lines, uint64_t stride)
{
    for (uint64_t i = 0; i < lines; i++)
        rig_store64(rig, at + i * stride, at + (i + 1) % lines * stride);
    rig_set(rig, 20, at);
}

static void near_ring(struct rig *rig)
{
    make_ring(rig, RIG_BASE + 0x8000, 16, 64);
}

/* 8 KiB apart: one set of 4 ways, so that 8 lines in turn always miss. */
static void second_level_ring(struct rig *rig)
{
    make_ring(rig, RIG_BASE + 0x10000, 8, 8192);
}

static void memory_ring(struct rig *rig)
{
    make_ring(rig, RIG_FAR, 8, 8192);
}

static void chase(struct rig *rig)
{
    for (unsigned i = 0; i < 4; i++)
        RIG_EMIT(rig, ld, .rd = 20, .rs1 = 20, .imm = 0);
}

/* 4 dependent loads an iteration: hits take 2 cycles; misses 2 for the tags, then 20 or 100 below. */
static void pointer_chase(void **state)
{
    (void)state;
    uint64_t causes[CPI_CAUSES];
    check("chase in the first level", near_ring, chase, NULL, 800, causes);
    rig_check(causes[CPI_l1], N, 400, 100, "its blame");
    check("chase in the second level", second_level_ring, chase, NULL, 4 * 2200, causes);
    rig_check(causes[CPI_l2], N, 8400, 400, "its blame");
    check("chase in memory", memory_ring, chase, NULL, 4 * 10200, causes);
    rig_check(causes[CPI_memory], N, 40400, 400, "its blame");
    assert_int_equal(causes[CPI_l2], 0);
}

/* x20 walks through memory, a line 8 KiB from the other, so that all miss. */
static void far_register(struct rig *rig)
{
    rig_set(rig, 20, RIG_FAR);
    rig_set(rig, 21, 0xffff);
    rig_set(rig, 23, RIG_FAR);
}

static void miss_alone(struct rig *rig)
{
    for (unsigned i = 0; i < 16; i++)
        RIG_EMIT(rig, ld, .rd = (uint8_t)(4 + i % 8), .rs1 = 20, .imm = (int32_t)(64 * i));
    RIG_EMIT(rig, addi, .rd = 22, .rs1 = 22, .imm = 1024);
    RIG_EMIT(rig, and, .rd = 22, .rs1 = 22, .rs2 = 21);
    RIG_EMIT(rig, add, .rd = 20, .rs1 = 23, .rs2 = 22);
}

/* 16 independent misses an iteration through a range of 64 KiB, twice the cache. With m at a time, m of them
 * take 102 cycles: 16 / m * 102. The limit is the load queue or the MSHRs, whichever is less. */
static void misses_overlap(void **state)
{
    (void)state;
    struct rig_options options = rig_options_default();
    static const struct {
        uint32_t load_queue, mshrs;
    } limits[] = {{1, 8}, {2, 8}, {4, 8}, {8, 8}, {8, 1}, {8, 2}, {8, 4}, {16, 4}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct core_config config = defaults();
        config.load_queue = limits[i].load_queue;
        options.l1d.mshrs = limits[i].mshrs;
        uint32_t least = config.load_queue < limits[i].mshrs ? config.load_queue : limits[i].mshrs;
        struct rig_loop loop = {.setup = far_register,
                                .body = miss_alone,
                                .make = make,
                                .context = &config,
                                .options = &options,
                                .iterations = N};
        uint64_t causes[CPI_CAUSES];
        /* Between a response and the request that follows there can be a cycle of issue and one of retry. */
        char what[64];
        (void)snprintf(what, sizeof what, "misses, %u loads, %u MSHRs", limits[i].load_queue,
                       limits[i].mshrs);
        rig_check(rig_loop(&loop, causes), N, 10200 * 16 / least, 250 * 16 / least, what);
        rig_check(causes[CPI_memory], N, 10200 * 16 / least - 1700, 2500, what);
    }
}

/* A random bit decides. Both ways are one instruction long. */
static void random_branch(struct rig *rig)
{
    rig_random_bit(rig, 6);
    rig_branch(rig, INSN_bne, 6, 0, rig->at + 8);
    RIG_EMIT(rig, addi, .rd = 7, .rs1 = 7, .imm = 1);
}

static void seed(struct rig *rig)
{
    RIG_EMIT(rig, addi, .rd = 5, .imm = 1234);
}

static void predictable_branch(struct rig *rig)
{
    for (unsigned i = 0; i < 7; i++)
        RIG_EMIT(rig, addi, .rd = 6, .rs1 = 6, .imm = 1);
    rig_branch(rig, INSN_bne, 0, 0, rig->at + 8);
    RIG_EMIT(rig, addi, .rd = 7, .rs1 = 7, .imm = 1);
}

/* A mispredicted branch that issues at 0 has executed at 1; the right path is fetched then, and issues FRONT
 * cycles later: of those 9 cycles, 8 are lost (the branch's own is base). A random one is mispredicted every
 * other time. */
static void mispredicted_branches(void **state)
{
    (void)state;
    uint64_t causes[CPI_CAUSES];
    struct rig_loop loop = {.setup = seed, .body = random_branch, .make = make, .iterations = 10 * N};
    (void)rig_loop(&loop, causes);
    rig_check(causes[CPI_branch], 10 * N, FRONT * 100 / 2, 50, "random branches");
    check("a branch never taken", seed, predictable_branch, NULL, 1000, causes);
    assert_int_equal(causes[CPI_branch], 0);
}

static void jump_chain(struct rig *rig)
{
    for (unsigned i = 0; i < 8; i++) {
        rig_jump(rig, 0, rig->at + 16);
        for (unsigned k = 0; k < 3; k++)
            RIG_EMIT(rig, addi, .rd = 6, .rs1 = 6, .imm = 1);
    }
}

/* Jumps to the next block: one is fetched every 1 + taken_clocks = 2 cycles. */
static void taken_jumps(void **state)
{
    (void)state;
    uint64_t causes[CPI_CAUSES];
    struct core_config config = defaults();
    check("jumps", NULL, jump_chain, &config, 1800, causes);
    config.taken_clocks = 3;
    check("jumps with longer bubbles", NULL, jump_chain, &config, 3600, causes);
    rig_check(causes[CPI_frontend], N, 2700, 200, "their bubbles");
}

static void stores_that_hit(struct rig *rig)
{
    for (unsigned i = 0; i < 8; i++)
        RIG_EMIT(rig, sd, .rs1 = 20, .rs2 = 5, .imm = (int32_t)(8 * i));
}

static void store_lines(struct rig *rig)
{
    for (unsigned i = 0; i < 16; i++)
        RIG_EMIT(rig, sd, .rs1 = 20, .rs2 = 5, .imm = (int32_t)(64 * i));
    RIG_EMIT(rig, addi, .rd = 22, .rs1 = 22, .imm = 1024);
    RIG_EMIT(rig, and, .rd = 22, .rs1 = 22, .rs2 = 21);
    RIG_EMIT(rig, add, .rd = 20, .rs1 = 23, .rs2 = 22);
}

/* Stores that hit: one a cycle. 16 that miss, a line each: as many at a time as the buffer or the MSHRs hold,
 * 102 cycles each. */
static void store_streams(void **state)
{
    (void)state;
    check("stores that hit", data_register, stores_that_hit, NULL, 850, NULL);
    struct rig_options options = rig_options_default();
    static const struct {
        uint32_t store_buffer, mshrs;
    } limits[] = {{2, 8}, {4, 8}, {8, 2}, {8, 4}, {16, 8}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct core_config config = defaults();
        config.store_buffer = limits[i].store_buffer;
        options.l1d.mshrs = limits[i].mshrs;
        options.l1d.write_buffer = 16;
        uint32_t least = config.store_buffer < limits[i].mshrs ? config.store_buffer : limits[i].mshrs;
        struct rig_loop loop = {.setup = far_register,
                                .body = store_lines,
                                .make = make,
                                .context = &config,
                                .options = &options,
                                .iterations = N};
        char what[64];
        (void)snprintf(what, sizeof what, "buffer of %u, %u MSHRs", limits[i].store_buffer, limits[i].mshrs);
        rig_check(rig_loop(&loop, NULL), N, 10200 * 16 / least, 250 * 16 / least, what);
    }
}

static void crossing_loads(struct rig *rig)
{
    for (unsigned i = 0; i < 8; i++)
        RIG_EMIT(rig, ld, .rd = (uint8_t)(5 + i), .rs1 = 20, .imm = 60);
}

/* Each takes the cache's port for 2 cycles. */
static void accesses_across_lines(void **state)
{
    (void)state;
    check("loads across lines", data_register, crossing_loads, NULL, 1650, NULL);
}

/* Code that runs once. The store misses to main memory; the load after it takes its bytes from the buffer, and its use
 * waits for a hit's time; a load that needs more bytes waits for the line. */
static void store_to_load_forwarding(void **state)
{
    (void)state;
    for (unsigned part = 0; part < 2; part++) {
        struct rig *rig = rig_new(NULL);
        rig->core = make(rig, NULL);
        rig_set(rig, 20, RIG_FAR);
        rig_emit(rig, part ? INSN_sw : INSN_sd, (struct operands){.rs1 = 20, .rs2 = 5});
        RIG_EMIT(rig, ld, .rd = 6, .rs1 = 20);
        RIG_EMIT(rig, addi, .rd = 6, .rs1 = 6, .imm = 1);
        RIG_EMIT(rig, ecall, 0);
        (void)rig_run(rig);
        assert_int_equal(rig->core->cpi[CPI_l1], 1);
        /* The store is in the cache 1 + 102 cycles after its issue; otherwise the load, which does not pair, would have
         * issued one cycle after the store. */
        assert_in_range(rig->core->cpi[CPI_memory], part ? 101 : 0, part ? 103 : 0);
        rig_free(rig);
    }
}

/* 5 uses of the ALU (3 additions, a load and a store); 2 multiplications and a division; 2 floating-point operations: 4
 * times, after 11 additions and shifts that set a register. The ECALL uses nothing. */
static void energy_by_class(void **state)
{
    (void)state;
    struct rig *rig = rig_new(NULL);
    struct energy_ledger ledger;
    rig->core = make(rig, NULL);
    energy_init(&ledger);
    core_energy_add(&rig->core->energy, &ledger, scope_enter(NULL, "core"));
    assert_int_equal(energy_total(&ledger), 0);
    rig_set(rig, 20, RIG_FAR);
    for (unsigned i = 0; i < 4; i++) {
        RIG_EMIT(rig, add, .rd = 5, .rs1 = 6, .rs2 = 7);
        RIG_EMIT(rig, mul, .rd = 8, .rs1 = 6, .rs2 = 7);
        RIG_EMIT(rig, mulw, .rd = 8, .rs1 = 6, .rs2 = 7);
        RIG_EMIT(rig, divu, .rd = 8, .rs1 = 6, .rs2 = 7);
        RIG_EMIT(rig, fadd_d, .rd = 1, .rs1 = 2, .rs2 = 3);
        RIG_EMIT(rig, fmadd_s, .rd = 1, .rs1 = 2, .rs2 = 3, .rs3 = 4);
        RIG_EMIT(rig, ld, .rd = 5, .rs1 = 20);
        RIG_EMIT(rig, sd, .rs1 = 20, .rs2 = 5);
        RIG_EMIT(rig, addi, .rd = 6, .rs1 = 6, .imm = 1);
        RIG_EMIT(rig, xor, .rd = 6, .rs1 = 6, .rs2 = 7);
    }
    RIG_EMIT(rig, ecall, 0);
    (void)rig_run(rig);
    static const char *const names[] = {"core.alu", "core.mul", "core.fpu"};
    const uint64_t wanted[] = {(11 + 4 * 5) * 14000, 4 * 3 * 28000, 4 * 2 * 43000};
    for (unsigned i = 0; i < 3; i++) {
        assert_string_equal(ledger.accounts[i]->name, names[i]);
        assert_int_equal(energy_of(ledger.accounts[i]), wanted[i]);
    }
    energy_free(&ledger);
    rig_free(rig);
}

static void check_ipc(const struct rig *rig)
{
    struct stats *stats = stats_new();
    core_publish(rig->core, stats, scope_enter(NULL, "core"));
    double instructions = (double)rig->hart.instret, cycles = (double)rig->core->cycles;
    double error = stats_real(stats, "core.ipc") - instructions / cycles;
    assert_true(error > -1e-6 && error < 1e-6 && instructions > 0);
    stats_free(stats);
}

/* Two runs give the same counts; an observer, which sees instructions in order, changes nothing. */
static void same_every_time(void **state)
{
    (void)state;
    uint64_t cpi[3][CPI_CAUSES];
    for (unsigned run = 0; run < 3; run++) {
        struct rig *rig = rig_new(NULL);
        rig->core = make(rig, NULL);
        seed(rig);
        far_register(rig);
        rig_set(rig, 31, 200);
        uint64_t top = rig->at;
        random_branch(rig);
        miss_alone(rig);
        store_lines(rig);
        RIG_EMIT(rig, addi, .rd = 31, .rs1 = 31, .imm = -1);
        rig_branch(rig, INSN_bne, 31, 0, top);
        RIG_EMIT(rig, ecall, 0);
        if (run == 2)
            rig_observe(rig);
        (void)rig_run(rig);
        memcpy(cpi[run], rig->core->cpi, sizeof cpi[run]);
        if (run == 2)
            assert_int_equal(rig->notes, rig->hart.instret);
        if (run == 2)
            check_ipc(rig);
        for (unsigned cause = 0; run == 2 && cause < CPI_CAUSES; cause++) /* base is not a stall */
            assert_int_equal(rig->stalled[cause], cause == CPI_base ? 0 : rig->core->cpi[cause]);
        rig_free(rig);
    }
    assert_memory_equal(cpi[0], cpi[1], sizeof cpi[0]);
    assert_memory_equal(cpi[0], cpi[2], sizeof cpi[0]);
}

/* Results are written to a register in program order: the addi of 1 cycle issues 19 cycles after a divide of 20, losing
 * 18; and it waits for a load. */
static void writes_in_order(void **state)
{
    (void)state;
    for (unsigned miss = 0; miss < 2; miss++) {
        struct rig *rig = rig_new(NULL);
        rig->core = make(rig, NULL);
        rig_set(rig, 20, RIG_FAR);
        if (miss)
            RIG_EMIT(rig, ld, .rd = 5, .rs1 = 20);
        else
            RIG_EMIT(rig, div, .rd = 5, .rs1 = 6, .rs2 = 7);
        RIG_EMIT(rig, addi, .rd = 5, .imm = 1);
        RIG_EMIT(rig, ecall, 0);
        (void)rig_run(rig);
        if (miss)
            assert_in_range(rig->core->cpi[CPI_memory], 100, 102);
        else
            assert_in_range(rig->core->cpi[CPI_dependency], 18, 19);
        rig_free(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_latency),
        cmocka_unit_test(dual_issue),
        cmocka_unit_test(wide_issue),
        cmocka_unit_test(divider_is_not_pipelined),
        cmocka_unit_test(loads_that_hit),
        cmocka_unit_test(pointer_chase),
        cmocka_unit_test(misses_overlap),
        cmocka_unit_test(mispredicted_branches),
        cmocka_unit_test(taken_jumps),
        cmocka_unit_test(store_streams),
        cmocka_unit_test(accesses_across_lines),
        cmocka_unit_test(store_to_load_forwarding),
        cmocka_unit_test(writes_in_order),
        cmocka_unit_test(energy_by_class),
        cmocka_unit_test(same_every_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
