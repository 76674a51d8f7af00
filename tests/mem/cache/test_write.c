/* Write-through traffic, stores that do not allocate, and maintenance. A hit takes 2 clocks, a response
 * 100. */
#include "tests/mem/cache/rig.h"

static struct cache_config through(uint32_t sets, uint32_t ways, bool allocate)
{
    struct cache_config config = rig_config(sets, ways);
    config.write_through = true;
    config.write_allocate = allocate;
    return config;
}

/* A store that hits is sent as the 8 bytes around it and leaves the line clean. */
static void store_hit_goes_through(void **state)
{
    (void)state;
    struct cache_config config = through(4, 2, false);
    struct rig *rig = rig_new(&config);
    rig_observe(rig);
    (void)rig_load(rig, 0, 1, 0);
    rig_until(rig, 150);
    assert_int_equal(rig_access(rig, 1, CACHE_STORE, LINE + 20, 200), CACHE_HIT);
    rig_until(rig, 400);
    assert_int_equal(rig->count, 2);
    rig_asked_is(rig, 1, MEM_WRITE, LINE + 16, 8, 202);
    assert_int_equal(rig->log[1].mask, UINT64_MAX);
    assert_int_equal(rig_state(rig, 1), CACHE_EXCLUSIVE);
    assert_string_equal(rig->story, "f1a1s1w1");
    rig_free(rig);
}

/* Stores to one line merge until it is sent: bytes 0 to 7 and 24 to 31 are words 0, 1, 6, 7. */
static void stores_unite(void **state)
{
    (void)state;
    struct cache_config config = through(4, 2, false);
    struct rig *rig = rig_new(&config);
    assert_int_equal(rig_access(rig, 0, CACHE_STORE, LINE + 24, 10), CACHE_HIT);
    assert_int_equal(rig_access(rig, 0, CACHE_STORE, LINE, 9), CACHE_HIT);
    assert_int_equal(rig_access(rig, 0, CACHE_STORE, 2 * LINE + 56, 10), CACHE_HIT);
    rig_until(rig, 15);
    rig_asked_is(rig, 0, MEM_WRITE, LINE, 32, 11);
    assert_int_equal(rig->log[0].mask, 0xc3);
    rig_asked_is(rig, 1, MEM_WRITE, 2 * LINE + 56, 8, 12);
    /* The first store was sent: another one needs its own entry. */
    assert_int_equal(rig_access(rig, 0, CACHE_STORE, LINE, 20), CACHE_HIT);
    rig_until(rig, 30);
    rig_asked_is(rig, 2, MEM_WRITE, LINE, 8, 22);
    assert_int_equal(rig->cache->counters.writes_united, 1);
    rig_free(rig);
}

/* Two entries, writes refused: the third line's store waits until the first write has been answered. */
static void write_buffer_has_a_limit(void **state)
{
    (void)state;
    for (unsigned write_back = 0; write_back < 2; write_back++) {
        struct cache_config config = through(4, 2, false);
        config.write_through = !write_back;
        config.write_buffer = 2;
        struct rig *rig = rig_new(&config);
        rig->refuse[1] = true;
        assert_int_equal(rig_store(rig, 0, 1, 0), CACHE_HIT);
        assert_int_equal(rig_store(rig, 1, 2, 0), CACHE_HIT);
        assert_int_equal(rig_store(rig, 2, 3, 1), CACHE_FULL);
        assert_int_equal(rig_store(rig, 3, 2, 1), CACHE_HIT); /* it merges */
        assert_int_equal(rig_load(rig, 4, 4, 1), CACHE_MISS); /* reads are refused independently of writes */
        rig_until(rig, 110);
        assert_int_equal(rig->accesses[4].done, 103);
        assert_int_equal(rig->accesses[2].done, 0);
        rig_open(rig);
        rig_until(rig, 210);
        assert_int_equal(rig->accesses[2].done, 210);
        assert_int_equal(rig->accesses[2].level, MEM_LEVELS);
        assert_int_equal(rig_store(rig, 2, 3, 211), CACHE_HIT);
        rig_until(rig, 400);
        assert_int_equal(rig_state(rig, 3), CACHE_INVALID);
        rig_free(rig);
    }
}

/* Without allocation in a write-back cache: hits become dirty, misses are only sent down. */
static void store_miss_goes_down_alone(void **state)
{
    (void)state;
    struct cache_config config = rig_config(4, 2);
    config.write_allocate = false;
    struct rig *rig = rig_new(&config);
    rig_observe(rig);
    (void)rig_load(rig, 0, 1, 0);
    rig_until(rig, 110);
    assert_int_equal(rig_store(rig, 1, 1, 110), CACHE_HIT);
    assert_int_equal(rig_store(rig, 2, 2, 111), CACHE_HIT);
    rig_until(rig, 300);
    assert_int_equal(rig->count, 2);
    rig_asked_is(rig, 1, MEM_WRITE, 2 * LINE + 8, 8, 113);
    assert_int_equal(rig_state(rig, 1), CACHE_MODIFIED);
    assert_int_equal(rig_state(rig, 2), CACHE_INVALID);
    assert_string_equal(rig->story, "f1a1s1s2w2e2");
    /* A load of a line with a store on its way down: it is read after 302 + 100. */
    assert_int_equal(rig_store(rig, 2, 3, 300), CACHE_HIT);
    assert_int_equal(rig_load(rig, 3, 3, 301), CACHE_MISS);
    rig_until(rig, 600);
    rig_asked_is(rig, 2, MEM_WRITE, 3 * LINE + 8, 8, 302);
    rig_asked_is(rig, 3, MEM_READ, 3 * LINE, LINE, 402);
    assert_int_equal(rig->accesses[3].done, 502);
    /* A store to an outstanding line waits for it. */
    assert_int_equal(rig_load(rig, 3, 4, 600), CACHE_MISS);
    assert_int_equal(rig_store(rig, 4, 4, 601), CACHE_MISS);
    rig_until(rig, 800);
    assert_int_equal(rig_state(rig, 4), CACHE_MODIFIED);
    rig_free(rig);
}

/* Write-through with allocation: the store is done at once, and its line arrives without waiting for the
 * write. */
static void store_miss_brings_the_line(void **state)
{
    (void)state;
    struct cache_config config = through(4, 2, true);
    struct rig *rig = rig_new(&config);
    assert_int_equal(rig_store(rig, 0, 1, 0), CACHE_HIT);
    assert_int_equal(rig_load(rig, 1, 1, 5), CACHE_MISS);
    rig_until(rig, 300);
    assert_int_equal(rig->count, 2);
    rig_asked_is(rig, 0, MEM_READ, LINE, LINE, 2);
    rig_asked_is(rig, 1, MEM_WRITE, LINE + 8, 8, 2);
    assert_int_equal(rig->accesses[1].done, 102);
    assert_int_equal(rig_state(rig, 1), CACHE_EXCLUSIVE);
    rig_free(rig);
}

/* Lines 0 (clean), 1 and 2 (dirty), 9 (dirty, outside). */
static struct rig *dirty_rig(void)
{
    struct cache_config config = rig_config(16, 2);
    struct rig *rig = rig_new(&config);
    (void)rig_load(rig, 0, 0, 0);
    (void)rig_store(rig, 1, 1, 0);
    (void)rig_store(rig, 2, 2, 0);
    (void)rig_store(rig, 3, 9, 0);
    rig_until(rig, 200);
    rig->count = 0;
    return rig;
}

static void maintain(struct rig *rig, unsigned i, enum mem_op op, uint64_t physical, uint64_t size,
                     uint64_t clock)
{
    rig->accesses[i].done = 0;
    cache_maintain(rig->cache, op, physical, size, clock * RIG_CLOCK, (struct cache_actor){0},
                   &rig->accesses[i].waiter);
}

/* Clean of bytes 10 to 250, which are in lines 0 to 3: it begins at 202 and finds both dirty lines; 4 lookups
 * take until 206; the writes are answered at 302; then the range is sent down. */
static void clean_keeps_lines(void **state)
{
    (void)state;
    struct rig *rig = dirty_rig();
    rig_observe(rig);
    maintain(rig, 0, MEM_CLEAN, 10, 240, 200);
    rig_until(rig, 1000);
    assert_int_equal(rig->count, 3);
    rig_asked_is(rig, 0, MEM_WRITE, 1 * LINE, LINE, 202);
    rig_asked_is(rig, 1, MEM_WRITE, 2 * LINE, LINE, 202);
    assert_true(rig->log[0].exclusive); /* a clean copy stays */
    rig_asked_is(rig, 2, MEM_CLEAN, 0, 4 * LINE, 302);
    assert_int_equal(rig->accesses[0].done, 402);
    assert_int_equal(rig_state(rig, 0), CACHE_EXCLUSIVE);
    assert_int_equal(rig_state(rig, 1), CACHE_EXCLUSIVE);
    assert_int_equal(rig_state(rig, 9), CACHE_MODIFIED);
    assert_string_equal(rig->story, "w1w2");
    rig_free(rig);
}

static void invalidate_forgets(void **state)
{
    (void)state;
    struct rig *rig = dirty_rig();
    maintain(rig, 0, MEM_INVALIDATE, 0, 3 * LINE, 200);
    rig_until(rig, 1000);
    /* Nothing is written; 3 lookups, starting at 202. */
    assert_int_equal(rig->count, 1);
    rig_asked_is(rig, 0, MEM_INVALIDATE, 0, 3 * LINE, 205);
    assert_int_equal(rig->accesses[0].done, 305);
    for (uint64_t line = 0; line < 3; line++)
        assert_int_equal(rig_state(rig, line), CACHE_INVALID);
    assert_int_equal(rig_state(rig, 9), CACHE_MODIFIED);
    rig_free(rig);
}

static void clean_invalidate_does_both(void **state)
{
    (void)state;
    struct rig *rig = dirty_rig();
    rig_observe(rig);
    maintain(rig, 0, MEM_CLEAN_INVALIDATE, LINE, LINE, 200);
    rig_until(rig, 1000);
    assert_int_equal(rig->count, 2);
    rig_asked_is(rig, 0, MEM_WRITE, LINE, LINE, 202);
    assert_false(rig->log[0].exclusive);
    rig_asked_is(rig, 1, MEM_CLEAN_INVALIDATE, LINE, LINE, 302);
    assert_int_equal(rig_state(rig, 1), CACHE_INVALID);
    assert_int_equal(rig_state(rig, 2), CACHE_MODIFIED);
    assert_string_equal(rig->story, "w1e1");
    rig_free(rig);
}

/* A range of 1 GiB + 1 line: the 32 entries are checked instead; it is sent down in two requests. */
static void long_ranges(void **state)
{
    (void)state;
    struct rig *rig = dirty_rig();
    maintain(rig, 0, MEM_INVALIDATE, 0, (UINT64_C(1) << 30) + 1, 200);
    rig_until(rig, 1000);
    assert_int_equal(rig->count, 2);
    rig_asked_is(rig, 0, MEM_INVALIDATE, 0, 1 << 30, 202 + 16); /* one set each clock */
    rig_asked_is(rig, 1, MEM_INVALIDATE, UINT64_C(1) << 30, LINE, 318);
    assert_int_equal(rig->accesses[0].done, 418);
    assert_int_equal(rig_state(rig, 9), CACHE_INVALID);
    rig_free(rig);
}

/* A line of a store miss at 200 arrives at 302; the clean, which begins at 205, then writes it back. */
static void lines_under_way_are_waited_for(void **state)
{
    (void)state;
    struct cache_config config = rig_config(16, 2);
    struct rig *rig = rig_new(&config);
    (void)rig_store(rig, 0, 5, 200);
    maintain(rig, 1, MEM_CLEAN_INVALIDATE, 5 * LINE, 8, 205);
    rig_until(rig, 1000);
    assert_int_equal(rig->accesses[0].done, 302);
    rig_asked_is(rig, 1, MEM_WRITE, 5 * LINE, LINE, 302);
    rig_asked_is(rig, 2, MEM_CLEAN_INVALIDATE, 5 * LINE, LINE, 402);
    assert_int_equal(rig_state(rig, 5), CACHE_INVALID);
    rig_free(rig);
}

/* One write buffer entry: the second dirty line is written when the first has been answered. */
static void clean_waits_for_the_write_buffer(void **state)
{
    (void)state;
    struct cache_config config = rig_config(16, 2);
    config.write_buffer = 1;
    struct rig *rig = rig_new(&config);
    (void)rig_store(rig, 0, 0, 0);
    (void)rig_store(rig, 1, 1, 0);
    rig_until(rig, 200);
    maintain(rig, 2, MEM_CLEAN, 0, 2 * LINE, 200);
    rig_until(rig, 1000);
    rig_asked_is(rig, 2, MEM_WRITE, 0, LINE, 202);
    rig_asked_is(rig, 3, MEM_WRITE, LINE, LINE, 302);
    rig_asked_is(rig, 4, MEM_CLEAN, 0, 2 * LINE, 402);
    assert_int_equal(rig->accesses[2].done, 502);
    rig_free(rig);
}

/* One write buffer entry, taken until 207 by line 0. Lookups of lines 1 to 13 take from 202 to 215, so line 14 is due only
 * then, although the buffer has had room since 207. */
static void lookups_before_a_full_write_buffer_take_time(void **state)
{
    (void)state;
    struct cache_config config = rig_config(16, 2);
    config.write_buffer = 1;
    struct rig *rig = rig_new(&config);
    (void)rig_store(rig, 0, 0, 0);
    (void)rig_store(rig, 1, 14, 0);
    rig_until(rig, 105);
    maintain(rig, 2, MEM_CLEAN, 0, LINE, 105);
    maintain(rig, 3, MEM_CLEAN, LINE, 15 * LINE, 200);
    rig_until(rig, 1000);
    rig_asked_is(rig, 2, MEM_WRITE, 0, LINE, 107);
    rig_asked_is(rig, 3, MEM_CLEAN, 0, LINE, 207);
    rig_asked_is(rig, 4, MEM_WRITE, 14 * LINE, LINE, 215);
    rig_asked_is(rig, 5, MEM_CLEAN, LINE, 15 * LINE, 315);
    rig_free(rig);
}

/* Stores in the write buffer: a clean waits for them; an invalidation drops them unless they were sent. */
static void maintenance_reaches_the_write_buffer(void **state)
{
    (void)state;
    for (unsigned drop = 0; drop < 2; drop++) {
        struct cache_config config = through(16, 2, false);
        struct rig *rig = rig_new(&config);
        rig->refuse[1] = true;
        (void)rig_store(rig, 0, 1, 0);
        (void)rig_store(rig, 1, 2, 0);
        rig_until(rig, 10);
        maintain(rig, 2, drop ? MEM_INVALIDATE : MEM_CLEAN, LINE, LINE, 10);
        rig_until(rig, 50);
        rig_open(rig);
        rig_until(rig, 1000);
        assert_int_equal(rig->count, 3 - drop);
        if (drop) { /* one lookup, starting at 12 */
            rig_asked_is(rig, 0, MEM_INVALIDATE, LINE, LINE, 13);
            rig_asked_is(rig, 1, MEM_WRITE, 2 * LINE + 8, 8, 50);
        } else {
            rig_asked_is(rig, 0, MEM_WRITE, LINE + 8, 8, 50);
            rig_asked_is(rig, 2, MEM_CLEAN, LINE, LINE, 150);
        }
        assert_int_equal(rig->cache->writes_used, 0);
        rig_free(rig);
    }
}

static void invalidate_all_is_at_once(void **state)
{
    (void)state;
    struct rig *rig = dirty_rig();
    cache_invalidate_all(rig->cache);
    assert_int_equal(rig_state(rig, 0), CACHE_INVALID);
    assert_int_equal(rig_state(rig, 9), CACHE_INVALID);
    rig_until(rig, 500);
    assert_int_equal(rig->count, 0);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_hit_goes_through),
        cmocka_unit_test(stores_unite),
        cmocka_unit_test(write_buffer_has_a_limit),
        cmocka_unit_test(store_miss_goes_down_alone),
        cmocka_unit_test(store_miss_brings_the_line),
        cmocka_unit_test(clean_keeps_lines),
        cmocka_unit_test(invalidate_forgets),
        cmocka_unit_test(clean_invalidate_does_both),
        cmocka_unit_test(long_ranges),
        cmocka_unit_test(lines_under_way_are_waited_for),
        cmocka_unit_test(clean_waits_for_the_write_buffer),
        cmocka_unit_test(lookups_before_a_full_write_buffer_take_time),
        cmocka_unit_test(maintenance_reaches_the_write_buffer),
        cmocka_unit_test(invalidate_all_is_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
