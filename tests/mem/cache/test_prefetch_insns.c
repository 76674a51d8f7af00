/* Prefetches for prefetch instructions, in a cache. A hit takes 2 clocks, a response 100; there are 4 MSHRs. */
#include "tests/mem/cache/rig.h"

static struct rig *make(bool coherent)
{
    struct cache_config config = rig_config(64, 2);
    config.coherent = coherent;
    struct rig *rig = rig_new(&config);
    rig->shared = coherent;
    return rig;
}

static enum cache_outcome prefetch(struct rig *rig, enum cache_use use, uint64_t line, uint64_t clock)
{
    return cache_prefetch(rig->cache, line * LINE + 5, use, clock * RIG_CLOCK,
                          (struct cache_actor){.pc = 0x2000});
}

/* Each prefetch has become one of these, or is pending. */
static void check_ends(const struct rig *rig)
{
    const struct cache_counters *c = &rig->cache->counters;
    assert_int_equal(c->prefetches, c->prefetches_useful + c->prefetches_late + c->prefetches_unused +
                                        c->prefetches_returned + cache_prefetches_pending(rig->cache));
}

/* The request leaves after the lookup; the line is used later, once. A line that is here or under way is not requested. */
static void line_arrives(void **state)
{
    (void)state;
    struct rig *rig = make(false);
    assert_int_equal(prefetch(rig, CACHE_LOAD, 1, 10), CACHE_MISS);
    assert_int_equal(prefetch(rig, CACHE_LOAD, 1, 11), CACHE_MISS);
    assert_int_equal(cache_prefetches_pending(rig->cache), 1);
    rig_until(rig, 112);
    rig_asked_is(rig, 0, MEM_READ, LINE, LINE, 12);
    assert_int_equal(rig_state(rig, 1), CACHE_EXCLUSIVE);
    assert_int_equal(prefetch(rig, CACHE_STORE, 1, 113), CACHE_HIT);
    assert_int_equal(rig_load(rig, 0, 1, 120), CACHE_HIT);
    assert_int_equal(rig->count, 1);
    assert_int_equal(rig->cache->counters.prefetches_software, 1);
    assert_int_equal(rig->cache->counters.prefetches_useful, 1);
    assert_int_equal(rig->cache->counters.misses, 0);
    check_ends(rig);
    /* An access meets a late one. */
    (void)prefetch(rig, CACHE_LOAD, 2, 200);
    rig_until(rig, 240);
    assert_int_equal(rig_load(rig, 0, 2, 240), CACHE_MISS);
    rig_until(rig, 302);
    assert_int_equal(rig->accesses[0].done, 302);
    assert_int_equal(rig->cache->counters.prefetches_late, 1);
    check_ends(rig);
    rig_free(rig);
}

/* All four MSHRs serve prefetch instructions, also the reserved one; the fifth is dropped, and no one waits. */
static void dropped_without_mshr(void **state)
{
    (void)state;
    struct rig *rig = make(false);
    for (uint64_t line = 0; line < 4; line++)
        assert_int_equal(prefetch(rig, CACHE_LOAD, line, 0), CACHE_MISS);
    assert_int_equal(prefetch(rig, CACHE_LOAD, 4, 0), CACHE_FULL);
    rig_until(rig, 300);
    assert_int_equal(rig->count, 4);
    assert_int_equal(rig_state(rig, 4), CACHE_INVALID);
    assert_int_equal(rig->cache->counters.prefetches_dropped, 1);
    assert_int_equal(rig->cache->counters.full, 0);
    check_ends(rig);
    rig_free(rig);
}

/* Unlike the prefetcher's, it waits for room below. A kept-out line is not requested. */
static void waits_for_room_below(void **state)
{
    (void)state;
    struct rig *rig = make(false);
    struct keep_out list;
    keep_out_init(&list, 1);
    cache_keep_out(rig->cache, &list);
    rig->refuse[0] = true;
    assert_int_equal(prefetch(rig, CACHE_LOAD, 1, 0), CACHE_MISS);
    rig_until(rig, 50);
    assert_int_equal(rig->count, 0);
    rig_open(rig);
    rig_until(rig, 200);
    assert_int_equal(rig->count, 1);
    assert_int_equal(rig_state(rig, 1), CACHE_EXCLUSIVE);
    keep_out_set(&list, 0, (struct keep_out_range){8 * LINE, 8 * LINE});
    assert_int_equal(prefetch(rig, CACHE_LOAD, 8, 200), CACHE_FULL);
    check_ends(rig);
    rig_free(rig);
    keep_out_free(&list);
}

/* prefetch.w: a line comes with ownership; a shared copy is upgraded, and the store hits. */
static void ownership(void **state)
{
    (void)state;
    struct rig *rig = make(true);
    (void)prefetch(rig, CACHE_LOAD, 1, 0);
    (void)prefetch(rig, CACHE_STORE, 2, 0);
    rig_until(rig, 110);
    assert_false(rig->log[0].exclusive);
    assert_true(rig->log[1].exclusive && !rig->log[1].upgrade);
    assert_int_equal(rig_state(rig, 1), CACHE_SHARED);
    assert_int_equal(rig_state(rig, 2), CACHE_EXCLUSIVE);
    assert_int_equal(rig_store(rig, 0, 2, 110), CACHE_HIT);
    assert_int_equal(prefetch(rig, CACHE_LOAD, 1, 110), CACHE_HIT);
    assert_int_equal(prefetch(rig, CACHE_STORE, 1, 110), CACHE_MISS);
    assert_int_equal(rig_load(rig, 0, 1, 120), CACHE_HIT);
    rig_until(rig, 220);
    assert_true(rig->log[2].exclusive && rig->log[2].upgrade);
    assert_int_equal(rig_state(rig, 1), CACHE_EXCLUSIVE);
    assert_int_equal(rig_store(rig, 0, 1, 220), CACHE_HIT);
    assert_int_equal(rig->cache->counters.upgrades, 0);
    assert_int_equal(rig->cache->counters.prefetches_useful, 3);
    check_ends(rig);
    rig_free(rig);
}

/* The copy is taken away before the answer: the line comes, as for a store. A store that waits is served. */
static void upgrade_is_lost(void **state)
{
    (void)state;
    struct rig *rig = make(true);
    (void)rig_load(rig, 0, 1, 0);
    rig_until(rig, 110);
    (void)prefetch(rig, CACHE_STORE, 1, 110);
    rig_until(rig, 150);
    assert_int_equal(rig_store(rig, 0, 1, 150), CACHE_MISS);
    (void)cache_probe(rig->cache, LINE, PROTOCOL_PROBE_TAKE, 160 * RIG_CLOCK);
    assert_int_equal(rig_state(rig, 1), CACHE_INVALID);
    rig_until(rig, 300);
    assert_int_equal(rig->accesses[0].done, 212);
    assert_int_equal(rig_state(rig, 1), CACHE_MODIFIED);
    check_ends(rig);
    rig_free(rig);
}

/* A victim that is on its way down is not brought back. Write-through caches ask for no ownership. */
static void writes(void **state)
{
    (void)state;
    struct cache_config config = rig_config(1, 1);
    struct rig *rig = rig_new(&config);
    (void)rig_store(rig, 0, 0, 0);
    rig_until(rig, 200);
    (void)rig_load(rig, 0, 1, 200);
    rig_until(rig, 310);
    assert_int_equal(prefetch(rig, CACHE_LOAD, 0, 310), CACHE_FULL);
    rig_free(rig);
    config = rig_config(4, 2);
    config.write_through = true;
    rig = rig_new(&config);
    (void)prefetch(rig, CACHE_STORE, 1, 0);
    rig_until(rig, 200);
    assert_int_equal(rig_state(rig, 1), CACHE_EXCLUSIVE);
    assert_false(rig->log[0].upgrade);
    assert_int_equal(prefetch(rig, CACHE_STORE, 1, 200), CACHE_HIT);
    check_ends(rig);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_arrives),         cmocka_unit_test(dropped_without_mshr),
        cmocka_unit_test(waits_for_room_below), cmocka_unit_test(ownership),
        cmocka_unit_test(upgrade_is_lost),      cmocka_unit_test(writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
