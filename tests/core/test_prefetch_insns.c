/* prefetch.r, prefetch.w and prefetch.i on both kinds of cores, in programs whose cost is worked out by hand. */
#include "emu/core/inorder.h"
#include "emu/core/ooo.h"
#include "emu/hart/probe.h"
#include "emu/sim/report/stats.h"
#include "tests/core/rig.h"
#include "tests/sim/value.h"

enum {
    N = 1000,  /* iterations */
    WORK = 20, /* clocks of work on each line */
    AHEAD = 8, /* lines by which the prefetch is ahead */
    LINES = 2 * N + AHEAD,
    FAR_MISS = 2 + RIG_FAR_CLOCKS, /* hit time of the first level, and the rig's answer */
};

typedef struct core *maker(struct rig *rig, const void *context);

static struct core *make(struct rig *rig, enum core_model model)
{
    struct core_config config;
    struct core_parts parts = rig_parts(rig);
    struct error err;
    core_config_default(&config, model);
    if (!part_check(&core_kind, &config, &err))
        fail_msg("%s", err.text);
    struct core *core =
        model == CORE_OOO ? ooo_new(&config, &parts, &err) : inorder_new(&config, &parts, &err);
    assert_non_null(core);
    return core;
}

static struct core *make_inorder(struct rig *rig, const void *context)
{
    (void)context;
    return make(rig, CORE_INORDER);
}

static struct core *make_ooo(struct rig *rig, const void *context)
{
    (void)context;
    return make(rig, CORE_OOO);
}

static maker *const makers[] = {make_inorder, make_ooo};

/* A list of lines; register 22 is at its head, 23 further on. */
static void list(struct rig *rig)
{
    rig_set(rig, 22, RIG_FAR);
    rig_set(rig, 23, RIG_FAR + 64 * AHEAD);
    for (uint64_t i = 0; i < LINES; i++)
        rig_store64(rig, RIG_FAR + 64 * i, RIG_FAR + 64 * (i + 1));
}

/* Work that depends on the line, and on which the next one depends. */
static void walk(struct rig *rig)
{
    RIG_EMIT(rig, addi, .rd = 23, .rs1 = 23, .imm = 64);
    RIG_EMIT(rig, ld, .rd = 22, .rs1 = 22);
    for (unsigned i = 0; i < WORK; i++)
        RIG_EMIT(rig, add, .rd = 22, .rs1 = 22, .rs2 = 0);
}

static void prefetch_and_walk(struct rig *rig)
{
    RIG_EMIT(rig, prefetch_r, .rs1 = 23);
    walk(rig);
}

/* Each iteration takes the line's latency and the work on it. AHEAD lines take AHEAD * 22 clocks, longer than a line needs,
 * so that only the hit remains of the latency. */
static void latency_is_hidden(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct rig_loop loop = {.setup = list, .body = walk, .make = makers[i], .iterations = N};
        uint64_t causes[CPI_CAUSES];
        rig_check(rig_loop(&loop, causes), N, 100 * (FAR_MISS + WORK), 200, "without prefetches");
        loop.body = prefetch_and_walk;
        rig_check(rig_loop(&loop, causes), N, 100 * (2 + WORK), 200, "with prefetches");
        assert_in_range(causes[CPI_memory], 0, N / 100);
    }
}

static uint64_t statistic(struct rig *rig, const char *name)
{
    struct stats *stats = stats_new();
    core_publish(rig->core, stats, scope_enter(NULL, "core"));
    cache_publish(rig->l1i, stats, scope_enter(NULL, "l1i"));
    cache_publish(rig->l1d, stats, scope_enter(NULL, "l1d"));
    if (rig->tlb)
        tlb_publish(rig->tlb, stats, scope_enter(NULL, "tlb"));
    uint64_t value = stats_value(stats, name);
    stats_free(stats);
    return value;
}

/* Runs the list with prefetches: all lines but the first ones come by a prefetch, in time. */
static void lines_arrive(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct rig *rig = rig_new(NULL);
        list(rig);
        rig_set(rig, 31, N);
        uint64_t top = rig->at;
        prefetch_and_walk(rig);
        RIG_EMIT(rig, addi, .rd = 31, .rs1 = 31, .imm = -1);
        rig_branch(rig, INSN_bne, 31, 0, top);
        RIG_EMIT(rig, ecall, 0);
        rig->core = makers[i](rig, NULL);
        (void)rig_run(rig);
        assert_int_equal(statistic(rig, "core.prefetch_insns"), N);
        assert_int_equal(statistic(rig, "l1d.prefetches_software"), N);
        assert_int_equal(statistic(rig, "l1d.prefetches"), N);
        assert_int_equal(statistic(rig, "l1d.prefetches_useful"), N - AHEAD);
        assert_int_equal(statistic(rig, "l1d.prefetches_late"), 0);
        assert_int_equal(statistic(rig, "l1d.misses"), AHEAD);
        rig_free(rig);
    }
}

/* Addresses that no load may access: below and above memory, and at both ends of the address space. */
static void no_memory(struct rig *rig)
{
    rig_set(rig, 24, RIG_BASE - 64);
    rig_set(rig, 25, RIG_BASE + RIG_SIZE + 2048);
    rig_set(rig, 26, UINT64_MAX);
}

static void bad_prefetches(struct rig *rig)
{
    for (unsigned i = 0; i < 4; i++) {
        const uint8_t base = (uint8_t)(i ? 23 + i : 0);
        RIG_EMIT(rig, prefetch_r, .rs1 = base);
        RIG_EMIT(rig, prefetch_w, .rs1 = base, .imm = 32);
        RIG_EMIT(rig, prefetch_i, .rs1 = base, .imm = -2048);
    }
}

/* They take an issue slot of the pipe of loads, and do nothing else. */
static void faulting_addresses_do_nothing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct rig_loop loop = {
            .setup = no_memory, .body = bad_prefetches, .make = makers[i], .iterations = N};
        uint64_t causes[CPI_CAUSES];
        rig_check(rig_loop(&loop, causes), N, 1200, 200, "prefetches of no memory");
        struct rig *rig = rig_new(NULL);
        no_memory(rig);
        bad_prefetches(rig);
        RIG_EMIT(rig, ecall, 0);
        rig->core = makers[i](rig, NULL);
        (void)rig_run(rig);
        assert_int_equal(rig->stops[0], HART_STOP_TRAP); /* the ecall */
        assert_int_equal(rig->hart.trap.cause, TRAP_ECALL_USER);
        assert_int_equal(statistic(rig, "core.prefetch_insns"), 12);
        assert_int_equal(statistic(rig, "core.prefetch_faults"), 12);
        assert_int_equal(rig->reads, 0);
        rig_free(rig);
    }
}

/* A line of code goes to the instruction cache only, and is a hit there. */
static void code(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct rig *rig = rig_new(NULL);
        rig_set(rig, 24, RIG_FAR + 0x1000);
        RIG_EMIT(rig, prefetch_i, .rs1 = 24, .imm = 64);
        RIG_EMIT(rig, ecall, 0);
        rig->core = makers[i](rig, NULL);
        (void)rig_run(rig);
        assert_int_equal(cache_line_state(rig->l1i, RIG_FAR + 0x1040), CACHE_EXCLUSIVE);
        assert_int_equal(cache_line_state(rig->l1d, RIG_FAR + 0x1040), CACHE_INVALID);
        assert_int_equal(statistic(rig, "l1i.prefetches_software"), 1);
        rig_free(rig);
    }
}

/* Twelve lines at once, for 8 MSHRs: four are dropped at once, and the core does not wait. */
static void full_cache_drops(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct rig *rig = rig_new(NULL);
        rig_set(rig, 24, RIG_FAR);
        for (int32_t line = 0; line < 12; line++)
            RIG_EMIT(rig, prefetch_w, .rs1 = 24, .imm = 64 * line);
        RIG_EMIT(rig, ecall, 0);
        rig->core = makers[i](rig, NULL);
        assert_in_range(rig_run(rig), 12, 60);
        assert_int_equal(statistic(rig, "l1d.prefetches"), 8);
        assert_int_equal(statistic(rig, "l1d.prefetches_dropped"), 4);
        assert_int_equal(cache_line_state(rig->l1d, RIG_FAR + 7 * 64), CACHE_EXCLUSIVE);
        assert_int_equal(cache_line_state(rig->l1d, RIG_FAR + 8 * 64), CACHE_INVALID);
        rig_free(rig);
    }
}

enum { PTE_V = 1, PTE_R = 2, PTE_X = 8, PTE_A = 64 };

/* Sets the bits of the page-table entry of a page, which rig_map() has mapped. */
static uint64_t set_page(struct rig *rig, uint64_t address, uint64_t bits)
{
    const uint64_t at = RIG_BASE + RIG_SIZE - 0x1000 + (address - RIG_BASE) / 4096 * 8;
    rig_store64(rig, at, address >> 12 << 10 | bits);
    return at;
}

/* In supervisor mode: a page that is not in the TLB is walked to; A is neither needed nor set; a page without permission, or
 * that is absent, does nothing, and is not looked up. */
static void translated_addresses(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct rig_options options = rig_options_default();
        options.privileged = true;
        struct rig *rig = rig_new(&options);
        struct tlb_config config;
        part_defaults(&tlb_kind, 0, &config);
        rig_set(rig, 24, RIG_FAR);
        rig_set(rig, 25, RIG_FAR + 0x4000);
        RIG_EMIT(rig, prefetch_r, .rs1 = 24);
        RIG_EMIT(rig, prefetch_r, .rs1 = 25, .imm = -2048);
        RIG_EMIT(rig, addi, .rd = 24, .rs1 = 24, .imm = 2047);
        RIG_EMIT(rig, addi, .rd = 24, .rs1 = 24, .imm = 2047);
        RIG_EMIT(rig, prefetch_w, .rs1 = 24, .imm = 32);
        uint64_t end = rig->at;
        RIG_EMIT(rig, addi, .rd = 0, .rs1 = 0);
        rig_map(rig);
        (void)set_page(rig, RIG_FAR, PTE_V | PTE_X);          /* only fetches, and A is not set */
        (void)set_page(rig, RIG_FAR + 0x1000, PTE_V | PTE_A); /* a table in the last level: a page fault */
        (void)set_page(rig, RIG_FAR + 0x3000, PTE_R | PTE_A); /* not valid */
        rig->tlb = tlb_new(&config, &rig->hart, &rig->queue, &rig->clock, 4, 0, rig->l1d);
        rig->core = makers[i](rig, NULL);
        assert_true(hart_breakpoint_add(&rig->hart, end));
        (void)rig_run(rig);
        assert_int_equal(rig->hart.pc, end);
        assert_int_equal(statistic(rig, "core.prefetch_insns"), 3);
        assert_int_equal(statistic(rig, "core.prefetch_faults"), 2);
        assert_int_equal(statistic(rig, "tlb.l1d.misses"), 1);
        assert_int_equal(cache_line_state(rig->l1d, RIG_FAR), CACHE_EXCLUSIVE);
        uint64_t pte;
        memcpy(&pte, rig->memory.bytes + RIG_SIZE - 0x1000 + 0x80 * 8, sizeof pte);
        assert_int_equal(pte, RIG_FAR >> 12 << 10 | PTE_V | PTE_X);
        rig_free(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_is_hidden),
        cmocka_unit_test(lines_arrive),
        cmocka_unit_test(faulting_addresses_do_nothing),
        cmocka_unit_test(code),
        cmocka_unit_test(full_cache_drops),
        cmocka_unit_test(translated_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
