/* TLBs and the walker on tables made by hand, with a cache over a memory of fixed latency. */
#include "tests/core/tlb/rig.h"
#include "tests/isa/random.h"

/* Cold: a second-level lookup, then three dependent reads that miss. A page whose entry is in another line of the same
 * table: two hits and a miss. In the same line: three hits. */
static void walk_is_three_dependent_reads(void **state)
{
    (void)state;
    const struct tlb_config config = small();
    struct rig *rig = rig_new(&config);
    uint64_t miss = miss_clocks(rig);
    assert_int_equal(clocks_of(rig, AT(0, 0, 4) + 8, TLB_DATA), L2 + 3 * miss);
    assert_int_equal(rig->waits[WAITS - 1].level, MEM_LEVEL_MEMORY);
    assert_int_equal(rig->memory.requests, 3);
    assert_int_equal(clocks_of(rig, AT(0, 0, 8), TLB_DATA), L2 + 2 * HIT + miss);
    assert_int_equal(clocks_of(rig, AT(0, 0, 9), TLB_DATA), L2 + 3 * HIT);
    assert_int_equal(rig->memory.requests, 4);
    assert_int_equal(counted(rig, "walks"), 3);
    assert_int_equal(counted(rig, "walk_reads"), 9);
    assert_int_equal(counted(rig, "walk_clocks"), 4 * miss + 5 * HIT);
    /* The first page again: as the last page used, after another page, then for instructions from the second level. */
    assert_int_equal(clocks_of(rig, AT(0, 0, 9) + 0xff8, TLB_DATA), 0);
    assert_int_equal(clocks_of(rig, AT(0, 0, 4), TLB_DATA), 0);
    assert_int_equal(clocks_of(rig, AT(0, 0, 9), TLB_FETCH), L2);
    assert_int_equal(clocks_of(rig, AT(0, 0, 9), TLB_FETCH), 0);
    rig_free(rig);
}

/* A walk whose reads all hit is answered at once with a future time; until then its page is not present. */
static void walk_of_hits_ends_in_the_future(void **state)
{
    (void)state;
    const struct tlb_config config = small();
    struct rig *rig = rig_new(&config);
    (void)clocks_of(rig, AT(0, 0, 8), TLB_DATA);
    uint64_t now = rig->queue.now, ready = 0;
    struct cache_waiter *waiter = &rig->waits[0].waiter;
    const uint64_t end = now + (L2 + 3 * HIT) * PERIOD;
    assert_int_equal(tlb_access(rig->tlb, AT(0, 0, 9), TLB_DATA, now, &ready, waiter), TLB_READY);
    assert_int_equal(ready, end);
    assert_int_equal(tlb_access(rig->tlb, AT(0, 0, 9), TLB_DATA, now + PERIOD, &ready, waiter), TLB_READY);
    assert_int_equal(ready, end);
    assert_int_equal(tlb_access(rig->tlb, AT(0, 0, 9), TLB_FETCH, now + PERIOD, &ready, waiter), TLB_READY);
    assert_int_equal(ready, end);
    assert_int_equal(tlb_access(rig->tlb, AT(0, 0, 9), TLB_DATA, end + 5, &ready, waiter), TLB_READY);
    assert_int_equal(ready, end + 5);
    /* The walker is busy until then: the next walk begins after it. */
    assert_int_equal(tlb_access(rig->tlb, AT(0, 0, 10), TLB_DATA, now, &ready, waiter), TLB_READY);
    assert_int_equal(ready, end + 3 * HIT * PERIOD);
    rig_free(rig);
}

static void large_pages_need_fewer_reads(void **state)
{
    (void)state;
    const struct tlb_config config = small();
    struct rig *rig = rig_new(&config);
    uint64_t miss = miss_clocks(rig);
    assert_int_equal(clocks_of(rig, AT(2, 17, 5), TLB_DATA), L2 + miss); /* 1 GiB: root */
    assert_int_equal(clocks_of(rig, AT(2, 511, 511), TLB_DATA), 0);
    assert_int_equal(clocks_of(rig, AT(0, 2, 7), TLB_DATA), L2 + HIT + miss); /* 2 MiB: root, middle */
    assert_int_equal(clocks_of(rig, AT(0, 2, 300), TLB_DATA), 0);
    assert_int_equal(clocks_of(rig, AT(0, 3, 7), TLB_DATA), L2 + 2 * HIT); /* the next one, by itself */
    assert_int_equal(counted(rig, "walk_reads"), 5);
    /* Sv48: four levels; 512 GiB pages: one. */
    set_satp(rig, SATP_SV48, 2, TOP);
    assert_int_equal(clocks_of(rig, AT(0, 0, 4), TLB_DATA), L2 + miss + 2 * HIT + miss);
    assert_int_equal(clocks_of(rig, AT(512 + 77, 5, 4), TLB_DATA), L2 + HIT);
    assert_int_equal(clocks_of(rig, AT(512 + 511, 511, 511), TLB_DATA), 0);
    assert_int_equal(counted(rig, "walk_reads"), 10);
    rig_free(rig);
}

/* First level: 2 sets of 2 ways; pages 0, 2, 4 ... are in set 0. Second level: 8 sets; pages 0, 8, 16 are in set 0. */
static void replacement_takes_the_least_recently_used(void **state)
{
    (void)state;
    const struct tlb_config config = small();
    struct rig *rig = rig_new(&config);
    for (unsigned i = 0; i < 5; i++)
        (void)clocks_of(rig, AT(0, 0, 8 * i), TLB_DATA); /* the lines of the tables come in */
    tlb_flush(rig->tlb);
    (void)clocks_of(rig, AT(0, 0, 0), TLB_DATA);
    (void)clocks_of(rig, AT(0, 0, 2), TLB_DATA);
    assert_int_equal(clocks_of(rig, AT(0, 0, 0), TLB_DATA), 0);
    (void)clocks_of(rig, AT(0, 0, 4), TLB_DATA);                 /* replaces 2 */
    (void)clocks_of(rig, AT(0, 0, 1), TLB_DATA);                 /* the other set */
    assert_int_equal(clocks_of(rig, AT(0, 0, 0), TLB_DATA), 0);  /* 4 is older now */
    assert_int_equal(clocks_of(rig, AT(0, 0, 2), TLB_DATA), L2); /* replaces 4 */
    assert_int_equal(clocks_of(rig, AT(0, 0, 0), TLB_DATA), 0);
    assert_int_equal(clocks_of(rig, AT(0, 0, 4), TLB_DATA), L2);
    /* In set 0 of the second level, page 0 has not been used since it came: 8 and 16 replace it. */
    (void)clocks_of(rig, AT(0, 0, 8), TLB_DATA);
    (void)clocks_of(rig, AT(0, 0, 16), TLB_DATA);
    assert_int_equal(clocks_of(rig, AT(0, 0, 8), TLB_FETCH), L2);
    assert_int_equal(clocks_of(rig, AT(0, 0, 0), TLB_FETCH), L2 + 3 * HIT);
    rig_free(rig);
}

/* Random accesses against lists in order of use, for a first level of 4 sets and 4 ways and pages of 4 KiB
 * and 2 MiB. */
static void random_accesses_agree_with_lists(void **state)
{
    (void)state;
    enum { SETS = 4, WAYS = 4, PAGES = 64 };
    const struct tlb_config config = {
        .l1_entries = SETS * WAYS, .l1_ways = WAYS, .energy_l1 = 3, .energy_l2 = 1000};
    struct rig *rig = rig_new(&config);
    uint64_t lists[SETS][WAYS] = {0}, random = 1, now = rig->queue.now, misses = 0;
    for (unsigned i = 0; i < 512; i += 8)
        tlb_warm(rig->tlb, AT(0, 0, i), TLB_FETCH);
    tlb_warm(rig->tlb, AT(0, 2, 0), TLB_FETCH);
    for (unsigned i = 0; i < 20000; i++) {
        random_step(&random);
        unsigned page = (unsigned)(random >> 40) % PAGES;
        bool large = (random >> 50) % 8 == 0;
        uint64_t address = large ? AT(0, 2 + page % 2, page) : AT(0, 0, page), ready;
        uint64_t name = large ? 1000 + page % 2 : 1 + page,
                 *list = lists[(large ? 2 + page % 2 : page) % SETS];
        unsigned at = 0;
        while (at < WAYS - 1 && list[at] != name)
            at++;
        bool hit = list[at] == name;
        memmove(&list[1], list, at * sizeof *list);
        list[0] = name;
        misses += !hit;
        assert_int_equal(tlb_access(rig->tlb, address, TLB_DATA, now, &ready, &rig->waits[0].waiter),
                         TLB_READY);
        assert_int_equal(ready, hit ? now : now + (large ? 2U : 3U) * HIT * PERIOD);
        now += 100 * PERIOD;
    }
    assert_int_equal(counted(rig, "l1d.misses"), misses);
    assert_int_equal(counted(rig, "l1d.hits"), 20000 - misses);
    assert_true(misses > 1000);
    struct energy_ledger ledger;
    energy_init(&ledger);
    tlb_energy(rig->tlb, &ledger, scope_root());
    assert_int_equal(energy_total(&ledger), 20000 * 3); /* there is no second level */
    energy_free(&ledger);
    rig_free(rig);
}

static void flush_and_fence(void **state)
{
    (void)state;
    const struct tlb_config config = small();
    struct rig *rig = rig_new(&config);
    uint64_t one = AT(0, 0, 9), two = AT(0, 0, 10), everywhere = AT(0, 1, 9), big = AT(0, 2, 0);
    const uint64_t all[] = {one, two, everywhere, big};
    for (unsigned i = 0; i < 4; i++)
        (void)clocks_of(rig, all[i], TLB_DATA);
    tlb_fence(rig->tlb, true, one + 0x123, false, 0); /* one page */
    assert_int_equal(clocks_of(rig, two, TLB_FETCH), L2);
    assert_int_equal(clocks_of(rig, one, TLB_FETCH), L2 + 3 * HIT);
    tlb_fence(rig->tlb, true, big + 0x56789, false, 0); /* any address in a large page */
    assert_int_equal(clocks_of(rig, big, TLB_FETCH), L2 + 2 * HIT);
    tlb_fence(rig->tlb, false, 0, true, 7); /* another address space */
    assert_int_equal(clocks_of(rig, one, TLB_FETCH), 0);
    tlb_fence(rig->tlb, false, 0, true, 1); /* this one, except global pages */
    assert_int_equal(clocks_of(rig, everywhere, TLB_DATA), 0);
    assert_int_equal(clocks_of(rig, one, TLB_FETCH), L2 + 3 * HIT);
    tlb_flush(rig->tlb); /* the last page too */
    assert_int_equal(clocks_of(rig, one, TLB_FETCH), L2 + 3 * HIT);
    assert_int_equal(clocks_of(rig, everywhere, TLB_DATA), L2 + 3 * HIT);
    assert_int_equal(counted(rig, "flushes"), 5);
    rig_free(rig);
}

static void address_spaces_keep_apart(void **state)
{
    (void)state;
    const struct tlb_config config = small();
    struct rig *rig = rig_new(&config);
    (void)clocks_of(rig, AT(0, 0, 9), TLB_DATA);
    (void)clocks_of(rig, AT(0, 1, 8), TLB_DATA);
    set_satp(rig, SATP_SV39, 2, ROOT);
    assert_int_equal(clocks_of(rig, AT(0, 1, 8), TLB_DATA), 0); /* global */
    assert_int_equal(clocks_of(rig, AT(0, 0, 9), TLB_DATA), L2 + 3 * HIT);
    set_satp(rig, SATP_SV39, 1, ROOT);
    assert_int_equal(clocks_of(rig, AT(0, 0, 9), TLB_DATA), 0);
    rig_free(rig);
}

/* Four accesses at one time: one that walks; one that waits for its page; one to another page in the same table line;
 * and one for instructions at a later time. */
static void walks_wait_in_order(void **state)
{
    (void)state;
    const struct tlb_config config = small();
    struct rig *rig = rig_new(&config);
    uint64_t miss = miss_clocks(rig), now = rig->queue.now, ready;
    struct wait *w = rig->waits;
    assert_int_equal(tlb_access(rig->tlb, AT(0, 0, 9), TLB_DATA, now, &ready, &w[0].waiter), TLB_WALK);
    assert_int_equal(tlb_access(rig->tlb, AT(0, 0, 16), TLB_DATA, now, &ready, &w[1].waiter), TLB_WALK);
    assert_int_equal(tlb_access(rig->tlb, AT(0, 0, 9), TLB_FETCH, now, &ready, &w[2].waiter), TLB_WALK);
    assert_int_equal(tlb_access(rig->tlb, AT(2, 0, 0), TLB_FETCH, now + 1000 * PERIOD, &ready, &w[3].waiter),
                     TLB_WALK);
    event_queue_run(&rig->queue, now + 2000 * PERIOD);
    uint64_t first = now + (L2 + 3 * miss) * PERIOD;
    assert_int_equal(w[0].done, first);
    assert_int_equal(w[2].done, first); /* waited only for the page */
    assert_int_equal(w[1].done, first + (2 * HIT + miss) * PERIOD);
    assert_int_equal(w[3].done, now + (1000 + L2 + HIT) * PERIOD); /* not before its time */
    assert_int_equal(w[0].order, 1);
    assert_int_equal(w[2].order, 2);
    assert_int_equal(w[1].order, 3);
    assert_int_equal(w[3].order, 4);
    assert_int_equal(counted(rig, "walks"), 3);
    assert_int_equal(counted(rig, "joined"), 1);
    /* Both first levels have the page. */
    assert_int_equal(clocks_of(rig, AT(0, 0, 9), TLB_FETCH), 0);
    assert_int_equal(clocks_of(rig, AT(0, 0, 9), TLB_DATA), 0);
    rig_free(rig);
}

/* Eight lines under way occupy the whole cache: the walk waits until the first of them has arrived. */
static void walk_waits_for_room_in_the_cache(void **state)
{
    (void)state;
    const struct tlb_config config = small();
    struct rig *rig = rig_new(&config);
    struct probe probes[8];
    const struct cache_actor actor = {.pc = 0, .core = 0};
    uint64_t miss = miss_clocks(rig), now = rig->queue.now, ready;
    for (unsigned i = 0; i < 8; i++) {
        probes[i] = (struct probe){{NULL, probe_done, &probes[i]}, 0};
        assert_int_equal(cache_access(rig->cache, FIXTURE_BASE + 0x1000 + 64 * i, CACHE_LOAD, now, actor,
                                      &probes[i].waiter),
                         CACHE_MISS);
    }
    assert_int_equal(tlb_access(rig->tlb, AT(0, 0, 9), TLB_DATA, now, &ready, &rig->waits[0].waiter),
                     TLB_WALK);
    event_queue_run(&rig->queue, now + 1000 * PERIOD);
    assert_true(rig->waits[0].done >= now + 4 * miss * PERIOD);
    assert_true(rig->waits[0].done <= now + (4 * miss + 8) * PERIOD);
    assert_int_equal(counted(rig, "walk_reads"), 3);
    rig_free(rig);
}

/* A page that is flushed during its walk is returned, but not kept. */
static void flush_during_a_walk(void **state)
{
    (void)state;
    const struct tlb_config config = small();
    struct rig *rig = rig_new(&config);
    uint64_t miss = miss_clocks(rig), now = rig->queue.now, ready;
    assert_int_equal(tlb_access(rig->tlb, AT(0, 0, 9), TLB_DATA, now, &ready, &rig->waits[0].waiter),
                     TLB_WALK);
    event_queue_run(&rig->queue, now + 60 * PERIOD);
    tlb_flush(rig->tlb);
    event_queue_run(&rig->queue, now + 1000 * PERIOD);
    assert_int_equal(rig->waits[0].done, now + (L2 + 3 * miss) * PERIOD);
    assert_int_equal(clocks_of(rig, AT(0, 0, 9), TLB_DATA), L2 + 3 * HIT);
    rig_free(rig);
}

/* An access that faults takes the time of the reads that detect the fault, every time. */
static void faults_are_not_kept(void **state)
{
    (void)state;
    const struct tlb_config config = small();
    struct rig *rig = rig_new(&config);
    uint64_t miss = miss_clocks(rig);
    assert_int_equal(clocks_of(rig, AT(1, 0, 0), TLB_DATA), L2 + miss); /* entry 1 of the root is not valid */
    assert_int_equal(clocks_of(rig, AT(1, 0, 0), TLB_DATA), L2 + HIT);
    assert_int_equal(clocks_of(rig, UINT64_C(1) << 50, TLB_DATA), L2); /* not canonical: nothing is read */
    rig_free(rig);
}

static void the_mode_decides(void **state)
{
    (void)state;
    const struct tlb_config config = small();
    struct rig *rig = rig_new(&config);
    struct hart *hart = &rig->f.hart;
    (void)clocks_of(rig, AT(0, 0, 9), TLB_DATA);
    hart->privilege = PRIV_M;
    assert_false(tlb_active(rig->tlb, TLB_DATA));
    assert_int_equal(clocks_of(rig, AT(0, 0, 12), TLB_DATA), 0);
    assert_int_equal(clocks_of(rig, AT(0, 0, 12), TLB_FETCH), 0);
    hart->priv.mstatus = MSTATUS_MPRV | (uint64_t)PRIV_S << MSTATUS_MPP_SHIFT; /* data as a supervisor */
    assert_true(tlb_active(rig->tlb, TLB_DATA));
    assert_false(tlb_active(rig->tlb, TLB_FETCH));
    assert_int_equal(clocks_of(rig, AT(0, 0, 12), TLB_FETCH), 0);
    assert_int_equal(clocks_of(rig, AT(0, 0, 12), TLB_DATA), L2 + 3 * HIT);
    hart->priv.mstatus = 0;
    hart->privilege = PRIV_U;
    assert_true(tlb_active(rig->tlb, TLB_FETCH));
    assert_int_equal(clocks_of(rig, AT(0, 0, 9), TLB_DATA), 0);
    set_satp(rig, SATP_BARE, 0, 0);
    assert_false(tlb_active(rig->tlb, TLB_FETCH));
    assert_int_equal(clocks_of(rig, AT(0, 0, 13), TLB_DATA), 0);
    assert_int_equal(counted(rig, "walks"), 2);
    rig_free(rig);
}

static void warming_takes_no_time_and_counts_nothing(void **state)
{
    (void)state;
    const struct tlb_config config = small();
    struct rig *rig = rig_new(&config);
    tlb_warm(rig->tlb, AT(0, 0, 9), TLB_DATA);
    assert_int_equal(rig->memory.requests + counted(rig, "walks") + counted(rig, "l1d.misses"), 0);
    assert_int_equal(clocks_of(rig, AT(0, 0, 9), TLB_DATA), 0);
    assert_int_equal(clocks_of(rig, AT(0, 0, 9), TLB_FETCH), L2);
    assert_int_equal(clocks_of(rig, AT(0, 0, 10), TLB_DATA), L2 + 3 * HIT); /* and the tables are present */
    rig_free(rig);
}

static void bad_configurations_are_named(void **state)
{
    (void)state;
    struct tlb_config config;
    struct error err;
    part_defaults(&tlb_kind, 0, &config);
    assert_true(part_check(&tlb_kind, &config, &err));
    config.l1_ways = 5;
    assert_false(part_check(&tlb_kind, &config, &err));
    assert_memory_equal(err.text, "l1_ways: ", 9);
    part_defaults(&tlb_kind, 0, &config);
    config.l1_entries = 0;
    assert_false(part_check(&tlb_kind, &config, &err));
    assert_memory_equal(err.text, "l1_entries: ", 12);
    part_defaults(&tlb_kind, 0, &config);
    config.l2_entries = 24; /* 6 sets */
    assert_false(part_check(&tlb_kind, &config, &err));
    assert_memory_equal(err.text, "l2_ways: ", 9);
    config.l2_entries = config.l2_ways = 0;
    assert_true(part_check(&tlb_kind, &config, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walk_is_three_dependent_reads),
        cmocka_unit_test(walk_of_hits_ends_in_the_future),
        cmocka_unit_test(large_pages_need_fewer_reads),
        cmocka_unit_test(replacement_takes_the_least_recently_used),
        cmocka_unit_test(random_accesses_agree_with_lists),
        cmocka_unit_test(flush_and_fence),
        cmocka_unit_test(address_spaces_keep_apart),
        cmocka_unit_test(walks_wait_in_order),
        cmocka_unit_test(walk_waits_for_room_in_the_cache),
        cmocka_unit_test(flush_during_a_walk),
        cmocka_unit_test(faults_are_not_kept),
        cmocka_unit_test(the_mode_decides),
        cmocka_unit_test(warming_takes_no_time_and_counts_nothing),
        cmocka_unit_test(bad_configurations_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
