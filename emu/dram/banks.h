/* The statistics by bank (dram.bank_statistics). An observer of the commands counts them, so they cost nothing
 * where they are disabled. */
#ifndef EMU_DRAM_BANKS_H
#define EMU_DRAM_BANKS_H

#include "emu/dram/memory.h"

struct dram_banks;

/* Makes the counters of all banks and observes the memory, which must outlive the counters. Never NULL. */
struct dram_banks *dram_banks_new(struct dram_memory *memory);
void dram_banks_free(struct dram_banks *banks); /* NULL is allowed */

/* Registers "3.bank.5.reads" ... of channel 3. Reading them brings the memory up to the queue's time. */
void dram_banks_publish(struct dram_banks *banks, struct stats *stats, struct scope scope);

#endif
