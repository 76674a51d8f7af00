/* One mechanism of the window at a time: deferred instructions, held loads, stops of dispatch, and commits to
 * the hart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "emu/hart/fp.h"
#include "emu/hart/mmu.h"
#include "emu/hart/probe.h"
#include "emu/nucd/window.h"
#include "tests/hart/fixture.h"

enum { POINTER = 8, ROB = 16, STORES = 4 };
#define OUTPUT FIXTURE_DATA           /* input of the first task: one line */
#define INPUT  (FIXTURE_DATA + 0x100) /* output of the first task: one line */

struct rig {
    struct fixture f;
    struct nucd_depend tasks;
    struct window *window;
};

static void rig_init(struct rig *rig)
{
    struct error err;
    fixture_init(&rig->f, 0x10000);
    nucd_depend_init(&rig->tasks, NUCD_TASKS, NUCD_LINE);
    rig->window = window_new(&rig->f.hart, &rig->tasks, ROB, STORES, &err);
    assert_non_null(rig->window);
    rig->f.hart.x[POINTER] = OUTPUT;
    fixture_row(&rig->f, INSN_nucd, (struct operands){.rs1 = 0, .rs2 = 0});
}

static void rig_free(struct rig *rig)
{
    window_free(rig->window);
    fixture_free(&rig->f);
}

static void put(struct rig *rig, enum insn_id id, struct operands operands)
{
    fixture_row(&rig->f, id, operands);
}

/* Dispatches the next nucd as a task without a region, with a line of input and a line of output. Its result
 * is x10. */
static uint64_t start(struct rig *rig, uint64_t in, uint64_t out)
{
    uint64_t pc = window_pc(rig->window);
    struct nucd_task task = {.pc = pc,
                             .begin = pc + 4,
                             .end = pc + 4,
                             .memory = {.in = {1, {{in, in + 63}}}, .out = {1, {{out, out + 63}}}},
                             .result = 10};
    assert_int_equal(window_step(rig->window).stop, WINDOW_NUCD);
    return window_task(rig->window, &task, nucd_depend_add(&rig->tasks, &task, NULL));
}

static uint64_t finish(struct rig *rig, uint64_t number, uint64_t result)
{
    (void)nucd_depend_complete(&rig->tasks, window_entry(rig->window, number)->slot);
    return window_complete(rig->window, number, result, FP_NX);
}

static void expect(struct rig *rig, enum window_stop stop, uint64_t number)
{
    struct window_step step = window_step(rig->window);
    assert_int_equal(step.stop, stop);
    assert_int_equal(step.number, number);
}

static void never(void *context, uint64_t address, uint64_t size)
{
    (void)context;
    fail_msg("a store to %#lx, %lu bytes", address, size);
}

static const struct window_entry *dispatched(struct rig *rig)
{
    struct window_step step = window_step(rig->window);
    assert_int_equal(step.stop, WINDOW_DISPATCHED);
    return window_entry(rig->window, step.number);
}

/* When 41 arrives, 42 and 84 are computed. Independent instructions have their values at once. The hart does
 * not change before commit. */
static void results_are_waited_for(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    put(&rig, INSN_addi, (struct operands){.rd = 11, .rs1 = 10, .imm = 1});
    put(&rig, INSN_add, (struct operands){.rd = 12, .rs1 = 11, .rs2 = 11});
    put(&rig, INSN_addi, (struct operands){.rd = 13, .imm = 7});
    put(&rig, INSN_fmv_d_x, (struct operands){.rd = 3, .rs1 = 12});
    rig.f.hart.priv.mstatus = 1 << 13; /* FS = Initial */
    uint64_t task = start(&rig, INPUT, OUTPUT);
    const struct window_entry *first = dispatched(&rig), *second = dispatched(&rig);
    assert_true(first->deferred && first->producer[0] == task && first->op.rd == 11);
    assert_true(second->deferred && second->producer[0] == first->number);
    assert_int_equal(second->producer[1], first->number);
    assert_int_equal(dispatched(&rig)->result, 7);
    (void)dispatched(&rig);
    assert_int_equal(window_read(rig.window, 13), 7);
    assert_int_equal(finish(&rig, task, 41), WINDOW_NONE);
    assert_true(first->result == 42 && second->result == 84 && second->deferred);
    assert_int_equal(rig.f.hart.x[13], 0);
    assert_int_equal(rig.f.hart.fflags, 0);
    window_commit(rig.window, task + 3);
    assert_true(rig.f.hart.x[10] == 41 && rig.f.hart.x[12] == 84 && rig.f.hart.x[13] == 7);
    assert_true(rig.f.hart.f[3] == 0 && rig.f.hart.instret == 4 && rig.f.hart.fflags == FP_NX);
    assert_int_equal(rig.f.hart.pc, FIXTURE_BASE + 16);
    assert_int_equal(rig.f.hart.stepped[CLASS_ALU], 3);
    assert_int_equal(rig.f.hart.priv.mstatus & MSTATUS_FS, MSTATUS_FS);
    window_commit(rig.window, task + 4);
    assert_int_equal(rig.f.hart.f[3], 84);
    rig_free(&rig);
}

/* A load of bytes of an older store has its value at once; one that also reads the task's bytes is held. */
static void outputs_are_waited_for(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    put(&rig, INSN_sw, (struct operands){.rs1 = POINTER, .rs2 = 9, .imm = 2});
    put(&rig, INSN_lw, (struct operands){.rd = 11, .rs1 = POINTER, .imm = 2});
    put(&rig, INSN_ld, (struct operands){.rd = 12, .rs1 = POINTER});
    put(&rig, INSN_ld, (struct operands){.rd = 13, .rs1 = POINTER, .imm = 64});
    rig.f.hart.x[9] = 0x44332211;
    uint64_t task = start(&rig, INPUT, OUTPUT);
    const struct window_entry *store = dispatched(&rig);
    assert_true(store->evaluated && store->address == OUTPUT + 2 && store->physical == OUTPUT + 2);
    assert_int_equal(dispatched(&rig)->result, 0x44332211);
    const struct window_entry *held = dispatched(&rig);
    assert_true(held->deferred && held->held_for == task && held->address_known);
    assert_true(dispatched(&rig)->evaluated);
    fixture_write(&rig.f, OUTPUT, 8, UINT64_C(0x8877665544332200));
    assert_int_equal(finish(&rig, task, 0), WINDOW_NONE);
    assert_int_equal(held->result, UINT64_C(0x8877443322112200));
    window_commit(rig.window, task);
    assert_int_equal(fixture_read(&rig.f, OUTPUT, 8), UINT64_C(0x8877665544332200));
    window_commit(rig.window, store->number);
    assert_int_equal(fixture_read(&rig.f, OUTPUT, 8), UINT64_C(0x8877443322112200));
    rig_free(&rig);
}

/* The second task's packet waits until older instructions are evaluated, and for the store to its input. */
static void packets_wait_for_held_stores(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    put(&rig, INSN_sd, (struct operands){.rs1 = POINTER, .rs2 = 9, .imm = 0x200});
    put(&rig, INSN_addi, (struct operands){.rd = 9, .rs1 = 10});
    put(&rig, INSN_nucd, (struct operands){.rs1 = 9});
    put(&rig, INSN_nucd, (struct operands){.rs1 = 0});
    uint64_t task = start(&rig, INPUT, OUTPUT);
    assert_true(window_task_ready(rig.window, task));
    uint64_t store = dispatched(&rig)->number, value = dispatched(&rig)->number;
    expect(&rig, WINDOW_OPERAND, value);
    (void)finish(&rig, task, 5);
    uint64_t near = start(&rig, OUTPUT + 0x200, OUTPUT + 0x300);
    uint64_t far = start(&rig, OUTPUT + 0x240, OUTPUT + 0x400);
    assert_false(window_task_ready(rig.window, near));
    assert_true(window_task_ready(rig.window, far));
    window_commit(rig.window, store);
    assert_true(window_task_ready(rig.window, near));
    window_squash(rig.window, near);
    assert_int_equal(window_pc(rig.window), FIXTURE_BASE + 12);
    rig_free(&rig);
}

/* A load before the second task reads its output. First its address is unknown; then it could be squashed and
 * repeated. */
static void packets_wait_for_older_loads(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    put(&rig, INSN_ld, (struct operands){.rd = 11, .rs1 = 10});
    put(&rig, INSN_nucd, (struct operands){.rs1 = 0});
    uint64_t task = start(&rig, INPUT, OUTPUT), load = dispatched(&rig)->number;
    uint64_t second = start(&rig, INPUT, OUTPUT + 0x200);
    assert_false(window_task_ready(rig.window, second));
    assert_int_equal(finish(&rig, task, OUTPUT + 0x200), WINDOW_NONE);
    assert_true(window_entry(rig.window, load)->evaluated);
    assert_false(window_task_ready(rig.window, second));
    window_commit(rig.window, load);
    assert_true(window_task_ready(rig.window, second));
    rig_free(&rig);
}

/* Deferred arithmetic lets the second task's packet leave, and so do a store of the result and a held load, unless the
 * task reads what the store writes, or writes what the load reads. A store of unknown address does not. */
static void packets_overtake_deferred(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    put(&rig, INSN_add, (struct operands){.rd = 11, .rs1 = 10, .rs2 = 10});
    put(&rig, INSN_fcvt_d_l, (struct operands){.rd = 3, .rs1 = 11, .rs3 = 0});
    put(&rig, INSN_sd, (struct operands){.rs1 = POINTER, .rs2 = 11, .imm = 0x200});
    put(&rig, INSN_ld, (struct operands){.rd = 12, .rs1 = POINTER, .imm = 8});
    for (unsigned i = 0; i < 4; i++)
        put(&rig, INSN_nucd, (struct operands){.rs1 = 0});
    put(&rig, INSN_sd, (struct operands){.rs1 = 10, .rs2 = 9});
    put(&rig, INSN_nucd, (struct operands){.rs1 = 0});
    rig.f.hart.priv.mstatus = 1 << 13; /* FS = Initial */
    (void)start(&rig, INPUT, OUTPUT);
    for (unsigned i = 0; i < 4; i++)
        assert_false(dispatched(&rig)->evaluated);
    uint64_t apart = start(&rig, INPUT, OUTPUT + 0x400), reads = start(&rig, OUTPUT + 0x200, OUTPUT + 0x440);
    uint64_t writes = start(&rig, INPUT, OUTPUT), shares = start(&rig, OUTPUT, OUTPUT + 0x480);
    assert_true(window_task_ready(rig.window, apart));
    assert_false(window_task_ready(rig.window, reads));
    assert_false(window_task_ready(rig.window, writes));
    assert_true(window_task_ready(rig.window, shares)); /* the dependency table blocks it */
    assert_false(dispatched(&rig)->address_known);
    assert_false(window_task_ready(rig.window, start(&rig, INPUT, OUTPUT + 0x500)));
    rig_free(&rig);
}

/* A task that has run when its nucd is reached again; and a nucd that is only a hint. */
static void tasks_run_once(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    put(&rig, INSN_addi, (struct operands){.rd = 11, .rs1 = 10, .imm = 1});
    uint64_t number = start(&rig, INPUT, OUTPUT);
    (void)dispatched(&rig);
    window_squash(rig.window, number);
    (void)nucd_depend_complete(&rig.tasks, 0);
    expect(&rig, WINDOW_NUCD, number);
    struct nucd_task task = {.end = FIXTURE_BASE + 4, .result = 10};
    assert_int_equal(window_task(rig.window, &task, NUCD_NO_TASK), number);
    assert_int_equal(window_complete(rig.window, number, 6, 0), WINDOW_NONE);
    assert_int_equal(dispatched(&rig)->result, 7);
    window_squash(rig.window, number);
    expect(&rig, WINDOW_NUCD, number);
    assert_int_equal(window_hint(rig.window), number);
    assert_int_equal(dispatched(&rig)->result, 1);
    window_commit(rig.window, number + 1);
    assert_true(rig.f.hart.pc == FIXTURE_BASE + 8 && rig.f.hart.x[10] == 0 && rig.f.hart.fflags == 0);
    rig_free(&rig);
}

/* The same instruction at addresses that share a slot of the decode cache. */
static void entries_know_their_place(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (unsigned i = 0; i < 2; i++, rig.f.at = FIXTURE_BASE + 4 + 0x400) {
        put(&rig, INSN_auipc, (struct operands){.rd = 11});
        put(&rig, INSN_jal, (struct operands){.imm = 0x400 - 4});
    }
    (void)start(&rig, INPUT, OUTPUT);
    for (unsigned i = 0; i < 2; i++) {
        const struct window_entry *entry = dispatched(&rig);
        assert_int_equal(entry->result, FIXTURE_BASE + 4 + 0x400 * i);
        assert_int_equal(entry->op.pc, FIXTURE_BASE + 4 + 0x400 * i);
        assert_ptr_equal(entry->op.insn, &entry->insn);
        (void)dispatched(&rig);
    }
    rig_free(&rig);
}

static void queues_are_finite(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (unsigned i = 0; i < STORES + 1; i++)
        put(&rig, INSN_sb, (struct operands){.rs1 = POINTER, .imm = (int)i});
    uint64_t task = start(&rig, INPUT, OUTPUT);
    for (unsigned i = 0; i < STORES; i++)
        (void)dispatched(&rig);
    expect(&rig, WINDOW_STORES, task + 1);
    (void)finish(&rig, task, 0);
    window_commit(rig.window, task + 1);
    assert_int_equal(dispatched(&rig)->number, task + 1 + STORES);
    for (unsigned i = 0; i < ROB; i++)
        put(&rig, INSN_addi, (struct operands){.rd = 11, .rs1 = 11, .imm = 1});
    for (unsigned i = 0; i < ROB - STORES; i++)
        (void)dispatched(&rig);
    expect(&rig, WINDOW_FULL, task + 2);
    rig_free(&rig);
}

/* Each of these stops dispatch behind the task, and is executed normally when the window is empty. */
static void some_go_the_normal_way(void **state)
{
    (void)state;
    static const struct {
        enum insn_id id;
        struct operands operands;
    } rows[] = {
        {INSN_amoadd_d, {.rd = 11, .rs1 = POINTER}},
        {INSN_lr_d, {.rd = 11, .rs1 = POINTER}},
        {INSN_csrrs, {.rd = 11, .imm = 0xc00}},
        {INSN_fence, {.imm = 0xff}},
        {INSN_fence_i, {0}},
        {INSN_ecall, {0}},
        {INSN_wfi, {0}},
        {INSN_marker, {.imm = 1}},
        {INSN_cbo_clean, {.rs1 = POINTER}},
        {INSN_ld, {.rd = 11, .rs1 = 0}},                    /* no memory */
        {INSN_ld, {.rd = 11, .rs1 = POINTER, .imm = -1}},   /* across pages */
        {INSN_lb, {.rd = 11, .rs1 = POINTER, .imm = 0x80}}, /* a watchpoint */
        {INSN_sb, {.rs1 = POINTER, .imm = 0x88}},           /* a watchpoint */
        {INSN_sb, {.rs1 = POINTER, .imm = 0x97}},           /* the hook */
        {INSN_sb, {.rs1 = POINTER, .imm = -0x100}},         /* protected */
        {INSN_fadd_d, {.rm = RM_RNE}},                      /* FS is Off */
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig rig;
        rig_init(&rig);
        put(&rig, rows[i].id, rows[i].operands);
        assert_true(hart_watchpoint_add(&rig.f.hart, OUTPUT + 0x80, 8, HART_WATCH_READ));
        assert_true(hart_watchpoint_add(&rig.f.hart, OUTPUT + 0x88, 8, HART_WATCH_WRITE));
        hart_set_hook(&rig.f.hart, OUTPUT + 0x90, never, NULL);
        hart_protect(&rig.f.hart, OUTPUT - 0x80);
        rig.f.hart.priv.mstatus = 0;
        rig.f.hart.trap.value = 77;
        uint64_t task = start(&rig, INPUT, OUTPUT);
        expect(&rig, WINDOW_SERIAL, task);
        (void)finish(&rig, task, 0);
        expect(&rig, WINDOW_SERIAL, task);
        window_commit(rig.window, task);
        expect(&rig, WINDOW_SERIAL, WINDOW_NONE);
        assert_int_equal(rig.f.hart.trap.value, 77);
        assert_int_equal(rig.f.hart.priv.mstatus, 0);
        assert_int_equal(window_next(rig.window), task + 1);
        rig_free(&rig);
    }
}

static void breakpoints_stop(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    put(&rig, INSN_addi, (struct operands){.rd = 11});
    assert_true(hart_breakpoint_add(&rig.f.hart, FIXTURE_BASE + 4));
    uint64_t task = start(&rig, INPUT, OUTPUT);
    expect(&rig, WINDOW_SERIAL, task);
    assert_true(hart_breakpoint_remove(&rig.f.hart, FIXTURE_BASE + 4));
    (void)dispatched(&rig);
    rig_free(&rig);
}

/* An order point waits for all tasks, and costs nothing without one. */
static void order_points_wait(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    put(&rig, INSN_nucd_order, (struct operands){0});
    put(&rig, INSN_nucd_order, (struct operands){0});
    uint64_t task = start(&rig, INPUT, OUTPUT);
    expect(&rig, WINDOW_ORDER, task);
    (void)finish(&rig, task, 0);
    assert_true(dispatched(&rig)->evaluated);
    window_commit(rig.window, window_next(rig.window) - 1);
    assert_true(dispatched(&rig)->evaluated);
    rig_free(&rig);
}

/* Code in a running task's output range, and a store to the instruction after the next one. */
static void code_is_never_stale(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    put(&rig, INSN_sw, (struct operands){.rs1 = 9, .imm = 0x48});
    rig.f.hart.x[9] = FIXTURE_BASE;
    uint64_t task = start(&rig, INPUT, FIXTURE_BASE);
    expect(&rig, WINDOW_CODE, task);
    (void)finish(&rig, task, 0);
    uint64_t store = dispatched(&rig)->number;
    rig.f.at = FIXTURE_BASE + 8;
    put(&rig, INSN_jal, (struct operands){.imm = 0x3c});
    rig.f.at = FIXTURE_BASE + 0x44;
    put(&rig, INSN_addi, (struct operands){.rd = 11});
    put(&rig, INSN_addi, (struct operands){.rd = 12});
    (void)dispatched(&rig);
    (void)dispatched(&rig);
    expect(&rig, WINDOW_CODE, store);
    window_commit(rig.window, store);
    expect(&rig, WINDOW_SERIAL, store + 2); /* zeroes are not an instruction */
    rig_free(&rig);
}

/* An address turns out to be invalid: everything from there on is squashed and executed normally. */
static void deferred_faults_squash(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    put(&rig, INSN_addi, (struct operands){.rd = 11, .imm = 3});
    put(&rig, INSN_sd, (struct operands){.rs1 = 10, .rs2 = 11});
    put(&rig, INSN_addi, (struct operands){.rd = 11, .imm = 4});
    put(&rig, INSN_ld, (struct operands){.rd = 12, .rs1 = POINTER});
    uint64_t task = start(&rig, INPUT, OUTPUT);
    (void)dispatched(&rig);
    uint64_t store = dispatched(&rig)->number;
    (void)dispatched(&rig);
    expect(&rig, WINDOW_ADDRESS, store);
    assert_int_equal(window_read(rig.window, 11), 4);
    assert_int_equal(finish(&rig, task, 1), store);
    assert_int_equal(window_read(rig.window, 11), 3);
    assert_int_equal(window_next(rig.window), store);
    expect(&rig, WINDOW_SERIAL, store - 1);
    rig_free(&rig);
}

/* Sv39 with an identity mapping by one gigabyte page whose D bit is clear: a store, which would set it, is
 * not executed ahead. */
static void dirty_bits_are_exact(void **state)
{
    (void)state;
    struct rig rig;
    struct bus bus;
    struct error err;
    rig_init(&rig);
    struct hart *hart = &rig.f.hart;
    uint64_t root = FIXTURE_BASE + 0x2000, entry = root + 8 * (FIXTURE_BASE >> 30);
    uint64_t pte = FIXTURE_BASE >> 12 << 10 | 0x4f; /* A, X, W, R, V */
    put(&rig, INSN_ld, (struct operands){.rd = 11, .rs1 = POINTER, .imm = 64});
    put(&rig, INSN_sd, (struct operands){.rs1 = POINTER, .rs2 = 9});
    bus_init(&bus, &rig.f.memory);
    assert_true(hart_init_privileged(hart, &bus, 0, 1, &err));
    fixture_write(&rig.f, entry, 8, pte);
    hart->pc = FIXTURE_BASE;
    hart->hardware_ad = true;
    hart->privilege = PRIV_S;
    hart->priv.satp = (uint64_t)SATP_SV39 << SATP_MODE_SHIFT | root >> 12;
    hart->priv.pmpcfg[0] = PMP_NAPOT | PMP_R | PMP_W | PMP_X;
    hart->priv.pmpaddr[0] = UINT64_MAX >> 10;
    priv_changed(hart);
    hart->trap.value = 77;
    uint64_t task = start(&rig, INPUT, OUTPUT);
    (void)dispatched(&rig);
    expect(&rig, WINDOW_SERIAL, task + 1);
    assert_int_equal(fixture_read(&rig.f, entry, 8), pte);
    assert_true(hart->hardware_ad && hart->trap.value == 77);
    fixture_write(&rig.f, entry, 8, pte | 0x80);
    (void)dispatched(&rig);
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_waited_for),
        cmocka_unit_test(outputs_are_waited_for),
        cmocka_unit_test(packets_wait_for_held_stores),
        cmocka_unit_test(queues_are_finite),
        cmocka_unit_test(some_go_the_normal_way),
        cmocka_unit_test(breakpoints_stop),
        cmocka_unit_test(order_points_wait),
        cmocka_unit_test(code_is_never_stale),
        cmocka_unit_test(deferred_faults_squash),
        cmocka_unit_test(dirty_bits_are_exact),
        cmocka_unit_test(packets_wait_for_older_loads),
        cmocka_unit_test(packets_overtake_deferred),
        cmocka_unit_test(tasks_run_once),
        cmocka_unit_test(entries_know_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
