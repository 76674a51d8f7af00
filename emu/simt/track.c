#include "emu/simt/track.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"

/* A scheduler's stall that may continue. */
struct stall {
    struct track line;
    enum simt_stall cause;
    uint64_t from, to; /* equal: no stall */
};

struct simt_track {
    struct simt_observer observer;
    struct track_end end;
    struct track_sink *sink; /* NULL: the trace has ended */
    struct simt *simt;
    struct track warps;
    uint32_t schedulers;
    struct stall stalls[SIMT_SCHEDULERS];
};

static void show(struct stall *stall)
{
    if (stall->from < stall->to)
        (void)track_slice(stall->line, simt_stall_name(stall->cause), stall->from, stall->to);
    stall->from = stall->to;
}

static void stalled(void *context, uint32_t scheduler, enum simt_stall cause, uint64_t from, uint64_t to)
{
    struct stall *stall = &((struct simt_track *)context)->stalls[scheduler];
    if (stall->from == stall->to || stall->cause != cause || stall->to != from) {
        show(stall);
        stall->cause = cause;
        stall->from = from;
    }
    stall->to = to;
}

static void held(void *context, uint32_t warps, uint64_t now)
{
    (void)track_counter(((struct simt_track *)context)->warps, "warps", now, warps);
}

static void end(void *context, uint64_t now)
{
    struct simt_track *track = context;
    (void)now;
    (void)simt_counted(track->simt);
    for (uint32_t i = 0; i < track->schedulers; i++)
        show(&track->stalls[i]);
    track->observer.stalled = NULL;
    track->observer.held = NULL;
    track->sink = NULL;
}

struct simt_track *simt_track_new(struct track_sink *sink, struct simt *simt, const char *name,
                                  uint32_t schedulers)
{
    struct simt_track *track = alloc(1, sizeof *track);
    const struct track group = track_group(sink, name);
    track->sink = sink;
    track->simt = simt;
    track->warps = track_line(group, "warps");
    track->schedulers = schedulers;
    for (uint32_t i = 0; i < schedulers; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "scheduler %" PRIu32, i);
        track->stalls[i].line = track_line(group, text);
    }
    track->observer = (struct simt_observer){.stalled = stalled, .held = held, .context = track};
    simt_observe(simt, &track->observer);
    track->end = (struct track_end){.end = end, .context = track};
    observer_add_first(&sink->ends, &track->end.link);
    return track;
}

void simt_track_free(struct simt_track *track)
{
    if (!track)
        return;
    if (track->sink)
        observer_remove(&track->sink->ends, &track->end.link);
    free(track);
}
