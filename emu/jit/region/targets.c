#include "emu/jit/region/targets.h"

#include "emu/hart/exec.h"
#include "emu/hart/hart.h"
#include "emu/jit/region.h"

const struct region_block *region_find(const struct region *region, const union op *first)
{
    uint32_t low = 0, high = region->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (region->blocks[middle].view.first == first)
            return &region->blocks[middle];
        if (region->blocks[middle].view.first < first)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

uint32_t targets_block(const struct hart *hart, const union op *to)
{
    const struct exec_table *exec = hart->exec;
    uint32_t block = block_view_find(hart->blocks, to);
    return block == UINT32_MAX && to->run == exec->far ? block_view_at(hart->blocks, to[-1].head.pc) : block;
}

const struct region_block *region_target(const struct region *region, const struct hart *hart,
                                         const union op *to, bool *far)
{
    const struct region_block *block = region_find(region, to);
    *far = !block;
    if (block || to->run != hart->exec->far)
        return block;
    uint32_t number = block_view_at(hart->blocks, to[-1].head.pc);
    return number == UINT32_MAX ? NULL : region_find(region, block_view(hart->blocks, number).first);
}
