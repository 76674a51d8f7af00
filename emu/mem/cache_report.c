/* Configuration, observers, statistics and energy of a cache. */
#include "emu/mem/cache_state.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void cache_config_default(struct cache_config *config)
{
    *config = (struct cache_config){.size = 32768,
                                    .ways = 4,
                                    .line = 64,
                                    .hit_clocks = 2,
                                    .mshrs = 8,
                                    .mshr_targets = 8,
                                    .write_buffer = 8,
                                    .replacement = TAGS_LRU,
                                    .write_allocate = true,
                                    .prefetch = CACHE_PREFETCH_NONE,
                                    .prefetch_degree = 1,
                                    /* CACTI 7, 32 nm, 32 KiB, 4 ways, 64-byte lines, 64 bits out; a write is
                                     * taken to cost what a read does. */
                                    .energy_read = 10200,
                                    .energy_write = 10200};
}

static bool is_power(uint64_t value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

static bool check_shape(const struct cache_config *config, struct error *err)
{
    if (config->line < 16 || config->line > 256 || !is_power(config->line))
        return error_set(err, "line: %" PRIu32 " bytes; a power of two from 16 to 256 is allowed",
                         config->line);
    if (config->ways < 1 || config->ways > 16)
        return error_set(err, "ways: %" PRIu32 "; 1 to 16 are allowed", config->ways);
    if (config->replacement != TAGS_LRU && !is_power(config->ways))
        return error_set(err, "ways: %" PRIu32 "; tree-PLRU needs a power of two", config->ways);
    uint64_t set = (uint64_t)config->ways * config->line;
    if (config->size % set || !is_power(config->size / set) || config->size > UINT64_C(1) << 30)
        return error_set(err,
                         "size: %" PRIu64 " bytes; ways * line (%" PRIu64
                         " bytes) times a power of two is allowed, up to 1 GiB",
                         config->size, set);
    return true;
}

static bool check_range(const char *name, uint32_t value, uint32_t least, uint32_t most, struct error *err)
{
    if (value >= least && value <= most)
        return true;
    return error_set(err, "%s: %" PRIu32 "; %" PRIu32 " to %" PRIu32 " are allowed", name, value, least,
                     most);
}

bool cache_config_check(const struct cache_config *config, struct error *err)
{
    bool prefetches = config->prefetch != CACHE_PREFETCH_NONE;
    if (!check_shape(config, err) || !check_range("hit_clocks", config->hit_clocks, 1, 1000, err) ||
        !check_range("mshrs", config->mshrs, 1, MSHR_LIMIT, err) ||
        !check_range("mshr_targets", config->mshr_targets, 1, 256, err) ||
        !check_range("write_buffer", config->write_buffer, 1, 64, err) ||
        !check_range("prefetch_degree", config->prefetch_degree, prefetches ? 1 : 0, PREFETCH_DEGREE, err))
        return false;
    if (config->coherent && config->write_through)
        return error_set(err, "write_through: a coherent cache has to be write-back");
    if (config->coherent && !config->write_allocate)
        return error_set(err, "write_allocate: a coherent cache has to own the lines that it writes");
    if (prefetches && config->mshrs < 2)
        return error_set(err, "prefetch: needs a second MSHR, because the last one is kept for others");
    return true;
}

void cache_observe(struct cache *cache, const struct cache_observer *observer)
{
    assert(cache->observer_count < CACHE_OBSERVERS);
    cache->observers[cache->observer_count++] = *observer;
    if (observer->access)
        cache->front.inline_span = 0;
}

#define TELL(function, ...)                                                                                  \
    for (uint32_t i = 0; i < cache->observer_count; i++)                                                     \
        if (cache->observers[i].function)                                                                    \
    cache->observers[i].function(cache->observers[i].context, cache, __VA_ARGS__)

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

static const char *named(char *buffer, size_t size, const char *prefix, const char *name)
{
    (void)snprintf(buffer, size, "%s.%s", prefix, name);
    return buffer;
}

void cache_publish(struct cache *cache, struct stats *stats, const char *prefix)
{
    char name[256];
    const uint64_t *uses = cache->front.uses;
    struct cache_counters *counters = &cache->counters;
#define NAMED(text) named(name, sizeof name, prefix, text)
    stats_counter(stats, NAMED("loads"), &uses[CACHE_LOAD], "accesses", "Loads");
    stats_counter(stats, NAMED("stores"), &uses[CACHE_STORE], "accesses", "Stores");
    stats_counter(stats, NAMED("fetches"), &uses[CACHE_FETCH], "accesses", "Instruction fetches");
    stats_counter(stats, NAMED("walks"), &uses[CACHE_WALK], "accesses", "Reads of page-table entries");
    stats_computed(stats, NAMED("hits"), read_hits, cache, "accesses",
                   "Accesses that needed nothing from below");
#define CACHE_COUNTER(field, unit, meaning)                                                                  \
    stats_counter(stats, NAMED(#field), &counters->field, unit, meaning);
    CACHE_COUNTERS(CACHE_COUNTER)
#undef CACHE_COUNTER
    stats_computed(stats, NAMED("mshrs_peak"), read_peak, cache, "lines",
                   "Most lines that were under way at once");
#undef NAMED
}

static uint64_t read_energy(const void *context)
{
    const struct cache *cache = context;
    const uint64_t *uses = cache->front.uses;
    uint64_t reads = uses[CACHE_LOAD] + uses[CACHE_FETCH] + uses[CACHE_WALK] + cache->counters.write_backs;
    uint64_t writes = uses[CACHE_STORE] + cache->counters.fills;
    return reads * cache->config.energy_read + writes * cache->config.energy_write;
}

void cache_energy(struct cache *cache, struct energy_ledger *ledger, const char *prefix)
{
    char name[256];
    if (cache->config.energy_read == 0 && cache->config.energy_write == 0)
        return;
    const struct energy_account account = {.name = named(name, sizeof name, prefix, "access"),
                                           .read = read_energy,
                                           .context = cache,
                                           .unit = 1,
                                           .kind = ENERGY_PER_EVENT,
                                           .source = "CACTI 7, 32 nm (itrs-hp, 350 K)"};
    energy_add(ledger, &account);
}
