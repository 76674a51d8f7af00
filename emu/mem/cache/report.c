/* The observers, statistics and energy of a cache. */
#include "emu/mem/cache/by_word.h"
#include "emu/mem/cache/track.h"

#include <inttypes.h>
#include <stdlib.h>

void cache_observe(struct cache *cache, struct cache_observer *observer)
{
    observer_add(&cache->observers, &observer->link);
    if (observer->access)
        cache->front.inline_span = 0;
}

void cache_track(struct cache *cache, struct track_sink *sink)
{
    if (!track_takes(sink, TRACK_TIMELINE))
        return;
    cache->track = cache_track_new(sink, cache->name);
    cache_observe(cache, cache_track_observer(cache->track));
}

#define TELL(function, ...)                                                                                  \
    OBSERVER_TELL(&cache->observers, struct cache_observer, function, cache, __VA_ARGS__)

void cache_tell_access(const struct cache *cache, uint64_t line, bool store, const struct cache_actor *actor,
                       uint64_t now)
{
    if (actor->speculative)
        return;
    TELL(access, line, store, actor, now);
}

void cache_tell_fill(const struct cache *cache, uint64_t line, uint64_t asked, uint64_t now, unsigned level)
{
    TELL(fill, line, asked, now, level);
}

void cache_tell_write_back(const struct cache *cache, uint64_t line, uint64_t now)
{
    TELL(write_back, line, now);
}

void cache_tell_evict(const struct cache *cache, uint64_t line, uint64_t now)
{
    TELL(evict, line, now);
}

static uint64_t all_uses(const struct cache *cache)
{
    const uint64_t *uses = cache->front.uses;
    return uses[CACHE_LOAD] + uses[CACHE_STORE] + uses[CACHE_FETCH] + uses[CACHE_WALK];
}

static uint64_t read_uses(const void *context)
{
    return all_uses(context);
}

static uint64_t read_hits(const void *context)
{
    const struct cache *cache = context;
    const struct cache_counters *counters = &cache->counters;
    return all_uses(cache) - counters->misses - counters->merged - counters->upgrades;
}

static uint64_t read_peak(const void *context)
{
    return ((const struct cache *)context)->mshrs.peak;
}

uint64_t cache_prefetches_pending(const struct cache *cache)
{
    const struct mshr_file *file = &cache->mshrs;
    uint64_t pending = 0;
    if (cache->counters.prefetches == 0)
        return 0;
    for (uint64_t busy = file->busy; busy; busy &= busy - 1)
        pending += file->mshrs[__builtin_ctzll(busy)].prefetch;
    for (uint32_t index = 0; index < tags_size(&cache->front.tags); index++)
        pending += (tags_state(&cache->front.tags, index) & CACHE_FLAG_PREFETCHED) != 0;
    return pending;
}

static void publish_words(struct cache_by_word *by_word, struct stats *stats, struct scope scope)
{
#define CACHE_COUNTER(field, unit, meaning)                                                                  \
    stats_counter(stats, scope, #field, &by_word->field, unit, meaning);
    CACHE_WORD_COUNTERS(CACHE_COUNTER)
#undef CACHE_COUNTER
}

void cache_publish(struct cache *cache, struct stats *stats, struct scope scope)
{
    const uint64_t *uses = cache->front.uses;
    struct cache_counters *counters = &cache->counters;
    stats_counter(stats, scope, "loads", &uses[CACHE_LOAD], "accesses", "Loads");
    stats_counter(stats, scope, "stores", &uses[CACHE_STORE], "accesses", "Stores");
    stats_counter(stats, scope, "fetches", &uses[CACHE_FETCH], "accesses", "Instruction fetches");
    stats_counter(stats, scope, "walks", &uses[CACHE_WALK], "accesses", "Reads of page-table entries");
    stats_computed(stats, scope, "hits", read_hits, cache, "accesses",
                   "Accesses without a request to the level below");
#define CACHE_COUNTER(field, unit, meaning)                                                                  \
    stats_counter(stats, scope, #field, &counters->field, unit, meaning);
    CACHE_COUNTERS(CACHE_COUNTER)
#undef CACHE_COUNTER
#define CACHE_COUNTER(field, unit, meaning) stats_rare(stats, scope, #field, &counters->field, unit, meaning);
    CACHE_RARE_COUNTERS(CACHE_COUNTER)
#undef CACHE_COUNTER
    if (cache->by_word)
        publish_words(cache->by_word, stats, scope);
    stats_ratio(stats, scope, "miss_rate", (struct stats_operand){.value = &counters->misses},
                (struct stats_operand){.read = read_uses, .context = cache}, "misses/access",
                "Accesses that requested a line from the level below, per access");
    stats_computed(stats, scope, "mshrs_peak", read_peak, cache, "lines",
                   "Maximum number of lines outstanding at once");
}

static uint64_t read_energy(const void *context)
{
    const struct cache *cache = context;
    const uint64_t *uses = cache->front.uses;
    uint64_t reads = uses[CACHE_LOAD] + uses[CACHE_FETCH] + uses[CACHE_WALK] + cache->counters.write_backs;
    uint64_t writes = uses[CACHE_STORE] + cache->counters.fills;
    return reads * cache->config.energy_read + writes * cache->config.energy_write;
}

void cache_energy(struct cache *cache, struct energy_ledger *ledger, struct scope scope)
{
    if (cache->config.energy_read == 0 && cache->config.energy_write == 0)
        return;
    const struct energy_account account = {.name = "access",
                                           .read = read_energy,
                                           .context = cache,
                                           .unit = 1,
                                           .kind = ENERGY_PER_EVENT,
                                           .fields = "energy_read energy_write",
                                           .group = "l1"};
    energy_add(ledger, scope, &account);
}
