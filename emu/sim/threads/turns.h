/* Several host threads that fire the events of a team's queues at the same time, one queue each, in windows of simulated time. Events
 * of different queues do not act on each other within a window, except by what is done in turn.
 *
 * The order of events is that of event_team_step(): at each step, the least next event of all queues, by time and component. An event
 * may schedule others at its own time, of lower components; so the place of an event in this order, its position, is its time, then
 * the greatest component that its queue has fired at this time, itself included, then the greatest one since. Of two queues with equal
 * positions, the lower number comes first.
 *
 * Each thread publishes its position before it fires an event, or goes ahead of the events. A thread that waits for its turn waits
 * until the positions of all others are later. What is done in turn is done in the order of positions, one at a time, and each sees
 * all that was done before. */
#ifndef EMU_SIM_THREADS_TURNS_H
#define EMU_SIM_THREADS_TURNS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/event.h"

/* Windows must be shorter than this, or positions could not be compared: fs. */
#define WINDOW_MOST UINT64_C(1000000000)

struct turn {
    _Alignas(128) _Atomic uint64_t position; /* in a cache line of its own */
};

/* What the threads share. */
struct turns {
    struct turn of[EVENT_QUEUES];
    _Alignas(128) _Atomic bool stopped; /* the window ends at position `last` */
    _Atomic uint64_t last;
    unsigned count;
    uint64_t end; /* of the window */
};

/* A queue's part of a window. */
struct event_window {
    _Alignas(128) struct turns *turns;
    unsigned number; /* of the queue */
    uint64_t end;    /* it fires events before this time */
    bool strict;     /* each of its events waits for its turn */
    /* Position: greatest component at this time, and greatest since. */
    uint64_t time;
    uint16_t greatest, since;
};

/* The position of an event: the lower half of its time, then components. Compare the sign of differences. */
static inline uint64_t turn_position(uint64_t time, uint16_t greatest, uint16_t since)
{
    return time << 32 | (uint64_t)greatest << 16 | since;
}

/* Publishes that the queue is about to execute what has the time and component: its next event, or a cycle ahead of its events. */
static inline void window_reach(struct event_window *window, uint64_t time, uint16_t component)
{
    if (time != window->time || component > window->greatest) {
        window->time = time;
        window->greatest = component;
        window->since = 0;
    } else if (component < window->greatest && component > window->since) {
        window->since = component;
    }
    atomic_store_explicit(&window->turns->of[window->number].position,
                          turn_position(window->time, window->greatest, window->since), memory_order_release);
}

/* Waits until all that is before the queue's position has been executed. */
void window_turn(const struct event_window *window);

/* Returns the queue's position. */
static inline uint64_t window_position(const struct event_window *window)
{
    return turn_position(window->time, window->greatest, window->since);
}

/* Ends the window at a position that no thread has passed: none fires an event after it. Where a window is ended twice,
 * the second position is before the first. */
static inline void window_stop(const struct event_window *window, uint64_t last)
{
    atomic_store_explicit(&window->turns->last, last, memory_order_relaxed);
    atomic_store_explicit(&window->turns->stopped, true, memory_order_release);
}

/* Begins a window from `first` to `end` for `count` queues of a team, each with its element of windows[]. end - first is not above
 * WINDOW_MOST. */
void turns_begin(struct turns *turns, struct event_window *windows, struct event_queue *queues,
                 unsigned count, uint64_t first, uint64_t end);

/* Fires the queue's events of the window. Called for each queue, on threads of their own. */
void window_run(struct event_queue *queue);

/* Ends the window, when all threads have returned. The queues' time is that of the last event. */
void turns_end(struct event_queue *queues, unsigned count);

#endif
