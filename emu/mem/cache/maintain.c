/* Clean and invalidate operations that take time. */
#include "emu/mem/cache/by_word.h"
#include "emu/sim/alloc.h"

#include <assert.h>
#include <stdlib.h>

enum { LONGEST = 1 << 30 }; /* most bytes of a maintenance request */

static bool in_range(const struct cache_upkeep *upkeep, uint64_t line)
{
    return line >= upkeep->first && line < upkeep->end;
}

/* Returns whether all lines have arrived that were outstanding when the operation began. */
static bool arrived(struct cache_upkeep *upkeep)
{
    const struct mshr_file *file = &upkeep->cache->mshrs;
    uint64_t missing = 0;
    for (uint64_t busy = upkeep->arrivals & file->busy; busy; busy &= busy - 1) {
        uint32_t number = (uint32_t)__builtin_ctzll(busy);
        if (in_range(upkeep, file->mshrs[number].line))
            missing |= UINT64_C(1) << number;
    }
    upkeep->arrivals = missing;
    return missing == 0;
}

static enum protocol_event event_of(enum mem_op op)
{
    if (op == MEM_CLEAN)
        return PROTOCOL_CLEAN;
    return op == MEM_INVALIDATE ? PROTOCOL_INVALIDATE : PROTOCOL_EVICT;
}

/* Removes a line of a thread stack. Returns false if the write buffer has no room for it. */
static bool treat_stack(struct cache_upkeep *upkeep, uint32_t index, uint64_t now)
{
    struct cache *cache = upkeep->cache;
    bool write = upkeep->op != MEM_INVALIDATE;
    if (write && !cache_can_write(cache))
        return false;
    cache->counters.invalidated++;
    cache_stack_evict(cache, index, write, now);
    return true;
}

/* Applies the operation to one entry. Returns false if the write buffer has no room for its line. */
static bool treat(struct cache_upkeep *upkeep, uint32_t index, uint64_t now)
{
    struct cache *cache = upkeep->cache;
    struct tags *tags = &cache->front.tags;
    uint64_t line = tags_key(tags, index);
    enum protocol_event event = event_of(upkeep->op);
    if (cache->by_word) {
        cache->counters.invalidated += event != PROTOCOL_CLEAN;
        return cache_word_clean(cache, index, event != PROTOCOL_CLEAN, now);
    }
    if (cache_in_stacks(cache, line))
        return treat_stack(upkeep, index, now);
    struct protocol_step step = cache_step(cache, cache_state_of(cache, index), event);
    if (step.action == PROTOCOL_DO_WRITE_BACK && !cache_can_write(cache))
        return false;
    if (event == PROTOCOL_CLEAN) {
        if (step.action == PROTOCOL_DO_WRITE_BACK) {
            tags_set_state(tags, index, step.next);
            cache_write_back(cache, line, true, now);
        }
        return true;
    }
    cache->counters.invalidated++;
    cache_evict(cache, index, event, now);
    cache_copy_lost(cache, line);
    return true;
}

/* Looks up one line each clock; or one set each clock if there are fewer sets, since the tags of a set are
 * read together. */
static void scan(struct cache_upkeep *upkeep, uint64_t now)
{
    struct cache *cache = upkeep->cache;
    const struct tags *tags = &cache->front.tags;
    uint64_t line = cache->config.line, entries = tags_size(tags);
    bool by_line = (upkeep->end - upkeep->first) / line <= entries / tags->ways;
    uint64_t count = by_line ? (upkeep->end - upkeep->first) / line : entries;
    uint64_t clocks = 0;
    for (; upkeep->cursor < count && clocks < CACHE_SCAN; upkeep->cursor++) {
        const uint64_t before = clocks;
        clocks += by_line || upkeep->cursor % tags->ways == 0;
        uint32_t index =
            by_line ? tags_find(tags, upkeep->first + upkeep->cursor * line) : (uint32_t)upkeep->cursor;
        if (index == TAGS_NONE || !tags_state(tags, index) || !in_range(upkeep, tags_key(tags, index)))
            continue;
        if (treat(upkeep, index, now))
            continue;
        if (before == 0) {
            upkeep->stalled = true;
            return;
        }
        clocks = before; /* the line is due only after the lookups before it */
        break;
    }
    if (upkeep->cursor == count)
        upkeep->step = CACHE_UPKEEP_WRITES;
    event_schedule(cache->queue, &upkeep->event, now + clocks * cache->period);
}

/* Returns whether the write buffer has no more lines of the range. An invalidation drops unsent writes. */
static bool written(struct cache_upkeep *upkeep, uint64_t now)
{
    struct cache *cache = upkeep->cache;
    bool none = !cache->by_word || !cache_word_writing(cache);
    for (struct cache_write *write = cache->writes_busy, *next; write; write = next) {
        next = write->next;
        if (!in_range(upkeep, write->line))
            continue;
        if (upkeep->op == MEM_INVALIDATE && write->state != CACHE_WRITE_SENT)
            cache_write_drop(cache, write, now);
        else
            none = false;
    }
    return none;
}

/* Requests the operation from the levels below. */
static void pass_down(struct cache_upkeep *upkeep, uint64_t now)
{
    uint64_t left = upkeep->end - upkeep->first;
    uint32_t size = left < LONGEST ? (uint32_t)left : LONGEST;
    upkeep->step = CACHE_UPKEEP_BELOW;
    mem_request_init(&upkeep->request, upkeep->op, upkeep->first, size);
    upkeep->request.requester = upkeep->cache->requester;
    upkeep->first += size;
    cache_offer(upkeep->cache, &upkeep->request, now);
}

static void proceed(void *owner, uint64_t now)
{
    struct cache_upkeep *upkeep = owner;
    upkeep->stalled = false;
    if (upkeep->step == CACHE_UPKEEP_ARRIVALS) {
        upkeep->stalled = !arrived(upkeep);
        if (upkeep->stalled)
            return;
        upkeep->step = CACHE_UPKEEP_SCAN;
    }
    if (upkeep->step == CACHE_UPKEEP_SCAN) {
        scan(upkeep, now);
        return;
    }
    upkeep->stalled = !written(upkeep, now);
    if (!upkeep->stalled)
        pass_down(upkeep, now);
}

/* Begins the operation. */
static void begin(void *owner, uint64_t now)
{
    struct cache_upkeep *upkeep = owner;
    struct cache *cache = upkeep->cache;
    upkeep->arrivals = cache->mshrs.busy;
    event_init(&upkeep->event, cache->component, proceed, upkeep);
    proceed(upkeep, now);
}

void cache_maintain(struct cache *cache, enum mem_op op, uint64_t physical, uint64_t size, uint64_t time,
                    struct cache_actor actor, struct cache_waiter *waiter)
{
    struct cache_upkeep *upkeep = cache->upkeep_free;
    (void)actor;
    assert(op == MEM_CLEAN || op == MEM_INVALIDATE || op == MEM_CLEAN_INVALIDATE);
    assert(size > 0);
    if (upkeep)
        cache->upkeep_free = upkeep->next;
    else
        upkeep = alloc(1, sizeof *upkeep);
    uint64_t last = (physical + (size - 1)) & cache->front.line_mask;
    *upkeep = (struct cache_upkeep){.next = cache->upkeep,
                                    .cache = cache,
                                    .waiter = waiter,
                                    .op = op,
                                    .first = physical & cache->front.line_mask,
                                    .end = last + cache->config.line};
    cache->upkeep = upkeep;
    cache->counters.maintenance++;
    event_init(&upkeep->event, cache->component, begin, upkeep);
    event_schedule(cache->queue, &upkeep->event, time + cache->hit_time);
}

void cache_upkeep_answered(struct cache_upkeep *upkeep, uint64_t now)
{
    struct cache *cache = upkeep->cache;
    if (upkeep->first < upkeep->end) {
        pass_down(upkeep, now);
        return;
    }
    struct cache_upkeep **at = &cache->upkeep;
    while (*at != upkeep)
        at = &(*at)->next;
    *at = upkeep->next;
    struct cache_waiter *waiter = upkeep->waiter;
    unsigned level = upkeep->request.level;
    upkeep->next = cache->upkeep_free;
    cache->upkeep_free = upkeep;
    if (waiter)
        waiter->done(waiter, now, level);
}

void cache_upkeep_resume(struct cache *cache, uint64_t now)
{
    for (struct cache_upkeep *upkeep = cache->upkeep; upkeep; upkeep = upkeep->next)
        if (upkeep->stalled && !event_pending(&upkeep->event))
            event_schedule(cache->queue, &upkeep->event, now);
}

void cache_upkeep_free(struct cache *cache)
{
    for (struct cache_upkeep *upkeep = cache->upkeep, *next; upkeep; upkeep = next) {
        next = upkeep->next;
        if (upkeep->step != CACHE_UPKEEP_BELOW)
            event_cancel(cache->queue, &upkeep->event);
        else
            event_cancel(cache->queue, &upkeep->request.event);
        free(upkeep);
    }
    for (struct cache_upkeep *upkeep = cache->upkeep_free, *next; upkeep; upkeep = next) {
        next = upkeep->next;
        free(upkeep);
    }
}
