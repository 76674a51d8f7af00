/* The TLB of ranges and its walker, behind a cache over a memory of fixed latency. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "emu/core/tlb.h"
#include "emu/core/tlb/ranges.h"
#include "emu/hart/mmu.h"
#include "isa/include/croft/range.h"
#include "tests/core/tlb/steady_memory.h"
#include "tests/hart/fixture.h"
#include "tests/sim/value.h"

enum { PAGE = 4096, PERIOD = 1000000, LATENCY = 50 * PERIOD, R = 1, P = 8 };

#define TABLE (FIXTURE_BASE + 0x10000)
#define LOCAL (FIXTURE_BASE + 0x20000)
#define AT    UINT64_C(0x4000000000)

struct wait {
    struct cache_waiter waiter;
    uint64_t done;
    unsigned level;
};

struct rig {
    struct fixture f;
    struct event_queue queue;
    struct clock clock;
    struct cache *cache;
    struct core_tlb *tlb;
    struct stats *stats;
    struct croft_range_table *table;
    struct steady_memory memory;
    struct wait waits[3];
};

static void wait_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct wait *wait = waiter->owner;
    wait->done = now;
    wait->level = level;
}

/* Range i is 3 pages long, and begins 8 pages after the one before. */
static uint64_t range_at(unsigned i)
{
    return AT + (uint64_t)i * 8 * PAGE;
}

static struct rig *rig_new(unsigned ranges, unsigned entries)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct cache_config cache;
    struct tlb_config config;
    assert_non_null(rig);
    fixture_init(&rig->f, 0x40000);
    struct hart *hart = &rig->f.hart;
    hart->priv.pmpcfg[0] = PMP_R | PMP_W | PMP_X | PMP_NAPOT;
    hart->priv.pmpaddr[0] = UINT64_MAX >> 10;
    hart->priv.mrange = TABLE;
    hart->priv.mlocal = LOCAL >> 2 | (PAGE / 8 - 1);
    hart->privilege = PRIV_U;
    rig->table = (void *)phys_at(&rig->f.memory, TABLE, sizeof *rig->table);
    for (unsigned i = 0; i < ranges; i++)
        rig->table->entries[i] =
            (struct croft_range){range_at(i), 3 * PAGE, FIXTURE_BASE + i * PAGE, R | P, 0};
    rig->table->count = ranges;
    event_queue_init(&rig->queue);
    rig->memory = (struct steady_memory){.queue = &rig->queue, .latency = LATENCY};
    rig->clock.period = PERIOD;
    part_defaults(&cache_kind, 0, &cache);
    rig->cache = cache_new("l1d", &cache, &rig->queue, &rig->clock, 2, 1, &steady_ops, &rig->memory);
    part_defaults(&tlb_kind, 0, &config);
    rig->tlb = tlb_new(&config, hart, &rig->queue, &rig->clock, 1, 1, rig->cache);
    tlb_set_ranges(rig->tlb, entries);
    rig->stats = stats_new();
    tlb_publish(rig->tlb, rig->stats, scope_enter(NULL, "tlb"));
    for (unsigned i = 0; i < 3; i++)
        rig->waits[i].waiter = (struct cache_waiter){NULL, wait_done, &rig->waits[i]};
    event_queue_run(&rig->queue, 100 * PERIOD);
    return rig;
}

static void rig_free(struct rig *rig)
{
    tlb_free(rig->tlb);
    cache_free(rig->cache);
    stats_free(rig->stats);
    fixture_free(&rig->f);
    free(rig);
}

/* Returns the clocks until an access at now can begin. */
static uint64_t clocks_of(struct rig *rig, uint64_t address, enum tlb_use use)
{
    struct wait *wait = &rig->waits[0];
    uint64_t from = rig->queue.now, ready = 0;
    wait->done = 0;
    if (tlb_access(rig->tlb, address, use, from, &ready, &wait->waiter) == TLB_WALK) {
        while (!wait->done)
            assert_true(event_queue_step(&rig->queue));
        ready = wait->done;
    }
    event_queue_run(&rig->queue, ready + 10 * PERIOD);
    return (ready - from) / PERIOD;
}

static uint64_t hit_clocks(const struct rig *rig)
{
    return cache_configuration(rig->cache)->hit_clocks;
}

/* Seven ranges: the search reads entry 3, then 1 or 5, then the others. Head and entry 0 are in line 0 of the table,
 * entries 1 and 2 in line 1, 3 and 4 in line 2, 5 and 6 in line 3. A walk reads the head and then the entries of the
 * search, one after the other. */
static void a_miss_walks_the_table(void **state)
{
    (void)state;
    struct rig *rig = rig_new(7, 8);
    const uint64_t hit = hit_clocks(rig);
    uint64_t cold = clocks_of(rig, range_at(3) + 5, TLB_DATA); /* head and entry 3: two lines from memory */
    assert_int_equal(rig->memory.requests, 2);
    assert_true(cold >= 2 * 50 && cold < 2 * 60);
    /* The whole range hits at once, for data and code. */
    assert_int_equal(clocks_of(rig, range_at(3), TLB_DATA), 0);
    assert_int_equal(clocks_of(rig, range_at(3) + 3 * PAGE - 1, TLB_DATA), 0);
    assert_int_equal(clocks_of(rig, range_at(3) + PAGE, TLB_FETCH), 0);
    /* Head, 3, 1: the first two hit. */
    uint64_t third = clocks_of(rig, range_at(1), TLB_DATA);
    assert_int_equal(rig->memory.requests, 3);
    assert_int_equal(third, cold / 2 + 2 * hit);
    /* Head, 3, 1, 2: all lines are cached. */
    assert_int_equal(clocks_of(rig, range_at(2), TLB_DATA), 4 * hit);
    assert_int_equal(clocks_of(rig, range_at(0), TLB_FETCH), 4 * hit);
    assert_int_equal(rig->memory.requests, 3);
    /* An address in no range is walked for every time: after range 2, the search reads 3, 1 and 2. */
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(clocks_of(rig, range_at(2) + 3 * PAGE, TLB_DATA), 4 * hit);
    assert_int_equal(stats_value(rig->stats, "tlb.walks"), 6);
    assert_int_equal(stats_value(rig->stats, "tlb.walk_reads"), 2 + 3 + 4 + 4 + 4 + 4);
    assert_int_equal(stats_value(rig->stats, "tlb.l1d.misses"), 5);
    assert_int_equal(stats_value(rig->stats, "tlb.l1i.misses"), 1);
    assert_int_equal(stats_value(rig->stats, "tlb.l1d.hits"), 2);
    assert_int_equal(stats_value(rig->stats, "tlb.l1i.hits"), 1);
    assert_int_equal(stats_value(rig->stats, "tlb.l2.misses"), 0);
    rig_free(rig);
}

/* Two entries: the least recently used one is replaced. */
static void entries_are_replaced_by_age(void **state)
{
    (void)state;
    struct rig *rig = rig_new(7, 2);
    (void)clocks_of(rig, range_at(0), TLB_DATA);
    (void)clocks_of(rig, range_at(1), TLB_DATA);
    assert_int_equal(clocks_of(rig, range_at(0) + PAGE, TLB_DATA), 0);
    assert_true(clocks_of(rig, range_at(6), TLB_FETCH) > 0); /* in place of range 1 */
    assert_int_equal(clocks_of(rig, range_at(0), TLB_DATA), 0);
    assert_int_equal(clocks_of(rig, range_at(6), TLB_DATA), 0);
    assert_true(clocks_of(rig, range_at(1), TLB_DATA) > 0); /* in place of range 0 */
    assert_int_equal(clocks_of(rig, range_at(6), TLB_DATA), 0);
    assert_true(clocks_of(rig, range_at(0), TLB_DATA) > 0);
    rig_free(rig);
}

/* Ranges 20 to 29 and 0 to 9 have grown into one: what is left of them takes no entry, so 40 to 49, older than they,
 * stays when a third range comes. */
static void a_grown_range_replaces_its_parts(void **state)
{
    (void)state;
    struct range_tlb tlb;
    range_tlb_init(&tlb, 3);
    range_tlb_put(&tlb, 40, 49, 1);
    range_tlb_put(&tlb, 20, 29, 2);
    range_tlb_put(&tlb, 0, 9, 3);
    range_tlb_put(&tlb, 0, 29, 4);
    range_tlb_put(&tlb, 60, 69, 5);
    for (uint64_t at = 0; at < 30; at++)
        assert_int_equal(range_tlb_find(&tlb, at)->ready, 4);
    assert_non_null(range_tlb_find(&tlb, 45));
    assert_non_null(range_tlb_find(&tlb, 65));
    assert_int_equal(tlb.count, 3);
}

/* The window, machine mode, and user mode without a table need no walk; a flush drops all ranges. */
static void what_needs_no_walk(void **state)
{
    (void)state;
    struct rig *rig = rig_new(3, 8);
    assert_int_equal(clocks_of(rig, LOCAL, TLB_DATA), 0);
    assert_int_equal(clocks_of(rig, LOCAL + PAGE - 1, TLB_DATA), 0);
    assert_int_equal(stats_value(rig->stats, "tlb.walks"), 0);
    assert_true(clocks_of(rig, range_at(1), TLB_DATA) > 0);
    rig->f.hart.privilege = PRIV_M;
    assert_false(tlb_active(rig->tlb, TLB_DATA));
    assert_int_equal(clocks_of(rig, range_at(2), TLB_DATA), 0);
    rig->f.hart.privilege = PRIV_U;
    assert_true(tlb_active(rig->tlb, TLB_FETCH));
    assert_int_equal(clocks_of(rig, range_at(1), TLB_DATA), 0);
    tlb_flush(rig->tlb);
    assert_int_equal(clocks_of(rig, range_at(1), TLB_DATA), 2 * hit_clocks(rig));
    rig->f.hart.priv.mrange = 0;
    tlb_flush(rig->tlb);
    assert_int_equal(clocks_of(rig, range_at(2), TLB_DATA), 0);
    assert_int_equal(stats_value(rig->stats, "tlb.walks"), 2);
    rig_free(rig);
}

/* During a walk, an access to the same range waits for it; one to another range walks after it. */
static void walks_are_shared(void **state)
{
    (void)state;
    struct rig *rig = rig_new(3, 8);
    const uint64_t addresses[] = {range_at(1), range_at(0), range_at(1) + 2 * PAGE};
    uint64_t ready;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(tlb_access(rig->tlb, addresses[i], i ? TLB_DATA : TLB_FETCH, rig->queue.now, &ready,
                                    &rig->waits[i].waiter),
                         TLB_WALK);
    while (!rig->waits[1].done)
        assert_true(event_queue_step(&rig->queue));
    assert_int_equal(rig->waits[2].done, rig->waits[0].done);
    /* Head and entries 1, 0: all lines are cached by the first walk. */
    assert_int_equal(rig->waits[1].done - rig->waits[0].done, 3 * hit_clocks(rig) * PERIOD);
    assert_int_equal(stats_value(rig->stats, "tlb.walks"), 2);
    assert_int_equal(stats_value(rig->stats, "tlb.joined"), 1);
    rig_free(rig);
}

/* Warming brings the range, without time or counts. */
static void warming_brings_ranges(void **state)
{
    (void)state;
    struct rig *rig = rig_new(3, 8);
    tlb_warm(rig->tlb, range_at(2), TLB_DATA);
    tlb_warm(rig->tlb, LOCAL, TLB_DATA);
    assert_int_equal(clocks_of(rig, range_at(2) + PAGE, TLB_DATA), 0);
    assert_int_equal(clocks_of(rig, range_at(1), TLB_DATA), 2 * hit_clocks(rig));
    assert_int_equal(rig->memory.requests, 0);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_miss_walks_the_table), cmocka_unit_test(entries_are_replaced_by_age),
        cmocka_unit_test(what_needs_no_walk),     cmocka_unit_test(walks_are_shared),
        cmocka_unit_test(warming_brings_ranges),  cmocka_unit_test(a_grown_range_replaces_its_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
