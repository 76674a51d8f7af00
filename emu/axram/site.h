/* What AxRAM's part knows of the machine around it (emu/schema/assembly.h). */
#ifndef EMU_AXRAM_SITE_H
#define EMU_AXRAM_SITE_H

#include "emu/schema/assembly.h"

struct dram_config;

/* Returns the configuration of the machine's memories, or NULL, and stores their number. */
const struct dram_config *axram_memory(const struct tree *tree, uint32_t *count);

/* Hooks of axram_kind. axram_plan() gives accelerator memory its homes. */
void axram_reserves(const void *config, uint64_t *offset, uint64_t *size);
bool axram_describes(const struct tree *tree, const void *config, struct assembly_pieces *pieces);
bool axram_plan(const struct assembly *assembly, const struct instance *axram, struct error *err);
const void *axram_place(const struct assembly *assembly, const struct instance *axram,
                        const struct mem_site *memory);

#endif
