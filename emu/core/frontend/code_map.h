/* Translates code addresses to physical addresses for the fetches of timing cores. The time that translation takes is
 * modelled by tlb.h. */
#ifndef EMU_CORE_FRONTEND_CODE_MAP_H
#define EMU_CORE_FRONTEND_CODE_MAP_H

#include "emu/hart/hart.h"
#include "emu/hart/mmu.h"

enum { CODE_PAGES = 64 };

struct code_map {
    const struct hart *hart;
    uint64_t pages[CODE_PAGES], physical[CODE_PAGES]; /* page addresses; UINT64_MAX: empty slot */
};

/* Empties the map. Call it after every change of satp, page tables or privilege. */
void code_map_init(struct code_map *map, const struct hart *hart);

/* The slow path of code_physical(). */
bool code_map_find(struct code_map *map, uint64_t pc, uint64_t *physical);

/* code_physical() if the map has the page; else returns false. */
static inline bool code_known(const struct code_map *map, uint64_t pc, uint64_t *physical)
{
    unsigned slot = (unsigned)(pc / MMU_PAGE) & (CODE_PAGES - 1);
    *physical = map->physical[slot] | (pc & (MMU_PAGE - 1));
    return map->pages[slot] == (pc & ~(uint64_t)(MMU_PAGE - 1));
}

/* Finds the physical address of the byte at pc in the hart's current mode. Returns false if it is not in main memory or
 * not translated. */
static inline bool code_physical(struct code_map *map, uint64_t pc, uint64_t *physical)
{
    return code_known(map, pc, physical) || code_map_find(map, pc, physical);
}

#endif
