/* Arriving and departing lines. */
#include "emu/mem/cache/state.h"

#include <assert.h>

uint64_t cache_locked(const struct cache *cache, uint64_t line)
{
    const struct tags *tags = &cache->front.tags;
    uint64_t locked = 0;
    if (!cache->config.coherent) /* then no line waits for an upgrade */
        return 0;
    for (uint64_t busy = cache->mshrs.busy; busy; busy &= busy - 1) {
        uint64_t other = cache->mshrs.mshrs[__builtin_ctzll(busy)].line;
        if (tags_set(tags, other) != tags_set(tags, line))
            continue;
        uint32_t index = tags_find(tags, other);
        if (index != TAGS_NONE)
            locked |= UINT64_C(1) << (index - tags_first(tags, line));
    }
    return locked;
}

void cache_copy_lost(struct cache *cache, uint64_t line)
{
    struct mshr *mshr = mshr_find(&cache->mshrs, line);
    if (mshr && mshr->state != MSHR_SENT)
        mshr->request.upgrade = false;
}

void cache_evict(struct cache *cache, uint32_t index, enum protocol_event event, uint64_t now)
{
    struct tags *tags = &cache->front.tags;
    uint64_t line = tags_key(tags, index);
    if (cache_in_stacks(cache, line)) {
        cache_stack_evict(cache, index, event != PROTOCOL_INVALIDATE, now);
        return;
    }
    struct protocol_step step = cache_step(cache, cache_state_of(cache, index), event);
    cache_remove(cache, index);
    if (step.action == PROTOCOL_DO_WRITE_BACK) {
        cache_write_back(cache, line, false, now);
        return;
    }
    /* Observers are told of the eviction when all writes of the line have been answered. */
    bool writes = false;
    struct cache_write *first = cache_write_absent(cache, line) ? NULL : cache->writes_busy;
    for (struct cache_write *write = first; write; write = write->next) {
        if (write->line != line)
            continue;
        write->keep = false;
        writes = true;
    }
    if (!writes)
        cache_tell_evict(cache, line, now);
}

/* Puts an arrived line into the array. If all ways of the set wait for upgrades, the line is not kept: its
 * waiters are answered, and it goes into the write buffer if dirty. */
static void place(struct cache *cache, uint64_t line, unsigned state, uint64_t now)
{
    struct tags *tags = &cache->front.tags;
    uint32_t index = tags_find(tags, line);
    if (index != TAGS_NONE) {
        tags_set_state(tags, index, state);
        tags_touch(tags, index);
        return;
    }
    index = tags_victim(tags, line, cache_locked(cache, line));
    if (index == TAGS_NONE) {
        cache->counters.prefetches_unused += (state & CACHE_FLAG_PREFETCHED) != 0;
        if (cache_has(cache, state, PROTOCOL_DIRTY))
            cache_write_back(cache, line, false, now);
        else
            cache_tell_evict(cache, line, now);
        return;
    }
    if (tags_state(tags, index)) {
        cache->counters.evictions++;
        cache_evict(cache, index, PROTOCOL_EVICT, now);
    }
    tags_fill(tags, index, line, state);
}

/* Moves the waiters whose access is done to `served`. Stores stay if the line has arrived without
 * ownership. */
static void serve(struct cache *cache, struct mshr *mshr, bool owned, struct cache_waiters *served,
                  uint64_t now)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < mshr->targets; i++) {
        const struct mshr_target *target = &mshr->target[i];
        bool store = target->use == CACHE_STORE;
        if (store && !owned) {
            mshr->target[left++] = *target;
            continue;
        }
        cache_tell_access(cache, mshr->line, store, &target->actor, now);
        cache->counters.miss_latency += now > target->time ? now - target->time : 0;
        if (target->waiter)
            cache_waiters_add(served, target->waiter);
    }
    mshr->targets = left;
}

static bool has_store(const struct mshr *mshr)
{
    for (uint32_t i = 0; i < mshr->targets; i++)
        if (mshr->target[i].use == CACHE_STORE)
            return true;
    return false;
}

/* Requests ownership of a line that has arrived as shared although stores wait for it. */
static void ask_ownership(struct cache *cache, struct mshr *mshr, uint64_t now)
{
    mem_request_init(&mshr->request, MEM_READ, mshr->line, cache->config.line);
    mshr->request.requester = cache->requester;
    mshr->request.exclusive = true;
    mshr->request.upgrade = tags_find(&cache->front.tags, mshr->line) != TAGS_NONE;
    cache->counters.upgrades_behind++;
    cache_plan(cache, mshr, now);
}

/* Returns whether the outstanding line is for a prefetch or the wrong path only. */
static bool is_speculative(const struct mshr *mshr)
{
    for (uint32_t i = 0; i < mshr->targets; i++)
        if (!mshr->target[i].actor.speculative)
            return false;
    return mshr->prefetch || mshr->targets > 0;
}

/* The level below has dropped a speculative read. Requests the line again if an access has asked for it
 * since. */
static void dropped(struct cache *cache, struct mshr *mshr, uint64_t now)
{
    uint8_t kind = mshr->request.kind;
    if (is_speculative(mshr)) {
        cache_abandon(cache, mshr, now);
        return;
    }
    mem_request_init(&mshr->request, MEM_READ, mshr->line, cache->config.line);
    mshr->request.requester = cache->requester;
    mshr->request.kind = kind;
    mshr->request.exclusive = has_store(mshr);
    cache_plan(cache, mshr, now);
}

void cache_fill(struct cache *cache, struct mshr *mshr, uint64_t now)
{
    if (mshr->request.dropped) {
        dropped(cache, mshr, now);
        return;
    }
    bool granted = !cache->config.coherent || mshr->request.exclusive;
    unsigned level = mshr->request.level;
    uint32_t index = tags_find(&cache->front.tags, mshr->line);
    bool here = index != TAGS_NONE, stack = cache_in_stacks(cache, mshr->line);
    unsigned state = here ? cache_state_of(cache, index) : PROTOCOL_ABSENT;
    if (!stack)
        state = cache_step(cache, state, granted ? PROTOCOL_FILL_OWNED : PROTOCOL_FILL).next;
    else if (!here)
        state = CACHE_EXCLUSIVE;
    bool owned = cache_has(cache, state, PROTOCOL_WRITABLE);
    if (owned && has_store(mshr))
        state = cache_step(cache, state, PROTOCOL_STORE).next;
    uint64_t words = mshr->request.mask;
    struct cache_waiters served = {0}, blocked = mshr->blocked;
    mshr->blocked = (struct cache_waiters){0};

    cache->counters.upgrades_lost += mshr->request.upgrade && !here;
    if (!here) {
        cache->counters.fills++;
        cache_tell_fill(cache, mshr->line, mshr->asked, now, level);
    }
    serve(cache, mshr, owned, &served, now);
    if (mshr->expired)
        cache_tell_evict(cache, mshr->line, now);
    else
        place(cache, mshr->line, mshr->prefetch ? state | CACHE_FLAG_PREFETCHED : state, now);
    if (stack)
        cache_stack_filled(cache, mshr->line, words, !here);
    if (mshr->targets)
        ask_ownership(cache, mshr, now);
    else
        mshr_release(&cache->mshrs, mshr);
    cache_waiters_call(&served, now, level);
    cache_waiters_call(&blocked, now, MEM_LEVELS);
}
