/* First-level caches whose copies become old, and pushes of their stores. A hit takes 2 clocks, a response 100. */
#include "tests/mem/cache/rig.h"

static struct rig *through(void)
{
    struct cache_config config = rig_config(4, 2);
    config.write_through = true;
    config.write_allocate = false;
    return rig_new(&config);
}

/* A line that is there leaves; a later load requests it again. */
static void a_line_leaves(void **state)
{
    (void)state;
    struct rig *rig = through();
    rig_observe(rig);
    (void)rig_load(rig, 0, 1, 0);
    (void)rig_load(rig, 1, 2, 0);
    rig_until(rig, 150);
    cache_expire(rig->cache, LINE, rig->queue.now);
    assert_string_equal(rig->story, "f1a1f2a2e1");
    assert_int_equal(rig_load(rig, 0, 1, 200), CACHE_MISS);
    assert_int_equal(rig_load(rig, 1, 2, 200), CACHE_HIT);
    cache_expire_all(rig->cache);
    assert_int_equal(rig_load(rig, 1, 2, 200), CACHE_MISS);
    rig_until(rig, 400);
    assert_int_equal(rig->count, 4);
    rig_free(rig);
}

/* A line under way serves what waits for it (at 102) and does not stay; a later load waits, and then requests it anew. */
static void a_line_under_way_is_not_kept(void **state)
{
    (void)state;
    for (unsigned all = 0; all < 2; all++) {
        struct rig *rig = through();
        (void)rig_load(rig, 0, 1, 0);
        rig_until(rig, 50);
        if (all)
            cache_expire_all(rig->cache);
        else
            cache_expire(rig->cache, LINE, rig->queue.now);
        assert_int_equal(rig_load(rig, 1, 1, 60), CACHE_FULL);
        rig_until(rig, 102);
        assert_int_equal(rig->accesses[0].done, 102);
        assert_int_equal(rig->accesses[0].level, MEM_LEVEL_L2);
        assert_int_equal(rig->accesses[1].done, 102);
        assert_int_equal(rig->accesses[1].level, MEM_LEVELS);
        assert_int_equal(rig_state(rig, 1), CACHE_INVALID);
        assert_int_equal(rig_load(rig, 1, 1, 110), CACHE_MISS);
        rig_until(rig, 300);
        assert_int_equal(rig->accesses[1].done, 212);
        assert_int_equal(rig_state(rig, 1), CACHE_EXCLUSIVE);
        assert_int_equal(rig->count, 2);
        rig_free(rig);
    }
}

/* A request that has not left yet brings what memory has then: it is kept. */
static void a_planned_line_is_kept(void **state)
{
    (void)state;
    struct rig *rig = through();
    (void)rig_load(rig, 0, 1, 10);
    rig_until(rig, 11);
    cache_expire(rig->cache, LINE, rig->queue.now);
    assert_int_equal(rig_load(rig, 1, 1, 11), CACHE_MISS);
    rig_until(rig, 300);
    assert_int_equal(rig->count, 1);
    assert_int_equal(rig_state(rig, 1), CACHE_EXCLUSIVE);
    rig_free(rig);
}

static void done(struct mem_push *push, uint64_t now)
{
    *(uint64_t *)push->owner = now / RIG_CLOCK;
}

/* Two stores leave at 12 and 22 and are answered at 112 and 122; a third one is younger than the push. */
static void a_push_waits_for_older_stores(void **state)
{
    (void)state;
    struct rig *rig = through();
    uint64_t when = 0, never = 0;
    struct mem_push push = {.done = done, .owner = &when}, none = {.done = done, .owner = &never};
    assert_false(cache_push(rig->cache, &none));
    (void)rig_store(rig, 0, 1, 10);
    (void)rig_store(rig, 1, 2, 20);
    assert_true(cache_push(rig->cache, &push));
    (void)rig_store(rig, 2, 3, 30);
    rig_until(rig, 121);
    assert_int_equal(when, 0);
    rig_until(rig, 300);
    assert_int_equal(when, 122);
    assert_false(cache_push(rig->cache, &none));
    assert_int_equal(never, 0);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_leaves),
        cmocka_unit_test(a_line_under_way_is_not_kept),
        cmocka_unit_test(a_planned_line_is_kept),
        cmocka_unit_test(a_push_waits_for_older_stores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
