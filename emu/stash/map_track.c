#include "emu/stash/map_track.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"

enum { EVENTS = STASH_REUSES + 1, NAME = 64 };

/* An entry while it is valid. */
struct span {
    bool open, left; /* left: its block has ended */
    bool coherent;
    unsigned slot, block;
    uint64_t global, objects, rows;
    uint64_t from, until, last; /* its block's end; the last event */
    uint64_t words[EVENTS];
};

/* An instant that may get more words. */
struct instant {
    unsigned entry;
    uint64_t words, at; /* words 0: none */
};

struct map_track {
    struct stash_observer observer;
    struct track_end end;
    const struct stash *stash;
    const struct event_queue *queue;
    struct track maps, lines[EVENTS];
    struct span spans[STASH_ENTRIES];
    struct instant instants[EVENTS];
    uint64_t latest; /* end of a span */
};

static const char *const event_names[EVENTS] = {[STASH_LOADS] = "load",
                                                [STASH_REGISTERS] = "store",
                                                [STASH_WRITES] = "write-back",
                                                [STASH_REUSES] = "reuse"};

static void name_map(const struct span *span, const char *what, char name[NAME])
{
    (void)snprintf(name, NAME, "%s%smap %u, 0x%" PRIx64, what, *what ? ", " : "", span->slot, span->global);
}

static void show_instant(struct map_track *track, unsigned event)
{
    struct instant *instant = &track->instants[event];
    const struct track_value values[] = {{"words", NULL, instant->words}, {"entry", NULL, instant->entry}};
    char name[NAME];
    name_map(&track->spans[instant->entry], event_names[event], name);
    if (instant->words)
        (void)track_write(track->lines[event], &(struct track_record){.kind = TRACK_INSTANT,
                                                                      .name = name,
                                                                      .from = instant->at,
                                                                      .values = values,
                                                                      .value_count = 2});
    instant->words = 0;
}

static void show_instants(struct map_track *track, unsigned entry)
{
    for (unsigned event = 0; event < EVENTS; event++)
        if (track->instants[event].entry == entry)
            show_instant(track, event);
}

static void show_span(struct map_track *track, unsigned entry, uint64_t now)
{
    struct span *span = &track->spans[entry];
    uint64_t to = now > span->last ? now : span->last;
    to = to > track->latest ? to
                            : track->latest; /* events may be ahead of the queue, and spans end in order */
    track->latest = to;
    const struct track_value values[] = {
        {"block", NULL, span->block},
        {"entry", NULL, entry},
        {"objects", NULL, span->objects},
        {"rows", NULL, span->rows},
        {"coherent", span->coherent ? "yes" : "no", 0},
        {"loaded", NULL, span->words[STASH_LOADS]},
        {"registered", NULL, span->words[STASH_REGISTERS]},
        {"written_back", NULL, span->words[STASH_WRITES]},
        {"reused", NULL, span->words[STASH_REUSES]},
    };
    const struct track_step steps[] = {{"active", span->from, span->left ? span->until : to},
                                       {"dirty", span->until, to}};
    char name[NAME];
    show_instants(track, entry);
    name_map(span, "", name);
    (void)track_write(track->maps,
                      &(struct track_record){.kind = TRACK_SPAN,
                                             .name = name,
                                             .category = "map",
                                             .from = span->from,
                                             .to = to,
                                             .values = values,
                                             .value_count = sizeof values / sizeof *values,
                                             .steps = steps,
                                             .step_count = span->left && span->until < to ? 2 : 1});
    span->open = false;
}

static void began(void *context, unsigned entry)
{
    struct map_track *track = context;
    struct span *span = &track->spans[entry];
    *span = (struct span){.open = true, .from = track->queue->now, .last = track->queue->now};
    const struct stash_mapping *mapping =
        stash_entry_mapping(track->stash, entry, &span->block, &span->slot, &span->coherent);
    span->left = span->block == STASH_NONE;
    span->until = span->from;
    span->global = mapping->global;
    span->objects = mapping->objects;
    span->rows = mapping->strides;
}

static void left(void *context, unsigned entry)
{
    struct map_track *track = context;
    struct span *span = &track->spans[entry];
    span->left = true;
    span->until = track->queue->now > span->last ? track->queue->now : span->last;
}

static void ended(void *context, unsigned entry)
{
    struct map_track *track = context;
    if (track->spans[entry].open)
        show_span(track, entry, track->queue->now);
}

static void event(void *context, enum stash_event what, unsigned entry, uint32_t words, uint64_t now)
{
    struct map_track *track = context;
    struct span *span = &track->spans[entry];
    struct instant *instant = &track->instants[what];
    span->words[what] += words;
    span->last = now > span->last ? now : span->last;
    if (instant->entry != entry || instant->at != now)
        show_instant(track, what);
    instant->entry = entry;
    instant->at = now;
    instant->words += words;
}

static void end(void *context, uint64_t now)
{
    struct map_track *track = context;
    for (unsigned e = 0; e < STASH_ENTRIES; e++)
        if (track->spans[e].open)
            show_span(track, e, now);
    track->observer.began = track->observer.left = track->observer.ended = NULL;
    track->observer.event = NULL;
}

struct map_track *map_track_new(struct track_sink *sink, const char *name, struct stash *stash,
                                const struct event_queue *queue)
{
    struct map_track *track = alloc(1, sizeof *track);
    track->stash = stash;
    track->queue = queue;
    track->maps = track_group(sink, name);
    track->lines[STASH_LOADS] = track->lines[STASH_REGISTERS] = track_line(track->maps, "misses");
    track->lines[STASH_WRITES] = track_line(track->maps, "write-backs");
    track->lines[STASH_REUSES] = track_line(track->maps, "reuse");
    track->observer = (struct stash_observer){
        .began = began, .left = left, .ended = ended, .event = event, .context = track};
    stash_observe(stash, &track->observer);
    track->end = (struct track_end){.end = end, .context = track};
    observer_add_first(&sink->ends, &track->end.link);
    return track;
}

void map_track_free(struct map_track *track)
{
    free(track);
}
