#include "emu/hart/block/space.h"

#include <stdlib.h>
#include <string.h>

#include "emu/hart/block/state.h"
#include "emu/hart/fp.h"
#include "emu/hart/hart.h"
#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"

/* Page sizes by index. */
enum { SIZES = 4, SIZE_FIRST = 12, SIZE_STEP = 9 };

static void empty_context(const struct block_cache *cache, struct context *context)
{
    for (unsigned i = 0; i < HART_JUMP_ENTRIES; i++)
        context->jump_cache[i] = &cache->slots[NOWHERE];
    if (context->leaf_count)
        memset(context->leaves, 0, LEAVES * sizeof *context->leaves);
    context->leaf_count = 0;
    context->sizes = 0;
    context->stale = false;
}

void space_forget(struct block_cache *cache)
{
    for (unsigned i = 0; i < cache->context_count; i++)
        empty_context(cache, &cache->contexts[i]);
}

void space_forget_jump(struct block_cache *cache, uint64_t pc)
{
    for (unsigned i = 0; i < cache->context_count; i++)
        cache->contexts[i].jump_cache[pc >> 1 & (HART_JUMP_ENTRIES - 1)] = &cache->slots[NOWHERE];
}

void space_free(struct block_cache *cache)
{
    for (unsigned i = 0; i < CONTEXTS; i++) {
        free(cache->contexts[i].jump_cache);
        free(cache->contexts[i].leaves);
    }
}

static bool same_mode(const struct block_mode *a, const struct block_mode *b)
{
    return a->privilege == b->privilege && a->fp_dirty == b->fp_dirty && a->fp_host == b->fp_host;
}

/* Returns the index of a context for the space and mode: a new one, or the one used longest ago. */
static unsigned add_context(struct block_cache *cache, uint64_t space, const struct block_mode *mode)
{
    unsigned oldest = cache->context_count;
    if (cache->context_count < CONTEXTS)
        cache->context_count++;
    else
        oldest = 0;
    for (unsigned i = 0; cache->contexts[oldest].jump_cache && i < CONTEXTS; i++)
        if (cache->contexts[i].used < cache->contexts[oldest].used)
            oldest = i;
    struct context *context = &cache->contexts[oldest];
    if (!context->jump_cache) {
        context->jump_cache = alloc(HART_JUMP_ENTRIES, sizeof *context->jump_cache);
        context->leaves = alloc(LEAVES, sizeof *context->leaves);
    }
    context->space = space;
    context->mode = *mode;
    empty_context(cache, context);
    return oldest;
}

static bool is_translated(const struct context *context)
{
    return context->mode.privilege != PRIV_M && context->space >> SATP_MODE_SHIFT != SATP_BARE;
}

/* Compares the leaves with the page tables of the context's address space, which must be the current one. */
static void check_leaves(const struct hart *hart, const struct block_cache *cache, struct context *context)
{
    context->stale = false;
    for (unsigned i = 0; i < LEAVES && context->leaf_count; i++) {
        const struct mmu_leaf *leaf = &context->leaves[i];
        if (leaf->bits && !mmu_leaf_holds(hart, leaf, (enum privilege)context->mode.privilege))
            empty_context(cache, context);
    }
}

void space_choose(struct hart *hart)
{
    struct block_cache *cache = hart->blocks;
    const struct priv *priv = &hart->priv;
    bool translated = hart->privilege != PRIV_M && priv->satp >> SATP_MODE_SHIFT != SATP_BARE;
    /* the address of a table in memory: its mode bits are 0, unlike those of a satp that translates */
    uint64_t ranges = hart->privilege == PRIV_U ? priv->mrange : 0;
    const uint64_t space = ranges ? ranges : translated ? priv->satp : 0;
    const struct block_mode mode = {.privilege = hart->privilege,
                                    .fp_dirty = (priv->mstatus & MSTATUS_FS) == MSTATUS_FS,
                                    .fp_host = fp_host_can(hart->frm)};
    unsigned i = cache->context;
    if (i >= cache->context_count || cache->contexts[i].space != space ||
        !same_mode(&cache->contexts[i].mode, &mode)) {
        i = 0;
        while (i < cache->context_count &&
               (cache->contexts[i].space != space || !same_mode(&cache->contexts[i].mode, &mode)))
            i++;
        if (i == cache->context_count)
            i = add_context(cache, space, &mode);
        cache->contexts[i].used = ++cache->choices;
    }
    cache->context = i;
    if (cache->contexts[i].stale)
        check_leaves(hart, cache, &cache->contexts[i]);
    hart->jump_cache = cache->contexts[i].jump_cache;
}

static uint32_t leaf_slot(uint64_t address, unsigned bits)
{
    return (uint32_t)((address >> bits) * MIX_FACTOR >> 40) & (LEAVES - 1);
}

/* Returns the slot of the leaf of that size at the address, or an empty one. */
static struct mmu_leaf *find_leaf(const struct context *context, uint64_t address, unsigned bits)
{
    uint64_t base = address >> bits << bits;
    uint32_t i = leaf_slot(base, bits);
    while (context->leaves[i].bits && (context->leaves[i].address != base || context->leaves[i].bits != bits))
        i = (i + 1) & (LEAVES - 1);
    return &context->leaves[i];
}

static const struct mmu_leaf *known_leaf(const struct context *context, uint64_t address)
{
    for (unsigned size = 0; size < SIZES; size++) {
        if (!(context->sizes >> size & 1))
            continue;
        const struct mmu_leaf *leaf = find_leaf(context, address, SIZE_FIRST + size * SIZE_STEP);
        if (leaf->bits)
            return leaf;
    }
    return NULL;
}

bool space_known_leaf(const struct block_cache *cache, uint64_t pc, struct mmu_leaf *leaf)
{
    const struct context *context = &cache->contexts[cache->context];
    if (!is_translated(context)) {
        *leaf = (struct mmu_leaf){.physical = context->space, .bits = LEAF_EVERYTHING};
        return true;
    }
    const struct mmu_leaf *known = known_leaf(context, pc);
    if (known)
        *leaf = *known;
    return known != NULL;
}

bool space_leaf(struct hart *hart, uint64_t pc, struct mmu_leaf *leaf)
{
    struct block_cache *cache = hart->blocks;
    struct context *context = &cache->contexts[cache->context];
    if (space_known_leaf(cache, pc, leaf))
        return true;
    if (!mmu_find_code(hart, pc, leaf)) {
        *leaf = (struct mmu_leaf){.address = pc, .physical = UINT64_MAX, .bits = 1};
        return false;
    }
    if (context->leaf_count == LEAVES_MAX)
        empty_context(cache, context);
    *find_leaf(context, pc, leaf->bits) = *leaf;
    context->leaf_count++;
    context->sizes |= (uint8_t)(1U << (leaf->bits - SIZE_FIRST) / SIZE_STEP);
    return true;
}

void space_fence(struct block_cache *cache, const struct mmu_fence *fence)
{
    for (unsigned i = 0; i < cache->context_count; i++) {
        struct context *context = &cache->contexts[i];
        if (!is_translated(context))
            continue;
        if (fence->one_space && (context->space >> SATP_ASID_SHIFT & SATP_ASID) != fence->asid)
            continue;
        if (fence->one_page && !known_leaf(context, fence->address))
            continue;
        context->stale = true;
    }
}
