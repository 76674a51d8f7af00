#include "emu/core/tlb/array.h"

#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

/* An empty place: it matches no key, since keys always have the valid bit. */
static const struct tlb_page nothing = {.mask = TLB_KEY_VALID};

void tlb_array_init(struct tlb_array *array, uint32_t entries, uint32_t ways)
{
    memset(array, 0, sizeof *array);
    array->ways = ways;
    array->sets = ways ? entries / ways : 0;
    array->pages = alloc(1, (entries ? entries : 1) * sizeof *array->pages);
    array->pages[0] = nothing;
    for (uint32_t i = 0; i < entries; i++)
        array->pages[i] = nothing;
}

void tlb_array_free(struct tlb_array *array)
{
    free(array->pages);
    array->pages = NULL;
}

static struct tlb_page *set_of(const struct tlb_array *array, uint64_t key, unsigned size)
{
    uint64_t set = (key & TLB_KEY_PAGE) >> 9 * size & (array->sets - 1);
    return &array->pages[set * array->ways];
}

static struct tlb_page *find(struct tlb_array *array, uint64_t key)
{
    for (unsigned size = 0; size < TLB_PAGE_SIZES; size++) {
        if (!array->population[size])
            continue;
        struct tlb_page *set = set_of(array, key, size);
        for (uint32_t way = 0; way < array->ways; way++) {
            if (set[way].size == size && !((key ^ set[way].key) & set[way].mask))
                return &set[way];
        }
    }
    return NULL;
}

const struct tlb_page *tlb_array_find(struct tlb_array *array, uint64_t key)
{
    struct tlb_page *page = find(array, key);
    if (!page)
        return NULL;
    page->used = ++array->stamp;
    array->hints[key % TLB_HINTS] = (uint16_t)(page - array->pages);
    return page;
}

static void drop(struct tlb_array *array, struct tlb_page *page)
{
    array->population[page->size]--;
    *page = nothing;
}

static bool is_empty(const struct tlb_page *page)
{
    return !page->key;
}

/* Returns the place for a new page: an empty one, else the least recently used. */
static struct tlb_page *place_for(struct tlb_array *array, uint64_t key, unsigned size)
{
    struct tlb_page *set = set_of(array, key, size), *place = set;
    for (uint32_t way = 1; way < array->ways; way++) {
        if (set[way].used < place->used)
            place = &set[way];
    }
    return place;
}

void tlb_array_put(struct tlb_array *array, uint64_t key, unsigned size, bool global, uint64_t ready)
{
    if (!array->ways)
        return;
    struct tlb_page *page = find(array, key);
    if (page)
        drop(array, page);
    page = place_for(array, key, size);
    if (!is_empty(page))
        drop(array, page);
    uint64_t mask = tlb_key_mask(size, global);
    *page = (struct tlb_page){key & mask, mask, ready, ++array->stamp, (uint8_t)size};
    array->population[size]++;
    array->hints[key % TLB_HINTS] = (uint16_t)(page - array->pages);
}

void tlb_array_drop(struct tlb_array *array, uint64_t key, uint64_t mask, bool global)
{
    for (uint32_t i = 0; i < array->sets * array->ways; i++) {
        struct tlb_page *page = &array->pages[i];
        if (!is_empty(page) && (global || page->mask & TLB_KEY_ASID) &&
            !((key ^ page->key) & mask & page->mask))
            drop(array, page);
    }
}
