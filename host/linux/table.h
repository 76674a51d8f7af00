/* A process's table of ranges, by which accelerators find its pinned pages (isa/include/croft/range.h). Accelerators read it from
 * memory while it changes: `changes` is odd in memory before an entry changes there, and even when all have. */
#ifndef HOST_LINUX_TABLE_H
#define HOST_LINUX_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "isa/include/croft/range.h"

/* Writes bytes back from the caches to memory, before later ones; the user of the table has it. */
void table_flush(const void *at, size_t size);

/* Returns the index of the first entry that ends above the address. */
uint64_t table_from(const struct croft_range_table *table, uint64_t address);

/* Adds an entry that overlaps no other, and joins it with those that it continues. Returns 0 if there is no room. */
int table_put(struct croft_range_table *table, const struct croft_range *entry);

/* Takes [first, end), whole pages, out. Of an entry whose middle goes, the part above goes too if there is no room for it. */
void table_cut(struct croft_range_table *table, uint64_t first, uint64_t end);

/* Returns whether entries with all of the permissions cover [first, end). */
int table_covers(const struct croft_range_table *table, uint64_t first, uint64_t end, uint32_t permissions);

#endif
