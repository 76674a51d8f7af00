/* Range-based translation in the hart: against a linear search over random tables, at boundaries, and in programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/hart/mmu/ranges.h"
#include "emu/hart/probe.h"
#include "isa/include/croft/range.h"
#include "tests/hart/fixture.h"
#include "tests/isa/random.h"

enum { PAGE = 4096, MRANGE = 0x7c0, MLOCAL = 0x7c1, R = 1, W = 2, X = 4, P = 8 };

/* The table and the ranges' physical memory; virtual addresses are far from both. */
#define TABLE  (FIXTURE_BASE + 0x100000)
#define MEMORY (FIXTURE_BASE + 0x200000)
#define SIZE   UINT64_C(0x400000)
#define AT     UINT64_C(0x4000000000)

struct rig {
    struct fixture f;
    struct bus bus;
    struct croft_range_table *table;
};

static void put(struct rig *rig, uint64_t base, uint64_t pages, uint64_t physical, uint32_t permissions)
{
    rig->table->entries[rig->table->count++] =
        (struct croft_range){base, pages * PAGE, physical, permissions, 1};
    rig->table->changes += 2;
}

static void rig_init(struct rig *rig)
{
    struct error err;
    fixture_init(&rig->f, SIZE);
    struct hart *hart = &rig->f.hart;
    bus_init(&rig->bus, &rig->f.memory);
    assert_true(hart_init_privileged(hart, &rig->bus, 0, 1, &err));
    hart->has_ranges = true;
    hart->priv.pmpcfg[0] = PMP_R | PMP_W | PMP_X | PMP_NAPOT;
    hart->priv.pmpaddr[0] = UINT64_MAX >> 10;
    rig->table = (void *)phys_at(&rig->f.memory, TABLE, sizeof *rig->table);
    assert_true(hart_csr_poke(hart, MRANGE, TABLE));
    hart->privilege = PRIV_U;
    priv_changed(hart);
}

static void rig_free(struct rig *rig)
{
    fixture_free(&rig->f);
}

static const enum trap_cause page_causes[] = {TRAP_LOAD_PAGE, TRAP_STORE_PAGE, TRAP_FETCH_PAGE};
static const enum trap_cause access_causes[] = {TRAP_LOAD_ACCESS, TRAP_STORE_ACCESS, TRAP_FETCH_ACCESS};

static void expect_fault(struct rig *rig, uint64_t address, enum mmu_access access, enum trap_cause cause)
{
    uint64_t physical;
    assert_false(mmu_check(&rig->f.hart, address, 1, access, PRIV_U, &physical));
    assert_int_equal(rig->f.hart.trap.cause, cause);
    assert_int_equal(rig->f.hart.trap.value, address);
}

static void expect_physical(struct rig *rig, uint64_t address, enum mmu_access access, uint64_t wanted)
{
    uint64_t physical = 0;
    assert_true(mmu_check(&rig->f.hart, address, 1, access, PRIV_U, &physical));
    assert_int_equal(physical, wanted);
}

/* Returns the range found by a linear search, or NULL. */
static const struct croft_range *search(const struct croft_range_table *table, uint64_t address)
{
    for (uint64_t i = 0; i < table->count; i++)
        if (address >= table->entries[i].base && address - table->entries[i].base < table->entries[i].size)
            return &table->entries[i];
    return NULL;
}

/* The walk reads the head first and the range's own entry last, and at most floor(log2(n)) + 1 entries. */
static void check_walk(struct rig *rig, uint64_t address, const struct croft_range *range)
{
    struct mmu_walk list;
    unsigned most = 1;
    mmu_list_walk(&rig->f.hart, address, PRIV_U, &list);
    for (uint64_t n = rig->table->count; n; n /= 2)
        most++;
    assert_true(list.ranges && list.count >= 1 && list.count <= most);
    assert_int_equal(list.entries[0], TABLE);
    assert_int_equal(list.leaf, range && range->permissions & P && range->physical != CROFT_RANGE_PAGED);
    if (!range)
        return;
    assert_int_equal(list.entries[list.count - 1], TABLE + ((uintptr_t)range - (uintptr_t)rig->table));
    if (list.leaf) {
        assert_int_equal(list.first, range->base);
        assert_int_equal(list.last, range->base + range->size - 1);
    }
}

static void check_address(struct rig *rig, uint64_t address)
{
    const struct croft_range *range = search(rig->table, address);
    static const uint32_t wanted[] = {R, W, X};
    for (enum mmu_access access = MMU_LOAD; access <= MMU_FETCH; access++) {
        bool allowed = range && range->permissions & P && range->physical != CROFT_RANGE_PAGED &&
                       range->permissions & wanted[access];
        if (allowed)
            expect_physical(rig, address, access, range->physical + (address - range->base));
        else
            expect_fault(rig, address, access, page_causes[access]);
    }
    check_walk(rig, address, range);
}

static void random_tables_translate_as_a_linear_search(void **state)
{
    (void)state;
    uint64_t seed = 1;
    struct rig rig;
    rig_init(&rig);
    for (unsigned round = 0; round < 60; round++) {
        uint64_t at = AT, count = random_shift(&seed) % (round % 10 == 0 ? CROFT_RANGES_MAX + 1 : 40);
        rig.table->count = 0;
        for (uint64_t i = 0; i < count; i++) {
            uint64_t pages = 1 + random_shift(&seed) % 5;
            at += random_shift(&seed) % 3 * PAGE;
            uint64_t physical =
                random_shift(&seed) % 8 ? MEMORY + random_shift(&seed) % 256 * PAGE : CROFT_RANGE_PAGED;
            put(&rig, at, pages, physical, (uint32_t)(random_shift(&seed) % 16));
            at += pages * PAGE;
        }
        for (uint64_t i = 0; i < count; i += 1 + count / 16) {
            const struct croft_range *range = &rig.table->entries[i];
            const uint64_t places[] = {range->base, range->base - 1, range->base + range->size - 1,
                                       range->base + range->size,
                                       range->base + random_shift(&seed) % range->size};
            for (unsigned k = 0; k < sizeof places / sizeof *places; k++)
                check_address(&rig, places[k]);
        }
        check_address(&rig, 0);
        check_address(&rig, UINT64_MAX);
        check_address(&rig, FIXTURE_BASE);
    }
    rig_free(&rig);
}

/* Invalid tables, and one that is being changed. */
static void tables_that_cannot_be_walked(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    put(&rig, AT, 1, MEMORY, R | W | X | P);
    expect_physical(&rig, AT + 5, MMU_LOAD, MEMORY + 5);
    for (enum mmu_access access = MMU_LOAD; access <= MMU_FETCH; access++) {
        rig.table->changes++;
        expect_fault(&rig, AT, access, page_causes[access]);
        rig.table->changes++;
        expect_physical(&rig, AT, access, MEMORY);
        rig.table->count = CROFT_RANGES_MAX + 1;
        expect_fault(&rig, AT, access, access_causes[access]);
        rig.table->count = 1;
        rig.f.hart.priv.mrange = FIXTURE_BASE - 64; /* before memory */
        expect_fault(&rig, AT, access, access_causes[access]);
        rig.f.hart.priv.mrange = FIXTURE_BASE + SIZE - 32; /* its entries are beyond memory */
        fixture_write(&rig.f, FIXTURE_BASE + SIZE - 24, 8, 1);
        expect_fault(&rig, AT, access, access_causes[access]);
        rig.f.hart.priv.mrange = TABLE;
    }
    /* PMP must allow the access to the range for user mode, and to the table for the walker. */
    rig.f.hart.priv.pmpcfg[1] = rig.f.hart.priv.pmpcfg[0];
    rig.f.hart.priv.pmpaddr[1] = rig.f.hart.priv.pmpaddr[0];
    rig.f.hart.priv.pmpcfg[0] = PMP_NA4;
    rig.f.hart.priv.pmpaddr[0] = TABLE >> 2;
    expect_fault(&rig, AT, MMU_LOAD, TRAP_LOAD_ACCESS);
    rig.f.hart.priv.pmpaddr[0] = MEMORY >> 2;
    expect_fault(&rig, AT, MMU_STORE, TRAP_STORE_ACCESS);
    expect_physical(&rig, AT + 4, MMU_STORE, MEMORY + 4);
    rig_free(&rig);
}

/* An aligned window of 8 KiB, and one smaller than a page, which covers its page. Other modes do not translate. */
static void the_window_stands_for_itself(void **state)
{
    (void)state;
    struct rig rig;
    struct mmu_walk list;
    rig_init(&rig);
    put(&rig, MEMORY + 0x2000, 3, MEMORY, R | W | P);
    expect_fault(&rig, MEMORY, MMU_LOAD, TRAP_LOAD_PAGE);
    assert_true(hart_csr_poke(&rig.f.hart, MLOCAL, MEMORY >> 2 | 0x3ff));
    expect_physical(&rig, MEMORY, MMU_LOAD, MEMORY);
    expect_physical(&rig, MEMORY + 0x1fff, MMU_STORE, MEMORY + 0x1fff);
    expect_physical(&rig, MEMORY + 0x2000, MMU_STORE, MEMORY);
    expect_fault(&rig, MEMORY - 1, MMU_LOAD, TRAP_LOAD_PAGE);
    mmu_list_walk(&rig.f.hart, MEMORY + 0x1000, PRIV_U, &list);
    assert_true(list.count == 0 && !list.leaf);
    assert_true(hart_csr_poke(&rig.f.hart, MLOCAL, MEMORY >> 2 | 0x7f)); /* 1 KiB */
    expect_physical(&rig, MEMORY + 0xfff, MMU_LOAD, MEMORY + 0xfff);
    expect_fault(&rig, MEMORY + 0x1000, MMU_LOAD, TRAP_LOAD_PAGE);
    uint64_t physical;
    assert_true(mmu_check(&rig.f.hart, MEMORY + 0x1000, 1, MMU_LOAD, PRIV_M, &physical));
    assert_int_equal(physical, MEMORY + 0x1000);
    assert_false(mmu_translates(&rig.f.hart, PRIV_S));
    rig_free(&rig);
}

static void run_to(struct rig *rig, enum fixture_way way, uint64_t pc, uint64_t limit)
{
    struct hart *hart = &rig->f.hart;
    for (uint64_t i = 0; i < limit && hart->pc != pc; i++) {
        struct step_report report;
        if (way == FIXTURE_STEP)
            (void)hart_step(hart, &report);
        else
            (void)hart_run(hart, 200);
    }
    assert_int_equal(hart->pc, pc);
}

/* Two ranges that are contiguous virtually but not physically, followed by nothing. */
static void accesses_reach_over_the_end_of_a_range(void **state)
{
    (void)state;
    const uint64_t code = FIXTURE_BASE + 0x8000, handler = FIXTURE_BASE + 0xc000, end = AT + 2 * PAGE;
    for (enum fixture_way way = FIXTURE_RUN; way < FIXTURE_WAYS; way++) {
        struct rig rig;
        rig_init(&rig);
        struct hart *hart = &rig.f.hart;
        put(&rig, AT, 1, MEMORY + 8 * PAGE, R | W | P);
        put(&rig, AT + PAGE, 1, MEMORY, R | W | P);
        put(&rig, AT + (1 << 30), 1, code, R | X | P);
        rig.f.at = code;
        fixture_row(&rig.f, INSN_ld, (struct operands){.rd = 11, .rs1 = 10, .imm = -3});
        fixture_row(&rig.f, INSN_sd, (struct operands){.rs1 = 10, .rs2 = 11, .imm = -5});
        fixture_row(&rig.f, INSN_sd, (struct operands){.rs1 = 12, .rs2 = 11, .imm = -4});
        rig.f.at = handler;
        fixture_row(&rig.f, INSN_jal, (struct operands){.rd = 0, .imm = 0});
        fixture_write(&rig.f, MEMORY + 9 * PAGE - 8, 8, UINT64_C(0x1122334455667788));
        fixture_write(&rig.f, MEMORY, 8, UINT64_C(0x99aabbccddeeff00));
        fixture_write(&rig.f, MEMORY + PAGE - 8, 8, 7);
        hart->priv.mtvec = handler;
        hart->pc = AT + (1 << 30);
        hart->x[10] = AT + PAGE;
        hart->x[12] = end;
        run_to(&rig, way, handler, 10);
        /* The bytes in memory: ... 33 22 11 | 00 ff ee dd cc; the store puts them two bytes lower. */
        assert_int_equal(hart->x[11], UINT64_C(0xccddeeff00112233));
        assert_int_equal(fixture_read(&rig.f, MEMORY + 9 * PAGE - 8, 8), UINT64_C(0xff00112233667788));
        assert_int_equal(fixture_read(&rig.f, MEMORY, 8), UINT64_C(0x99aabbccddccddee));
        /* The last store changes nothing, because its second part is in no range. */
        assert_int_equal(fixture_read(&rig.f, MEMORY + PAGE - 8, 8), 7);
        assert_int_equal(hart->priv.mcause, TRAP_STORE_PAGE);
        assert_int_equal(hart->priv.mtval, end);
        rig_free(&rig);
    }
}

/* An instruction whose halves lie in two ranges; then the second range is removed, and added again elsewhere. */
static void fetches_reach_over_the_end_of_a_range(void **state)
{
    (void)state;
    const uint64_t handler = FIXTURE_BASE + 0xc000;
    for (enum fixture_way way = FIXTURE_RUN; way < FIXTURE_WAYS; way++) {
        struct rig rig;
        rig_init(&rig);
        struct hart *hart = &rig.f.hart;
        put(&rig, AT, 1, MEMORY + 8 * PAGE, R | X | P);
        put(&rig, AT + PAGE, 1, MEMORY, R | X | P);
        uint32_t addi = 0x02a00513, other = 0x02b00513; /* li a0, 42; li a0, 43 */
        fixture_write(&rig.f, MEMORY + 9 * PAGE - 2, 2, addi & 0xffff);
        fixture_write(&rig.f, MEMORY, 2, addi >> 16);
        fixture_write(&rig.f, MEMORY + PAGE, 2, other >> 16);
        rig.f.at = MEMORY + 2;
        fixture_row(&rig.f, INSN_ebreak, (struct operands){.rd = 0});
        rig.f.at = MEMORY + PAGE + 2;
        fixture_row(&rig.f, INSN_ebreak, (struct operands){.rd = 0});
        rig.f.at = handler;
        fixture_row(&rig.f, INSN_jal, (struct operands){.rd = 0, .imm = 0});
        hart->priv.mtvec = handler;
        for (unsigned round = 0; round < 3; round++) {
            if (round > 0) {
                rig.table->entries[1].permissions = R | X | (round == 1 ? 0 : P);
                rig.table->entries[1].physical = MEMORY + PAGE;
                rig.table->changes += 2;
                assert_true(hart_csr_poke(hart, MRANGE, TABLE));
            }
            hart->pc = AT + PAGE - 2;
            hart->privilege = PRIV_U;
            priv_changed(hart);
            hart->x[10] = 0;
            run_to(&rig, way, handler, 10);
            assert_int_equal(hart->priv.mcause, round == 1 ? TRAP_FETCH_PAGE : TRAP_BREAKPOINT);
            assert_int_equal(hart->priv.mtval, round == 1 ? AT + PAGE : AT + PAGE + 2);
            assert_int_equal(hart->x[10], round == 0 ? 42 : round == 1 ? 0 : 43);
        }
        rig_free(&rig);
    }
}

/* Kept data translations are dropped when the hart is told of a change, and when mrange is written. */
static void changes_are_seen_when_the_hart_is_told(void **state)
{
    (void)state;
    struct rig rig;
    uint64_t value, physical;
    rig_init(&rig);
    struct hart *hart = &rig.f.hart;
    put(&rig, AT, 2, MEMORY, R | W | P);
    fixture_write(&rig.f, MEMORY, 8, 1);
    fixture_write(&rig.f, MEMORY + PAGE, 8, 2);
    uint64_t code = FIXTURE_BASE;
    put(&rig, AT + (1 << 30), 1, code, X | P);
    rig.f.at = code;
    /* Sums what it loads. The last instructions of a run are stepped, which always translates again. */
    fixture_row(&rig.f, INSN_ld, (struct operands){.rd = 11, .rs1 = 10, .imm = 0});
    fixture_row(&rig.f, INSN_add, (struct operands){.rd = 12, .rs1 = 12, .rs2 = 11});
    fixture_row(&rig.f, INSN_jal, (struct operands){.rd = 0, .imm = -8});
    hart->pc = AT + (1 << 30);
    hart->x[10] = AT;
    (void)hart_run(hart, 999);
    assert_int_equal(hart->x[12], 333);
    rig.table->entries[0].physical = MEMORY + PAGE;
    rig.table->changes += 2;
    assert_true(hart_csr_poke(hart, MRANGE, TABLE));
    hart->x[12] = 0;
    (void)hart_run(hart, 999);
    assert_int_equal(hart->x[12], 2 * 333);
    rig.table->entries[0].physical = MEMORY;
    assert_true(hart_csr_poke(hart, MRANGE, TABLE));
    hart->x[12] = 0;
    (void)hart_run(hart, 999);
    assert_int_equal(hart->x[12], 333);
    assert_true(mmu_peek(hart, AT + PAGE + 3, &physical));
    assert_int_equal(physical, MEMORY + PAGE + 3);
    assert_false(mmu_peek(hart, AT + 2 * PAGE, &physical));
    assert_true(hart_csr_peek(hart, MRANGE, &value));
    assert_int_equal(value, TABLE);
    rig_free(&rig);
}

/* Only accelerators have these registers, and only in machine mode. */
static void the_registers_are_the_accelerators(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    struct hart *hart = &rig.f.hart;
    const unsigned numbers[] = {MRANGE, MLOCAL};
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned mode = 0; mode < 4; mode++) {
            struct step_report report;
            hart->has_ranges = mode != 3;
            hart->privilege = mode == 0 ? PRIV_U : mode == 1 ? PRIV_S : PRIV_M;
            hart->priv.mrange = hart->priv.mlocal = 0;
            hart->pc = rig.f.at = FIXTURE_BASE;
            hart->x[5] = UINT64_MAX;
            priv_changed(hart);
            fixture_row(&rig.f, INSN_csrrw, (struct operands){.rd = 6, .rs1 = 5, .imm = (int32_t)numbers[i]});
            (void)hart_step(hart, &report);
            assert_int_equal(report.retired, mode == 2);
            assert_int_equal(i == 0 ? hart->priv.mrange : hart->priv.mlocal, mode != 2 ? 0
                                                                             : i == 0  ? ~UINT64_C(63)
                                                                                       : UINT64_MAX >> 10);
        }
    }
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_tables_translate_as_a_linear_search),
        cmocka_unit_test(tables_that_cannot_be_walked),
        cmocka_unit_test(the_window_stands_for_itself),
        cmocka_unit_test(accesses_reach_over_the_end_of_a_range),
        cmocka_unit_test(fetches_reach_over_the_end_of_a_range),
        cmocka_unit_test(changes_are_seen_when_the_hart_is_told),
        cmocka_unit_test(the_registers_are_the_accelerators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
