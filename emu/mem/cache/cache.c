#include "emu/mem/cache/by_word.h"
#include "emu/mem/cache/track.h"
#include "emu/sim/alloc.h"
#include "emu/sim/list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* An access, as passed between the functions below. */
struct asked {
    uint64_t physical, line, time;
    uint64_t words; /* set of 32-bit words of the line that it touches */
    struct mshr_target target;
    bool divergent; /* of a SIMT access: struct mem_request */
    bool part;      /* only some bytes of its words */
    bool fresh;     /* a miss, or the first use of a prefetched line */
    bool absent;    /* the line was found not to be in the array */
};

static enum cache_outcome full(struct cache *cache, struct cache_waiters *list, const struct asked *asked)
{
    cache->counters.full++;
    if (asked->target.waiter)
        cache_waiters_add(list, asked->target.waiter);
    return CACHE_FULL;
}

/* Merges an access into an outstanding miss. An earlier access makes a planned request leave earlier. */
static void hasten(struct cache *cache, struct mshr *mshr, const struct asked *asked)
{
    uint64_t time = asked->time + cache->hit_time;
    cache->counters.merged++;
    cache_need(cache, mshr, asked->target.actor.speculative);
    if (mshr->state == MSHR_PLANNED && time < mshr->request.event.time)
        cache_plan(cache, mshr, time);
}

static enum cache_outcome merge(struct cache *cache, struct mshr *mshr, const struct asked *asked)
{
    if (asked->target.use == CACHE_PREFETCH)
        return CACHE_MISS;
    if (mshr->expired || !mshr_add(&cache->mshrs, mshr, &asked->target))
        return full(cache, &mshr->blocked, asked);
    if (mshr->state != MSHR_SENT && asked->target.use == CACHE_STORE)
        mshr->request.exclusive = true;
    /* The request stays divergent only if all its accesses are: struct mem_request. */
    if (mshr->state != MSHR_SENT)
        mshr->request.divergent &= asked->divergent;
    hasten(cache, mshr, asked);
    return CACHE_MISS;
}

/* Allocates a register for the line and plans its request. */
static struct mshr *allocate(struct cache *cache, const struct asked *asked)
{
    struct mshr *mshr = mshr_take(&cache->mshrs, asked->line, asked->time);
    mem_request_init(&mshr->request, MEM_READ, asked->line, cache->config.line);
    mshr->request.requester = cache->requester;
    mshr->request.divergent = asked->divergent;
    mshr->request.speculative = asked->target.actor.speculative;
    if (asked->target.use == CACHE_FETCH)
        mshr->request.kind = MEM_FETCH;
    else if (asked->target.use == CACHE_WALK)
        mshr->request.kind = MEM_WALK;
    cache_plan(cache, mshr, asked->time + cache->hit_time);
    return mshr;
}

/* Requests the line, or ownership of it if `upgrade`. */
static enum cache_outcome miss(struct cache *cache, const struct asked *asked, bool upgrade)
{
    struct mshr *mshr = mshr_find(&cache->mshrs, asked->line);
    if (mshr)
        return merge(cache, mshr, asked);
    if (cache_free_mshrs(cache) == 0)
        return full(cache, &cache->for_miss, asked);
    mshr = allocate(cache, asked);
    mshr->request.exclusive = asked->target.use == CACHE_STORE;
    mshr->request.upgrade = upgrade;
    (void)mshr_add(&cache->mshrs, mshr, &asked->target);
    *(upgrade ? &cache->counters.upgrades : &cache->counters.misses) += 1;
    return CACHE_MISS;
}

/* An access that needs no request to the level below. */
static enum cache_outcome hit(struct cache *cache, struct asked *asked, uint32_t index, unsigned state)
{
    asked->fresh |= cache_first_use(cache, index);
    tags_set_state(&cache->front.tags, index, state);
    cache_tell_access(cache, asked->line, asked->target.use == CACHE_STORE, &asked->target.actor,
                      asked->time);
    return CACHE_HIT;
}

/* protocol_check() ensures that a copy is readable in any state and that a read leaves its state
 * unchanged. */
static enum cache_outcome read(struct cache *cache, struct asked *asked)
{
    uint32_t index = asked->absent ? TAGS_NONE : tags_lookup(&cache->front.tags, asked->line);
    if (index != TAGS_NONE)
        return hit(cache, asked, index, cache_state_of(cache, index));
    asked->fresh = true;
    return miss(cache, asked, false);
}

static enum cache_outcome write(struct cache *cache, struct asked *asked)
{
    uint32_t index = tags_lookup(&cache->front.tags, asked->line);
    if (index != TAGS_NONE) {
        struct protocol_step step = cache_step(cache, cache_state_of(cache, index), PROTOCOL_STORE);
        if (step.action == PROTOCOL_DO_HIT)
            return hit(cache, asked, index, step.next);
        asked->fresh |= cache_first_use(cache, index);
        return miss(cache, asked, step.action == PROTOCOL_DO_UPGRADE);
    }
    asked->fresh = true;
    if (cache->config.write_allocate || mshr_find(&cache->mshrs, asked->line))
        return miss(cache, asked, false);
    if (!cache_write_fits(cache, asked->line))
        return full(cache, &cache->for_write, asked);
    cache->counters.misses++;
    cache_write_store(cache, &(struct cache_stored){asked->line, asked->words, asked->divergent, false},
                      asked->time, asked->target.actor);
    return CACHE_HIT;
}

/* Brings in the line of a store that is written through, for later accesses. Returns false if no MSHR is
 * free. */
static bool bring(struct cache *cache, const struct asked *asked)
{
    struct mshr *mshr = mshr_find(&cache->mshrs, asked->line);
    if (mshr) {
        hasten(cache, mshr, asked);
        return true;
    }
    if (cache_free_mshrs(cache) == 0)
        return false;
    bool ahead = !cache_write_find(cache, asked->line);
    mshr = allocate(cache, asked);
    mshr->ahead = ahead;
    cache->counters.misses++;
    return true;
}

/* A store is done when it is in the write buffer. */
static enum cache_outcome write_through(struct cache *cache, struct asked *asked)
{
    if (!cache_write_fits(cache, asked->line))
        return full(cache, &cache->for_write, asked);
    uint32_t index = tags_lookup(&cache->front.tags, asked->line);
    bool here = index != TAGS_NONE;
    asked->fresh = !here;
    if (here)
        (void)hit(cache, asked, index, cache_step(cache, cache_state_of(cache, index), PROTOCOL_STORE).next);
    else if (!cache->config.write_allocate)
        cache->counters.misses++;
    else if (!bring(cache, asked))
        return full(cache, &cache->for_miss, asked);
    cache_write_store(cache, &(struct cache_stored){asked->line, asked->words, asked->divergent, here},
                      asked->time, asked->target.actor);
    return CACHE_HIT;
}

/* Returns whether prefetches may not bring the line in, or find no MSHR besides `reserve` ones. */
static bool prefetch_drops(const struct cache *cache, uint64_t line, uint32_t reserve)
{
    return cache_keeps_out(cache, line) || cache_in_stacks(cache, line) ||
           cache_free_mshrs(cache) <= reserve || cache_write_find(cache, line);
}

static struct mshr *allocate_prefetch(struct cache *cache, const struct asked *asked)
{
    struct mshr *mshr = allocate(cache, asked);
    mshr->prefetch = true;
    mshr->request.speculative = true;
    cache->counters.prefetches++;
    return mshr;
}

/* Prefetches a line, unless it is here, outstanding or on its way down. Leaves the reserved MSHRs to demand
 * accesses. */
static enum cache_outcome prefetch_line(struct cache *cache, const struct asked *asked)
{
    if (tags_find(&cache->front.tags, asked->line) != TAGS_NONE)
        return CACHE_HIT;
    if (mshr_find(&cache->mshrs, asked->line))
        return CACHE_MISS;
    if (prefetch_drops(cache, asked->line, cache->config.prefetch_reserve)) {
        cache->counters.prefetches_dropped++;
        return CACHE_FULL;
    }
    allocate_prefetch(cache, asked)->request.prefetch = true;
    return CACHE_MISS;
}

enum cache_outcome cache_prefetch(struct cache *cache, uint64_t physical, enum cache_use use, uint64_t time,
                                  struct cache_actor actor)
{
    const uint64_t line = physical & cache->front.line_mask;
    const bool owned = use == CACHE_STORE && !cache->config.write_through;
    struct asked asked = {.physical = physical, .line = line, .time = time};
    asked.target = (struct mshr_target){.time = time, .actor = actor, .use = use};
    uint32_t index = tags_find(&cache->front.tags, line);
    bool here = index != TAGS_NONE;
    if (cache->by_word) {
        cache->counters.prefetches_dropped++;
        return CACHE_FULL;
    }
    bool upgrade =
        here && owned &&
        cache_step(cache, cache_state_of(cache, index), PROTOCOL_STORE).action == PROTOCOL_DO_UPGRADE;
    if (here && !upgrade)
        return CACHE_HIT;
    if (mshr_find(&cache->mshrs, line))
        return CACHE_MISS;
    if (prefetch_drops(cache, line, 0)) {
        cache->counters.prefetches_dropped++;
        return CACHE_FULL;
    }
    if (upgrade) /* this prefetch follows the one that has brought the line */
        (void)cache_first_use(cache, index);
    struct mshr *mshr = allocate_prefetch(cache, &asked);
    mshr->request.exclusive = owned;
    mshr->request.upgrade = upgrade;
    cache->counters.prefetches_software++;
    return CACHE_MISS;
}

/* Trains the prefetcher with an access and prefetches the lines that it returns. */
static void prefetch(struct cache *cache, const struct asked *cause)
{
    uint64_t lines[PREFETCH_DEGREE];
    if (!cause->fresh && !prefetch_wants_all(&cache->prefetcher))
        return;
    unsigned count =
        prefetch_train(&cache->prefetcher, cause->target.actor.pc, cause->physical, cause->fresh, lines);
    for (unsigned i = 0; i < count; i++) {
        struct asked asked = {.physical = lines[i], .line = lines[i], .time = cause->time};
        asked.target.use = CACHE_PREFETCH;
        bool room = cache_free_mshrs(cache) > cache->config.prefetch_reserve;
        if (prefetch_line(cache, &asked) != CACHE_FULL || room)
            continue;
        prefetch_take_back(&cache->prefetcher, lines, i);
        return;
    }
}

static enum cache_outcome access_by_use(struct cache *cache, struct asked *asked)
{
    switch (asked->target.use) {
    case CACHE_PREFETCH: return prefetch_line(cache, asked);
    case CACHE_STORE: return cache->config.write_through ? write_through(cache, asked) : write(cache, asked);
    default: return read(cache, asked);
    }
}

/* Handles a hit in another way than the most recently used one if no observer has to be told. Returns whether
 * it was one, and stores whether the line is not in the array. */
static bool plain_hit(struct cache *cache, uint64_t line, enum cache_use use, bool *absent)
{
    struct tags *tags = &cache->front.tags;
    uint32_t index = tags_find_way(tags, line);
    *absent = index == TAGS_NONE;
    if (*absent)
        return false;
    uint64_t state = tags->entries[index] ^ line;
    if (use == CACHE_STORE ? state != CACHE_MODIFIED : state > CACHE_MODIFIED)
        return false;
    tags_touch(tags, index);
    cache->front.uses[use]++;
    return true;
}

/* Atomics of a cache by word are done at the last level, also if the line is registered. */
static bool may_be_plain(const struct cache *cache, const struct cache_actor *actor)
{
    return cache->front.inline_span && !(cache->by_word && actor->atomic);
}

static enum cache_outcome access_any(struct cache *cache, struct asked *asked)
{
    enum cache_use use = asked->target.use;
    asked->target.actor.fetch = use == CACHE_FETCH;
    assert(asked->time >= cache->queue->now);
    if (cache->by_word)
        return cache_word_access(
            cache, &(struct cache_word_access){asked->line, asked->words, asked->part, asked->target});
    if (asked->target.actor.speculative && cache_keeps_out(cache, asked->line))
        return CACHE_FULL;
    enum cache_outcome outcome = access_by_use(cache, asked);
    if (outcome == CACHE_FULL)
        return outcome;
    cache->front.uses[use]++;
    if (cache->prefetcher.config.kind != CACHE_PREFETCH_NONE && use != CACHE_PREFETCH && use != CACHE_WALK)
        prefetch(cache, asked);
    return outcome;
}

/* Sets the words of an access that a cache by word sees: exactly its own. A fetch wants the whole line. */
static void set_words(struct asked *asked)
{
    const uint64_t first = asked->physical - asked->line, bytes = asked->target.actor.bytes;
    if (asked->target.use == CACHE_FETCH)
        asked->words = UINT64_MAX;
    if (!bytes || asked->target.use == CACHE_FETCH)
        return;
    asked->part = (first | bytes) % 4;
    asked->words = UINT64_MAX >> (63 - ((first + bytes - 1) / 4 - first / 4)) << first / 4;
}

/* A store is sent as the aligned 8 bytes around it. */
static __attribute__((noinline)) enum cache_outcome access_one(struct cache *cache, uint64_t physical,
                                                               enum cache_use use, bool absent, uint64_t time,
                                                               struct cache_actor actor,
                                                               struct cache_waiter *waiter)
{
    struct asked asked = {
        .physical = physical, .line = physical & cache->front.line_mask, .time = time, .absent = absent};
    asked.words = UINT64_C(3) << ((physical - asked.line) / 8 * 2);
    asked.target = (struct mshr_target){.waiter = waiter, .time = time, .actor = actor, .use = use};
    if (cache->by_word)
        set_words(&asked);
    return access_any(cache, &asked);
}

/* Requests words of a line of a thread stack. */
static enum cache_outcome miss_stack(struct cache *cache, const struct asked *asked)
{
    enum cache_outcome outcome = miss(cache, asked, false);
    struct mshr *mshr = outcome == CACHE_MISS ? mshr_find(&cache->mshrs, asked->line) : NULL;
    if (!mshr || mshr->state == MSHR_SENT)
        return outcome;
    mshr->request.mask = mshr->request.stack ? mshr->request.mask | asked->words : asked->words;
    mshr->request.stack = true;
    return outcome;
}

/* Returns a free entry for a line of a thread stack. TAGS_NONE if there is none: *waits is the list that the access
 * joins. */
static uint32_t stack_room(struct cache *cache, uint64_t line, uint64_t time, struct cache_waiters **waits)
{
    struct tags *tags = &cache->front.tags;
    uint32_t index = tags_victim(tags, line, cache_locked(cache, line));
    if (index == TAGS_NONE) {
        *waits = &cache->for_miss;
        return TAGS_NONE;
    }
    unsigned state = cache_state_of(cache, index);
    if (cache_has(cache, state, PROTOCOL_DIRTY) || state == CACHE_MODIFIED) {
        if (!cache_can_write(cache)) {
            *waits = &cache->for_write;
            return TAGS_NONE;
        }
    }
    if (state) {
        cache->counters.evictions++;
        cache_evict(cache, index, PROTOCOL_EVICT, time);
    }
    return index;
}

/* Stores to words of a line of a thread stack, and takes an entry for it if it has none. */
static enum cache_outcome store_stack(struct cache *cache, const struct asked *asked)
{
    struct tags *tags = &cache->front.tags;
    struct cache_waiters *waits;
    uint32_t index = tags_lookup(tags, asked->line);
    if (index == TAGS_NONE) {
        index = stack_room(cache, asked->line, asked->time, &waits);
        if (index == TAGS_NONE)
            return full(cache, waits, asked);
        tags_fill(tags, index, asked->line, CACHE_MODIFIED);
        cache->stacks.valid[index] = 0;
        cache->stacks.allocated++;
        cache_tell_fill(cache, asked->line, asked->time, asked->time, MEM_LEVEL_L1);
    }
    tags_set_state(tags, index, CACHE_MODIFIED);
    cache->stacks.valid[index] |= asked->words;
    return CACHE_HIT;
}

/* An access to a line of a thread stack. */
static enum cache_outcome access_stack(struct cache *cache, const struct asked *asked)
{
    enum cache_use use = asked->target.use;
    enum cache_outcome outcome = CACHE_HIT;
    if (use == CACHE_STORE)
        outcome = store_stack(cache, asked);
    else if (!cache_stack_load(cache, asked->line, asked->words))
        outcome = miss_stack(cache, asked);
    if (outcome == CACHE_FULL)
        return outcome;
    cache->front.uses[use]++;
    if (outcome == CACHE_HIT)
        cache_tell_access(cache, asked->line, use == CACHE_STORE, &asked->target.actor, asked->time);
    return outcome;
}

enum cache_outcome cache_access_words(struct cache *cache, const struct cache_words *words,
                                      enum cache_use use, uint64_t time, struct cache_actor actor,
                                      struct cache_waiter *waiter)
{
    struct asked asked = {.physical = words->line, .line = words->line, .time = time};
    if (cache_in_stacks(cache, words->line)) {
        asked.words = words->words;
        asked.divergent = words->divergent;
        asked.target = (struct mshr_target){.waiter = waiter, .time = time, .actor = actor, .use = use};
        return access_stack(cache, &asked);
    }
    if (may_be_plain(cache, &actor) && plain_hit(cache, words->line, use, &asked.absent))
        return CACHE_HIT;
    asked.words = words->words;
    asked.divergent = words->divergent;
    asked.target = (struct mshr_target){.waiter = waiter, .time = time, .actor = actor, .use = use};
    return access_any(cache, &asked);
}

bool cache_full_ahead(struct cache *cache, uint64_t line, uint64_t time, struct cache_waiter *waiter)
{
    const struct mem_link *link = &cache->link;
    if (cache->by_word || cache_free_mshrs(cache) > 0 || !link->port_ops->quiet ||
        cache_in_stacks(cache, line) || tags_find_way(&cache->front.tags, line) != TAGS_NONE ||
        mshr_find(&cache->mshrs, line) || link->port_ops->quiet(link->port, cache->queue->now) <= time)
        return false;
    cache->counters.full++;
    cache_waiters_add(&cache->for_miss, waiter);
    return true;
}

enum cache_outcome cache_access_slowly(struct cache *cache, uint64_t physical, enum cache_use use,
                                       uint64_t time, struct cache_actor actor, struct cache_waiter *waiter)
{
    bool absent = false;
    if (may_be_plain(cache, &actor) && plain_hit(cache, physical & cache->front.line_mask, use, &absent))
        return CACHE_HIT;
    return access_one(cache, physical, use, absent, time, actor, waiter);
}

static void wake_list(struct cache *cache, struct cache_waiters *waiters, bool miss_list, uint64_t now)
{
    /* Refused waiters requeue at the tail, so the loop ends. */
    for (uint32_t count = waiters->count; count > 0; count--) {
        if (miss_list ? cache_free_mshrs(cache) == 0 : !cache_can_write(cache))
            return;
        struct cache_waiter *waiter = cache_waiters_take(waiters);
        if (!waiter)
            return;
        waiter->done(waiter, now, MEM_LEVELS);
    }
}

static void room(void *owner, uint64_t now)
{
    struct cache *cache = owner;
    wake_list(cache, &cache->for_miss, true, now);
    wake_list(cache, &cache->for_write, false, now);
    cache_upkeep_resume(cache, now);
}

static struct cache_upkeep *upkeep_of(struct mem_request *request)
{
    return CONTAINER_OF(request, struct cache_upkeep, request);
}

static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct cache *cache = client;
    const uint64_t line = request->address & cache->front.line_mask;
    const bool line_moves = request->op == MEM_READ || request->op == MEM_WRITE;
    (void)link;
    switch (request->op) {
    case MEM_READ: cache_fill(cache, cache_mshr_of(request), now); break;
    case MEM_WRITE: cache_write_answered(cache, cache_write_of(request), now); break;
    default: cache_upkeep_answered(upkeep_of(request), now); break;
    }
    if (cache->received && line_moves)
        cache->received(cache->receiver, &cache->link, line, now);
    cache_stir(cache, now);
    return true;
}

static void request_room(void *client, struct mem_link *link, uint64_t now)
{
    (void)link;
    cache_send_refused(client, now);
}

static const struct mem_client_ops client_ops = {respond, request_room};

struct cache *cache_new(const char *name, const struct cache_config *config, struct event_queue *queue,
                        const struct clock *clock, uint32_t component, uint16_t requester,
                        const struct mem_port_ops *lower_ops, void *lower)
{
    struct cache *cache = alloc(1, sizeof *cache);
    cache->config = *config;
    cache->config.protocol = cache_protocol(config);
    protocol_compile(cache->config.protocol, &cache->rules);
    cache->queue = queue;
    cache->period = clock->period;
    cache->hit_time = config->hit_clocks * clock->period;
    cache->component = component;
    cache->requester = requester;
    cache->name = alloc_text(name);
    tags_init(&cache->front.tags, (uint32_t)(config->size / config->line / config->ways), config->ways,
              (uint32_t)__builtin_ctz(config->line), config->replacement);
    cache->front.line_mask = ~(uint64_t)(config->line - 1);
    mshr_init(&cache->mshrs, config->mshrs, config->mshr_targets, cache);
    prefetch_init(&cache->prefetcher, &(struct prefetch_config){.kind = config->prefetch,
                                                                .degree = config->prefetch_degree,
                                                                .distance = config->prefetch_distance,
                                                                .table = config->prefetch_table,
                                                                .line = config->line,
                                                                .step = config->line});
    cache->front.inline_span = prefetch_wants_all(&cache->prefetcher) ? 0 : CACHE_STATE_MASK;
    cache_write_init(cache);
    cache->link = (struct mem_link){lower_ops, lower, &client_ops, cache, NULL, false, NULL, NULL};
    event_init(&cache->room, component, room, cache);
    return cache;
}

void cache_connect(struct cache *cache, const struct mem_port_ops *ops, void *port)
{
    cache->link.port_ops = ops;
    cache->link.port = port;
}

void cache_set_homes(struct cache *cache, struct home_map *homes)
{
    cache->link.homes = homes;
}

void cache_set_receiver(struct cache *cache,
                        void (*received)(void *context, const struct mem_link *link, uint64_t line,
                                         uint64_t now),
                        void *context)
{
    cache->received = received;
    cache->receiver = context;
}

void cache_join(struct cache *cache, struct denovo_domain *domain, const struct denovo_place *place)
{
    assert(!cache->config.coherent && cache->prefetcher.config.kind == CACHE_PREFETCH_NONE);
    cache->config.write_through = false;
    cache->config.write_allocate = true;
    cache_word_join(cache, domain, place);
}

struct denovo_domain *cache_domain(const struct cache *cache, struct denovo_place *place)
{
    if (!cache->by_word)
        return NULL;
    *place = cache->by_word->place;
    return cache->by_word->domain;
}

bool cache_is_by_word(const struct cache *cache)
{
    return cache->by_word;
}

bool cache_release(struct cache *cache, struct cache_waiter *waiter)
{
    if (!cache->by_word || denovo_settled(cache->by_word->unit))
        return true;
    denovo_hasten(cache->by_word->unit, DENOVO_ANY);
    if (waiter)
        cache_waiters_add(&cache->by_word->settles, waiter);
    return false;
}

void cache_acquire(struct cache *cache)
{
    if (cache->by_word)
        cache_word_acquire(cache);
}

void cache_free(struct cache *cache)
{
    if (!cache)
        return;
    event_cancel(cache->queue, &cache->room);
    /* The levels below own sent requests, and may have scheduled their events. */
    for (uint64_t busy = cache->mshrs.busy; busy; busy &= busy - 1)
        event_cancel(cache->queue, &cache->mshrs.mshrs[__builtin_ctzll(busy)].request.event);
    for (struct cache_write *write = cache->writes_busy; write; write = write->next)
        event_cancel(cache->queue, &write->request.event);
    cache_upkeep_free(cache);
    cache_word_free(cache);
    tags_free(&cache->front.tags);
    mshr_free(&cache->mshrs);
    prefetch_free(&cache->prefetcher);
    cache_track_free(cache->track);
    free(cache->writes);
    free(cache->stacks.valid);
    free(cache->name);
    free(cache);
}

struct mem_link *cache_link(struct cache *cache)
{
    return &cache->link;
}

const char *cache_name(const struct cache *cache)
{
    return cache->name;
}

const struct cache_config *cache_configuration(const struct cache *cache)
{
    return &cache->config;
}

void cache_keep_out(struct cache *cache, const struct keep_out *list)
{
    cache->keep_out = list;
}

enum cache_state cache_line_state(const struct cache *cache, uint64_t physical)
{
    uint32_t index = tags_find(&cache->front.tags, physical & cache->front.line_mask);
    return index == TAGS_NONE ? CACHE_INVALID : (enum cache_state)cache_state_of(cache, index);
}
