/* The in-order core's serial instructions, stops, sleep and warming. */
#include <stdio.h>

#include "emu/core/inorder.h"
#include "emu/hart/probe.h"
#include "tests/core/rig.h"

enum { N = 500, CSR_CYCLE = 0xc00, CSR_MCYCLE = 0xb00, HIT = 2 };

static struct core *make(struct rig *rig, const void *context)
{
    struct core_config config;
    struct core_parts parts = rig_parts(rig);
    struct error err;
    (void)context;
    core_config_default(&config, CORE_INORDER);
    struct core *core = inorder_new(&config, &parts, &err);
    assert_non_null(core);
    return core;
}

static struct rig *machine(bool privileged)
{
    struct rig_options options = rig_options_default();
    options.privileged = privileged;
    struct rig *rig = rig_new(&options);
    rig->core = make(rig, NULL);
    return rig;
}

static void read_cycle(struct rig *rig, uint8_t rd)
{
    RIG_EMIT(rig, csrrs, .rd = rd, .imm = CSR_MCYCLE);
}

/* Each counter read takes 1 cycle alone; between the second and third, the core waits for 8 dependent multiplies of 3
 * cycles. */
static void counters_read_the_clock(void **state)
{
    (void)state;
    struct rig *rig = machine(true);
    read_cycle(rig, 5);
    read_cycle(rig, 6);
    for (unsigned i = 0; i < 8; i++)
        RIG_EMIT(rig, mul, .rd = 8, .rs1 = 8, .rs2 = 8);
    read_cycle(rig, 7);
    rig->core->limit = 11;
    (void)rig_run(rig);
    assert_int_equal(rig->hart.x[6] - rig->hart.x[5], 1);
    assert_int_equal(rig->hart.x[7] - rig->hart.x[6], 1 + 24);
    /* The first is fetched at 0 and issues 2 + 6 cycles later. */
    assert_int_equal(rig->hart.x[5], 8);
    assert_int_equal(rig->stops[0], HART_STOP_LIMIT);
    rig_free(rig);
}

static uint64_t run_tail(enum insn_id id, struct operands operands)
{
    struct rig *rig = machine(true);
    rig_set(rig, 20, RIG_FAR);
    RIG_EMIT(rig, sd, .rs1 = 20, .rs2 = 5, .imm = 64);
    read_cycle(rig, 5);
    rig_emit(rig, id, operands);
    read_cycle(rig, 6);
    rig->core->limit = 1 + 11 + 3;
    (void)rig_run(rig);
    uint64_t cycles = rig->hart.x[6] - rig->hart.x[5];
    rig_free(rig);
    return cycles;
}

/* The store misses and completes 1 + 102 cycles after its issue. The counter is read in the next cycle, without waiting
 * for it. A FENCE in the cycle after that waits, and takes 1 cycle; then an AMO itself misses for 102. */
static void fences_and_atomics_wait_for_stores(void **state)
{
    (void)state;
    assert_int_equal(run_tail(INSN_addi, (struct operands){.rd = 7}), 2);
    assert_int_equal(run_tail(INSN_fence, (struct operands){.imm = 0xff}), 102 + 1);
    assert_int_equal(run_tail(INSN_amoadd_d, (struct operands){.rd = 7, .rs1 = 20}), 102 + 102);
    assert_int_equal(run_tail(INSN_lr_d, (struct operands){.rd = 7, .rs1 = 20}), 102 + 102);
}

static void atomics(struct rig *rig)
{
    for (unsigned i = 0; i < 4; i++)
        RIG_EMIT(rig, amoadd_d, .rd = 5, .rs1 = 20, .rs2 = 6);
}

static void data_register(struct rig *rig)
{
    rig_set(rig, 20, RIG_BASE + 0x8000);
    rig_warm(rig, RIG_BASE + 0x8000, 64, true);
}

/* 4 that hit in 2 cycles, and the loop's pair. */
static void atomics_that_hit(void **state)
{
    (void)state;
    struct rig_loop loop = {.setup = data_register, .body = atomics, .make = make, .iterations = N};
    uint64_t causes[CPI_CAUSES];
    rig_check(rig_loop(&loop, causes), N, 900, 100, "atomics");
    rig_check(causes[CPI_serialise], N, 800, 100, "their blame");
}

static uint64_t device_read(void *device, uint64_t offset, unsigned size)
{
    const struct rig *rig = *(struct rig **)device;
    (void)offset;
    (void)size;
    return rig->queue.now / RIG_CLOCK;
}

static void device_write(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    (void)device;
    (void)offset;
    (void)size;
    (void)value;
}

/* A device that returns the time: the access happens when the core reaches it, and takes mmio_clocks. */
static void devices_are_accessed_in_time(void **state)
{
    (void)state;
    static const struct device_ops ops = {.read = device_read, .write = device_write};
    struct error err;
    struct phys place = {.base = RIG_BASE, .size = RIG_SIZE};
    struct rig_options options = rig_options_default();
    struct rig *rig = NULL;
    struct bus bus;
    bus_init(&bus, &place);
    options.privileged = true;
    options.bus = &bus;
    rig = rig_new(&options);
    const struct bus_region region = {
        .base = 0x1000, .size = 0x1000, .sizes = BUS_ANY, .ops = &ops, .device = &rig, .name = "clock"};
    assert_true(bus_add(&bus, &region, &err));
    rig->core = make(rig, NULL);
    RIG_EMIT(rig, lui, .rd = 20, .imm = 0x1000);
    read_cycle(rig, 5);
    RIG_EMIT(rig, ld, .rd = 6, .rs1 = 20);
    RIG_EMIT(rig, ld, .rd = 7, .rs1 = 20);
    read_cycle(rig, 8);
    rig->core->limit = 5;
    (void)rig_run(rig);
    assert_int_equal(rig->hart.x[6], rig->hart.x[5] + 1);
    assert_int_equal(rig->hart.x[7], rig->hart.x[6] + 50);
    assert_int_equal(rig->hart.x[8], rig->hart.x[7] + 50);
    rig_free(rig);
    bus_free(&bus);
}

static enum core_next further(struct rig *rig, enum hart_stop stop)
{
    (void)stop;
    if (rig->stop_count == 3)
        return CORE_SLEEP;
    rig->core->limit += 10;
    return CORE_CONTINUE;
}

/* The core stops exactly at limits of 7, 17 and 27 instructions, in the middle of batches. */
static void limits_are_exact(void **state)
{
    (void)state;
    struct rig *rig = machine(false);
    for (unsigned i = 0; i < 60; i++)
        RIG_EMIT(rig, addi, .rd = 5, .rs1 = 5, .imm = 1);
    rig->core->limit = 7;
    rig->served = further;
    (void)rig_run(rig);
    assert_int_equal(rig->stop_count, 3);
    assert_int_equal(rig->stops[2], HART_STOP_LIMIT);
    assert_int_equal(hart_progress(&rig->hart), 27);
    assert_int_equal(rig->hart.x[5], 27);
    rig_free(rig);
}

struct alarm {
    struct event event;
    struct rig *rig;
    bool interrupt;
};

static void ring(void *owner, uint64_t now)
{
    struct alarm *alarm = owner;
    if (alarm->interrupt)
        hart_set_interrupt(&alarm->rig->hart, IRQ_MTI, true);
    core_wake(alarm->rig->core, now);
}

/* WFI sleeps until an enabled interrupt is pending: the wake-up at 500 brings none, the one at 1000 does. Cycles asleep
 * do not count. The core continues after WFI, because mstatus.MIE is clear. */
static void wfi_sleeps(void **state)
{
    (void)state;
    struct rig *rig = machine(true);
    struct alarm alarms[2] = {{.rig = rig}, {.rig = rig, .interrupt = true}};
    for (unsigned i = 0; i < 2; i++) {
        event_init(&alarms[i].event, 20, ring, &alarms[i]);
        event_schedule(&rig->queue, &alarms[i].event, (500 * i + 500) * RIG_CLOCK);
    }
    rig->hart.priv.mie = IRQ_BIT(IRQ_MTI);
    RIG_EMIT(rig, wfi, 0);
    read_cycle(rig, 5);
    rig->core->limit = 2;
    uint64_t cycles = rig_run(rig);
    /* 8 cycles of fetch, WFI takes 1 and sleeps from 9 to 1000; 8 to fetch again, 1. */
    assert_int_equal(cycles, 9 + 9);
    assert_int_equal(rig->core->idle_time, (1000 - 9) * RIG_CLOCK);
    assert_int_equal(rig->stop_count, 1);
    rig_free(rig);
}

static enum core_next pass(struct rig *rig, enum hart_stop stop)
{
    (void)rig;
    return stop == HART_STOP_BREAK ? CORE_CONTINUE : CORE_SLEEP;
}

/* Traps, breakpoints and markers reach the server in this order; a reported breakpoint is then passed. */
static void stops_are_served(void **state)
{
    (void)state;
    struct rig *rig = machine(false);
    RIG_EMIT(rig, addi, .rd = 5, .rs1 = 5, .imm = 1);
    RIG_EMIT(rig, addi, .rd = 5, .rs1 = 5, .imm = 1);
    RIG_EMIT(rig, ecall, 0);
    assert_true(hart_breakpoint_add(&rig->hart, RIG_BASE + 4));
    rig->served = pass;
    (void)rig_run(rig);
    assert_int_equal(rig->stop_count, 2);
    assert_int_equal(rig->stops[0], HART_STOP_BREAK);
    assert_int_equal(rig->stops[1], HART_STOP_TRAP);
    assert_int_equal(rig->hart.x[5], 2);
    assert_int_equal(rig->hart.trap.cause, TRAP_ECALL_USER);
    rig_free(rig);
}

/* A privileged hart takes its trap itself; the handler is fetched again. */
static void traps_redirect_fetch(void **state)
{
    (void)state;
    struct rig *rig = machine(true);
    read_cycle(rig, 5);
    RIG_EMIT(rig, ecall, 0);
    rig->at = RIG_BASE + 256;
    read_cycle(rig, 6);
    rig->hart.priv.mtvec = RIG_BASE + 256;
    rig->core->limit = 3;
    (void)rig_run(rig);
    /* The counter's cycle, the trap's, and 8 for the handler. */
    assert_int_equal(rig->hart.x[6] - rig->hart.x[5], 1 + 1 + 8);
    rig_free(rig);
}

/* FENCE.I empties the instruction cache; CBO.FLUSH writes the line back. */
static void cache_maintenance(void **state)
{
    (void)state;
    struct rig *rig = machine(true);
    rig_set(rig, 20, RIG_BASE + 0x8000);
    rig_warm(rig, RIG_BASE + 0x8000, 128, true);
    RIG_EMIT(rig, cbo_flush, .rs1 = 20);
    RIG_EMIT(rig, fence_i, 0);
    rig->core->limit = 11 + 2;
    rig->hart.priv.menvcfg = ENVCFG_CBCFE | ENVCFG_CBIE;
    (void)rig_run(rig);
    assert_int_equal(rig->writes, 1);
    assert_int_equal(rig->maintained, 1);
    assert_int_equal(cache_line_state(rig->l1d, RIG_BASE + 0x8000), CACHE_INVALID);
    assert_int_equal(cache_line_state(rig->l1d, RIG_BASE + 0x8040), CACHE_MODIFIED);
    assert_int_equal(cache_line_state(rig->l1i, RIG_BASE), CACHE_INVALID);
    assert_true(rig->core->cpi[CPI_serialise] >= RIG_NEAR_CLOCKS);
    rig_free(rig);
}

static enum core_next end_warming(struct rig *rig, enum hart_stop stop)
{
    if (stop != HART_STOP_LIMIT)
        return CORE_SLEEP;
    assert_int_equal(rig->core->cycles, rig->hart.instret);
    assert_int_equal(rig->core->cpi[CPI_base], rig->hart.instret);
    assert_int_equal(rig->reads, 0);
    core_set_warming(rig->core, false);
    rig->core->limit = UINT64_MAX;
    return CORE_CONTINUE;
}

/* A loop over 8 lines: 100 rounds without time, then 100 timed ones, which miss nothing and mispredict only the last
 * branch. */
static void warming_fills_caches_and_predictor(void **state)
{
    (void)state;
    struct rig_options options = rig_options_default();
    options.cold = true;
    struct rig *rig = rig_new(&options);
    rig->core = make(rig, NULL);
    rig_set(rig, 20, RIG_FAR);
    RIG_EMIT(rig, addi, .rd = 31, .imm = 200);
    uint64_t top = rig->at, before = (top - RIG_BASE) / 4;
    for (unsigned i = 0; i < 8; i++)
        RIG_EMIT(rig, ld, .rd = 5, .rs1 = 20, .imm = (int32_t)(64 * i));
    RIG_EMIT(rig, addi, .rd = 31, .rs1 = 31, .imm = -1);
    rig_branch(rig, INSN_bne, 31, 0, top);
    RIG_EMIT(rig, ecall, 0);
    core_set_warming(rig->core, true);
    rig->core->limit = before + 100 * 10;
    rig->served = end_warming;
    (void)rig_run(rig);
    /* The last branch's wrong path may have fetched code. */
    assert_true(rig->reads == 0 || (rig->reads == 1 && rig->asked[0] < RIG_FAR));
    assert_int_equal(rig->core->cpi[CPI_memory] + rig->core->cpi[CPI_l2], 0);
    assert_in_range(rig->core->cpi[CPI_branch], 1, 8);
    rig_free(rig);
}

/* Supervisor mode with a gigabyte page: the first fetch and the first load each walk, with one table access, of which
 * the first one misses. */
static void page_walks_take_time(void **state)
{
    (void)state;
    struct rig_options options = rig_options_default();
    options.privileged = true;
    struct rig *rig = rig_new(&options);
    struct tlb_config config;
    part_defaults(&tlb_kind, 0, &config);
    rig->tlb = tlb_new(&config, &rig->hart, &rig->queue, &rig->clock, 5, 0, rig->l1d);
    rig->core = make(rig, NULL);
    /* Entry 2 of the table at RIG_BASE + 0x10000: a leaf for 0x80000000, DAXWRV. */
    rig_store64(rig, RIG_BASE + 0x10000 + 2 * 8, RIG_BASE >> 12 << 10 | 0xcf);
    rig_set(rig, 20, RIG_BASE + 0x8000);
    RIG_EMIT(rig, ld, .rd = 5, .rs1 = 20);
    RIG_EMIT(rig, addi, .rd = 5, .rs1 = 5, .imm = 1);
    rig->hart.priv.satp = (uint64_t)SATP_SV39 << SATP_MODE_SHIFT | (RIG_BASE + 0x10000) >> 12;
    rig->hart.priv.mstatus |= MSTATUS_SUM;
    rig->hart.privilege = PRIV_S;
    rig->hart.priv.pmpaddr[0] = UINT64_MAX >> 10;
    rig->hart.priv.pmpcfg[0] = PMP_R | PMP_W | PMP_X | PMP_NAPOT;
    priv_changed(&rig->hart);
    rig->core->limit = 11 + 2;
    (void)rig_run(rig);
    assert_int_equal(rig->stops[0], HART_STOP_LIMIT);
    assert_int_equal(hart_progress(&rig->hart), 13);
    assert_int_equal(rig->hart.traps, 0);
    assert_in_range(rig->core->cpi[CPI_serialise], 22, 60);
    assert_int_equal(rig->reads, 2); /* the table, the data */
    assert_in_range(rig->core->cpi[CPI_l2], 20, 22);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_read_the_clock), cmocka_unit_test(fences_and_atomics_wait_for_stores),
        cmocka_unit_test(atomics_that_hit),        cmocka_unit_test(devices_are_accessed_in_time),
        cmocka_unit_test(limits_are_exact),        cmocka_unit_test(wfi_sleeps),
        cmocka_unit_test(stops_are_served),        cmocka_unit_test(traps_redirect_fetch),
        cmocka_unit_test(cache_maintenance),       cmocka_unit_test(warming_fills_caches_and_predictor),
        cmocka_unit_test(page_walks_take_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
