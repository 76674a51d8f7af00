/* What the files of an address space share: finding and splitting mappings, and those of files. */
#ifndef EMU_ENV_LINUX_SPACE_MAPS_H
#define EMU_ENV_LINUX_SPACE_MAPS_H

#include "emu/env/linux/space.h"

/* maps.c */

/* Returns the index of the first mapping that ends after the address. */
size_t space_index_after(const struct space *space, uint64_t address);

/* Add and remove the mapping of an index. */
void space_insert(struct space *space, size_t at, const struct space_map *map);
void space_erase(struct space *space, size_t at);

/* Makes `address` the border of two mappings if it lies within one. */
void space_split(struct space *space, uint64_t address);

/* Returns what of a mapping may be accessed now, a set of SPACE_READ ... */
static inline uint8_t space_access(const struct space_map *map)
{
    return map->beyond ? 0 : map->protection;
}

/* files.c */

/* Writes the mapping's bytes in [first, end) to its file if the program may have stored to them. Returns 0 or -errno. */
int64_t space_write_back(const struct space *space, const struct space_map *map, uint64_t first,
                         uint64_t end);

/* Gives new shared mappings in [first, end) the memory of others that show the same bytes of their file. */
void space_share(struct space *space, uint64_t first, uint64_t end);

/* Makes the memory of a removed mapping free, but not what others share. */
void space_give_back(struct space *space, const struct space_map *map);

#endif
