/* The issue queue of an out-of-order core: the calendar of its entries. */
#include <string.h>

#include "emu/core/ooo/state.h"

/* Removes instructions that issue up to `cycle` from the calendar. */
static void advance(struct ooo_queue *q, uint64_t cycle)
{
    uint64_t at = q->at;
    uint32_t used = q->used;
    if (__builtin_expect(cycle - at >= OOO_CYCLES, 0) && cycle > at) {
        for (uint32_t i = 0; i < OOO_CYCLES && used; i++) {
            used -= q->issues[i];
            q->issues[i] = 0;
        }
        at = cycle;
    }
    while (at < cycle && used) {
        uint16_t *issues = &q->issues[++at % OOO_CYCLES];
        used -= *issues;
        *issues = 0;
    }
    q->at = ooo_later(at, cycle);
    q->used = used;
}

/* Enters all instructions that have been dispatched and not issued by the cycle of the last dispatch. */
static void catch_up(struct ooo *o)
{
    struct ooo_queue *q = &o->queue;
    advance(q, q->due);
    /* Those before the last o->rob ones have retired. */
    for (uint64_t number = ooo_later(q->booked, o->tail - o->rob); number < o->tail; number++) {
        uint64_t issue = ooo_at(o, number)->issue;
        q->used += issue > q->at;
        if (issue != OOO_NEVER && issue > q->at)
            q->issues[issue % OOO_CYCLES]++;
    }
    q->booked = o->tail;
}

/* Removes an instruction that was booked as pending at the cycle of its issue. */
static void leave(struct ooo_queue *q, uint64_t cycle)
{
    uint64_t ahead = cycle - q->at;
    if (__builtin_expect(ahead - 1 < OOO_CYCLES - 1, 1))
        q->issues[cycle % OOO_CYCLES]++;
    else if (cycle <= q->at)
        q->used--;
    else
        q->issues[(q->at + OOO_CYCLES - 1) % OOO_CYCLES]++;
}

void ooo_queue_far(struct ooo *o)
{
    struct ooo_queue *q = &o->queue;
    /* The instruction has the place of the one o->rob before it, which has retired. */
    q->booked = ooo_later(q->booked, o->tail - o->rob + 1);
    catch_up(o);
    q->used++;
    q->booked = o->tail + 1;
    leave(q, OOO_NEVER - 1);
}

void ooo_queue_leave(struct ooo *o, uint64_t number)
{
    struct ooo_queue *q = &o->queue;
    struct ooo_entry *e = ooo_at(o, number);
    uint64_t cycle = e->issue;
    bool far = cycle > q->due && cycle - q->due >= OOO_CYCLES - 1;
    q->issued = ooo_later(q->issued, cycle);
    if (number >= q->booked && !far)
        return;
    if (far || cycle - q->at >= OOO_CYCLES - 1) {
        e->issue = OOO_NEVER;
        catch_up(o);
        e->issue = cycle;
    }
    leave(q, cycle);
}

uint64_t ooo_queue_search(struct ooo *o, uint64_t cycle)
{
    struct ooo_queue *q = &o->queue;
    catch_up(o);
    advance(q, cycle);
    if (__builtin_expect(q->used < o->iq, 1))
        return ooo_later(cycle, q->at);
    o->count.issue_queue_full++;
    while (q->used >= o->iq && q->used > q->pending) {
        if (q->pending && (q->at + 1) * o->period > event_queue_next(o->core.parts.queue)) {
            o->retry_at = q->at + 1;
            break;
        }
        advance(q, q->at + 1);
    }
    if (q->used < o->iq)
        return q->at;
    q->due = q->at;
    q->bounds[(o->tail - o->iq) % OOO_ROB_MOST] =
        OOO_NEVER; /* search again, because `at` may be later than the next try */
    return OOO_NEVER;
}

void ooo_queue_reset(struct ooo *o, uint64_t cycle)
{
    struct ooo_queue *q = &o->queue;
    memset(q->issues, 0, sizeof q->issues);
    q->used = q->pending = 0;
    q->unknown = 0;
    q->at = q->due = q->issued = cycle;
    q->booked = o->tail;
}
