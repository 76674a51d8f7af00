#include "emu/core/frontend/code_map.h"

void code_map_init(struct code_map *map, const struct hart *hart)
{
    map->hart = hart;
    for (unsigned i = 0; i < CODE_PAGES; i++)
        map->pages[i] = UINT64_MAX;
}

bool code_map_find(struct code_map *map, uint64_t pc, uint64_t *physical)
{
    const struct hart *hart = map->hart;
    uint64_t page = pc & ~(uint64_t)(MMU_PAGE - 1), to = page;
    unsigned slot = (unsigned)(pc / MMU_PAGE) & (CODE_PAGES - 1);
    /* Below machine mode MPRV has no effect, so fetches are translated like data accesses. */
    if (hart->privilege != PRIV_M && !mmu_peek(hart, page, &to))
        return false;
    if (!phys_at(hart->memory, to, MMU_PAGE))
        return false;
    map->pages[slot] = page;
    map->physical[slot] = to;
    *physical = to | (pc & (MMU_PAGE - 1));
    return true;
}
