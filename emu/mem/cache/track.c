#include "emu/mem/cache/track.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"

struct cache_track {
    struct cache_observer observer;
    struct track misses, write_backs, probes;
};

enum { NAME = 24 };

static void name_line(char name[NAME], uint64_t line)
{
    (void)snprintf(name, NAME, "0x%" PRIx64, line);
}

static void show_fill(void *context, const struct cache *cache, uint64_t line, uint64_t asked, uint64_t now,
                      unsigned level)
{
    static const char *const levels[MEM_LEVELS] = {"L1", "L2", "memory"};
    const struct cache_track *track = context;
    const struct track_value values[] = {{"level", level < MEM_LEVELS ? levels[level] : "unknown", 0}};
    char name[NAME];
    (void)cache;
    name_line(name, line);
    (void)track_write(track->misses, &(struct track_record){.kind = TRACK_SPAN,
                                                            .name = name,
                                                            .category = "miss",
                                                            .from = asked,
                                                            .to = now,
                                                            .values = values,
                                                            .value_count = 1});
}

static void show_write_back(void *context, const struct cache *cache, uint64_t line, uint64_t now)
{
    const struct cache_track *track = context;
    char name[NAME];
    (void)cache;
    name_line(name, line);
    (void)track_instant(track->write_backs, name, now);
}

static void show_probe(void *context, const struct cache *cache, uint64_t line, bool dirty, uint64_t now)
{
    const struct cache_track *track = context;
    const struct track_value values[] = {{"copy", dirty ? "dirty" : "clean", 0}};
    char name[NAME];
    (void)cache;
    name_line(name, line);
    (void)track_write(
        track->probes,
        &(struct track_record){
            .kind = TRACK_INSTANT, .name = name, .from = now, .values = values, .value_count = 1});
}

static struct cache_track *track_in(struct track group)
{
    struct cache_track *track = alloc(1, sizeof *track);
    track->misses = group;
    track->write_backs = track_line(group, "write-backs");
    track->observer =
        (struct cache_observer){.fill = show_fill, .write_back = show_write_back, .context = track};
    return track;
}

struct cache_track *cache_track_new(struct track_sink *sink, const char *name)
{
    return track_in(track_group(sink, name));
}

struct cache_track *cache_track_level(struct track_sink *sink, const char *name)
{
    const struct track group = track_group(sink, name);
    struct cache_track *track = track_in(group);
    track->probes = track_line(group, "probes");
    track->observer.probe = show_probe;
    return track;
}

void cache_track_free(struct cache_track *track)
{
    free(track);
}

struct cache_observer *cache_track_observer(struct cache_track *track)
{
    return &track->observer;
}
