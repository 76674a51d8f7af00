#include "emu/core/report/track.h"
#include "emu/sim/alloc.h"

#include <stdlib.h>
#include <string.h>

struct region {
    struct region *next;
    char *name;
    uint32_t id;
    bool open;
};

struct core_track {
    struct core_observer observer;
    struct track_end end;
    struct track_sink *sink; /* NULL after the end of the trace */
    struct track stalls, marks;
    uint64_t stalled_to;
    struct region *regions;
};

static void show_stall(void *context, const struct core *core, unsigned cause, uint64_t from, uint64_t to)
{
    struct core_track *track = context;
    (void)core;
    if (from < track->stalled_to)
        from = track->stalled_to;
    const char *name = cause < CPI_CAUSES ? core_cause_name((enum cpi_cause)cause) : "unknown";
    if (from < to && track_slice(track->stalls, name, from, to))
        track->stalled_to = to;
}

static struct region *find_region(struct core_track *track, const char *name)
{
    for (struct region *region = track->regions; region; region = region->next)
        if (strcmp(region->name, name) == 0)
            return region;
    struct region *region = alloc(1, sizeof *region);
    region->name = alloc_text(name);
    region->id = track_id(track->sink);
    region->next = track->regions;
    track->regions = region;
    return region;
}

static bool show_region(const struct core_track *track, const struct region *region, enum track_kind kind,
                        uint64_t now)
{
    return track_write(
        track->marks,
        &(struct track_record){
            .kind = kind, .name = region->name, .category = "region", .id = region->id, .from = now});
}

void core_track_region(struct core_track *track, const char *name, bool begins, uint64_t now)
{
    struct region *region = track && track->sink ? find_region(track, name) : NULL;
    if (!region || region->open == begins)
        return;
    if (show_region(track, region, begins ? TRACK_SPAN_BEGIN : TRACK_SPAN_END, now) || !begins)
        region->open = begins;
}

void core_track_mark(struct core_track *track, const char *text, uint64_t now)
{
    if (track && track->sink)
        (void)track_instant(track->marks, text, now);
}

static void end(void *context, uint64_t now)
{
    struct core_track *track = context;
    for (const struct region *region = track->regions; region; region = region->next)
        if (region->open)
            (void)show_region(track, region, TRACK_SPAN_END, now);
    track->sink = NULL;
}

struct core_track *core_track_new(struct track_sink *sink, const char *name)
{
    struct core_track *track = alloc(1, sizeof *track);
    const struct track group = track_group(sink, name);
    track->sink = sink;
    track->stalls = track_line(group, "stalls");
    track->marks = track_line(group, "marks");
    track->observer = (struct core_observer){.stalled = show_stall, .context = track};
    track->end = (struct track_end){.end = end, .context = track};
    observer_add_first(&sink->ends, &track->end.link);
    return track;
}

void core_track_free(struct core_track *track)
{
    if (!track)
        return;
    if (track->sink)
        observer_remove(&track->sink->ends, &track->end.link);
    for (struct region *region = track->regions, *next; region; region = next) {
        next = region->next;
        free(region->name);
        free(region);
    }
    free(track);
}

struct core_observer *core_track_observer(struct core_track *track)
{
    return &track->observer;
}
