/* One level of a TLB: a set-associative array of pages of four sizes, with LRU replacement. */
#ifndef EMU_CORE_TLB_ARRAY_H
#define EMU_CORE_TLB_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

/* A lookup key: [35:0] page number (4 KiB pages), [39] always set, [55:40] ASID. */
enum { TLB_KEY_VALID_SHIFT = 39, TLB_KEY_ASID_SHIFT = 40, TLB_PAGE_SIZES = 4, TLB_HINTS = 64 };
#define TLB_KEY_PAGE  ((UINT64_C(1) << 36) - 1)
#define TLB_KEY_VALID (UINT64_C(1) << TLB_KEY_VALID_SHIFT)
#define TLB_KEY_ASID  (UINT64_C(0xffff) << TLB_KEY_ASID_SHIFT)

static inline uint64_t tlb_key(uint64_t address, uint64_t asid)
{
    return (address >> 12 & TLB_KEY_PAGE) | TLB_KEY_VALID | asid << TLB_KEY_ASID_SHIFT;
}

/* Returns the key bits that identify a page: all except the offset in a large page and the ASID of a global page. size:
 * 0 to 3 for 4 KiB, 2 MiB, 1 GiB, 512 GiB. */
static inline uint64_t tlb_key_mask(unsigned size, bool global)
{
    uint64_t mask = (TLB_KEY_PAGE >> 9 * size << 9 * size) | TLB_KEY_VALID;
    return global ? mask : mask | TLB_KEY_ASID;
}

struct tlb_page {
    uint64_t key, mask; /* translates key k if ((k ^ key) & mask) == 0 */
    uint64_t ready;     /* time from which on the page is present */
    uint64_t used;      /* stamp of the last use */
    uint8_t size;       /* 0 to 3 */
};

/* Each page size has its own index into the sets, the low bits of the page number; all sizes are looked up in
 * parallel. */
struct tlb_array {
    struct tlb_page *pages; /* sets * ways */
    uint32_t ways, sets;
    uint64_t stamp;
    uint32_t population[TLB_PAGE_SIZES]; /* pages of each size */
    uint16_t hints[TLB_HINTS];           /* a shortcut: last place of a page, by its low bits */
};

/* Makes an empty array; entries and ways may both be 0, for a missing level. Out of memory aborts. Release with
 * tlb_array_free(). */
void tlb_array_init(struct tlb_array *array, uint32_t entries, uint32_t ways);
void tlb_array_free(struct tlb_array *array);

/* Returns the page at the hinted place, or NULL if it does not match. Counts as a use. */
static inline const struct tlb_page *tlb_array_hint(struct tlb_array *array, uint64_t key)
{
    struct tlb_page *page = &array->pages[array->hints[key % TLB_HINTS]];
    if ((key ^ page->key) & page->mask)
        return 0;
    page->used = ++array->stamp;
    return page;
}

/* Returns the page that translates the key, or NULL. Counts as a use. Valid until the next change. */
const struct tlb_page *tlb_array_find(struct tlb_array *array, uint64_t key);

/* Inserts the page of the key in place of the least recently used one of its set. */
void tlb_array_put(struct tlb_array *array, uint64_t key, unsigned size, bool global, uint64_t ready);

/* Forgets the pages p with ((key ^ p.key) & mask & p.mask) == 0; unless `global`, only pages that are not global. */
void tlb_array_drop(struct tlb_array *array, uint64_t key, uint64_t mask, bool global);

#endif
