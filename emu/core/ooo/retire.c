#include "emu/core/ooo/state.h"
#include "emu/hart/dispatch.h"

static void count_cycles(struct ooo *o, unsigned cause, uint64_t *from, uint64_t cycles)
{
    if (!cycles)
        return;
    o->core.cpi[cause] += cycles;
    if (o->core.observes_stalled)
        OBSERVER_TELL(&o->core.observers, struct core_observer, stalled, &o->core, cause, *from * o->period,
                      (*from + cycles) * o->period);
    *from += cycles;
}

/* Returns how many of the cycles (from, to] are after `since`, at most `left`. */
static uint64_t behind(uint64_t from, uint64_t to, uint64_t since, uint64_t left)
{
    uint64_t cycles = since >= to ? 0 : to - ooo_later(from, since);
    return cycles < left ? cycles : left;
}

/* Returns the end of the first part of an execution, if that part has its own cause: a load's page walk, or the time
 * until a task's packet arrives. 0: there is none. */
static uint64_t first_part(const struct ooo *o, const struct ooo_entry *e)
{
    if (!(e->facts & OOO_PARTED))
        return 0;
    return ooo_is(e->facts, OOO_TASK) ? o->pending[e - o->rob_entries].ready : o->load_ring[e->memory].walked;
}

/* Returns whether the instruction executed in all cycles after `from`, certainly for one cause. */
ALWAYS_INLINE static bool executes(const struct ooo_entry *e, uint64_t from)
{
    bool held = e->issue > e->dispatch + 1;
    return (e->issue + !held <= from) & !(e->facts & OOO_PARTED);
}

/* Attributes the last `left` cycles before the oldest instruction's completion, latest first. If it issued right after
 * dispatch, nothing delayed it there: the two cycles from dispatch to completion in the pipeline are attributed to what
 * made its dispatch late. */
static __attribute__((noinline)) void account_rest(struct ooo *o, const struct ooo_entry *e, uint64_t cycle,
                                                   uint64_t left)
{
    uint64_t from = o->retired_at;
    bool held = e->issue > e->dispatch + 1;
    uint64_t executed = behind(from, cycle, e->issue + !held, left);
    left -= executed;
    uint64_t first = first_part(o, e), walked = 0;
    if (first) {
        walked = executed - behind(from, cycle, first, executed);
        executed -= walked;
    }
    uint64_t waited = held ? behind(from, cycle, e->dispatch + 1, left + executed + walked) : 0;
    waited = waited > executed + walked ? waited - executed - walked : 0;
    waited = waited < left ? waited : left;
    left -= waited;
    count_cycles(o, (e->facts & OOO_BEFORE) >> OOO_BEFORE_SHIFT, &from, left);
    count_cycles(o, ooo_is(e->facts, OOO_SERIAL) ? CPI_serialise : CPI_dependency, &from, waited);
    count_cycles(o, ooo_is(e->facts, OOO_TASK) ? CPI_offload : CPI_serialise, &from, walked);
    count_cycles(o, e->cause, &from, executed);
}

void ooo_pass(struct ooo *o, uint64_t cycle, enum cpi_cause cause)
{
    if (cycle <= o->retired_at)
        return;
    o->core.cycles += cycle - o->retired_at;
    count_cycles(o, cause, &o->retired_at, cycle - o->retired_at);
}

/* The observer may have been removed since the batch began, because an observer can remove itself when it is told. */
static void note(struct ooo *o, const struct ooo_entry *e, uint64_t number, uint64_t cycle)
{
    if (!o->core.observes_retired)
        return;
    const struct core_note note = {
        .number = number - 2 * OOO_ROB_MOST,
        .pc = e->pc,
        .insn = o->insns[number & o->rob_mask],
        .fetch = e->fetch,
        .dispatch = e->dispatch,
        .issue = e->issue,
        .complete = e->complete,
        .retire = cycle,
        .level = (uint8_t)e->level,
        .mispredicted = (e->facts & (OOO_MISPREDICTED | OOO_SQUASHES)) != 0,
    };
    OBSERVER_TELL(&o->core.observers, struct core_observer, retired, &o->core, &note);
}

/* Asks whether the incomplete oldest instruction in the reorder buffer may leave it, at `at` or later. Returns the
 * cycle in which it does, or OOO_NEVER. */
static uint64_t pass_checkpoint(struct ooo *o, uint64_t number, uint64_t at)
{
    struct ooo_ahead *a = &o->ahead;
    const struct ooo_entry *e = ooo_at(o, number);
    if (o->phase != OOO_AHEAD || !ooo_mechanism(o)->kept || !ooo_is(e->facts, OOO_TASK) || number < a->begun)
        return OOO_NEVER;
    uint64_t arrived = e->issue == OOO_NEVER ? OOO_NEVER : o->pending[number & o->rob_mask].ready;
    if (arrived == OOO_NEVER ||
        !ooo_mechanism(o)->ops->pass(ooo_mechanism(o)->context, number - a->offset, &a->clocks))
        return OOO_NEVER;
    if (!a->passing)
        a->kept = number;
    a->passing = true;
    a->kept_at = ooo_later(a->kept_at, at);
    return ooo_later(arrived, a->kept_at) + a->clocks;
}

/* Removes complete instructions from the reorder buffer, in order, up to number `last`; they retire, unless a task
 * before them is not complete. Returns true if all of them have left. Of the cycles between two removals, base gets the
 * number that the instructions removed so far would take at full width (credit); the rest is attributed to what the
 * later instruction waited for. rare: the core is observed, or tasks may be incomplete. */
ALWAYS_INLINE static bool retire_to(struct ooo *o, uint64_t last, bool rare)
{
    uint64_t first = o->head, number = first, at = o->retired_at, begun = at, base = 0;
    uint32_t retired = o->retired, credit = o->credit;
    const uint64_t mask = o->rob_mask;
    struct ooo_entry *const entries = o->rob_entries;
    const uint32_t width = o->retire_width, full = o->full_width;
    /* Instructions from number `plain` on leave the reorder buffer, but do not retire yet. */
    uint64_t plain = rare && o->ahead.passing ? first : OOO_NEVER;
    for (; number <= last; number++) {
        struct ooo_entry *e = &entries[number & mask];
        uint64_t cycle = e->complete;
        if (cycle > at || retired == width) {
            if (cycle == OOO_NEVER) {
                cycle = rare ? pass_checkpoint(o, number, at) : OOO_NEVER;
                if (cycle == OOO_NEVER)
                    break;
                plain = plain < number ? plain : number;
            }
            cycle = cycle > at ? cycle : at + 1;
            uint64_t left = cycle - at;
            for (; left && credit >= full; left--, base++)
                credit -= full;
            if (left && executes(e, at) && !o->core.observes_stalled) {
                o->core.cpi[e->cause] += left;
            } else if (left) {
                o->retired_at = at;
                account_rest(o, e, cycle, left);
            }
            at = cycle;
            retired = 0;
        }
        retired++;
        credit++;
        e->retire = at;
        const bool passes = rare && number >= plain;
        if (ooo_is(e->facts, OOO_STORE) && !passes)
            ooo_store_retire(o, &o->store_ring[e->memory], at);
        if (rare && o->noting && !passes)
            note(o, e, number, at);
    }
    o->core.cycles += at - begun;
    o->core.cpi[CPI_base] += base;
    o->retired_at = at;
    o->head = number;
    o->retired = retired;
    o->credit = credit;
    o->count.instructions += (number < plain ? number : plain) - first;
    return number > last;
}

static bool retire(struct ooo *o, uint64_t last)
{
    const bool rare = o->noting || o->ahead.passing || o->phase == OOO_AHEAD;
    return rare ? retire_to(o, last, true) : retire_to(o, last, false);
}

/* Retires instructions that have left the reorder buffer behind a task, as far as all tasks before them are
 * complete. */
static void retire_kept(struct ooo *o)
{
    struct ooo_ahead *a = &o->ahead;
    for (; a->kept < o->head; a->kept++) {
        const struct ooo_entry *e = ooo_at(o, a->kept);
        if (e->complete == OOO_NEVER)
            return;
        a->kept_at = ooo_later(a->kept_at, ooo_later(e->complete, e->retire));
        if (ooo_is(e->facts, OOO_STORE))
            ooo_store_retire(o, &o->store_ring[e->memory], a->kept_at);
        if (o->noting)
            note(o, e, a->kept, a->kept_at);
        o->count.instructions++;
    }
    a->passing = false;
    if (o->retired_at < a->kept_at)
        o->retired = 0;
    ooo_pass(o, a->kept_at, CPI_task);
}

/* Reports retired instructions to the mechanism. */
static void tell_retired(struct ooo *o)
{
    struct ooo_ahead *a = &o->ahead;
    uint64_t at = a->passing ? a->kept_at : o->retired_at;
    if (!a->passing)
        a->kept = o->head;
    if (a->kept <= a->told)
        return;
    a->told = a->kept;
    ooo_mechanism(o)->ops->retired(ooo_mechanism(o)->context, a->kept - 1 - a->offset, at * o->period);
}

bool ooo_retire(struct ooo *o, uint64_t last)
{
    bool all = retire(o, last);
    while (o->work_count) { /* loads that waited for a store to drain */
        ooo_work(o);
        all = retire(o, last);
    }
    if (__builtin_expect(o->phase != OOO_AHEAD, 1))
        return all;
    bool kept = o->ahead.passing;
    if (kept)
        retire_kept(o);
    uint64_t told = o->ahead.told;
    tell_retired(o);
    /* Retirement may have freed checkpoints, and let stores drain. */
    return kept && o->ahead.told != told ? ooo_retire(o, last) : all;
}

bool ooo_retire_waiting(struct ooo *o)
{
    uint64_t head = o->head;
    (void)ooo_retire(o, o->tail - 1);
    if (o->head != head)
        return true;
    o->blocked = true;
    if (o->retry_at * o->period > o->core.parts.queue->now)
        event_schedule(o->core.parts.queue, &o->core.event, o->retry_at * o->period);
    return false;
}
