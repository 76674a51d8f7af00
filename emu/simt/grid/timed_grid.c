#include "emu/simt/grid/timed_grid.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/list.h"
#include "emu/sim/threads/turns.h"
#include "emu/simt/warp_debug.h"

/* A launch that has not ended. */
struct launched {
    struct launched *next; /* in order of launch numbers */
    uint64_t number, queue;
    struct grid_launch launch;
    struct simt_need need;
    struct placement *placement;
    uint64_t blocks, placed;
    _Atomic uint64_t ended;
    uint32_t *live;           /* by queue: blocks on its multiprocessors that have not ended */
    uint64_t *left;           /* by queue: in a window, the position at which the last of them has ended */
    _Atomic unsigned holders; /* in a window: queues with such blocks */
    bool settling;            /* all blocks have ended, and releases are under way */
    uint64_t
        *settle; /* by multiprocessor: not 0 if it executes blocks of it; then the number of its release */
};

struct place;

/* The multiprocessor's handle of a warp. */
struct member {
    struct simt_member core; /* must be first */
    struct place *place;
};

/* A block's place on a multiprocessor. */
struct place {
    struct simt_grid *grid;
    struct launched *launched; /* NULL: free */
    struct simt_block block;
    struct grid_block warps;
    uint32_t stacks;        /* first of its warps' stacks among the multiprocessor's */
    struct member *members; /* as many as the multiprocessor has warps */
};

/* The end of a block in a window: its position and time, and when the scheduler looks for a next one. */
struct block_end {
    uint64_t position, time, next;
};

/* What belongs to an event queue. */
struct share {
    struct simt_grid *grid;
    struct event_queue *queue;
    struct warp_memory *memory;
    struct warp_turns turns;
    bool changed;           /* in a window, an instruction has stored to its code */
    struct block_end *ends; /* in a window */
    uint32_t end_count, end_room;
};

struct station {
    struct simt *simt;
    uint32_t share; /* number of its queue */
    const struct simt_config *config;
    struct place *places;    /* config->blocks elements */
    uint32_t first_stack;    /* first of its config->warps stacks */
    bool stacks[SIMT_WARPS]; /* stacks in use */
};

/* What has ended the run within a window. */
struct failure {
    enum grid_end end;
    struct warp *warp;
    struct warp_report report; /* of GRID_TRAP */
};

struct simt_grid {
    struct simt_grid_parts parts;
    struct warp_memory *memory;
    struct share *shares;   /* by queue */
    bool apart;             /* in a window, in which each queue has a thread of its own */
    struct failure failure; /* of the window */
    bool over;              /* a launch has ended in the window, at this position */
    uint64_t over_at;
    const struct grid_host *host;
    struct event event;
    struct station *stations;
    uint32_t *groups; /* copy of parts.parts */
    uint32_t turn;    /* the multiprocessor that is served first */
    struct launched *first, *last;
    uint32_t waiting;
    uint32_t slice; /* steps until the host is asked whether to end the run */
    _Atomic bool failed;
    uint64_t since, busy; /* fs: begin of the current time with launches; sum of earlier times */
};

static uint64_t now_of(const struct simt_grid *grid)
{
    return grid->parts.queue->now;
}

static void schedule(struct simt_grid *grid, uint64_t time)
{
    if (!event_pending(&grid->event) || grid->event.time > time)
        event_schedule(grid->parts.queue, &grid->event, time);
}

/* Returns the first of n adjacent free stacks, or UINT32_MAX if there are none. */
static uint32_t find_stacks(const struct station *station, uint32_t n, uint32_t warps)
{
    uint32_t run = 0;
    for (uint32_t i = 0; i < warps; i++) {
        run = station->stacks[i] ? 0 : run + 1;
        if (run == n)
            return i + 1 - n;
    }
    return UINT32_MAX;
}

static struct place *find_place(struct station *station)
{
    for (uint32_t i = 0; i < station->config->blocks; i++)
        if (!station->places[i].launched)
            return &station->places[i];
    return NULL;
}

static bool can_begin(const struct simt_grid *grid, const struct launched *launched)
{
    for (const struct launched *before = grid->first; before != launched; before = before->next)
        if (before->queue == launched->queue)
            return false;
    return launched->placed < launched->blocks;
}

/* Returns whether some launch that is the oldest of its queue has blocks to place. */
static bool has_blocks(const struct simt_grid *grid)
{
    for (const struct launched *at = grid->first; at; at = at->next)
        if (can_begin(grid, at))
            return true;
    return false;
}

/* Returns the first launch that is the oldest of its queue and has a block for the multiprocessor, or NULL. */
static struct launched *next_launch(const struct simt_grid *grid, uint32_t number, uint64_t *block)
{
    for (struct launched *at = grid->first; at; at = at->next)
        if (can_begin(grid, at) && placement_next(at->placement, number, block))
            return at;
    return NULL;
}

static bool has_failed(const struct simt_grid *grid)
{
    return atomic_load_explicit(&grid->failed, memory_order_relaxed);
}

/* Returns the queue of the multiprocessor that executes a warp. */
static struct event_queue *queue_of(const struct simt_grid *grid, const struct warp *warp)
{
    return grid->shares[grid->stations[warp_where(warp)->multiprocessor].share].queue;
}

/* Ends the run within a window, unless it has ended before in the order of events. */
static void fail_apart(struct simt_grid *grid, enum grid_end end, struct warp *warp,
                       const struct warp_report *report)
{
    const struct event_window *window = queue_of(grid, warp)->window;
    window_turn(window);
    if (has_failed(grid))
        return;
    grid->failure.end = end;
    grid->failure.warp = warp;
    if (report)
        grid->failure.report = *report;
    atomic_store_explicit(&grid->failed, true, memory_order_relaxed);
    window_stop(window, window_position(window));
}

static void fail(struct simt_grid *grid, enum grid_end end, struct warp *warp,
                 const struct warp_report *report)
{
    if (grid->apart) {
        fail_apart(grid, end, warp, report);
        return;
    }
    grid->failed = true;
    grid->parts.failed(grid->parts.context, end, warp, report);
}

static void tell_phase(const struct simt_grid *grid, const struct launched *launched, bool begins)
{
    if (grid->parts.phase)
        grid->parts.phase(grid->parts.context, &launched->launch, begins);
}

static void begin(struct simt_grid *grid, const struct launched *launched)
{
    tell_phase(grid, launched, true);
    for (uint32_t i = 0; i < grid->parts.count; i++)
        simt_flush(grid->stations[i].simt);
}

/* Places a block of the launch on a multiprocessor. Returns false when it has no room. */
static bool place_block(struct simt_grid *grid, uint32_t number, struct launched *launched, uint64_t index)
{
    struct station *station = &grid->stations[number];
    const struct simt_need *need = &launched->need;
    struct error err;
    if (!simt_fits(station->simt, need))
        return false;
    struct place *place = find_place(station);
    uint32_t stacks = find_stacks(station, need->warps, station->config->warps);
    if (!place || stacks == UINT32_MAX)
        return false;
    uint32_t first = station->first_stack + stacks;
    if (launched->placed == 0)
        begin(grid, launched);
    if (!grid_block_start(&place->warps, grid->shares[station->share].memory, &launched->launch, index,
                          number, first, &err)) {
        fail(grid, GRID_HOST, NULL, NULL);
        return false;
    }
    placement_take(launched->placement, number);
    launched->placed++;
    launched->live[station->share]++;
    launched->settle[number] = 1;
    place->launched = launched;
    place->stacks = stacks;
    place->block.need = *need;
    place->block.owner = place;
    for (uint32_t i = 0; i < need->warps; i++) {
        station->stacks[stacks + i] = true;
        place->members[i] = (struct member){.core.warp = place->warps.warps[i], .place = place};
        place->block.warps[i] = &place->members[i];
    }
    simt_place(station->simt, &place->block, now_of(grid));
    for (uint32_t i = 0; i < need->warps && warp_debug_held(place->members[i].core.warp); i++)
        simt_hold(station->simt, &place->block, i, true, now_of(grid));
    return true;
}

static void free_launch(struct launched *launched)
{
    placement_free(launched->placement);
    free(launched->settle);
    free(launched->live);
    free(launched->left);
    free(launched);
}

static void tell_busy(const struct simt_grid *grid, bool busy)
{
    if (grid->parts.busy)
        grid->parts.busy(grid->parts.context, busy);
}

/* Returns whether what a launch, whose blocks have ended, has stored can be seen by those who wait for it; if not, looks again in
 * the next clock. */
static bool settled(struct simt_grid *grid, struct launched *launched, uint64_t now)
{
    for (uint32_t i = 0; i < grid->parts.count && !launched->settling; i++)
        if (launched->settle[i])
            launched->settle[i] = simt_settle_begin(grid->stations[i].simt, now);
    launched->settling = true;
    for (uint32_t i = 0; i < grid->parts.count; i++)
        if (simt_settled(grid->stations[i].simt) < launched->settle[i]) {
            schedule(grid, clock_next(&grid->parts.clock, now));
            return false;
        }
    return true;
}

/* Removes launches that have ended. */
static void sweep(struct simt_grid *grid, uint64_t now)
{
    struct launched **at = &grid->first;
    bool ended = false;
    grid->last = NULL;
    while (*at) {
        struct launched *launched = *at;
        if (launched->ended < launched->blocks || !settled(grid, launched, now)) {
            grid->last = launched;
            at = &launched->next;
            continue;
        }
        *at = launched->next;
        tell_phase(grid, launched, false);
        free_launch(launched);
        ended = true;
        if (--grid->waiting > 0)
            continue;
        grid->busy += now - grid->since;
        tell_busy(grid, false);
    }
    if (ended && grid->host->ended)
        grid->host->ended(grid->host->context);
}

/* Offers a block to each multiprocessor. */
static void dispatch(void *owner, uint64_t now)
{
    struct simt_grid *grid = owner;
    bool placed = false;
    sweep(grid, now);
    for (uint32_t i = 0; i < grid->parts.count && !has_failed(grid); i++) {
        uint32_t number = (grid->turn + i) % grid->parts.count;
        uint64_t block;
        if (!has_blocks(grid))
            return;
        struct launched *launched = next_launch(grid, number, &block);
        placed |= launched && place_block(grid, number, launched, block);
    }
    if (++grid->turn >= grid->parts.count)
        grid->turn = 0;
    if (placed)
        schedule(grid, clock_next(&grid->parts.clock, now));
}

static const struct stream_op *next_of(void *context, void *warp)
{
    uint32_t mask;
    (void)context;
    return warp_next(((struct simt_member *)warp)->warp, &mask);
}

/* Handles a call. Returns the event: WARP_TRAP if it ends the run. */
static enum warp_event serve(struct simt_grid *grid, struct warp *warp, const struct warp_report *report,
                             struct custom_waiter *waiter)
{
    const struct grid_host *host = grid->host;
    uint64_t result;
    if (grid->parts.refuses_calls) {
        fail(grid, GRID_CALL, warp, NULL);
        return WARP_TRAP;
    }
    if (host->call(host->context, warp, report->lane, &result)) {
        warp_called(warp, report->lane, result);
        return WARP_CALL;
    }
    if (host->later && host->later(host->context, warp, report->lane, NULL, waiter))
        return WARP_LATER;
    fail(grid, GRID_STOP, warp, NULL);
    return WARP_TRAP;
}

/* Returns whether a debugger stops the run at the trap; then the warp tries again later. It does not stop at the trap of a
 * fetch, which cannot be repeated. */
static bool stops_at_trap(const struct simt_grid *grid, const struct simt_member *member,
                          const struct warp_report *report, struct custom_waiter *waiter)
{
    struct warp_debug *debug = grid->memory->debug;
    enum trap_cause cause = report->trap.cause;
    if (!debug || cause == TRAP_FETCH_ACCESS || cause == TRAP_FETCH_PAGE ||
        !warp_debug_trap(debug, member->warp, report))
        return false;
    debug->waiter = waiter;
    return true;
}

/* Handles a trap. Returns the event: WARP_MISSING if only a page is missing. */
static enum warp_event trapped(struct simt_grid *grid, struct simt_member *member,
                               const struct warp_report *report, struct custom_waiter *waiter)
{
    const struct grid_host *host = grid->host;
    if (grid->apart)
        window_turn(queue_of(grid, member->warp)->window);
    if (host->missing && host->missing(host->context, &report->trap)) {
        member->waiter = waiter;
        member->trap = report->trap;
        member->lane = report->lane;
        return WARP_MISSING;
    }
    if (stops_at_trap(grid, member, report, waiter))
        return WARP_LATER;
    fail(grid, GRID_TRAP, member->warp, report);
    return WARP_TRAP;
}

void simt_grid_missing(struct simt_grid *grid, const struct simt_member *member)
{
    const struct grid_host *host = grid->host;
    (void)host->later(host->context, member->warp, member->lane, &member->trap, member->waiter);
}

/* Tells the host that the walk for the warp's page has found none. */
static void missing(void *context, void *name)
{
    const struct member *member = name;
    (void)context;
    simt_grid_missing(member->place->grid, &member->core);
}

/* Returns whether the run has ended. Asks the host every GRID_SLICE steps. */
static bool has_ended(struct simt_grid *grid)
{
    if (!grid->apart && !has_failed(grid) && grid->slice-- == 0) {
        grid->slice = GRID_SLICE;
        if (grid->host->stopped && grid->host->stopped(grid->host->context))
            fail(grid, GRID_STOP, NULL, NULL);
    }
    return has_failed(grid);
}

/* Waits for the warp's turn if its next instruction accesses memory. Returns whether it does. */
static bool await_turn(const struct simt *simt, struct warp *warp)
{
    uint32_t mask;
    const struct stream_op *op = warp_next(warp, &mask);
    if (!op || !(op->flags & (STREAM_LOAD | STREAM_STORE)))
        return false;
    window_turn(simt_queue(simt)->window);
    return true;
}

/* simt_grid_execute(), inline for the warps of blocks. */
static inline void execute(struct simt_grid *grid, const struct simt *simt, struct simt_member *member,
                           uint64_t cycle, struct custom_waiter *waiter, struct warp_report *report,
                           bool shown)
{
    const bool turn = grid->apart && await_turn(simt, member->warp);
    if (has_ended(grid)) {
        report->event = WARP_TRAP; /* stops the multiprocessor */
        return;
    }
    warp_set_clock(member->warp, cycle, clock_time(simt_clock(simt), cycle), grid->parts.tick);
    warp_set_waiter(member->warp, waiter);
    warp_step(member->warp, report);
    if (turn && grid->shares[0].changed) {
        fail(grid, GRID_CODE, member->warp, NULL);
        report->event = WARP_TRAP;
        return;
    }
    if (grid->host->watch && shown && report->event != WARP_IDLE && report->event != WARP_AWAY &&
        grid_watched(grid->host, member->warp))
        grid->host->executed(grid->host->context, member->warp, report);
    if (report->event == WARP_TRAP)
        report->event = trapped(grid, member, report, waiter);
    else if (report->event == WARP_CALL)
        report->event = serve(grid, member->warp, report, waiter);
    if (warp_debug_steps(member->warp))
        (void)warp_debug_stepped(grid->memory->debug, member->warp, report);
    report->paused = grid->memory->debug && grid->memory->debug->why;
}

void simt_grid_execute(struct simt_grid *grid, const struct simt *simt, struct simt_member *member,
                       uint64_t cycle, struct custom_waiter *waiter, struct warp_report *report, bool shown)
{
    execute(grid, simt, member, cycle, waiter, report, shown);
}

static void step(void *context, void *name, uint64_t cycle, struct custom_waiter *waiter,
                 struct warp_report *report, bool *ended)
{
    struct station *station = context;
    struct member *member = name;
    struct place *place = member->place;
    struct simt_grid *grid = place->grid;
    execute(grid, station->simt, &member->core, cycle, waiter, report, true);
    if (report->event == WARP_IDLE)
        *ended = warp_live(member->core.warp) == 0;
    else if ((report->event == WARP_BARRIER || report->event == WARP_EXIT) && grid_block_meet(&place->warps))
        simt_release(station->simt, &place->block);
}

static bool breaks(void *context, void *name)
{
    const struct member *member = name;
    (void)context;
    return warp_debug_break(member->place->grid->memory->debug, member->core.warp);
}

/* Drops the stacks of an ended block: of each word that it has used, the rows of its warps. */
static void drop_stacks(const struct station *station, const struct place *place)
{
    const struct warp_memory *memory = place->grid->memory;
    const struct simt_block *block = &place->block;
    uint64_t bytes = (uint64_t)memory->setup.width * WARP_STACK_WORD, row = memory->setup.stack_warps * bytes;
    uint64_t words = (UINT64_C(1) << memory->setup.stack_shift) / WARP_STACK_WORD;
    uint32_t warp = station->first_stack + place->stacks, end = warp + block->need.warps;
    if (!station->config->stack_drop || block->stack_low == UINT64_MAX)
        return;
    for (uint64_t word = block->stack_low / row; word < words; word++)
        for (uint32_t first = warp, next; first < end; first = next) {
            uint64_t start = warp_stack_row(memory, word, first);
            for (next = first + 1; next < end; next++)
                if (warp_stack_row(memory, word, next) != start + (next - first) * bytes)
                    break;
            simt_drop_stacks(station->simt, block, memory->setup.stack_physical + start,
                             (next - first) * bytes);
        }
}

static void note_end(struct share *share, uint64_t next)
{
    const struct event_window *window = share->queue->window;
    if (share->end_count == share->end_room) {
        share->end_room = 2 * share->end_room + 16;
        share->ends = alloc_resize(share->ends, share->end_room * sizeof *share->ends);
    }
    share->ends[share->end_count++] = (struct block_end){window_position(window), window->time, next};
}

/* A block has ended within a window. If it was the queue's last one of the launch, the launch may end at any position from here on; it
 * ends at the last of the positions at which the queues' last blocks have ended. */
static void end_apart(struct simt_grid *grid, const struct station *station, struct launched *launched,
                      uint64_t next)
{
    struct share *share = &grid->shares[station->share];
    struct event_window *window = share->queue->window;
    note_end(share, next);
    if (launched->live[station->share] > 0)
        return;
    window->strict = true;
    launched->left[station->share] = window_position(window);
    if (atomic_fetch_sub(&launched->holders, 1) > 1)
        return;
    uint64_t last = launched->left[0];
    for (unsigned i = 1; i < grid->parts.queues; i++)
        last = (int64_t)(launched->left[i] - last) > 0 ? launched->left[i] : last;
    grid->over = true;
    grid->over_at = last;
    window_stop(window, last);
}

/* Frees the place and the stacks of a block that has ended, and schedules dispatch() at that time. */
static void block_ended(void *context, struct simt *simt, struct simt_block *block, uint64_t now)
{
    struct station *station = context;
    struct place *place = block->owner;
    struct simt_grid *grid = place->grid;
    struct launched *launched = place->launched;
    const uint64_t reached = simt_queue(simt)->now, time = now > reached ? now : reached;
    drop_stacks(station, place);
    atomic_fetch_add_explicit(&launched->ended, 1, memory_order_relaxed);
    launched->live[station->share]--;
    place->launched = NULL;
    memset(&station->stacks[place->stacks], 0, block->need.warps * sizeof *station->stacks);
    if (grid->apart)
        end_apart(grid, station, launched, time);
    else
        schedule(grid, time);
}

bool simt_grid_quiet(const struct simt_grid *grid, uint64_t *end)
{
    if (!grid->first || has_failed(grid))
        return false;
    for (const struct launched *at = grid->first; at; at = at->next) {
        if (at->placed < at->blocks)
            return false;
        for (unsigned i = 0; i < grid->parts.queues; i++)
            if (!at->live[i])
                return false;
    }
    if (event_pending(&grid->event) && grid->event.time < *end)
        *end = grid->event.time;
    return true;
}

void simt_grid_part(struct simt_grid *grid)
{
    grid->apart = true;
    grid->over = false;
    for (struct launched *at = grid->first; at; at = at->next)
        atomic_store_explicit(&at->holders, grid->parts.queues, memory_order_relaxed);
    for (unsigned i = 0; i < grid->parts.queues; i++)
        grid->shares[i].memory->turns = &grid->shares[i].turns;
}

/* Schedules dispatch() as ends of blocks have asked for it. Without a launch that has ended, that at times in the window has nothing to
 * do. A launch that has ended is looked at by the first one after its last block. */
static void schedule_next(struct simt_grid *grid)
{
    uint64_t time = now_of(grid), next = CLOCK_NEVER;
    for (unsigned i = 0; grid->over && i < grid->parts.queues; i++)
        for (uint32_t k = 0; k < grid->shares[i].end_count; k++)
            if (grid->shares[i].ends[k].position == grid->over_at)
                time = grid->shares[i].ends[k].time;
    for (unsigned i = 0; i < grid->parts.queues; i++) {
        struct share *share = &grid->shares[i];
        for (uint32_t k = 0; k < share->end_count; k++) {
            const struct block_end *end = &share->ends[k];
            if ((end->next > time || (grid->over && end->position == grid->over_at)) && end->next < next)
                next = end->next;
        }
        share->end_count = 0;
    }
    if (next != CLOCK_NEVER)
        schedule(grid, next);
}

void simt_grid_join(struct simt_grid *grid)
{
    grid->apart = false;
    for (unsigned i = 0; i < grid->parts.queues; i++)
        grid->shares[i].memory->turns = NULL;
    schedule_next(grid);
    if (!has_failed(grid))
        return;
    struct failure *failure = &grid->failure;
    grid->parts.failed(grid->parts.context, failure->end, failure->warp,
                       failure->end == GRID_TRAP ? &failure->report : NULL);
}

/* The functions of struct warp_turns. */

static void wait_for_turn(void *context)
{
    window_turn(((const struct share *)context)->queue->window);
}

static void code_changed(void *context)
{
    struct share *share = context;
    share->changed = true;
}

static const struct warp_place *where(void *context, void *name)
{
    (void)context;
    return warp_where(((const struct simt_member *)name)->warp);
}

struct simt_grid *simt_grid_new(const struct simt_grid_parts *parts)
{
    struct simt_grid *grid = alloc(1, sizeof *grid);
    grid->parts = *parts;
    grid->parts.queues = parts->queues ? parts->queues : 1;
    grid->shares = alloc(grid->parts.queues, sizeof *grid->shares);
    for (unsigned i = 0; i < grid->parts.queues; i++) {
        struct share *share = &grid->shares[i];
        *share = (struct share){.grid = grid, .queue = &parts->queue[i]};
        share->turns = (struct warp_turns){wait_for_turn, code_changed, share};
    }
    grid->stations = alloc(parts->count, sizeof *grid->stations);
    grid->groups = alloc(parts->count, sizeof *grid->groups);
    for (uint32_t i = 0; parts->parts && i < parts->count; i++)
        grid->groups[i] = parts->parts[i];
    event_init(&grid->event, parts->component, dispatch, grid);
    uint32_t stacks = 0;
    for (uint32_t i = 0; i < parts->count; i++) {
        struct station *station = &grid->stations[i];
        station->config = parts->configs[i];
        station->first_stack = stacks;
        stacks += station->config->warps;
        station->places = alloc(station->config->blocks, sizeof *station->places);
        for (uint32_t j = 0; j < station->config->blocks; j++) {
            station->places[j].grid = grid;
            station->places[j].members = alloc(station->config->warps, sizeof *station->places[j].members);
        }
    }
    return grid;
}

void simt_grid_free(struct simt_grid *grid)
{
    if (!grid)
        return;
    event_cancel(grid->parts.queue, &grid->event);
    for (uint32_t i = 0; i < grid->parts.count; i++) {
        for (uint32_t j = 0; j < grid->stations[i].config->blocks; j++) {
            grid_block_free(&grid->stations[i].places[j].warps);
            free(grid->stations[i].places[j].members);
        }
        free(grid->stations[i].places);
    }
    while (grid->first) {
        struct launched *next = grid->first->next;
        free_launch(grid->first);
        grid->first = next;
    }
    for (unsigned i = 0; i < grid->parts.queues; i++)
        free(grid->shares[i].ends);
    free(grid->shares);
    free(grid->stations);
    free(grid->groups);
    free(grid);
}

static void tell_stacks(const struct simt_grid *grid, uint32_t number)
{
    const struct warp_memory *memory = grid->memory;
    struct simt *simt = grid->stations[number].simt;
    if (memory && simt)
        simt_set_stacks(simt, memory->setup.stack_physical, memory->stack_size);
}

/* Gives each queue code of its own. */
static void copy_memory(struct simt_grid *grid, struct warp_memory *memory)
{
    struct error err;
    for (unsigned i = 0; i < grid->parts.queues; i++)
        grid->shares[i].memory = i == 0 ? memory : alloc_checked(warp_memory_copy(memory, &err));
}

void simt_grid_bind(struct simt_grid *grid, struct warp_memory *memory, const struct grid_host *host)
{
    if (grid->memory != memory)
        copy_memory(grid, memory);
    grid->memory = memory;
    grid->host = host;
    for (uint32_t i = 0; i < grid->parts.count; i++) {
        tell_stacks(grid, i);
        if (memory->debug)
            simt_debug(grid->stations[i].simt, true);
    }
}

/* Returns the place of the warp that has the stacks of that number, and stores its number in the block; NULL: none. */
static struct place *place_of(const struct simt_grid *grid, uint32_t number, uint32_t *warp)
{
    for (uint32_t i = 0; i < grid->parts.count; i++) {
        const struct station *station = &grid->stations[i];
        for (uint32_t j = 0;
             number - station->first_stack < station->config->warps && j < station->config->blocks; j++) {
            struct place *place = &station->places[j];
            *warp = number - station->first_stack - place->stacks;
            if (place->launched && *warp < place->block.need.warps)
                return place;
        }
    }
    return NULL;
}

struct warp *simt_grid_warp(const struct simt_grid *grid, uint32_t number)
{
    uint32_t warp;
    const struct place *place = place_of(grid, number, &warp);
    return place ? place->members[warp].core.warp : NULL;
}

void simt_grid_moved(struct simt_grid *grid)
{
    for (uint32_t i = 0; i < grid->parts.count; i++) {
        const struct station *station = &grid->stations[i];
        for (uint32_t j = 0; j < station->config->blocks; j++) {
            struct place *place = &station->places[j];
            for (uint32_t w = 0; place->launched && w < place->block.need.warps; w++)
                simt_hold(station->simt, &place->block, w, warp_debug_held(place->members[w].core.warp),
                          now_of(grid));
        }
    }
}

struct warp_memory *simt_grid_memory(const struct simt_grid *grid)
{
    return grid->memory;
}

struct simt_source simt_grid_source(struct simt_grid *grid, uint32_t number)
{
    return (struct simt_source){.next = next_of,
                                .step = step,
                                .ended = block_ended,
                                .missing = missing,
                                .where = where,
                                .breaks = breaks,
                                .context = &grid->stations[number]};
}

void simt_grid_attach(struct simt_grid *grid, uint32_t number, struct simt *simt)
{
    grid->stations[number].simt = simt;
    grid->stations[number].share = (uint32_t)(simt_queue(simt) - grid->parts.queue);
    tell_stacks(grid, number);
}

static struct simt_need need_of(const struct simt_grid *grid, const struct grid_launch *launch,
                                uint32_t registers)
{
    return (struct simt_need){
        .warps = grid_block_warps(launch, grid->stations[0].config->width),
        .threads = (uint32_t)grid_block_threads(launch),
        .registers = registers,
        .scratchpad = launch->scratchpad,
    };
}

/* Returns whether an empty multiprocessor can hold a block of the launch. */
static bool is_able(const struct simt_grid *grid, uint32_t number, const struct grid_launch *launch,
                    const struct simt_need *need)
{
    const struct simt_config *config = grid->stations[number].config;
    const struct grid_limits limits = {grid->parts.count, config->width, config->threads, config->scratchpad};
    return config->launches && grid_possible(launch, &limits) && simt_could(config, need);
}

static struct placement *place(const struct simt_grid *grid, const struct launched *launched)
{
    bool *able = alloc(grid->parts.count, sizeof *able);
    for (uint32_t i = 0; i < grid->parts.count; i++)
        able[i] = is_able(grid, i, &launched->launch, &launched->need);
    const struct placement_setup setup = {.policy = grid->parts.placement,
                                          .table = grid->parts.table,
                                          .launch = launched->number,
                                          .blocks = launched->blocks,
                                          .count = grid->parts.count,
                                          .parts = grid->groups,
                                          .able = able};
    struct placement *placement = placement_new(&setup);
    free(able);
    return placement;
}

bool simt_grid_possible(const struct simt_grid *grid, const struct grid_launch *launch, uint32_t registers)
{
    const struct simt_need need = need_of(grid, launch, registers);
    for (uint32_t i = 0; i < grid->parts.count; i++)
        if ((i == 0 || grid->stations[i].config != grid->stations[i - 1].config) &&
            is_able(grid, i, launch, &need))
            return true;
    return false;
}

bool simt_grid_room(const struct simt_grid *grid)
{
    return grid->waiting < SIMT_LAUNCHES;
}

void simt_grid_launch(struct simt_grid *grid, const struct grid_launch *launch, uint32_t registers,
                      uint64_t queue, uint64_t number)
{
    uint64_t now = now_of(grid);
    assert(grid->memory && simt_grid_room(grid) && simt_grid_possible(grid, launch, registers));
    struct launched *launched = alloc(1, sizeof *launched);
    *launched = (struct launched){.number = number, .queue = queue, .launch = *launch};
    launched->need = need_of(grid, launch, registers);
    launched->blocks = grid_blocks(launch);
    launched->placement = place(grid, launched);
    launched->settle = alloc(grid->parts.count, sizeof *launched->settle);
    launched->live = alloc(grid->parts.queues, sizeof *launched->live);
    launched->left = alloc(grid->parts.queues, sizeof *launched->left);
    LIST_APPEND(grid->first, grid->last, launched, next);
    if (grid->waiting++ == 0) {
        grid->since = now;
        tell_busy(grid, true);
    }
    schedule(grid, clock_edge(&grid->parts.clock, now));
}

bool simt_grid_done(const struct simt_grid *grid, uint64_t number)
{
    for (const struct launched *at = grid->first; at; at = at->next)
        if (number == 0 || at->number == number)
            return false;
    return true;
}

bool simt_grid_pending(const struct simt_grid *grid, uint64_t number, struct grid_pending *pending)
{
    bool any = number == 0 || number == UINT64_MAX;
    const struct launched *at = grid->first;
    while (at && !any && at->number != number)
        at = at->next;
    if (!at)
        return false;
    *pending = (struct grid_pending){
        .launch = at->launch, .blocks = at->blocks, .begun = at->placed, .ended = at->ended};
    for (const struct launched *more = any ? at->next : NULL; more; more = more->next)
        pending->others++;
    return true;
}

static uint64_t read_busy(const void *context)
{
    const struct simt_grid *grid = context;
    return grid->busy + (grid->waiting ? now_of(grid) - grid->since : 0);
}

void simt_grid_publish(struct simt_grid *grid, struct stats *stats, struct scope scope)
{
    stats_computed(stats, scope, "busy", read_busy, grid, "fs", "time with launches that had not ended");
}
