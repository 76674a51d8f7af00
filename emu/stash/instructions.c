/* stash.addmap and stash.chgmap: a block's threads execute them; the first one acts. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/simt/warp.h"
#include "emu/stash/part.h"

/* The lanes of an instruction, checked. */
struct request {
    struct stash_part *part;
    struct stash_space *space;
    struct custom_lanes *lanes;
    struct warp_memory *memory;
    bool changes; /* ChgMap */
    struct stash_tile tile[CUSTOM_LANES];
    uint32_t number[CUSTOM_LANES]; /* of the AddMap, or of the ChgMap, in the block */
};

static bool fail(struct custom_lanes *lanes, unsigned lane, enum croft_stash_error error, uint64_t value)
{
    lanes->lane = lane;
    lanes->trap = (struct trap){(enum trap_cause)CROFT_STASH_CAUSE, error | value << CROFT_STASH_NUMBER_BITS};
    return false;
}

static uint32_t *count_of(const struct request *request, unsigned lane)
{
    const uint32_t thread = warp_where(request->lanes->warp)->warp * request->memory->setup.width + lane;
    assert(thread < request->space->threads);
    return request->changes ? &request->space->changed[thread] : &request->space->added[thread];
}

/* Reads the descriptor of a lane. */
static bool read_tile(struct request *request, unsigned lane)
{
    struct custom_lanes *lanes = request->lanes;
    const uint64_t address = lanes->operand[0][lane];
    if (address % sizeof(uint64_t))
        return fail(lanes, lane, CROFT_STASH_ERROR_DESCRIPTOR, address);
    if (warp_memory_load(request->memory, warp_scratchpad(lanes->warp), address, &request->tile[lane],
                         sizeof request->tile[lane])) {
        request->tile[lane].global_base += request->changes ? 0 : lanes->operand[1][lane];
        return true;
    }
    lanes->lane = lane;
    lanes->trap =
        (struct trap){request->memory->setup.translate ? TRAP_LOAD_PAGE : TRAP_LOAD_ACCESS, address};
    return false;
}

static const struct croft_stash_map *as_map(const struct stash_tile *tile)
{
    return (const struct croft_stash_map *)tile;
}

/* Checks a descriptor by itself, and against the hardware's tables and the block's other maps than `except`. */
static bool check_tile(struct request *request, unsigned lane, unsigned except)
{
    const struct stash_space *space = request->space;
    const struct stash_config *config = &request->part->config;
    const struct stash_tile *tile = &request->tile[lane];
    const struct croft_stash_limits limits = {space->size, CROFT_STASH_GLOBAL_END, config->pages, STASH_PAGE};
    const struct croft_stash_fault fault = croft_stash_check(as_map(tile), &limits);
    if (fault.error != CROFT_STASH_OK)
        return fail(request->lanes, lane, fault.error, fault.value);
    for (unsigned i = 0; i < space->map_count; i++)
        if (i != except && croft_stash_overlap(as_map(tile), as_map(&space->maps[i].tile)))
            return fail(request->lanes, lane, CROFT_STASH_ERROR_OVERLAP, tile->stash_base);
    return true;
}

static bool check_same(struct request *request, unsigned lane, const struct stash_tile *other)
{
    const unsigned differs = croft_stash_difference(as_map(&request->tile[lane]), as_map(other));
    return differs == CROFT_STASH_PARAMETERS ||
           fail(request->lanes, lane, CROFT_STASH_ERROR_DIFFERENT, differs);
}

/* Checks that the pages of a new tile fit the VP-map beside those of all running blocks, and of maps that wait. */
static bool check_pages(struct request *request, unsigned lane, int change)
{
    const struct stash_core *core = request->space->core;
    unsigned count = 1;
    for (const struct stash_operation *waits = core->operations; waits; waits = waits->next)
        count++;
    const struct stash_tile **tiles = alloc(count, sizeof *tiles);
    tiles[0] = &request->tile[lane];
    count = 1;
    for (const struct stash_operation *waits = core->operations; waits; waits = waits->next)
        tiles[count++] = &waits->tile;
    const unsigned pages =
        stash_needs(core->stash, request->space->number, request->space->waiting ? -1 : change, tiles, count);
    free(tiles);
    return pages <= request->part->config.pages ||
           fail(request->lanes, lane, CROFT_STASH_ERROR_VP_MAP, pages);
}

/* Checks that the stash-map has an entry for another map beside those of all running blocks, and of maps that wait. */
static bool check_entries(struct request *request, unsigned lane)
{
    const struct stash_core *core = request->space->core;
    uint64_t maps = stash_active(core->stash) + 1;
    for (const struct stash_operation *waits = core->operations; waits; waits = waits->next)
        maps += waits->change < 0;
    return maps <= request->part->config.entries ||
           fail(request->lanes, lane, CROFT_STASH_ERROR_STASH_MAP, maps);
}

/* Checks a lane's AddMap. *first is the lane that adds the map, CUSTOM_LANES if none does so far. */
static bool check_add(struct request *request, unsigned lane, unsigned *first)
{
    const struct stash_space *space = request->space;
    const uint32_t number = request->number[lane];
    if (number < space->map_count)
        return check_same(request, lane, &space->maps[number].added);
    if (*first < CUSTOM_LANES)
        return check_same(request, lane, &request->tile[*first]);
    *first = lane;
    if (number >= request->part->config.maps)
        return fail(request->lanes, lane, CROFT_STASH_ERROR_ENTRIES, number + 1);
    return check_tile(request, lane, STASH_MAPS) && check_entries(request, lane) &&
           check_pages(request, lane, -1);
}

static bool check_index(struct request *request, unsigned lane, uint64_t wanted)
{
    const uint64_t index = request->lanes->operand[1][lane];
    return (index == wanted && index < request->space->map_count) ||
           fail(request->lanes, lane, CROFT_STASH_ERROR_INDEX, index);
}

static bool check_change(struct request *request, unsigned lane, unsigned *first)
{
    const struct stash_space *space = request->space;
    const uint32_t number = request->number[lane];
    const uint64_t *indices = request->lanes->operand[1];
    if (number < space->change_count)
        return check_index(request, lane, space->changes[number].index) &&
               check_same(request, lane, &space->changes[number].tile);
    if (*first < CUSTOM_LANES)
        return check_index(request, lane, indices[*first]) &&
               check_same(request, lane, &request->tile[*first]);
    *first = lane;
    return check_index(request, lane, indices[lane]) && check_tile(request, lane, (unsigned)indices[lane]) &&
           check_pages(request, lane, (int)indices[lane]);
}

static void note_change(struct stash_space *space, const struct stash_tile *tile, uint64_t index)
{
    if (space->change_count == space->change_room) {
        space->change_room = 2 * space->change_room + 4;
        space->changes = alloc_resize(space->changes, space->change_room * sizeof *space->changes);
    }
    space->changes[space->change_count++] = (struct stash_change){*tile, index};
}

/* Does what the lane `first` is the first one to ask for. */
static void act(struct request *request, unsigned first)
{
    struct custom_lanes *lanes = request->lanes;
    struct stash_space *space = request->space;
    const struct stash_tile *tile = &request->tile[first];
    int change = -1;
    space->core->memory = request->memory;
    if (request->changes) {
        change = (int)lanes->operand[1][first];
        note_change(space, tile, (uint64_t)change);
        stash_space_change(space, (unsigned)change, tile, request->memory);
    } else {
        stash_space_add(space, tile);
    }
    stash_core_operate(space->core, space, change, tile, lanes->waiter, lanes->time);
}

/* Checks all lanes, and returns whether all may go on. */
static bool check_lanes(struct request *request, unsigned *first)
{
    *first = CUSTOM_LANES;
    for (uint32_t left = request->lanes->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        request->number[lane] = *count_of(request, lane);
        if (!read_tile(request, lane) || !(request->changes ? check_change : check_add)(request, lane, first))
            return false;
    }
    return true;
}

bool stash_instruction_lanes(void *context, struct custom_lanes *lanes)
{
    struct request request = {.part = context, .lanes = lanes, .memory = warp_memory_of(lanes->warp)};
    unsigned first;
    request.space = stash_space_of(context, warp_scratchpad(lanes->warp)->bytes);
    request.changes = lanes->insn->id == INSN_stash_chgmap;
    if (!request.space || (!request.changes && lanes->insn->id != INSN_stash_addmap) ||
        !check_lanes(&request, &first))
        return false;
    if (first < CUSTOM_LANES)
        act(&request, first);
    else if (request.space->waiting)
        stash_core_wait(request.space->core, request.space, lanes->waiter);
    for (uint32_t left = lanes->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        ++*count_of(&request, lane);
        lanes->result[lane] = request.changes ? lanes->operand[1][lane] : request.number[lane];
    }
    return true;
}

bool stash_instruction(void *context, struct custom_call *call)
{
    (void)context, (void)call;
    return false; /* harts have no stash */
}
