/* The engine with a simulated core and accelerators: when packets leave and arrive, and nucds that are not
 * tasks. */
#include "tests/nucd/engine/engine_rig.h"
#include "tests/sim/value.h"

#include <stdlib.h>
#include <string.h>

/* Reading Xn, Xd, Xt takes 2 clocks with 2 ports, and x3, x4, x10 take 2 more. A packet has 3 + 3 words, 6
 * clocks. Then 1 clock for the table, 2 for the scheduler, 6 words in 3 flits, and 24 for the link: 100 + 4 +
 * 6 + 1 + 2 + 3 + 24 = 140. The second is read from 104 to 108 and written from 110 to 116: 116 + 1 + 2 + 3 +
 * 24 = 146. */
static void packets_take_their_clocks(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 2);
    engine_rig_set_operands(b, false, false);
    assert_true(b->ops->takes(b->engine));
    (void)engine_rig_start(b, 100);
    engine_rig_set_operands(b, false, false);
    b->rig->hart.x[VALUE] = 8;
    engine_rig_run(b, 200);
    assert_int_equal(b->push_count, 1);
    assert_int_equal(b->pushes[0].time, 140);
    assert_int_equal(b->pushes[0].packet.begin, RIG_BASE + 4);
    assert_int_equal(b->pushes[0].packet.end, RIG_BASE + 8);
    assert_int_equal(b->pushes[0].packet.live_ins.value[2], 7);
    /* The report takes one flit and the link: 200 + 1 + 24. */
    engine_begun(b->engine, b->pushes[0].packet.tag, 190 * NS);
    engine_rig_complete(b, 200, 0, 99);
    engine_rig_run(b, 224);
    assert_int_equal(b->completed, 0);
    engine_rig_run(b, 225);
    assert_int_equal(b->completed, 1);
    b->ops->retired(b->engine, 1, 225 * NS);
    assert_int_equal(b->rig->hart.x[VALUE], 99);
    assert_int_equal(b->rig->hart.pc, RIG_BASE + 8);
    assert_int_equal(b->rig->hart.instret, 1);
    /* 100 to 190: generator 10, transfer 30, start 50. */
    assert_int_equal(stats_value(b->stats, "nucd.generator_cycles"), 10);
    assert_int_equal(stats_value(b->stats, "nucd.transfer_cycles"), 30);
    assert_int_equal(stats_value(b->stats, "nucd.start_cycles"), 50);
    assert_int_equal(stats_value(b->stats, "nucd.offload_cycles"), 90);
    assert_int_equal(stats_value(b->stats, "nucd.elapsed_cycles"), 90);
    assert_int_equal(stats_value(b->stats, "nucd.per_task.offload_cycles.100"), 1);
    assert_int_equal(stats_value(b->stats, "nucd.per_task.offload_cycles.80"), 0);
    assert_int_equal(stats_value(b->stats, "nucd.per_task.generator_cycles.16"), 1);
    assert_int_equal(stats_value(b->stats, "nucd.per_task.start_cycles.64"), 1);
    engine_rig_free(b);
}

/* Decoded at 30, an older access waits for a task until 70, and is safe at 100: of 160 cycles until the region begins,
 * 40 are not part of the offload. */
static void waits_for_tasks_are_apart(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 2);
    engine_rig_set_operands(b, false, false);
    struct offload_step next = engine_rig_step(b);
    b->ops->task_ready(b->engine, next.number, 30 * NS, 70 * NS, 100 * NS);
    engine_rig_run(b, 180);
    engine_begun(b->engine, b->pushes[0].packet.tag, 190 * NS);
    assert_int_equal(stats_value(b->stats, "nucd.wait_cycles"), 30);
    assert_int_equal(stats_value(b->stats, "nucd.dependent_cycles"), 40);
    assert_int_equal(stats_value(b->stats, "nucd.offload_cycles"), 120);
    assert_int_equal(stats_value(b->stats, "nucd.elapsed_cycles"), 160);
    engine_rig_free(b);
}

/* The only checkpoint is free again when its task has retired or is squashed. */
static void checkpoints_are_limited(void **state)
{
    (void)state;
    uint32_t clocks = 0;
    struct engine_rig *b = engine_rig_new(false, false, 2);
    engine_rig_set_operands(b, false, false);
    b->rig->hart.x[XT] = 0; /* no result, for which the next task would wait */
    assert_int_equal(engine_offload(b->engine).kept, 64);
    uint64_t first = engine_rig_start(b, 100), second = engine_rig_start(b, 100);
    engine_rig_run(b, 300);
    assert_int_equal(b->push_count, 2);
    assert_true(b->ops->pass(b->engine, first, &clocks));
    assert_int_equal(clocks, 8);
    assert_false(b->ops->pass(b->engine, second, &clocks));
    assert_false(b->ops->pass(b->engine, second, &clocks));
    engine_rig_complete(b, 400, 0, 99);
    engine_rig_run(b, 500);
    b->ops->retired(b->engine, first, 500 * NS);
    assert_true(b->ops->pass(b->engine, second, &clocks));
    assert_int_equal(b->ops->interrupt(b->engine), second);
    assert_int_equal(stats_value(b->stats, "nucd.checkpoints"), 2);
    assert_int_equal(stats_value(b->stats, "nucd.checkpoints_full"), 1);
    engine_rig_complete(b, 600, 1, 99);
    engine_rig_run(b, 700);
    assert_int_equal(engine_rig_step(b).stop, OFFLOAD_DISPATCHED); /* the second again, with its result */
    uint64_t third = engine_rig_start(b, 800);
    engine_rig_run(b, 1000);
    assert_true(b->ops->pass(b->engine, third, &clocks));
    engine_rig_free(b);
}

/* Returns the value of a derived statistic in the engine's report as text; "" if there is none. */
static void fact(const struct engine_rig *b, const char *name, char value[32])
{
    char key[64];
    struct stats *facts = stats_new();
    engine_add_facts(b->engine, facts, scope_enter(NULL, "nucd"));
    char *text = stats_json(facts);
    stats_free(facts);
    (void)snprintf(key, sizeof key, "\"nucd.%s\": \"", name);
    const char *at = strstr(text, key);
    (void)snprintf(value, 32, "%.*s", at ? (int)strcspn(at + strlen(key), "\"") : 0,
                   at ? at + strlen(key) : "");
    free(text);
}

/* The first region begins 90 clocks after its nucd could leave, the second 1200 - 1100 = 100, and the third
 * 120. For the second and the third, after a reset, the minimum is 100, the mean 110 and the maximum 120. */
static void facts_begin_anew_at_a_reset(void **state)
{
    (void)state;
    const unsigned begun[] = {190, 1200, 2220};
    static const char *const names[] = {"offload_cycles.min", "offload_cycles.mean", "offload_cycles.max",
                                        "window"};
    static const char *const wanted[] = {"100.0", "110.0", "120.0"};
    char value[32];
    struct engine_rig *b = engine_rig_new(false, false, 1);
    for (unsigned i = 0; i < 3; i++) {
        engine_rig_set_operands(b, false, false);
        b->rig->hart.x[XT] = 0;
        uint64_t number = engine_rig_start(b, 1000 * i + 100);
        engine_rig_run(b, 1000 * i + 150);
        assert_int_equal(b->push_count, i + 1);
        engine_begun(b->engine, b->pushes[i].packet.tag, begun[i] * NS);
        engine_rig_complete(b, begun[i], i, 0);
        engine_rig_run(b, begun[i] + 60);
        b->ops->retired(b->engine, number, (begun[i] + 60) * NS);
        if (i > 0)
            continue;
        fact(b, "offload_cycles.max", value);
        assert_string_equal(value, "90.0");
        stats_reset(b->stats);
        for (unsigned k = 0; k < 4; k++) {
            fact(b, names[k], value);
            assert_string_equal(value, "");
        }
    }
    for (unsigned k = 0; k < 3; k++) {
        fact(b, names[k], value);
        assert_string_equal(value, wanted[k]);
    }
    engine_rig_free(b);
}

/* Without results, so that the second is not deferred. */
static void the_generator_is_a_pipeline(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 2);
    engine_rig_set_operands(b, false, false);
    b->rig->hart.x[XT] = 0;
    (void)engine_rig_start(b, 100);
    (void)engine_rig_start(b, 100);
    engine_rig_run(b, 300);
    assert_int_equal(b->push_count, 2);
    assert_int_equal(b->pushes[0].time, 140);
    assert_int_equal(b->pushes[1].time, 146);
    assert_int_not_equal(b->pushes[0].accelerator, b->pushes[1].accelerator);
    engine_rig_free(b);
}

static void ideal_takes_no_time(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(true, false, 1);
    engine_rig_set_operands(b, true, true);
    cache_warm(b->rig->l1d, INPUT, true);
    (void)engine_rig_start(b, 100);
    engine_rig_run(b, 100);
    assert_int_equal(b->push_count, 1);
    assert_int_equal(b->pushes[0].time, 100);
    assert_int_equal(cache_line_state(b->rig->l1d, INPUT), CACHE_INVALID);
    engine_rig_complete(b, 500, 0, 1);
    assert_int_equal(b->completed_at, 500);
    engine_rig_free(b);
}

/* The second task reads the output of the first and leaves when the first is complete: the table frees it at
 * 425; then 1 clock for the lookup, 2 for the scheduler, 4 flits for 7 words, and 24 for the link. */
static void a_dependent_task_waits(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 2);
    engine_rig_set_operands(b, false, true);
    b->rig->hart.x[XT] &= ~UINT64_C(0xffff); /* no result */
    (void)engine_rig_start(b, 100);
    (void)engine_rig_start(b, 100);
    engine_rig_run(b, 400);
    assert_int_equal(b->push_count, 1);
    engine_rig_complete(b, 400, 0, 0);
    engine_rig_run(b, 1000);
    assert_int_equal(b->push_count, 2);
    assert_int_equal(b->pushes[1].time, 425 + 1 + 2 + 4 + LINK);
    engine_rig_free(b);
}

static void check_times(const struct engine_times *at, const uint64_t clocks[14])
{
    const uint64_t times[] = {at->decoded, at->ready,    at->made,     at->clear, at->cleaned,
                              at->free,    at->sent,     at->arrived,  at->idle,  at->begun,
                              at->ended,   at->complete, at->reported, at->left};
    for (unsigned i = 0; i < 14; i++)
        assert_int_equal(times[i], clocks[i] * NS);
}

/* As in packets_take_their_clocks() and a_dependent_task_waits(), with packets of 7 words for 4 registers: the second
 * is read from 104 to 108 and written from 111 to 118. Cleaning the range takes 23 clocks, and the second begins 1 clock
 * behind the first. The second task waits for the first, number 0. A third nucd is refused. */
static void tasks_are_recorded(void **state)
{
    static const uint64_t first[] = {100, 100, 111, 100, 123, 123, 126, 154, 154, 190, 390, 400, 425, 425};
    static const uint64_t second[] = {100, 100, 118, 100, 124, 425, 428, 456, 456, 500, 590, 600, 625, 630};
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 2);
    engine_rig_set_operands(b, false, true);
    b->rig->hart.x[XT] &= ~UINT64_C(0xffff); /* no result */
    uint64_t one = engine_rig_start(b, 100), two = engine_rig_start(b, 100);
    engine_rig_run(b, 380);
    engine_begun(b->engine, b->pushes[0].packet.tag, 190 * NS);
    engine_ended(b->engine, b->pushes[0].accelerator, b->pushes[0].packet.tag, 390 * NS);
    engine_rig_complete(b, 400, 0, 0);
    engine_rig_run(b, 425);
    assert_int_equal(b->record_count, 0);
    b->ops->retired(b->engine, one, 425 * NS);
    engine_rig_run(b, 500);
    engine_begun(b->engine, b->pushes[1].packet.tag, 500 * NS);
    engine_ended(b->engine, b->pushes[1].accelerator, b->pushes[1].packet.tag, 590 * NS);
    engine_rig_complete(b, 600, 1, 0);
    engine_rig_run(b, 625);
    b->ops->retired(b->engine, two, 630 * NS);
    assert_int_equal(b->began, 2);
    assert_int_equal(b->record_count, 2);
    check_times(&b->records[0].at, first);
    check_times(&b->records[1].at, second);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(b->records[i].outcome, NUCD_RETIRED);
        assert_int_equal(b->records[i].number, i);
        assert_true(b->records[i].sent);
    }
    assert_true(b->records[0].blocked_by == NUCD_NO_RECORD);
    assert_int_equal(b->records[1].blocked_by, 0);
    assert_int_equal(b->records[1].cycles.blocked, 425 - 124);
    assert_int_equal(stats_value(b->stats, "nucd.per_task.run_cycles.256"), 1);   /* 200 */
    assert_int_equal(stats_value(b->stats, "nucd.per_task.run_cycles.128"), 1);   /* 90 */
    assert_int_equal(stats_value(b->stats, "nucd.per_task.commit_cycles.64"), 2); /* 35 */
    assert_int_equal(stats_value(b->stats, "nucd.per_task.retire_cycles.8"), 2);  /* 0 and 5 */
    b->rig->hart.x[XN] &= ~UINT64_C(0xffff);                                      /* N = 0 */
    assert_false(b->ops->takes(b->engine));
    assert_int_equal(b->record_count, 3);
    assert_int_equal(b->records[2].outcome, NUCD_REFUSED);
    assert_true(b->records[2].number == NUCD_NO_RECORD);
    engine_rig_free(b);
}

/* A task that is squashed before it is sent, and one that is in flight at the end. */
static void tasks_that_do_not_end_are_recorded(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 1);
    engine_rig_set_operands(b, false, false);
    b->rig->hart.x[XT] = 0;
    (void)engine_rig_start(b, 100);
    (void)engine_rig_start(b, 1000);
    engine_rig_run(b, 500);
    engine_rig_stop(b, 510, 0); /* squashes both at 535; the first was sent */
    engine_rig_run(b, 900);
    assert_int_equal(b->record_count, 1);
    assert_int_equal(b->records[0].outcome, NUCD_SQUASHED);
    assert_int_equal(b->records[0].number, 1);
    assert_false(b->records[0].sent);
    assert_int_equal(b->records[0].at.left, 535 * NS);
    for (unsigned i = 0; i < 2; i++) { /* once */
        engine_tell_rest(b->engine);
        assert_int_equal(b->record_count, 2);
    }
    assert_int_equal(b->records[1].outcome, NUCD_UNFINISHED);
    assert_int_equal(b->records[1].number, 0);
    assert_true(b->records[1].at.left == CLOCK_NEVER);
    engine_rig_free(b);
}

static void late_tasks_are_told(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 1);
    engine_rig_set_operands(b, false, false);
    (void)engine_rig_start(b, 100);
    engine_rig_run(b, 20000); /* sent at 113 */
    assert_int_equal(b->expired, 1);
    assert_int_equal(b->expired_at, 113 + TIMEOUT);
    assert_int_equal(b->expired_task, 0);
    assert_int_equal(b->expired_pc, RIG_BASE);
    engine_rig_free(b);
}

/* The second task is behind the first in the work queue. Its time begins when the first one reports at 4000, and again
 * when its region begins at 4200. */
static void waiting_in_the_queue_is_not_late(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 1);
    engine_rig_set_operands(b, false, false);
    b->rig->hart.x[XT] = 0;
    uint64_t first = engine_rig_start(b, 100);
    (void)engine_rig_start(b, 100);
    engine_rig_run(b, 200);
    assert_int_equal(b->push_count, 2);
    engine_rig_complete(b, 4000, 0, 0);
    engine_rig_run(b, 4100);
    b->ops->retired(b->engine, first, 4100 * NS);
    engine_begun(b->engine, b->pushes[1].packet.tag, 4200 * NS);
    engine_rig_run(b, 4200 + TIMEOUT - 1);
    assert_int_equal(b->expired, 0);
    engine_rig_run(b, 20000);
    assert_int_equal(b->expired, 1);
    assert_int_equal(b->expired_at, 4200 + TIMEOUT);
    assert_int_equal(b->expired_task, 1);
    assert_int_equal(b->expired_pc, RIG_BASE + 8);
    engine_rig_free(b);
}

static void malformed_ones_are_hints(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 1);
    engine_rig_set_operands(b, false, false);
    b->rig->hart.x[XN] &= ~UINT64_C(0xffff); /* N = 0 */
    for (unsigned i = 0; i < 3; i++)
        assert_false(b->ops->takes(b->engine));
    assert_int_equal(b->warned, 1);
    assert_int_equal(stats_value(b->stats, "nucd.malformed.no_length"), 3);
    struct offload_step next = engine_rig_step(b);
    assert_int_equal(next.stop, OFFLOAD_DISPATCHED);
    assert_int_equal(next.next_pc, RIG_BASE + 4);
    b->rig->hart.x[XN] = UINT64_C(0x4e554343) << 32; /* a call of the kernel's driver */
    assert_false(b->ops->takes(b->engine));
    assert_int_equal(stats_value(b->stats, "nucd.malformed.signature"), 0);
    engine_rig_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_take_their_clocks),
        cmocka_unit_test(waits_for_tasks_are_apart),
        cmocka_unit_test(checkpoints_are_limited),
        cmocka_unit_test(the_generator_is_a_pipeline),
        cmocka_unit_test(ideal_takes_no_time),
        cmocka_unit_test(a_dependent_task_waits),
        cmocka_unit_test(late_tasks_are_told),
        cmocka_unit_test(malformed_ones_are_hints),
        cmocka_unit_test(facts_begin_anew_at_a_reset),
        cmocka_unit_test(tasks_are_recorded),
        cmocka_unit_test(tasks_that_do_not_end_are_recorded),
        cmocka_unit_test(waiting_in_the_queue_is_not_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
