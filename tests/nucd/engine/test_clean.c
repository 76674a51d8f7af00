/* The engine with a simulated core and accelerators: the lines it cleans, the time of cleaning, and what
 * waits for it. */
#include "tests/nucd/engine/engine_rig.h"

enum { SECOND = 14 };
#define OTHER (INPUT + 0x1000)

/* The packet is ready at 100 + 2 + 2 (four registers) + 7. Cleaning takes longer: a lookup, and twice the way
 * to memory, RIG_NEAR_CLOCKS, for line and range. */
static void ranges_are_cleaned_first(void **state)
{
    (void)state;
    for (unsigned out = 0; out < 2; out++) {
        struct engine_rig *b = engine_rig_new(false, false, 1);
        struct cache_actor actor = {0};
        engine_rig_set_operands(b, !out, out);
        cache_warm(b->rig->l1d, INPUT, true);
        (void)engine_rig_start(b, 100);
        engine_rig_run(b, 145);
        assert_int_equal(cache_line_state(b->rig->l1d, INPUT), out ? CACHE_INVALID : CACHE_EXCLUSIVE);
        if (out) { /* neither a prefetch nor a wrong-path fetch brings it back */
            assert_int_equal(cache_access(b->rig->l1d, INPUT, CACHE_PREFETCH, 145 * NS, actor, NULL),
                             CACHE_FULL);
            actor.speculative = true;
            assert_int_equal(cache_access(b->rig->l1i, INPUT, CACHE_FETCH, 145 * NS, actor, NULL),
                             CACHE_FULL);
        }
        engine_rig_run(b, 1000);
        assert_int_equal(b->push_count, 1);
        assert_int_equal(b->rig->writes, 1);
        assert_int_equal(b->rig->maintained, 1);
        engine_begun(b->engine, b->pushes[0].packet.tag, 1000 * NS);
        uint64_t cleaning = stats_value(b->stats, "nucd.cleaning_cycles");
        assert_true(cleaning >= 2 * RIG_NEAR_CLOCKS - 12 && cleaning <= 2 * RIG_NEAR_CLOCKS);
        assert_int_equal(b->pushes[0].time, 111 + cleaning + 1 + 2 + 4 + LINK);
        engine_rig_complete(b, 1000, 0, 1);
        engine_rig_run(b, 1025);
        actor.speculative = false;
        assert_int_equal(cache_access(b->rig->l1d, INPUT, CACHE_PREFETCH, 1025 * NS, actor, NULL),
                         out ? CACHE_MISS : CACHE_HIT);
        engine_rig_run(b, 2000);
        engine_rig_free(b);
    }
}

/* A store of the host drains to the cache until clock 300. */
static void stores_reach_the_cache_before_it_is_cleaned(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 1);
    engine_rig_set_operands(b, true, false);
    b->storing = INPUT + 8;
    (void)engine_rig_start(b, 100);
    engine_rig_run(b, 300);
    assert_int_equal(b->rig->maintained, 0);
    b->storing = 0;
    b->ops->drained(b->engine);
    engine_rig_run(b, 1000);
    assert_int_equal(b->rig->maintained, 1);
    assert_int_equal(b->push_count, 1);
    engine_begun(b->engine, b->pushes[0].packet.tag, 1000 * NS);
    assert_int_equal(stats_value(b->stats, "nucd.held_cycles"), 300 - 111);
    assert_int_equal(stats_value(b->stats, "nucd.elapsed_cycles"), 1000 - 100);
    assert_int_equal(stats_value(b->stats, "nucd.offload_cycles"),
                     900 - (300 - 111) - stats_value(b->stats, "nucd.cleaning_cycles"));
    engine_rig_free(b);
}

/* Sets up to two input ranges of the given numbers of lines, at x11 = INPUT and at x14 = OTHER, and no
 * output. A packet has 3 + 3 words (gp, tp, and x11 or x14) or 3 + 4 (both): with 2 ports it is read in 2 + 2
 * clocks and written in 6 or 7. */
static void set_inputs(struct engine_rig *b, uint64_t lines, uint64_t others)
{
    struct hart *hart = &b->rig->hart;
    hart->x[SECOND] = OTHER;
    hart->x[XN] =
        UINT64_C(0x4e554344) << 32 | (uint64_t)(lines != 0) << 24 | (uint64_t)(others != 0) << 25 | 2;
    hart->x[XD] = (lines ? POINTER | lines << 5 : 0) | (others ? SECOND | others << 5 : 0) << 16;
    hart->x[XT] = 0;
}

static uint64_t start_inputs(struct engine_rig *b, uint64_t ready, uint64_t lines, uint64_t others)
{
    set_inputs(b, lines, others);
    return engine_rig_start(b, ready);
}

/* For the following tests: cleaning takes a lookup of 2 clocks in the data cache, 1 clock for each line, and
 * RIG_NEAR_CLOCKS to the level below and back: 23 for a clean line. The request to the level below waits
 * until a dirty line is written back, which is sent with the lookup and takes RIG_NEAR_CLOCKS: 2 + 20 + 20 =
 * 42. After the later of packet and ranges: 1 clock for the table, 2 for the scheduler, 3 flits (6 words) or
 * 4 (7 words) for the packet, and 24 for the link: AFTER, plus one for 7 words. */
enum { AFTER = 1 + 2 + 3 + LINK, CLEAN = 2 + 1 + RIG_NEAR_CLOCKS, DIRTY = 2 + 2 * RIG_NEAR_CLOCKS };

/* The first task leaves at 100 + DIRTY. The second is made at 200 + 4 + 6 and has nothing to clean. */
static void what_an_older_task_has_cleaned_is_clean(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 2);
    cache_warm(b->rig->l1d, INPUT, true);
    (void)start_inputs(b, 100, 1, 0);
    (void)start_inputs(b, 200, 1, 0);
    engine_rig_run(b, 1000);
    assert_int_equal(b->push_count, 2);
    assert_int_equal(b->pushes[0].time, 100 + DIRTY + AFTER);
    assert_int_equal(b->pushes[1].time, 210 + AFTER);
    assert_int_equal(b->rig->maintained, 1);
    engine_rig_free(b);
}

/* The second task is ready at 130 and made at 140; the first is cleaned until 142. Then both leave, the
 * second after the first's 3 flits. Cleaned by itself, it would be clean at 130 + 23 = 153. */
static void cleaning_under_way_is_waited_for(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 2);
    cache_warm(b->rig->l1d, INPUT, true);
    (void)start_inputs(b, 100, 1, 0);
    (void)start_inputs(b, 130, 1, 0);
    engine_rig_run(b, 1000);
    assert_int_equal(b->push_count, 2);
    assert_int_equal(b->pushes[0].time, 142 + AFTER);
    assert_int_equal(b->pushes[1].time, 142 + 3 + AFTER);
    assert_int_equal(b->rig->maintained, 1);
    engine_rig_free(b);
}

/* A complete task does not count, because the host may have stored to its range since. */
static void a_complete_task_spares_no_cleaning(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 2);
    (void)start_inputs(b, 100, 1, 0);
    engine_rig_run(b, 200);
    engine_rig_complete(b, 300, 0, 0);
    engine_rig_run(b, 300 + 1 + LINK);
    assert_int_equal(b->completed, 1);
    cache_warm(b->rig->l1d, INPUT, true);
    (void)start_inputs(b, 400, 1, 0);
    engine_rig_run(b, 1000);
    assert_int_equal(b->push_count, 2);
    assert_int_equal(b->pushes[1].time, 400 + DIRTY + AFTER);
    assert_int_equal(b->rig->maintained, 2);
    assert_int_equal(b->rig->writes, 1);
    engine_rig_free(b);
}

/* If the older task has one of two lines, both are cleaned: one clock more. If it has both lines, one of them
 * is not cleaned again. */
static void what_is_partly_covered_is_cleaned(void **state)
{
    (void)state;
    for (unsigned covered = 0; covered < 2; covered++) {
        struct engine_rig *b = engine_rig_new(false, false, 2);
        (void)start_inputs(b, 100, 1 + covered, 0);
        (void)start_inputs(b, 200, 2 - covered, 0);
        engine_rig_run(b, 1000);
        assert_int_equal(b->push_count, 2);
        assert_int_equal(b->pushes[0].time, 100 + CLEAN + covered + AFTER);
        assert_int_equal(b->pushes[1].time, (covered ? 210 : 200 + CLEAN + 1) + AFTER);
        assert_int_equal(b->rig->maintained, covered ? 1 : 2);
        engine_rig_free(b);
    }
}

/* The other range is cleaned at 110 + 23 = 133, the shared one by the older task at 142. Then both leave, the
 * older's 3 flits first. */
static void a_range_of_its_own_is_cleaned_beside(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 2);
    cache_warm(b->rig->l1d, INPUT, true);
    (void)start_inputs(b, 100, 1, 0);
    (void)start_inputs(b, 110, 1, 1);
    engine_rig_run(b, 1000);
    assert_int_equal(b->push_count, 2);
    assert_int_equal(b->pushes[0].time, 142 + AFTER);
    assert_int_equal(b->pushes[1].time, 142 + 3 + AFTER + 1);
    assert_int_equal(b->rig->maintained, 2);
    engine_rig_free(b);
}

/* Two older tasks are under way. The task waits for one of them, and cleans the range of the other itself,
 * from 130 to 153. The others' ranges are clean at 142 and at 120 + 23 = 143. */
static void one_cleaning_is_waited_for(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 4);
    cache_warm(b->rig->l1d, INPUT, true);
    (void)start_inputs(b, 100, 1, 0);
    (void)start_inputs(b, 120, 0, 1);
    (void)start_inputs(b, 130, 1, 1);
    engine_rig_run(b, 1000);
    assert_int_equal(b->push_count, 3);
    assert_int_equal(b->pushes[2].time, 130 + CLEAN + AFTER + 1);
    assert_int_equal(b->rig->maintained, 3);
    engine_rig_free(b);
}

/* An interrupt squashes both tasks while the first is cleaned and the second waits for that. Started anew at
 * 200, the first cleans a line that is not dirty any more; the second, made at 206 + 4, waits for that. */
static void squashed_tasks_clean_anew(void **state)
{
    (void)state;
    struct engine_rig *b = engine_rig_new(false, false, 2);
    cache_warm(b->rig->l1d, INPUT, true);
    uint64_t first = start_inputs(b, 100, 1, 0);
    (void)start_inputs(b, 105, 1, 0);
    engine_rig_run(b, 120);
    assert_int_equal(b->ops->interrupt(b->engine), first);
    assert_int_equal(b->ops->left(b->engine, 120 * NS), HART_STOP_LIMIT);
    engine_rig_run(b, 200);
    assert_int_equal(b->push_count, 0);
    (void)start_inputs(b, 200, 1, 0);
    (void)start_inputs(b, 200, 1, 0);
    engine_rig_run(b, 1000);
    assert_int_equal(b->push_count, 2);
    assert_int_equal(b->pushes[0].time, 200 + CLEAN + AFTER);
    assert_int_equal(b->pushes[1].time, 200 + CLEAN + 3 + AFTER);
    assert_int_equal(b->rig->maintained, 2);
    engine_rig_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_cleaned_first),
        cmocka_unit_test(stores_reach_the_cache_before_it_is_cleaned),
        cmocka_unit_test(what_an_older_task_has_cleaned_is_clean),
        cmocka_unit_test(cleaning_under_way_is_waited_for),
        cmocka_unit_test(a_complete_task_spares_no_cleaning),
        cmocka_unit_test(what_is_partly_covered_is_cleaned),
        cmocka_unit_test(a_range_of_its_own_is_cleaned_beside),
        cmocka_unit_test(one_cleaning_is_waited_for),
        cmocka_unit_test(squashed_tasks_clean_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
