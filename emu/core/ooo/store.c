/* Stores out of order. A store's address and data become known separately; after retirement it drains into the cache. */
#include <assert.h>

#include "emu/core/ooo/state.h"
#include "emu/hart/dispatch.h"

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

/* Tells the mechanism, if it waits, that stores have drained. */
static void tell_drained(struct ooo *o)
{
    o->ahead.asked = false;
    if (ooo_mechanism(o)->ops->drained)
        ooo_mechanism(o)->ops->drained(ooo_mechanism(o)->context);
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
        tell_drained(o);
}

static void store_done(struct ooo *o, struct ooo_store *store)
{
    store->done = store->time;
    free_done(o);
    if (store->loads != OOO_NONE)
        ooo_store_wake(o, store);
}

/* Writes one piece. Returns false if it was refused, so that later stores have to wait. */
static bool write_piece(struct ooo *o, struct ooo_store *store, struct ooo_piece *piece, uint64_t cycle)
{
    struct cache_actor actor = {.pc = store->pc, .core = o->core.parts.number, .bytes = piece->bytes};
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
static void drain_stores(struct ooo *o)
{
    while (o->drain < o->drain_tail) {
        struct ooo_store *store = &o->store_ring[o->drain & o->store_mask];
        while (store->started < store->count) {
            uint64_t cycle = ooo_later(store->time, o->drained_at + 1);
            if (cache_hit(o->l1d, store->pieces[store->started].physical, CACHE_STORE)) {
                o->drained_at = cycle;
                store->time = cycle + 1;
                store->started++;
                continue;
            }
            if (!write_piece(o, store, &store->pieces[store->started++], cycle))
                return;
        }
        o->drain++;
        if (!store->parts)
            store_done(o, store);
    }
}

void ooo_store_came(struct ooo *o, struct ooo_store *store, struct ooo_piece *piece, unsigned level)
{
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
        drain_stores(o);
    }
}

void ooo_store_retire(struct ooo *o, struct ooo_store *store, uint64_t cycle)
{
    const uint64_t index = store->index, access = ooo_later(cycle, o->drained_at) + 1;
    store->time = cycle + 1;
    o->drain_tail = index + 1;
    if (o->drain != index)
        return;
    /* The common case: it drains at once, as drain_stores() would let it, and no other store is under way. */
    if (LIKELY(store->count == 1) && LIKELY(o->freed == index) && LIKELY(store->loads == OOO_NONE) &&
        !o->ahead.asked && LIKELY(cache_hit(o->l1d, store->physical, CACHE_STORE))) {
        o->drained_at = access;
        store->started = 1;
        store->time = store->done = access + 1;
        store->freed = o->freed_at = ooo_later(o->freed_at, access + 1);
        o->drain = o->freed = index + 1;
        return;
    }
    drain_stores(o);
}

void ooo_store_issue(struct ooo *o, struct ooo_entry *e, uint64_t number, const struct ooo_class *class,
                     uint64_t ready)
{
    struct ooo_store *store = &o->store_ring[e->memory];
    e->issue = ports_take(&o->ports, &class->use, ready);
    store->known = e->issue + class->latency;
    if (store->data != OOO_NEVER)
        ooo_complete(o, number, ooo_later(store->known, store->data));
    if (store->loads != OOO_NONE)
        ooo_store_wake(o, store);
}

void ooo_store_place(struct ooo *o, uint64_t number, struct ooo_store *store)
{
    struct offload_view view;
    ooo_mechanism(o)->ops->look(ooo_mechanism(o)->context, number - o->ahead.offset, &view);
    assert(view.address_known);
    store->address = view.address;
    store->physical = view.physical;
    store->count = 1;
    ooo_store_reindex(o);
}
