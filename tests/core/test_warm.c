/* Warming before a region of interest, for both kinds of cores: afterwards everything is warm, and it took no time. */
#include <stdio.h>

#include "emu/core/inorder.h"
#include "emu/core/ooo.h"
#include "tests/core/rig.h"
#include "tests/sim/value.h"

enum { PAGE = 4096, KINDS = 2 };

static struct core *make(struct rig *rig, unsigned kind)
{
    struct core_parts parts = rig_parts(rig);
    struct core_config inorder;
    struct core_config ooo;
    struct error err;
    core_config_default(&inorder, CORE_INORDER);
    core_config_default(&ooo, CORE_OOO);
    struct core *core = kind == 0 ? inorder_new(&inorder, &parts, &err) : ooo_new(&ooo, &parts, &err);
    assert_non_null(core);
    core_set_warming(core, true);
    return core;
}

/* Supervisor mode, main memory identity-mapped by pages of 4 KiB, with the tables at the far end. */
static void map_memory(struct rig *rig)
{
    const uint64_t tables = RIG_BASE + RIG_SIZE - 0x3000, leaf = 0xcf; /* D A X W R V */
    rig_store64(rig, tables + 8 * 2, (tables + 0x1000) >> 12 << 10 | 1);
    rig_store64(rig, tables + 0x1000, (tables + 0x2000) >> 12 << 10 | 1);
    for (uint64_t page = 0; page < RIG_SIZE / PAGE; page++)
        rig_store64(rig, tables + 0x2000 + 8 * page, (RIG_BASE / PAGE + page) << 10 | leaf);
    rig->hart.priv.pmpcfg[0] = PMP_R | PMP_W | PMP_X | PMP_NAPOT;
    rig->hart.priv.pmpaddr[0] = UINT64_MAX >> 10;
    rig->hart.privilege = PRIV_S;
    rig->hart.priv.satp = (uint64_t)SATP_SV39 << SATP_MODE_SHIFT | tables >> 12;
    rig->hart.priv.mstatus |= MSTATUS_SUM;
    priv_changed(&rig->hart);
}

static uint64_t counter(struct rig *rig, const char *name)
{
    struct stats *stats = stats_new();
    tlb_publish(rig->tlb, stats, scope_enter(NULL, "tlb"));
    uint64_t value = stats_value(stats, name);
    stats_free(stats);
    return value;
}

static enum core_next begin_region(struct rig *rig, enum hart_stop stop)
{
    assert_int_equal(stop, HART_STOP_LIMIT);
    if (rig->stop_count > 1)
        return CORE_SLEEP;
    assert_int_equal(rig->core->cycles, rig->hart.instret);
    assert_int_equal(rig->reads + rig->writes + rig->maintained, 0);
    core_set_warming(rig->core, false);
    rig->core->limit *= 2;
    return CORE_CONTINUE;
}

/* A round of a loop: a load from one page, one that crosses into the next page, an atomic on a third one. The jumps
 * between two pages of code cross a line with their second halves. */
static unsigned emit_round(struct rig *rig, uint64_t top)
{
    uint64_t other = RIG_BASE + 2 * PAGE - 4;
    rig->at = top;
    RIG_EMIT(rig, ld, .rd = 5, .rs1 = 20);
    RIG_EMIT(rig, ld, .rd = 6, .rs1 = 21, .imm = -4);
    RIG_EMIT(rig, amoadd_d, .rd = 7, .rs1 = 22);
    rig_jump(rig, 0, other);
    rig->at = other;
    RIG_EMIT(rig, addi, .rd = 8, .rs1 = 8, .imm = 1);
    rig_jump(rig, 0, top); /* on the next page */
    return 6;
}

/* The same round again, timed: no page is walked for, no line is missed. */
static void pages_are_warm(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct rig_options options = rig_options_default();
        struct tlb_config config;
        options.privileged = options.cold = true;
        struct rig *rig = rig_new(&options);
        part_defaults(&tlb_kind, 0, &config);
        rig->tlb = tlb_new(&config, &rig->hart, &rig->queue, &rig->clock, 5, 0, rig->l1d);
        rig->core = make(rig, kind);
        unsigned round = emit_round(rig, RIG_BASE);
        rig->hart.x[20] = RIG_BASE + 0x8000;
        rig->hart.x[21] = RIG_BASE + 0xb000;
        rig->hart.x[22] = RIG_BASE + 0xd000;
        map_memory(rig);
        rig->core->limit = round;
        rig->served = begin_region;
        uint64_t cycles = rig_run(rig);
        assert_int_equal(rig->stop_count, 2);
        assert_int_equal(rig->hart.x[8], 2);
        assert_true(cycles > 2 * round);
        assert_int_equal(counter(rig, "tlb.walks"), 0);
        assert_int_equal(counter(rig, "tlb.l1i.misses") + counter(rig, "tlb.l1d.misses"), 0);
        assert_int_equal(rig->core->cpi[CPI_l2] + rig->core->cpi[CPI_memory], 0);
        rig_free(rig);
    }
}

static uint64_t device_read(void *device, uint64_t offset, unsigned size)
{
    (void)device;
    (void)offset;
    (void)size;
    return 0;
}

static void device_write(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    (void)device;
    (void)offset;
    (void)size;
    (void)value;
}

/* Atomics, device accesses and cache-block operations take a cycle each, and access no memory. */
static void what_is_executed_alone(void **state)
{
    (void)state;
    static const struct device_ops ops = {.read = device_read, .write = device_write};
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct error err;
        struct phys place = {.base = RIG_BASE, .size = RIG_SIZE};
        struct rig_options options = rig_options_default();
        struct bus bus;
        bus_init(&bus, &place);
        options.privileged = options.cold = true;
        options.bus = &bus;
        struct rig *rig = rig_new(&options);
        const struct bus_region region = {
            .base = 0x1000, .size = 0x1000, .sizes = BUS_ANY, .ops = &ops, .device = &rig, .name = "none"};
        assert_true(bus_add(&bus, &region, &err));
        rig->core = make(rig, kind);
        for (uint8_t i = 0; i < 5; i++)
            rig->hart.x[20 + i] = RIG_FAR + i * 64U;
        rig->hart.x[25] = 0x1000;
        rig->hart.priv.menvcfg = ENVCFG_CBCFE | ENVCFG_CBIE | ENVCFG_CBZE;
        RIG_EMIT(rig, amoadd_d, .rd = 5, .rs1 = 20);
        RIG_EMIT(rig, lr_d, .rd = 5, .rs1 = 21);
        RIG_EMIT(rig, sc_d, .rd = 6, .rs1 = 21);
        RIG_EMIT(rig, cbo_zero, .rs1 = 22);
        RIG_EMIT(rig, sd, .rs1 = 23, .rs2 = 5);
        RIG_EMIT(rig, cbo_flush, .rs1 = 23);
        RIG_EMIT(rig, sd, .rs1 = 24, .rs2 = 5);
        RIG_EMIT(rig, cbo_clean, .rs1 = 24);
        RIG_EMIT(rig, ld, .rd = 7, .rs1 = 25);
        RIG_EMIT(rig, fence, .imm = 0xff);
        rig->core->limit = 10;
        uint64_t cycles = rig_run(rig);
        assert_int_equal(rig->hart.x[6], 0);
        assert_int_equal(rig->hart.traps, 0);
        assert_int_equal(cycles, 10);
        assert_int_equal(rig->reads + rig->writes + rig->maintained, 0);
        static const enum cache_state states[] = {CACHE_MODIFIED, CACHE_MODIFIED, CACHE_MODIFIED,
                                                  CACHE_INVALID, CACHE_EXCLUSIVE};
        for (unsigned i = 0; i < 5; i++)
            assert_int_equal(cache_line_state(rig->l1d, RIG_FAR + 64 * i), states[i]);
        rig_free(rig);
        bus_free(&bus);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_warm),
        cmocka_unit_test(what_is_executed_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
