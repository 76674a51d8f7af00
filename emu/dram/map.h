/* A memory's address mapping as a map of homes: the channel, bank, row and column of the burst at an
 * address. */
#ifndef EMU_DRAM_MAP_H
#define EMU_DRAM_MAP_H

#include "emu/dram/config.h"
#include "emu/mem/home_bits.h"

/* Returns the layout of config->map (notation: emu/mem/home_bits.h) for a single memory: one module with one
 * stack, whose controllers are the channels. */
struct home_layout dram_map_layout(const struct dram_config *config);

/* Compiles config->map. An error message tells which letter is wrong and how many bits are needed. */
bool dram_map_init(struct home_bits *map, const struct dram_config *config, struct error *err);

/* Makes a map of homes with one range for a single memory: all its bytes, from the address `base` on. `base` must
 * be a multiple of burst_bytes. config must have passed part_check(&dram_kind, ). Release it with
 * home_map_free(). */
struct home_map *dram_map_homes(const struct dram_config *config, uint64_t base);

#endif
