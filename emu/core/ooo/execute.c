/* Execution out of order: issue and completion of instructions that had to wait, the queues of loads and stores, and tasks
 * as far as they are instructions.
 *
 * A completion makes its dependents ready, and ooo_work() issues them. A load completes with its bytes: of the cache, of
 * an older store, or, ahead of tasks, of a task that has yet to write them. A store's address and data become known
 * separately; after retirement the store drains into the cache. */
#include <assert.h>
#include <string.h>

#include "emu/core/ooo/state.h"
#include "emu/hart/dispatch.h"
#include "emu/hart/mmu.h"

void ooo_complete(struct ooo *o, uint64_t number, uint64_t cycle)
{
    struct ooo_entry *e = ooo_at(o, number);
    e->complete = cycle;
    unsigned rd = e->facts & OOO_RD;
    if (o->times[rd] == OOO_NEVER && o->producer[rd] == number)
        o->times[rd] = cycle;
    for (uint16_t link = e->dependents; link != OOO_NONE;) {
        uint64_t place = link / 4;
        struct ooo_entry *dependent = &o->rob_entries[place];
        struct ooo_pending *pending = &o->pending[place];
        unsigned operand = link % 4;
        link = pending->next[operand];
        if (ooo_is(dependent->facts, OOO_STORE) && operand == 1) {
            struct ooo_store *store = &o->store_ring[dependent->memory];
            store->data = cycle;
            if (store->known != OOO_NEVER)
                o->work[o->work_count++] = (uint16_t)place;
            continue;
        }
        pending->ready = ooo_later(pending->ready, cycle);
        if (--dependent->waiting == 0)
            o->work[o->work_count++] = (uint16_t)place;
    }
    e->dependents = OOO_NONE;
    if (e->facts & OOO_MISPREDICTED)
        ooo_fetch_resolve(o, cycle);
}

void ooo_depend(struct ooo *o, uint64_t number, unsigned operand, uint64_t producer)
{
    struct ooo_entry *entry = ooo_at(o, producer);
    uint64_t place = number & o->rob_mask;
    o->pending[place].next[operand] = entry->dependents;
    entry->dependents = ooo_operand(place, operand);
}

/* Sets up the pieces of an access. Returns their number. */
static unsigned find_pieces(struct ooo *o, struct ooo_piece pieces[2], uint64_t address, uint64_t physical,
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
    store->count = (uint8_t)find_pieces(o, store->pieces, store->address, store->physical, store->size);
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

/* Returns the youngest store before `load` that overlaps it and is still in the queue at `cycle`, or NULL. */
static struct ooo_store *find_overlap(struct ooo *o, const struct ooo_load *load, uint64_t cycle)
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

/* Returns whether the load was squashed. Nothing is dispatched between the squash and leaving. */
static inline bool is_squashed(const struct ooo *o, const struct ooo_load *load)
{
    return load->number >= o->tail;
}

static void load_go(struct ooo *o, struct ooo_load *load, uint64_t cycle);
static void load_ahead(struct ooo *o, struct ooo_load *load, uint64_t cycle);

static const uint8_t level_cause[MEM_LEVELS] = {CPI_l1, CPI_l2, CPI_memory};

static struct ooo_entry *entry_of(struct ooo *o, const struct ooo_load *load)
{
    return ooo_at(o, load->number);
}

static void wait_from_now_on(struct ooo *o, uint64_t pc)
{
    o->wait_bits[pc / 2 % OOO_WAIT_BITS / 64] |= UINT64_C(1) << pc / 2 % 64;
}

static void load_complete(struct ooo *o, struct ooo_load *load)
{
    struct ooo_entry *e = entry_of(o, load);
    e->level = load->level;
    if (e->cause != CPI_branch)
        e->cause = level_cause[load->level];
    ooo_complete(o, load->number, load->time);
}

static void wait_for_store(struct ooo *o, struct ooo_load *load, struct ooo_store *store)
{
    load->next = store->loads;
    store->loads = (uint16_t)(load - o->load_ring);
}

/* Squashes a load that has read too early: the instructions after it are fetched again once the store's address is
 * known. Loads at this pc wait from now on. */
static void violate(struct ooo *o, struct ooo_load *load, uint64_t known)
{
    struct ooo_entry *e = entry_of(o, load);
    uint64_t cycle = known + o->redirect_clocks;
    o->count.violations++;
    wait_from_now_on(o, e->pc);
    e->facts |= OOO_SQUASHES;
    e->cause = CPI_branch;
    ooo_fetch_redirect(o, cycle, CPI_branch);
    for (uint32_t i = o->position; i < o->fetched; i++)
        if (o->fetches[i] >> OOO_FETCHED_SHIFT < cycle)
            o->fetches[i] = ooo_fetched(cycle, CPI_branch) | (o->fetches[i] & OOO_FETCHED_WRONG);
    load->time = cycle + o->frontend_clocks + 1;
}

/* Moves the time of a load that waits for order to the cycle in which the addresses of all older stores are
 * known. Returns false if one is unknown. */
static bool addresses_known(struct ooo *o, struct ooo_load *load)
{
    for (uint64_t index = load->older; index-- > OOO_QUEUE_MOST;) {
        struct ooo_store *store = &o->store_ring[index & o->store_mask];
        /* A store may be freed before the load reaches cycle store->freed. */
        if (index < o->freed && (store->index != index || store->freed <= load->time))
            break;
        if (store->known == OOO_NEVER) {
            wait_for_store(o, load, store);
            return false;
        }
        if (store->known > load->time) {
            o->count.waited++;
            load->time = store->known;
        }
    }
    return true;
}

/* Continues fetch if it waited to see whether the load violates order. */
static void settle(struct ooo *o, struct ooo_load *load)
{
    if (!load->speculated)
        return;
    load->speculated = false;
    if (o->fetch.wait == FETCH_ORDER)
        o->fetch.wait = FETCH_GOES;
}

/* Checks an older store that overlaps the load and is not in the cache yet. Returns false if the load takes its bytes
 * from the store, or waits for it. */
static bool check_store(struct ooo *o, struct ooo_load *load, struct ooo_store *store)
{
    if (store->known == OOO_NEVER) {
        /* The load reads too early. Instructions after it cannot be timed until the store's address is known. */
        if (!load->deferred && o->fetch.wait == FETCH_GOES) {
            load->speculated = true;
            o->fetch.wait = FETCH_ORDER;
        }
        wait_for_store(o, load, store);
        return false;
    }
    if (store->known > load->time)
        violate(o, load, store->known);
    settle(o, load);
    uint64_t end = load->physical + load->size;
    if (store->physical <= load->physical && store->physical + store->size >= end) {
        if (store->data == OOO_NEVER) {
            wait_for_store(o, load, store);
            return false;
        }
        o->count.forwarded++;
        load->time = ooo_later(load->time, store->data) + o->hit_clocks;
        load_complete(o, load);
        return false;
    }
    if (store->done == OOO_NEVER) {
        wait_for_store(o, load, store);
        return false;
    }
    o->count.partial++;
    load->time = ooo_later(load->time, store->done);
    return true;
}

/* Checks order and forwarding. Returns false if the load has its value, or waits for a store. */
static bool check_order(struct ooo *o, struct ooo_load *load)
{
    if (ooo_waits_for_order(o, entry_of(o, load)->pc) && !addresses_known(o, load))
        return false;
    struct ooo_store *store = find_overlap(o, load, load->time);
    if (store)
        return check_store(o, load, store);
    settle(o, load);
    return true;
}

/* Notes that a cache access or a page walk of a squashed load has ended. The core can leave when all have. */
static void access_ended(struct ooo *o, struct ooo_load *load)
{
    if (load->parts || load->walking)
        return;
    o->ahead.busy--;
    ooo_go_on(o);
}

static void load_piece_done(struct cache_waiter *waiter, uint64_t now, unsigned level);

/* Accesses the cache for one piece; the load's time becomes the latest completion of its pieces. */
static void access_piece(struct ooo *o, struct ooo_load *load, struct ooo_piece *piece, uint64_t cycle)
{
    struct cache_actor actor = {
        .pc = entry_of(o, load)->pc, .core = o->core.parts.number, .bytes = piece->bytes};
    piece->waiter.done = load_piece_done;
    piece->cycle = cycle;
    enum cache_outcome outcome =
        cache_access(o->l1d, piece->physical, CACHE_LOAD, ooo_time(o, cycle), actor, &piece->waiter);
    if (outcome == CACHE_HIT) {
        load->time = ooo_later(load->time, cycle + o->hit_clocks);
        return;
    }
    piece->full = outcome == CACHE_FULL;
    load->parts++;
}

static void load_piece_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct ooo_piece *piece = (struct ooo_piece *)waiter;
    struct ooo_load *load = waiter->owner;
    struct ooo *o = load->owner;
    ooo_callback(o, now);
    load->parts--;
    if (is_squashed(o, load)) {
        access_ended(o, load);
        return;
    }
    if (level == MEM_LEVELS) {
        access_piece(o, load, piece, ooo_later(piece->cycle, o->floor));
    } else {
        load->time = ooo_later(load->time, ooo_later(o->floor, piece->cycle + o->hit_clocks));
        if (level > load->level)
            load->level = (uint8_t)level;
    }
    if (!load->parts)
        load_complete(o, load);
    ooo_work(o);
    ooo_go_on(o);
}

static void set_walked(struct ooo *o, struct ooo_load *load, uint64_t cycle)
{
    load->walked = cycle;
    entry_of(o, load)->facts |= OOO_PARTED;
}

static void walk_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    (void)level;
    struct ooo_load *load = waiter->owner;
    struct ooo *o = load->owner;
    ooo_callback(o, now);
    load->walking = false;
    if (is_squashed(o, load)) {
        access_ended(o, load);
        return;
    }
    set_walked(o, load, ooo_later(load->time, o->floor));
    if (!load->ahead)
        load_go(o, load, load->walked);
    else if (entry_of(o, load)->waiting == 0) /* else it is held for a task's bytes */
        load_ahead(o, load, load->walked);
    ooo_work(o);
    ooo_go_on(o);
}

static bool translate(struct ooo *o, struct ooo_load *load)
{
    struct core_tlb *tlb = o->core.parts.tlb;
    if (!tlb)
        return true;
    uint64_t time = ooo_time(o, load->time), ready;
    load->walk.done = walk_done;
    if (tlb_access(tlb, load->address, TLB_DATA, time, &ready, &load->walk) == TLB_WALK) {
        load->walking = true;
        return false;
    }
    if (ready > time) {
        load->time = clock_cycle(&o->core.parts.clock, ready);
        set_walked(o, load, load->time);
    }
    return true;
}

/* Translates a load's address at `cycle`, unless that has been done, and sets its time. Returns false during a page
 * walk. */
static bool load_translate(struct ooo *o, struct ooo_load *load, uint64_t cycle)
{
    load->time = cycle;
    if (load->step != OOO_TRANSLATE)
        return true;
    load->step = OOO_CHECK;
    return translate(o, load);
}

/* Sends a prefetch, which is complete at once. It depends on no store. */
static void prefetch_go(struct ooo *o, struct ooo_load *load)
{
    const struct stream_op op = {.pc = entry_of(o, load)->pc, .id = entry_of(o, load)->id};
    core_prefetch(&o->core, &op, load->physical, ooo_time(o, load->time));
    load_complete(o, load);
}

/* Makes a load whose address is known access memory at `cycle`. */
static void load_go(struct ooo *o, struct ooo_load *load, uint64_t cycle)
{
    if (!load_translate(o, load, cycle))
        return;
    if (load->prefetch) {
        prefetch_go(o, load);
        return;
    }
    if (!check_order(o, load))
        return;
    uint64_t time = load->time;
    unsigned count = find_pieces(o, load->pieces, load->address, load->physical, load->size);
    access_piece(o, load, &load->pieces[0], time);
    if (count == 2) /* the second piece takes the port again */
        access_piece(o, load, &load->pieces[1],
                     ports_take(&o->ports, &o->classes[entry_of(o, load)->id].use, time + 1));
    if (!load->parts)
        load_complete(o, load);
}

struct ooo_load *ooo_load_enter(struct ooo *o, const struct stream_entry *in, struct ooo_entry *e)
{
    struct ooo_load *load = &o->load_ring[e->memory];
    load->number = o->tail;
    load->address = in->address;
    load->physical = in->physical;
    load->older = o->stores;
    load->walked = 0;
    load->size = in->op->size;
    load->prefetch = (in->op->flags & STREAM_PREFETCH) != 0;
    load->step = load->prefetch && load->physical == EFFECTS_NOWHERE ? OOO_CHECK : OOO_TRANSLATE;
    load->parts = 0;
    load->level = MEM_LEVEL_L1;
    load->speculated = load->deferred = load->ahead = load->walking = false;
    e->id = in->op->id;
    e->dependents = OOO_NONE;
    e->complete = OOO_NEVER;
    return load;
}

static inline void load_hit(struct ooo *o, const struct stream_op *op, struct ooo_entry *e, uint64_t cycle)
{
    e->complete = o->times[op->rd] = cycle + o->hit_clocks;
    o->times[STREAM_NONE] = 0;
}

/* The second part of ooo_load_first(), for a load that no store affects and that does not hit at once. */
static NOINLINE void load_unaffected(struct ooo *o, const struct stream_entry *in, struct ooo_entry *e,
                                     uint64_t cycle)
{
    const struct stream_op *op = in->op;
    struct ooo_piece *piece = &o->load_ring[e->memory].pieces[0];
    struct cache_actor actor = {.pc = op->pc, .core = o->core.parts.number, .bytes = op->size};
    piece->waiter.done = load_piece_done;
    piece->bytes = op->size;
    enum cache_outcome outcome =
        cache_access_slowly(o->l1d, in->physical, CACHE_LOAD, ooo_time(o, cycle), actor, &piece->waiter);
    if (outcome == CACHE_HIT) {
        load_hit(o, op, e, cycle);
        return;
    }
    struct ooo_load *load = ooo_load_enter(o, in, e);
    ooo_result_unknown(o, op->rd);
    load->time = piece->cycle = cycle;
    piece->physical = in->physical;
    piece->full = outcome == CACHE_FULL;
    load->parts = 1;
}

/* ooo_load_first() for any other load. */
static NOINLINE void load_any(struct ooo *o, const struct stream_entry *in, struct ooo_entry *e,
                              uint64_t cycle)
{
    struct ooo_load *load = ooo_load_enter(o, in, e);
    ooo_result_unknown(o, in->op->rd);
    load_go(o, load, cycle);
}

/* Completes a just dispatched load at once if the youngest store to its granule has its bytes, and holds them at `cycle`. Returns
 * whether that is so. A quick test, as ooo_load_is_plain(): false does not imply that no store has them. */
static bool load_forwarded(struct ooo *o, const struct stream_entry *in, struct ooo_entry *e, uint64_t cycle)
{
    uint64_t physical = in->physical, end = physical + in->op->size;
    uint64_t index = o->buckets[ooo_bucket(physical / 8)];
    const struct ooo_store *store = &o->store_ring[index & o->store_mask];
    if (o->core.parts.tlb || ooo_waits_for_order(o, in->op->pc) || store->index != index ||
        store->physical > physical || store->physical + store->size < end || store->known > cycle ||
        store->data == OOO_NEVER || store->done <= cycle || in->op->flags & STREAM_PREFETCH)
        return false;
    o->count.forwarded++;
    load_hit(o, in->op, e, ooo_later(cycle, store->data));
    return true;
}

void ooo_load_first(struct ooo *o, const struct stream_entry *in, struct ooo_entry *e, uint64_t cycle)
{
    if (!ooo_load_is_plain(o, in, cycle)) {
        if (!load_forwarded(o, in, e, cycle))
            load_any(o, in, e, cycle);
        return;
    }
    if (cache_hit(o->l1d, in->physical, CACHE_LOAD))
        load_hit(o, in->op, e, cycle);
    else
        load_unaffected(o, in, e, cycle);
}

void ooo_load_hold(struct ooo *o, struct ooo_load *load, uint64_t held_for, uint64_t cycle)
{
    struct ooo_entry *e = ooo_at(o, load->number);
    uint64_t other = held_for + o->ahead.offset;
    assert(other >= o->ahead.kept && other < load->number && ooo_at(o, other)->complete == OOO_NEVER);
    o->count.held++;
    load->ahead = true;
    (void)load_translate(o, load, cycle);
    e->waiting = 1;
    o->pending[load->number & o->rob_mask].ready = cycle;
    ooo_depend(o, load->number, 1, other);
}

/* Continues a load at `cycle`, after it has waited for operands or a task's bytes, unless it is held. */
static void load_ahead(struct ooo *o, struct ooo_load *load, uint64_t cycle)
{
    struct offload_view view;
    if (load->walking) /* its bytes have come; it continues after the walk */
        return;
    ooo_mechanism(o)->ops->look(ooo_mechanism(o)->context, load->number - o->ahead.offset, &view);
    assert(view.address_known);
    load->address = view.address;
    load->physical = view.physical;
    if (view.held_for) {
        ooo_load_hold(o, load, view.held_for, cycle);
        return;
    }
    load->ahead = false;
    load_go(o, load, load->step == OOO_TRANSLATE ? cycle : ooo_later(cycle, load->time));
}

/* Makes the loads that wait for a store check again, because something about it has become known. */
static void store_wake(struct ooo *o, struct ooo_store *store)
{
    uint16_t place = store->loads;
    store->loads = OOO_NONE;
    while (place != OOO_NONE) {
        struct ooo_load *load = &o->load_ring[place];
        place = load->next;
        if (!is_squashed(o, load))
            load_go(o, load, load->time);
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
        store_wake(o, store);
}

static void store_piece_done(struct cache_waiter *waiter, uint64_t now, unsigned level);

/* Writes one piece. Returns false if it was refused, so that later stores have to wait. */
static bool write_piece(struct ooo *o, struct ooo_store *store, struct ooo_piece *piece, uint64_t cycle)
{
    struct cache_actor actor = {.pc = store->pc, .core = o->core.parts.number, .bytes = piece->bytes};
    piece->waiter.owner = store;
    piece->waiter.done = store_piece_done;
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

static void store_piece_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
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
        drain_stores(o);
    }
    ooo_work(o);
    ooo_go_on(o);
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
        store_wake(o, store);
}

/* Asks the mechanism for the address of a store, which has become known, and enters the store into the index. */
static void store_place(struct ooo *o, uint64_t number, struct ooo_store *store)
{
    struct offload_view view;
    ooo_mechanism(o)->ops->look(ooo_mechanism(o)->context, number - o->ahead.offset, &view);
    assert(view.address_known);
    store->address = view.address;
    store->physical = view.physical;
    store->count = 1;
    ooo_store_reindex(o);
}

void ooo_task_issue(struct ooo *o, uint64_t number, uint64_t cycle)
{
    struct ooo_entry *e = ooo_at(o, number);
    e->issue = cycle;
    e->complete = OOO_NEVER;
    o->pending[number & o->rob_mask].ready = OOO_NEVER;
    if (o->ahead.stalled != number)
        ooo_fetch_target(o, cycle, CPI_frontend);
    if (e->facts & OOO_EARLY)
        ooo_complete(o, number, ooo_later(o->floor, cycle + 1));
}

/* Continues an instruction that issued and then waited: a store for its data, a load for a task's bytes. */
static void work_issued(struct ooo *o, struct ooo_entry *e, uint64_t number, uint64_t ready)
{
    if (ooo_is(e->facts, OOO_LOAD)) {
        load_ahead(o, &o->load_ring[e->memory], ready);
        return;
    }
    struct ooo_store *store = &o->store_ring[e->memory];
    ooo_complete(o, number, ooo_later(store->known, store->data));
    store_wake(o, store);
}

static void work_issue(struct ooo *o, struct ooo_entry *e, uint64_t number, uint64_t ready)
{
    const struct ooo_class *class = &o->classes[e->id];
    ooo_queue_known(o);
    if (ooo_is(e->facts, OOO_TASK)) {
        ooo_task_issue(o, number, ready);
        ooo_queue_leave(o, number);
        return;
    }
    if (ooo_is(e->facts, OOO_STORE)) {
        if (!o->store_ring[e->memory].count)
            store_place(o, number, &o->store_ring[e->memory]);
        ooo_store_issue(o, e, number, class, ready);
        ooo_queue_leave(o, number);
        return;
    }
    e->issue = ports_take(&o->ports, &class->use, ready);
    ooo_queue_leave(o, number);
    if (!ooo_is(e->facts, OOO_LOAD))
        ooo_complete(o, number, e->issue + class->latency);
    else if (o->load_ring[e->memory].ahead)
        load_ahead(o, &o->load_ring[e->memory], e->issue + class->latency);
    else
        load_go(o, &o->load_ring[e->memory], e->issue + class->latency);
}

void ooo_work(struct ooo *o)
{
    for (uint32_t i = 0; i < o->work_count; i++) {
        uint64_t place = o->work[i];
        struct ooo_entry *e = &o->rob_entries[place];
        uint64_t number = o->head + ((place - o->head) & o->rob_mask), ready = o->pending[place].ready;
        if (number >= o->tail) /* squashed */
            continue;
        if (e->issue != OOO_NEVER)
            work_issued(o, e, number, ready);
        else
            work_issue(o, e, number, ready);
    }
    o->work_count = 0;
}

void ooo_execute_init(struct ooo *o)
{
    if (!o->speculate)
        memset(o->wait_bits, 0xff, sizeof o->wait_bits);
    for (unsigned i = 0; i < OOO_QUEUE_MOST; i++) {
        struct ooo_load *load = &o->load_ring[i];
        load->owner = o;
        load->pieces[0].waiter.owner = load->pieces[1].waiter.owner = load->walk.owner = load;
    }
    o->stores = o->freed = o->drain = o->drain_tail = OOO_QUEUE_MOST;
    for (unsigned i = 0; i < OOO_QUEUE_MOST; i++) {
        o->store_ring[i].owner = o;
        o->store_ring[i].index = OOO_NEVER;
    }
}
