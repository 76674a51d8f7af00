/* Completion out of order: a result becomes known, and makes its dependents ready. */
#include "emu/core/ooo/state.h"

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
