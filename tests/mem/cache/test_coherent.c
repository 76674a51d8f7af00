/* States granted by a last level, upgrades and probes. A hit takes 2 clocks, a response 100. */
#include "tests/mem/cache/rig.h"

static struct rig *coherent_rig(uint32_t sets, uint32_t ways)
{
    struct cache_config config = rig_config(sets, ways);
    config.coherent = true;
    struct rig *rig = rig_new(&config);
    rig->shared = true;
    return rig;
}

/* The line is exclusive if the level below grants it, and becomes modified without another request. */
static void exclusive_grant(void **state)
{
    (void)state;
    struct rig *rig = coherent_rig(4, 2);
    rig->shared = false;
    (void)rig_load(rig, 0, 1, 0);
    rig_until(rig, 110);
    assert_false(rig->log[0].exclusive);
    assert_int_equal(rig_state(rig, 1), CACHE_EXCLUSIVE);
    assert_int_equal(rig_store(rig, 0, 1, 110), CACHE_HIT);
    assert_int_equal(rig_state(rig, 1), CACHE_MODIFIED);
    rig_free(rig);
}

/* Shared at 102; a store at 110 requests ownership at 112 and gets it at 212; loads hit meanwhile. */
static void store_to_shared_is_an_upgrade(void **state)
{
    (void)state;
    struct rig *rig = coherent_rig(4, 2);
    rig_observe(rig);
    (void)rig_load(rig, 0, 1, 0);
    rig_until(rig, 110);
    assert_int_equal(rig_state(rig, 1), CACHE_SHARED);
    assert_int_equal(rig_store(rig, 0, 1, 110), CACHE_MISS);
    assert_int_equal(rig_load(rig, 1, 1, 111), CACHE_HIT);
    rig_until(rig, 300);
    rig_asked_is(rig, 1, MEM_READ, LINE, LINE, 112);
    assert_true(rig->log[1].exclusive && rig->log[1].upgrade);
    assert_int_equal(rig->accesses[0].done, 212);
    assert_int_equal(rig_state(rig, 1), CACHE_MODIFIED);
    assert_int_equal(rig->cache->counters.upgrades, 1);
    assert_int_equal(rig->cache->counters.fills, 1);
    assert_string_equal(rig->story, "f1a1a1s1");
    rig_free(rig);
}

/* A store that misses requests ownership at once; so does a load with which a store merges before it is
 * sent. */
static void ownership_is_asked_for_in_time(void **state)
{
    (void)state;
    struct rig *rig = coherent_rig(4, 2);
    (void)rig_store(rig, 0, 1, 0);
    (void)rig_load(rig, 1, 2, 0);
    (void)rig_store(rig, 2, 2, 1);
    rig_until(rig, 200);
    assert_int_equal(rig->count, 2);
    for (unsigned i = 0; i < 2; i++)
        assert_true(rig->log[i].exclusive && !rig->log[i].upgrade);
    assert_int_equal(rig_state(rig, 1), CACHE_MODIFIED);
    assert_int_equal(rig_state(rig, 2), CACHE_MODIFIED);
    rig_free(rig);
}

/* The store comes after the read was sent: the load is done at 102, the store sends a request again and is
 * done at 202. */
static void store_behind_a_shared_read(void **state)
{
    (void)state;
    struct rig *rig = coherent_rig(4, 2);
    (void)rig_load(rig, 0, 1, 0);
    rig_until(rig, 10);
    assert_int_equal(rig_store(rig, 1, 1, 10), CACHE_MISS);
    rig_until(rig, 150);
    assert_int_equal(rig->accesses[0].done, 102);
    assert_int_equal(rig->accesses[1].done, 0);
    assert_int_equal(rig_state(rig, 1), CACHE_SHARED);
    assert_int_equal(rig_load(rig, 0, 1, 150), CACHE_HIT);
    rig_until(rig, 300);
    rig_asked_is(rig, 1, MEM_READ, LINE, LINE, 102);
    assert_true(rig->log[1].exclusive && rig->log[1].upgrade);
    assert_int_equal(rig->accesses[1].done, 202);
    assert_int_equal(rig->accesses[1].calls, 1);
    assert_int_equal(rig_state(rig, 1), CACHE_MODIFIED);
    rig_free(rig);
}

/* If the copy is taken away before the upgrade is sent, the upgrade becomes a read for ownership; if after
 * it, the response brings the line. */
static void upgrade_loses_its_copy(void **state)
{
    (void)state;
    for (unsigned sent = 0; sent < 2; sent++) {
        struct rig *rig = coherent_rig(4, 2);
        (void)rig_load(rig, 0, 1, 0);
        rig_until(rig, 110);
        (void)rig_store(rig, 0, 1, 110);
        rig_until(rig, sent ? 112 : 111);
        assert_false(cache_probe(rig->cache, LINE, PROTOCOL_PROBE_TAKE, rig->queue.now));
        assert_int_equal(rig_state(rig, 1), CACHE_INVALID);
        rig_until(rig, 300);
        assert_int_equal(rig->log[1].upgrade, sent);
        assert_true(rig->log[1].exclusive);
        assert_int_equal(rig->accesses[0].done, 212);
        assert_int_equal(rig_state(rig, 1), CACHE_MODIFIED);
        assert_int_equal(rig->cache->counters.upgrades_lost, sent);
        assert_int_equal(rig->cache->counters.fills, 2);
        rig_free(rig);
    }
}

/* Direct-mapped: a line that waits for its upgrade is not displaced; another line is served but not kept. */
static void upgrading_lines_stay(void **state)
{
    (void)state;
    struct rig *rig = coherent_rig(1, 1);
    rig_observe(rig);
    (void)rig_load(rig, 0, 1, 0);
    rig_until(rig, 110);
    (void)rig_load(rig, 1, 2, 110);
    (void)rig_store(rig, 2, 3, 110);
    (void)rig_store(rig, 3, 1, 111);
    rig_until(rig, 212);
    assert_int_equal(rig->accesses[1].done, 212);
    assert_int_equal(rig->accesses[2].done, 212);
    assert_int_equal(rig_state(rig, 1), CACHE_SHARED);
    assert_int_equal(rig_state(rig, 2), CACHE_INVALID);
    rig_until(rig, 213);
    assert_int_equal(rig_state(rig, 1), CACHE_MODIFIED);
    rig_asked_is(rig, 4, MEM_WRITE, 3 * LINE, LINE, 212); /* the store to line 3 is not lost */
    rig_until(rig, 400);
    assert_string_equal(rig->story, "f1a1f2a2e2f3s3s1w3e3");
    rig_free(rig);
}

static void probes_of_lines(void **state)
{
    (void)state;
    struct rig *rig = coherent_rig(4, 2);
    rig->shared = false;
    (void)rig_store(rig, 0, 1, 0);
    (void)rig_load(rig, 1, 2, 0);
    rig_until(rig, 150);
    uint64_t now = rig->queue.now;
    assert_false(cache_probe(rig->cache, 3 * LINE, PROTOCOL_PROBE_TAKE, now));
    assert_true(cache_probe(rig->cache, LINE, PROTOCOL_PROBE_SHARE, now));
    assert_int_equal(rig_state(rig, 1), CACHE_SHARED);
    assert_false(cache_probe(rig->cache, LINE, PROTOCOL_PROBE_TAKE, now));
    assert_int_equal(rig_state(rig, 1), CACHE_INVALID);
    assert_false(cache_probe(rig->cache, 2 * LINE, PROTOCOL_PROBE_SHARE, now));
    assert_int_equal(rig_state(rig, 2), CACHE_SHARED);
    assert_int_equal(rig->cache->counters.probes, 4);
    assert_int_equal(rig->cache->counters.invalidated, 1);
    rig_free(rig);
}

/* A dirty line with an unsent write-back goes to the prober; it is not written back, and a read that waited
 * for the write-back is sent at once. */
static void probe_takes_a_waiting_write_back(void **state)
{
    (void)state;
    struct rig *rig = coherent_rig(1, 1);
    rig_observe(rig);
    (void)rig_store(rig, 0, 0, 0);
    rig_until(rig, 200);
    rig->refuse[1] = true;
    (void)rig_load(rig, 1, 1, 200);
    rig_until(rig, 305);
    (void)rig_load(rig, 2, 0, 305);
    rig_until(rig, 350);
    assert_int_equal(rig->count, 2);
    assert_true(cache_probe(rig->cache, 0, PROTOCOL_PROBE_SHARE, rig->queue.now));
    assert_false(cache_probe(rig->cache, 0, PROTOCOL_PROBE_TAKE, rig->queue.now));
    rig_open(rig);
    rig_until(rig, 500);
    assert_int_equal(rig->count, 3);
    rig_asked_is(rig, 2, MEM_READ, 0, LINE, 350);
    assert_int_equal(rig->accesses[2].done, 450);
    assert_string_equal(rig->story, "f0s0f1a1e0f0a0e1");
    rig_free(rig);
}

/* A sent write-back cannot be withdrawn, but the newest version is taken only once. */
static void probe_meets_a_sent_write_back(void **state)
{
    (void)state;
    struct rig *rig = coherent_rig(1, 1);
    rig_observe(rig);
    (void)rig_store(rig, 0, 0, 0);
    rig_until(rig, 200);
    (void)rig_load(rig, 1, 1, 200);
    rig_until(rig, 350);
    assert_int_equal(rig->count, 3);
    assert_true(cache_probe(rig->cache, 0, PROTOCOL_PROBE_TAKE, rig->queue.now));
    assert_false(cache_probe(rig->cache, 0, PROTOCOL_PROBE_TAKE, rig->queue.now));
    rig_until(rig, 500);
    assert_string_equal(rig->story, "f0s0f1a1e0"); /* nothing was written back */
    rig_free(rig);
}

/* A clean leaves a shared copy. The next store requests ownership, because the level below may have given the
 * line to others. */
static void clean_leaves_a_shared_copy(void **state)
{
    (void)state;
    struct rig *rig = coherent_rig(4, 2);
    (void)rig_store(rig, 0, 1, 0);
    rig_until(rig, 150);
    cache_maintain(rig->cache, MEM_CLEAN, LINE, LINE, 150 * RIG_CLOCK, (struct cache_actor){0},
                   &rig->accesses[1].waiter);
    rig_until(rig, 500);
    assert_int_equal(rig->accesses[1].done, 352);
    assert_int_equal(rig_state(rig, 1), CACHE_SHARED);
    rig_free(rig);
}

/* Warming takes no time, gets states from the level below, counts nothing, and reports stores. */
static void warming(void **state)
{
    (void)state;
    struct rig *rig = coherent_rig(1, 2);
    rig_observe(rig);
    cache_warm(rig->cache, 1 * LINE + 4, false);
    assert_int_equal(rig_state(rig, 1), CACHE_SHARED);
    cache_warm(rig->cache, 1 * LINE, true);
    assert_int_equal(rig_state(rig, 1), CACHE_MODIFIED);
    rig->shared = false;
    cache_warm(rig->cache, 2 * LINE, false);
    assert_int_equal(rig_state(rig, 2), CACHE_EXCLUSIVE);
    cache_warm(rig->cache, 3 * LINE, false);
    assert_int_equal(rig_state(rig, 1), CACHE_INVALID);
    assert_int_equal(rig_state(rig, 2), CACHE_EXCLUSIVE);
    assert_int_equal(rig->count, 0);
    assert_string_equal(rig->story, "f1s1f2w1e1f3");
    assert_int_equal(rig->cache->front.uses[CACHE_LOAD] + rig->cache->counters.misses, 0);
    assert_false(event_queue_step(&rig->queue));
    assert_int_equal(rig_load(rig, 0, 3, 0), CACHE_HIT);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exclusive_grant),
        cmocka_unit_test(store_to_shared_is_an_upgrade),
        cmocka_unit_test(ownership_is_asked_for_in_time),
        cmocka_unit_test(store_behind_a_shared_read),
        cmocka_unit_test(upgrade_loses_its_copy),
        cmocka_unit_test(upgrading_lines_stay),
        cmocka_unit_test(probes_of_lines),
        cmocka_unit_test(probe_takes_a_waiting_write_back),
        cmocka_unit_test(probe_meets_a_sent_write_back),
        cmocka_unit_test(clean_leaves_a_shared_copy),
        cmocka_unit_test(warming),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
