/* A cache above a scripted level that records its requests, for the tests of this folder. */
#ifndef TESTS_MEM_CACHE_RIG_H
#define TESTS_MEM_CACHE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/mem/cache/state.h"

enum { RIG_LOG = 64, RIG_ACCESSES = 16, RIG_CLOCK = 1000, RIG_LATENCY = 100, LINE = 64 };

/* A request to the level below, and its time (in clocks). */
struct rig_asked {
    enum mem_op op;
    uint64_t address, mask, clock;
    uint32_t size;
    bool exclusive, upgrade, divergent;
};

struct rig_access {
    struct cache_waiter waiter;
    enum cache_outcome outcome;
    uint64_t done; /* clock; 0: not yet */
    unsigned level, calls;
};

struct rig {
    struct event_queue queue;
    struct cache *cache;
    struct mem_waiters waiters;
    bool refuse[2]; /* reads (and maintenance), writes */
    bool shared;    /* grant of reads that do not request ownership */
    bool drop;      /* drops requests that are prefetches on their arrival */
    uint64_t quiet; /* no response comes before */
    unsigned count, answered;
    struct rig_asked log[RIG_LOG];
    struct rig_access accesses[RIG_ACCESSES];
    struct cache_observer observer;
    /* observers' calls: f fill, a access, s store, w write-back, e eviction, each followed by the line */
    char story[512];
};

static void rig_answer(void *owner, uint64_t now)
{
    struct mem_request *request = owner;
    struct rig *rig = mem_request_link(request)->port;
    if (request->op == MEM_READ)
        request->exclusive = request->exclusive || !rig->shared;
    request->dropped = request->time && rig->drop;
    request->level = MEM_LEVEL_L2;
    rig->answered++;
    assert_true(mem_request_respond(request, now));
}

static bool rig_request(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct rig *rig = port;
    if (rig->refuse[request->op == MEM_WRITE]) {
        mem_waiters_add(&rig->waiters, link);
        return false;
    }
    assert_true(rig->count < RIG_LOG);
    assert_int_equal(now % RIG_CLOCK, 0);
    rig->log[rig->count++] = (struct rig_asked){
        (enum mem_op)request->op, request->address, request->mask,     now / RIG_CLOCK, request->size,
        request->exclusive,       request->upgrade, request->divergent};
    request->time = request->prefetch;
    event_init(&request->event, 9, rig_answer, request);
    event_schedule(&rig->queue, &request->event, now + RIG_LATENCY * RIG_CLOCK);
    return true;
}

/* Grants as the scripted level does. */
static bool rig_warm(void *port, struct mem_link *link, uint64_t address, bool exclusive)
{
    struct rig *rig = port;
    (void)link;
    (void)address;
    return exclusive || !rig->shared;
}

static void rig_tell(struct rig *rig, char what, uint64_t line)
{
    size_t length = strlen(rig->story);
    assert_true(length + 3 < sizeof rig->story);
    rig->story[length] = what;
    rig->story[length + 1] = (char)('0' + line / LINE % 10);
}

static void rig_access_told(void *context, const struct cache *cache, uint64_t line, bool store,
                            const struct cache_actor *actor, uint64_t now)
{
    (void)cache;
    (void)now;
    (void)actor;
    rig_tell(context, store ? 's' : 'a', line);
}

static void rig_fill_told(void *context, const struct cache *cache, uint64_t line, uint64_t asked,
                          uint64_t now, unsigned level)
{
    (void)cache;
    (void)level;
    assert_true(asked <= now);
    rig_tell(context, 'f', line);
}

static void rig_write_back_told(void *context, const struct cache *cache, uint64_t line, uint64_t now)
{
    (void)cache;
    (void)now;
    rig_tell(context, 'w', line);
}

static void rig_evict_told(void *context, const struct cache *cache, uint64_t line, uint64_t now)
{
    (void)cache;
    (void)now;
    rig_tell(context, 'e', line);
}

static inline void rig_observe(struct rig *rig)
{
    rig->observer = (struct cache_observer){.access = rig_access_told,
                                            .fill = rig_fill_told,
                                            .write_back = rig_write_back_told,
                                            .evict = rig_evict_told,
                                            .context = rig};
    cache_observe(rig->cache, &rig->observer);
}

static void rig_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct rig_access *access = waiter->owner;
    access->done = now / RIG_CLOCK;
    access->level = level;
    access->calls++;
}

static uint64_t rig_quiet(const void *port, uint64_t now)
{
    const struct rig *rig = port;
    return rig->quiet > now ? rig->quiet : now;
}

/* Returns the default configuration, but with a hit of 2 clocks, `sets` sets of `ways` ways, and 4 MSHRs. */
static inline struct cache_config rig_config(uint32_t sets, uint32_t ways)
{
    struct cache_config config;
    part_defaults(&cache_kind, 0, &config);
    config.size = (uint64_t)sets * ways * LINE;
    config.ways = ways;
    config.mshrs = 4;
    return config;
}

static inline struct rig *rig_new(const struct cache_config *config)
{
    static const struct mem_port_ops ops = {.request = rig_request, .warm = rig_warm, .quiet = rig_quiet};
    struct rig *rig = calloc(1, sizeof *rig);
    struct error err;
    struct clock clock = {RIG_CLOCK};
    assert_non_null(rig);
    if (!part_check(&cache_kind, config, &err))
        fail_msg("%s", err.text);
    event_queue_init(&rig->queue);
    rig->cache = cache_new("l1d", config, &rig->queue, &clock, 3, 7, &ops, rig);
    for (unsigned i = 0; i < RIG_ACCESSES; i++)
        rig->accesses[i].waiter = (struct cache_waiter){.done = rig_done, .owner = &rig->accesses[i]};
    return rig;
}

static inline void rig_free(struct rig *rig)
{
    cache_free(rig->cache);
    free(rig);
}

/* Runs all events up to and including that clock. */
static inline void rig_until(struct rig *rig, uint64_t clock)
{
    event_queue_run(&rig->queue, clock * RIG_CLOCK);
}

/* Makes access number i of the test, to a byte, at that clock. */
static inline enum cache_outcome rig_access(struct rig *rig, unsigned i, enum cache_use use, uint64_t address,
                                            uint64_t clock)
{
    struct rig_access *access = &rig->accesses[i];
    access->done = 0;
    access->outcome = cache_access(rig->cache, address, use, clock * RIG_CLOCK,
                                   (struct cache_actor){.pc = 0x1000, .core = 1}, &access->waiter);
    return access->outcome;
}

static inline enum cache_outcome rig_load(struct rig *rig, unsigned i, uint64_t line, uint64_t clock)
{
    return rig_access(rig, i, CACHE_LOAD, line * LINE + 8, clock);
}

static inline enum cache_outcome rig_store(struct rig *rig, unsigned i, uint64_t line, uint64_t clock)
{
    return rig_access(rig, i, CACHE_STORE, line * LINE + 8, clock);
}

static inline enum cache_state rig_state(const struct rig *rig, uint64_t line)
{
    return cache_line_state(rig->cache, line * LINE);
}

/* The level below has room again for reads and writes. */
static inline void rig_open(struct rig *rig)
{
    rig->refuse[0] = rig->refuse[1] = false;
    while (mem_waiters_wake(&rig->waiters, rig->queue.now))
        ;
}

static inline void rig_asked_is(const struct rig *rig, unsigned i, enum mem_op op, uint64_t address,
                                uint32_t size, uint64_t clock)
{
    assert_true(i < rig->count);
    assert_int_equal(rig->log[i].op, op);
    assert_int_equal(rig->log[i].address, address);
    assert_int_equal(rig->log[i].size, size);
    assert_int_equal(rig->log[i].clock, clock);
}

#endif
