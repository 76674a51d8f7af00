#include "emu/hart/block_view.h"

#include "emu/hart/block/state.h"

uint32_t block_view_count(const struct block_cache *cache)
{
    return cache->block_count;
}

static bool is_live(const struct block_cache *cache, const struct block *block)
{
    const struct block_mode *mode = &cache->contexts[cache->context].mode;
    struct mmu_leaf leaf;
    return !block->dropped && block->mode.privilege == mode->privilege &&
           block->mode.fp_dirty == mode->fp_dirty && block->mode.fp_host == mode->fp_host &&
           space_known_leaf(cache, block->pc, &leaf) && block->bits == leaf.bits &&
           block->physical == leaf_place(&leaf, block->pc);
}

struct block_view block_view(const struct block_cache *cache, uint32_t block)
{
    const struct block *at = &cache->blocks[block];
    bool last = block + 1 == cache->block_count;
    return (struct block_view){.pc = at->pc,
                               .first = &cache->slots[at->slot],
                               .insn = at->record,
                               .exit = at->exit,
                               .insns = (last ? cache->record_count : at[1].record) - at->record,
                               .exits = (last ? cache->exit_count : at[1].exit) - at->exit,
                               .live = is_live(cache, at)};
}

uint32_t block_view_find(const struct block_cache *cache, const union op *first)
{
    uint32_t slot = (uint32_t)(first - cache->slots), low = 0, high = cache->block_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (cache->blocks[middle].slot <= slot)
            low = middle;
        else
            high = middle;
    }
    return low < high && cache->blocks[low].slot == slot ? low : UINT32_MAX;
}

uint32_t block_view_at(const struct block_cache *cache, uint64_t pc)
{
    struct mmu_leaf leaf;
    return space_known_leaf(cache, pc, &leaf) ? block_number(cache, &leaf, pc) : UINT32_MAX;
}

struct block_insn block_view_insn(const struct block_cache *cache, const struct block_view *view, uint32_t i)
{
    const struct record *record = &cache->records[view->insn + i];
    return (struct block_insn){record->pc, &record->insn, &cache->slots[record->slot]};
}

struct block_exit block_view_exit(const struct block_cache *cache, const struct block_view *view, uint32_t i)
{
    const struct exit *exit = &cache->exits[view->exit + i];
    return (struct block_exit){&cache->slots[exit->slot], exit->retired, exit->target == EXIT_INDIRECT};
}

union op *block_view_slots(const struct block_cache *cache)
{
    return cache->slots;
}
