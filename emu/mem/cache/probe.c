/* Changes to lines that take no time in this cache: by the last level below, by resets and by
 * fast-forwarding. */
#include <assert.h>

#include "emu/mem/cache/by_word.h"

/* Returns whether the write buffer has the newest version of the line. If `take`, removes unsent writes and
 * marks sent ones as taken. */
static bool probe_writes(struct cache *cache, uint64_t line, bool take, uint64_t now)
{
    bool dirty = false;
    for (struct cache_write *write = cache->writes_busy, *next; write; write = next) {
        next = write->next;
        if (write->line != line || write->taken)
            continue;
        dirty = true;
        if (!take)
            return true;
        if (write->state == CACHE_WRITE_SENT)
            write->taken = true;
        else
            cache_write_drop(cache, write, now);
    }
    return dirty;
}

bool cache_probe(struct cache *cache, uint64_t line, enum protocol_event probe, uint64_t now)
{
    struct tags *tags = &cache->front.tags;
    bool dirty = cache->writes_busy && probe_writes(cache, line, probe != PROTOCOL_PROBE_READ, now);
    uint32_t index = tags_find(tags, line);
    cache->counters.probes++;
    if (index == TAGS_NONE)
        return dirty;
    struct protocol_step step = cache_step(cache, cache_state_of(cache, index), probe);
    dirty |= step.action == PROTOCOL_DO_ANSWER;
    if (step.next == PROTOCOL_ABSENT) {
        cache->counters.invalidated++;
        cache_remove(cache, index);
        cache_copy_lost(cache, line);
        cache_tell_evict(cache, line, now);
    } else {
        unsigned flag = tags_state(tags, index) & CACHE_FLAG_PREFETCHED;
        tags_set_state(tags, index, step.next | flag);
    }
    return dirty;
}

void cache_forget(struct cache *cache, uint64_t line, uint64_t now)
{
    uint32_t index = tags_find(&cache->front.tags, line);
    if (index == TAGS_NONE)
        return;
    if (cache->by_word) {
        cache_word_drop(cache, index);
        return;
    }
    cache->counters.invalidated++;
    cache_evict(cache, index, PROTOCOL_EVICT, now);
}

bool cache_give_up(struct cache *cache, uint64_t line, uint64_t now, struct cache_waiter *waiter)
{
    if (cache_in_stacks(cache, line) && !cache_can_write(cache)) {
        cache_waiters_add(&cache->for_write, waiter);
        return false;
    }
    cache_forget(cache, line, now);
    return true;
}

void cache_invalidate_all(struct cache *cache)
{
    struct tags *tags = &cache->front.tags;
    if (cache->by_word) {
        cache_word_acquire(cache);
        return;
    }
    bool each = cache->observers.first || cache->prefetcher.config.kind != CACHE_PREFETCH_NONE ||
                cache->stacks.size > 0;
    for (uint32_t index = 0; each && index < tags_size(tags); index++) {
        uint64_t line = tags_key(tags, index);
        if (!tags_state(tags, index) || cache_in_stacks(cache, line))
            continue;
        cache_remove(cache, index);
        cache_tell_evict(cache, line, cache->queue->now);
    }
    if (cache->stacks.size == 0)
        tags_clear(tags);
    for (uint64_t busy = cache->mshrs.busy; busy; busy &= busy - 1)
        cache_copy_lost(cache, cache->mshrs.mshrs[__builtin_ctzll(busy)].line);
}

static void expire(struct mshr *mshr)
{
    mshr->expired = mshr->expired || mshr->state == MSHR_SENT;
}

void cache_expire(struct cache *cache, uint64_t line, uint64_t now)
{
    struct mshr *mshr = mshr_find(&cache->mshrs, line);
    assert(!cache->config.coherent);
    cache_forget(cache, line, now);
    if (mshr)
        expire(mshr);
}

void cache_expire_all(struct cache *cache)
{
    assert(!cache->config.coherent);
    cache_invalidate_all(cache);
    for (uint64_t busy = cache->mshrs.busy; busy; busy &= busy - 1)
        expire(&cache->mshrs.mshrs[__builtin_ctzll(busy)]);
}

/* Brings the line up to date in the levels below. Returns whether only this cache has it. */
static bool warm_below(struct cache *cache, uint64_t line, bool exclusive)
{
    bool alone = mem_link_warm(&cache->link, line, exclusive);
    return alone || !cache->config.coherent;
}

/* Removes a line at once to make room. */
static void displace(struct cache *cache, uint32_t index)
{
    struct tags *tags = &cache->front.tags;
    uint64_t line = tags_key(tags, index), now = cache->queue->now;
    if (cache_step(cache, cache_state_of(cache, index), PROTOCOL_EVICT).action == PROTOCOL_DO_WRITE_BACK) {
        (void)warm_below(cache, line, true); /* tells the level below that it holds the newest version */
        cache_tell_write_back(cache, line, now);
    }
    cache_remove(cache, index);
    cache_tell_evict(cache, line, now);
}

/* A store to an outstanding line is made when the line arrives. */
static void store_later(struct cache *cache, struct mshr *mshr, struct cache_actor actor)
{
    const struct mshr_target target = {.time = UINT64_MAX, .actor = actor, .use = CACHE_STORE};
    if (cache->config.write_through || !mshr_add(&cache->mshrs, mshr, &target))
        return;
    cache_need(cache, mshr, actor.speculative);
    if (mshr->state != MSHR_SENT)
        mshr->request.exclusive = true;
}

/* Reports a store that is done; if no dirty copy stays here, also that it was written to memory. */
static void tell_store(struct cache *cache, uint64_t line, struct cache_actor actor)
{
    uint64_t now = cache->queue->now;
    uint32_t index = tags_find(&cache->front.tags, line);
    cache_tell_access(cache, line, true, &actor, now);
    if (index != TAGS_NONE && cache_has(cache, cache_state_of(cache, index), PROTOCOL_DIRTY))
        return;
    cache_tell_write_back(cache, line, now);
    if (index == TAGS_NONE && !cache_write_find(cache, line))
        cache_tell_evict(cache, line, now);
}

/* Applies a store without requests to the level below. */
static void warm_store(struct cache *cache, uint32_t index)
{
    unsigned state = cache_state_of(cache, index);
    if (!cache_has(cache, state, PROTOCOL_WRITABLE))
        state = cache_step(cache, state, PROTOCOL_FILL_OWNED).next;
    tags_set_state(&cache->front.tags, index, cache_step(cache, state, PROTOCOL_STORE).next);
}

/* Brings the line in, unless all ways of its set are locked. */
static void warm_line(struct cache *cache, uint64_t line, bool store)
{
    struct tags *tags = &cache->front.tags;
    bool dirty = store && !cache->config.write_through;
    uint32_t index = tags_lookup(tags, line);
    if (index == TAGS_NONE) {
        if (store && !cache->config.write_allocate)
            return;
        bool alone = warm_below(cache, line, dirty);
        index = tags_victim(tags, line, cache_locked(cache, line));
        if (index == TAGS_NONE)
            return;
        if (tags_state(tags, index))
            displace(cache, index);
        enum protocol_event event = alone ? PROTOCOL_FILL_OWNED : PROTOCOL_FILL;
        tags_fill(tags, index, line, cache_step(cache, PROTOCOL_ABSENT, event).next);
        cache_tell_fill(cache, line, cache->queue->now, cache->queue->now, MEM_LEVEL_MEMORY);
    } else if (dirty && !cache_has(cache, cache_state_of(cache, index), PROTOCOL_WRITABLE)) {
        (void)warm_below(cache, line, true);
    }
    (void)cache_first_use(cache, index);
    if (dirty)
        warm_store(cache, index);
}

void cache_warm_slowly(struct cache *cache, uint64_t physical, bool store, struct cache_actor actor)
{
    uint64_t line = physical & cache->front.line_mask;
    struct mshr *mshr = mshr_find(&cache->mshrs, line);
    if (cache->by_word)
        return;
    if (mshr && store)
        store_later(cache, mshr, actor);
    if (mshr)
        return;
    if (!cache_write_find(cache, line))
        warm_line(cache, line, store);
    if (store && cache->observers.first)
        tell_store(cache, line, actor);
}

void cache_warm_maintain(struct cache *cache, enum mem_op op, uint64_t physical, uint64_t size)
{
    struct tags *tags = &cache->front.tags;
    uint64_t first = physical & cache->front.line_mask, now = cache->queue->now;
    uint64_t last = (physical + size - 1) & cache->front.line_mask;
    for (uint64_t line = first; line <= last && !cache->by_word; line += cache->config.line) {
        uint32_t index = tags_find(tags, line);
        if (index == TAGS_NONE || mshr_find(&cache->mshrs, line) || cache_write_find(cache, line))
            continue;
        struct protocol_step step = cache_step(cache, cache_state_of(cache, index), PROTOCOL_CLEAN);
        if (op != MEM_INVALIDATE && step.action == PROTOCOL_DO_WRITE_BACK) {
            (void)warm_below(cache, line, true);
            tags_set_state(tags, index, step.next);
            cache_tell_write_back(cache, line, now);
        }
        if (op == MEM_CLEAN)
            continue;
        cache_remove(cache, index);
        cache_tell_evict(cache, line, now);
    }
    mem_link_maintain(&cache->link, op, first, last + cache->config.line - first);
}
