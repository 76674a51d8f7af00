#include "emu/jit/region.h"

#include <stdlib.h>
#include <string.h>

#include "emu/hart/exec.h"
#include "emu/hart/hart.h"
#include "emu/jit/region/flow.h"
#include "emu/jit/region/targets.h"
#include "emu/sim/alloc.h"

/* What is known about all blocks. */
struct profile {
    const struct hart *hart;
    const struct block_cache *cache;
    const struct region_limits *limits;
    uint32_t count;
    /* Programs with address translation, such as Linux, have too many blocks to look at all: facts are gathered when they are needed,
     * and targets of indirect jumps are those in the hart's jump cache. */
    bool lazy;
    bool pushed; /* the targets of indirect jumps are in the queue, or refused */
    struct fact {
        uint64_t entries, direct; /* all, and those through direct exits (unless lazy) */
        bool
            seen; /* it is in the queue, or has been, or is refused: the limit is the same for all but the first */
    } * facts;
};

static uint64_t exit_count(const struct block_exit *exit)
{
    return exit->slot->exit.count;
}

static uint64_t block_entries(const struct block_cache *cache, const struct block_view *view)
{
    uint64_t sum = 0;
    for (uint32_t e = 0; e < view->exits; e++) {
        struct block_exit exit = block_view_exit(cache, view, e);
        sum += exit_count(&exit);
    }
    return sum;
}

static void profile_init(struct profile *profile, const struct hart *hart)
{
    const struct block_cache *cache = hart->blocks;
    *profile = (struct profile){
        .hart = hart, .cache = cache, .count = block_view_count(cache), .lazy = hart->tlb != NULL};
    profile->facts = alloc(profile->count + 1, sizeof *profile->facts);
    for (uint32_t b = 0; !profile->lazy && b < profile->count; b++) {
        struct block_view view = block_view(cache, b);
        for (uint32_t e = 0; view.live && e < view.exits; e++) {
            struct block_exit exit = block_view_exit(cache, &view, e);
            uint64_t taken = exit_count(&exit);
            profile->facts[b].entries += taken;
            if (!taken || exit.indirect)
                continue;
            uint32_t to = block_view_find(cache, exit.slot->exit.to);
            if (to != UINT32_MAX)
                profile->facts[to].direct += taken;
        }
    }
}

/* Returns whether indirect jumps go to the block at least so often. */
static bool is_indirect(const struct profile *profile, uint32_t block, uint64_t least)
{
    const struct fact *fact = &profile->facts[block];
    if (!profile->lazy)
        return (fact->entries > fact->direct ? fact->entries - fact->direct : 0) >= least;
    const struct block_view view = block_view(profile->cache, block);
    return fact->entries >= least &&
           profile->hart->jump_cache[view.pc >> 1 & (HART_JUMP_ENTRIES - 1)] == view.first;
}

/* Returns how many of the block's instructions, from its first, run at least `least` times. */
static uint32_t warm_insns(const struct profile *profile, const struct block_view *view, uint64_t least)
{
    uint64_t left = 0;
    uint32_t limit = 0;
    for (uint32_t e = view->exits; e-- > 0;) {
        struct block_exit exit = block_view_exit(profile->cache, view, e);
        left += exit_count(&exit);
        if (left >= least) {
            limit = exit.retired;
            break;
        }
    }
    return limit;
}

/* Returns how many instructions the block has executed, of the first `limit`. */
static uint64_t executed_insns(const struct profile *profile, const struct block_view *view, uint32_t limit)
{
    uint64_t sum = 0;
    for (uint32_t e = 0; e < view->exits; e++) {
        struct block_exit exit = block_view_exit(profile->cache, view, e);
        sum += exit_count(&exit) * (exit.retired < limit ? exit.retired : limit);
    }
    return sum;
}

/* A queue of candidates, a heap: the hottest one is the first. */
struct queue {
    uint32_t *blocks;
    uint32_t count;
};

static bool is_hotter(const struct profile *profile, uint32_t a, uint32_t b)
{
    return profile->facts[a].entries > profile->facts[b].entries;
}

static void enter(struct queue *queue, const struct profile *profile, uint32_t block)
{
    uint32_t at = queue->count++;
    for (; at > 0 && is_hotter(profile, block, queue->blocks[(at - 1) / 2]); at = (at - 1) / 2)
        queue->blocks[at] = queue->blocks[(at - 1) / 2];
    queue->blocks[at] = block;
}

static void push(struct queue *queue, struct profile *profile, uint32_t block, uint64_t least)
{
    struct fact *fact = &profile->facts[block];
    const struct region_limits *limits = profile->limits;
    bool closed = block < limits->closed_count && limits->closed[block];
    if (fact->seen || closed)
        return;
    fact->seen = true;
    const struct block_view view = block_view(profile->cache, block);
    if (profile->lazy)
        fact->entries = block_entries(profile->cache, &view);
    if (fact->entries >= least && view.live)
        enter(queue, profile, block);
}

static uint32_t pop(struct queue *queue, const struct profile *profile)
{
    const uint32_t first = queue->blocks[0], last = queue->blocks[--queue->count];
    uint32_t at = 0;
    for (uint32_t next = 1; next < queue->count; at = next, next = 2 * at + 1) {
        if (next + 1 < queue->count && is_hotter(profile, queue->blocks[next + 1], queue->blocks[next]))
            next++;
        if (!is_hotter(profile, queue->blocks[next], last))
            break;
        queue->blocks[at] = queue->blocks[next];
    }
    queue->blocks[at] = last;
    return first;
}

/* Adds the blocks to which indirect jumps go. */
static void push_indirect(struct queue *queue, struct profile *profile, uint64_t least)
{
    if (profile->pushed)
        return;
    profile->pushed = true;
    for (uint32_t i = 0; profile->lazy && i < HART_JUMP_ENTRIES; i++) {
        uint32_t b = block_view_find(profile->cache, profile->hart->jump_cache[i]);
        if (b != UINT32_MAX)
            push(queue, profile, b, least);
    }
    for (uint32_t b = 0; !profile->lazy && b < profile->count; b++)
        if (is_indirect(profile, b, least))
            push(queue, profile, b, least);
}

/* Adds the blocks to which the block goes. */
static void push_successors(struct queue *queue, struct profile *profile, const struct region_block *block,
                            uint64_t least)
{
    bool indirect = false;
    for (uint32_t e = 0; e < block->view.exits; e++) {
        struct block_exit exit = block_view_exit(profile->cache, &block->view, e);
        if (exit.retired > block->limit || exit_count(&exit) < least)
            continue;
        if (exit.indirect) {
            indirect = true;
            continue;
        }
        uint32_t to = targets_block(profile->hart, exit.slot->exit.to);
        if (to != UINT32_MAX)
            push(queue, profile, to, least);
    }
    if (indirect)
        push_indirect(queue, profile, least);
}

static int by_first(const void *a, const void *b)
{
    const struct region_block *x = a, *y = b;
    return (x->view.first > y->view.first) - (x->view.first < y->view.first);
}

/* Marks the entries: the targets of backward exits, of indirect jumps, and of blocks outside. */
static void mark_entries(struct region *region, const struct profile *profile, uint64_t least)
{
    uint64_t *inside = alloc(region->count, sizeof *inside);
    for (uint32_t b = 0; b < region->count; b++) {
        const struct block_view *view = &region->blocks[b].view;
        for (uint32_t e = 0; e < view->exits; e++) {
            struct block_exit exit = block_view_exit(profile->cache, view, e);
            bool far;
            struct region_block *to = exit.indirect ? NULL
                                                    : (struct region_block *)(uintptr_t)region_target(
                                                          region, profile->hart, exit.slot->exit.to, &far);
            if (!to)
                continue;
            to->entry |= to->view.pc <= view->pc;
            if (exit.retired <= region->blocks[b].limit)
                inside[to - region->blocks] += exit_count(&exit);
        }
    }
    for (uint32_t b = 0; b < region->count; b++) {
        struct region_block *block = &region->blocks[b];
        block->indirect = is_indirect(profile, block_view_find(profile->cache, block->view.first), least);
        block->entry |= block->indirect || block->entries > inside[b] + least;
    }
    free(inside);
}

/* Adds blocks, hottest first, while there is room. */
static void grow(struct region *region, struct queue *queue, struct profile *profile,
                 const struct region_limits *limits)
{
    while (queue->count) {
        uint32_t b = pop(queue, profile);
        struct region_block block = {.view = block_view(profile->cache, b),
                                     .entries = profile->facts[b].entries};
        block.limit = warm_insns(profile, &block.view, limits->others);
        if (block.limit == 0 || (region->count && region->insns + block.limit > limits->most))
            continue;
        block.entry = region->count == 0;
        block.executed = executed_insns(profile, &block.view, block.limit);
        region->insns += block.limit;
        region->blocks[region->count++] = block;
        push_successors(queue, profile, &block, limits->others);
    }
}

void region_choose(struct region *region, const struct hart *hart, uint64_t pc,
                   const struct region_limits *limits)
{
    struct profile profile;
    *region = (struct region){0};
    uint32_t seed = block_view_at(hart->blocks, pc);
    if (seed == UINT32_MAX)
        return;
    struct block_view view = block_view(hart->blocks, seed);
    if ((view.first->run == hart->exec->compiled && !limits->again) ||
        block_entries(hart->blocks, &view) < limits->seed)
        return;
    profile_init(&profile, hart);
    profile.limits = limits;
    struct queue queue = {alloc(profile.count, sizeof *queue.blocks), 0};
    region->blocks = alloc(profile.count, sizeof *region->blocks);
    push(&queue, &profile, seed, 1);
    struct region_limits near = *limits;
    if (limits->near && near.others < profile.facts[seed].entries / limits->near)
        near.others = profile.facts[seed].entries / limits->near;
    grow(region, &queue, &profile, &near);
    qsort(region->blocks, region->count, sizeof *region->blocks, by_first);
    mark_entries(region, &profile, limits->others);
    flow_mark(region, hart);
    free(queue.blocks);
    free(profile.facts);
}

void region_free(struct region *region)
{
    free(region->blocks);
    *region = (struct region){0};
}
