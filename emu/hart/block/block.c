#include "emu/hart/block/state.h"

#include "emu/hart/exec.h"
#include "emu/hart/hart.h"
#include "emu/hart/mmu.h"

static bool drop_stored(void *context, uint64_t page, unsigned first, unsigned last)
{
    return block_drop_stored(((struct hart *)context)->blocks, page, first, last);
}

static void leave_stores(void *context, uint64_t page, unsigned end, bool first)
{
    mmu_leave_code(context, page, end, first);
}

struct block_cache *block_cache_new(struct hart *hart, struct error *err)
{
    struct block_cache *cache = block_store_new(err);
    if (!cache)
        return NULL;
    cache->code_pages = hart->memory->code;
    cache->watcher = (struct code_watcher){.stored = drop_stored, .marked = leave_stores, .context = hart};
    code_pages_watch(cache->code_pages, &cache->watcher);
    return cache;
}

void block_cache_free(struct block_cache *cache)
{
    if (!cache)
        return;
    code_pages_leave(cache->code_pages, &cache->watcher);
    space_free(cache);
    block_store_free(cache);
}

static const union op *add_block(struct hart *hart, const struct mmu_leaf *leaf, uint64_t pc)
{
    struct block_cache *cache = hart->blocks;
    cache->dropped = hart->exec->dropped;
    const union op *first = translate(hart, cache, leaf, pc);
    block_store_enter(cache);
    return first;
}

const union op *block_at_kept(struct hart *hart, uint64_t pc)
{
    struct mmu_leaf leaf;
    bool mapped = space_leaf(hart, pc, &leaf);
    const union op *first = block_lookup(hart->blocks, &leaf, pc);
    if ((!first && block_store_nearly_full(hart->blocks)) || hart->paging_due)
        return NULL;
    if (!first)
        first = add_block(hart, &leaf, pc);
    if (hart->paging_due)
        return NULL;
    if (mapped) /* otherwise something may be mapped there next time */
        hart->jump_cache[pc >> 1 & (HART_JUMP_ENTRIES - 1)] = first;
    return first;
}

const union op *block_at(struct hart *hart, uint64_t pc)
{
    const union op *first = block_at_kept(hart, pc);
    if (first || hart->paging_due)
        return first;
    block_store_empty(hart->blocks);
    return block_at_kept(hart, pc);
}

void block_update(struct hart *hart)
{
    unsigned stale = hart->stale;
    hart->stale = 0;
    if (stale & HART_STALE_CODE)
        block_store_empty(hart->blocks);
    if (stale & HART_STALE_LEAVES)
        space_fence(hart->blocks, &hart->fence);
    space_choose(hart);
}
