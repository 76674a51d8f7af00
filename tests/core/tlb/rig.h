/* A TLB unit with page tables made by hand and a cache over a memory of fixed latency. */
#ifndef TESTS_CORE_TLB_RIG_H
#define TESTS_CORE_TLB_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/core/tlb.h"
#include "emu/hart/mmu.h"
#include "tests/core/tlb/steady_memory.h"
#include "tests/hart/fixture.h"
#include "tests/sim/value.h"

/* Page-table entry bits, and the addresses of the tables, one page each. */
enum { V = 1, R = 2, W = 4, X = 8, U = 16, G = 32, A = 64, D = 128, LEAF = V | R | W | X | A | D };
#define ROOT   (FIXTURE_BASE + 0x10000)
#define MIDDLE (FIXTURE_BASE + 0x11000)
#define LAST   (FIXTURE_BASE + 0x12000)
#define OTHER  (FIXTURE_BASE + 0x13000)
#define TOP    (FIXTURE_BASE + 0x14000)

/* The virtual address of entries i, j, k of the three levels. */
#define AT(i, j, k) ((uint64_t)(i) << 30 | (uint64_t)(j) << 21 | (uint64_t)(k) << 12)

enum { PERIOD = 1000000, MEMORY = 50 * PERIOD, WAITS = 8 };

struct rig;

struct wait {
    struct cache_waiter waiter;
    struct rig *rig;
    uint64_t done;
    unsigned level, order; /* order: number of calls so far, counting this one */
};

struct rig {
    struct fixture f;
    struct event_queue queue;
    struct clock clock;
    struct cache *cache;
    struct core_tlb *tlb;
    struct stats *stats;
    struct steady_memory memory;
    unsigned called;
    struct wait waits[WAITS];
};

static inline void wait_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct wait *wait = waiter->owner;
    assert_int_equal(wait->done, 0);
    assert_int_equal(now, wait->rig->queue.now);
    wait->done = now;
    wait->level = level;
    wait->order = ++wait->rig->called;
}

static inline void set_pte(struct rig *rig, uint64_t table, unsigned index, uint64_t target, unsigned bits)
{
    fixture_write(&rig->f, table + index * 8, 8, target >> 12 << 10 | bits);
}

static inline void set_satp(struct rig *rig, uint64_t mode, uint64_t asid, uint64_t root)
{
    rig->f.hart.priv.satp = mode << SATP_MODE_SHIFT | asid << 44 | root >> 12;
}

/* Entry i of each table points to the next table; LAST maps 4 KiB pages. Root entries 2, 3 are 1 GiB pages, middle 2, 3
 * are 2 MiB pages. Eight consecutive entries of a table share a line. */
static inline void make_tables(struct rig *rig)
{
    for (unsigned i = 0; i < 512; i++) {
        set_pte(rig, LAST, i, FIXTURE_BASE + i * UINT64_C(0x1000), LEAF);
        set_pte(rig, OTHER, i, FIXTURE_BASE + i * UINT64_C(0x1000), LEAF | G);
    }
    set_pte(rig, ROOT, 0, MIDDLE, V);
    set_pte(rig, ROOT, 2, 0x80000000, LEAF);
    set_pte(rig, MIDDLE, 0, LAST, V);
    set_pte(rig, MIDDLE, 1, OTHER, V);
    set_pte(rig, MIDDLE, 2, 0x80000000, LEAF);
    set_pte(rig, MIDDLE, 3, 0x80200000, LEAF);
    set_pte(rig, TOP, 0, ROOT, V);
    set_pte(rig, TOP, 1, 0, LEAF);
}

static inline struct rig *rig_new(const struct tlb_config *config)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct cache_config cache;
    struct error err;
    assert_non_null(rig);
    fixture_init(&rig->f, 0x40000);
    rig->f.hart.priv.pmpcfg[0] = PMP_R | PMP_W | PMP_X | PMP_NAPOT;
    rig->f.hart.priv.pmpaddr[0] = UINT64_MAX >> 10;
    rig->f.hart.privilege = PRIV_S;
    event_queue_init(&rig->queue);
    rig->memory = (struct steady_memory){.queue = &rig->queue, .latency = MEMORY};
    rig->clock.period = PERIOD;
    part_defaults(&cache_kind, 0, &cache);
    rig->cache = cache_new("walk", &cache, &rig->queue, &rig->clock, 2, 1, &steady_ops, &rig->memory);
    if (!part_check(&tlb_kind, config, &err))
        fail_msg("%s", err.text);
    rig->tlb = tlb_new(config, &rig->f.hart, &rig->queue, &rig->clock, 1, 1, rig->cache);
    rig->stats = stats_new();
    tlb_publish(rig->tlb, rig->stats, scope_enter(NULL, "tlb"));
    for (unsigned i = 0; i < WAITS; i++) {
        rig->waits[i].rig = rig;
        rig->waits[i].waiter = (struct cache_waiter){NULL, wait_done, &rig->waits[i]};
    }
    make_tables(rig);
    set_satp(rig, SATP_SV39, 1, ROOT);
    event_queue_run(&rig->queue, 100 * PERIOD);
    return rig;
}

static inline struct tlb_config small(void)
{
    return (struct tlb_config){.l1_entries = 4, .l1_ways = 2, .l2_entries = 16, .l2_ways = 2, .l2_clocks = 3};
}

static inline void rig_free(struct rig *rig)
{
    tlb_free(rig->tlb);
    cache_free(rig->cache);
    stats_free(rig->stats);
    fixture_free(&rig->f);
    free(rig);
}

static inline uint64_t counted(struct rig *rig, const char *name)
{
    char full[64];
    (void)snprintf(full, sizeof full, "tlb.%s", name);
    return stats_value(rig->stats, full);
}

/* Returns the clocks until an access at now can begin. */
static inline uint64_t clocks_of(struct rig *rig, uint64_t address, enum tlb_use use)
{
    struct wait *wait = &rig->waits[WAITS - 1];
    uint64_t from = rig->queue.now, ready = 0;
    wait->done = 0;
    if (tlb_access(rig->tlb, address, use, from, &ready, &wait->waiter) == TLB_WALK) {
        while (!wait->done)
            assert_true(event_queue_step(&rig->queue));
        ready = wait->done;
    }
    event_queue_run(&rig->queue, ready + 10 * PERIOD);
    assert_int_equal((ready - from) % PERIOD, 0);
    return (ready - from) / PERIOD;
}

struct probe {
    struct cache_waiter waiter;
    uint64_t done;
};

static inline void probe_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    (void)level;
    ((struct probe *)waiter->owner)->done = now;
}

/* Returns the clocks of one read that misses in the cache, of a line that no table uses. */
static inline uint64_t miss_clocks(struct rig *rig)
{
    struct probe probe = {{NULL, probe_done, &probe}, 0};
    uint64_t from = rig->queue.now;
    const struct cache_actor actor = {.pc = 0, .core = 0};
    assert_int_equal(cache_access(rig->cache, FIXTURE_BASE + 0x800, CACHE_WALK, from, actor, &probe.waiter),
                     CACHE_MISS);
    while (!probe.done)
        assert_true(event_queue_step(&rig->queue));
    event_queue_run(&rig->queue, probe.done + 10 * PERIOD);
    rig->memory.requests = 0;
    assert_true(probe.done - from >= MEMORY);
    assert_int_equal((probe.done - from) % PERIOD, 0);
    return (probe.done - from) / PERIOD;
}

enum { HIT = 2, L2 = 3 }; /* clocks of the cache's default, and of small() */

#endif
