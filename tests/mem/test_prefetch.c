/* Prefetchers alone and in a cache. A hit takes 2 clocks, a response 100. */
#include "tests/mem/cache_rig.h"

static unsigned train(struct prefetcher *prefetcher, uint64_t pc, uint64_t address, uint64_t *lines)
{
    return prefetch_train(prefetcher, pc, address, true, lines);
}

static void next_lines_stay_in_the_page(void **state)
{
    (void)state;
    struct prefetcher prefetcher;
    uint64_t lines[PREFETCH_DEGREE];
    prefetch_init(&prefetcher, CACHE_PREFETCH_NEXT_LINE, 2, LINE);
    assert_int_equal(train(&prefetcher, 0, 0x5008, lines), 2);
    assert_int_equal(lines[0], 0x5040);
    assert_int_equal(lines[1], 0x5080);
    assert_int_equal(train(&prefetcher, 0, 0x5f80, lines), 1);
    assert_int_equal(lines[0], 0x5fc0);
    assert_int_equal(train(&prefetcher, 0, 0x5fff, lines), 0);
    assert_int_equal(prefetch_train(&prefetcher, 0, 0x5008, false, lines), 0);
    prefetch_free(&prefetcher);
}

/* The first access makes the entry, the second sets the stride, the third and fourth confirm it. */
static void strides_need_confidence(void **state)
{
    (void)state;
    struct prefetcher prefetcher;
    uint64_t lines[PREFETCH_DEGREE];
    prefetch_init(&prefetcher, CACHE_PREFETCH_STRIDE, 2, LINE);
    assert_int_equal(train(&prefetcher, 0x100, 0x1000, lines), 0);
    assert_int_equal(train(&prefetcher, 0x100, 0x1100, lines), 0);
    assert_int_equal(train(&prefetcher, 0x100, 0x1200, lines), 0);
    assert_int_equal(train(&prefetcher, 0x100, 0x1300, lines), 2);
    assert_int_equal(lines[0], 0x1400);
    assert_int_equal(lines[1], 0x1500);
    /* Another instruction does not affect it, and one odd address does not change it. */
    assert_int_equal(train(&prefetcher, 0x204, 0x9000, lines), 0);
    assert_int_equal(train(&prefetcher, 0x100, 0x1400, lines), 2);
    assert_int_equal(train(&prefetcher, 0x100, 0x8000, lines), 0);
    assert_int_equal(train(&prefetcher, 0x100, 0x8100, lines), 2);
    prefetch_free(&prefetcher);
}

/* Small strides, up or down, are rounded to whole lines of 64 bytes. */
static void small_strides_go_by_lines(void **state)
{
    (void)state;
    struct prefetcher prefetcher;
    uint64_t lines[PREFETCH_DEGREE];
    prefetch_init(&prefetcher, CACHE_PREFETCH_STRIDE, 2, LINE);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(train(&prefetcher, 0x100, 0x1100 - 8 * i, lines), 0);
    assert_int_equal(train(&prefetcher, 0x100, 0x1100 - 24, lines), 2);
    assert_int_equal(lines[0], 0x1080);
    assert_int_equal(lines[1], 0x1040);
    /* Repeated accesses to one address: no prefetch. */
    for (unsigned i = 0; i < 9; i++)
        assert_int_equal(train(&prefetcher, 0x104, 0x1100, lines), 0);
    prefetch_free(&prefetcher);
}

static struct rig *prefetch_rig(enum cache_prefetch kind, uint32_t degree)
{
    struct cache_config config = rig_config(64, 2);
    config.prefetch = kind;
    config.prefetch_degree = degree;
    return rig_new(&config);
}

/* A miss of line 1 also requests line 2; the first use of 2 requests 3, the second one nothing. */
static void next_line_in_a_cache(void **state)
{
    (void)state;
    struct rig *rig = prefetch_rig(CACHE_PREFETCH_NEXT_LINE, 1);
    (void)rig_load(rig, 0, 1, 0);
    rig_until(rig, 200);
    assert_int_equal(rig->count, 2);
    rig_asked_is(rig, 0, MEM_READ, LINE, LINE, 2);
    rig_asked_is(rig, 1, MEM_READ, 2 * LINE, LINE, 2);
    assert_int_equal(rig_state(rig, 2), CACHE_EXCLUSIVE);
    assert_int_equal(rig_load(rig, 0, 2, 200), CACHE_HIT);
    assert_int_equal(rig_load(rig, 0, 2, 201), CACHE_HIT);
    assert_int_equal(rig_load(rig, 0, 1, 202), CACHE_HIT);
    rig_until(rig, 400);
    assert_int_equal(rig->count, 3);
    rig_asked_is(rig, 2, MEM_READ, 3 * LINE, LINE, 202);
    assert_int_equal(rig->cache->counters.prefetches, 2);
    assert_int_equal(rig->cache->counters.prefetches_useful, 1);
    assert_int_equal(rig->cache->counters.prefetches_late, 0);
    rig_free(rig);
}

/* A prefetch that is outstanding when its line is accessed is late; the access is merged. */
static void late_prefetch(void **state)
{
    (void)state;
    struct rig *rig = prefetch_rig(CACHE_PREFETCH_NEXT_LINE, 1);
    (void)rig_load(rig, 0, 1, 0);
    rig_until(rig, 50);
    assert_int_equal(rig_load(rig, 1, 2, 50), CACHE_MISS);
    rig_until(rig, 110);
    assert_int_equal(rig->accesses[1].done, 102);
    assert_int_equal(rig->cache->counters.prefetches_late, 1);
    assert_int_equal(rig_load(rig, 1, 2, 110), CACHE_HIT);
    assert_int_equal(rig->cache->counters.prefetches_useful, 0);
    rig_free(rig);
}

/* 4 MSHRs, 8 lines ahead: one for the miss, two for prefetches, and one reserved for demand accesses. */
static void one_mshr_is_left(void **state)
{
    (void)state;
    struct rig *rig = prefetch_rig(CACHE_PREFETCH_NEXT_LINE, 8);
    (void)rig_load(rig, 0, 1, 0);
    assert_int_equal(rig->cache->mshrs.used, 3);
    assert_int_equal(rig_load(rig, 1, 40, 1), CACHE_MISS);
    rig_until(rig, 102);
    assert_int_equal(rig_state(rig, 3), CACHE_EXCLUSIVE);
    assert_int_equal(rig_state(rig, 4), CACHE_INVALID);
    rig_free(rig);
}

static void kept_out_lines(void **state)
{
    (void)state;
    struct rig *rig = prefetch_rig(CACHE_PREFETCH_NEXT_LINE, 2);
    struct keep_out list;
    keep_out_init(&list, 1);
    cache_keep_out(rig->cache, &list);
    keep_out_set(&list, 0, (struct keep_out_range){2 * LINE + 63, 2 * LINE + 63});
    (void)rig_load(rig, 0, 1, 0);
    rig_until(rig, 200);
    assert_int_equal(rig_state(rig, 2), CACHE_INVALID);
    assert_int_equal(rig_state(rig, 3), CACHE_EXCLUSIVE);
    keep_out_set(&list, 0, (struct keep_out_range){1, 0});
    (void)rig_load(rig, 0, 7, 200);
    rig_until(rig, 400);
    assert_int_equal(rig_state(rig, 8), CACHE_EXCLUSIVE);
    rig_free(rig);
    keep_out_free(&list);
}

/* Loads every 1000 clocks, 2 lines apart: from the fourth one on, the next line is prefetched. */
static void stride_in_a_cache(void **state)
{
    (void)state;
    struct rig *rig = prefetch_rig(CACHE_PREFETCH_STRIDE, 1);
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(rig_load(rig, 0, 2 * i, 1000 * i), i < 4 ? CACHE_MISS : CACHE_HIT);
        rig_until(rig, 1000 * i + 999);
    }
    assert_int_equal(rig_state(rig, 3), CACHE_INVALID);
    assert_int_equal(rig->cache->counters.prefetches, 5);
    assert_int_equal(rig->cache->counters.prefetches_useful, 4);
    rig_free(rig);
}

/* A prefetch that has not left the cache when its line is kept out does not leave it. */
static void planned_prefetches_are_kept_out(void **state)
{
    (void)state;
    struct rig *rig = prefetch_rig(CACHE_PREFETCH_NEXT_LINE, 2);
    struct keep_out list;
    keep_out_init(&list, 1);
    cache_keep_out(rig->cache, &list);
    (void)rig_load(rig, 0, 1, 10); /* its requests leave at 12 */
    rig_until(rig, 11);
    assert_int_equal(rig->cache->mshrs.used, 3);
    keep_out_set(&list, 0, (struct keep_out_range){3 * LINE, 3 * LINE});
    rig_until(rig, 300);
    assert_int_equal(rig->count, 2);
    assert_int_equal(rig_state(rig, 2), CACHE_EXCLUSIVE);
    assert_int_equal(rig_state(rig, 3), CACHE_INVALID);
    assert_int_equal(rig->cache->mshrs.used, 0);
    rig_free(rig);
    keep_out_free(&list);
}

/* Ranges of several owners, which change independently. */
static void owners_keep_out_ranges(void **state)
{
    (void)state;
    struct keep_out list;
    keep_out_init(&list, 2);
    assert_false(keep_out_has(NULL, 0, UINT64_MAX));
    assert_false(keep_out_has(&list, 0, 0) || keep_out_has(&list, 0x40, 0x7f));
    keep_out_set(&list, 1, (struct keep_out_range){0x1000, 0x10ff});
    keep_out_set(&list, 0, (struct keep_out_range){0x3000, 0x30ff});
    assert_true(keep_out_has(&list, 0x10c0, 0x10ff) && keep_out_has(&list, 0x30ff, 0x313f));
    assert_false(keep_out_has(&list, 0x1100, 0x2fff) || keep_out_has(&list, 0x3100, 0x313f));
    keep_out_set(&list, 1, (struct keep_out_range){1, 0});
    assert_false(keep_out_has(&list, 0x1000, 0x103f));
    assert_true(keep_out_has(&list, 0x2fff, 0x3000));
    keep_out_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_lines_stay_in_the_page),
        cmocka_unit_test(strides_need_confidence),
        cmocka_unit_test(small_strides_go_by_lines),
        cmocka_unit_test(next_line_in_a_cache),
        cmocka_unit_test(late_prefetch),
        cmocka_unit_test(one_mshr_is_left),
        cmocka_unit_test(kept_out_lines),
        cmocka_unit_test(stride_in_a_cache),
        cmocka_unit_test(planned_prefetches_are_kept_out),
        cmocka_unit_test(owners_keep_out_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
