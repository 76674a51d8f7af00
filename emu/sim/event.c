#include "emu/sim/event.h"

#include <assert.h>
#include <string.h>

#include "emu/sim/inline.h"
#include "emu/sim/threads/turns.h"

enum event_place { PLACE_NONE, PLACE_HEAP, PLACE_SORTED, PLACE_SLOT };

enum {
    AGE_BITS = 48, /* at 20 million events a second, 2^48 ages last for 160 days */
    SORT_BINS = 48 /* enough to sort 2^48 events */
};

void event_queue_init(struct event_queue *queue)
{
    memset(queue, 0, sizeof *queue);
}

static bool before(const struct event *a, const struct event *b)
{
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

/* Merges two heaps; either may be NULL. */
static struct event *heap_merge(struct event *a, struct event *b)
{
    if (!a)
        return b;
    if (!b)
        return a;
    if (before(b, a)) {
        struct event *other = a;
        a = b;
        b = other;
    }
    b->next = a->child;
    if (a->child)
        a->child->previous = b;
    b->previous = a;
    a->child = b;
    return a;
}

/* Merges a list of siblings into one heap: first in pairs, then from the last pair to the first. */
static struct event *heap_merge_siblings(struct event *list)
{
    struct event *pairs = NULL; /* linked by next, last pair first */
    while (list) {
        struct event *a = list, *b = a->next;
        list = b ? b->next : NULL;
        a->next = NULL;
        if (b)
            b->next = NULL;
        a = heap_merge(a, b);
        a->next = pairs;
        pairs = a;
    }
    struct event *heap = NULL;
    while (pairs) {
        struct event *rest = pairs->next;
        pairs->next = NULL;
        heap = heap_merge(heap, pairs);
        pairs = rest;
    }
    return heap;
}

static void heap_insert(struct event_queue *queue, struct event *event)
{
    event->place = PLACE_HEAP;
    event->next = event->previous = event->child = NULL;
    queue->heap = queue->heap ? heap_merge(queue->heap, event) : event;
}

static void heap_remove(struct event_queue *queue, struct event *event)
{
    struct event *rest = event->child ? heap_merge_siblings(event->child) : NULL;
    if (event == queue->heap) {
        queue->heap = rest;
    } else {
        if (event->previous->child == event)
            event->previous->child = event->next;
        else
            event->previous->next = event->next;
        if (event->next)
            event->next->previous = event->previous;
        queue->heap = heap_merge(queue->heap, rest);
    }
    if (queue->heap)
        queue->heap->next = queue->heap->previous = NULL;
}

/* Merges two ordered lists, of which `a` is not empty. */
static struct event *list_merge(struct event *a, struct event *b)
{
    struct event *first = NULL, **end = &first;
    while (b) {
        if (before(b, a)) {
            struct event *other = a;
            a = b;
            b = other;
        }
        *end = a;
        end = &a->next;
        if (!*end) {
            *end = b;
            return first;
        }
        a = *end;
    }
    *end = a;
    return first;
}

/* Takes the first event of a list that is not empty, and the next ones as long as each fires before the one
 * taken last. Returns them in the order in which they fire. */
static struct event *take_run(struct event **list)
{
    struct event *run = *list, *rest = run->next;
    run->next = NULL;
    while (rest && before(rest, run)) {
        struct event *event = rest;
        rest = event->next;
        event->next = run;
        run = event;
    }
    *list = rest;
    return run;
}

/* Merges the runs of a list, which has some, and `run` in pairs, then pairs, and so on. */
static struct event *runs_merge(struct event *run, struct event *list)
{
    struct event *bins[SORT_BINS] = {run}, *sorted = NULL; /* bin i: 2^i runs, or NULL */
    unsigned used = 1;
    while (list) {
        unsigned bin = 0;
        run = take_run(&list);
        for (; bin < used && bins[bin]; bin++) {
            run = list_merge(run, bins[bin]);
            bins[bin] = NULL;
        }
        used += bin == used;
        bins[bin] = run;
    }
    for (unsigned bin = 0; bin < used; bin++)
        if (bins[bin])
            sorted = list_merge(bins[bin], sorted);
    return sorted;
}

/* Orders a list. A slot has its youngest event first, so events that were scheduled in their order are one run. */
static struct event *list_sort(struct event *list)
{
    struct event *run = list ? take_run(&list) : NULL;
    return list ? runs_merge(run, list) : run;
}

static void sorted_remove(struct event_queue *queue, struct event *event)
{
    *(event->previous ? &event->previous->next : &queue->sorted) = event->next;
    if (event->next)
        event->next->previous = event->previous;
}

/* Makes a list the ordered events of the current slot. */
static void sorted_fill(struct event_queue *queue, struct event *list)
{
    struct event *previous = NULL;
    queue->sorted = list_sort(list);
    for (struct event *event = queue->sorted; event; event = event->next) {
        event->place = PLACE_SORTED;
        event->previous = previous;
        previous = event;
    }
}

static unsigned slot_of(uint64_t time, unsigned level)
{
    return (unsigned)(time >> (EVENT_GRAIN_BITS + EVENT_SLOT_BITS * level)) % EVENT_SLOTS;
}

static void set_occupied(struct event_queue *queue, unsigned level, unsigned slot)
{
    const unsigned word = level * EVENT_WORDS + slot / 64;
    queue->occupied[word] |= UINT64_C(1) << (slot % 64);
    queue->occupied_words |= UINT64_C(1) << word;
}

static void clear_occupied(struct event_queue *queue, unsigned level, unsigned slot)
{
    const unsigned word = level * EVENT_WORDS + slot / 64;
    queue->occupied[word] &= ~(UINT64_C(1) << (slot % 64));
    queue->occupied_words &= ~((uint64_t)!queue->occupied[word] << word);
}

/* Puts an event into the wheel, at the highest level at which its time and the position differ. differs: the
 * XOR of both in grains, not 0. */
static void slot_insert(struct event_queue *queue, struct event *event, uint64_t differs)
{
    unsigned level = (63 - (unsigned)__builtin_clzll(differs)) / EVENT_SLOT_BITS;
    unsigned slot = slot_of(event->time, level);
    struct event *first = queue->slots[level][slot];
    event->place = PLACE_SLOT;
    event->level = (uint8_t)level;
    event->previous = NULL;
    event->next = first;
    *(first ? &first->previous : &queue->none) =
        event; /* without a branch, which the host could not foresee */
    queue->slots[level][slot] = event;
    set_occupied(queue, level, slot);
}

static void slot_remove(struct event_queue *queue, struct event *event)
{
    if (event->next)
        event->next->previous = event->previous;
    if (event->previous) {
        event->previous->next = event->next;
        return;
    }
    unsigned level = event->level, slot = slot_of(event->time, level);
    queue->slots[level][slot] = event->next;
    if (!event->next)
        clear_occupied(queue, level, slot);
}

/* Reverses a list that is not empty. Returns the earliest time in it. */
static uint64_t reverse(struct event **list)
{
    struct event *reversed = NULL;
    uint64_t first = CLOCK_NEVER;
    for (struct event *event = *list, *next; event; event = next) {
        next = event->next;
        event->next = reversed;
        reversed = event;
        first = first < event->time ? first : event->time;
    }
    *list = reversed;
    return first;
}

/* Puts the event into the heap if its slot has been reached, else into the wheel. */
static void place(struct event_queue *queue, struct event *event)
{
    uint64_t differs = (event->time ^ queue->position) >> EVENT_GRAIN_BITS;
    if (differs == 0 || event->time < queue->position)
        heap_insert(queue, event);
    else
        slot_insert(queue, event, differs);
}

/* Distributes a list, oldest event first: events in the position's grain become queue->sorted, which must be empty; the others
 * go to the wheel. */
static void distribute(struct event_queue *queue, struct event *list)
{
    struct event *reached = NULL;
    while (list) {
        struct event *event = list;
        list = event->next;
        uint64_t differs = (event->time ^ queue->position) >> EVENT_GRAIN_BITS;
        if (differs) {
            slot_insert(queue, event, differs);
            continue;
        }
        event->next = reached;
        reached = event;
    }
    sorted_fill(queue, reached);
}

/* Moves the position to the next occupied slot: the first one of the lowest level that has any. Moves the
 * slot's events to lower levels or to queue->sorted, which must be empty. Returns false if the wheel is
 * empty. */
static bool advance(struct event_queue *queue)
{
    if (!queue->occupied_words)
        return false;
    /* slots before the position are empty */
    const unsigned word = (unsigned)__builtin_ctzll(queue->occupied_words), level = word / EVENT_WORDS;
    const unsigned slot = word % EVENT_WORDS * 64 + (unsigned)__builtin_ctzll(queue->occupied[word]);
    unsigned shift = EVENT_GRAIN_BITS + EVENT_SLOT_BITS * level;
    unsigned above = shift + EVENT_SLOT_BITS;
    uint64_t kept = above < 64 ? queue->position >> above << above : 0;
    queue->position = kept | (uint64_t)slot << shift;

    struct event *list = queue->slots[level][slot];
    queue->slots[level][slot] = NULL;
    clear_occupied(queue, level, slot);
    if (level == 0) {
        sorted_fill(queue, list);
        return true;
    }
    /* Advance to the first event at once; otherwise events would be moved once for each level. */
    queue->position = reverse(&list) >> EVENT_GRAIN_BITS << EVENT_GRAIN_BITS;
    distribute(queue, list);
    return true;
}

void event_schedule(struct event_queue *queue, struct event *event, uint64_t time)
{
    assert(time >= queue->now);
    if (event_pending(event))
        event_cancel(queue, event);
    event->time = time;
    event->order = (uint64_t)event->component << AGE_BITS | queue->age++;
    place(queue, event);
}

void event_cancel(struct event_queue *queue, struct event *event)
{
    if (event->place == PLACE_HEAP)
        heap_remove(queue, event);
    else if (event->place == PLACE_SORTED)
        sorted_remove(queue, event);
    else if (event->place == PLACE_SLOT)
        slot_remove(queue, event);
    event->place = PLACE_NONE;
}

/* Returns the next event, or NULL if none is pending. */
static FORCE_INLINE struct event *first_event(struct event_queue *queue)
{
    while (!queue->sorted && !queue->heap)
        if (!advance(queue))
            return NULL;
    if (!queue->heap)
        return queue->sorted;
    return queue->sorted && before(queue->sorted, queue->heap) ? queue->sorted : queue->heap;
}

/* Returns whether an event precedes another one, perhaps of another queue; of equal ones, neither does. */
static inline bool comes_before(const struct event *a, const struct event *b)
{
    return a->time < b->time || (a->time == b->time && a->component < b->component);
}

/* The next event of a team. */
struct team_first {
    struct event *event; /* NULL: none is pending */
    unsigned queue;
    bool together; /* others have the same time and component; it is that of the first queue */
};

static FORCE_INLINE struct team_first first_of_team(const struct event_team *team)
{
    struct team_first first = {NULL, 0, false};
    for (unsigned i = 0; i < team->count; i++) {
        struct event *event = first_event(&team->queues[i]);
        if (!event)
            continue;
        if (!first.event || comes_before(event, first.event))
            first = (struct team_first){event, i, false};
        else if (!comes_before(first.event, event))
            first.together = true;
    }
    return first;
}

/* event_queue_next() in a window: that of the queue, but not after the window, and now if each event waits for its turn. */
static uint64_t next_in_window(struct event_queue *queue)
{
    const struct event_window *window = queue->window;
    const struct event *event = first_event(queue);
    if (window->strict)
        return queue->now;
    return event && event->time < window->end ? event->time : window->end;
}

uint64_t event_queue_next(struct event_queue *queue)
{
    const struct event *event;
    if (queue->window)
        return next_in_window(queue);
    event = queue->team ? first_of_team(queue->team).event : first_event(queue);
    return event ? event->time : CLOCK_NEVER;
}

const struct event *event_queue_first(struct event_queue *queue)
{
    return first_event(queue);
}

/* Fires an event. Prefetches the data of the next one, because events are far apart in the host's memory. */
static FORCE_INLINE void fire(struct event_queue *queue, struct event *event)
{
    if (event == queue->sorted) {
        queue->sorted = event->next;
        if (event->next)
            event->next->previous = NULL;
    } else {
        heap_remove(queue, event); /* it is the heap's first */
    }
    event->place = PLACE_NONE;
    if (queue->sorted) {
        __builtin_prefetch(queue->sorted->owner);
        __builtin_prefetch(queue->sorted->next);
    }
    queue->now = event->time;
    queue->fired++;
    event->fire(event->owner, event->time);
}

bool event_queue_step(struct event_queue *queue)
{
    struct event *event = first_event(queue);
    if (!event)
        return false;
    fire(queue, event);
    return true;
}

void event_queue_run(struct event_queue *queue, uint64_t until)
{
    for (struct event *event; (event = first_event(queue)) && event->time <= until;)
        fire(queue, event);
    if (until != CLOCK_NEVER && until > queue->now)
        queue->now = until;
}

void event_team_init(struct event_team *team, struct event_queue *queues, unsigned count)
{
    assert(count > 0 && count <= EVENT_QUEUES);
    *team = (struct event_team){queues, count};
    for (unsigned i = 0; i < count; i++)
        queues[i].team = team;
}

/* Fires an event of a queue, at the time that all queues have. */
static void fire_as(struct event_queue *queue, struct event *event, uint64_t time)
{
    event_cancel(queue, event);
    queue->fired++;
    event->fire(event->owner, time);
}

/* Fires the next events of all queues that have this time and component. What the first ones schedule comes after the others, so
 * these are found before. */
static void fire_together(const struct event_team *team, uint64_t time, uint16_t component)
{
    struct event *due[EVENT_QUEUES];
    for (unsigned i = 0; i < team->count; i++) {
        struct event *event = first_event(&team->queues[i]);
        due[i] = event && event->time == time && event->component == component ? event : NULL;
    }
    for (unsigned i = 0; i < team->count; i++)
        if (due[i] && event_pending(due[i]) && due[i]->time == time)
            fire_as(&team->queues[i], due[i], time);
}

bool event_team_step(const struct event_team *team)
{
    const struct team_first first = first_of_team(team);
    if (!first.event)
        return false;
    for (unsigned i = 0; i < team->count; i++)
        team->queues[i].now = first.event->time;
    if (first.together)
        fire_together(team, first.event->time, first.event->component);
    else
        fire(&team->queues[first.queue], first.event);
    return true;
}
