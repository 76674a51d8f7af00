/* Accelerators with croft's own firmware: tasks are pushed into their units, as the host's engine does, and programs
 * are put together instruction by instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/env/workers.h"
#include "emu/machine/timed_state.h"
#include "isa/decode.h"
#include "tests/isa/encode.h"
#include "tests/sim/value.h"

#define BASE   UINT64_C(0x80000000)
#define DATA   (BASE + 0x10000)
#define NOBODY UINT64_C(0x100000000) /* behind memory: no device, until a test puts one there */
#define CLOCK  UINT64_C(1000000)     /* fs, of an accelerator */

enum { A0 = 10, A1, A2, A3, A4, T0 = 5, T1 = 6, S0 = 8, RA = 1, SP = 2, GP = 3, TP = 4, REPORTS = 256 };

/* A machine whose host does nothing. */
struct rig {
    struct machine_config machine;
    struct phys memory;
    struct decoder *decoder;
    struct user_harts user;
    struct timed *timed;
    struct event end;
    uint64_t at; /* where the next instruction goes */
    unsigned reports, completed;
    struct task_unit_report report[REPORTS];
    unsigned from[REPORTS];
    uint64_t first_pc, first_issue; /* when the accelerator's instruction at first_pc issued, fs */
};

static void told(void *context, unsigned accel, const struct task_unit_report *report)
{
    struct rig *rig = context;
    if (report->event == TASK_UNIT_EMPTIED)
        return;
    assert_true(rig->reports < REPORTS);
    rig->from[rig->reports] = accel;
    rig->report[rig->reports++] = *report;
    rig->completed += report->event == TASK_UNIT_COMPLETED;
}

static void retired(void *context, const struct core *core, const struct core_note *note)
{
    struct rig *rig = context;
    if (note->pc == rig->first_pc && rig->first_issue == 0)
        rig->first_issue = clock_time(&core->parts.clock, note->issue);
}

static void tick(void *owner, uint64_t now)
{
    (void)owner;
    (void)now;
}

/* Runs until there are so many reports, or `clocks` are over; false in the latter case. A core that never waits runs
 * up to the next event. */
static bool run(struct rig *rig, unsigned reports, uint64_t clocks)
{
    struct event_queue *queue = &rig->timed->queue;
    event_schedule(queue, &rig->end, queue->now + clocks * CLOCK);
    while (rig->reports < reports && event_pending(&rig->end))
        (void)event_queue_step(queue);
    event_cancel(queue, &rig->end);
    return rig->reports >= reports;
}

static struct rig *rig_new(const char *count)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct error err = {""};
    const char *sets[] = {"memory.size=16 MiB", count};
    assert_non_null(rig);
    rig->decoder = decoder_new();
    rig->at = BASE;
    if (!machine_load(&rig->machine, "nucd", "emu/machine/shipped", sets, 2, &err) ||
        !phys_init(&rig->memory, BASE, rig->machine.memory.size, &err) ||
        !user_harts_init(&rig->user, &rig->machine, FIRMWARE, &rig->memory, rig->decoder, &err))
        fail_msg("%s", err.text);
    struct offload *offload = workers_offload(rig->user.workers);
    const struct timed_options options = {
        .machine = &rig->machine, .max_time = UINT64_MAX, .check_dram = true, .offload = offload};
    rig->timed = timed_new(&options, rig->user.harts, rig->user.count, &rig->memory, &err);
    if (!rig->timed)
        fail_msg("%s", err.text);
    event_init(&rig->end, UINT16_MAX, tick, rig);
    offload_listen(offload, told, rig);
    rig->timed->cores[1].core->observer = (struct core_observer){retired, NULL, rig};
    (void)run(rig, 1, 5000); /* start-up */
    for (unsigned i = 1; i < rig->user.count; i++)
        assert_true(rig->timed->cores[i].core->asleep);
    return rig;
}

static void rig_free(struct rig *rig)
{
    assert_int_equal(timed_finish(rig->timed, NULL), 0);
    timed_free(rig->timed);
    user_harts_free(&rig->user);
    phys_free(&rig->memory);
    decoder_free(rig->decoder);
    machine_free(&rig->machine);
    free(rig);
}

static struct task_unit *unit_of(struct rig *rig, unsigned accel)
{
    return offload_unit(workers_offload(rig->user.workers), accel);
}

static void emit_operands(struct rig *rig, enum insn_id id, struct operands operands)
{
    uint32_t code = encode(id, &operands);
    memcpy(phys_at(&rig->memory, rig->at, 4), &code, 4);
    rig->at += 4;
}
#define EMIT(rig, name, ...) emit_operands(rig, INSN_##name, (struct operands){__VA_ARGS__})

static uint64_t load64(struct rig *rig, uint64_t address)
{
    uint64_t value;
    memcpy(&value, phys_at(&rig->memory, address, 8), 8);
    return value;
}

/* A task whose inputs are a0-a7 (values in[count]). */
static struct nucd_task task_of(uint64_t begin, uint64_t end, unsigned count, const uint64_t *in)
{
    struct nucd_task task = {.begin = begin, .end = end, .result = A0};
    task.live_ins.mask = ((1u << count) - 1) << A0;
    memcpy(task.live_ins.value, in, count * sizeof *in);
    return task;
}

static void push(struct rig *rig, unsigned accel, const struct nucd_task *task, uint16_t tag)
{
    uint64_t words[NUCD_PACKET_WORDS];
    unsigned count = nucd_packet_write(task, tag, words);
    assert_true(task_unit_push(unit_of(rig, accel), words, count));
}

static const struct task_unit_report *one(struct rig *rig, enum task_unit_event event, uint64_t clocks)
{
    unsigned next = rig->reports;
    if (!run(rig, next + 1, clocks))
        fail_msg("nothing was reported within %llu clocks; the pc is 0x%llx", (unsigned long long)clocks,
                 (unsigned long long)rig->user.harts[1].pc);
    assert_int_equal(rig->report[next].event, event);
    return &rig->report[next];
}

/* Stores the sum of a1 and a2 where a0 points to, and returns it. */
static uint64_t emit_sum(struct rig *rig)
{
    EMIT(rig, add, .rd = T0, .rs1 = A1, .rs2 = A2);
    EMIT(rig, sd, .rs1 = A0, .rs2 = T0, .imm = 0);
    EMIT(rig, add, .rd = A0, .rs1 = T0, .rs2 = 0);
    uint64_t end = rig->at;
    EMIT(rig, ebreak, .rd = 0); /* never executed */
    return end;
}

static void a_task_is_executed_and_its_data_written_back(void **state)
{
    (void)state;
    struct rig *rig = rig_new("accel.count=1");
    uint64_t end = emit_sum(rig);
    struct cache *l1d = rig->timed->cores[1].l1d;
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t in[] = {DATA + 64 * i, 40, i};
        struct nucd_task task = task_of(BASE, end, 3, in);
        rig->first_pc = BASE;
        rig->first_issue = 0;
        uint64_t start = rig->timed->queue.now;
        push(rig, 0, &task, (uint16_t)(7 + i));
        const struct task_unit_report *report = one(rig, TASK_UNIT_COMPLETED, 5000);
        assert_int_equal(report->result, 40 + i);
        assert_int_equal(report->tag, 7 + i);
        assert_int_equal(load64(rig, DATA + 64 * i), 40 + i);
        assert_int_equal(cache_line_state(l1d, DATA + 64 * i), CACHE_INVALID);
        print_message("task %u: first instruction after %llu ns, completed after %llu ns\n", i,
                      (unsigned long long)((rig->first_issue - start) / CLOCK),
                      (unsigned long long)((rig->timed->queue.now - start) / CLOCK));
        (void)run(rig, REPORTS, 1000);
        assert_true(rig->timed->cores[1].core->asleep);
    }
    rig_free(rig);
}

/* Any register can bring the result back, and be handed over. */
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

/* The region's end lies within a function that calls itself: it counts only where no call is open. */
static void a_region_ends_at_the_depth_where_it_began(void **state)
{
    (void)state;
    struct rig *rig = rig_new("accel.count=1");
    EMIT(rig, addi, .rd = A1, .rs1 = 0, .imm = 5);
    EMIT(rig, jal, .rd = RA, .imm = 8); /* to `down` */
    uint64_t end = rig->at;
    EMIT(rig, jalr, .rd = 0, .rs1 = T1, .imm = 0);  /* at the end: ret by t1, when it is not the end */
    EMIT(rig, addi, .rd = A0, .rs1 = A0, .imm = 1); /* down: a0++ */
    EMIT(rig, addi, .rd = A1, .rs1 = A1, .imm = -1);
    /* At depth 1, pass by the end five times, as an ordinary jump: it executes the jalr there. */
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
    task = task_of(BASE, rig->at, 2, exact); /* flags do not outlast a task */
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

/* s0 and t0, t1, tp and gp survive a fault, whose address is mapped afterwards. */
static void a_fault_is_reported_and_resumed(void **state)
{
    (void)state;
    struct rig *rig = rig_new("accel.count=1");
    static const struct device_ops late = {read_late, drop};
    const struct bus_region region = {NOBODY, 4096, BUS_8, false, &late, NULL, "late"};
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
    assert_true(bus_add(&rig->user.bus, &region, &err));
    assert_true(task_unit_resume(unit_of(rig, 0)));
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 11 + 1 + 2 + 4 + 1000 + 2000);
    rig_free(rig);
}

/* A region that never ends, and one that has faulted, are killed; the unit's next task is executed. */
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
    assert_int_equal(cache_line_state(rig->timed->cores[1].l1d, DATA), CACHE_MODIFIED);
    assert_true(task_unit_kill(unit_of(rig, 0)));
    assert_int_equal(rig->report[0].event, TASK_UNIT_KILLED);
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 3);
    assert_int_equal(cache_line_state(rig->timed->cores[1].l1d, DATA), CACHE_INVALID);
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

/* Whatever a region tries: sp is a stack of its own; firmware, others' stacks and devices are out of reach; so are
 * calls of an operating system. */
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
    struct phys firmware = offload_firmware_memory(&rig->machine, &rig->memory);
    uint64_t stack = firmware.size / 2 / 64;
    const uint64_t places[] = {firmware.base, firmware.base + firmware.size / 2 + stack /* accelerator 1's */,
                               rig->machine.nucd.base, NOBODY};
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

/* A region that holds a nucd and a marker: both are hints. */
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

/* New code at the old place is executed when the unit has been told. */
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
    offload_change_code(workers_offload(rig->user.workers));
    push(rig, 0, &task, 2);
    assert_int_equal(one(rig, TASK_UNIT_COMPLETED, 9000)->result, 7);
    rig_free(rig);
}

/* The value of a counter. */
static uint64_t counted(struct rig *rig, const char *name)
{
    struct stats *stats = stats_new();
    offload_publish(workers_offload(rig->user.workers), stats);
    uint64_t value = stats_value(stats, name);
    stats_free(stats);
    return value;
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
        cmocka_unit_test(the_host_can_kill),
        cmocka_unit_test(regions_reach_memory_and_their_stack_only),
        cmocka_unit_test(hints_within_a_region_do_nothing),
        cmocka_unit_test(changed_code_is_fetched_anew),
        cmocka_unit_test(sixteen_units_do_many_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
