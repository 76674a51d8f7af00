/* The index of the store queue: which stores overlap a load. */
#include <string.h>

#include "emu/core/ooo/state.h"
#include "emu/hart/mmu.h"

unsigned ooo_find_pieces(struct ooo *o, struct ooo_piece pieces[2], uint64_t address, uint64_t physical,
                         unsigned size)
{
    uint64_t room = o->line_bytes - (physical & (o->line_bytes - 1));
    pieces[0].physical = physical;
    pieces[0].bytes = (uint8_t)size;
    if (__builtin_expect(size <= room, 1))
        return 1;
    pieces[0].bytes = (uint8_t)room;
    pieces[1].bytes = (uint8_t)(size - room);
    uint64_t second = address + room;
    pieces[1].physical = physical + room;
    if (second % MMU_PAGE == 0 && o->core.parts.hart->privileged)
        (void)mmu_peek(o->core.parts.hart, second, &pieces[1].physical);
    return 2;
}

void ooo_store_enter(struct ooo *o, struct ooo_store *store)
{
    uint64_t first = store->physical / 8, last = (store->physical + store->size - 1) / 8;
    store->count = (uint8_t)ooo_find_pieces(o, store->pieces, store->address, store->physical, store->size);
    uint64_t *bucket = &o->buckets[ooo_bucket(first)];
    store->previous[0] = *bucket;
    *bucket = store->index;
    if (__builtin_expect(last != first, 0)) {
        bucket = &o->buckets[ooo_bucket(last)];
        store->previous[1] = *bucket;
        *bucket = store->index;
    }
}

void ooo_store_reindex(struct ooo *o)
{
    memset(o->buckets, 0, sizeof o->buckets);
    for (uint64_t index = o->stores - o->store_mask - 1; index < o->stores; index++) {
        struct ooo_store *store = &o->store_ring[index & o->store_mask];
        if (store->index == index && store->count)
            ooo_store_enter(o, store);
    }
}

/* Returns the youngest overlapping store before the load in this granule's bucket. */
static struct ooo_store *find_store(struct ooo *o, const struct ooo_load *load, uint64_t granule)
{
    unsigned bucket = ooo_bucket(granule);
    for (uint64_t index = o->buckets[bucket];;) {
        struct ooo_store *store = &o->store_ring[index & o->store_mask];
        if (store->index != index) /* the entry has been reused */
            return NULL;
        if (index < load->older && store->physical < load->physical + load->size &&
            load->physical < store->physical + store->size)
            return store;
        index = store->previous[ooo_bucket(store->physical / 8) != bucket];
    }
}

struct ooo_store *ooo_find_overlap(struct ooo *o, const struct ooo_load *load, uint64_t cycle)
{
    uint64_t first = load->physical / 8, last = (load->physical + load->size - 1) / 8;
    struct ooo_store *store = find_store(o, load, first);
    if (__builtin_expect(last != first, 0)) {
        struct ooo_store *other = find_store(o, load, last);
        if (other && (!store || other->index > store->index))
            store = other;
    }
    return store && store->done > cycle ? store : NULL;
}
