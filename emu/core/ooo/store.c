#include <string.h>

#include "emu/core/ooo/state.h"

void ooo_store_init(struct ooo *o)
{
    o->stores = o->freed = o->drain = o->drain_tail = OOO_QUEUE_MOST;
    for (unsigned i = 0; i < OOO_QUEUE_MOST; i++) {
        o->store_ring[i].owner = o;
        o->store_ring[i].index = OOO_NEVER;
    }
}

void ooo_store_enter(struct ooo *o, struct ooo_store *store)
{
    uint64_t first = store->physical / 8, last = (store->physical + store->size - 1) / 8;
    store->count = (uint8_t)ooo_pieces(o, store->pieces, store->address, store->physical, store->size);
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
static struct ooo_store *find(struct ooo *o, const struct ooo_load *load, uint64_t granule)
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

struct ooo_store *ooo_store_overlap(struct ooo *o, const struct ooo_load *load, uint64_t cycle)
{
    uint64_t first = load->physical / 8, last = (load->physical + load->size - 1) / 8;
    struct ooo_store *store = find(o, load, first);
    if (__builtin_expect(last != first, 0)) {
        struct ooo_store *other = find(o, load, last);
        if (other && (!store || other->index > store->index))
            store = other;
    }
    return store && store->done > cycle ? store : NULL;
}

void ooo_store_wake(struct ooo *o, struct ooo_store *store)
{
    uint16_t place = store->loads;
    store->loads = OOO_NONE;
    while (place != OOO_NONE) {
        struct ooo_load *load = &o->load_ring[place];
        place = load->next;
        if (!ooo_is_squashed(o, load))
            ooo_load_go(o, load, load->time);
    }
}

/* Frees finished stores in order. */
static void free_done(struct ooo *o)
{
    uint64_t before = o->freed;
    while (o->freed < o->drain) {
        struct ooo_store *store = &o->store_ring[o->freed & o->store_mask];
        if (store->done == OOO_NEVER)
            break;
        o->freed_at = ooo_later(o->freed_at, store->done);
        store->freed = o->freed_at;
        o->freed++;
    }
    if (__builtin_expect(o->ahead.asked, 0) && o->freed != before)
        ooo_ahead_drained(o);
}

static void store_done(struct ooo *o, struct ooo_store *store)
{
    store->done = store->time;
    free_done(o);
    if (store->loads != OOO_NONE)
        ooo_store_wake(o, store);
}

static void piece_done(struct cache_waiter *waiter, uint64_t now, unsigned level);

/* Writes one piece. Returns false if it was refused, so that later stores have to wait. */
static bool write_piece(struct ooo *o, struct ooo_store *store, struct ooo_piece *piece, uint64_t cycle)
{
    struct cache_actor actor = {.pc = store->pc, .core = o->core.parts.number};
    piece->waiter.owner = store;
    piece->waiter.done = piece_done;
    piece->cycle = cycle;
    enum cache_outcome outcome =
        cache_access(o->l1d, piece->physical, CACHE_STORE, ooo_time(o, cycle), actor, &piece->waiter);
    o->drained_at = cycle;
    if (outcome == CACHE_HIT) {
        store->time = ooo_later(store->time, cycle + 1);
        return true;
    }
    store->parts++;
    piece->full = outcome == CACHE_FULL;
    return !piece->full;
}

/* Drains retired stores into the cache, one access a cycle, until one is refused. */
static void drain(struct ooo *o)
{
    while (o->drain < o->drain_tail) {
        struct ooo_store *store = &o->store_ring[o->drain & o->store_mask];
        while (store->started < store->count) {
            uint64_t cycle = ooo_later(store->time, o->drained_at + 1);
            if (!write_piece(o, store, &store->pieces[store->started++], cycle))
                return;
        }
        o->drain++;
        if (!store->parts)
            store_done(o, store);
    }
}

static void piece_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct ooo_piece *piece = (struct ooo_piece *)waiter;
    struct ooo_store *store = waiter->owner;
    struct ooo *o = store->owner;
    ooo_callback(o, now);
    store->parts--;
    if (level < MEM_LEVELS) {
        store->time = ooo_later(store->time, ooo_later(o->floor, piece->cycle + 1));
        if (level > store->level)
            store->level = (uint8_t)level;
        if (!store->parts && store->index < o->drain)
            store_done(o, store);
    } else if (write_piece(o, store, piece,
                           ooo_later(ooo_later(piece->cycle, o->floor), o->drained_at + 1))) {
        /* A refused piece always belongs to the oldest draining store. */
        drain(o);
    }
    ooo_work(o);
    ooo_go_on(o);
}

void ooo_store_retire(struct ooo *o, struct ooo_store *store, uint64_t cycle)
{
    store->time = cycle + 1;
    o->drain_tail = store->index + 1;
    if (o->drain == store->index)
        drain(o);
}
