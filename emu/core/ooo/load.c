#include "emu/core/ooo/state.h"
#include "emu/hart/mmu.h"

static const uint8_t level_cause[MEM_LEVELS] = {CPI_l1, CPI_l2, CPI_memory};

static struct ooo_entry *entry_of(struct ooo *o, const struct ooo_load *load)
{
    return ooo_at(o, load->number);
}

static bool waits_for_order(const struct ooo *o, uint64_t pc)
{
    uint64_t bit = pc / 2 % OOO_WAIT_BITS;
    return !o->speculate || o->wait_bits[bit / 8] >> bit % 8 & 1;
}

static void wait_from_now_on(struct ooo *o, uint64_t pc)
{
    uint64_t bit = pc / 2 % OOO_WAIT_BITS;
    o->wait_bits[bit / 8] |= (uint8_t)(1u << bit % 8);
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
static bool check(struct ooo *o, struct ooo_load *load)
{
    if (waits_for_order(o, entry_of(o, load)->pc) && !addresses_known(o, load))
        return false;
    struct ooo_store *store = ooo_store_overlap(o, load, load->time);
    if (store)
        return check_store(o, load, store);
    settle(o, load);
    return true;
}

static void piece_done(struct cache_waiter *waiter, uint64_t now, unsigned level);

/* Accesses the cache for one piece; the load's time becomes the latest completion of its pieces. */
static void access_piece(struct ooo *o, struct ooo_load *load, struct ooo_piece *piece, uint64_t cycle)
{
    struct cache_actor actor = {.pc = entry_of(o, load)->pc, .core = o->core.parts.number};
    piece->waiter.done = piece_done;
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

static void piece_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct ooo_piece *piece = (struct ooo_piece *)waiter;
    struct ooo_load *load = waiter->owner;
    struct ooo *o = load->owner;
    ooo_callback(o, now);
    load->parts--;
    if (ooo_is_squashed(o, load)) {
        ooo_ahead_ended(o, load);
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

unsigned ooo_pieces(struct ooo *o, struct ooo_piece pieces[2], uint64_t address, uint64_t physical,
                    unsigned size)
{
    uint64_t room = o->line_bytes - (physical & (o->line_bytes - 1));
    pieces[0].physical = physical;
    if (__builtin_expect(size <= room, 1))
        return 1;
    uint64_t second = address + room;
    pieces[1].physical = physical + room;
    if (second % MMU_PAGE == 0 && o->core.parts.hart->privileged)
        (void)mmu_peek(o->core.parts.hart, second, &pieces[1].physical);
    return 2;
}

static void walk_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    (void)level;
    struct ooo_load *load = waiter->owner;
    struct ooo *o = load->owner;
    ooo_callback(o, now);
    load->walking = false;
    if (ooo_is_squashed(o, load)) {
        ooo_ahead_ended(o, load);
        return;
    }
    load->walked = ooo_later(load->time, o->floor);
    if (!load->ahead)
        ooo_load_go(o, load, load->walked);
    else if (entry_of(o, load)->waiting == 0) /* else it is held for a task's bytes */
        ooo_ahead_load(o, load, load->walked);
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
    if (ready > time)
        load->time = load->walked = clock_cycle(&o->core.parts.clock, ready);
    return true;
}

struct ooo_load *ooo_load_enter(struct ooo *o, const struct stream_entry *in, struct ooo_entry *e)
{
    struct ooo_load *load = &o->load_ring[e->memory];
    load->number = o->tail;
    load->address = in->address;
    load->physical = in->physical;
    load->older = o->stores;
    load->size = in->op->size;
    load->step = OOO_TRANSLATE;
    load->parts = 0;
    load->level = MEM_LEVEL_L1;
    load->speculated = load->deferred = load->ahead = load->walking = false;
    e->complete = OOO_NEVER;
    return load;
}

static inline void load_hit(struct ooo *o, const struct stream_op *op, struct ooo_entry *e, uint64_t cycle)
{
    e->complete = o->times[op->rd] = cycle + o->hit_clocks;
    o->times[STREAM_NONE] = 0;
}

void ooo_load_first(struct ooo *o, const struct stream_entry *in, struct ooo_entry *e, uint64_t cycle)
{
    const struct stream_op *op = in->op;
    uint64_t physical = in->physical;
    if (!o->core.parts.tlb && ooo_store_none(o, physical, op->size, cycle) && !waits_for_order(o, op->pc)) {
        if (__builtin_expect(cache_hit(o->l1d, physical, CACHE_LOAD), 1)) {
            load_hit(o, op, e, cycle);
            return;
        }
        struct ooo_piece *piece = &o->load_ring[e->memory].pieces[0];
        struct cache_actor actor = {.pc = op->pc, .core = o->core.parts.number};
        piece->waiter.done = piece_done;
        enum cache_outcome outcome =
            cache_access_slowly(o->l1d, physical, CACHE_LOAD, ooo_time(o, cycle), actor, &piece->waiter);
        if (outcome == CACHE_HIT) {
            load_hit(o, op, e, cycle);
            return;
        }
        struct ooo_load *load = ooo_load_enter(o, in, e);
        ooo_result_unknown(o, op->rd);
        load->time = piece->cycle = cycle;
        piece->physical = physical;
        piece->full = outcome == CACHE_FULL;
        load->parts = 1;
        return;
    }
    struct ooo_load *load = ooo_load_enter(o, in, e);
    ooo_result_unknown(o, op->rd);
    ooo_load_go(o, load, cycle);
}

bool ooo_load_translate(struct ooo *o, struct ooo_load *load, uint64_t cycle)
{
    load->time = cycle;
    if (load->step != OOO_TRANSLATE)
        return true;
    load->step = OOO_CHECK;
    return translate(o, load);
}

void ooo_load_go(struct ooo *o, struct ooo_load *load, uint64_t cycle)
{
    if (!ooo_load_translate(o, load, cycle) || !check(o, load))
        return;
    uint64_t time = load->time;
    unsigned count = ooo_pieces(o, load->pieces, load->address, load->physical, load->size);
    access_piece(o, load, &load->pieces[0], time);
    if (count == 2) /* the second piece takes the port again */
        access_piece(o, load, &load->pieces[1],
                     ports_take(&o->ports, &o->classes[entry_of(o, load)->id].use, time + 1));
    if (!load->parts)
        load_complete(o, load);
}

void ooo_load_init(struct ooo *o)
{
    for (unsigned i = 0; i < OOO_QUEUE_MOST; i++) {
        struct ooo_load *load = &o->load_ring[i];
        load->owner = o;
        load->pieces[0].waiter.owner = load->pieces[1].waiter.owner = load->walk.owner = load;
    }
}
