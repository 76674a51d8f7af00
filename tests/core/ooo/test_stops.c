/* The out-of-order core's serial instructions and stops: limits, breakpoints, waiting for interrupts, devices,
 * fast-forwarding. */
#include "emu/hart/probe.h"
#include "tests/core/ooo/test_ooo.h"

static void count_down(struct rig *rig, uint64_t iterations)
{
    rig_set(rig, 31, iterations);
    uint64_t top = rig->at;
    RIG_EMIT(rig, addi, .rd = 31, .rs1 = 31, .imm = -1);
    rig_branch(rig, INSN_bne, 31, 0, top);
}

static enum core_next raise_limit(struct rig *rig, enum hart_stop stop)
{
    if (stop != HART_STOP_LIMIT)
        return CORE_SLEEP;
    assert_int_equal(hart_progress(&rig->hart), rig->core->limit);
    rig->core->limit += 333;
    return CORE_CONTINUE;
}

/* The core stops after exactly that many instructions, however often. */
static void limits(void **state)
{
    (void)state;
    struct rig *rig = rig_new(NULL);
    uint64_t cycles;
    count_down(rig, 1000);
    rig->core = make(rig, NULL);
    rig->core->limit = 500;
    rig->served = raise_limit;
    (void)run_program(rig, NULL, &cycles);
    /* 13 to set a register, 2000, and the ECALL, which does not retire: 2011 in all; 500, 833, 1166, 1499,
     * 1832. */
    assert_int_equal(rig->hart.instret, 11 + 2000);
    assert_int_equal(rig->stop_count, 5 + 1);
    assert_int_equal(rig->stops[5], HART_STOP_TRAP);
    rig_free(rig);
}

static enum core_next go_on_from_break(struct rig *rig, enum hart_stop stop)
{
    (void)rig;
    return stop == HART_STOP_BREAK ? CORE_CONTINUE : CORE_SLEEP;
}

/* Every time that the breakpoint is reached, it is reported once, before its instruction. */
static void breakpoints(void **state)
{
    (void)state;
    struct rig *rig = rig_new(NULL);
    uint64_t cycles;
    count_down(rig, 4);
    rig->core = make(rig, NULL);
    assert_true(hart_breakpoint_add(&rig->hart, rig->at - 4));
    rig->served = go_on_from_break;
    (void)run_program(rig, NULL, &cycles);
    assert_int_equal(rig->stop_count, 4 + 1);
    assert_int_equal(rig->hart.instret, 11 + 8);
    rig_free(rig);
}

static void interrupt(void *owner, uint64_t now)
{
    struct rig *rig = owner;
    hart_set_interrupt(&rig->hart, 7, true);
    core_wake(rig->core, now);
}

static void nudge(void *owner, uint64_t now)
{
    core_wake(((struct rig *)owner)->core, now);
}

/* WFI sleeps, also through a wake-up without interrupt; time asleep is not counted as cycles. */
static void waits_for_interrupts(void **state)
{
    (void)state;
    struct rig_options options = rig_options_default();
    options.privileged = true;
    struct rig *rig = rig_new(&options);
    struct event events[2];
    RIG_EMIT(rig, addi, .rd = 5, .imm = 128);
    RIG_EMIT(rig, csrrs, .rd = 0, .rs1 = 5, .imm = 0x304);
    RIG_EMIT(rig, wfi, 0);
    RIG_EMIT(rig, csrrs, .rd = 6, .rs1 = 0, .imm = 0xb00); /* mcycle */
    RIG_EMIT(rig, addi, .rd = 7, .imm = 1);
    uint64_t end = rig->at;
    rig->core = make(rig, NULL);
    assert_true(hart_breakpoint_add(&rig->hart, end));
    event_init(&events[0], 20, nudge, rig);
    event_init(&events[1], 21, interrupt, rig);
    event_schedule(&rig->queue, &events[0], 3000 * RIG_CLOCK);
    event_schedule(&rig->queue, &events[1], 5000 * RIG_CLOCK);
    uint64_t cycles;
    (void)run_program(rig, NULL, &cycles);
    assert_int_equal(rig->hart.x[7], 1);
    assert_int_equal(rig->stops[0], HART_STOP_BREAK);
    /* Fetched and executed after the wake-up at 5000: 12 + 1 cycles later. */
    assert_in_range(rig->hart.x[6], 5000 + 10, 5000 + 16);
    assert_in_range(rig->core->idle_time, 4900 * RIG_CLOCK, 5000 * RIG_CLOCK);
    assert_in_range(cycles, 30, 100);
    rig_free(rig);
}

/* Warming takes a cycle an instruction and causes no cache events; afterwards the caches are warm. */
static void warms(void **state)
{
    (void)state;
    struct rig_options options = rig_options_default();
    options.cold = true;
    struct rig *rig = rig_new(&options);
    uint64_t cycles;
    rig_set(rig, 22, RIG_FAR);
    RIG_EMIT(rig, ld, .rd = 5, .rs1 = 22);
    RIG_EMIT(rig, sd, .rs1 = 22, .rs2 = 5, .imm = 64);
    count_down(rig, 500);
    rig->core = make(rig, NULL);
    core_set_warming(rig->core, true);
    struct ooo *o = run_program(rig, NULL, &cycles);
    assert_in_range(cycles, rig->hart.instret, rig->hart.instret + 2);
    assert_int_equal(rig->reads, 0);
    assert_int_equal(o->predictor.count.branches, 0);
    assert_int_equal(cache_line_state(rig->l1d, RIG_FAR), CACHE_EXCLUSIVE);
    assert_int_equal(cache_line_state(rig->l1d, RIG_FAR + 64), CACHE_MODIFIED);
    assert_int_equal(cache_line_state(rig->l1i, RIG_BASE), CACHE_EXCLUSIVE);
    /* Timed again: nothing misses except the line after the program, on a wrong path. */
    core_set_warming(rig->core, false);
    uint64_t instret = rig->hart.instret, again = rig_run(rig);
    assert_true(rig->hart.instret == 2 * instret);
    assert_true(rig->reads <= 1 && (rig->reads == 0 || rig->asked[0] >= rig->at));
    assert_true(again > 500 && again < 2000);
    rig_free(rig);
}

/* 32 loads from different pages, 16 times. With a TLB of 64 entries each page is walked once; with 4 entries every
 * access walks. Walks are serial, so their table reads add up. */
static uint64_t run_pages(uint32_t entries, uint64_t *serialise)
{
    struct rig_options options = rig_options_default();
    options.privileged = true;
    struct rig *rig = rig_new(&options);
    struct tlb_config config;
    uint64_t cycles;
    part_defaults(&tlb_kind, 0, &config);
    config.l1_entries = config.l1_ways = entries;
    config.l2_entries = config.l2_ways = 0;
    rig_set(rig, 31, 16);
    rig_set(rig, 20, RIG_BASE + 0x10000);
    rig_set(rig, 23, 4096);
    uint64_t top = rig->at;
    RIG_EMIT(rig, addi, .rd = 22, .rs1 = 20);
    RIG_EMIT(rig, addi, .rd = 30, .imm = 32);
    uint64_t inner = rig->at;
    RIG_EMIT(rig, ld, .rd = 5, .rs1 = 22);
    RIG_EMIT(rig, add, .rd = 22, .rs1 = 22, .rs2 = 23);
    RIG_EMIT(rig, addi, .rd = 30, .rs1 = 30, .imm = -1);
    rig_branch(rig, INSN_bne, 30, 0, inner);
    RIG_EMIT(rig, addi, .rd = 31, .rs1 = 31, .imm = -1);
    rig_branch(rig, INSN_bne, 31, 0, top);
    rig_map(rig);
    struct core_parts parts = rig_parts(rig);
    struct core_config core = defaults();
    struct error err;
    assert_true(part_check(&tlb_kind, &config, &err));
    parts.tlb = tlb_new(&config, &rig->hart, &rig->queue, &rig->clock, 4, 0, rig->l1d);
    rig->core = ooo_new(&core, &parts, &err);
    assert_true(hart_breakpoint_add(&rig->hart, rig->at));
    struct ooo *o = run_program(rig, NULL, &cycles);
    assert_int_equal(rig->hart.x[31], 0);
    assert_int_equal(o->count.instructions, rig->hart.instret);
    *serialise = o->core.cpi[CPI_serialise];
    tlb_free(parts.tlb);
    rig_free(rig);
    return cycles;
}

static void walks_take_time(void **state)
{
    (void)state;
    uint64_t serialise;
    uint64_t few = run_pages(4, &serialise), many = run_pages(64, &serialise);
    /* 15 * 32 more walks, one at a time, each with at least one read of 2 cycles, of which one may be hidden. */
    assert_true(few > many + 15 * 32);
    /* Misses of the tables' lines: two upper ones, and 4 lines with 8 entries each for the 32 pages. */
    assert_true(serialise > (2 + 4) * FAR_MISS - 100);
}

/* Loads from 8 pages, before and after a fence of translations with that address in x25; rs1: 25, or 0 for all. Returns the
 * cycles. */
static uint64_t run_fence(uint8_t rs1, uint64_t address)
{
    struct rig_options options = rig_options_default();
    options.privileged = true;
    struct rig *rig = rig_new(&options);
    struct core_config core = defaults();
    struct tlb_config config;
    struct error err;
    uint64_t cycles;
    part_defaults(&tlb_kind, 0, &config);
    assert_true(part_check(&tlb_kind, &config, &err));
    rig_set(rig, 20, RIG_BASE + 0x10100); /* other sets of the cache than the tables */
    rig_set(rig, 23, 4096 + 64);
    rig_set(rig, 25, address);
    for (unsigned round = 0; round < 2; round++) {
        RIG_EMIT(rig, addi, .rd = 22, .rs1 = 20);
        for (unsigned i = 0; i < 8; i++) {
            RIG_EMIT(rig, ld, .rd = 5, .rs1 = 22);
            RIG_EMIT(rig, add, .rd = 22, .rs1 = 22, .rs2 = 23);
            RIG_EMIT(rig, add, .rd = 22, .rs1 = 22, .rs2 = 5); /* 0 */
        }
        if (round == 0)
            RIG_EMIT(rig, sfence_vma, .rs1 = rs1);
    }
    rig_map(rig);
    struct core_parts parts = rig_parts(rig);
    parts.tlb = tlb_new(&config, &rig->hart, &rig->queue, &rig->clock, 4, 0, rig->l1d);
    rig->core = ooo_new(&core, &parts, &err);
    assert_true(hart_breakpoint_add(&rig->hart, rig->at));
    (void)run_program(rig, NULL, &cycles);
    tlb_free(parts.tlb);
    rig_free(rig);
    return cycles;
}

/* SFENCE.VMA of a page makes only this page walk again. A walk reads three entries, 2 cycles each, one after the other. */
static void fences_name_pages(void **state)
{
    (void)state;
    uint64_t other = run_fence(25, RIG_BASE + 0x40000), one = run_fence(25, RIG_BASE + 0x17000);
    uint64_t all = run_fence(0, 0);
    assert_in_range(one, other + 6, other + 12);
    assert_true(all > one + 7 * 6);
}

/* Errors name the bad field. */
/* An observer that removes itself at the 5th instruction, in the middle of a batch. */
static void until_fifth(void *context, const struct core *core, const struct core_note *note)
{
    struct rig *rig = context;
    assert_ptr_equal(core, rig->core);
    assert_int_equal(note->pc, RIG_BASE + 4 * rig->notes);
    if (++rig->notes == 5)
        core_unobserve(rig->core, &rig->observer);
}

static void observers_may_leave(void **state)
{
    (void)state;
    struct rig *rig = rig_new(NULL);
    uint64_t cycles;
    for (unsigned i = 0; i < 40; i++)
        RIG_EMIT(rig, addi, .rd = 5, .rs1 = 5, .imm = 1);
    rig->core = make(rig, NULL);
    rig->observer = (struct core_observer){.retired = until_fifth, .context = rig};
    core_observe(rig->core, &rig->observer);
    (void)run_program(rig, NULL, &cycles);
    assert_int_equal(rig->notes, 5);
    assert_int_equal(rig->hart.x[5], 40);
    rig_free(rig);
}

static void config_errors(void **state)
{
    (void)state;
    struct core_config config = defaults();
    struct error err;
    assert_true(part_check(&core_kind, &config, &err));
    config.rob = 8;
    assert_false(part_check(&core_kind, &config, &err));
    assert_string_equal(err.text, "rob: '8' is not allowed; allowed: 16 to 512");
    config = defaults();
    config.fetch_bytes = 24;
    assert_false(part_check(&core_kind, &config, &err));
    assert_string_equal(err.text, "fetch_bytes: '24' is not allowed; allowed: 4 to 64, a power of two");
    config = defaults();
    config.iq = 200;
    assert_false(part_check(&core_kind, &config, &err));
    assert_string_equal(err.text, "iq: 200 is not allowed: at most rob (128)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(breakpoints),
        cmocka_unit_test(waits_for_interrupts),
        cmocka_unit_test(warms),
        cmocka_unit_test(config_errors),
        cmocka_unit_test(walks_take_time),
        cmocka_unit_test(observers_may_leave),
        cmocka_unit_test(fences_name_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
