/* Tasks with virtual addresses, translated by a table of ranges as the host's kernel maintains it. */
#include "isa/include/croft/range.h"
#include "tests/nucd/units/accelerator_rig.h"

enum { S5 = 21, PAGE = 4096, R = 1, W = 2, X = 4, P = 8 };

/* Physical address of the table; virtual addresses of code and data. */
#define TABLE (BASE + 0x40000)
#define VCODE UINT64_C(0x2000000000)
#define VDATA UINT64_C(0x3000000000)

static struct croft_range_table *table_of(struct rig *rig)
{
    return (void *)phys_at(&rig->memory, TABLE, sizeof(struct croft_range_table));
}

/* Adds a range after the others, as the kernel does. */
static void add(struct rig *rig, uint64_t base, unsigned pages, uint64_t physical, uint32_t permissions)
{
    struct croft_range_table *table = table_of(rig);
    table->changes++;
    table->entries[table->count++] =
        (struct croft_range){base, (uint64_t)pages * PAGE, physical, permissions, 0};
    table->changes++;
}

/* Creates a machine whose units know the table; the table has the range of the program's code. */
static struct rig *rig_ranges(const char *count)
{
    struct rig *rig = rig_new(count);
    add(rig, VCODE, 4, BASE, R | X | P);
    nucd_set_ranges(rig_nucd(rig), TABLE);
    return rig;
}

static uint64_t counted_core(struct rig *rig, const char *name)
{
    struct stats *stats = stats_new();
    tlb_publish(rig->timed->cores[1].tile->tlb, stats, scope_enter(NULL, "tlb"));
    uint64_t value = stats_value(stats, name);
    stats_free(stats);
    return value;
}

/* Tasks on two accelerators store a sum to their stacks and from there to virtual memory. */
static void tasks_see_virtual_addresses(void **state)
{
    (void)state;
    struct rig *rig = rig_ranges("accel.count=2");
    add(rig, VDATA, 1, DATA, R | W | P);
    EMIT(rig, addi, .rd = SP, .rs1 = SP, .imm = -16);
    EMIT(rig, sd, .rs1 = SP, .rs2 = A1, .imm = 8);
    EMIT(rig, ld, .rd = A1, .rs1 = SP, .imm = 8);
    uint64_t end = emit_sum(rig) - BASE + VCODE;
    for (unsigned i = 0; i < 6; i++) {
        const uint64_t in[] = {VDATA + 8 * i, 40, i};
        struct nucd_task task = task_of(VCODE, end, 3, in);
        push(rig, i % 2, &task, (uint16_t)i);
        assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 40 + i);
        assert_int_equal(load64(rig, DATA + 8 * i), 40 + i);
    }
    /* Each accelerator has walked the table once for code and once for data, because the table has not
     * changed. */
    assert_int_equal(counted_core(rig, "tlb.walks"), 2);
    rig_free(rig);
}

/* The host maps missing data, then missing code in a range that was not present, and the task continues. */
static void missing_ranges_are_the_hosts_to_add(void **state)
{
    (void)state;
    struct rig *rig = rig_ranges("accel.count=1");
    uint64_t end = emit_sum(rig) - BASE + VCODE;
    const uint64_t in[] = {VDATA + 16, 40, 2};
    struct nucd_task task = task_of(VCODE, end, 3, in);
    table_of(rig)->entries[0].permissions = R | X;
    push(rig, 0, &task, 1);
    const struct task_unit_report *report = one(rig, TASK_UNIT_STOPPED, 9000);
    assert_int_equal(report->cause, TRAP_FETCH_PAGE);
    assert_int_equal(report->value, VCODE);
    assert_int_equal(report->offset, 0);
    table_of(rig)->entries[0].permissions |= P;
    assert_true(task_unit_resume(unit_of(rig, 0)));
    report = one(rig, TASK_UNIT_STOPPED, 9000);
    assert_int_equal(report->cause, TRAP_STORE_PAGE);
    assert_int_equal(report->value, VDATA + 16);
    assert_int_equal(report->offset, 4);
    add(rig, VDATA, 1, DATA, R | W | P);
    assert_true(task_unit_resume(unit_of(rig, 0)));
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 42);
    assert_int_equal(load64(rig, DATA + 16), 42);
    rig_free(rig);
}

/* Permissions of ranges are enforced, and PMP protects the firmware whatever a range permits. */
static void ranges_and_pmp_protect(void **state)
{
    (void)state;
    struct rig *rig = rig_ranges("accel.count=1");
    struct phys firmware = nucd_firmware_memory(rig->machine.tree, &rig->memory);
    uint64_t end = emit_sum(rig) - BASE + VCODE;
    add(rig, VDATA, 1, DATA, R | P);
    add(rig, VDATA + PAGE, 1, DATA, X | P);
    add(rig, VDATA + 2 * PAGE, 1, firmware.base, R | W | X | P);
    const uint64_t places[] = {VDATA, VDATA + PAGE, VDATA + 2 * PAGE, VDATA + 3 * PAGE, DATA, firmware.base};
    const unsigned causes[] = {TRAP_STORE_PAGE, TRAP_STORE_PAGE, TRAP_STORE_ACCESS,
                               TRAP_STORE_PAGE, TRAP_STORE_PAGE, TRAP_STORE_PAGE};
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        const uint64_t in[] = {places[i], 1, 2};
        struct nucd_task task = task_of(VCODE, end, 3, in);
        push(rig, 0, &task, 2);
        const struct task_unit_report *report = one(rig, TASK_UNIT_STOPPED, 9000);
        assert_int_equal(report->cause, causes[i]);
        assert_int_equal(report->value, places[i]);
        assert_true(task_unit_kill(unit_of(rig, 0)));
        (void)run(rig, REPORTS, 2000);
    }
    rig_free(rig);
}

/* Between two tasks, the host moves code and data and writes RANGES again: the next task uses the new
 * ranges. */
static void a_task_begins_with_the_present_table(void **state)
{
    (void)state;
    struct rig *rig = rig_ranges("accel.count=1");
    uint64_t end = emit_sum(rig) - BASE + VCODE;
    add(rig, VDATA, 1, DATA, R | W | P);
    const uint64_t in[] = {VDATA, 40, 2};
    struct nucd_task task = task_of(VCODE, end, 3, in);
    push(rig, 0, &task, 1);
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 42);
    assert_int_equal(load64(rig, DATA), 42);
    rig->at = BASE + 8 * PAGE;
    EMIT(rig, sub, .rd = T0, .rs1 = A1, .rs2 = A2);
    memcpy(phys_at(&rig->memory, rig->at, 8), phys_at(&rig->memory, BASE + 4, 8), 8);
    struct croft_range_table *table = table_of(rig);
    table->entries[0].physical = BASE + 8 * PAGE;
    table->entries[1].physical = DATA + PAGE;
    table->changes += 2;
    nucd_set_ranges(rig_nucd(rig), TABLE);
    accelerators_change_code(nucd_accelerators(rig_nucd(rig)));
    push(rig, 0, &task, 2);
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 38);
    assert_int_equal(load64(rig, DATA), 42);
    assert_int_equal(load64(rig, DATA + PAGE), 38);
    assert_int_equal(counted_core(rig, "tlb.walks"), 4);
    /* Without a table, regions use physical addresses again. */
    nucd_set_ranges(rig_nucd(rig), 0);
    const uint64_t physical[] = {DATA, 40, 3};
    task = task_of(BASE, end - VCODE + BASE, 3, physical);
    push(rig, 0, &task, 3);
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 43);
    assert_int_equal(counted_core(rig, "tlb.walks"), 4);
    rig_free(rig);
}

/* emit_sum() with its operands in s5-s7, the argument registers of <croft/nucd.h>. */
static uint64_t emit_sum_of_carriers(struct rig *rig)
{
    EMIT(rig, add, .rd = T0, .rs1 = S5 + 1, .rs2 = S5 + 2);
    EMIT(rig, sd, .rs1 = S5, .rs2 = T0, .imm = 0);
    EMIT(rig, add, .rd = A0, .rs1 = T0, .rs2 = 0);
    return rig->at;
}

/* Returns the clocks from the packet's arrival to the issue of the region's first instruction. */
static uint64_t start_of(struct rig *rig, uint64_t begin, uint64_t end, uint64_t data)
{
    const uint64_t in[] = {data, 40, 1};
    struct nucd_task task = task_of(begin, end, 3, in);
    task.live_ins.mask = 7u << S5;
    rig->first_pc = begin;
    rig->first_issue = 0;
    uint64_t from = rig->timed->queues[0].now;
    push(rig, 0, &task, 1);
    (void)one(rig, TASK_UNIT_COMPLETED, 9000);
    (void)run(rig, REPORTS, 1000);
    return (rig->first_issue - from) / CLOCK;
}

/* The first task walks the table for its code, and its firmware writes mrange; all of that comes from memory.
 * The third task finds the range and the firmware's common path in the TLB and the caches, and starts as fast
 * as with physical addresses. */
static void the_walk_takes_its_time(void **state)
{
    (void)state;
    uint64_t starts[2][3];
    for (unsigned virtual = 0; virtual < 2; virtual ++) {
        struct rig *rig = virtual ? rig_ranges("accel.count=1") : rig_new("accel.count=1");
        uint64_t begin = virtual ? VCODE : BASE, end = emit_sum_of_carriers(rig) - BASE + begin;
        if (virtual)
            add(rig, VDATA, 1, DATA, R | W | P);
        for (unsigned i = 0; i < 3; i++)
            starts[virtual][i] = start_of(rig, begin, end, virtual ? VDATA : DATA);
        rig_free(rig);
    }
    print_message("first instruction after %llu, %llu clocks; by ranges %llu, %llu\n",
                  (unsigned long long)starts[0][0], (unsigned long long)starts[0][2],
                  (unsigned long long)starts[1][0], (unsigned long long)starts[1][2]);
    assert_int_equal(starts[1][2], starts[0][2]);
    assert_true(starts[1][0] > starts[0][0] + 30 && starts[1][0] < starts[0][0] + 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_see_virtual_addresses), cmocka_unit_test(missing_ranges_are_the_hosts_to_add),
        cmocka_unit_test(ranges_and_pmp_protect),      cmocka_unit_test(a_task_begins_with_the_present_table),
        cmocka_unit_test(the_walk_takes_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
