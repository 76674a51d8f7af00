/* Hits, misses, MSHRs, evictions and write-backs of a cache without coherence: times and states computed by
 * hand. A hit takes 2 clocks; a miss is sent after them and answered 100 clocks later. */
#include "tests/isa/random.h"
#include "tests/mem/cache/rig.h"
#include "tests/sim/value.h"

/* A load at 10 is sent at 12 and done at 112. Then the line hits. */
static void miss_then_hit(void **state)
{
    (void)state;
    struct cache_config config = rig_config(4, 2);
    struct rig *rig = rig_new(&config);
    assert_int_equal(rig_load(rig, 0, 5, 10), CACHE_MISS);
    rig_until(rig, 111);
    assert_int_equal(rig->accesses[0].done, 0);
    assert_int_equal(rig_state(rig, 5), CACHE_INVALID);
    rig_until(rig, 112);
    assert_int_equal(rig->accesses[0].done, 112);
    assert_int_equal(rig->accesses[0].level, MEM_LEVEL_L2);
    rig_asked_is(rig, 0, MEM_READ, 5 * LINE, LINE, 12);
    assert_int_equal(rig_state(rig, 5), CACHE_EXCLUSIVE);
    assert_int_equal(rig_load(rig, 0, 5, 120), CACHE_HIT);
    assert_int_equal(rig_store(rig, 0, 5, 121), CACHE_HIT);
    assert_int_equal(rig_state(rig, 5), CACHE_MODIFIED);
    assert_int_equal(rig_store(rig, 0, 5, 122), CACHE_HIT);
    rig_until(rig, 1000);
    assert_int_equal(rig->accesses[0].calls, 1);
    assert_int_equal(rig->count, 1);
    assert_int_equal(rig->cache->counters.misses, 1);
    assert_int_equal(rig->cache->counters.miss_latency, 102 * RIG_CLOCK);
    rig_free(rig);
}

/* A store that misses brings the line in, owned. */
static void store_miss_is_dirty(void **state)
{
    (void)state;
    struct cache_config config = rig_config(4, 2);
    struct rig *rig = rig_new(&config);
    assert_int_equal(rig_store(rig, 0, 3, 1), CACHE_MISS);
    rig_until(rig, 103);
    assert_int_equal(rig->accesses[0].done, 103);
    assert_int_equal(rig_state(rig, 3), CACHE_MODIFIED);
    rig_free(rig);
}

/* A core that has run ahead accesses the line at 20; another access at 15 makes the request leave at 17. A
 * third one at 18 changes nothing. */
static void earlier_access_moves_the_request(void **state)
{
    (void)state;
    struct cache_config config = rig_config(4, 2);
    struct rig *rig = rig_new(&config);
    assert_int_equal(rig_load(rig, 0, 1, 20), CACHE_MISS);
    assert_int_equal(rig_load(rig, 1, 1, 15), CACHE_MISS);
    assert_int_equal(rig_load(rig, 2, 1, 18), CACHE_MISS);
    rig_until(rig, 200);
    assert_int_equal(rig->count, 1);
    rig_asked_is(rig, 0, MEM_READ, LINE, LINE, 17);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(rig->accesses[i].done, 117);
    assert_int_equal(rig->cache->counters.merged, 2);
    rig_free(rig);
}

/* Two targets: the third access must be repeated when the line has arrived, and hits. */
static void targets_have_a_limit(void **state)
{
    (void)state;
    struct cache_config config = rig_config(4, 2);
    config.mshr_targets = 2;
    struct rig *rig = rig_new(&config);
    assert_int_equal(rig_load(rig, 0, 1, 0), CACHE_MISS);
    assert_int_equal(rig_store(rig, 1, 1, 50), CACHE_MISS);
    assert_int_equal(rig_load(rig, 2, 1, 51), CACHE_FULL);
    rig_until(rig, 102);
    assert_int_equal(rig->accesses[1].done, 102);
    assert_int_equal(rig_state(rig, 1), CACHE_MODIFIED);
    assert_int_equal(rig->accesses[2].done, 102);
    assert_int_equal(rig->accesses[2].level, MEM_LEVELS);
    assert_int_equal(rig_load(rig, 2, 1, 102), CACHE_HIT);
    rig_free(rig);
}

/* Two MSHRs: lines 1 and 2 are outstanding, 3 and 4 wait. At 102 and at 107, an MSHR becomes free for one of
 * them. */
static void mshrs_have_a_limit(void **state)
{
    (void)state;
    struct cache_config config = rig_config(4, 2);
    config.mshrs = 2;
    struct rig *rig = rig_new(&config);
    assert_int_equal(rig_load(rig, 1, 1, 0), CACHE_MISS);
    assert_int_equal(rig_load(rig, 2, 2, 5), CACHE_MISS);
    assert_int_equal(rig_load(rig, 3, 3, 6), CACHE_FULL);
    assert_int_equal(rig_load(rig, 4, 4, 7), CACHE_FULL);
    assert_int_equal(rig_load(rig, 5, 1, 8), CACHE_MISS); /* merging needs no MSHR */
    rig_until(rig, 102);
    assert_int_equal(rig->accesses[5].done, 102);
    assert_int_equal(rig->accesses[3].done, 102);
    assert_int_equal(rig->accesses[3].level, MEM_LEVELS);
    /* This test repeats its access later, so the other waiter was called too: the first to access gets the
     * MSHR. */
    assert_int_equal(rig->accesses[4].done, 102);
    assert_int_equal(rig_load(rig, 3, 3, 103), CACHE_MISS);
    assert_int_equal(rig_load(rig, 4, 4, 104), CACHE_FULL);
    rig_until(rig, 107);
    assert_int_equal(rig->accesses[4].done, 107);
    assert_int_equal(rig_load(rig, 4, 4, 107), CACHE_MISS);
    rig_until(rig, 300);
    assert_int_equal(rig->accesses[3].done, 103 + 102);
    assert_int_equal(rig->accesses[4].done, 107 + 102);
    assert_int_equal(rig->cache->counters.full, 3);
    assert_int_equal(rig->cache->mshrs.peak, 2);
    rig_free(rig);
}

/* Two MSHRs; line 3 is in the cache, and lines 1 and 2 are outstanding until 204 and 209. A load of line 4 is refused ahead of its
 * time while no response can come before; a load that may succeed, hit or merge is not. */
static void refusals_are_foreseen(void **state)
{
    (void)state;
    struct cache_config config = rig_config(4, 2);
    config.mshrs = 2;
    struct rig *rig = rig_new(&config);
    struct cache_waiter *waiter = &rig->accesses[4].waiter;
    assert_int_equal(rig_load(rig, 3, 3, 0), CACHE_MISS);
    rig_until(rig, 102);
    assert_int_equal(rig_load(rig, 1, 1, 102), CACHE_MISS);
    assert_false(cache_full_ahead(rig->cache, 4 * LINE, 103 * RIG_CLOCK, waiter));
    assert_int_equal(rig_load(rig, 2, 2, 107), CACHE_MISS);
    assert_false(cache_full_ahead(rig->cache, 4 * LINE, 108 * RIG_CLOCK, waiter)); /* one may come now */
    rig->quiet = 204 * RIG_CLOCK;
    assert_false(cache_full_ahead(rig->cache, 1 * LINE, 108 * RIG_CLOCK, waiter));
    assert_false(cache_full_ahead(rig->cache, 3 * LINE, 108 * RIG_CLOCK, waiter));
    assert_false(cache_full_ahead(rig->cache, 4 * LINE, 204 * RIG_CLOCK, waiter));
    assert_int_equal(rig->cache->counters.full, 0);
    assert_true(cache_full_ahead(rig->cache, 4 * LINE, 203 * RIG_CLOCK, waiter));
    assert_int_equal(rig->cache->counters.full, 1);
    rig_until(rig, 203);
    assert_int_equal(rig->accesses[4].calls, 0);
    rig_until(rig, 204);
    assert_int_equal(rig->accesses[1].done, 204);
    assert_int_equal(rig->accesses[4].calls, 1);
    assert_int_equal(rig->accesses[4].level, MEM_LEVELS);
    rig_until(rig, 300);
    rig_free(rig);
}

/* One set of 2: lines 0 and 1 are filled, then 0 is used, so line 2 displaces line 1. */
static void conflict_takes_the_oldest(void **state)
{
    (void)state;
    struct cache_config config = rig_config(1, 2);
    struct rig *rig = rig_new(&config);
    (void)rig_load(rig, 0, 0, 0);
    (void)rig_load(rig, 1, 1, 1);
    rig_until(rig, 200);
    assert_int_equal(rig_load(rig, 0, 0, 200), CACHE_HIT);
    (void)rig_load(rig, 2, 2, 201);
    rig_until(rig, 302);
    assert_int_equal(rig_state(rig, 1), CACHE_EXCLUSIVE); /* until the new line has arrived */
    rig_until(rig, 303);
    assert_int_equal(rig_state(rig, 0), CACHE_EXCLUSIVE);
    assert_int_equal(rig_state(rig, 1), CACHE_INVALID);
    assert_int_equal(rig_state(rig, 2), CACHE_EXCLUSIVE);
    assert_int_equal(rig->count, 3); /* a clean line is evicted silently */
    assert_int_equal(rig->cache->counters.evictions, 1);
    rig_free(rig);
}

/* Direct-mapped: line 0 is dirty, line 1 displaces it at 302; it is then written back whole. */
static void dirty_victim_is_written_back(void **state)
{
    (void)state;
    struct cache_config config = rig_config(1, 1);
    struct rig *rig = rig_new(&config);
    rig_observe(rig);
    (void)rig_store(rig, 0, 0, 0);
    rig_until(rig, 200);
    (void)rig_load(rig, 1, 1, 200);
    rig_until(rig, 302);
    assert_int_equal(rig->count, 3);
    rig_asked_is(rig, 2, MEM_WRITE, 0, LINE, 302);
    assert_int_equal(rig->log[2].mask, UINT64_MAX);
    assert_false(rig->log[2].exclusive);
    assert_string_equal(rig->story, "f0s0f1a1"); /* it is not written yet */
    rig_until(rig, 402);
    assert_string_equal(rig->story, "f0s0f1a1w0e0");
    assert_int_equal(rig->cache->counters.write_backs, 1);
    rig_free(rig);
}

/* A read of a line that is being written back waits for the write: written at 302, answered at 402, then
 * read. */
static void read_waits_for_the_write_back(void **state)
{
    (void)state;
    struct cache_config config = rig_config(1, 1);
    struct rig *rig = rig_new(&config);
    (void)rig_store(rig, 0, 0, 0);
    rig_until(rig, 200);
    (void)rig_load(rig, 1, 1, 200);
    rig_until(rig, 310);
    assert_int_equal(rig_load(rig, 2, 0, 310), CACHE_MISS);
    rig_until(rig, 402);
    rig_asked_is(rig, 2, MEM_WRITE, 0, LINE, 302);
    rig_asked_is(rig, 3, MEM_READ, 0, LINE, 402);
    rig_until(rig, 502);
    assert_int_equal(rig->accesses[2].done, 502);
    rig_free(rig);
}

/* 2 MSHRs, a write buffer of 1, writes refused. Lines 2 and 3 displace the dirty lines 0 and 1: the first
 * uses the write buffer, the second keeps an MSHR, so one MSHR is left. Then line 4 displaces line 2, which
 * is clean. */
static void victims_beyond_the_write_buffer_keep_mshrs(void **state)
{
    (void)state;
    struct cache_config config = rig_config(1, 2);
    config.mshrs = 2;
    config.write_buffer = 1;
    struct rig *rig = rig_new(&config);
    (void)rig_store(rig, 0, 0, 0);
    (void)rig_store(rig, 1, 1, 1);
    rig_until(rig, 200);
    rig->refuse[1] = true;
    (void)rig_load(rig, 2, 2, 200);
    (void)rig_load(rig, 3, 3, 201);
    rig_until(rig, 303);
    assert_int_equal(rig->accesses[2].done, 302); /* fills are accepted nevertheless */
    assert_int_equal(rig->accesses[3].done, 303);
    assert_int_equal(rig->cache->writes_used, 2);
    assert_int_equal(cache_free_mshrs(rig->cache), 1);
    assert_int_equal(rig_load(rig, 4, 4, 303), CACHE_MISS);
    assert_int_equal(rig_load(rig, 5, 5, 304), CACHE_FULL);
    rig_until(rig, 405);
    assert_int_equal(rig->accesses[5].done, 405); /* the MSHR of line 4 is free again */
    rig_open(rig);
    rig_until(rig, 600);
    assert_int_equal(rig->cache->writes_used, 0);
    assert_int_equal(cache_free_mshrs(rig->cache), 2);
    rig_free(rig);
}

/* Refused reads are sent in order when there is room, before writes. */
static void refused_requests_wait(void **state)
{
    (void)state;
    struct cache_config config = rig_config(1, 1);
    struct rig *rig = rig_new(&config);
    (void)rig_store(rig, 0, 0, 0);
    rig_until(rig, 200);
    rig->refuse[1] = true;
    (void)rig_load(rig, 1, 1, 200);
    rig_until(rig, 302); /* line 0 must be written back */
    rig->refuse[0] = true;
    (void)rig_load(rig, 2, 2, 310);
    (void)rig_load(rig, 3, 3, 309);
    rig_until(rig, 390);
    rig->refuse[0] = false; /* there is room, but refused requests are sent first */
    (void)rig_load(rig, 4, 4, 390);
    rig_until(rig, 400);
    assert_int_equal(rig->count, 2);
    rig_open(rig);
    rig_asked_is(rig, 2, MEM_READ, 3 * LINE, LINE, 400);
    rig_asked_is(rig, 3, MEM_READ, 2 * LINE, LINE, 400);
    rig_asked_is(rig, 4, MEM_READ, 4 * LINE, LINE, 400);
    rig_asked_is(rig, 5, MEM_WRITE, 0, LINE, 400);
    rig_until(rig, 500);
    assert_int_equal(rig->accesses[2].done, 500);
    assert_int_equal(rig->accesses[3].done, 500);
    rig_free(rig);
}

/* An access without a waiter has no callback: a fetch on the wrong path, a prefetch. */
static void access_for_nobody(void **state)
{
    (void)state;
    struct cache_config config = rig_config(4, 2);
    config.mshrs = 1;
    struct rig *rig = rig_new(&config);
    struct cache_actor actor = {0};
    assert_int_equal(cache_access(rig->cache, 0, CACHE_FETCH, 0, actor, NULL), CACHE_MISS);
    assert_int_equal(cache_access(rig->cache, LINE, CACHE_FETCH, 0, actor, NULL), CACHE_FULL);
    rig_until(rig, 102);
    assert_int_equal(rig_state(rig, 0), CACHE_EXCLUSIVE);
    assert_int_equal(rig_state(rig, 1), CACHE_INVALID);
    assert_int_equal(cache_access(rig->cache, LINE, CACHE_PREFETCH, 102000, actor, NULL), CACHE_FULL);
    rig_free(rig);
}

/* The statistics are consistent, and the energy is 3 reads of 2 fJ and (1 store + 2 lines) of 3 fJ. */
static void statistics_and_energy(void **state)
{
    (void)state;
    struct cache_config config = rig_config(4, 2);
    config.energy_read = 2;
    config.energy_write = 3;
    struct rig *rig = rig_new(&config);
    struct stats *stats = stats_new();
    struct energy_ledger ledger;
    energy_init(&ledger);
    cache_publish(rig->cache, stats, scope_enter(NULL, "accel.3.l1d"));
    cache_energy(rig->cache, &ledger, scope_enter(NULL, "accel.3.l1d"));
    (void)rig_load(rig, 0, 1, 0);
    (void)rig_store(rig, 1, 2, 0);
    rig_until(rig, 200);
    (void)rig_load(rig, 0, 1, 200);
    (void)rig_access(rig, 1, CACHE_WALK, LINE, 201);
    assert_int_equal(energy_total(&ledger), 3 * 2 + 3 * 3);
    assert_int_equal(stats_value(stats, "accel.3.l1d.loads"), 2);
    assert_int_equal(stats_value(stats, "accel.3.l1d.stores"), 1);
    assert_int_equal(stats_value(stats, "accel.3.l1d.walks"), 1);
    assert_int_equal(stats_value(stats, "accel.3.l1d.hits"), 2);
    assert_int_equal(stats_value(stats, "accel.3.l1d.misses"), 2);
    assert_int_equal(stats_value(stats, "accel.3.l1d.mshrs_peak"), 2);
    assert_true(stats_real(stats, "accel.3.l1d.miss_rate") == 0.5);
    energy_free(&ledger);
    stats_free(stats);
    rig_free(rig);
}

static void configurations_are_checked(void **state)
{
    (void)state;
    struct error err;
    struct cache_config good, bad;
    part_defaults(&cache_kind, 0, &good);
    assert_true(part_check(&cache_kind, &good, &err));
#define REFUSED(field, value)                                                                                \
    bad = good;                                                                                              \
    bad.field = value;                                                                                       \
    assert_false(part_check(&cache_kind, &bad, &err));                                                       \
    assert_ptr_equal(strstr(err.text, #field ":"), err.text)
    REFUSED(size, 3 * 16384 + 64);
    REFUSED(size, 0);
    REFUSED(ways, 0);
    REFUSED(ways, 17);
    REFUSED(line, 48);
    REFUSED(line, 512);
    REFUSED(hit_clocks, 0);
    REFUSED(mshrs, 65);
    REFUSED(mshr_targets, 0);
    REFUSED(write_buffer, 0);
    good.coherent = true;
    REFUSED(write_through, true);
    REFUSED(write_allocate, false);
    good.prefetch = CACHE_PREFETCH_STRIDE;
    REFUSED(prefetch_degree, 9);
    good.ways = 3;
    good.size = 3 * 64 * 64;
    assert_true(part_check(&cache_kind, &good, &err));
    good.replacement = TAGS_TREE_PLRU;
    REFUSED(ways, 3);
#undef REFUSED
}

/* Random accesses, one after the other: hits and victims are those of an ideal LRU cache. */
static void random_accesses_hit_as_lru_says(void **state)
{
    (void)state;
    enum { SETS = 4, WAYS = 4, ROUNDS = 20000 };
    struct cache_config config = rig_config(SETS, WAYS);
    struct rig *rig = rig_new(&config);
    uint64_t lists[SETS][WAYS], random = 1;
    memset(lists, 0xff, sizeof lists);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        random_step(&random);
        uint64_t line = (random >> 40) % 32, *list = lists[line % SETS], at = 0;
        enum cache_use use = random >> 60 & 1 ? CACHE_STORE : CACHE_LOAD;
        while (at < WAYS && list[at] != line)
            at++;
        assert_int_equal(rig_access(rig, 0, use, line * LINE, i * 500), at < WAYS ? CACHE_HIT : CACHE_MISS);
        memmove(list + 1, list, (at == WAYS ? WAYS - 1 : at) * sizeof *list);
        list[0] = line;
        rig_until(rig, i * 500 + 499);
        rig->count = 0;
    }
    assert_int_equal(rig->cache->mshrs.used + rig->cache->writes_used, 0);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(miss_then_hit),
        cmocka_unit_test(store_miss_is_dirty),
        cmocka_unit_test(earlier_access_moves_the_request),
        cmocka_unit_test(targets_have_a_limit),
        cmocka_unit_test(mshrs_have_a_limit),
        cmocka_unit_test(refusals_are_foreseen),
        cmocka_unit_test(conflict_takes_the_oldest),
        cmocka_unit_test(dirty_victim_is_written_back),
        cmocka_unit_test(read_waits_for_the_write_back),
        cmocka_unit_test(victims_beyond_the_write_buffer_keep_mshrs),
        cmocka_unit_test(refused_requests_wait),
        cmocka_unit_test(access_for_nobody),
        cmocka_unit_test(statistics_and_energy),
        cmocka_unit_test(configurations_are_checked),
        cmocka_unit_test(random_accesses_hit_as_lru_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
