#include <stdlib.h>

#include "emu/debug/trace_perfetto.h"

/* An asynchronous id that one miss after the other uses. */
struct lane {
    uint32_t id;
    uint64_t free_from;
};

struct perfetto_cache {
    struct perfetto_cache *next;
    struct perfetto *perfetto;
    struct json_track process, write_backs;
    struct lane *lanes;
    size_t lane_count;
};

static void open_miss(struct perfetto_cache *cache, char phase, const struct lane *lane, const char *name,
                      uint64_t time)
{
    struct line_writer *out = cache->perfetto->out;
    json_event(out, phase, cache->process, name);
    json_text(out, "cat", "miss");
    json_number(out, "id", lane->id);
    json_time(out, "ts", time);
}

static struct lane *add_lane(struct perfetto_cache *cache)
{
    cache->lanes = realloc(cache->lanes, (cache->lane_count + 1) * sizeof *cache->lanes);
    if (!cache->lanes)
        abort();
    struct lane *lane = &cache->lanes[cache->lane_count++];
    *lane = (struct lane){.id = ++cache->perfetto->numbers};
    open_miss(cache, 'n', lane, "miss", 0);
    json_event_end(cache->perfetto->out);
    return lane;
}

/* Misses are told in the order of their ends; for these the lane that became free last before the begin
 * needs the fewest lanes. */
static struct lane *choose_lane(struct perfetto_cache *cache, uint64_t from)
{
    struct lane *best = NULL;
    for (size_t i = 0; i < cache->lane_count; i++) {
        struct lane *lane = &cache->lanes[i];
        if (lane->free_from <= from && (!best || lane->free_from > best->free_from))
            best = lane;
    }
    return best ? best : add_lane(cache);
}

static void line_name(char name[24], uint64_t line)
{
    (void)snprintf(name, 24, "0x%llx", (unsigned long long)line);
}

static void write_fill(void *context, const struct cache *of, uint64_t line, uint64_t asked, uint64_t now,
                       unsigned level)
{
    static const char *const levels[MEM_LEVELS] = {"L1", "L2", "memory"};
    struct perfetto_cache *cache = context;
    struct line_writer *out = cache->perfetto->out;
    char name[24];
    (void)of;
    if (!trace_admit(&cache->perfetto->base))
        return;
    struct lane *lane = choose_lane(cache, asked);
    lane->free_from = now;
    line_name(name, line);
    open_miss(cache, 'b', lane, name, asked);
    json_members(out, "args");
    json_text(out, "level", level < MEM_LEVELS ? levels[level] : "unknown");
    json_members_end(out);
    json_event_end(out);
    open_miss(cache, 'e', lane, name, now);
    json_event_end(out);
}

static void write_write_back(void *context, const struct cache *of, uint64_t line, uint64_t now)
{
    struct perfetto_cache *cache = context;
    struct line_writer *out = cache->perfetto->out;
    char name[24];
    (void)of;
    if (!trace_admit(&cache->perfetto->base))
        return;
    line_name(name, line);
    json_event(out, 'i', cache->write_backs, name);
    json_text(out, "s", "t");
    json_time(out, "ts", now);
    json_event_end(out);
}

bool perfetto_watch_cache(struct trace *trace, const char *name, struct cache_observer *observer,
                          struct error *err)
{
    struct perfetto *perfetto = (struct perfetto *)trace;
    struct perfetto_cache *cache = trace_allocate(1, sizeof *cache);
    (void)err;
    cache->next = perfetto->caches;
    perfetto->caches = cache;
    cache->perfetto = perfetto;
    cache->process = perfetto_process(perfetto, name);
    cache->write_backs = perfetto_track(perfetto, cache->process, "write-backs");
    *observer = (struct cache_observer){.fill = write_fill, .write_back = write_write_back, .context = cache};
    return true;
}

void perfetto_free_caches(struct perfetto *perfetto)
{
    for (struct perfetto_cache *cache = perfetto->caches, *next; cache; cache = next) {
        next = cache->next;
        free(cache->lanes);
        free(cache);
    }
}
