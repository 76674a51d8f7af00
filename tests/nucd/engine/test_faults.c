/* The engine with a simulated core and accelerators: faults and interrupts. */
#include "tests/nucd/engine/engine_rig.h"

/* The host traps at the nucd, with the fault's details in its CSRs. When it returns, the task continues. */
static void a_fault_traps_and_is_resumed(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, true, 1);
    struct hart *hart = &b->rig->hart;
    hart->offload.present = true;
    hart->priv.mtvec = RIG_BASE + HANDLER;
    engine_rig_set_operands(b, false, false);
    uint64_t number = engine_rig_start(b, 100);
    engine_rig_run(b, 200);
    engine_rig_stop(b, 300, 0);
    engine_rig_run(b, 325);
    assert_int_equal(b->squashes, 1);
    assert_int_equal(b->squashed, number);
    assert_int_equal(b->ops->left(b->engine, 325 * NS), HART_STOP_LIMIT);
    assert_int_equal(hart->pc, RIG_BASE + HANDLER);
    assert_int_equal(hart->priv.mcause, 24);
    assert_int_equal(hart->priv.mepc, RIG_BASE);
    assert_int_equal(hart->priv.mtval, 0);
    assert_int_equal(hart->offload.cause, TRAP_LOAD_PAGE);
    assert_int_equal(hart->offload.value, 0x5000);
    assert_int_equal(hart->offload.offset, 4);
    assert_true(hart->offload.frozen);
    engine_rig_run(b, 600);
    hart->pc = RIG_BASE;
    assert_int_equal(b->resumed, 0);
    struct offload_step next = engine_rig_step(b);
    assert_int_equal(next.stop, OFFLOAD_TASK);
    b->ops->task_ready(b->engine, next.number, 600 * NS, 600 * NS, 600 * NS);
    engine_rig_run(b, 1000);
    assert_int_equal(b->resumed, 1);
    assert_int_equal(b->resumed_at, 600 + LINK);
    assert_false(hart->offload.frozen);
    assert_int_equal(b->push_count, 1);
    engine_rig_complete(b, 1000, 0, 5);
    engine_rig_run(b, 1100);
    assert_int_equal(b->completed, next.number);
    b->ops->retired(b->engine, next.number, 1100 * NS);
    assert_int_equal(hart->x[VALUE], 5);
    engine_rig_free(b);
}

static void a_killed_task_begins_anew(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, true, 1);
    struct hart *hart = &b->rig->hart;
    engine_rig_set_operands(b, false, false);
    (void)engine_rig_start(b, 100);
    engine_rig_run(b, 200);
    engine_rig_stop(b, 300, 0);
    engine_rig_run(b, 325);
    (void)b->ops->left(b->engine, 325 * NS);
    hart->offload.control(hart->offload.context, 1); /* resuming is the default */
    assert_true(hart->offload.frozen);
    hart->offload.control(hart->offload.context, 2);
    assert_false(hart->offload.frozen);
    engine_rig_run(b, 400);
    assert_int_equal(b->killed, 1);
    engine_rig_report(b, 400, 0, (struct task_unit_report){.event = TASK_UNIT_KILLED});
    hart->pc = RIG_BASE;
    engine_rig_run(b, 500);
    (void)engine_rig_start(b, 500);
    engine_rig_run(b, 1000);
    assert_int_equal(b->push_count, 2);
    assert_int_equal(stats_value(b->stats, "nucd.killed"), 1);
    engine_rig_free(b);
}

/* Harts that take no traps stop, as for their own faults. */
static void a_user_program_stops(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 1);
    engine_rig_set_operands(b, false, false);
    (void)engine_rig_start(b, 100);
    engine_rig_run(b, 200);
    engine_rig_stop(b, 300, 0);
    engine_rig_run(b, 325);
    assert_int_equal(b->ops->left(b->engine, 325 * NS), HART_STOP_TRAP);
    assert_int_equal(b->rig->hart.trap.cause, TRAP_LOAD_PAGE);
    assert_int_equal(b->rig->hart.trap.value, 0x5000);
    assert_int_equal(engine_fault(b->engine)->pc, RIG_BASE + 8);
    assert_int_equal(b->rig->hart.pc, RIG_BASE);
    engine_rig_free(b);
}

/* An interrupt squashes both tasks. The one that was sent is awaited and not sent again; the other starts
 * anew. */
static void what_has_left_is_not_run_again(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 1);
    engine_rig_set_operands(b, false, true);
    b->rig->hart.x[XT] &= ~UINT64_C(0xffff);
    uint64_t first = engine_rig_start(b, 100);
    (void)engine_rig_start(b, 100); /* blocked */
    engine_rig_run(b, 250);
    assert_int_equal(b->push_count, 1);
    assert_int_equal(b->ops->interrupt(b->engine), first);
    assert_int_equal(b->ops->left(b->engine, 250 * NS), HART_STOP_LIMIT);
    assert_true(b->ops->takes(b->engine));
    struct offload_step next = engine_rig_step(b);
    assert_int_equal(next.stop, OFFLOAD_WAIT);
    assert_int_equal(next.number, 0);
    engine_rig_complete(b, 400, 0, 0);
    engine_rig_run(b, 425);
    assert_int_equal(b->gone_on, 1);
    next = engine_rig_step(b);
    assert_int_equal(next.stop, OFFLOAD_DISPATCHED);
    struct offload_view view;
    b->ops->look(b->engine, next.number, &view);
    assert_true(view.evaluated);
    (void)engine_rig_start(b, 425);
    b->ops->retired(b->engine, next.number, 430 * NS);
    engine_rig_run(b, 1000);
    assert_int_equal(b->push_count, 2);
    assert_int_equal(b->pushes[1].packet.begin, RIG_BASE + 12);
    engine_rig_free(b);
}

/* The older task is held by a store, and the younger one was sent. After a squash, the older starts anew, and
 * the younger is not sent again. */
static void an_older_one_begins_anew(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 2);
    struct hart *hart = &b->rig->hart;
    engine_rig_set_operands(b, true, false);
    hart->x[XT] = 0;
    b->storing = INPUT;
    uint64_t older = engine_rig_start(b, 100);
    hart->x[XD] = VALUE;
    (void)engine_rig_start(b, 100);
    engine_rig_run(b, 200);
    assert_int_equal(b->push_count, 1);
    assert_int_equal(b->pushes[0].packet.begin, RIG_BASE + 12);
    assert_int_equal(b->ops->interrupt(b->engine), older);
    (void)b->ops->left(b->engine, 200 * NS);
    engine_rig_complete(b, 300, 0, 0);
    engine_rig_run(b, 400);
    b->storing = 0;
    engine_rig_set_operands(b, true, false);
    hart->x[XT] = 0;
    (void)engine_rig_start(b, 400);
    hart->x[XD] = VALUE;
    assert_int_equal(engine_rig_step(b).stop, OFFLOAD_DISPATCHED);
    engine_rig_run(b, 1000);
    assert_int_equal(b->push_count, 2);
    assert_int_equal(b->pushes[1].packet.begin, RIG_BASE + 4);
    engine_rig_free(b);
}

/* The older task is held by a store; the younger one was sent to the only accelerator and faults. When the
 * store has drained, no accelerator can take the older task: the host runs its region itself, then traps for
 * the younger. */
static void the_host_runs_what_nobody_can_take(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 1);
    struct hart *hart = &b->rig->hart;
    engine_rig_set_operands(b, true, false);
    hart->x[XT] = 0;
    b->storing = INPUT;
    uint64_t older = engine_rig_start(b, 100);
    hart->x[XD] = VALUE;
    uint64_t younger = engine_rig_start(b, 100);
    engine_rig_run(b, 200);
    assert_int_equal(b->push_count, 1);
    engine_rig_stop(b, 300, 0);
    engine_rig_run(b, 325);
    assert_int_equal(b->squashed, younger);
    b->storing = 0;
    b->ops->drained(b->engine);
    engine_rig_run(b, 1000);
    assert_int_equal(b->push_count, 1);
    assert_int_equal(b->squashes, 2);
    assert_int_equal(b->squashed, older);
    assert_int_equal(b->ops->left(b->engine, 1000 * NS), HART_STOP_LIMIT);
    engine_rig_set_operands(b, true, false);
    hart->x[XT] = 0;
    assert_false(b->ops->takes(b->engine));
    assert_int_equal(stats_value(b->stats, "nucd.returned"), 1);
    hart->pc += 8;
    hart->x[XD] = VALUE;
    assert_true(b->ops->takes(b->engine));
    assert_int_equal(engine_rig_step(b).stop, OFFLOAD_LEAVE);
    assert_int_equal(b->ops->left(b->engine, 1000 * NS), HART_STOP_TRAP);
    engine_rig_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_traps_and_is_resumed), cmocka_unit_test(a_killed_task_begins_anew),
        cmocka_unit_test(a_user_program_stops),         cmocka_unit_test(what_has_left_is_not_run_again),
        cmocka_unit_test(an_older_one_begins_anew),     cmocka_unit_test(the_host_runs_what_nobody_can_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
