#include "emu/core/range_tlb.h"

#include <assert.h>
#include <stddef.h>

void range_tlb_init(struct range_tlb *tlb, uint32_t size)
{
    assert(size >= 1 && size <= RANGE_TLB_MAX);
    *tlb = (struct range_tlb){.size = size};
}

const struct range_tlb_entry *range_tlb_find(struct range_tlb *tlb, uint64_t address)
{
    for (uint32_t i = 0; i < tlb->count; i++) {
        struct range_tlb_entry *entry = &tlb->entries[i];
        if (address - entry->first <= entry->last - entry->first) {
            entry->used = ++tlb->stamp;
            return entry;
        }
    }
    return NULL;
}

/* Returns the entry for a range: one that it overlaps (the range before it grew), else a free one, else the least
 * recently used. */
static struct range_tlb_entry *place(struct range_tlb *tlb, uint64_t first, uint64_t last)
{
    struct range_tlb_entry *oldest = &tlb->entries[0];
    for (uint32_t i = 0; i < tlb->count; i++) {
        struct range_tlb_entry *entry = &tlb->entries[i];
        if (first <= entry->last && entry->first <= last)
            return entry;
        if (entry->used < oldest->used)
            oldest = entry;
    }
    return tlb->count < tlb->size ? &tlb->entries[tlb->count++] : oldest;
}

void range_tlb_put(struct range_tlb *tlb, uint64_t first, uint64_t last, uint64_t ready)
{
    *place(tlb, first, last) = (struct range_tlb_entry){first, last, ready, ++tlb->stamp};
}

void range_tlb_drop(struct range_tlb *tlb)
{
    tlb->count = 0;
}
