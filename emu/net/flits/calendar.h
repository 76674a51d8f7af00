/* Flits and credits that are on their way in a network, by clock of arrival. */
#ifndef EMU_NET_FLITS_CALENDAR_H
#define EMU_NET_FLITS_CALENDAR_H

#include "emu/net/bits.h"
#include "emu/sim/alloc.h"
#include "emu/sim/event.h"

enum { FLIT_HEAD = 1, FLIT_TAIL = 2, FLIT_TRACKER = 4 };

struct flit {
    uint32_t packet; /* index (packets.h) */
    uint16_t value;  /* of the head: the destination; of others: the number within the packet */
    uint8_t vc;      /* where it is, or arrives */
    uint8_t flags;
};

/* A flit that arrives. Its target is a router's port or, at a node, the number of ports + node. The target of a credit
 * is port * vcs + vc. */
struct flit_arrival {
    uint32_t target;
    struct flit flit;
};

/* The flits and credits that arrive in one clock, each in the order in which they were posted. */
struct calendar_slot {
    struct flit_arrival *flits;
    uint32_t *credits;
    uint32_t flit_count, flit_room, credit_count, credit_room;
};

struct calendar {
    struct calendar_slot *slots;  /* by clock modulo their number, a power of two */
    struct calendar_slot *spares; /* empty slots' arrays */
    uint64_t *occupied;           /* bit: slot is not empty */
    uint32_t mask, spare_count;
};

/* Makes a calendar for clocks up to `horizon` ahead of the latest one taken. Aborts when out of memory. Release it with
 * calendar_free(). */
void calendar_init(struct calendar *calendar, uint64_t horizon);
void calendar_free(struct calendar *calendar);

/* The slot of a clock. An empty one takes over the arrays of the slot emptied last: only few are in use at a time, and they
 * stay in the host's caches. */
static inline struct calendar_slot *calendar_at(struct calendar *calendar, uint64_t clock)
{
    uint32_t index = (uint32_t)clock & calendar->mask;
    uint64_t *word = &calendar->occupied[index / 64], bit = BIT(index % 64);
    struct calendar_slot *slot = &calendar->slots[index];
    if (!(*word & bit)) {
        *word |= bit;
        if (calendar->spare_count)
            *slot = calendar->spares[--calendar->spare_count];
    }
    return slot;
}

static inline void calendar_post_flit(struct calendar *calendar, uint64_t clock, uint32_t target,
                                      struct flit flit)
{
    struct calendar_slot *slot = calendar_at(calendar, clock);
    if (slot->flit_count == slot->flit_room) {
        slot->flit_room = slot->flit_room ? 2 * slot->flit_room : 16;
        slot->flits = alloc_resize(slot->flits, slot->flit_room * sizeof *slot->flits);
    }
    slot->flits[slot->flit_count++] = (struct flit_arrival){target, flit};
}

static inline void calendar_post_credit(struct calendar *calendar, uint64_t clock, uint32_t target)
{
    struct calendar_slot *slot = calendar_at(calendar, clock);
    if (slot->credit_count == slot->credit_room) {
        slot->credit_room = slot->credit_room ? 2 * slot->credit_room : 16;
        slot->credits = alloc_resize(slot->credits, slot->credit_room * sizeof *slot->credits);
    }
    slot->credits[slot->credit_count++] = target;
}

/* Begins to take what arrives in a clock. Returns the clock's slot, which the caller gives to calendar_taken(); NULL
 * if nothing arrives. Nothing may be posted for this clock any more. */
static inline struct calendar_slot *calendar_take(struct calendar *calendar, uint64_t clock)
{
    uint32_t index = (uint32_t)clock & calendar->mask;
    if (!(calendar->occupied[index / 64] & BIT(index % 64)))
        return NULL;
    calendar->occupied[index / 64] &= ~BIT(index % 64);
    return &calendar->slots[index];
}

static inline void calendar_taken(struct calendar *calendar, struct calendar_slot *slot)
{
    slot->flit_count = slot->credit_count = 0;
    calendar->spares[calendar->spare_count++] = *slot;
    *slot = (struct calendar_slot){0};
}

/* Returns the first clock at or after `from` in which something arrives, or CLOCK_NEVER. */
uint64_t calendar_next(const struct calendar *calendar, uint64_t from);

#endif
