#include "emu/simt/grid/grid.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/simt/warp_debug.h"

uint64_t grid_block_threads(const struct grid_launch *launch)
{
    return (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
}

uint64_t grid_blocks(const struct grid_launch *launch)
{
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

uint32_t grid_block_warps(const struct grid_launch *launch, uint32_t width)
{
    return (uint32_t)((grid_block_threads(launch) + width - 1) / width);
}

/* Returns the product of the three extents, or UINT64_MAX if it exceeds 32 bits. */
static uint64_t product(const uint32_t extents[3])
{
    uint64_t plane = (uint64_t)extents[0] * extents[1];
    return plane > UINT32_MAX || plane * extents[2] > UINT32_MAX ? UINT64_MAX : plane * extents[2];
}

static bool refuse(struct error *err, const uint32_t extents[3], const char *what, uint64_t limit,
                   const char *keys)
{
    return error_set(
        err, "%" PRIu32 " x %" PRIu32 " x %" PRIu32 " %s are not allowed; allowed: 1 to %" PRIu64 " in all%s",
        extents[0], extents[1], extents[2], what, limit, keys);
}

bool grid_check(const struct grid_launch *launch, const struct grid_limits *limits, struct error *err)
{
    uint64_t blocks = product(launch->grid), threads = product(launch->block);
    if (threads == 0 || threads > limits->block_threads)
        return refuse(err, launch->block, "threads of a block", limits->block_threads,
                      " (the least of simt.block_threads and, on a timed machine, simt.threads and "
                      "simt.warps * simt.width)");
    if (blocks == 0 || blocks > UINT32_MAX)
        return refuse(err, launch->grid, "blocks", UINT32_MAX, "");
    if (launch->scratchpad > limits->scratchpad)
        return error_set(err,
                         "%" PRIu32 " B of scratchpad are not allowed; allowed: up to %" PRIu64
                         " B (simt.scratchpad)",
                         launch->scratchpad, limits->scratchpad);
    return true;
}

bool grid_possible(const struct grid_launch *launch, const struct grid_limits *limits)
{
    struct error ignored;
    return grid_check(launch, limits, &ignored);
}

static bool make_room(struct grid_block *block, struct warp_memory *memory, uint32_t count, struct error *err)
{
    if (count > block->room) {
        struct warp **warps = realloc(block->warps, count * sizeof *warps);
        if (!warps)
            return error_set(err, "no memory for the warps of a block");
        block->warps = warps;
    }
    while (block->room < count) {
        if (!(block->warps[block->room] = warp_new(memory, err)))
            return false;
        block->room++;
    }
    return true;
}

static bool make_scratchpad(struct grid_block *block, uint64_t size, struct error *err)
{
    /* Round up, because an access may touch bytes beside those that it needs. */
    uint64_t room = (size + 63) / 64 * 64;
    if (room > block->scratchpad_room) {
        uint8_t *bytes = realloc(block->scratchpad, room);
        if (!bytes)
            return error_set(err, "no memory for the scratchpad of a block");
        block->scratchpad = bytes;
        block->scratchpad_room = room;
    }
    if (room)
        memset(block->scratchpad, 0, room);
    return true;
}

bool grid_block_start(struct grid_block *block, struct warp_memory *memory, const struct grid_launch *launch,
                      uint64_t index, uint32_t multiprocessor, uint32_t stacks, struct error *err)
{
    block->count = grid_block_warps(launch, memory->setup.width);
    if (!make_room(block, memory, block->count, err) || !make_scratchpad(block, launch->scratchpad, err))
        return false;
    struct warp_place place = {
        .block = {(uint32_t)(index % launch->grid[0]), (uint32_t)(index / launch->grid[0] % launch->grid[1]),
                  (uint32_t)(index / launch->grid[0] / launch->grid[1])},
        .launch = launch->number,
        .host = launch->host,
        .multiprocessor = multiprocessor,
        .scratchpad = block->scratchpad,
        .scratchpad_size = launch->scratchpad,
    };
    memcpy(place.block_size, launch->block, sizeof place.block_size);
    memcpy(place.grid_size, launch->grid, sizeof place.grid_size);
    for (uint32_t i = 0; i < block->count; i++) {
        place.warp = i;
        place.stacks = stacks + i;
        warp_start(block->warps[i], &place, launch->entry, launch->argument, launch->gp);
    }
    return true;
}

void grid_block_free(struct grid_block *block)
{
    for (uint32_t i = 0; i < block->room; i++)
        warp_free(block->warps[i]);
    free(block->warps);
    free(block->scratchpad);
    *block = (struct grid_block){0};
}

bool grid_watched(const struct grid_host *host, const struct warp *warp)
{
    const struct grid_watch *watch = host->watch;
    const struct warp_place *place = warp_where(warp);
    return watch && place->launch == watch->launch && place->warp == watch->warp &&
           (place->block[2] * place->grid_size[1] + place->block[1]) * place->grid_size[0] +
                   place->block[0] ==
               watch->block;
}

/* Returns whether all threads of the block have ended. */
static bool block_ended(const struct grid_block *block)
{
    for (uint32_t i = 0; i < block->count; i++) {
        if (warp_live(block->warps[i]))
            return false;
    }
    return true;
}

bool grid_block_meet(struct grid_block *block)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        if (warp_live(block->warps[i]) != warp_waiting(block->warps[i]))
            return false;
        waiting |= warp_waiting(block->warps[i]);
    }
    if (!waiting)
        return false;
    for (uint32_t i = 0; i < block->count; i++)
        warp_release(block->warps[i]);
    return true;
}

/* Handles the event that stopped a warp. Returns false if it ends the run, with *end set. */
static bool serve(struct grid *grid, struct warp *warp, enum grid_end *end)
{
    const struct grid_host *host = grid->host;
    const struct warp_report *report = &grid->report;
    uint64_t result;
    grid->warp = warp;
    *end = report->event == WARP_CALL ? GRID_STOP : report->event == WARP_BREAK ? GRID_PAUSE : GRID_TRAP;
    if (report->event == WARP_CALL) {
        if (!host->call(host->context, warp, report->lane, &result))
            return false;
        warp_called(warp, report->lane, result);
    }
    if (report->event == WARP_BREAK)
        (void)warp_debug_break(grid->memory->debug, warp);
    return report->event != WARP_TRAP && report->event != WARP_BREAK;
}

/* Returns whether a debugger stops the run after the reported step. */
static bool stepped(const struct grid *grid, struct warp *warp, enum grid_end *end)
{
    if (!warp_debug_steps(warp) || !warp_debug_stepped(grid->memory->debug, warp, &grid->report))
        return false;
    *end = GRID_PAUSE;
    return true;
}

/* Executes like warp_run(), step by step, and tells the host. */
static enum warp_event run_watched(const struct grid *grid, struct warp *warp, uint64_t max_insns,
                                   struct warp_report *report)
{
    uint64_t end = warp_insns(warp) + max_insns;
    enum warp_event event = WARP_DONE;
    while (event == WARP_DONE && warp_insns(warp) < end) {
        event = warp_step(warp, report);
        if (event != WARP_IDLE && event != WARP_AWAY && event != WARP_BREAK)
            grid->host->executed(grid->host->context, warp, report);
    }
    return event;
}

static bool run_slice(struct grid *grid, struct warp *warp, enum grid_end *end)
{
    uint64_t first = warp_insns(warp), threads = warp_thread_insns(warp), done = 0;
    enum warp_event event = WARP_DONE;
    bool goes_on = true, watched = grid_watched(grid->host, warp);
    while (goes_on && done < GRID_SLICE && event != WARP_IDLE) {
        event = watched
                    ? run_watched(grid, warp, warp_debug_steps(warp) ? 1 : GRID_SLICE - done, &grid->report)
                : warp_debug_steps(warp) ? warp_step(warp, &grid->report)
                                         : warp_run(warp, GRID_SLICE - done, &grid->report);
        goes_on = serve(grid, warp, end) && !stepped(grid, warp, end);
        done = warp_insns(warp) - first;
    }
    grid->insns += done;
    grid->thread_insns += warp_thread_insns(warp) - threads;
    return goes_on;
}

/* Returns whether a debugger holds all warps that could run. */
static bool is_held(const struct grid_block *block)
{
    bool held = false;
    for (uint32_t i = 0; i < block->count; i++) {
        bool able = warp_live(block->warps[i]) != warp_waiting(block->warps[i]);
        if (able && !warp_debug_held(block->warps[i]))
            return false;
        held |= able;
    }
    return held;
}

/* Runs the block's warps in turns until all threads have ended. Returns false if the run or the quantum ends
 * before. */
static bool run_block(struct grid *grid, enum grid_end *end)
{
    struct grid_block *block = &grid->block;
    do {
        for (; grid->turn < block->count; grid->turn++) {
            struct warp *warp = block->warps[grid->turn];
            bool able = warp_live(warp) != warp_waiting(warp) && !warp_debug_held(warp);
            if (able && !run_slice(grid, warp, end))
                return false;
            if (able && grid->insns >= grid->until) {
                grid->turn++; /* the warp's slice is over */
                *end = GRID_PAUSE;
                return false;
            }
        }
        grid->turn = 0;
        (void)grid_block_meet(block);
        if (is_held(block)) {
            *end = GRID_PAUSE;
            return false;
        }
    } while (!block_ended(block));
    return true;
}

void grid_begin(struct grid *grid, const struct grid_launch *launch)
{
    grid->launch = *launch;
    grid->next = 0;
    grid->turn = 0;
    grid->running = false;
    grid->launches++;
}

enum grid_end grid_advance(struct grid *grid, uint64_t quantum, struct error *err)
{
    uint64_t blocks = grid_blocks(&grid->launch);
    enum grid_end end;
    grid->until = quantum < UINT64_MAX - grid->insns ? grid->insns + quantum : UINT64_MAX;
    while (grid->running || grid->next < blocks) {
        if (!grid->running && !grid_block_start(&grid->block, grid->memory, &grid->launch, grid->next,
                                                (uint32_t)(grid->next % grid->limits.count), 0, err))
            return GRID_HOST;
        grid->next += !grid->running;
        grid->running = true;
        if (!run_block(grid, &end))
            return end;
        grid->running = false;
        grid->blocks++;
    }
    return GRID_DONE;
}

void grid_free(struct grid *grid)
{
    grid_block_free(&grid->block);
}

bool grid_pending(const struct grid *grid, struct grid_pending *pending)
{
    const struct grid_launch *launch = &grid->launch;
    *pending = (struct grid_pending){.launch = *launch,
                                     .blocks = grid_blocks(launch),
                                     .begun = grid->next,
                                     .ended = grid->next - grid->running};
    return launch->number != 0 && pending->ended < pending->blocks;
}
