/* The atomic unit of the last level: its rate for a word, its width, its order with other requests.
 *
 * Requests arrive one per clock, from clock 0 on, unless a test says otherwise. A miss is in the array at
 * TAGS + MEMORY. */
#include "tests/isa/random.h"
#include "tests/mem/llc/crowd.h"

enum { WORD_CLOCKS = 5, WIDTH = 8, IN = TAGS + MEMORY, AFTER = HIT - TAGS };

static struct llc_config unit(enum llc_policy policy)
{
    struct llc_config config = crowd_config(16, 2);
    config.atomic_clocks = WORD_CLOCKS;
    config.atomic_words = WIDTH;
    config.write_policy = policy;
    return config;
}

static unsigned atomic(struct crowd *crowd, uint64_t address, uint32_t size, uint64_t clock)
{
    const unsigned number = crowd_add(crowd, MEM_WRITE, address, size, clock);
    crowd->requests[number].request.atomic = true;
    return number;
}

/* n atomics on a word of a cached line take n * WORD_CLOCKS clocks at least, and at most HIT more. */
static void a_word_has_its_rate(void **state)
{
    enum { COUNT = 200 };
    (void)state;
    struct llc_config config = unit(LLC_WRITE_BACK);
    struct crowd *crowd = crowd_new(&config);
    (void)crowd_add(crowd, MEM_READ, 0, LINE, 0);
    crowd_run(crowd);
    crowd_clear(crowd);
    for (unsigned i = 0; i < COUNT; i++)
        (void)atomic(crowd, 8, 4, i);
    crowd_run(crowd);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(crowd_clock(crowd, i), HIT + i * WORD_CLOCKS);
    assert_in_range(crowd_clock(crowd, COUNT - 1), COUNT * WORD_CLOCKS, COUNT * WORD_CLOCKS + HIT);
    assert_int_equal(llc_counted(crowd->llc)->atomics, COUNT);
    assert_int_equal(llc_counted(crowd->llc)->writes, COUNT);
    assert_int_equal(llc_counted(crowd->llc)->atomic_waits, COUNT - 1);
    assert_int_equal(llc_counted(crowd->llc)->line_waits, 0);
    crowd_free(crowd);
}

/* Atomics that arrive while the line is read from memory begin when it is in, in order of arrival. */
static void a_miss_lets_others_follow(void **state)
{
    enum { COUNT = 20 };
    (void)state;
    struct llc_config config = unit(LLC_WRITE_BACK);
    struct crowd *crowd = crowd_new(&config);
    for (unsigned i = 0; i < COUNT; i++)
        (void)atomic(crowd, 8, 4, i);
    crowd_run(crowd);
    assert_int_equal(crowd_clock(crowd, 0), IN + FILL);
    for (unsigned i = 1; i < COUNT; i++)
        assert_int_equal(crowd_clock(crowd, i), IN + i * WORD_CLOCKS + AFTER);
    assert_int_equal(crowd->memory.seen[MEM_READ], 1);
    assert_true(llc_line_state(crowd->llc, 0).dirty);
    crowd_free(crowd);
}

/* Different words of a line: one operation per clock. The last one meets the first one's word again, which
 * left the unit before. */
static void other_words_do_not_wait(void **state)
{
    enum { COUNT = 6 };
    (void)state;
    struct llc_config config = unit(LLC_WRITE_BACK);
    struct crowd *crowd = crowd_new(&config);
    (void)crowd_add(crowd, MEM_READ, 0, LINE, 0);
    crowd_run(crowd);
    crowd_clear(crowd);
    for (unsigned i = 0; i < COUNT; i++)
        (void)atomic(crowd, 4 * (i % WORD_CLOCKS), 4, i);
    crowd_run(crowd);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(crowd_clock(crowd, i), i + HIT);
    assert_int_equal(llc_counted(crowd->llc)->atomic_waits, 0);
    crowd_free(crowd);
}

/* 16 words take the first stage for 2 clocks, words of a mask count alone, and lines share the unit. */
static void the_unit_has_a_width(void **state)
{
    (void)state;
    struct llc_config config = unit(LLC_WRITE_BACK);
    struct crowd *crowd = crowd_new(&config);
    for (unsigned i = 0; i < 4; i++)
        (void)crowd_add(crowd, MEM_READ, i * LINE, LINE, i);
    crowd_run(crowd);
    crowd_clear(crowd);
    for (unsigned i = 0; i < 4; i++)
        (void)atomic(crowd, i * LINE, LINE, i);
    crowd->requests[2].request.mask = 0x8001;
    crowd_run(crowd);
    assert_int_equal(crowd_clock(crowd, 0), HIT);
    assert_int_equal(crowd_clock(crowd, 1), HIT + 2);
    assert_int_equal(crowd_clock(crowd, 2), HIT + 4);
    assert_int_equal(crowd_clock(crowd, 3), HIT + 5);
    crowd_free(crowd);
}

/* Two atomics, a read and a store, then an atomic: each waits for those before it. The last two atomics are
 * together in the unit again. */
static void other_requests_keep_their_place(void **state)
{
    (void)state;
    struct llc_config config = unit(LLC_WRITE_BACK);
    struct crowd *crowd = crowd_new(&config);
    (void)crowd_add(crowd, MEM_READ, 0, LINE, 0);
    crowd_run(crowd);
    crowd_clear(crowd);
    (void)atomic(crowd, 8, 4, 0);
    (void)atomic(crowd, 8, 4, 1);
    (void)crowd_add(crowd, MEM_READ, 0, LINE, 2);
    (void)crowd_add(crowd, MEM_WRITE, 8, 4, 3);
    (void)atomic(crowd, 8, 4, 4);
    (void)atomic(crowd, 8, 4, 5);
    crowd_run(crowd);
    static const unsigned clocks[] = {HIT,
                                      HIT + WORD_CLOCKS,
                                      HIT + WORD_CLOCKS + AFTER,
                                      HIT + WORD_CLOCKS + 2 * AFTER,
                                      HIT + WORD_CLOCKS + 3 * AFTER,
                                      HIT + WORD_CLOCKS + 3 * AFTER + WORD_CLOCKS};
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(crowd_clock(crowd, i), clocks[i]);
    crowd_free(crowd);
}

/* The only way keeps its line until the last of three atomics has been answered; then the line goes to memory,
 * once. */
static void a_line_stays_for_its_atomics(void **state)
{
    (void)state;
    struct llc_config config = unit(LLC_WRITE_BACK);
    config.ways = 1;
    config.size = LINE;
    struct crowd *crowd = crowd_new(&config);
    for (unsigned i = 0; i < 3; i++)
        (void)atomic(crowd, 0, 4, i);
    const unsigned other = crowd_add(crowd, MEM_READ, LINE, LINE, 3);
    crowd_run(crowd);
    const uint64_t last = IN + 2 * WORD_CLOCKS + AFTER;
    assert_int_equal(crowd_clock(crowd, 2), last);
    assert_int_equal(crowd_clock(crowd, other), last + MEMORY + FILL);
    assert_int_equal(crowd->memory.seen[MEM_WRITE], 1);
    assert_int_equal(crowd->written, LINE / 4);
    crowd_free(crowd);
}

/* An atomic reads memory although it has all words of its line, or does not allocate. Write-through writes the
 * word of each; write-evict too, and the line leaves after the last one. */
static void atomics_follow_the_policy(void **state)
{
    enum { COUNT = 3 };
    (void)state;
    for (enum llc_policy p = LLC_WRITE_BACK; p <= LLC_WRITE_EVICT; p++) {
        struct llc_config config = unit(p);
        config.write_allocate = false;
        struct crowd *crowd = crowd_new(&config);
        for (unsigned i = 0; i < COUNT; i++)
            (void)atomic(crowd, 4, 4, i);
        (void)atomic(crowd, LINE, LINE, COUNT);
        crowd_run(crowd);
        assert_int_equal(crowd->memory.seen[MEM_READ], 2);
        assert_int_equal(crowd->written, p == LLC_WRITE_BACK ? 0 : COUNT + LINE / 4);
        assert_int_equal(llc_line_state(crowd->llc, 0).present, p != LLC_WRITE_EVICT);
        assert_int_equal(llc_line_state(crowd->llc, LINE).present, p != LLC_WRITE_EVICT);
        assert_int_equal(llc_counted(crowd->llc)->store_evictions, p == LLC_WRITE_EVICT ? 2 : 0);
        assert_int_equal(crowd_clock(crowd, COUNT - 1), IN + (COUNT - 1) * WORD_CLOCKS + AFTER);
        crowd_free(crowd);
    }
}

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    random_step(seed);
    return (uint32_t)(*seed >> 33) % below;
}

/* Atomics, reads, stores and ranges on few lines: all are answered, and atomics on a word keep their
 * distance. */
static void all_are_answered(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (unsigned round = 0; round < 90; round++) {
        struct llc_config config = unit((enum llc_policy)(round % 3));
        config.ways = 1 + draw(&seed, 2);
        config.size = (uint64_t)config.ways * LINE << draw(&seed, 2);
        config.mshrs = 1 + draw(&seed, 3);
        config.write_buffer = 1 + draw(&seed, 3);
        config.queue = 4 + draw(&seed, 100);
        config.bank_clocks = draw(&seed, 3);
        struct crowd *crowd = crowd_new(&config);
        unsigned counts[6] = {0};
        crowd->memory.most = 1 + draw(&seed, 4);
        for (unsigned i = 0; i < CROWD; i++) {
            const unsigned line = draw(&seed, 6), kind = draw(&seed, 20);
            if (kind < 10)
                counts[line]++, (void)atomic(crowd, line * LINE, 4, draw(&seed, 1500));
            else if (kind < 19)
                (void)crowd_add(crowd, kind < 15 ? MEM_READ : MEM_WRITE, line * LINE, 8, draw(&seed, 1500));
            else
                (void)crowd_add(crowd, MEM_CLEAN_INVALIDATE, line * LINE, LINE, draw(&seed, 1500));
        }
        crowd_run(crowd);
        uint64_t end = 0, sum = 0;
        for (unsigned i = 0; i < CROWD; i++)
            end = crowd_clock(crowd, i) > end ? crowd_clock(crowd, i) : end;
        for (unsigned i = 0; i < 6; i++) {
            sum += counts[i];
            assert_true(end >= counts[i] * WORD_CLOCKS);
        }
        assert_int_equal(llc_counted(crowd->llc)->atomics, sum);
        crowd_free(crowd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_has_its_rate),
        cmocka_unit_test(a_miss_lets_others_follow),
        cmocka_unit_test(other_words_do_not_wait),
        cmocka_unit_test(the_unit_has_a_width),
        cmocka_unit_test(other_requests_keep_their_place),
        cmocka_unit_test(a_line_stays_for_its_atomics),
        cmocka_unit_test(atomics_follow_the_policy),
        cmocka_unit_test(all_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
