#include "emu/env/linux/space/maps.h"

#include <string.h>

#include "emu/sim/alloc.h"

size_t space_index_after(const struct space *space, uint64_t address)
{
    size_t low = 0, high = space->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (space->maps[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void space_insert(struct space *space, size_t at, const struct space_map *map)
{
    if (space->count == space->room) {
        space->room = space->room ? 2 * space->room : 32;
        space->maps = alloc_resize(space->maps, space->room * sizeof *space->maps);
    }
    memmove(&space->maps[at + 1], &space->maps[at], (space->count - at) * sizeof *space->maps);
    space->maps[at] = *map;
    space->count++;
}

void space_erase(struct space *space, size_t at)
{
    space->count--;
    memmove(&space->maps[at], &space->maps[at + 1], (space->count - at) * sizeof *space->maps);
}

void space_split(struct space *space, uint64_t address)
{
    size_t i = space_index_after(space, address);
    if (i == space->count || space->maps[i].first >= address)
        return;
    struct space_map high = space->maps[i];
    const uint64_t low = address - high.first;
    space->maps[i].end = high.first = address;
    high.offset += low;
    if (high.physical != SPACE_UNBACKED)
        high.physical += low;
    if (high.file)
        high.file->references++;
    space_insert(space, i + 1, &high);
}

void address_space_measure(const struct space *space, uint64_t *size, uint64_t *resident)
{
    *size = *resident = 0;
    for (size_t i = 0; i < space->count; i++) {
        const uint64_t bytes = space->maps[i].end - space->maps[i].first;
        *size += bytes;
        *resident += space->maps[i].physical == SPACE_UNBACKED ? 0 : bytes;
    }
}
