/* Loads out of order: translation, order with respect to older stores, and access to the cache. A load completes with its
 * bytes: of the cache, of an older store, or, ahead of tasks, of a task that has yet to write them. */
#include <assert.h>

#include "emu/core/ooo/state.h"
#include "emu/hart/dispatch.h"
#include "emu/hart/mmu.h"

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
    struct ooo_store *store = ooo_find_overlap(o, load, load->time);
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

/* Accesses the cache for one piece; the load's time becomes the latest completion of its pieces. */
static void access_piece(struct ooo *o, struct ooo_load *load, struct ooo_piece *piece, uint64_t cycle)
{
    struct cache_actor actor = {
        .pc = entry_of(o, load)->pc, .core = o->core.parts.number, .bytes = piece->bytes};
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

static void set_walked(struct ooo *o, struct ooo_load *load, uint64_t cycle)
{
    load->walked = cycle;
    entry_of(o, load)->facts |= OOO_PARTED;
}

static bool translate(struct ooo *o, struct ooo_load *load)
{
    struct core_tlb *tlb = o->core.parts.tlb;
    if (!tlb)
        return true;
    uint64_t time = ooo_time(o, load->time), ready;
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

void ooo_load_go(struct ooo *o, struct ooo_load *load, uint64_t cycle)
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
    unsigned count = ooo_find_pieces(o, load->pieces, load->address, load->physical, load->size);
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

/*ooo_load_first() for any other load. */
static NOINLINE void load_any(struct ooo *o, const struct stream_entry *in, struct ooo_entry *e,
                              uint64_t cycle)
{
    struct ooo_load *load = ooo_load_enter(o, in, e);
    ooo_result_unknown(o, in->op->rd);
    ooo_load_go(o, load, cycle);
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

void ooo_load_ahead(struct ooo *o, struct ooo_load *load, uint64_t cycle)
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
    ooo_load_go(o, load, load->step == OOO_TRANSLATE ? cycle : ooo_later(cycle, load->time));
}

bool ooo_load_came(struct ooo *o, struct ooo_load *load, struct ooo_piece *piece, unsigned level)
{
    load->parts--;
    if (ooo_is_squashed(o, load)) {
        access_ended(o, load);
        return false;
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
    return true;
}

bool ooo_load_walked(struct ooo *o, struct ooo_load *load)
{
    load->walking = false;
    if (ooo_is_squashed(o, load)) {
        access_ended(o, load);
        return false;
    }
    set_walked(o, load, ooo_later(load->time, o->floor));
    if (!load->ahead)
        ooo_load_go(o, load, load->walked);
    else if (entry_of(o, load)->waiting == 0) /* else it is held for a task's bytes */
        ooo_load_ahead(o, load, load->walked);
    return true;
}
