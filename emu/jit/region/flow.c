#include "emu/jit/region/flow.h"

#include <stdlib.h>
#include <string.h>

#include "emu/hart/hart.h"
#include "emu/sim/alloc.h"

/* Instructions of a small loop of several blocks, and of a block that goes back to itself. Only a loop's exits write registers
 * back, each of them all that the loop writes. */
enum { LOOP_MOST = 48, SINGLE_MOST = 128 };

enum state { NEW, ACTIVE, DONE };

struct flow {
    struct region *region;
    const struct hart *hart;
    const struct block_cache *cache;
    uint8_t *state;  /* enum state, by block */
    uint32_t *close; /* by block: the head to which it goes back, plus 1; 0: none */
    bool *inside;    /* by block: it is in the loop that is looked at */
    uint32_t loops;
};

/* Returns the block of the region to which an exit goes, or NULL. */
static struct region_block *exit_target(const struct flow *flow, const struct region_block *from, uint32_t e,
                                        uint32_t *retired)
{
    struct block_exit exit = block_view_exit(flow->cache, &from->view, e);
    *retired = exit.retired;
    if (exit.indirect || exit.retired > from->limit)
        return NULL;
    bool far;
    const struct region_block *to = region_target(flow->region, flow->hart, exit.slot->exit.to, &far);
    return to ? &flow->region->blocks[to - flow->region->blocks] : NULL;
}

/* Goes through what a block leads to, depth first: at most as deep as a region has instructions. */
static void visit(struct flow *flow, uint32_t b)
{
    struct region_block *block = &flow->region->blocks[b];
    flow->state[b] = ACTIVE;
    for (uint32_t e = 0; e < block->view.exits; e++) {
        uint32_t retired;
        struct region_block *to = exit_target(flow, block, e, &retired);
        if (!to)
            continue;
        uint32_t number = (uint32_t)(to - flow->region->blocks);
        if (flow->state[number] == NEW)
            visit(flow, number);
        if (flow->state[number] == ACTIVE) {
            to->head = true;
            flow->close[b] = number + 1;
        }
        if (!to->head && retired + to->need > block->need)
            block->need = retired + to->need;
    }
    flow->state[b] = DONE;
}

static bool leads_inside(const struct flow *flow, const struct region_block *block)
{
    for (uint32_t e = 0; e < block->view.exits; e++) {
        uint32_t retired;
        const struct region_block *to = exit_target(flow, block, e, &retired);
        if (to && flow->inside[to - flow->region->blocks])
            return true;
    }
    return false;
}

/* Takes a block into the loop. Returns whether there is room, and it is in no other loop. */
static bool take(struct flow *flow, uint32_t b, uint32_t *insns, uint32_t most)
{
    flow->inside[b] = true;
    *insns += flow->region->blocks[b].limit;
    return *insns <= most && !flow->region->blocks[b].loop;
}

/* Finds the loop that a block closes: what leads to it without going through its head. Returns false if it is not a small one. */
static bool find_loop(struct flow *flow, uint32_t tail)
{
    uint32_t head = flow->close[tail] - 1, insns = 0;
    bool small, grows = true;
    memset(flow->inside, 0, flow->region->count * sizeof *flow->inside);
    if (tail == head)
        return take(flow, tail, &insns, SINGLE_MOST);
    small = take(flow, tail, &insns, LOOP_MOST) && take(flow, head, &insns, LOOP_MOST);
    flow->inside[head] = false; /* what leads to the head is not in the loop */
    while (small && grows) {
        grows = false;
        for (uint32_t b = 0; small && b < flow->region->count; b++)
            if (b != head && !flow->inside[b] && leads_inside(flow, &flow->region->blocks[b])) {
                small = take(flow, b, &insns, LOOP_MOST);
                grows = true;
            }
    }
    flow->inside[head] = true;
    return small;
}

/* Numbers the small loops; of nested ones, the one that is found first, a block that goes back to itself if there is one. */
static void number_loops(struct flow *flow, bool single)
{
    for (uint32_t b = 0; b < flow->region->count; b++) {
        if (!flow->close[b] || (flow->close[b] == b + 1) != single || !find_loop(flow, b))
            continue;
        flow->loops++;
        for (uint32_t i = 0; i < flow->region->count; i++)
            if (flow->inside[i])
                flow->region->blocks[i].loop = flow->loops;
    }
}

void flow_mark(struct region *region, const struct hart *hart)
{
    struct flow flow = {.region = region, .hart = hart, .cache = hart->blocks};
    flow.state = alloc(region->count, sizeof *flow.state);
    flow.close = alloc(region->count, sizeof *flow.close);
    flow.inside = alloc(region->count, sizeof *flow.inside);
    for (uint32_t b = 0; b < region->count; b++)
        region->blocks[b].head = region->blocks[b].entry || region->blocks[b].indirect;
    for (uint32_t b = 0; b < region->count; b++)
        if (flow.state[b] == NEW)
            visit(&flow, b);
    number_loops(&flow, true);
    number_loops(&flow, false);
    free(flow.state);
    free(flow.close);
    free(flow.inside);
}
