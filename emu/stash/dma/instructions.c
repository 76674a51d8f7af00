/* dma.load and dma.store: a block's threads execute them; the first one acts. The bytes are copied at once, only the time of the
 * copy is the engine's. */
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/list.h"
#include "emu/simt/warp.h"
#include "emu/stash/dma/part.h"

/* The lanes of an instruction, checked. */
struct request {
    struct custom_lanes *lanes;
    struct warp_memory *memory;
    const struct warp_scratchpad *pad;
    struct dma_core *core;
    struct dma_block *block; /* NULL: it has not copied yet */
    bool store;
    struct croft_stash_map tile[CUSTOM_LANES];
};

static const struct warp_scratchpad no_pad;

static bool fail(struct custom_lanes *lanes, unsigned lane, struct trap trap)
{
    lanes->lane = lane;
    lanes->trap = trap;
    return false;
}

static bool refuse(struct custom_lanes *lanes, unsigned lane, enum croft_stash_error error, uint64_t value)
{
    return fail(lanes, lane,
                (struct trap){(enum trap_cause)CROFT_STASH_CAUSE, error | value << CROFT_STASH_NUMBER_BITS});
}

static bool no_access(const struct request *request, unsigned lane, bool store, uint64_t address)
{
    const bool pages = request->memory->setup.translate;
    const enum trap_cause cause =
        store ? (pages ? TRAP_STORE_PAGE : TRAP_STORE_ACCESS) : (pages ? TRAP_LOAD_PAGE : TRAP_LOAD_ACCESS);
    return fail(request->lanes, lane, (struct trap){cause, address});
}

static uint32_t thread_of(const struct request *request, unsigned lane)
{
    return warp_where(request->lanes->warp)->warp * request->memory->setup.width + lane;
}

static struct dma_block *find_block(const struct dma_core *core, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < core->block_count; i++)
        if (core->blocks[i].bytes == bytes)
            return &core->blocks[i];
    return NULL;
}

static struct dma_block *make_block(const struct request *request)
{
    struct dma_core *core = request->core;
    const struct warp_place *place = warp_where(request->lanes->warp);
    struct dma_block *block = find_block(core, NULL);
    if (!block) {
        core->blocks = alloc_resize(core->blocks, (core->block_count + 1) * sizeof *core->blocks);
        block = &core->blocks[core->block_count++];
    }
    *block = (struct dma_block){.bytes = request->pad->bytes,
                                .executed =
                                    alloc(place->block_size[0] * place->block_size[1] * place->block_size[2],
                                          sizeof *block->executed)};
    return block;
}

void dma_block_end(struct dma_block *block)
{
    for (uint32_t i = 0; i < block->copy_count; i++) {
        free(block->copies[i]->transfer.lines);
        free(block->copies[i]->waiters);
        free(block->copies[i]);
    }
    free(block->copies);
    free(block->executed);
    *block = (struct dma_block){.bytes = NULL};
}

/* Reads the descriptor of a lane, and checks it by itself. */
static bool read_tile(struct request *request, unsigned lane)
{
    const uint64_t address = request->lanes->operand[0][lane];
    struct croft_stash_map *tile = &request->tile[lane];
    const struct croft_stash_limits limits = {.local = request->pad->size,
                                              .global_end = CROFT_STASH_GLOBAL_END};
    if (address % sizeof(uint64_t))
        return refuse(request->lanes, lane, CROFT_STASH_ERROR_DESCRIPTOR, address);
    if (!warp_memory_load(request->memory, request->pad, address, tile, sizeof *tile))
        return no_access(request, lane, false, address);
    const struct croft_stash_fault fault = croft_stash_check(tile, &limits);
    return fault.error == CROFT_STASH_OK || refuse(request->lanes, lane, fault.error, fault.value);
}

/* Compares a lane's copy with that of the block. */
static bool check_same(struct request *request, unsigned lane, const struct croft_stash_map *other,
                       bool store)
{
    const unsigned differs = croft_stash_difference(&request->tile[lane], other);
    return (differs == CROFT_STASH_PARAMETERS && store == request->store) ||
           refuse(request->lanes, lane, CROFT_STASH_ERROR_DIFFERENT, differs);
}

/* Checks that all words of the tile can be accessed. */
static bool check_access(struct request *request, unsigned lane)
{
    const struct croft_stash_map *tile = &request->tile[lane];
    for (uint64_t offset = 0; offset < croft_stash_length(tile); offset += CROFT_STASH_WORD) {
        const uint64_t address = croft_stash_global(tile, offset);
        if (!warp_memory_can(request->memory, &no_pad, address, CROFT_STASH_WORD,
                             request->store ? WARP_STORE : WARP_LOAD))
            return no_access(request, lane, request->store, address);
    }
    return true;
}

/* Checks all lanes. *first is the lane that begins a copy, CUSTOM_LANES if none does. */
static bool check_lanes(struct request *request, unsigned *first)
{
    const struct dma_block *block = request->block;
    *first = CUSTOM_LANES;
    for (uint32_t left = request->lanes->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint32_t number = block ? block->executed[thread_of(request, lane)] : 0;
        if (!read_tile(request, lane))
            return false;
        if (block && number < block->copy_count) {
            const struct dma_copy *copy = block->copies[number];
            if (!check_same(request, lane, &copy->tile, copy->transfer.store))
                return false;
        } else if (*first < CUSTOM_LANES) {
            if (!check_same(request, lane, &request->tile[*first], request->store))
                return false;
        } else {
            *first = lane;
            if (!check_access(request, lane))
                return false;
        }
    }
    return true;
}

/* Copies the bytes of a tile, and stores its lines in the order of its words. Returns their number. */
static uint32_t copy_words(struct request *request, const struct croft_stash_map *tile,
                           struct dma_line *lines)
{
    const uint64_t line_bytes = request->core->line;
    uint8_t *local = request->pad->bytes + tile->stash_base;
    uint32_t count = 0;
    for (uint64_t offset = 0; offset < croft_stash_length(tile); offset += CROFT_STASH_WORD) {
        const uint64_t address = croft_stash_global(tile, offset);
        uint64_t physical;
        (void)(request->store
                   ? warp_memory_store(request->memory, &no_pad, address, local + offset, CROFT_STASH_WORD)
                   : warp_memory_load(request->memory, &no_pad, address, local + offset, CROFT_STASH_WORD));
        (void)warp_memory_place(request->memory, address, request->store ? WARP_STORE : WARP_LOAD, &physical);
        const uint64_t line = physical & ~(line_bytes - 1);
        if (count == 0 || lines[count - 1].line != line)
            lines[count++] = (struct dma_line){.line = line};
        lines[count - 1].mask |= UINT64_C(1) << (physical - line) / CROFT_STASH_WORD;
    }
    return count;
}

static void copied(struct dma_transfer *transfer, uint64_t now)
{
    struct dma_copy *copy = CONTAINER_OF(transfer, struct dma_copy, transfer);
    copy->ended = true;
    for (uint32_t i = 0; i < copy->waiter_count; i++)
        custom_done(copy->waiters[i], now);
}

static void begin(struct request *request, const struct croft_stash_map *tile)
{
    struct dma_block *block = request->block;
    struct dma_copy *copy = alloc(1, sizeof *copy);
    copy->tile = *tile;
    copy->transfer.store = request->store;
    copy->transfer.done = copied;
    copy->transfer.lines = alloc(croft_stash_length(tile) / CROFT_STASH_WORD, sizeof *copy->transfer.lines);
    copy->transfer.count = copy_words(request, tile, copy->transfer.lines);
    block->copies = alloc_resize(block->copies, (block->copy_count + 1) * sizeof(struct dma_copy *));
    block->copies[block->copy_count++] = copy;
    dma_engine_begin(request->core->engine, &copy->transfer, request->lanes->time);
}

/* Makes the warp wait for a copy, if it has not ended. */
static void wait_for(struct dma_copy *copy, struct custom_waiter *waiter)
{
    if (copy->ended || !waiter || (copy->waiter_count && copy->waiters[copy->waiter_count - 1] == waiter))
        return;
    copy->waiters = alloc_resize(copy->waiters, (copy->waiter_count + 1) * sizeof(struct custom_waiter *));
    copy->waiters[copy->waiter_count++] = custom_halt(waiter);
}

bool dma_instruction_lanes(void *context, struct custom_lanes *lanes)
{
    struct dma_part *part = context;
    struct request request = {.lanes = lanes,
                              .memory = warp_memory_of(lanes->warp),
                              .pad = warp_scratchpad(lanes->warp),
                              .core = &part->cores[warp_where(lanes->warp)->multiprocessor],
                              .store = lanes->insn->id == INSN_dma_store};
    unsigned first;
    request.block = request.pad->bytes ? find_block(request.core, request.pad->bytes) : NULL;
    if (!check_lanes(&request, &first))
        return false;
    if (!request.block)
        request.block = make_block(&request);
    if (first < CUSTOM_LANES)
        begin(&request, &request.tile[first]);
    for (uint32_t left = lanes->mask; left; left &= left - 1) {
        uint32_t *number = &request.block->executed[thread_of(&request, (unsigned)__builtin_ctz(left))];
        wait_for(request.block->copies[(*number)++], lanes->waiter);
    }
    return true;
}

bool dma_instruction(void *context, struct custom_call *call)
{
    (void)context, (void)call;
    return false; /* harts have no engine */
}
