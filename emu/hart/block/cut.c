#include "emu/hart/block/state.h"
#include "emu/hart/block_view.h"
#include "emu/hart/exec.h"
#include "emu/hart/hart.h"

/* Returns whether the instruction's op may execute the next one, too (fuse.def). */
static bool may_be_fused(const struct exec_table *exec, const struct record *record, const union op *op)
{
    for (unsigned source = 0; source < OP_SOURCES; source++)
        if (op->run == exec->rows[record->insn.id][source])
            return false;
    return op->run != exec->truncating[record->insn.id];
}

/* Returns the last instruction, of number `most` at most, before which the block can be left: that of an op that is not the first one,
 * and no half of a pair's. 0: there is none. A followed jump belongs to the next instruction's op. */
static uint32_t last_stop(const struct hart *hart, const struct block *block, uint32_t most)
{
    const struct block_cache *cache = hart->blocks;
    const struct record *records = &cache->records[block->record];
    uint32_t last = most, before;
    while (last > 0 && records[last].slot == records[last + 1].slot)
        last--;
    before = last;
    while (before > 0 && records[before].slot == records[last].slot)
        before--;
    if (before == 0 && records[0].slot == records[last].slot)
        return 0;
    const bool fused = may_be_fused(hart->exec, &records[before], &cache->slots[records[before].slot]);
    last = fused ? before : last;
    return records[last].slot == records[0].slot ? 0 : last;
}

/* Returns the number of the translated block at pc, or UINT32_MAX. The block that the jump cache has is found at once. */
static uint32_t block_here(const struct hart *hart)
{
    const struct block_cache *cache = hart->blocks;
    const union op *first = hart->jump_cache[hart->pc >> 1 & (HART_JUMP_ENTRIES - 1)];
    const uint32_t slot = (uint32_t)(first - cache->slots);
    uint32_t *found = &cache->found[slot & (FOUND - 1)];
    if (first[-1].head.pc == hart->pc && *found < cache->block_count && cache->blocks[*found].slot == slot &&
        !cache->blocks[*found].dropped)
        return *found;
    const uint32_t block = block_view_at(cache, hart->pc);
    if (block != UINT32_MAX)
        cache->found[cache->blocks[block].slot & (FOUND - 1)] = block;
    return block;
}

const union op *block_cut(const struct hart *hart, uint64_t most, struct block_cut *cut)
{
    const struct block_cache *cache = hart->blocks;
    const uint32_t block = block_here(hart);
    cut->op = NULL;
    if (block == UINT32_MAX)
        return NULL;
    const struct block *at = &cache->blocks[block];
    const union op *first = &cache->slots[at->slot];
    const uint32_t end = block + 1 == cache->block_count ? cache->record_count : at[1].record;
    if (end - at->record <= most)
        return first;
    const uint32_t last = hart->breakpoint_count ? 0 : last_stop(hart, at, (uint32_t)most);
    if (last == 0)
        return NULL;
    const uint32_t slot = cache->records[at->record + last].slot;
    cache->found[slot & (FOUND - 1)] = block; /* op_stop() looks for it */
    cut->op = &cache->slots[slot];
    cut->run = cut->op->run;
    cut->stop = cut->op->run = hart->exec->stop;
    return first;
}

bool block_mend(const struct block_cut *cut)
{
    if (cut->op && cut->op->run == cut->stop)
        cut->op->run = cut->run;
    return cut->op;
}
