#include "emu/core/ooo/state.h"
#include "emu/core/warm.h"

/* Returns whether the queue has reached the cycle; if not, schedules the core's event then. */
static bool reached(struct ooo *o, uint64_t cycle, uint64_t now)
{
    uint64_t time = cycle * o->period;
    if (time <= now)
        return true;
    event_schedule(o->core.parts.queue, &o->core.event, time);
    return false;
}

static void settled(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct ooo *o = waiter->owner;
    (void)level;
    o->settling = false;
    ooo_callback(o, now);
    o->settled = o->floor;
    ooo_go_on(o);
}

/* Returns whether the data cache has registered all words that were stored; if not, the core goes on when it has. */
static bool is_settled(struct ooo *o)
{
    if (!o->settling)
        o->settling = !cache_release(o->l1d, &o->settle_waiter);
    if (!o->settling)
        cache_released(o->l1d);
    return !o->settling;
}

/* Returns whether all older instructions have retired and, if `stores`, all stores are in the cache. *cycle
 * becomes at least the cycle in which that is so. */
static bool drained(struct ooo *o, bool stores, uint64_t *cycle)
{
    if (!ooo_retire(o, o->tail - 1))
        return false;
    *cycle = ooo_later(*cycle, o->retired_at);
    if (!stores)
        return true;
    *cycle = ooo_later(*cycle, ooo_later(o->freed_at, o->settled));
    return o->freed == o->stores && is_settled(o);
}

/* Returns whether the next instruction, which needs drained stores, can begin beside the cache-block
 * operations under way: if there are none, or if it is itself a cache-block operation and there is room for
 * one more. *cycle becomes at least the current cycle. */
static bool blocks_allow(struct ooo *o, uint64_t *cycle)
{
    if (o->blocks == 0)
        return true;
    *cycle = ooo_later(*cycle, o->floor);
    return o->blocks != (UINT32_C(1) << OOO_BLOCKS) - 1 && serial_is_maintenance(&o->core);
}

static bool drain_for_step(struct ooo *o, uint64_t now)
{
    struct ooo_entry *e = &o->serial_entry;
    unsigned length;
    uint64_t pc = o->core.parts.hart->pc, quiet = 0;
    bool stores = serial_needs_stores(&o->core, &length);
    quiet = serial_awaits(&o->core);
    if (!drained(o, stores, &quiet) || (stores && !blocks_allow(o, &quiet)) ||
        (!o->core.warming && length && !ooo_fetch_at(o, pc, length)))
        return ooo_block(o);
    *e = (struct ooo_entry){.facts = OOO_SERIAL << OOO_KIND_SHIFT | STREAM_NONE |
                                     ooo_fetched_facts(o->fetch.fetched),
                            .pc = pc,
                            .dependents = OOO_NONE,
                            .fetch = o->fetch.cycle,
                            .cause = CPI_serialise};
    e->dispatch = ooo_later(o->dispatched_at, o->fetch.cycle + o->frontend_clocks);
    e->issue = ooo_later(e->dispatch + 1, quiet);
    if (o->core.warming) {
        e->fetch = e->dispatch = e->issue = quiet;
        if (length)
            warm_fetch(&o->core, &o->code, pc, length);
    }
    o->phase = OOO_STEP;
    return reached(o, e->issue, now);
}

/* Completes the instruction at `cycle`. If the hart has retired it, enters it into the reorder buffer and
 * retires it there. */
static bool finish(struct ooo *o, uint64_t cycle)
{
    const struct step_report *report = &o->serial.report;
    struct ooo_entry *e = &o->serial_entry;
    e->complete = cycle;
    if (report->retired) {
        const struct stream_op *op = &o->core.stream.stepped;
        e->facts = (e->facts & ~(uint32_t)OOO_RD) | op->rd;
        e->id = op->id;
        o->times[op->rd] = cycle;
        o->times[STREAM_NONE] = 0;
        o->insns[o->tail & o->rob_mask] = report->insn;
        *ooo_at(o, o->tail) = *e;
        ooo_queue_skip(o, o->tail);
        (void)ooo_retire(o, o->tail++);
    }
    o->dispatched_at = ooo_later(e->dispatch, cycle);
    o->dispatched = 0;
    bool goes_on = report->retired && (report->insn.id == INSN_fence || report->insn.id == INSN_pause ||
                                       o->serial.wait == SERIAL_MAINTAIN || o->serial.posted);
    if (!goes_on)
        ooo_fetch_redirect(o, cycle, CPI_serialise);
    else
        o->fetch.fetched = ooo_fetched(o->fetch.cycle, CPI_serialise);
    if (o->serial.refetch)
        ooo_fetch_forget(o);
    o->phase = OOO_RUN;
    if (o->serial.stop != HART_STOP_LIMIT) {
        o->stop = o->serial.stop;
        o->phase = OOO_STOPPED;
    }
    return true;
}

/* Moves on to the next line of the serial instruction's access. */
static void next_line(struct ooo *o)
{
    uint64_t at = o->serial.physical + o->serial_offset;
    o->serial_offset += (uint32_t)(o->line_bytes - (at & (o->line_bytes - 1)));
}

static void reply(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct ooo *o = waiter->owner;
    ooo_callback(o, now);
    if (level != MEM_LEVELS)
        next_line(o);
    ooo_go_on(o);
}

static void unit_done(struct custom_waiter *waiter, uint64_t now)
{
    struct ooo *o = waiter->owner;
    ooo_callback(o, now);
    ooo_go_on(o);
}

static void block_done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct ooo *o = waiter->owner;
    (void)level;
    o->blocks &= ~(UINT32_C(1) << (waiter - o->block_waiters));
    ooo_callback(o, now);
    ooo_go_on(o);
}

/* Starts a cache-block operation, which leaves the core like a store; there must be room for it. */
static void maintain(struct ooo *o)
{
    const struct serial *serial = &o->serial;
    unsigned place = (unsigned)__builtin_ctz(~o->blocks);
    o->blocks |= UINT32_C(1) << place;
    cache_maintain(o->l1d, serial->op, serial->physical, serial->size, ooo_time(o, o->serial_entry.issue),
                   (struct cache_actor){.pc = o->serial_entry.pc, .core = o->core.parts.number},
                   &o->block_waiters[place]);
}

/* Accesses the remaining lines. Returns false if the core has to wait. */
static bool access_lines(struct ooo *o)
{
    const struct serial *serial = &o->serial;
    struct ooo_entry *e = &o->serial_entry;
    struct cache_actor actor = {.pc = e->pc,
                                .core = o->core.parts.number,
                                .atomic = insn_table[serial->report.insn.id].iclass == CLASS_AMO};
    uint64_t cycle = ooo_later(e->issue, o->floor);
    if (o->core.unit.waits)
        return ooo_block(o);
    while (o->serial_offset < serial->size) {
        const uint64_t at = serial->physical + o->serial_offset;
        const uint64_t room = o->line_bytes - (at & (o->line_bytes - 1)),
                       rest = serial->size - o->serial_offset;
        actor.bytes = (uint8_t)(rest < room ? rest : room);
        if (cache_access(o->l1d, at, serial->use, ooo_time(o, cycle), actor, &o->serial_waiter) != CACHE_HIT)
            return ooo_block(o);
        e->complete = cycle++ + o->hit_clocks;
        next_line(o);
    }
    return true;
}

static bool step(struct ooo *o, uint64_t now)
{
    struct ooo_entry *e = &o->serial_entry;
    struct serial *serial = &o->serial;
    e->issue = ooo_later(e->issue, o->floor);
    serial_step(&o->core, now, serial);
    o->passed = OOO_NEVER;
    if (o->core.warming) {
        warm_serial(&o->core, serial);
        return finish(o, e->issue + 1);
    }
    uint64_t latency = serial->report.retired ? o->classes[serial->report.insn.id].latency : 1;
    e->complete = e->issue + (latency ? latency : 1);
    switch (serial->wait) {
    case SERIAL_LATENCY: return finish(o, e->complete);
    case SERIAL_DEVICE: return finish(o, e->issue + serial_device(&o->core, serial, e->issue));
    case SERIAL_MAINTAIN: maintain(o); return finish(o, e->complete);
    case SERIAL_CUSTOM:
    case SERIAL_CACHE: break;
    }
    o->serial_offset = 0;
    o->phase = OOO_REPLY;
    return true;
}

static bool stopped(struct ooo *o, uint64_t now)
{
    const struct hart *hart = o->core.parts.hart;
    uint64_t cycle = o->dispatched_at;
    if (!drained(o, true, &cycle))
        return ooo_block(o);
    if (!reached(o, cycle, now))
        return false;
    ooo_pass(o, cycle, CPI_serialise);
    o->dispatched_at = cycle;
    o->phase = OOO_RUN;
    o->end = STREAM_MORE;
    /* The server of a stop may change pc, memory and translations. */
    ooo_fetch_forget(o);
    ooo_fetch_redirect(o, ooo_later(cycle, o->floor), CPI_serialise);
    const uint64_t pc = hart->pc;
    o->slept = !core_stop(&o->core, o->stop, now);
    o->passed = o->stop == HART_STOP_BREAK && hart->pc == pc ? pc : OOO_NEVER;
    return !o->slept;
}

bool ooo_serial(struct ooo *o, uint64_t now)
{
    switch (o->phase) {
    case OOO_RUN: return true;
    case OOO_DRAIN: return drain_for_step(o, now);
    case OOO_STEP: return step(o, now);
    case OOO_REPLY:
        if (!access_lines(o))
            return false;
        return finish(o, ooo_later(o->serial_entry.complete, o->floor));
    case OOO_AHEAD: return ooo_ahead(o, now);
    case OOO_STOPPED: return stopped(o, now);
    }
    return false;
}

void ooo_serial_init(struct ooo *o)
{
    o->serial_waiter.owner = o;
    o->serial_waiter.done = reply;
    o->settle_waiter = (struct cache_waiter){.done = settled, .owner = o};
    o->core.unit = (struct custom_waiter){.done = unit_done, .owner = o, .clock = o->core.parts.clock};
    for (unsigned i = 0; i < OOO_BLOCKS; i++)
        o->block_waiters[i] = (struct cache_waiter){.done = block_done, .owner = o};
    o->passed = OOO_NEVER;
}
