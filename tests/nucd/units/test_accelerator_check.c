/* --check nucd on a machine: tasks whose nucds name all that they access, and tasks whose nucds do not. */
#include "tests/nucd/units/accelerator_rig.h"

/* Returns the task of a nucd with an input line and an output line, and the region [begin, end). */
static struct nucd_task named(uint64_t begin, uint64_t end, uint64_t in, uint64_t out)
{
    const uint64_t live_ins[] = {out, 40, in};
    struct nucd_task task = task_of(begin, end, 3, live_ins);
    task.pc = begin - 4;
    task.memory.in = (struct nucd_ranges){1, {{in & ~UINT64_C(63), in | 63}}};
    task.memory.out = (struct nucd_ranges){1, {{out & ~UINT64_C(63), out | 63}}};
    return task;
}

/* Creates a machine whose checker allows reading all of the code. */
static struct rig *rig_check(const char *count)
{
    struct rig *rig = rig_new_checked(count, true);
    footprint_check_allow(accelerators_checker(nucd_accelerators(rig_nucd(rig))), BASE, BASE + 0xffff);
    return rig;
}

static void send(struct rig *rig, unsigned accelerator, const struct nucd_task *task)
{
    footprint_check_begin(accelerators_checker(nucd_accelerators(rig_nucd(rig))), accelerator, task);
    push(rig, accelerator, task, 1);
}

/* Emits a region that makes 5 accesses and uses the stack. a0: address to store to; a1: a value; a2: address
 * to load from. */
static uint64_t emit_copy(struct rig *rig)
{
    EMIT(rig, sd, .rs1 = SP, .rs2 = A1, .imm = -8);
    EMIT(rig, ld, .rd = A1, .rs1 = SP, .imm = -8);
    EMIT(rig, ld, .rd = A2, .rs1 = A2, .imm = 0);
    EMIT(rig, ld, .rd = T0, .rs1 = A0, .imm = 0);
    EMIT(rig, sd, .rs1 = A0, .rs2 = A2, .imm = 8);
    return rig->at;
}

static void what_is_named_is_not_reported(void **state)
{
    (void)state;
    struct rig *rig = rig_check("accel.count=2");
    rig->at = BASE + 4;
    uint64_t end = emit_copy(rig);
    for (unsigned i = 0; i < 4; i++) {
        struct nucd_task task = named(BASE + 4, end, DATA + 128 + 56, DATA + 256 * i + 8);
        send(rig, i % 2, &task);
        (void)one(rig, TASK_UNIT_COMPLETED, 9000);
    }
    const struct footprint_counters *counted =
        footprint_check_counted(accelerators_checker(nucd_accelerators(rig_nucd(rig))));
    assert_int_equal(counted->tasks, 4);
    assert_int_equal(counted->accesses, 4 * 5);
    assert_int_equal(counted->violations, 0);
    rig_free(rig);
}

static void expect(const struct footprint_finding *finding, enum footprint_kind kind, uint64_t pc,
                   uint64_t address, unsigned accelerator, uint64_t count)
{
    assert_int_equal(finding->kind, kind);
    assert_int_equal(finding->pc, pc);
    assert_int_equal(finding->address, address);
    assert_int_equal(finding->accelerator, accelerator);
    assert_int_equal(finding->count, count);
    assert_int_equal(finding->nucd, BASE);
    assert_int_equal(finding->size, 8);
}

/* The nucd names the lines after those that the task accesses. Each queue has two tasks, which the checker
 * must tell apart. */
static void what_is_not_named_is_reported_once(void **state)
{
    (void)state;
    struct rig *rig = rig_check("accel.count=2");
    rig->findings = 1;
    rig->at = BASE + 4;
    uint64_t end = emit_copy(rig);
    struct nucd_task right = named(BASE + 4, end, DATA, DATA + 256);
    struct nucd_task wrong = named(BASE + 4, end, DATA + 64, DATA + 320 - 8);
    struct nucd_task store_to_input = named(BASE + 4, end, DATA + 512, DATA + 512);
    wrong.memory.in.range[0] = (struct nucd_range){DATA + 128, DATA + 191};
    store_to_input.memory.out.count = 0;
    send(rig, 0, &right);
    send(rig, 0, &wrong);
    send(rig, 1, &wrong);
    send(rig, 1, &wrong);
    send(rig, 1, &right);
    send(rig, 0, &store_to_input);
    assert_true(run(rig, 6, 20000));
    assert_int_equal(rig->completed, 6);
    unsigned count;
    const struct footprint_finding *findings =
        footprint_check_findings(accelerators_checker(nucd_accelerators(rig_nucd(rig))), &count);
    assert_int_equal(count, 2);
    /* Accelerator 1 reports first: its first task is already wrong. */
    expect(&findings[0], FOOTPRINT_LOAD, BASE + 12, DATA + 64, 1, 3);
    expect(&findings[1], FOOTPRINT_STORE, BASE + 20, DATA + 320, 1, 4);
    assert_false(findings[1].read_only);
    assert_int_equal(
        footprint_check_counted(accelerators_checker(nucd_accelerators(rig_nucd(rig))))->violations, 7);
    assert_int_equal(
        footprint_check_counted(accelerators_checker(nucd_accelerators(rig_nucd(rig))))->accesses, 6 * 5);
    rig_free(rig);
}

/* A task that was not sent by a nucd is not checked; the tasks after it are. */
static void unknown_tasks_are_not_checked(void **state)
{
    (void)state;
    struct rig *rig = rig_check("accel.count=1");
    rig->findings = 1;
    rig->at = BASE + 4;
    uint64_t end = emit_copy(rig);
    struct nucd_task task = named(BASE + 4, end, DATA, DATA + 256), other = task;
    other.live_ins.value[1] = 41; /* the only difference to the other task */
    other.memory.out.count = 0;
    push(rig, 0, &task, 1);
    (void)one(rig, TASK_UNIT_COMPLETED, 9000);
    assert_int_equal(footprint_check_counted(accelerators_checker(nucd_accelerators(rig_nucd(rig))))->unknown,
                     1);
    assert_int_equal(
        footprint_check_counted(accelerators_checker(nucd_accelerators(rig_nucd(rig))))->accesses, 0);
    footprint_check_begin(accelerators_checker(nucd_accelerators(rig_nucd(rig))), 0,
                          &task); /* this task was not sent after all */
    send(rig, 0, &other);
    (void)one(rig, TASK_UNIT_COMPLETED, 9000);
    push(rig, 0, &task, 1);
    (void)one(rig, TASK_UNIT_COMPLETED, 9000);
    assert_int_equal(footprint_check_counted(accelerators_checker(nucd_accelerators(rig_nucd(rig))))->unknown,
                     2);
    /* The output's load and store. */
    assert_int_equal(
        footprint_check_counted(accelerators_checker(nucd_accelerators(rig_nucd(rig))))->violations, 2);
    rig_free(rig);
}

/* Accesses another accelerator's stack, and executes code in writable memory. */
static void stacks_and_code(void **state)
{
    (void)state;
    struct rig *rig = rig_check("accel.count=2");
    rig->findings = 1;
    rig->at = DATA + 0x1000 + 4;
    EMIT(rig, addi, .rd = A0, .rs1 = SP, .imm = 0);
    struct nucd_task task = named(DATA + 0x1004, rig->at, DATA, DATA);
    send(rig, 1, &task);
    uint64_t stack = one(rig, TASK_UNIT_COMPLETED, 9000)->result;
    unsigned count;
    const struct footprint_finding *findings =
        footprint_check_findings(accelerators_checker(nucd_accelerators(rig_nucd(rig))), &count);
    assert_int_equal(count, 1);
    assert_int_equal(findings[0].kind, FOOTPRINT_FETCH);
    assert_int_equal(findings[0].address, DATA + 0x1004);
    assert_int_equal(findings[0].size, 4);
    assert_int_equal(findings[0].accelerator, 1);
    /* The task's initial sp is the end of the stack that the checker knows. */
    struct phys firmware = nucd_firmware_memory(rig->machine.tree, &rig->memory);
    assert_int_equal(stack, firmware.base + firmware.size / 2 + 2 * (firmware.size / 2 / 64));
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_named_is_not_reported),
        cmocka_unit_test(what_is_not_named_is_reported_once),
        cmocka_unit_test(unknown_tasks_are_not_checked),
        cmocka_unit_test(stacks_and_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
