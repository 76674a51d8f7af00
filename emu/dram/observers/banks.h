/* The counters of banks (dram.bank_statistics). An observer of the commands counts, so they cost nothing where they are
 * disabled. */
#ifndef EMU_DRAM_OBSERVERS_BANKS_H
#define EMU_DRAM_OBSERVERS_BANKS_H

#include "emu/dram/memory.h"

struct dram_banks;

enum dram_bank_counter {
    DRAM_BANK_ACTIVATES,
    DRAM_BANK_READS,
    DRAM_BANK_WRITES,
    DRAM_BANK_ROW_HITS,      /* bursts after the first one of an open row */
    DRAM_BANK_ROW_CONFLICTS, /* activates after another row was closed for a waiting burst */
    DRAM_BANK_COUNTERS
};

/* A counter, and the memory that must be brought up to date before the counter is read. */
struct dram_bank_count {
    struct dram_memory *memory;
    uint64_t value;
};

/* Makes the counters of all banks of the memory, which must outlive them. Never NULL. */
struct dram_banks *dram_banks_new(struct dram_memory *memory);
void dram_banks_free(struct dram_banks *banks); /* NULL is allowed */

/* Returns the observer to add to the memory. It belongs to the counters. */
struct dram_observer *dram_banks_observer(struct dram_banks *banks);

/* Returns the counter of a bank, by its number in the channel. */
const struct dram_bank_count *dram_banks_count(const struct dram_banks *banks, uint32_t channel,
                                               uint32_t bank, enum dram_bank_counter counter);

#endif
