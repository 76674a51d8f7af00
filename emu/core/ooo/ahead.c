/* The out-of-order core ahead of offloaded tasks (emu/core/offload.h).
 *
 * Every instruction from the mechanism is a batch of one entry and is handled like all others. A task is an entry of
 * unknown completion, like a load that misses. Differences: the mechanism may tell the address of a load or store
 * later, loads can be held for a task's bytes, and everything can be squashed.
 *
 * Fetch continues at the end of a task's region when the register with the region's length is known, which is not
 * predicted, or, if the mechanism stalls it, when the task's packet has arrived. Instructions are fetched one ahead of
 * dispatch, so code lines behind a full reorder buffer are requested later than with batches. After a squash, the core
 * continues when all cache accesses of squashed loads have ended; a core with tagged requests would not wait for them.
 * Squashed instructions keep their effects on issue ports and predictors.
 *
 * Behind a task with a checkpoint, instructions leave the reorder buffer before they retire: those from `kept` to
 * `head`. Only the mechanism's window and the store queue still hold them. */
#include <assert.h>
#include <string.h>

#include "emu/core/ooo/state.h"

static void drop_batch(struct ooo *o)
{
    o->core.stream.count = o->position = o->fetched = 0;
}

/* Returns the number of instructions, 0 or 1, that the mechanism has given and that are not dispatched. */
static uint32_t given(const struct ooo *o)
{
    return o->core.stream.count - o->position;
}

bool ooo_ahead_begin(struct ooo *o)
{
    const struct core_offload *ahead = ooo_mechanism(o);
    if (!ahead->ops || o->core.warming || core_interrupted(o->core.parts.hart) ||
        !ahead->ops->takes(ahead->context))
        return false;
    /* When the oldest entry of the reorder buffer was dispatched, all instructions before it were complete. */
    o->ahead = (struct ooo_ahead){.begun = o->tail,
                                  .kept = o->tail,
                                  .told = o->tail,
                                  .stalled = OOO_NEVER,
                                  .scanned = o->tail - o->rob,
                                  .cause = CPI_offload};
    drop_batch(o);
    o->end = STREAM_MORE;
    o->phase = OOO_AHEAD;
    return true;
}

/* Returns the cycle from which on an issued load or store, whose address is known, is translated; OOO_NEVER: not known
 * yet. */
static uint64_t translated_at(const struct ooo *o, const struct ooo_entry *e)
{
    if (e->issue == OOO_NEVER)
        return OOO_NEVER;
    if (ooo_is(e->facts, OOO_STORE))
        return o->store_ring[e->memory].known;
    const struct ooo_load *load = &o->load_ring[e->memory];
    return load->step == OOO_TRANSLATE || load->walking ? OOO_NEVER : ooo_later(load->time, load->walked);
}

/* Returns the cycle from which on an incomplete instruction, which is no task, can neither trap nor squash younger
 * ones, although it still waits for a task. OOO_NEVER: it can, or waits for something else. Arithmetic cannot, nor can
 * a load or store after its translation. Loads read in order with respect to older stores, whose addresses are known
 * when this is asked. */
static uint64_t settled_at(struct ooo *o, uint64_t number)
{
    struct offload_view view;
    const struct ooo_entry *e = ooo_at(o, number);
    if (number < o->ahead.begun)
        return OOO_NEVER;
    ooo_mechanism(o)->ops->look(ooo_mechanism(o)->context, number - o->ahead.offset, &view);
    bool memory = ooo_is(e->facts, OOO_LOAD) || ooo_is(e->facts, OOO_STORE);
    o->ahead.bound = !view.evaluated && memory && !view.address_known;
    if (view.evaluated || o->ahead.bound)
        return OOO_NEVER;
    return memory ? translated_at(o, e) : e->dispatch;
}

/* Reports tasks that no older instruction, other than tasks, can squash any more. */
static void tell_ready(struct ooo *o)
{
    struct ooo_ahead *a = &o->ahead;
    if (a->bound)
        a->freed = o->floor;
    a->bound = false;
    for (; a->scanned < o->tail; a->scanned++) {
        const struct ooo_entry *e = ooo_at(o, a->scanned);
        bool task = ooo_is(e->facts, OOO_TASK) && a->scanned >= a->begun;
        if (task && e->complete == OOO_NEVER && !(e->facts & OOO_EARLY)) {
            uint64_t ready = ooo_later(a->ready, e->issue), freed = ooo_later(a->freed, e->dispatch);
            ooo_mechanism(o)->ops->task_ready(
                ooo_mechanism(o)->context, a->scanned - a->offset, e->dispatch * o->period,
                (freed < ready ? freed : ready) * o->period, ooo_time(o, ready));
        } else if (!task) {
            uint64_t settled = e->complete != OOO_NEVER ? e->complete : settled_at(o, a->scanned);
            if (settled == OOO_NEVER)
                return;
            a->ready = ooo_later(a->ready, settled);
        }
    }
}

/* Squashes the instructions from `number` on, including the one in the batch. */
static void squash(struct ooo *o, uint64_t number)
{
    struct ooo_ahead *a = &o->ahead;
    a->aim = AHEAD_FINISHES;
    if (number > o->tail || (number == o->tail && !given(o)))
        return;
    assert(number >= a->kept && o->work_count == 0);
    drop_batch(o);
    a->squashed = true;
    a->end = ooo_later(a->end, o->tail);
    uint64_t stores = o->stores;
    for (uint64_t i = o->tail; i-- > number;) {
        const struct ooo_entry *e = ooo_at(o, i);
        if (ooo_is(e->facts, OOO_STORE))
            stores = o->store_ring[e->memory].index;
        if (!ooo_is(e->facts, OOO_LOAD) || e->complete != OOO_NEVER)
            continue;
        const struct ooo_load *load = &o->load_ring[e->memory];
        a->busy += load->parts || load->walking;
    }
    o->stores = stores;
    o->tail = number;
    a->restores |= number < o->head;
    o->head = number < o->head ? number : o->head;
    a->passing &= a->kept < o->head;
    a->scanned = a->scanned < number ? a->scanned : number;
}

/* An interrupt or a stop is due: squashes from the oldest incomplete task on. */
static void interrupt(struct ooo *o)
{
    o->ahead.interrupted = true;
    o->ahead.aim = AHEAD_FINISHES;
    uint64_t number = ooo_mechanism(o)->ops->interrupt(ooo_mechanism(o)->context);
    if (o->ahead.stepped)
        squash(o, number + o->ahead.offset);
}

/* Returns whether the instruction limit is reached, counting the instructions that are given but not retired. */
static bool is_at_limit(const struct ooo *o)
{
    uint64_t ahead = o->tail + given(o) - o->ahead.told;
    return hart_progress(o->core.parts.hart) + ahead >= o->core.limit;
}

/* Attributes the cycles for which the oldest squashed instruction, a task, has blocked retirement. */
static void pass_task(struct ooo *o, uint64_t cycle)
{
    const struct ooo_entry *e = ooo_at(o, o->tail);
    if (o->ahead.end == o->tail || !ooo_is(e->facts, OOO_TASK) || e->complete != OOO_NEVER)
        return;
    uint64_t arrived = e->issue == OOO_NEVER ? OOO_NEVER : o->pending[o->tail & o->rob_mask].ready;
    ooo_pass(o, arrived < cycle ? arrived : cycle, CPI_offload);
    ooo_pass(o, cycle, CPI_task);
}

/* Removes the traces of squashed instructions, after everything before them has retired. */
static void clean(struct ooo *o, uint64_t cycle)
{
    struct ooo_fetch *f = &o->fetch;
    pass_task(o, cycle);
    for (uint64_t i = o->tail; i < o->ahead.end; i++)
        ooo_at(o, i)->dispatch = ooo_at(o, i)->complete = 0;
    for (uint64_t i = o->freed; i < o->stores; i++)
        o->store_ring[i & o->store_mask].loads = OOO_NONE;
    ooo_store_reindex(o);
    memset(o->times, 0, sizeof o->times);
    memset(o->load_numbers, 0, sizeof o->load_numbers);
    memset(o->int_numbers, 0, sizeof o->int_numbers);
    memset(o->fp_numbers, 0, sizeof o->fp_numbers);
    ooo_queue_reset(o, cycle);
    o->dispatched_at = cycle;
    o->dispatched = 0;
    o->retry_at = 0;
    if (f->wait != FETCH_LINE && f->wait != FETCH_WALK)
        f->wait = FETCH_GOES;
    f->next = cycle;
    ooo_fetch_forget(o);
    ooo_fetch_redirect(o, cycle + o->redirect_clocks + (o->ahead.restores ? o->ahead.clocks : 0),
                       CPI_serialise);
}

static bool leave(struct ooo *o, uint64_t now)
{
    const struct ooo_ahead *a = &o->ahead;
    if (a->kept != o->tail || a->busy)
        return ooo_block(o);
    uint64_t cycle = a->squashed ? ooo_later(o->retired_at, o->floor) : o->retired_at;
    if (cycle * o->period > now) {
        event_schedule(o->core.parts.queue, &o->core.event, cycle * o->period);
        return false;
    }
    /* If the mechanism has given no instruction, and no interrupt is due, execute the instruction at the
     * hart's pc alone. Otherwise go on with batches. */
    o->phase = a->stepped || a->interrupted ? OOO_RUN : OOO_DRAIN;
    if (a->squashed)
        clean(o, cycle);
    o->stop = ooo_mechanism(o)->ops->left(ooo_mechanism(o)->context, now);
    if (a->squashed)
        ooo_fetch_forget(o);
    if (o->stop != HART_STOP_LIMIT)
        o->phase = OOO_STOPPED;
    return true;
}

/* Delays the next dispatch until `cycle`. */
static void resume(struct ooo *o, uint64_t cycle, enum cpi_cause cause)
{
    o->ahead.aim = AHEAD_GOES;
    o->ahead.cause = cause;
    o->ahead.resumed = cycle;
    if (cycle <= o->dispatched_at)
        return;
    o->dispatched_at = cycle;
    o->dispatched = 0;
}

/* Returns whether the event that step() named has happened. */
static bool has_come(struct ooo *o)
{
    const struct ooo_ahead *a = &o->ahead;
    if (a->aim != AHEAD_AWAITS)
        return a->aim == AHEAD_GOES;
    const struct ooo_entry *e = ooo_at(o, a->awaited);
    enum cpi_cause cause = (enum cpi_cause)e->cause;
    if (!a->retirement && e->complete != OOO_NEVER)
        resume(o, e->complete, cause);
    else if (a->awaited < a->kept)
        resume(o, ooo_later(e->retire, a->kept_at) + 1, cause);
    else
        return false;
    return true;
}

/* Makes an instruction from the mechanism the batch. */
static void take(struct ooo *o, const struct offload_step *step)
{
    struct ooo_ahead *a = &o->ahead;
    struct stream *stream = &o->core.stream;
    uint64_t offset = o->tail - step->number;
    assert(!a->stepped || offset == a->offset);
    a->offset = offset;
    a->stepped = true;
    a->is_task = step->stop == OFFLOAD_TASK;
    a->early = false;
    a->stalls = step->stalls;
    stream->entries[0] = step->entry;
    stream->count = 1;
    stream_end_at(stream, step->next_pc);
    o->position = o->fetched = 0;
    o->noting = o->core.observes_retired;
}

/* Tries to dispatch the batch, which may have had to wait. */
static bool dispatch(struct ooo *o)
{
    struct stream_entry *entry = &o->core.stream.entries[0];
    struct offload_view *view = &o->ahead.view;
    if (!o->ahead.is_task && entry->op->flags & (STREAM_LOAD | STREAM_STORE)) {
        ooo_mechanism(o)->ops->look(ooo_mechanism(o)->context, o->tail - o->ahead.offset, view);
        entry->address = view->address;
        entry->physical = view->physical;
    }
    return ooo_run_ahead(o) || ooo_retire_waiting(o);
}

static void step(struct ooo *o)
{
    struct ooo_ahead *a = &o->ahead;
    const struct offload_step step = ooo_mechanism(o)->ops->step(ooo_mechanism(o)->context);
    switch (step.stop) {
    case OFFLOAD_DISPATCHED:
    case OFFLOAD_TASK: take(o, &step); break;
    case OFFLOAD_LEAVE: a->aim = AHEAD_FINISHES; break;
    case OFFLOAD_WAIT:
        a->aim = step.number ? AHEAD_AWAITS : AHEAD_HALTS;
        a->awaited = step.number + a->offset;
        if (!step.number)
            break;
        assert(a->stepped && a->awaited >= a->kept && a->awaited < o->tail);
        a->retirement = ooo_at(o, a->awaited)->complete != OOO_NEVER;
    }
}

bool ooo_ahead(struct ooo *o, uint64_t now)
{
    struct core *core = &o->core;
    (void)ooo_retire(o, o->tail - 1);
    tell_ready(o);
    if (!o->ahead.interrupted && core_interrupted(core->parts.hart))
        interrupt(o);
    if (given(o))
        return dispatch(o);
    if (o->ahead.aim != AHEAD_FINISHES && is_at_limit(o))
        o->ahead.aim = AHEAD_FINISHES;
    if (o->ahead.aim == AHEAD_FINISHES)
        return leave(o, now);
    if (!has_come(o))
        return ooo_block(o);
    uint64_t time = o->dispatched_at * o->period;
    if (time > now && time >= event_queue_next(core->parts.queue)) {
        event_schedule(core->parts.queue, &core->event, time);
        return false;
    }
    step(o);
    return true;
}

/* Returns the core if it is ahead, and makes it check again; else NULL. */
static struct ooo *look_again(struct core *core, uint64_t now)
{
    struct ooo *o = (struct ooo *)core;
    if (o->phase != OOO_AHEAD)
        return NULL;
    ooo_callback(o, now);
    ooo_go_on(o);
    return o;
}

static void complete(struct core *core, uint64_t number, uint64_t now)
{
    struct ooo *o = look_again(core, now);
    assert(o && o->ahead.stepped);
    uint64_t task = number + o->ahead.offset;
    if (task == o->tail && given(o)) {
        o->ahead.early = true;
        return;
    }
    struct ooo_entry *e = ooo_at(o, task);
    assert(task >= o->ahead.kept && task < o->tail && e->complete == OOO_NEVER);
    if (e->issue == OOO_NEVER) {
        e->facts |= OOO_EARLY;
        return;
    }
    ooo_complete(o, task, ooo_later(o->floor, e->issue + 1));
    ooo_work(o);
}

static void squash_from(struct core *core, uint64_t number, uint64_t now)
{
    struct ooo *o = look_again(core, now);
    assert(o && o->ahead.stepped);
    squash(o, number + o->ahead.offset);
}

static void go_on(struct core *core, uint64_t now)
{
    struct ooo *o = look_again(core, now);
    if (o && o->ahead.aim == AHEAD_HALTS)
        resume(o, o->floor, CPI_offload);
}

static void interrupted(struct core *core, uint64_t now)
{
    (void)look_again(core, now);
}

static void arrived(struct core *core, uint64_t number, uint64_t now)
{
    struct ooo *o = look_again(core, now);
    assert(o && o->ahead.stepped);
    uint64_t task = number + o->ahead.offset;
    if (task >= o->head && task < o->tail)
        o->pending[task & o->rob_mask].ready = o->floor;
    if (task != o->ahead.stalled)
        return;
    o->ahead.stalled = OOO_NEVER;
    ooo_fetch_target(o, o->floor, CPI_offload);
}

static bool storing(struct core *core, uint64_t first, uint64_t last)
{
    struct ooo *o = (struct ooo *)core;
    for (uint64_t i = o->freed; i < o->drain_tail; i++) {
        const struct ooo_store *store = &o->store_ring[i & o->store_mask];
        if (store->address <= last && first <= store->address + store->size - 1) {
            o->ahead.asked = true;
            return true;
        }
    }
    return false;
}

const struct core_offload_events ooo_offload_events = {
    .complete = complete,
    .squash = squash_from,
    .go_on = go_on,
    .interrupted = interrupted,
    .arrived = arrived,
    .storing = storing,
};
