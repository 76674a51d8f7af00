#include "emu/sim/threads/turns.h"

#include <assert.h>
#include <sched.h>

#include "emu/sim/threads/spin.h"

static void publish(const struct event_window *window, uint64_t position)
{
    atomic_store_explicit(&window->turns->of[window->number].position, position, memory_order_release);
}

/* Returns whether queue `other` is past the position of queue `own`. */
static bool is_past(const struct turns *turns, unsigned other, unsigned own, uint64_t position)
{
    const int64_t ahead =
        (int64_t)(atomic_load_explicit(&turns->of[other].position, memory_order_acquire) - position);
    return ahead > 0 || (ahead == 0 && other > own);
}

void window_turn(const struct event_window *window)
{
    const struct turns *turns = window->turns;
    const uint64_t position = window_position(window);
    for (unsigned i = 0; i < turns->count; i++)
        for (unsigned spins = 0; i != window->number && !is_past(turns, i, window->number, position);)
            spin_once(&spins);
}

void turns_begin(struct turns *turns, struct event_window *windows, struct event_queue *queues,
                 unsigned count, uint64_t first, uint64_t end)
{
    assert(count <= EVENT_QUEUES && first < end && end - first <= WINDOW_MOST);
    turns->count = count;
    turns->end = end;
    atomic_store_explicit(&turns->stopped, false, memory_order_relaxed);
    for (unsigned i = 0; i < count; i++) {
        windows[i] = (struct event_window){.turns = turns, .number = i, .end = end, .time = first};
        queues[i].window = &windows[i];
        publish(&windows[i], turn_position(first, 0, 0));
    }
}

/* Returns whether the window has been ended before the queue's position. */
static bool is_over(const struct event_window *window)
{
    const struct turns *turns = window->turns;
    return atomic_load_explicit(&turns->stopped, memory_order_acquire) &&
           (int64_t)(window_position(window) - atomic_load_explicit(&turns->last, memory_order_relaxed)) > 0;
}

void window_run(struct event_queue *queue)
{
    struct event_window *window = queue->window;
    const struct event *event;
    while ((event = event_queue_first(queue)) && event->time < window->end) {
        window_reach(window, event->time, event->component);
        if (window->strict && !is_over(window))
            window_turn(window);
        if (is_over(window))
            break;
        (void)event_queue_step(queue);
    }
    publish(window, turn_position(window->turns->end, 0, 0));
}

void turns_end(struct event_queue *queues, unsigned count)
{
    uint64_t now = 0;
    for (unsigned i = 0; i < count; i++) {
        queues[i].window = NULL;
        now = queues[i].now > now ? queues[i].now : now;
    }
    for (unsigned i = 0; i < count; i++)
        queues[i].now = now;
}
