/* Requests of the last level that wait for an MSHR, a way, room in the write buffer or their line: they
 * proceed in order of age, each is counted once, and none looks up the tags without reason.
 *
 * Requests arrive one per clock, from clock 0 on, so request n looks up the tags at TAGS + n. */
#include "tests/isa/random.h"
#include "tests/mem/llc/crowd.h"

/* With one MSHR, each miss reads memory when the one before it has been answered by memory. */
static void an_mshr_goes_to_the_oldest(void **state)
{
    (void)state;
    enum { COUNT = 64 };
    struct llc_config config = crowd_config(64, 4);
    config.mshrs = 1;
    struct crowd *crowd = crowd_new(&config);
    for (unsigned i = 0; i < COUNT; i++)
        (void)crowd_add(crowd, MEM_READ, i * LINE, LINE, i);
    crowd_run(crowd);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(crowd_clock(crowd, i), TAGS + (i + 1) * MEMORY + FILL);
    assert_int_equal(llc_counted(crowd->llc)->stalls, COUNT - 1);
    assert_int_equal(llc_counted(crowd->llc)->retries, COUNT - 1);
    assert_int_equal(llc_counted(crowd->llc)->reads, COUNT);
    assert_int_equal(llc_counted(crowd->llc)->misses, COUNT);
    crowd_free(crowd);
}

/* A set of one way serves one miss after the other. Lines of another set pass. */
static void a_way_goes_to_the_oldest(void **state)
{
    (void)state;
    enum { COUNT = 12 };
    struct llc_config config = crowd_config(2, 1);
    struct crowd *crowd = crowd_new(&config);
    for (unsigned i = 0; i < COUNT; i++)
        (void)crowd_add(crowd, MEM_READ, 2 * i * LINE, LINE, i);
    const unsigned other = crowd_add(crowd, MEM_READ, LINE, LINE, COUNT);
    crowd_run(crowd);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(crowd_clock(crowd, i), TAGS + (i + 1) * (MEMORY + FILL));
    assert_int_equal(crowd_clock(crowd, other), COUNT + TAGS + MEMORY + FILL);
    /* Each waits for the one before it: one lookup in vain when its own entry is the set's first. */
    assert_true(llc_counted(crowd->llc)->retries <= 2 * COUNT);
    crowd_free(crowd);
}

/* One MSHR and two sets of one way; lines 0 and 2 are in set 0. Line 2 waits for the MSHR; then for the way
 * of line 0, while line 1 takes the MSHR; then for the MSHR again, before the younger line 3. */
static void age_decides_between_queues(void **state)
{
    (void)state;
    struct llc_config config = crowd_config(2, 1);
    config.mshrs = 1;
    struct crowd *crowd = crowd_new(&config);
    static const unsigned lines[] = {0, 2, 1, 3};
    for (unsigned i = 0; i < 4; i++)
        (void)crowd_add(crowd, MEM_READ, lines[i] * LINE, LINE, i);
    crowd_run(crowd);
    assert_int_equal(crowd_clock(crowd, 0), TAGS + MEMORY + FILL);
    assert_int_equal(crowd_clock(crowd, 2), TAGS + 2 * MEMORY + FILL);
    assert_int_equal(crowd_clock(crowd, 1), TAGS + 3 * MEMORY + FILL);
    assert_int_equal(crowd_clock(crowd, 3), TAGS + 4 * MEMORY + FILL);
    crowd_free(crowd);
}

/* Two dirty lines fill the set, and the write buffer has room for one. The second miss waits until memory has
 * answered the first victim's write, at TAGS + MEMORY. The third finds the first one's way when that line has
 * been answered; it is clean. */
static void a_victim_waits_for_the_write_buffer(void **state)
{
    (void)state;
    struct llc_config config = crowd_config(1, 2);
    config.write_buffer = 1;
    struct crowd *crowd = crowd_new(&config);
    (void)crowd_add(crowd, MEM_WRITE, 0 * LINE, LINE, 0);
    (void)crowd_add(crowd, MEM_WRITE, 1 * LINE, LINE, 1);
    crowd_run(crowd);
    crowd_clear(crowd);
    for (unsigned i = 0; i < 3; i++)
        (void)crowd_add(crowd, MEM_READ, (2 + i) * LINE, LINE, i);
    crowd_run(crowd);
    assert_int_equal(crowd_clock(crowd, 0), TAGS + MEMORY + FILL);
    assert_int_equal(crowd_clock(crowd, 1), TAGS + 2 * MEMORY + FILL);
    assert_int_equal(crowd_clock(crowd, 2), TAGS + 2 * (MEMORY + FILL));
    assert_int_equal(llc_counted(crowd->llc)->write_backs, 2);
    crowd_free(crowd);
}

/* Lines 1, 2 and 1 again lack the MSHR. When the first of them takes it, the last waits for the line, before a
 * later request for it, and both are hits, one after the other. */
static void a_stalled_request_waits_for_its_line(void **state)
{
    (void)state;
    struct llc_config config = crowd_config(64, 4);
    config.mshrs = 1;
    struct crowd *crowd = crowd_new(&config);
    static const unsigned lines[] = {0, 1, 2, 1};
    for (unsigned i = 0; i < 4; i++)
        (void)crowd_add(crowd, MEM_READ, lines[i] * LINE, LINE, i);
    const unsigned late = crowd_add(crowd, MEM_READ, 1 * LINE, LINE, TAGS + MEMORY);
    crowd_run(crowd);
    const uint64_t first = TAGS + 2 * MEMORY + FILL;
    assert_int_equal(crowd_clock(crowd, 1), first);
    assert_int_equal(crowd_clock(crowd, 3), first + HIT - TAGS);
    assert_int_equal(crowd_clock(crowd, late), first + 2 * (HIT - TAGS));
    assert_int_equal(crowd_clock(crowd, 2), TAGS + 3 * MEMORY + FILL);
    assert_int_equal(llc_counted(crowd->llc)->reads, 5);
    assert_int_equal(llc_counted(crowd->llc)->misses, 4);
    assert_int_equal(llc_counted(crowd->llc)->hits, 1);
    crowd_free(crowd);
}

/* Requests for one line take turns of HIT - TAGS clocks, in order of arrival. */
static void requests_for_a_line_take_turns(void **state)
{
    (void)state;
    enum { COUNT = 100 };
    struct llc_config config = crowd_config(64, 4);
    struct crowd *crowd = crowd_new(&config);
    for (unsigned i = 0; i < COUNT; i++)
        (void)crowd_add(crowd, i % 3 ? MEM_READ : MEM_WRITE, 0, 32, i);
    crowd_run(crowd);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(crowd_clock(crowd, i), TAGS + MEMORY + FILL + i * (HIT - TAGS));
    assert_int_equal(llc_counted(crowd->llc)->line_waits, COUNT - 1);
    assert_int_equal(llc_counted(crowd->llc)->reads, COUNT - (COUNT + 2) / 3);
    assert_int_equal(llc_counted(crowd->llc)->writes, (COUNT + 2) / 3);
    crowd_free(crowd);
}

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    random_step(seed);
    return (uint32_t)(*seed >> 33) % below;
}

/* Whatever they lack, all requests and ranges are answered, and crowd_free() finds each counted once. */
static void all_are_answered(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (unsigned round = 0; round < 60; round++) {
        struct llc_config config = crowd_config(1U << draw(&seed, 3), 1 + draw(&seed, 3));
        config.mshrs = 1 + draw(&seed, 3);
        config.write_buffer = 1 + draw(&seed, 2);
        config.queue = 4 + draw(&seed, 100);
        struct crowd *crowd = crowd_new(&config);
        crowd->memory.most = 1 + draw(&seed, 4);
        for (unsigned i = 0; i < CROWD; i++) {
            const uint64_t line = draw(&seed, 24) * LINE, clock = draw(&seed, 2000);
            const unsigned kind = draw(&seed, 40);
            if (kind == 0)
                (void)crowd_add(crowd, MEM_CLEAN_INVALIDATE, line, 5 * LINE, clock);
            else
                (void)crowd_add(crowd, kind < 20 ? MEM_READ : MEM_WRITE, line, kind < 30 ? LINE : 32, clock);
        }
        crowd_run(crowd);
        crowd_free(crowd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_mshr_goes_to_the_oldest),
        cmocka_unit_test(a_way_goes_to_the_oldest),
        cmocka_unit_test(age_decides_between_queues),
        cmocka_unit_test(a_victim_waits_for_the_write_buffer),
        cmocka_unit_test(a_stalled_request_waits_for_its_line),
        cmocka_unit_test(requests_for_a_line_take_turns),
        cmocka_unit_test(all_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
