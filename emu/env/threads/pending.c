/* Tells which launch the program waits for when the run ends. */
#include <inttypes.h>
#include <stdio.h>

#include "emu/env/threads/state.h"
#include "emu/sim/text/say.h"

bool threads_call_open(const struct threads *threads)
{
    return threads && threads->system && system_in_call(threads->system);
}

enum { PLACES = 4 };

static void print_extents(const uint32_t extents[3], const char *unit)
{
    fprintf(say_stream(), "%" PRIu32 " x %" PRIu32 " x %" PRIu32 " %s", extents[0], extents[1], extents[2],
            unit);
}

static void print_call(const struct threads_host *host)
{
    if (!host->waits || host->awaited == LAUNCH_ROOM)
        fprintf(say_stream(), " waits in simt_launch()%s for launch",
                host->waits ? ", because too many launches have not ended," : "");
    else
        fprintf(say_stream(), " waits in simt_wait(%" PRIu64 ") for launch", host->awaited);
}

/* Where threads are: the first PLACES addresses found. */
struct places {
    struct {
        uint64_t pc;
        unsigned threads, waiting; /* waiting: at a barrier */
    } at[PLACES];
    unsigned count;
    uint64_t elsewhere; /* threads at further addresses */
};

static void note_thread(struct places *places, uint64_t pc, bool waiting)
{
    unsigned i = 0;
    while (i < places->count && places->at[i].pc != pc)
        i++;
    if (i == PLACES) {
        places->elsewhere++;
        return;
    }
    if (i == places->count)
        places->at[places->count++].pc = pc;
    places->at[i].threads++;
    places->at[i].waiting += waiting;
}

/* Collects where the launch's threads are that have begun and not ended. */
static struct places find_threads(const struct launch *launch, uint64_t number)
{
    struct places places = {.count = 0};
    for (uint32_t i = 0; i < launch_warps(launch); i++) {
        const struct warp *warp = launch_warp(launch, i);
        uint32_t live = warp && warp_where(warp)->launch == number ? warp_live(warp) : 0;
        for (unsigned lane = 0; live; lane++, live >>= 1)
            if (live & 1)
                note_thread(&places, warp_pc(warp, lane), warp_waiting(warp) >> lane & 1);
    }
    return places;
}

static void print_threads(const struct threads *threads, uint64_t number)
{
    const struct places places = find_threads(threads->launch, number);
    char text[SYMBOLS_TEXT];
    for (unsigned i = 0; i < places.count; i++) {
        fprintf(say_stream(), "    %u threads at 0x%" PRIx64 ", %s", places.at[i].threads, places.at[i].pc,
                symbols_describe(threads->user->symbols, places.at[i].pc, text, sizeof text));
        if (places.at[i].waiting)
            fprintf(say_stream(), "; %u of them wait at a barrier", places.at[i].waiting);
        fprintf(say_stream(), "\n");
    }
    if (places.elsewhere)
        fprintf(say_stream(), "    %" PRIu64 " threads elsewhere\n", places.elsewhere);
}

/* Prints which launch someone, who waits as `host` says, waits for. */
static void tell(const struct threads *threads, const char *who, const struct threads_host *host)
{
    struct grid_pending pending;
    char text[SYMBOLS_TEXT];
    if (!launch_pending(threads->launch, host->waits ? host->awaited : 0, &pending))
        return;
    fprintf(say_stream(), "  %s", who);
    print_call(host);
    fprintf(say_stream(), " %" PRIu64 ": %s\n    ", pending.launch.number,
            symbols_describe(threads->user->symbols, launch_function(threads->launch, pending.launch.entry),
                             text, sizeof text));
    print_extents(pending.launch.grid, "blocks of ");
    print_extents(pending.launch.block, "threads: ");
    fprintf(say_stream(), "%" PRIu64 " of %" PRIu64 " blocks have not ended, %" PRIu64 " of these not begun",
            pending.blocks - pending.ended, pending.blocks, pending.blocks - pending.begun);
    if (pending.others)
        fprintf(say_stream(), "; %" PRIu64 " more launches have not ended", pending.others);
    fprintf(say_stream(), "\n");
    print_threads(threads, pending.launch.number);
}

static void tell_host(const struct threads *threads, unsigned number)
{
    char who[48] = "the program";
    const bool open = number == 0 && threads_call_open(threads);
    if (threads->host_count > 1)
        (void)snprintf(who, sizeof who, "the thread on host %u", number);
    if (threads->hosts[number].waits || open)
        tell(threads, who, &threads->hosts[number]);
}

static void tell_thread(const struct threads *threads, uint64_t thread, const struct threads_host *host)
{
    char who[48];
    (void)snprintf(who, sizeof who, "thread %" PRIu64, thread);
    tell(threads, who, host);
}

void threads_tell_thread(const struct threads *threads, uint64_t thread, uint64_t awaited)
{
    tell_thread(threads, thread, &(struct threads_host){true, awaited});
}

void threads_tell_wait(const struct threads *threads)
{
    if (threads && threads->scheduler && threads->owner)
        tell_thread(threads, threads->owner, &(struct threads_host){false, 0});
    else if (threads && threads->scheduler && threads->beside)
        threads->scheduler->tell(threads->scheduler->context);
    for (unsigned i = 0; threads && i < threads->host_count; i++)
        tell_host(threads, i);
}
