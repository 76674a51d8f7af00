/* Thread stacks in a cache: write-back lines with a mask of valid words. CACHE_MODIFIED is their dirty state and
 * CACHE_EXCLUSIVE the clean one, whatever the cache's protocol. */
#include "emu/mem/cache/state.h"
#include "emu/sim/alloc.h"

void cache_set_stacks(struct cache *cache, uint64_t first, uint64_t size)
{
    if (cache->by_word) /* stacks are words like others */
        return;
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
    if (below && inner < last && !cache->by_word)
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
