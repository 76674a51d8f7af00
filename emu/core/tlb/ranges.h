/* A TLB of ranges: a few entries of any size, fully associative, with LRU replacement (redundant memory mappings:
 * Gandhi et al., IEEE Micro 2016, the NUCD paper's reference for range-based translation). */
#ifndef EMU_CORE_TLB_RANGES_H
#define EMU_CORE_TLB_RANGES_H

#include <stdint.h>

enum { RANGE_TLB_MAX = 64, RANGE_TLB_DEFAULT = 8 };

struct range_tlb_entry {
    uint64_t first, last; /* addresses of the range, both inclusive */
    uint64_t ready;       /* time from which on the entry is present */
    uint64_t used;        /* stamp of the last use */
};

struct range_tlb {
    uint32_t size, count; /* entries; entries in use */
    uint64_t stamp;
    struct range_tlb_entry entries[RANGE_TLB_MAX];
};

/* Makes an empty TLB with 1 to RANGE_TLB_MAX entries. */
void range_tlb_init(struct range_tlb *tlb, uint32_t size);

/* Returns the entry that translates an address, or NULL. Counts as a use. Valid until the next change. */
const struct range_tlb_entry *range_tlb_find(struct range_tlb *tlb, uint64_t address);

/* Inserts a range that is present from `ready` on, in place of all entries that it overlaps (it has grown), else in a free
 * entry, else in place of the least recently used one. */
void range_tlb_put(struct range_tlb *tlb, uint64_t first, uint64_t last, uint64_t ready);

void range_tlb_drop(struct range_tlb *tlb);

#endif
