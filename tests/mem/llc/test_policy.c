/* What stores do in the last level under each policy, and the traffic to memory that follows from it.
 *
 * Requests arrive one per clock, from clock 0 on, so request n looks up the tags at TAGS + n. */
#include "tests/isa/random.h"
#include "tests/mem/llc/crowd.h"

enum { LINES = 8, WORDS = LINE / 4 };

static struct llc_config policy(enum llc_policy policy, bool allocate)
{
    struct llc_config config = crowd_config(4, 2);
    config.write_policy = policy;
    config.write_allocate = allocate;
    return config;
}

/* Stores both halves of each line, then reads all lines again. */
static struct crowd *store_and_read(enum llc_policy write_policy, bool allocate)
{
    struct llc_config config = policy(write_policy, allocate);
    struct crowd *crowd = crowd_new(&config);
    for (unsigned i = 0; i < 2 * LINES; i++)
        (void)crowd_add(crowd, MEM_WRITE, i * LINE / 2, LINE / 2, 300 * i);
    crowd_run(crowd);
    crowd_clear(crowd);
    for (unsigned i = 0; i < LINES; i++)
        (void)crowd_add(crowd, MEM_READ, i * LINE, LINE, 300 * i);
    crowd_run(crowd);
    return crowd;
}

/* The 8 lines fill the cache. They are written when 8 others replace them: each once. */
static void write_back_writes_dirty_lines_once(void **state)
{
    (void)state;
    struct crowd *crowd = store_and_read(LLC_WRITE_BACK, true);
    assert_int_equal(crowd->written, 0);
    assert_int_equal(crowd->memory.seen[MEM_READ], LINES);
    for (unsigned round = 0; round < 2; round++) {
        crowd_clear(crowd);
        for (unsigned i = 0; i < LINES; i++)
            (void)crowd_add(crowd, MEM_READ, (LINES * (round + 1) + i) * LINE, LINE, 300 * i);
        crowd_run(crowd);
        assert_int_equal(crowd->written, LINES * WORDS);
    }
    assert_int_equal(llc_counted(crowd->llc)->write_backs, LINES);
    assert_int_equal(llc_counted(crowd->llc)->written_through, 0);
    crowd_free(crowd);
}

/* Memory is written all that is stored, and read once per line; no line is dirty. */
static void write_through_writes_what_is_stored(void **state)
{
    (void)state;
    struct crowd *crowd = store_and_read(LLC_WRITE_THROUGH, true);
    assert_int_equal(crowd->written, LINES * WORDS);
    assert_int_equal(crowd->memory.seen[MEM_WRITE], 2 * LINES);
    assert_int_equal(crowd->memory.seen[MEM_READ], LINES);
    assert_int_equal(llc_counted(crowd->llc)->written_through, 2 * LINES);
    assert_int_equal(llc_counted(crowd->llc)->write_backs, 0);
    for (unsigned i = 0; i < LINES; i++) {
        assert_true(llc_line_state(crowd->llc, i * LINE).present);
        assert_false(llc_line_state(crowd->llc, i * LINE).dirty);
    }
    crowd_free(crowd);
}

/* Without allocation, the lines come in when they are read. */
static void no_allocate_only_writes(void **state)
{
    static const enum llc_policy policies[] = {LLC_WRITE_BACK, LLC_WRITE_THROUGH, LLC_WRITE_EVICT};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct llc_config config = policy(policies[i], false);
        struct crowd *crowd = crowd_new(&config);
        (void)crowd_add(crowd, MEM_WRITE, LINE, LINE, 0);
        (void)crowd_add(crowd, MEM_WRITE, 2 * LINE + 4, 8, 1);
        crowd_run(crowd);
        assert_int_equal(crowd_clock(crowd, 0), HIT);
        assert_int_equal(crowd_clock(crowd, 1), 1 + HIT);
        assert_false(llc_line_state(crowd->llc, LINE).present);
        assert_int_equal(crowd->written, WORDS + 2);
        assert_int_equal(crowd->memory.seen[MEM_READ], 0);
        assert_int_equal(llc_counted(crowd->llc)->misses, 2);
        crowd_free(crowd);
    }
}

/* A store that hits a line that was read: write-back makes it dirty, even if a miss would not allocate;
 * write-evict removes it, so memory is read again. */
static void a_hit_follows_the_policy(void **state)
{
    (void)state;
    for (enum llc_policy p = LLC_WRITE_BACK; p <= LLC_WRITE_EVICT; p++) {
        struct llc_config config = policy(p, false);
        struct crowd *crowd = crowd_new(&config);
        (void)crowd_add(crowd, MEM_READ, LINE, LINE, 0);
        (void)crowd_add(crowd, MEM_WRITE, LINE + 8, 4, 200);
        (void)crowd_add(crowd, MEM_READ, LINE, LINE, 600);
        event_queue_run(&crowd->queue, 500 * (uint64_t)CLOCK);
        const struct llc_line line = llc_line_state(crowd->llc, LINE);
        assert_int_equal(line.present, p != LLC_WRITE_EVICT);
        assert_int_equal(line.dirty, p == LLC_WRITE_BACK);
        assert_int_equal(crowd->written, p == LLC_WRITE_BACK ? 0 : 1);
        crowd->start = 0;
        event_queue_run(&crowd->queue, CLOCK_NEVER);
        assert_int_equal(crowd_clock(crowd, 1), 200 + HIT);
        assert_int_equal(crowd_clock(crowd, 2), 600 + (p == LLC_WRITE_EVICT ? TAGS + MEMORY + FILL : HIT));
        assert_int_equal(llc_counted(crowd->llc)->store_evictions, p == LLC_WRITE_EVICT);
        assert_int_equal(crowd->memory.seen[MEM_READ], p == LLC_WRITE_EVICT ? 2 : 1);
        crowd_free(crowd);
    }
}

/* A line whose words are on their way to memory is read again when memory has answered. */
static void a_read_waits_for_the_words(void **state)
{
    (void)state;
    struct llc_config config = policy(LLC_WRITE_EVICT, false);
    struct crowd *crowd = crowd_new(&config);
    (void)crowd_add(crowd, MEM_WRITE, LINE, 4, 0);
    (void)crowd_add(crowd, MEM_READ, LINE, LINE, 1);
    crowd_run(crowd);
    assert_int_equal(crowd_clock(crowd, 1), TAGS + MEMORY + MEMORY + FILL);
    crowd_free(crowd);
}

/* Stores to the line, one every 10 clocks, wait behind the read, which waits for the first store only. */
static void a_stream_of_stores_lets_a_read_pass(void **state)
{
    enum { COUNT = 100 };
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct llc_config config = policy(i ? LLC_WRITE_EVICT : LLC_WRITE_BACK, false);
        struct crowd *crowd = crowd_new(&config);
        for (unsigned n = 0; n < COUNT; n++)
            (void)crowd_add(crowd, MEM_WRITE, LINE, 4, 10 * n);
        const unsigned read = crowd_add(crowd, MEM_READ, LINE, LINE, 5);
        crowd_run(crowd);
        assert_int_equal(crowd_clock(crowd, read), TAGS + MEMORY + MEMORY + FILL);
        crowd_free(crowd);
    }
}

/* With one entry, each store waits for memory's answer to the one before it. */
static void stores_take_turns_in_the_write_buffer(void **state)
{
    enum { COUNT = 20 };
    (void)state;
    struct llc_config config = policy(LLC_WRITE_THROUGH, false);
    config.write_buffer = 1;
    struct crowd *crowd = crowd_new(&config);
    for (unsigned i = 0; i < COUNT; i++)
        (void)crowd_add(crowd, MEM_WRITE, i * LINE, 4, i);
    crowd_run(crowd);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(crowd_clock(crowd, i), i * MEMORY + HIT);
    assert_int_equal(llc_counted(crowd->llc)->retries, COUNT - 1);
    assert_int_equal(crowd->written, COUNT);
    crowd_free(crowd);
}

/* While memory refuses writes, stores to a line join: 3 stores of 2 words each, of which one is stored twice. */
static void stores_to_a_line_combine(void **state)
{
    (void)state;
    struct llc_config config = policy(LLC_WRITE_THROUGH, true);
    struct crowd *crowd = crowd_new(&config);
    crowd->memory.closed_to_writes = true;
    (void)crowd_add(crowd, MEM_WRITE, LINE + 8, 8, 0);
    (void)crowd_add(crowd, MEM_WRITE, LINE + 12, 8, 1);
    const unsigned masked = crowd_add(crowd, MEM_WRITE, LINE + 32, 16, 2);
    crowd->requests[masked].request.mask = 9; /* the first and the last word */
    (void)crowd_add(crowd, MEM_WRITE, 2 * LINE, 4, 3);
    event_queue_run(&crowd->queue, 1000 * (uint64_t)CLOCK);
    assert_int_equal(crowd->written, 0);
    for (unsigned i = 0; i < 4; i++)
        assert_true(crowd->requests[i].done > 0);
    slow_open(&crowd->memory);
    event_queue_run(&crowd->queue, CLOCK_NEVER);
    assert_int_equal(crowd->memory.seen[MEM_WRITE], 2);
    assert_int_equal(crowd->written, 5 + 1);
    assert_int_equal(llc_counted(crowd->llc)->combined, 2);
    assert_int_equal(llc_counted(crowd->llc)->written_through, 4);
    crowd_free(crowd);
}

/* A range is clean when memory has accepted the words stored before. */
static void a_range_waits_for_the_words(void **state)
{
    (void)state;
    struct llc_config config = policy(LLC_WRITE_THROUGH, true);
    struct crowd *crowd = crowd_new(&config);
    crowd->memory.closed_to_writes = true;
    (void)crowd_add(crowd, MEM_WRITE, LINE, LINE, 0);
    const unsigned range = crowd_add(crowd, MEM_CLEAN, 0, 4 * LINE, 10);
    event_queue_run(&crowd->queue, 1000 * (uint64_t)CLOCK);
    assert_int_equal(crowd->requests[range].done, 0);
    slow_open(&crowd->memory);
    event_queue_run(&crowd->queue, CLOCK_NEVER);
    assert_true(crowd->requests[range].done > 1000 * (uint64_t)CLOCK);
    assert_int_equal(crowd->memory.seen[MEM_WRITE], 1);
    crowd_free(crowd);
}

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    random_step(seed);
    return (uint32_t)(*seed >> 33) % below;
}

/* Random requests: all are answered; without write-back, memory is written at most the words stored, all of
 * them if none combine, and no line is dirty; with write-evict, no line stays that was stored last. */
static void random_requests_keep_the_policy(void **state)
{
    enum { SPAN = 24 };
    (void)state;
    uint64_t seed = 7;
    for (unsigned round = 0; round < 60; round++) {
        struct llc_config config = policy((enum llc_policy)(round % 3), round % 2);
        config.mshrs = 1 + draw(&seed, 3);
        config.write_buffer = 1 + draw(&seed, 3);
        config.queue = 4 + draw(&seed, 100);
        struct crowd *crowd = crowd_new(&config);
        unsigned words = 0;
        crowd->memory.most = 1 + draw(&seed, 4);
        for (unsigned i = 0; i < CROWD; i++) {
            const unsigned first = draw(&seed, WORDS), size = 1 + draw(&seed, WORDS - first);
            const bool store = draw(&seed, 2);
            words += store ? size : 0;
            (void)crowd_add(crowd, store ? MEM_WRITE : MEM_READ, draw(&seed, SPAN) * LINE + 4 * first,
                            4 * size, draw(&seed, 3000));
        }
        crowd_run(crowd);
        for (unsigned i = 0; i < SPAN && config.write_policy != LLC_WRITE_BACK; i++)
            assert_false(llc_line_state(crowd->llc, i * LINE).dirty);
        if (config.write_policy != LLC_WRITE_BACK) {
            assert_true(crowd->written <= words);
            assert_true(crowd->written == words || llc_counted(crowd->llc)->combined);
            assert_int_equal(llc_counted(crowd->llc)->written_through, llc_counted(crowd->llc)->writes);
        }
        crowd_clear(crowd);
        for (unsigned i = 0; i < SPAN; i++)
            (void)crowd_add(crowd, MEM_WRITE, i * LINE, 4, i);
        crowd_run(crowd);
        for (unsigned i = 0; i < SPAN && config.write_policy == LLC_WRITE_EVICT; i++)
            assert_false(llc_line_state(crowd->llc, i * LINE).present);
        crowd_free(crowd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_back_writes_dirty_lines_once),
        cmocka_unit_test(write_through_writes_what_is_stored),
        cmocka_unit_test(no_allocate_only_writes),
        cmocka_unit_test(a_hit_follows_the_policy),
        cmocka_unit_test(a_read_waits_for_the_words),
        cmocka_unit_test(a_stream_of_stores_lets_a_read_pass),
        cmocka_unit_test(stores_take_turns_in_the_write_buffer),
        cmocka_unit_test(stores_to_a_line_combine),
        cmocka_unit_test(a_range_waits_for_the_words),
        cmocka_unit_test(random_requests_keep_the_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
