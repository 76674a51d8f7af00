#include "emu/core/ooo_state.h"

static void count_cycles(struct ooo *o, unsigned cause, uint64_t *from, uint64_t cycles)
{
    if (!cycles)
        return;
    o->core.cpi[cause] += cycles;
    if (o->core.observer.stalled)
        o->core.observer.stalled(o->core.observer.context, &o->core, cause, *from * o->period,
                                 (*from + cycles) * o->period);
    *from += cycles;
}

/* The part of the cycles (from, to] that lies behind `since`, at most `left`. */
static uint64_t behind(uint64_t from, uint64_t to, uint64_t since, uint64_t left)
{
    uint64_t cycles = since >= to ? 0 : to - ooo_later(from, since);
    return cycles < left ? cycles : left;
}

/* Gives the cycles between the last retirement and this one, of the oldest instruction: what instructions
 * retired so far would take at full width to base, the rest to what this one did in them, latest first. An
 * instruction that issued right behind its dispatch was held up by nothing there: its way through the pipe in
 * the two cycles from dispatch to completion is not counted, but what made it late. */
static void account(struct ooo *o, const struct ooo_entry *e, uint64_t cycle)
{
    uint64_t from = o->retired_at, cycles = cycle - from, left = cycles;
    o->core.cycles += cycles;
    uint64_t base = 0;
    while (left && o->credit >= o->full_width) {
        o->credit -= o->full_width;
        base++;
        left--;
    }
    o->core.cpi[CPI_base] += base;
    if (!left)
        return;
    bool held = e->issue > e->dispatch + 1;
    uint64_t executed = behind(from, cycle, e->issue + !held, left);
    left -= executed;
    uint64_t walked = 0;
    if (e->kind == OOO_LOAD && o->load_ring[e->memory].walked) {
        walked = executed - behind(from, cycle, o->load_ring[e->memory].walked, executed);
        executed -= walked;
    }
    uint64_t waited = held ? behind(from, cycle, e->dispatch + 1, left + executed + walked) : 0;
    waited = waited > executed + walked ? waited - executed - walked : 0;
    waited = waited < left ? waited : left;
    left -= waited;
    count_cycles(o, e->before, &from, left);
    count_cycles(o, e->kind == OOO_SERIAL ? CPI_serialise : CPI_dependency, &from, waited);
    count_cycles(o, CPI_serialise, &from, walked);
    count_cycles(o, e->cause, &from, executed);
}

void ooo_pass(struct ooo *o, uint64_t cycle, enum cpi_cause cause)
{
    if (cycle <= o->retired_at)
        return;
    o->core.cycles += cycle - o->retired_at;
    count_cycles(o, cause, &o->retired_at, cycle - o->retired_at);
}

static void note(struct ooo *o, const struct ooo_entry *e, uint64_t number)
{
    const struct core_note note = {
        .number = o->count.instructions,
        .pc = e->pc,
        .insn = o->insns[number & o->rob_mask],
        .fetch = e->fetch,
        .dispatch = e->dispatch,
        .issue = e->issue,
        .complete = e->complete,
        .retire = e->retire,
        .level = e->level,
        .mispredicted = e->mispredicted || e->squashes,
    };
    o->core.observer.retired(o->core.observer.context, &o->core, &note);
}

/* Retires the oldest instruction, which is complete. */
static inline void retire(struct ooo *o, struct ooo_entry *e)
{
    uint64_t number = o->head++, cycle = e->complete;
    if (cycle <= o->retired_at) {
        cycle = o->retired_at + (o->retired == o->retire_width);
        o->retired = o->retired == o->retire_width ? 0 : o->retired;
    } else {
        o->retired = 0;
    }
    o->retired++;
    if (cycle > o->retired_at) {
        account(o, e, cycle);
        o->retired_at = cycle;
    }
    o->credit++;
    e->retire = cycle;
    if (e->kind == OOO_STORE)
        ooo_store_retire(o, &o->store_ring[e->memory], cycle);
    if (__builtin_expect(o->noting, 0))
        note(o, e, number);
    o->count.instructions++;
}

bool ooo_retire(struct ooo *o, uint64_t last)
{
    for (;;) {
        while (o->head <= last) {
            struct ooo_entry *e = ooo_at(o, o->head);
            if (e->complete == OOO_NEVER)
                break;
            retire(o, e);
        }
        if (!o->work_count) /* loads that waited for a store to drain */
            return o->head > last;
        ooo_work(o);
    }
}
