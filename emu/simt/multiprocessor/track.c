#include "emu/simt/multiprocessor/track.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

/* A scheduler's stall that may continue. */
struct stall {
    struct track line;
    enum simt_stall cause;
    uint64_t from, to; /* equal: no stall */
};

struct simt_track {
    struct simt_observer observer;
    struct track warps, blocks, causes;
    uint64_t since;                      /* begin of the current window */
    uint64_t lost[SIMT_STALLS];          /* fs of schedulers in it, by cause */
    uint64_t latest;                     /* end of the last stall */
    bool nothing;                        /* all counters are 0 */
    bool some;                           /* the window, or the one before, has stalls */
    struct stall ahead[SIMT_SCHEDULERS]; /* stalls' parts after the window; line is not used */
    uint32_t schedulers;
    struct stall stalls[SIMT_SCHEDULERS];
};

static void show(struct stall *stall)
{
    if (stall->from < stall->to)
        (void)track_slice(stall->line, simt_stall_name(stall->cause), stall->from, stall->to);
    stall->from = stall->to;
}

/* Ends the window at `now`: writes its counters. */
static void close_window(struct simt_track *track, uint64_t now)
{
    struct track_value values[SIMT_STALLS];
    uint64_t all = (now - track->since) * track->schedulers, sum = 0;
    assert(all > 0);
    size_t count = 0;
    for (enum simt_stall i = 0; i < SIMT_STALLS; i++) {
        sum += track->lost[i];
        if (i != SIMT_STALL_base)
            values[count++] =
                (struct track_value){simt_stall_name(i), NULL, (track->lost[i] * 100 + all / 2) / all};
    }
    if (sum > 0 || !track->nothing)
        (void)track_write(track->causes, &(struct track_record){.kind = TRACK_COUNTER,
                                                                .name = "stalls in percent",
                                                                .from = track->since,
                                                                .values = values,
                                                                .value_count = count});
    track->nothing = sum == 0;
    track->some = sum > 0;
    memset(track->lost, 0, sizeof track->lost);
    track->since = now;
}

/* Adds to the window the part of a scheduler's stall that lies before the window's end, and leaves the rest in `ahead`. */
static void absorb(struct simt_track *track, struct stall *ahead)
{
    uint64_t end = track->since + SIMT_TRACK_WINDOW, to = ahead->to < end ? ahead->to : end;
    if (to <= ahead->from)
        return;
    track->lost[ahead->cause] += to - ahead->from;
    ahead->from = to;
}

/* Closes the windows that end by `now`. Windows without stalls that follow one without stalls are joined into one. */
static void advance(struct simt_track *track, uint64_t now)
{
    while (now >= track->since + SIMT_TRACK_WINDOW) {
        uint64_t next = track->since + SIMT_TRACK_WINDOW;
        if (track->nothing && !track->some)
            next = track->since + (now - track->since) / SIMT_TRACK_WINDOW * SIMT_TRACK_WINDOW;
        close_window(track, next);
        for (uint32_t i = 0; i < track->schedulers; i++)
            absorb(track, &track->ahead[i]);
    }
}

/* Adds a scheduler's stall to the windows in which it lies. Its part after the current window is kept, because the other
 * schedulers' stalls in the current window may come later. */
static void add_stall(struct simt_track *track, uint32_t scheduler, enum simt_stall cause, uint64_t from,
                      uint64_t to)
{
    advance(track, from);
    track->latest = to > track->latest ? to : track->latest;
    track->ahead[scheduler] = (struct stall){.cause = cause, .from = from, .to = to};
    absorb(track, &track->ahead[scheduler]);
    track->some = true;
}

static void stalled(void *context, uint32_t scheduler, enum simt_stall cause, uint64_t from, uint64_t to)
{
    struct simt_track *track = context;
    struct stall *stall = &track->stalls[scheduler];
    add_stall(track, scheduler, cause, from, to);
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

static void left(void *context, const struct warp_place *warp, uint64_t from, uint64_t to)
{
    const struct simt_track *track = context;
    const uint32_t *block = warp->block;
    char name[64];
    const struct track_value values[] = {{"launch", NULL, warp->launch}};
    (void)snprintf(name, sizeof name, "block %" PRIu32 ", %" PRIu32 ", %" PRIu32, block[0], block[1],
                   block[2]);
    (void)track_write(track->blocks, &(struct track_record){.kind = TRACK_SPAN,
                                                            .name = name,
                                                            .category = "block",
                                                            .from = from,
                                                            .to = to,
                                                            .values = values,
                                                            .value_count = 1});
}

void simt_track_end(struct simt_track *track, uint64_t now)
{
    for (uint32_t i = 0; i < track->schedulers; i++)
        show(&track->stalls[i]);
    now = now > track->latest ? now : track->latest; /* the multiprocessor may have run ahead */
    advance(track, now);
    if (now > track->since)
        close_window(track, now);
    track->observer.stalled = NULL;
    track->observer.left = NULL;
    track->observer.held = NULL;
}

struct simt_track *simt_track_new(struct track_sink *sink, const char *name, uint32_t schedulers)
{
    struct simt_track *track = alloc(1, sizeof *track);
    const struct track group = track_group(sink, name);
    track->warps = track_line(group, "warps");
    track->blocks = track_line(group, "blocks");
    track->causes = track_line(group, "stalls");
    track->nothing = true;
    track->schedulers = schedulers;
    for (uint32_t i = 0; i < schedulers; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "scheduler %" PRIu32, i);
        track->stalls[i].line = track_line(group, text);
    }
    track->observer =
        (struct simt_observer){.stalled = stalled, .held = held, .left = left, .context = track};
    return track;
}

struct simt_observer *simt_track_observer(struct simt_track *track)
{
    return &track->observer;
}

void simt_track_free(struct simt_track *track)
{
    free(track);
}
