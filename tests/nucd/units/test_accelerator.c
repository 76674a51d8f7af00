/* Accelerators with croft's own firmware, with tasks assembled instruction by instruction. */
#include "tests/nucd/units/accelerator_rig.h"

static void a_task_is_executed_and_its_data_written_back(void **state)
{
    (void)state;
    struct rig *rig = rig_new("accel.count=1");
    uint64_t end = emit_sum(rig);
    struct cache *l1d = rig->timed->cores[1].tile->l1d;
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t in[] = {DATA + 64 * i, 40, i};
        struct nucd_task task = task_of(BASE, end, 3, in);
        rig->first_pc = BASE;
        rig->first_issue = 0;
        uint64_t start = rig->timed->queues[0].now;
        push(rig, 0, &task, (uint16_t)(7 + i));
        const struct task_unit_report *report = one(rig, TASK_UNIT_COMPLETED, 5000);
        assert_int_equal(report->result, 40 + i);
        assert_int_equal(report->tag, 7 + i);
        assert_int_equal(load64(rig, DATA + 64 * i), 40 + i);
        assert_int_equal(cache_line_state(l1d, DATA + 64 * i), CACHE_INVALID);
        print_message("task %u: first instruction after %llu ns, completed after %llu ns\n", i,
                      (unsigned long long)((rig->first_issue - start) / CLOCK),
                      (unsigned long long)((rig->timed->queues[0].now - start) / CLOCK));
        (void)run(rig, REPORTS, 1000);
        assert_true(rig->timed->cores[1].core->asleep);
    }
    rig_free(rig);
}

/* Any register can be a live-in and bring the result back. */
static void results_come_from_every_register(void **state)
{
    (void)state;
    struct rig *rig = rig_new("accel.count=1");
    for (uint8_t r = 1; r < 32; r++) {
        uint64_t begin = rig->at;
        EMIT(rig, addi, .rd = r, .rs1 = r == SP ? 0 : r, .imm = 100);
        uint64_t end = rig->at;
        struct nucd_task task = {.begin = begin, .end = end, .result = r};
        task.live_ins.mask = r == SP ? 0 : 1u << r;
        task.live_ins.value[0] = r;
        push(rig, 0, &task, r);
        const struct task_unit_report *report = one(rig, TASK_UNIT_COMPLETED, 5000);
        assert_int_equal(report->result, r == SP ? 100 : 100 + r);
    }
    rig_free(rig);
}

/* The region's end is inside a recursive function. The region ends there only when no call is open. */
static void a_region_ends_at_the_depth_where_it_began(void **state)
{
    (void)state;
    struct rig *rig = rig_new("accel.count=1");
    EMIT(rig, addi, .rd = A1, .rs1 = 0, .imm = 5);
    EMIT(rig, jal, .rd = RA, .imm = 8); /* to `down` */
    uint64_t end = rig->at;
    EMIT(rig, jalr, .rd = 0, .rs1 = T1, .imm = 0);  /* at the region's end: a jump by t1 */
    EMIT(rig, addi, .rd = A0, .rs1 = A0, .imm = 1); /* down: a0++ */
    EMIT(rig, addi, .rd = A1, .rs1 = A1, .imm = -1);
    /* At depth 1, pc reaches the end five times by a jump, and the jalr there is executed. */
    EMIT(rig, auipc, .rd = T1, .imm = 0);
    EMIT(rig, addi, .rd = T1, .rs1 = T1, .imm = 12);
    EMIT(rig, jal, .rd = 0, .imm = (int32_t)(end - rig->at));
    EMIT(rig, bne, .rs1 = A1, .rs2 = 0, .imm = (int32_t)(end + 4 - rig->at));
    EMIT(rig, jalr, .rd = 0, .rs1 = RA, .imm = 0);
    const uint64_t in[] = {1000};
    struct nucd_task task = task_of(BASE, end, 1, in);
    push(rig, 0, &task, 1);
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 1005);
    rig_free(rig);
}

/* 1/3 is inexact, and rounds up with frm = 3 (RUP): ...56 instead of ...55. */
static void floating_point_is_the_hosts(void **state)
{
    (void)state;
    struct rig *rig = rig_new("accel.count=1");
    EMIT(rig, fcvt_d_l, .rd = 0, .rs1 = A0, .rm = 7);
    EMIT(rig, fcvt_d_l, .rd = 1, .rs1 = A1, .rm = 7);
    EMIT(rig, fdiv_d, .rd = 0, .rs1 = 0, .rs2 = 1, .rm = 7);
    EMIT(rig, fmv_x_d, .rd = A0, .rs1 = 0);
    const uint64_t in[] = {1, 3}, exact[] = {4, 2};
    struct nucd_task task = task_of(BASE, rig->at, 2, in);
    task.frm = 3;
    push(rig, 0, &task, 1);
    const struct task_unit_report *report = one(rig, TASK_UNIT_COMPLETED, 9000);
    assert_int_equal(report->result, 0x3fd5555555555556);
    assert_int_equal(report->fflags, 1);
    task = task_of(BASE, rig->at, 2, exact); /* fflags of a task do not reach the next one */
    push(rig, 0, &task, 2);
    report = one(rig, TASK_UNIT_COMPLETED, 9000);
    assert_int_equal(report->result, 0x4000000000000000);
    assert_int_equal(report->fflags, 0);
    rig_free(rig);
}

static uint64_t read_late(void *device, uint64_t offset, unsigned size)
{
    (void)device;
    (void)offset;
    (void)size;
    return 11;
}

static void drop(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    (void)device;
    (void)offset;
    (void)size;
    (void)value;
}

/* s0, t0, t1, tp and gp survive a fault; the faulting address is mapped before the task is resumed. */
static void a_fault_is_reported_and_resumed(void **state)
{
    (void)state;
    struct rig *rig = rig_new("accel.count=1");
    static const struct device_ops late = {.read = read_late, .write = drop};
    const struct bus_region region = {
        .base = NOBODY, .size = 4096, .sizes = BUS_8, .ops = &late, .device = NULL, .name = "late"};
    struct error err;
    EMIT(rig, addi, .rd = S0, .rs1 = 0, .imm = 1);
    EMIT(rig, addi, .rd = T0, .rs1 = 0, .imm = 2);
    EMIT(rig, addi, .rd = T1, .rs1 = 0, .imm = 4);
    EMIT(rig, ld, .rd = A1, .rs1 = A0, .imm = 8);
    EMIT(rig, add, .rd = A1, .rs1 = A1, .rs2 = S0);
    EMIT(rig, add, .rd = A1, .rs1 = A1, .rs2 = T0);
    EMIT(rig, add, .rd = A1, .rs1 = A1, .rs2 = T1);
    EMIT(rig, add, .rd = A1, .rs1 = A1, .rs2 = TP);
    EMIT(rig, add, .rd = A0, .rs1 = A1, .rs2 = GP);
    struct nucd_task task = {.begin = BASE, .end = rig->at, .result = A0};
    task.live_ins.mask = 1u << GP | 1u << TP | 1u << A0;
    task.live_ins.value[0] = 1000;
    task.live_ins.value[1] = 2000;
    task.live_ins.value[2] = NOBODY;
    push(rig, 0, &task, 9);
    const struct task_unit_report *report = one(rig, TASK_UNIT_STOPPED, 9000);
    assert_int_equal(report->cause, TRAP_LOAD_ACCESS);
    assert_int_equal(report->value, NOBODY + 8);
    assert_int_equal(report->offset, 12);
    assert_false(run(rig, 2, 3000)); /* it waits */
    assert_true(bus_add(&rig->user.system.bus, &region, &err));
    assert_true(task_unit_resume(unit_of(rig, 0)));
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 11 + 1 + 2 + 4 + 1000 + 2000);
    rig_free(rig);
}

/* The registers of a region that stops at a call can be read, and its call answered: it continues behind the ECALL with
 * the result in a0 and all other registers as they were. */
static void a_call_is_answered(void **state)
{
    (void)state;
    struct rig *rig = rig_new("accel.count=2");
    const uint64_t in[] = {100, 20, 3};
    const struct accelerators *all = nucd_accelerators(rig_nucd(rig));
    struct tasks_region region;
    uint64_t first, size;
    EMIT(rig, addi, .rd = T0, .rs1 = 0, .imm = 5);
    EMIT(rig, addi, .rd = SP, .rs1 = SP, .imm = -16);
    EMIT(rig, ecall);
    EMIT(rig, add, .rd = A0, .rs1 = A0, .rs2 = A1);
    EMIT(rig, add, .rd = A0, .rs1 = A0, .rs2 = A2);
    EMIT(rig, add, .rd = A0, .rs1 = A0, .rs2 = T0);
    EMIT(rig, addi, .rd = SP, .rs1 = SP, .imm = 16);
    const struct nucd_task task = task_of(BASE, rig->at, 3, in);
    assert_false(accelerators_stopped_region(all, 1, &region));
    push(rig, 1, &task, 9);
    const struct task_unit_report *report = one(rig, TASK_UNIT_STOPPED, 9000);
    assert_int_equal(report->cause, TRAP_ECALL_USER);
    assert_int_equal(report->offset, 8);
    assert_false(accelerators_stopped_region(all, 0, &region));
    assert_true(accelerators_stopped_region(all, 1, &region));
    accelerators_stack(all, 1, &first, &size);
    assert_true(region.stack.base == first && region.stack.size == size);
    assert_int_equal(region.x[SP], first + size - 16);
    assert_int_equal(region.x[T0], 5);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(region.x[A0 + i], in[i]);
    assert_true(region.x[0] == 0 && region.begin == BASE && region.end == rig->at);
    accelerators_answer_call(nucd_accelerators(rig_nucd(rig)), 1, 7000);
    assert_true(task_unit_resume(unit_of(rig, 1)));
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 7000 + 20 + 3 + 5);
    assert_false(accelerators_stopped_region(all, 1, &region));
    rig_free(rig);
}

/* An endless region and a faulted one are killed; the unit's next task is executed. */
static void the_host_can_kill(void **state)
{
    (void)state;
    struct rig *rig = rig_new("accel.count=1");
    uint64_t end = emit_sum(rig), loop = rig->at;
    EMIT(rig, sd, .rs1 = A0, .rs2 = A0, .imm = 0);
    EMIT(rig, jal, .rd = 0, .imm = -4);
    const uint64_t in[] = {DATA, 1, 2}, bad[] = {0, 1, 2};
    struct nucd_task forever = task_of(loop, rig->at, 1, in), sum = task_of(BASE, end, 3, in);
    struct nucd_task fault = task_of(BASE, end, 3, bad);
    push(rig, 0, &forever, 1);
    push(rig, 0, &sum, 2);
    assert_false(run(rig, 1, 3000));
    assert_int_equal(cache_line_state(rig->timed->cores[1].tile->l1d, DATA), CACHE_MODIFIED);
    assert_true(task_unit_kill(unit_of(rig, 0)));
    assert_int_equal(rig->report[0].event, TASK_UNIT_KILLED);
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 3);
    assert_int_equal(cache_line_state(rig->timed->cores[1].tile->l1d, DATA), CACHE_INVALID);
    push(rig, 0, &fault, 3);
    const struct task_unit_report *report = one(rig, TASK_UNIT_STOPPED, 9000);
    assert_int_equal(report->cause, TRAP_STORE_ACCESS);
    assert_int_equal(report->value, 0);
    assert_int_equal(report->offset, 4);
    assert_true(task_unit_kill(unit_of(rig, 0)));
    push(rig, 0, &sum, 4);
    unsigned last = rig->reports;
    assert_true(run(rig, last + 1, 9000));
    assert_int_equal(rig->report[last].result, 3);
    assert_int_equal(rig->report[last].tag, 4);
    rig_free(rig);
}

/* Isolation: sp is the task's own stack; firmware, other stacks and devices cannot be accessed; ECALL
 * traps. */
static void regions_reach_memory_and_their_stack_only(void **state)
{
    (void)state;
    struct rig *rig = rig_new("accel.count=2");
    EMIT(rig, sd, .rs1 = SP, .rs2 = A0, .imm = -8);
    EMIT(rig, ld, .rd = A0, .rs1 = SP, .imm = -8);
    struct nucd_task own = {.begin = BASE, .end = rig->at, .result = A0};
    own.live_ins.mask = 1u << A0;
    own.live_ins.value[0] = 77;
    push(rig, 1, &own, 1);
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 77);

    uint64_t begin = rig->at;
    EMIT(rig, sd, .rs1 = A0, .rs2 = A0, .imm = 0);
    struct phys firmware = nucd_firmware_memory(rig->machine.tree, &rig->memory);
    uint64_t stack = firmware.size / 2 / 64;
    const uint64_t places[] = {firmware.base, firmware.base + firmware.size / 2 + stack /* accelerator 1's */,
                               nucd_described(rig->machine.tree)->base, NOBODY};
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        struct nucd_task task = task_of(begin, rig->at, 1, &places[i]);
        push(rig, 0, &task, 2);
        const struct task_unit_report *report = one(rig, TASK_UNIT_STOPPED, 9000);
        assert_int_equal(report->cause, TRAP_STORE_ACCESS);
        assert_int_equal(report->value, places[i]);
        assert_true(task_unit_kill(unit_of(rig, 0)));
        (void)run(rig, REPORTS, 2000);
    }
    begin = rig->at;
    EMIT(rig, ecall, .rd = 0);
    struct nucd_task call = task_of(begin, rig->at, 0, places);
    push(rig, 0, &call, 3);
    assert_int_equal(one(rig, TASK_UNIT_STOPPED, 9000)->cause, TRAP_ECALL_USER);
    rig_free(rig);
}

/* A region may contain a nucd and a marker, which are hints. */
static void hints_within_a_region_do_nothing(void **state)
{
    (void)state;
    struct rig *rig = rig_new("accel.count=1");
    EMIT(rig, slt, .rd = 0, .rs1 = A1, .rs2 = A2);
    EMIT(rig, sltiu, .rd = 0, .rs1 = 0, .imm = 1);
    EMIT(rig, addi, .rd = A0, .rs1 = A1, .imm = 1);
    const uint64_t in[] = {1, UINT64_C(0x4e55434400000004), 0};
    struct nucd_task task = task_of(BASE, rig->at, 3, in);
    push(rig, 0, &task, 1);
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, in[1] + 1);
    rig_free(rig);
}

/* Code changed at the same address is executed after the unit has been told. */
static void changed_code_is_fetched_anew(void **state)
{
    (void)state;
    struct rig *rig = rig_new("accel.count=1");
    EMIT(rig, addi, .rd = A0, .rs1 = A0, .imm = 1);
    const uint64_t in[] = {5};
    struct nucd_task task = task_of(BASE, rig->at, 1, in);
    push(rig, 0, &task, 1);
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 6);
    rig->at = BASE;
    EMIT(rig, addi, .rd = A0, .rs1 = A0, .imm = 2);
    accelerators_change_code(nucd_accelerators(rig_nucd(rig)));
    push(rig, 0, &task, 2);
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 7);
    rig_free(rig);
}

/* The host stores other code. Tasks execute it from then on, also after a FENCE.I. */
static void a_host_changes_code_for_accelerators_too(void **state)
{
    (void)state;
    struct rig *rig = rig_new("accel.count=2");
    EMIT(rig, addi, .rd = A0, .rs1 = A0, .imm = 1);
    const uint64_t in[] = {5};
    struct nucd_task task = task_of(BASE, rig->at, 1, in);
    for (unsigned accelerator = 0; accelerator < 2; accelerator++) {
        push(rig, accelerator, &task, 1);
        assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 6);
    }
    /* addi a0, a0, 2 is at `other`; the host's program copies it to BASE. */
    uint64_t other = rig->at;
    EMIT(rig, addi, .rd = A0, .rs1 = A0, .imm = 2);
    struct hart *host = &rig->user.system.harts[0];
    host->pc = rig->at;
    host->x[A1] = other;
    host->x[A2] = BASE;
    EMIT(rig, lw, .rd = T0, .rs1 = A1, .imm = 0);
    EMIT(rig, sw, .rs1 = A2, .rs2 = T0, .imm = 0);
    EMIT(rig, addi, .rd = T1, .rs1 = 0, .imm = 1);
    uint64_t fence = rig->at;
    EMIT(rig, fence_i, .rd = 0);
    EMIT(rig, ebreak, .rd = 0);
    assert_int_equal(system_run(&rig->user.system, 3), SYSTEM_LIMIT);
    assert_int_equal(host->pc, fence);
    push(rig, 0, &task, 2);
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 7);
    assert_int_equal(system_run(&rig->user.system, 100), SYSTEM_TRAP);
    for (unsigned accelerator = 0; accelerator < 2; accelerator++) {
        push(rig, accelerator, &task, 3);
        assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 7);
    }
    rig_free(rig);
}

static void sixteen_units_do_many_tasks(void **state)
{
    (void)state;
    enum { UNITS = 16, EACH = 6 };
    struct rig *rig = rig_new("accel.count=16");
    uint64_t end = emit_sum(rig);
    for (unsigned i = 0; i < UNITS * EACH; i++) {
        const uint64_t in[] = {DATA + 8 * i, 1000, i};
        struct nucd_task task = task_of(BASE, end, 3, in);
        push(rig, i % UNITS, &task, (uint16_t)i);
    }
    assert_true(run(rig, UNITS * EACH, 100000));
    assert_int_equal(rig->completed, UNITS * EACH);
    for (unsigned i = 0; i < UNITS * EACH; i++) {
        assert_int_equal(rig->report[i].result, 1000 + rig->report[i].tag);
        assert_int_equal(rig->from[i], rig->report[i].tag % UNITS);
        assert_int_equal(load64(rig, DATA + 8 * i), 1000 + i);
    }
    assert_int_equal(counted(rig, "accel.0.tasks"), EACH);
    assert_int_equal(counted(rig, "accel.15.tasks"), EACH);
    assert_int_equal(counted(rig, "accel.7.errors"), 0);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_is_executed_and_its_data_written_back),
        cmocka_unit_test(results_come_from_every_register),
        cmocka_unit_test(a_region_ends_at_the_depth_where_it_began),
        cmocka_unit_test(floating_point_is_the_hosts),
        cmocka_unit_test(a_fault_is_reported_and_resumed),
        cmocka_unit_test(a_call_is_answered),
        cmocka_unit_test(the_host_can_kill),
        cmocka_unit_test(regions_reach_memory_and_their_stack_only),
        cmocka_unit_test(hints_within_a_region_do_nothing),
        cmocka_unit_test(changed_code_is_fetched_anew),
        cmocka_unit_test(a_host_changes_code_for_accelerators_too),
        cmocka_unit_test(sixteen_units_do_many_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
