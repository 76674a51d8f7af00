/* Random traffic through caches of all configurations, above a level that refuses, delays and probes at
 * random: every access is answered exactly once, every load gets the newest version, and no version is
 * lost. */
#include "tests/isa/random.h"
#include "tests/mem/cache/rig.h"

enum {
    LINES = 48,
    PAGE = 64,
    ROUNDS = 20000,
    UPKEEP = RIG_ACCESSES - 1
}; /* prefetches reach the end of the page */

/* Versions by line: the newest, memory's, and the cache's (0: no copy). */
struct world {
    struct event_queue queue;
    struct cache *cache;
    struct cache_observer observer;
    struct mem_waiters waiters;
    struct event room;
    uint64_t random;
    uint64_t newest[PAGE], memory[PAGE], cached[PAGE];
    unsigned reading[PAGE]; /* reads that have been accepted */
    bool probing, coherent;
    struct keep_out keep_out;
    uint64_t walk; /* lines accessed in order, for prefetchers */
    uint64_t accesses, answers, full, stores;
    bool busy[RIG_ACCESSES];
    struct world_access {
        struct cache_waiter waiter;
        struct world *world;
    } access[RIG_ACCESSES];
};

static uint64_t dice(struct world *world, uint64_t sides)
{
    random_step(&world->random);
    return (world->random >> 33) % sides;
}

static void answer(void *owner, uint64_t now)
{
    struct mem_request *request = owner;
    struct world *world = mem_request_link(request)->port;
    if (request->op == MEM_READ) {
        world->reading[request->address / LINE]--;
        request->exclusive = request->exclusive || dice(world, 2);
        request->dropped = request->prefetch && dice(world, 4) == 0;
    }
    assert_true(mem_request_respond(request, now));
}

static bool offered(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct world *world = port;
    if (dice(world, 4) == 0) {
        mem_waiters_add(&world->waiters, link);
        if (!event_pending(&world->room))
            event_schedule(&world->queue, &world->room, now + (1 + dice(world, 50)) * RIG_CLOCK);
        return false;
    }
    if (request->prefetch)
        assert_false(keep_out_has(&world->keep_out, request->address, request->address));
    if (request->op == MEM_READ)
        world->reading[request->address / LINE]++;
    event_init(&request->event, 9, answer, request);
    event_schedule(&world->queue, &request->event, now + dice(world, 300) * RIG_CLOCK);
    return true;
}

static void make_room(void *owner, uint64_t now)
{
    struct world *world = owner;
    (void)mem_waiters_wake(&world->waiters, now);
}

static void told_access(void *context, const struct cache *cache, uint64_t line, bool store,
                        const struct cache_actor *actor, uint64_t now)
{
    struct world *world = context;
    uint64_t at = line / LINE;
    (void)cache;
    (void)actor;
    (void)now;
    if (store) {
        world->cached[at] = ++world->newest[at];
        world->stores++;
    } else {
        assert_int_equal(world->cached[at], world->newest[at]);
    }
}

static void told_fill(void *context, const struct cache *cache, uint64_t line, uint64_t asked, uint64_t now,
                      unsigned level)
{
    struct world *world = context;
    (void)cache;
    (void)asked;
    (void)now;
    (void)level;
    world->cached[line / LINE] = world->memory[line / LINE];
}

static void told_write_back(void *context, const struct cache *cache, uint64_t line, uint64_t now)
{
    struct world *world = context;
    (void)cache;
    (void)now;
    assert_int_not_equal(world->cached[line / LINE], 0);
    world->memory[line / LINE] = world->cached[line / LINE];
}

static void told_evict(void *context, const struct cache *cache, uint64_t line, uint64_t now)
{
    struct world *world = context;
    uint64_t at = line / LINE;
    (void)cache;
    (void)now;
    if (!world->probing)
        assert_int_equal(world->memory[at], world->newest[at]);
    world->cached[at] = 0;
}

static void done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct world_access *access = waiter->owner;
    struct world *world = access->world;
    ptrdiff_t i = access - world->access;
    (void)now;
    assert_true(world->busy[i]);
    world->busy[i] = false;
    if (level == MEM_LEVELS)
        world->full++;
    else
        world->answers++;
}

static void ask(struct world *world)
{
    unsigned i = (unsigned)dice(world, UPKEEP);
    if (world->busy[i])
        return;
    static const enum cache_use uses[] = {CACHE_LOAD, CACHE_LOAD, CACHE_STORE, CACHE_STORE, CACHE_FETCH};
    enum cache_use use = uses[dice(world, 5)];
    uint64_t line = dice(world, dice(world, 4) ? 12 : LINES), address = line * LINE + 8 * dice(world, 8);
    uint64_t time = world->queue.now + dice(world, 30) * RIG_CLOCK;
    struct cache_actor actor = {.pc = line % 4};
    if (world->cache->config.prefetch != CACHE_PREFETCH_NONE && dice(world, 2)) {
        address = world->walk++ % LINES * LINE;
        actor.pc = 8;
    }
    world->busy[i] = true;
    enum cache_outcome outcome =
        cache_access(world->cache, address, use, time, actor, &world->access[i].waiter);
    world->busy[i] = outcome != CACHE_HIT;
    world->answers += outcome == CACHE_HIT;
    world->accesses += outcome != CACHE_FULL;
}

static void maintain(struct world *world)
{
    if (world->busy[UPKEEP])
        return;
    enum mem_op op = dice(world, 2) ? MEM_CLEAN : MEM_CLEAN_INVALIDATE;
    uint64_t first = dice(world, LINES), count = 1 + dice(world, LINES - first);
    world->busy[UPKEEP] = true;
    world->accesses++;
    cache_maintain(world->cache, op, first * LINE, count * LINE,
                   world->queue.now + dice(world, 30) * RIG_CLOCK, (struct cache_actor){0},
                   &world->access[UPKEEP].waiter);
}

static void keep_out(struct world *world)
{
    uint64_t first = dice(world, LINES), count = dice(world, 8);
    keep_out_set(&world->keep_out, (unsigned)dice(world, 2),
                 (struct keep_out_range){first * LINE, (first + count) * LINE - 1});
}

static void probe(struct world *world)
{
    uint64_t at = dice(world, LINES), held = world->cached[at];
    if (!world->coherent || world->reading[at])
        return;
    world->probing = true;
    if (cache_probe(world->cache, at * LINE, dice(world, 2) ? PROTOCOL_PROBE_TAKE : PROTOCOL_PROBE_SHARE,
                    world->queue.now))
        world->memory[at] = held;
    world->probing = false;
    assert_int_equal(world->memory[at], world->newest[at]);
    assert_true(cache_line_state(world->cache, at * LINE) <= CACHE_SHARED);
}

static struct world *begin(const struct cache_config *config, uint64_t seed)
{
    static const struct mem_port_ops ops = {.request = offered};
    const struct clock clock = {RIG_CLOCK};
    struct world *world = calloc(1, sizeof *world);
    struct error err;
    assert_non_null(world);
    world->random = seed;
    world->coherent = config->coherent;
    for (unsigned i = 0; i < PAGE; i++)
        world->newest[i] = world->memory[i] = 1;
    for (unsigned i = 0; i < RIG_ACCESSES; i++)
        world->access[i] = (struct world_access){{NULL, done, &world->access[i]}, world};
    if (!part_check(&cache_kind, config, &err))
        fail_msg("%s", err.text);
    event_queue_init(&world->queue);
    event_init(&world->room, 8, make_room, world);
    world->cache = cache_new("l1", config, &world->queue, &clock, 3, 0, &ops, world);
    keep_out_init(&world->keep_out, 2);
    cache_keep_out(world->cache, &world->keep_out);
    world->observer = (struct cache_observer){.access = told_access,
                                              .fill = told_fill,
                                              .write_back = told_write_back,
                                              .evict = told_evict,
                                              .context = world};
    cache_observe(world->cache, &world->observer);
    return world;
}

/* Waits until nothing is outstanding and cleans everything; then memory has the newest versions. */
static void end(struct world *world, struct cache_counters *sum)
{
    event_queue_run(&world->queue, world->queue.now + CLOCK_SECOND);
    cache_maintain(world->cache, MEM_CLEAN, 0, LINES * LINE, world->queue.now, (struct cache_actor){0}, NULL);
    event_queue_run(&world->queue, world->queue.now + CLOCK_SECOND);
    for (unsigned i = 0; i < RIG_ACCESSES; i++)
        assert_false(world->busy[i]);
    for (unsigned i = 0; i < PAGE; i++)
        assert_int_equal(world->memory[i], world->newest[i]);
    assert_int_equal(world->answers, world->accesses);
    assert_true(world->stores > ROUNDS / 20 && world->full > 0);
    assert_int_equal(world->cache->mshrs.used + world->cache->writes_used, 0);
    assert_null(world->cache->upkeep);
    const struct cache_counters *counted = &world->cache->counters;
    assert_int_equal(counted->prefetches, counted->prefetches_useful + counted->prefetches_late +
                                              counted->prefetches_unused + counted->prefetches_returned +
                                              cache_prefetches_pending(world->cache));
#define CACHE_COUNTER(name, unit, meaning) sum->name += counted->name;
    CACHE_COUNTERS(CACHE_COUNTER)
#undef CACHE_COUNTER
    cache_free(world->cache);
    keep_out_free(&world->keep_out);
    free(world);
}

static void run(const struct cache_config *config, uint64_t seed, struct cache_counters *sum)
{
    struct world *world = begin(config, seed);
    for (unsigned i = 0; i < ROUNDS; i++) {
        ask(world);
        if (dice(world, 200) == 0)
            maintain(world);
        if (dice(world, 4) == 0)
            probe(world);
        if (dice(world, 50) == 0)
            keep_out(world);
        event_queue_run(&world->queue, world->queue.now + dice(world, 40) * RIG_CLOCK);
    }
    end(world, sum);
}

static void nothing_is_lost(void **state)
{
    (void)state;
    struct cache_counters sum[4] = {0}; /* by kind of prefetcher */
    for (unsigned kind = 0; kind < 64; kind++) {
        struct cache_config config = rig_config(kind & 1 ? 4 : 1, kind & 2 ? 1 : 4);
        config.mshrs = kind & 4 ? 2 : 6;
        config.mshr_targets = kind & 4 ? 2 : 8;
        config.write_buffer = kind & 8 ? 1 : 4;
        config.replacement = kind & 1 ? TAGS_LRU : TAGS_TREE_PLRU;
        config.prefetch = kind % 5 % 4;
        config.prefetch_degree = 2;
        config.prefetch_distance = kind % 5;
        config.coherent = (kind >> 4 & 3) == 0;
        config.write_through = (kind >> 4 & 3) > 1;
        config.write_allocate = (kind >> 4 & 3) != 1 && (kind >> 4 & 3) != 2;
        run(&config, kind, &sum[config.prefetch]);
    }
    for (unsigned kind = 1; kind < 4; kind++) {
        assert_true(sum[kind].prefetches_useful && sum[kind].prefetches_late && sum[kind].prefetches_unused);
        assert_true(sum[kind].prefetches_returned && sum[kind].prefetches_dropped);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
