/* The event queue. It fires events in an order that is the same in every run. */
#ifndef EMU_SIM_EVENT_H
#define EMU_SIM_EVENT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/clock.h"

enum {
    EVENT_SLOT_BITS = 8,
    EVENT_SLOTS = 1 << EVENT_SLOT_BITS,
    EVENT_WORDS = EVENT_SLOTS / 64,
    EVENT_GRAIN_BITS = 18, /* 0.26 ns: most events wait in level 0, which spans 67 ns */
    EVENT_LEVELS = (64 - EVENT_GRAIN_BITS + EVENT_SLOT_BITS - 1) / EVENT_SLOT_BITS,
    EVENT_COMPONENTS = 1 << 16,
    EVENT_QUEUES = 64, /* of a team */
};

/* An event is a member of the component that it wakes, so scheduling allocates nothing. event_init() sets it up; the
 * queue owns all fields while the event is pending. */
struct event {
    uint64_t time;  /* when it fires, or last fired */
    uint64_t order; /* component, then age */
    struct event *next;
    /* in a list: the event before it; in the heap: the sibling before it, or the parent if it is the first child */
    struct event *previous;
    struct event *child;
    void (*fire)(void *owner, uint64_t now);
    void *owner;
    uint16_t component;
    uint8_t level; /* level of the wheel */
    uint8_t place; /* enum event_place */
};

/* A hierarchical timing wheel. Level 0 has one slot for each grain of time; a slot of a higher level spans the whole
 * level below. Only the events of the current slot are ordered, so the cost of an event does not depend on how many events
 * are pending at other times: those that the slot has when it is reached are sorted, and those that are scheduled for it
 * later are in a pairing heap. */
struct event_queue {
    uint64_t now; /* time of the event that fired last, or fires now; never decreases */
    /* start of the slot whose events are sorted or in the heap; the heap holds all earlier events too */
    uint64_t position;
    struct event *sorted;          /* events of the slot, in order */
    struct event *heap;            /* the first of the others; has no siblings */
    struct event *none;            /* takes what is written to `previous` of no event */
    uint64_t age;                  /* number of schedulings so far */
    uint64_t fired;                /* number of events fired so far */
    const struct event_team *team; /* of which it is one; NULL: it is alone */
    struct event_window
        *window; /* in which a thread of its own fires its events (threads/turns.h), or NULL */
    uint64_t
        occupied[EVENT_LEVELS * EVENT_WORDS]; /* words of slots, from level 0 on; bit: slot is not empty */
    uint64_t occupied_words;                  /* set of the words that are not 0 */
    struct event *slots[EVENT_LEVELS][EVENT_SLOTS];
};

/* Several queues whose events fire in the order that they would have in one. All events of a component are in the same queue; so
 * ages order only events of one queue, and time and component those of different queues. A component may have one event in each
 * queue instead, for parts of one thing: those that are due at one time fire together, in the order of the queues. */
struct event_team {
    struct event_queue *queues;
    unsigned count;
};

/* Makes an empty queue at time 0. It owns no memory. */
void event_queue_init(struct event_queue *queue);

/* Prepares an event; it must not be pending. Events at the same time fire in ascending order of component (below
 * EVENT_COMPONENTS), then in the order of their event_schedule() calls. fire(owner, now) may schedule and cancel any
 * event, including this one. */
static inline void event_init(struct event *event, uint32_t component,
                              void (*fire)(void *owner, uint64_t now), void *owner)
{
    assert(component < EVENT_COMPONENTS);
    event->time = 0;
    event->fire = fire;
    event->owner = owner;
    event->component = (uint16_t)component;
    event->place = 0;
}

/* Makes the event fire at `time` (>= queue->now). A pending event moves there and counts as scheduled last. */
void event_schedule(struct event_queue *queue, struct event *event, uint64_t time);

/* Cancels a pending event. Does nothing if the event is not pending. */
void event_cancel(struct event_queue *queue, struct event *event);

static inline bool event_pending(const struct event *event)
{
    return event->place != 0;
}

/* Returns the time of the next event of the queue's team, or CLOCK_NEVER if none is pending. In a window, an earlier one, up to which
 * no event of another queue matters. */
uint64_t event_queue_next(struct event_queue *queue);

/* Returns the next event, or NULL if none is pending. */
const struct event *event_queue_first(struct event_queue *queue);

/* Fires the next event. Returns false if none is pending. */
bool event_queue_step(struct event_queue *queue);

/* Fires all events up to and including time `until`, then sets now to `until` unless that is CLOCK_NEVER. */
void event_queue_run(struct event_queue *queue, uint64_t until);

/* Makes a team of queues that are empty and at the same time; both must outlive it. From then on, only event_team_step() fires
 * their events; `now` is the same in all. */
void event_team_init(struct event_team *team, struct event_queue *queues, unsigned count);

/* Fires the next event of all queues. Returns false if none is pending. */
bool event_team_step(const struct event_team *team);

#endif
