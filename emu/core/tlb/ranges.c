#include "emu/core/tlb/ranges.h"

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

/* Drops the entries that a range overlaps: ranges before one grew over them. */
static void drop_overlapped(struct range_tlb *tlb, uint64_t first, uint64_t last)
{
    for (uint32_t i = 0; i < tlb->count;) {
        if (first <= tlb->entries[i].last && tlb->entries[i].first <= last)
            tlb->entries[i] = tlb->entries[--tlb->count];
        else
            i++;
    }
}

/* Returns a free entry, or the least recently used one. */
static struct range_tlb_entry *place(struct range_tlb *tlb)
{
    struct range_tlb_entry *oldest = &tlb->entries[0];
    if (tlb->count < tlb->size)
        return &tlb->entries[tlb->count++];
    for (uint32_t i = 1; i < tlb->count; i++)
        if (tlb->entries[i].used < oldest->used)
            oldest = &tlb->entries[i];
    return oldest;
}

void range_tlb_put(struct range_tlb *tlb, uint64_t first, uint64_t last, uint64_t ready)
{
    drop_overlapped(tlb, first, last);
    *place(tlb) = (struct range_tlb_entry){first, last, ready, ++tlb->stamp};
}

void range_tlb_drop(struct range_tlb *tlb)
{
    tlb->count = 0;
}
