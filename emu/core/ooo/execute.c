/* Execution out of order: issue of instructions that had to wait, tasks as far as they are instructions, and what the cache
 * calls. */
#include <string.h>

#include "emu/core/ooo/state.h"

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
        ooo_load_ahead(o, &o->load_ring[e->memory], ready);
        return;
    }
    struct ooo_store *store = &o->store_ring[e->memory];
    ooo_complete(o, number, ooo_later(store->known, store->data));
    ooo_store_wake(o, store);
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
            ooo_store_place(o, number, &o->store_ring[e->memory]);
        ooo_store_issue(o, e, number, class, ready);
        ooo_queue_leave(o, number);
        return;
    }
    e->issue = ports_take(&o->ports, &class->use, ready);
    ooo_queue_leave(o, number);
    if (!ooo_is(e->facts, OOO_LOAD))
        ooo_complete(o, number, e->issue + class->latency);
    else if (o->load_ring[e->memory].ahead)
        ooo_load_ahead(o, &o->load_ring[e->memory], e->issue + class->latency);
    else
        ooo_load_go(o, &o->load_ring[e->memory], e->issue + class->latency);
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

static void load_piece_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct ooo_load *load = waiter->owner;
    struct ooo *o = load->owner;
    ooo_callback(o, now);
    if (!ooo_load_came(o, load, (struct ooo_piece *)waiter, level))
        return;
    ooo_work(o);
    ooo_go_on(o);
}

static void walk_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    (void)level;
    struct ooo_load *load = waiter->owner;
    struct ooo *o = load->owner;
    ooo_callback(o, now);
    if (!ooo_load_walked(o, load))
        return;
    ooo_work(o);
    ooo_go_on(o);
}

static void store_piece_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct ooo_store *store = waiter->owner;
    struct ooo *o = store->owner;
    ooo_callback(o, now);
    ooo_store_came(o, store, (struct ooo_piece *)waiter, level);
    ooo_work(o);
    ooo_go_on(o);
}

void ooo_execute_init(struct ooo *o)
{
    if (!o->speculate)
        memset(o->wait_bits, 0xff, sizeof o->wait_bits);
    for (unsigned i = 0; i < OOO_QUEUE_MOST; i++) {
        struct ooo_load *load = &o->load_ring[i];
        load->owner = o;
        load->pieces[0].waiter = load->pieces[1].waiter = (struct cache_waiter){NULL, load_piece_done, load};
        load->walk = (struct cache_waiter){NULL, walk_done, load};
    }
    o->stores = o->freed = o->drain = o->drain_tail = OOO_QUEUE_MOST;
    for (unsigned i = 0; i < OOO_QUEUE_MOST; i++) {
        struct ooo_store *store = &o->store_ring[i];
        store->owner = o;
        store->index = OOO_NEVER;
        store->pieces[0].waiter = store->pieces[1].waiter =
            (struct cache_waiter){NULL, store_piece_done, store};
    }
}
