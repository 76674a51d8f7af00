/* Random traffic of real first-level caches on a small last level, with and without slices, against a
 * reference model: a version number for each line, which stores increment and which moves as data would. */
#include "emu/mem/cache/state.h"
#include "emu/mem/llc_slices.h"
#include "tests/mem/slow_memory.h"

#define PROTOCOL_ROWS "tests/mem/protocol/msi.def"
#define PROTOCOL_HAS_DIRECTORY
#include "emu/mem/protocol/expand.h"
#include "tests/isa/random.h"

static const struct protocol msi = {.name = "msi",
                                    .grain = PROTOCOL_LINE,
                                    .state_count = sizeof states / sizeof *states,
                                    .cache_count = sizeof cache_rows / sizeof *cache_rows,
                                    .directory_count = sizeof directory_rows / sizeof *directory_rows,
                                    .states = states,
                                    .cache = cache_rows,
                                    .directory = directory_rows};

/* LINES are accessed; prefetches reach the end of the page. */
enum {
    CORES = 4,
    CACHES = CORES + 1,
    LINES = 48,
    PAGE = 64,
    LINE = 64,
    WAITERS = 3,
    SLICES = 4,
    BASE = 0x80000000
};

/* A way between a cache and the last level on which requests and responses take time and overtake each other. */
struct way {
    struct core *core;
    struct mem_link link;
    struct mem_request *refused; /* by the last level, last one first */
};

struct core {
    struct traffic *traffic;
    struct way way;
    struct cache *cache;
    struct cache_observer observer;
    unsigned number;
    struct event event;
    unsigned away;
    uint64_t walk; /* lines accessed in order, for prefetchers */
    struct job {
        struct cache_waiter waiter;
        struct core *core;
        uint64_t address;
        enum cache_use use;
        bool busy, upkeep, walks;
    } jobs[WAITERS];
};

struct traffic {
    struct event_queue queue;
    struct slow_memory memory;
    struct llc *llc; /* a single last level; NULL: slices */
    struct llc_slices *slices;
    struct cache_observer observers[SLICES];
    struct core cores[CACHES]; /* the last one only fetches */
    uint64_t random, operations, limit;
    uint64_t newest[PAGE], in_memory[PAGE], in_l2[PAGE], in_l1[CACHES][PAGE];
    uint64_t going[PAGE], coming[PAGE]; /* to and from memory */
    unsigned away[PAGE];                /* written back, not yet accepted by memory */
    bool far;                           /* caches are at the end of a way */
    bool prefetches;                    /* all kinds of prefetchers, by cache and by seed */
    bool upkeep, warming, warms;
    uint64_t block;                  /* bytes distributed round-robin over slices */
    const struct protocol *protocol; /* NULL: the default */
};

static uint64_t draw(struct traffic *traffic, uint64_t below)
{
    random_step(&traffic->random);
    return (traffic->random >> 33) % below;
}

static uint64_t number_of(uint64_t line)
{
    assert_in_range(line, BASE, BASE + (PAGE - 1) * LINE);
    return (line - BASE) / LINE;
}

/* The slices, or the single last level. */
static uint32_t slice_count(const struct traffic *traffic)
{
    return traffic->llc ? 1 : llc_slices_count(traffic->slices);
}

static struct llc *slice_at(const struct traffic *traffic, uint32_t number)
{
    return traffic->llc ? traffic->llc : llc_slices_at(traffic->slices, number);
}

/* Returns the directory's record of a line. Only its own slice may have one. */
static struct llc_line state_of(const struct traffic *traffic, uint64_t line)
{
    uint32_t count = slice_count(traffic), own = (uint32_t)(line / traffic->block % count);
    for (uint32_t i = 0; i < count; i++)
        assert_true(i == own || !llc_line_state(slice_at(traffic, i), line).present);
    return llc_line_state(slice_at(traffic, own), line);
}

/* Checks: one writer or many readers; the directory records all holders, and the last level has the line. */
static void check(const struct traffic *traffic, uint64_t line)
{
    struct llc_line known = state_of(traffic, line);
    unsigned owners = 0, sharers = 0;
    for (int i = 0; i < CACHES; i++) {
        enum cache_state state = cache_line_state(traffic->cores[i].cache, line);
        if (state == CACHE_INVALID)
            continue;
        assert_true(known.present && (known.holders[0] >> i & 1));
        if (state == CACHE_SHARED) {
            sharers++;
            continue;
        }
        owners++;
        assert_int_equal(known.owner, i);
    }
    assert_true(owners == 0 || (owners == 1 && sharers == 0));
}

static void check_all(const struct traffic *traffic)
{
    for (uint64_t i = 0; i < LINES; i++)
        check(traffic, BASE + i * LINE);
}

static void accessed(void *context, const struct cache *cache, uint64_t line, bool store,
                     const struct cache_actor *actor, uint64_t now)
{
    struct core *core = context;
    struct traffic *traffic = core->traffic;
    uint64_t number = number_of(line);
    (void)actor;
    (void)now;
    assert_ptr_equal(cache, core->cache);
    assert_int_equal(traffic->in_l1[core->number][number], traffic->newest[number]);
    for (unsigned i = 0; i < CACHES; i++) {
        enum cache_state state = cache_line_state(traffic->cores[i].cache, line);
        if (i != core->number)
            assert_true(state == CACHE_INVALID || (!store && state == CACHE_SHARED));
    }
    if (store)
        traffic->in_l1[core->number][number] = ++traffic->newest[number];
}

static void filled(void *context, const struct cache *cache, uint64_t line, uint64_t asked, uint64_t now,
                   unsigned level)
{
    struct core *core = context;
    (void)cache;
    assert_true(asked <= now);
    assert_true(level == MEM_LEVEL_L2 || level == MEM_LEVEL_MEMORY);
    core->traffic->in_l1[core->number][number_of(line)] = core->traffic->in_l2[number_of(line)];
}

static void written(void *context, const struct cache *cache, uint64_t line, uint64_t now)
{
    struct core *core = context;
    (void)cache;
    (void)now;
    core->traffic->in_l2[number_of(line)] = core->traffic->in_l1[core->number][number_of(line)];
}

static void llc_filled(void *context, const struct cache *cache, uint64_t line, uint64_t asked, uint64_t now,
                       unsigned level)
{
    struct traffic *traffic = context;
    uint64_t number = number_of(line);
    assert_null(cache);
    assert_int_equal(level, MEM_LEVEL_MEMORY);
    assert_int_equal(asked == now, traffic->warming);
    if (traffic->warming)
        traffic->coming[number] = traffic->away[number] ? traffic->going[number] : traffic->in_memory[number];
    traffic->in_l2[number] = traffic->coming[number];
}

static void llc_written(void *context, const struct cache *cache, uint64_t line, uint64_t now)
{
    struct traffic *traffic = context;
    (void)cache;
    (void)now;
    traffic->going[number_of(line)] = traffic->in_l2[number_of(line)];
    if (traffic->warming)
        traffic->in_memory[number_of(line)] = traffic->in_l2[number_of(line)];
    else
        traffic->away[number_of(line)]++;
}

/* Memory serves requests in the order in which it accepts them. */
static void accepted(void *context, const struct mem_request *request)
{
    struct traffic *traffic = context;
    if (request->op == MEM_WRITE) {
        traffic->in_memory[number_of(request->address)] = traffic->going[number_of(request->address)];
        traffic->away[number_of(request->address)]--;
    } else if (request->op == MEM_READ) {
        traffic->coming[number_of(request->address)] = traffic->in_memory[number_of(request->address)];
    }
}

static bool probed(void *context, uint64_t line, enum protocol_event event, uint64_t now)
{
    struct core *core = context;
    bool dirty = cache_probe(core->cache, line, event, now);
    if (dirty)
        core->traffic->in_l2[number_of(line)] = core->traffic->in_l1[core->number][number_of(line)];
    assert_true(cache_line_state(core->cache, line) <=
                (event == PROTOCOL_PROBE_TAKE ? CACHE_INVALID : CACHE_SHARED));
    return dirty;
}

static void done(struct cache_waiter *waiter, uint64_t now, unsigned level);

static void try(struct job *job, uint64_t now)
{
    struct core *core = job->core;
    struct traffic *traffic = core->traffic;
    struct cache_actor actor = {.pc = job->walks ? 0x1004 : 0x1000, .core = (uint16_t)core->number};
    uint64_t time = now + draw(traffic, 8) * CLOCK;
    enum cache_outcome outcome = cache_access(core->cache, job->address, job->use, time, actor, &job->waiter);
    if (outcome != CACHE_HIT)
        return;
    job->busy = false;
    core->away--;
}

static void done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct job *job = waiter->owner;
    assert_true(job->busy);
    check_all(job->core->traffic);
    if (level == MEM_LEVELS) {
        try(job, now);
        return;
    }
    job->busy = false;
    job->core->away--;
    if (job->upkeep)
        job->core->traffic->upkeep = false;
}

static void start_upkeep(struct core *core, struct job *job, uint64_t now)
{
    struct traffic *traffic = core->traffic;
    enum mem_op op = draw(traffic, 2) ? MEM_CLEAN : MEM_CLEAN_INVALIDATE;
    uint64_t first = draw(traffic, LINES), count = 1 + draw(traffic, LINES - first);
    traffic->upkeep = true;
    job->upkeep = true;
    cache_maintain(core->cache, op, BASE + first * LINE, count * LINE, now,
                   (struct cache_actor){.pc = 0, .core = 0}, &job->waiter);
}

/* Warms a line by a load or store. test_llc.c tests outstanding lines. */
static void warm(struct core *core)
{
    struct traffic *traffic = core->traffic;
    uint64_t number = draw(traffic, LINES), line = BASE + number * LINE;
    bool store = core->number != CORES && draw(traffic, 2);
    if (state_of(traffic, line).busy)
        return;
    traffic->warming = true;
    cache_warm(core->cache, line, store);
    traffic->warming = false;
    enum cache_state state = cache_line_state(core->cache, line);
    if (state != CACHE_INVALID)
        assert_int_equal(traffic->in_l1[core->number][number], traffic->newest[number]);
    if (store && state == CACHE_MODIFIED)
        traffic->in_l1[core->number][number] = ++traffic->newest[number];
    check(traffic, line);
}

/* A core's next access; half of the accesses are to few, contended lines. */
static void issue(void *owner, uint64_t now)
{
    struct core *core = owner;
    struct traffic *traffic = core->traffic;
    for (unsigned i = 0; i < WAITERS; i++) {
        struct job *job = &core->jobs[i];
        if (job->busy || traffic->operations >= traffic->limit)
            continue;
        uint64_t line = draw(traffic, 2) ? draw(traffic, 4) : draw(traffic, LINES);
        bool walks = traffic->prefetches && draw(traffic, 2);
        if (walks)
            line = core->walk++ % LINES;
        bool fetches = core->number == CORES;
        *job = (struct job){.waiter = {NULL, done, job}, .core = core, .walks = walks, .busy = true};
        job->address = BASE + line * LINE + (walks ? 0 : 8 * draw(traffic, 8));
        job->use = fetches ? CACHE_FETCH : draw(traffic, 5) < 2 ? CACHE_STORE : CACHE_LOAD;
        core->away++;
        traffic->operations++;
        if (!fetches && !traffic->upkeep && draw(traffic, 100) == 0)
            start_upkeep(core, job, now);
        else
            try(job, now);
        break;
    }
    check(traffic, BASE + draw(traffic, LINES) * LINE);
    if (traffic->warms && draw(traffic, 8) == 0)
        warm(core);
    if (draw(traffic, 50) == 0)
        traffic->memory.closed_to_writes = true;
    else if (draw(traffic, 20) == 0 || traffic->operations >= traffic->limit)
        slow_open(&traffic->memory);
    if (traffic->operations < traffic->limit)
        event_schedule(&traffic->queue, &core->event, now + (1 + draw(traffic, 20)) * CLOCK);
}

static void pass_request(void *owner, uint64_t now)
{
    struct mem_request *request = owner;
    struct way *way = mem_request_link(request)->port;
    if (mem_link_request(&way->link, request, now))
        return;
    request->next = way->refused;
    way->refused = request;
}

static void way_delay(struct way *way, struct mem_request *request, void (*action)(void *owner, uint64_t now),
                      uint64_t now)
{
    struct traffic *traffic = way->core->traffic;
    event_init(&request->event, 30 + way->core->number, action, request);
    event_schedule(&traffic->queue, &request->event, now + (1 + draw(traffic, 40)) * CLOCK);
}

static bool way_request(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    (void)link;
    way_delay(port, request, pass_request, now);
    return true;
}

static void pass_response(void *owner, uint64_t now)
{
    assert_true(mem_request_respond(owner, now));
}

static bool way_respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    (void)link;
    way_delay(client, request, pass_response, now);
    return true;
}

static void way_room(void *client, struct mem_link *link, uint64_t now)
{
    struct way *way = client;
    struct mem_request *request = way->refused;
    (void)link;
    way->refused = NULL;
    for (struct mem_request *next; request; request = next) {
        next = request->next;
        pass_request(request, now);
    }
}

static void no_room(void *port, struct mem_link *link, uint64_t now)
{
    (void)port;
    (void)link;
    (void)now;
}

static bool way_warm(void *port, struct mem_link *link, uint64_t address, bool exclusive)
{
    const struct mem_link *lower = &((struct way *)port)->link;
    return lower->port_ops->warm(lower->port, link, address, exclusive);
}

static void way_maintain(void *port, struct mem_link *link, enum mem_op op, uint64_t address, uint64_t size)
{
    (void)link;
    mem_link_maintain(&((struct way *)port)->link, op, address, size);
}

static const struct mem_port_ops way_ops = {way_request, no_room, way_warm, way_maintain, NULL};
static const struct mem_client_ops way_client_ops = {way_respond, way_room};

static struct cache *cache_of(struct traffic *traffic, struct core *core, bool fetches)
{
    struct cache_config config;
    struct error err;
    part_defaults(&cache_kind, 0, &config);
    config.size = fetches ? 256 : 512;
    config.ways = 2;
    config.line = LINE;
    config.mshrs = 2;
    config.mshr_targets = 2;
    config.write_buffer = 1;
    config.coherent = true;
    config.protocol = traffic->protocol;
    if (traffic->prefetches) {
        config.mshrs = 6;
        config.prefetch = core->number % 4;
        config.prefetch_degree = 2;
        config.prefetch_distance = 4;
    }
    if (!part_check(&cache_kind, &config, &err))
        fail_msg("%s", err.text);
    struct part_end port = {&llc_ops, traffic->llc};
    if (!traffic->llc)
        port = llc_slices_port(traffic->slices);
    core->way = (struct way){
        .core = core,
        .link = {
            .port_ops = port.ops, .port = port.object, .client_ops = &way_client_ops, .client = &core->way}};
    if (traffic->far)
        port = (struct part_end){&way_ops, &core->way};
    return cache_new("l1", &config, &traffic->queue, &(struct clock){CLOCK}, 10 + core->number,
                     (uint16_t)core->number, port.ops, port.object);
}

static void arrived(void *context, const struct mem_link *link, uint64_t line, uint64_t now)
{
    struct traffic *traffic = context;
    const uint32_t own = (uint32_t)(line / traffic->block % slice_count(traffic));
    llc_received(slice_at(traffic, own), link, line, now);
}

static void add_core(struct traffic *traffic, unsigned number)
{
    struct core *core = &traffic->cores[number];
    core->traffic = traffic;
    core->number = number;
    core->cache = cache_of(traffic, core, number == CORES);
    core->observer =
        (struct cache_observer){.access = accessed, .fill = filled, .write_back = written, .context = core};
    cache_observe(core->cache, &core->observer);
    const struct llc_client client = {cache_link(core->cache), probed, core, traffic->far};
    if (traffic->far)
        cache_set_receiver(core->cache, arrived, traffic);
    if (number == CORES && traffic->far)
        for (uint32_t i = 0; i < slice_count(traffic); i++)
            llc_attach_far(slice_at(traffic, i), core->cache);
    else if (number == CORES && traffic->llc)
        llc_attach(traffic->llc, core->cache);
    else if (number == CORES)
        llc_slices_attach(traffic->slices, core->cache);
    else if (traffic->llc)
        llc_attach_client(traffic->llc, &client);
    else
        for (uint32_t i = 0; i < llc_slices_count(traffic->slices); i++)
            llc_attach_client(llc_slices_at(traffic->slices, i), &client);
    event_init(&core->event, 20 + number, issue, core);
    event_schedule(&traffic->queue, &core->event, CLOCK);
}

/* A configuration in which rare cases are frequent. */
static struct llc_config small(struct traffic *traffic, uint64_t seed, uint32_t slices)
{
    struct llc_config config;
    struct error err;
    uint32_t share = slices ? 1U << (slices - 1) / 2 : 1; /* of the lines, by slice */
    part_defaults(&llc_kind, 0, &config);
    config.protocol = traffic->protocol;
    config.ways = traffic->warms ? 16 : 4;
    config.size = (uint64_t)(draw(traffic, 2) ? 32 : 16) * LINE / (traffic->warms ? 1 : share);
    config.queue = 2 + (uint32_t)draw(traffic, 8);
    config.mshrs = 1 + (uint32_t)draw(traffic, 4);
    config.write_buffer = 1 + (uint32_t)draw(traffic, 2);
    config.replacement = draw(traffic, 2) ? TAGS_LRU : TAGS_TREE_PLRU;
    /* A single last level serves all slices' addresses: moving their bits within its keys must have no
     * effect. */
    config.slices = slices ? slices : (uint32_t)(1 + seed % 4);
    config.slice_bytes = seed % 2 ? 4 * LINE : 0;
    config.banks = traffic->warms || slices ? 1 : 1U << seed % 3;
    config.bank_clocks = (uint32_t)(seed % 4);
    if (traffic->prefetches) {
        config.mshrs += 8;
        config.prefetch = seed % 4;
        config.prefetch_degree = 2;
        config.prefetch_distance = 4;
        config.prefetch_table = 2;
    }
    if (!part_check(&llc_kind, &config, &err))
        fail_msg("%s", err.text);
    return config;
}

/* warms: also brings lines in without time; then the last level has more ways than requests, because such a
 * line needs a way that is not busy. slices: their number; 0: a single last level. far: caches reach it by ways that take
 * time. */
static struct traffic *traffic_new(uint64_t seed, uint64_t limit, bool warms, const struct protocol *protocol,
                                   uint32_t slices, bool prefetches, bool far)
{
    struct traffic *traffic = calloc(1, sizeof *traffic);
    assert_non_null(traffic);
    traffic->far = far;
    traffic->prefetches = prefetches;
    traffic->random = seed;
    traffic->limit = limit;
    traffic->warms = warms;
    traffic->protocol = protocol;
    event_queue_init(&traffic->queue);
    traffic->memory.queue = &traffic->queue;
    traffic->memory.accepted = accepted;
    traffic->memory.context = traffic;
    traffic->memory.most = 1 + (unsigned)draw(traffic, 4) + (prefetches ? 8 : 0);
    const struct llc_config config = small(traffic, seed, slices);
    const struct clock clock = {CLOCK};
    traffic->block = config.slice_bytes ? config.slice_bytes : LINE;
    if (slices)
        traffic->slices =
            llc_slices_new("l2", &config, &traffic->queue, &clock, 2, 99, &slow_ops, &traffic->memory);
    else
        traffic->llc = llc_new("l2", &config, &traffic->queue, &clock, 2, 99, &slow_ops, &traffic->memory);
    for (uint32_t i = 0; i < slice_count(traffic); i++) {
        traffic->observers[i] =
            (struct cache_observer){.fill = llc_filled, .write_back = llc_written, .context = traffic};
        llc_observe(slice_at(traffic, i), &traffic->observers[i]);
    }
    for (unsigned i = 0; i < CACHES; i++)
        add_core(traffic, i);
    return traffic;
}

/* Cleans everything; then memory has the newest version of every line. */
static void flush(struct traffic *traffic)
{
    for (unsigned i = 0; i < CACHES; i++) {
        struct job *job = &traffic->cores[i].jobs[0];
        *job = (struct job){.waiter = {NULL, done, job}, .core = &traffic->cores[i], .busy = true};
        job->upkeep = true;
        traffic->cores[i].away++;
        cache_maintain(traffic->cores[i].cache, MEM_CLEAN, BASE, LINES * LINE, traffic->queue.now,
                       (struct cache_actor){.pc = 0, .core = 0}, &job->waiter);
        event_queue_run(&traffic->queue, CLOCK_NEVER);
    }
    for (unsigned line = 0; line < LINES; line++)
        assert_int_equal(traffic->in_memory[line], traffic->newest[line]);
}

static void traffic_free(struct traffic *traffic)
{
    for (unsigned i = 0; i < CACHES; i++)
        cache_free(traffic->cores[i].cache);
    if (traffic->llc)
        llc_free(traffic->llc);
    else
        llc_slices_free(traffic->slices);
    free(traffic);
}

/* Each prefetch is counted once more: for its end, or as pending. */
static void check_prefetches(const struct traffic *traffic)
{
    for (unsigned i = 0; i < CACHES; i++) {
        const struct cache *cache = traffic->cores[i].cache;
        const struct cache_counters *counted = &cache->counters;
        assert_int_equal(counted->prefetches, counted->prefetches_useful + counted->prefetches_late +
                                                  counted->prefetches_unused + counted->prefetches_returned +
                                                  cache_prefetches_pending(cache));
        assert_true(counted->prefetches || !traffic->prefetches || i % 4 == CACHE_PREFETCH_NONE);
    }
    for (uint32_t i = 0; i < slice_count(traffic); i++) {
        const struct llc_counters *counted = llc_counted(slice_at(traffic, i));
        assert_int_equal(counted->prefetches, counted->prefetches_useful + counted->prefetches_late +
                                                  counted->prefetches_unused +
                                                  llc_prefetches_pending(slice_at(traffic, i)));
    }
}

/* Adds the counters to sum. */
static void run_traffic(uint64_t seed, uint64_t limit, const struct protocol *protocol, uint32_t slices,
                        bool prefetches, bool far, struct llc_counters *sum)
{
    struct traffic *traffic = traffic_new(seed, limit, seed > 6 && !far, protocol, slices, prefetches, far);
    event_queue_run(&traffic->queue, CLOCK_NEVER);
    slow_open(&traffic->memory);
    event_queue_run(&traffic->queue, CLOCK_NEVER);
    assert_int_equal(traffic->operations, traffic->limit);
    for (unsigned i = 0; i < CACHES; i++)
        assert_int_equal(traffic->cores[i].away, 0);
    assert_int_equal(traffic->memory.held, 0);
    check_all(traffic);
    check_prefetches(traffic);
    flush(traffic);
    for (uint32_t i = 0; i < slice_count(traffic); i++) {
        const struct llc_counters *counted = llc_counted(slice_at(traffic, i));
        assert_int_equal(counted->reads + counted->writes,
                         counted->hits + counted->misses + counted->late_writes);
        assert_int_equal(llc_pending(slice_at(traffic, i)), 0);
        assert_true(counted->hits && counted->probes && counted->maintained);
#define LLC_COUNTER(name, unit, meaning) sum->name += counted->name;
        LLC_COUNTERS(LLC_COUNTER)
#undef LLC_COUNTER
    }
    traffic_free(traffic);
}

static void versions_under_random_traffic(void **state)
{
    (void)state;
    struct llc_counters sum = {0};
    for (uint64_t seed = 1; seed <= 8; seed++)
        run_traffic(seed, 25000, NULL, 0, false, false, &sum);
    /* Rare cases have occurred. */
    assert_true(sum.late_writes && sum.lost_upgrades && sum.line_waits && sum.stalls && sum.refusals);
    assert_true(sum.bank_waits && sum.array_waits);
    assert_true(sum.back_invalidations && sum.dirty_probes && sum.maintained && sum.write_backs);
}

/* Slices, each with the directory of its lines. */
static void versions_through_slices(void **state)
{
    (void)state;
    for (uint32_t slices = 1; slices <= SLICES; slices++) {
        struct llc_counters sum = {0};
        for (uint64_t seed = 1; seed <= 8; seed++)
            run_traffic(seed, 12000, NULL, slices, false, false, &sum);
        assert_true(sum.late_writes && sum.lost_upgrades && sum.line_waits && sum.stalls && sum.refusals);
        assert_true(sum.back_invalidations && sum.dirty_probes && sum.maintained && sum.write_backs);
    }
}

static void versions_with_prefetchers(void **state)
{
    (void)state;
    for (uint32_t slices = 0; slices <= SLICES; slices += 2) {
        struct llc_counters sum = {0};
        for (uint64_t seed = 1; seed <= 8; seed++)
            run_traffic(seed, 12000, NULL, slices, true, false, &sum);
        assert_true(sum.prefetches_useful && sum.prefetches_late && sum.prefetches_unused);
        assert_true(sum.prefetches_dropped && sum.speculative_dropped && sum.late_writes);
    }
}

/* Caches from which and to which messages take time and overtake each other. */
static void versions_on_long_ways(void **state)
{
    (void)state;
    for (uint32_t slices = 0; slices <= SLICES; slices += 2) {
        struct llc_counters sum = {0};
        for (uint64_t seed = 1; seed <= 8; seed++) {
            run_traffic(seed, 12000, NULL, slices, false, true, &sum);
            run_traffic(seed, 6000, &msi, slices, seed % 2, true, &sum);
        }
        assert_true(sum.late_writes && sum.lost_upgrades && sum.line_waits && sum.stalls);
        assert_true(sum.back_invalidations && sum.dirty_probes && sum.maintained && sum.write_backs);
    }
}

/* Another protocol in the same caches. */
static void versions_under_msi(void **state)
{
    (void)state;
    struct llc_counters sum = {0}, mesi = {0};
    for (uint64_t seed = 1; seed <= 8; seed++) {
        run_traffic(seed, 8000, &msi, 0, false, false, &sum);
        run_traffic(seed, 8000, NULL, 0, false, false, &mesi);
    }
    assert_true(sum.late_writes && sum.lost_upgrades && sum.dirty_probes);
    assert_true(sum.upgrades + sum.lost_upgrades > mesi.upgrades + mesi.lost_upgrades);
}

/* A single reader gets its line EXCLUSIVE under MESI, and stores without a request; under MSI, it sends a
 * request. */
static void first_store_asks_under_msi(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct traffic *traffic = traffic_new(1, 0, false, i ? &msi : NULL, 0, false, false);
        struct cache *cache = traffic->cores[0].cache;
        struct job job = {.waiter = {NULL, done, &job}, .core = &traffic->cores[0], .busy = true};
        struct cache_actor actor = {.pc = 0x1000};
        traffic->cores[0].away = 2;
        assert_int_equal(cache_access(cache, BASE, CACHE_LOAD, CLOCK, actor, &job.waiter), CACHE_MISS);
        event_queue_run(&traffic->queue, CLOCK_NEVER);
        assert_int_equal(cache_line_state(cache, BASE), i ? CACHE_SHARED : CACHE_EXCLUSIVE);
        assert_int_equal(state_of(traffic, BASE).owner, i ? -1 : 0);
        job.busy = true;
        enum cache_outcome outcome =
            cache_access(cache, BASE, CACHE_STORE, traffic->queue.now, actor, &job.waiter);
        assert_int_equal(outcome, i ? CACHE_MISS : CACHE_HIT);
        event_queue_run(&traffic->queue, CLOCK_NEVER);
        assert_int_equal(cache_line_state(cache, BASE), CACHE_MODIFIED);
        assert_int_equal(llc_counted(traffic->llc)->upgrades, i);
        assert_int_equal(state_of(traffic, BASE).owner, 0);
        traffic_free(traffic);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_under_random_traffic), cmocka_unit_test(versions_through_slices),
        cmocka_unit_test(versions_with_prefetchers),     cmocka_unit_test(versions_under_msi),
        cmocka_unit_test(first_store_asks_under_msi),    cmocka_unit_test(versions_on_long_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
