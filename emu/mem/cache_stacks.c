/* Thread stacks in a cache: write-back lines with a mask of valid words. CACHE_MODIFIED is their dirty state and
 * CACHE_EXCLUSIVE the clean one, whatever the cache's protocol. */
#include "emu/mem/cache_state.h"
#include "emu/sim/alloc.h"

void cache_set_stacks(struct cache *cache, uint64_t first, uint64_t size)
{
    cache->stacks.first = first;
    cache->stacks.size = size;
    if (!cache->stacks.valid)
        cache->stacks.valid = alloc(tags_size(&cache->front.tags), sizeof *cache->stacks.valid);
}

bool cache_stack_load(struct cache *cache, uint64_t line, uint64_t words)
{
    uint32_t index = tags_lookup(&cache->front.tags, line);
    return index != TAGS_NONE && !(words & ~cache->stacks.valid[index]);
}

/* Returns a free entry for the line, or TAGS_NONE with *waits set. */
static uint32_t make_room(struct cache *cache, uint64_t line, uint64_t time, struct cache_waiters **waits)
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

enum cache_outcome cache_stack_store(struct cache *cache, uint64_t line, uint64_t words, uint64_t time,
                                     struct cache_waiters **waits)
{
    struct tags *tags = &cache->front.tags;
    uint32_t index = tags_lookup(tags, line);
    if (index == TAGS_NONE) {
        index = make_room(cache, line, time, waits);
        if (index == TAGS_NONE)
            return CACHE_FULL;
        tags_fill(tags, index, line, CACHE_MODIFIED);
        cache->stacks.valid[index] = 0;
        cache->stacks.allocated++;
        cache_tell_fill(cache, line, time, time, MEM_LEVEL_L1);
    }
    tags_set_state(tags, index, CACHE_MODIFIED);
    cache->stacks.valid[index] |= words;
    return CACHE_HIT;
}

void cache_stack_filled(struct cache *cache, uint64_t line, uint64_t words, bool fresh)
{
    uint32_t index = tags_find(&cache->front.tags, line);
    if (index == TAGS_NONE)
        return;
    uint64_t *valid = &cache->stacks.valid[index];
    *valid = (fresh ? 0 : *valid) | (words & UINT64_MAX >> (64 - cache->config.line / 4));
}

void cache_stack_evict(struct cache *cache, uint32_t index, bool write, uint64_t time)
{
    struct tags *tags = &cache->front.tags;
    uint64_t line = tags_key(tags, index);
    bool dirty = cache_state_of(cache, index) == CACHE_MODIFIED;
    cache_remove(cache, index);
    if (dirty && write) {
        cache->stacks.write_backs++;
        cache_write_words(cache, line, cache->stacks.valid[index], time);
    } else if (!cache_write_find(cache, line)) {
        cache_tell_evict(cache, line, time);
    }
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

/* Returns the set of the 32-bit words of a line that lie in [first, end). */
static uint64_t words_in(const struct cache *cache, uint64_t line, uint64_t first, uint64_t end)
{
    uint64_t from = first > line ? first - line : 0, bytes = cache->config.line;
    uint64_t to = end - line < bytes ? end - line : bytes;
    return UINT64_MAX >> (64 - (to - from) / 4) << from / 4;
}

/* Drops the words in the array. */
static void drop_valid(struct cache *cache, uint64_t line, uint64_t words, uint64_t now)
{
    uint32_t index = tags_find(&cache->front.tags, line);
    if (index == TAGS_NONE)
        return;
    cache->stacks.valid[index] &= ~words;
    if (cache->stacks.valid[index] || mshr_find(&cache->mshrs, line))
        return;
    cache->stacks.dropped++;
    cache_stack_evict(cache, index, false, now);
}

/* Drops lines of the range that wait in the write buffer. */
static void drop_unsent(struct cache *cache, uint64_t first, uint64_t end, uint64_t now)
{
    for (struct cache_write *write = cache->writes_busy, *next; write; write = next) {
        next = write->next;
        if (write->line >= first && write->line + cache->config.line <= end &&
            write->state != CACHE_WRITE_SENT)
            cache_write_drop(cache, write, now);
    }
}

void cache_drop(struct cache *cache, uint64_t first, uint64_t size, bool below)
{
    uint64_t now = cache->queue->now, end = first + size, bytes = cache->config.line;
    uint64_t inner = (first + bytes - 1) & cache->front.line_mask, last = end & cache->front.line_mask;
    for (uint64_t line = first & cache->front.line_mask; line < end && cache->stacks.size; line += bytes)
        drop_valid(cache, line, words_in(cache, line, first, end), now);
    if (cache->writes_busy)
        drop_unsent(cache, first, end, now);
    if (below && inner < last)
        mem_link_maintain(&cache->link, MEM_INVALIDATE, inner, last - inner);
}

uint64_t cache_stacks_written(const struct cache *cache)
{
    return cache->stacks.write_backs;
}

void cache_publish_stacks(struct cache *cache, struct stats *stats, struct scope scope)
{
#define CACHE_COUNTER(field, unit, meaning)                                                                  \
    stats_counter(stats, scope, "stack." #field, &cache->stacks.field, unit, meaning);
    CACHE_STACK_COUNTERS(CACHE_COUNTER)
#undef CACHE_COUNTER
}
