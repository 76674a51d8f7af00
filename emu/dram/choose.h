/* How the controller compares commands that it could issue next. */
#ifndef EMU_DRAM_CHOOSE_H
#define EMU_DRAM_CHOOSE_H

#include "emu/dram/channel.h"

/* Of commands that may come in the same cycle, those of lesser order go first; within one, those for older
 * bursts. */
enum dram_order { DRAM_ORDER_REFRESH, DRAM_ORDER_COLUMN, DRAM_ORDER_ROW, DRAM_ORDER_TIMEOUT };

static inline uint64_t dram_merit(enum dram_order order, uint64_t age)
{
    return (uint64_t)order << 62 | age;
}

/* Replaces *best if the command comes earlier, or as early with better merit. */
static inline void dram_choice_offer(struct dram_choice *best, uint64_t cycle, uint64_t merit,
                                     enum dram_command command, uint32_t bank)
{
    if (cycle > best->cycle || (cycle == best->cycle && merit >= best->merit))
        return;
    best->cycle = cycle;
    best->merit = merit;
    best->command = (uint32_t)command;
    best->bank = bank;
}

#endif
