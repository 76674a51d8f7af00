/* The out-of-order core's loads, stores and misses on small programs whose cost is worked out by hand. */
#include "tests/core/ooo/test_ooo.h"

#define NEAR (RIG_BASE + 0x10000) /* answered as by a second level */

static void data_near(struct rig *rig)
{
    rig_set(rig, 22, NEAR);
    rig_warm(rig, NEAR, 4096, true);
}

static void free_loads(struct rig *rig)
{
    for (unsigned i = 0; i < 10; i++)
        RIG_EMIT(rig, ld, .rd = (uint8_t)(5 + i % 8), .rs1 = 22, .imm = (int32_t)(8 * i));
}

static void crossing_loads(struct rig *rig)
{
    for (unsigned i = 0; i < 10; i++)
        RIG_EMIT(rig, ld, .rd = (uint8_t)(5 + i % 8), .rs1 = 22, .imm = (int32_t)(64 * i + 60));
}

static void free_stores(struct rig *rig)
{
    for (unsigned i = 0; i < 10; i++)
        RIG_EMIT(rig, sd, .rs1 = 22, .rs2 = 5, .imm = (int32_t)(8 * i));
}

static void chase_l1(struct rig *rig)
{
    for (unsigned i = 0; i < 10; i++)
        RIG_EMIT(rig, ld, .rd = 22, .rs1 = 22);
}

static void points_to_itself(struct rig *rig)
{
    data_near(rig);
    rig_store64(rig, NEAR, NEAR);
}

static void hits(void **state)
{
    (void)state;
    /* One port; an access that crosses a line uses it twice. */
    expect(data_near, free_loads, 1000, CPI_l1, NULL, NULL, "independent loads");
    expect(data_near, crossing_loads, 2000, CPI_l1, NULL, NULL, "loads across lines");
    expect(data_near, free_stores, 1000, CPI_dependency, NULL, NULL, "stores");
    /* 10 * 2 cycles, of which one each is the retirement of the load itself. */
    expect(points_to_itself, chase_l1, 2000, CPI_l1, NULL, NULL, "pointers in the first level");
}

/* A ring of 1024 lines, twice the first level's capacity: with LRU every access misses. */
static void circle(struct rig *rig, uint64_t base)
{
    rig_set(rig, 22, base);
    for (uint64_t i = 0; i < 1024; i++)
        rig_store64(rig, base + 64 * i, base + 64 * ((i + 1) % 1024));
}
static void circle_near(struct rig *rig)
{
    circle(rig, NEAR);
}
static void circle_far(struct rig *rig)
{
    circle(rig, RIG_FAR);
}
static void chase(struct rig *rig)
{
    RIG_EMIT(rig, ld, .rd = 22, .rs1 = 22);
}

static void chains_of_misses(void **state)
{
    (void)state;
    expect(circle_near, chase, 100 * NEAR_MISS, CPI_l2, NULL, NULL, "pointers in the second level");
    expect(circle_far, chase, 100 * FAR_MISS, CPI_memory, NULL, NULL, "pointers in memory");
}

/* A line an iteration, of 2 * 1024. */
static void far_lines(struct rig *rig)
{
    rig_set(rig, 22, RIG_FAR);
    rig_set(rig, 23, RIG_FAR + 0x20000);
}
static void next_line(struct rig *rig)
{
    RIG_EMIT(rig, ld, .rd = 5, .rs1 = 22);
    RIG_EMIT(rig, addi, .rd = 22, .rs1 = 22, .imm = 64);
}
static void next_line_63(struct rig *rig)
{
    next_line(rig);
    for (unsigned i = 0; i < 60; i++)
        RIG_EMIT(rig, add, .rd = 6, .rs1 = 7, .rs2 = 8);
}
static void next_line_use(struct rig *rig)
{
    next_line(rig);
    for (unsigned i = 0; i < 5; i++)
        RIG_EMIT(rig, add, .rd = 6, .rs1 = 5, .rs2 = 5);
}
static void store_line(struct rig *rig)
{
    RIG_EMIT(rig, sd, .rs1 = 22, .rs2 = 5);
    RIG_EMIT(rig, addi, .rd = 22, .rs1 = 22, .imm = 64);
}

static void parallel_misses(void **state)
{
    (void)state;
    struct rig_options options = rig_options_default();
    /* 8 MSHRs: 8 lines in FAR_MISS cycles. */
    expect(far_lines, next_line, 100 * FAR_MISS / 8, CPI_memory, NULL, NULL, "misses by MSHRs");
    options.l1d.mshrs = 3;
    expect(far_lines, next_line, 100 * FAR_MISS / 3, CPI_memory, NULL, &options, "misses by 3 MSHRs");
    /* 64 instructions between two loads: 2 of the 128 in the reorder buffer are loads. Half a buffer is dispatched
     * meanwhile, so a pair takes one latency plus at most the 64 / 3 cycles to the second load. */
    options.l1d.mshrs = 32;
    struct core_config config = defaults();
    expect(far_lines, next_line_63, 100 * FAR_MISS / 2, CPI_memory, NULL, &options,
           "misses by reorder buffer");
    config.load_queue = 2;
    expect(far_lines, next_line, 100 * FAR_MISS / 2, CPI_memory, &config, &options, "misses by load queue");
    /* 5 users wait for each load: a second load finds no room for its users, a third one none for itself. */
    config = defaults();
    config.iq = 10;
    expect(far_lines, next_line_use, 100 * FAR_MISS / 2, CPI_memory, &config, &options,
           "misses by issue queue");
    /* An iteration writes 8 registers; there are 16. */
    config = defaults();
    config.int_renames = 16;
    expect(far_lines, next_line_use, 100 * FAR_MISS / 2, CPI_memory, &config, &options, "misses by renaming");
    /* Only one load: 2 cycles from its retirement to the next one's issue. */
    config.int_renames = 8;
    expect(far_lines, next_line_use, 100 * (FAR_MISS + 2), CPI_memory, &config, &options, "fewer registers");
}

static void store_misses(void **state)
{
    (void)state;
    expect(far_lines, store_line, 100 * FAR_MISS / 8, CPI_memory, NULL, NULL, "stores by MSHRs");
    struct rig_options options = rig_options_default();
    options.l1d.mshrs = 32;
    struct core_config config = defaults();
    config.store_queue = 4;
    expect(far_lines, store_line, 100 * FAR_MISS / 4, CPI_memory, &config, &options, "stores by store queue");
}

/* 10 round trips of x5 through memory. The data are known at d; the load that waits for them has them at d + 2. */
static void forward(struct rig *rig)
{
    for (unsigned i = 0; i < 10; i++) {
        RIG_EMIT(rig, sd, .rs1 = 22, .rs2 = 5, .imm = (int32_t)(8 * i));
        RIG_EMIT(rig, ld, .rd = 5, .rs1 = 22, .imm = (int32_t)(8 * i));
    }
}
/* The store has one of the load's eight bytes: it retires at d, is written at d + 1 and in the cache at d + 2; then the
 * load reads, and has its value at d + 4. */
static void forward_part(struct rig *rig)
{
    for (unsigned i = 0; i < 10; i++) {
        RIG_EMIT(rig, sb, .rs1 = 22, .rs2 = 5, .imm = (int32_t)(8 * i + 3));
        RIG_EMIT(rig, ld, .rd = 5, .rs1 = 22, .imm = (int32_t)(8 * i));
    }
}
/* The word within the double word: forwarded. */
static void forward_within(struct rig *rig)
{
    for (unsigned i = 0; i < 10; i++) {
        RIG_EMIT(rig, sd, .rs1 = 22, .rs2 = 5, .imm = (int32_t)(8 * i));
        RIG_EMIT(rig, lw, .rd = 5, .rs1 = 22, .imm = (int32_t)(8 * i + 4));
    }
}
/* Across two granules. */
static void forward_misaligned(struct rig *rig)
{
    for (unsigned i = 0; i < 10; i++) {
        RIG_EMIT(rig, sd, .rs1 = 22, .rs2 = 5, .imm = (int32_t)(16 * i + 4));
        RIG_EMIT(rig, lb, .rd = 5, .rs1 = 22, .imm = (int32_t)(16 * i + 4 + (i & 1 ? 0 : 7)));
    }
}

static void forwarding(void **state)
{
    (void)state;
    expect(data_near, forward, 2000, CPI_l1, NULL, NULL, "forwarding");
    expect(data_near, forward_within, 2000, CPI_l1, NULL, NULL, "forwarding of a part");
    expect(data_near, forward_misaligned, 2000, CPI_l1, NULL, NULL, "forwarding across granules");
    expect(data_near, forward_part, 4000, CPI_l1, NULL, NULL, "partial overlap");
}

/* The store right before each load is found, whichever place of its queue it has. */
static void forwarding_from_short_queues(void **state)
{
    (void)state;
    for (unsigned entries = 1; entries <= 4; entries++) {
        struct rig *rig = rig_new(NULL);
        struct core_config config = defaults();
        uint64_t cycles;
        config.store_queue = entries;
        data_near(rig);
        forward(rig);
        struct ooo *o = run_program(rig, &config, &cycles);
        assert_int_equal(o->count.forwarded, 10);
        rig_free(rig);
    }
}

/* The store's address results from 4 multiplications; the load after it has a known address. */
static void late_store(struct rig *rig)
{
    for (unsigned i = 0; i < 4; i++)
        RIG_EMIT(rig, mulw, .rd = 6, .rs1 = 6, .rs2 = 0);
    RIG_EMIT(rig, add, .rd = 6, .rs1 = 6, .rs2 = 22);
    RIG_EMIT(rig, sd, .rs1 = 6, .rs2 = 5);
    RIG_EMIT(rig, ld, .rd = 7, .rs1 = 22);
}

static struct ooo *run_late_stores(struct rig *rig, const struct core_config *config, uint64_t *cycles)
{
    data_near(rig);
    rig_set(rig, 31, N);
    while (rig->at % 64)
        RIG_EMIT(rig, addi, 0);
    uint64_t top = rig->at;
    late_store(rig);
    RIG_EMIT(rig, addi, .rd = 31, .rs1 = 31, .imm = -1);
    rig_branch(rig, INSN_bne, 31, 0, top);
    return run_program(rig, config, cycles);
}

/* The load reads too early once, then it waits: 4 * 3 cycles and an add in the chain through x6. */
static void order(void **state)
{
    (void)state;
    uint64_t cycles, careful;
    struct rig *rig = rig_new(NULL);
    struct ooo *o = run_late_stores(rig, NULL, &cycles);
    assert_int_equal(o->count.violations, 1);
    assert_in_range(o->count.waited, N - 2, N);
    assert_in_range(o->count.forwarded, N, N);
    rig_check(cycles, N, 1300, 100, "late stores");
    rig_free(rig);
    /* Never too early: without the squash of about 16 cycles, otherwise the same. */
    struct core_config config = defaults();
    config.speculate = false;
    rig = rig_new(NULL);
    o = run_late_stores(rig, &config, &careful);
    assert_int_equal(o->count.violations, 0);
    assert_in_range(cycles - careful, 10, 30);
    rig_free(rig);
}

/* The store's address comes from a load that misses: the violation is detected when that is complete, and everything
 * after is fetched again. */
static void order_behind_a_miss(void **state)
{
    (void)state;
    struct rig *rig = rig_new(NULL);
    uint64_t cycles;
    data_near(rig);
    rig_set(rig, 23, RIG_FAR);
    rig_store64(rig, RIG_FAR, NEAR);
    RIG_EMIT(rig, ld, .rd = 6, .rs1 = 23);
    RIG_EMIT(rig, sd, .rs1 = 6, .rs2 = 5);
    RIG_EMIT(rig, ld, .rd = 7, .rs1 = 22);
    RIG_EMIT(rig, add, .rd = 7, .rs1 = 7, .rs2 = 7);
    struct ooo *o = run_program(rig, NULL, &cycles);
    assert_int_equal(o->count.violations, 1);
    assert_int_equal(o->count.forwarded, 1);
    /* 14 cycles from the squash to the load's second issue. */
    assert_in_range(o->core.cpi[CPI_branch], 12, 18);
    rig_free(rig);
}

/* An AMO waits for the stores before it. */
static void atomics(struct rig *rig)
{
    for (unsigned i = 0; i < 5; i++)
        RIG_EMIT(rig, amoadd_d, .rd = 5, .rs1 = 22, .rs2 = 6);
}
static void serial(void **state)
{
    (void)state;
    /* As a CSR access (14, and 2 for the loop), but a hit takes 2 instead of 1. */
    expect(data_near, atomics, 7700, CPI_serialise, NULL, NULL, "atomics");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits),
        cmocka_unit_test(chains_of_misses),
        cmocka_unit_test(parallel_misses),
        cmocka_unit_test(store_misses),
        cmocka_unit_test(forwarding),
        cmocka_unit_test(forwarding_from_short_queues),
        cmocka_unit_test(order),
        cmocka_unit_test(order_behind_a_miss),
        cmocka_unit_test(serial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
