#include "emu/core/core.h"

#include "emu/core/report/passage.h"
#include "emu/core/report/track.h"
#include "emu/core/serial.h"

void core_sleep(struct core *core, uint64_t now)
{
    core->asleep = true;
    core->idle_since = now;
    event_cancel(core->parts.queue, &core->event);
}

bool core_stop(struct core *core, enum hart_stop stop, uint64_t now)
{
    serial_clock(core, now);
    if (stop == HART_STOP_WFI) {
        core->waiting = !hart_has_interrupt(core->parts.hart) && !core->parts.hart->yield;
        if (core->waiting)
            core_sleep(core, now);
        return !core->waiting;
    }
    if (core->parts.server.stopped(core->parts.server.context, core, stop, now) == CORE_CONTINUE) {
        if (stop == HART_STOP_TRAP || stop == HART_STOP_SEMIHOST) /* a call may have waited for others */
            cache_acquire(core->parts.l1d);
        return true;
    }
    core_sleep(core, now);
    return false;
}

static void fire(void *owner, uint64_t now)
{
    struct core *core = owner;
    if (core->waiting && !core_stop(core, HART_STOP_WFI, now))
        return;
    core->ops->run(core, now);
}

bool core_init(struct core *core, const struct core_ops *ops, const struct core_parts *parts,
               struct error *err)
{
    *core = (struct core){.ops = ops, .parts = *parts, .limit = UINT64_MAX, .asleep = true};
    core->idle_since = clock_edge(&parts->clock, parts->queue->now);
    event_init(&core->event, parts->component, fire, core);
    return stream_init(&core->stream, parts->hart, err);
}

void core_wake(struct core *core, uint64_t now)
{
    if (!core->asleep)
        return;
    uint64_t edge = clock_edge(&core->parts.clock, now);
    if (edge < core->idle_since) /* the core ran ahead of the queue before it fell asleep */
        edge = core->idle_since;
    core->asleep = false;
    cache_acquire(core->parts.l1d); /* a thread that starts, or has waited, sees what others have stored */
    core->idle_time += edge - core->idle_since;
    event_schedule(core->parts.queue, &core->event, edge);
}

static void note_observers(struct core *core)
{
    core->observes_retired = core->observes_stalled = false;
    for (const struct observer *at = core->observers.first; at; at = at->next) {
        const struct core_observer *observer = (const struct core_observer *)at;
        core->observes_retired = core->observes_retired || observer->retired;
        core->observes_stalled = core->observes_stalled || observer->stalled;
    }
}

void core_observe(struct core *core, struct core_observer *observer)
{
    observer_add(&core->observers, &observer->link);
    note_observers(core);
}

void core_unobserve(struct core *core, const struct core_observer *observer)
{
    observer_remove(&core->observers, &observer->link);
    note_observers(core);
}

void core_track(struct core *core, struct track_sink *sink)
{
    if (track_takes(sink, TRACK_TIMELINE)) {
        core->track = core_track_new(sink, core->parts.name);
        core_observe(core, core_track_observer(core->track));
    }
    if (track_takes(sink, TRACK_PASSAGES)) {
        core->passages = core_passages_new(sink, core->parts.name);
        core_observe(core, core_passages_observer(core->passages));
    }
}

void core_set_warming(struct core *core, bool warming)
{
    core->warming = warming;
}

void core_prefetch(struct core *core, const struct stream_op *op, uint64_t physical, uint64_t time)
{
    const struct cache_actor actor = {.pc = op->pc, .core = core->parts.number};
    core->prefetch_insns++;
    if (physical == EFFECTS_NOWHERE) {
        core->prefetch_faults++;
        return;
    }
    if (op->id == INSN_prefetch_i)
        cache_prefetch(core->parts.l1i, physical, CACHE_FETCH, time, actor);
    else
        cache_prefetch(core->parts.l1d, physical, op->id == INSN_prefetch_w ? CACHE_STORE : CACHE_LOAD, time,
                       actor);
}

void core_publish(struct core *core, struct stats *stats, struct scope scope)
{
    const struct scope cpi = scope_enter(&scope, "cpi");
    stats_counter(stats, scope, "cycles", &core->cycles, "cycles", "clock cycles that the core was awake");
    stats_counter(stats, scope, "idle", &core->idle_time, "fs",
                  "time asleep: waiting for interrupts or work");
    for (unsigned i = 0; i < CPI_CAUSES; i++)
        stats_counter(stats, cpi, core_cause_name(i), &core->cpi[i], "cycles", core_cause_meaning(i));
    stats_ratio(stats, scope, "ipc", (struct stats_operand){.value = &core->parts.hart->instret},
                (struct stats_operand){.value = &core->cycles}, "instructions/cycle",
                "instructions retired in a cycle that the core was awake");
    stats_rare(stats, scope, "prefetch_insns", &core->prefetch_insns, "instructions",
               "prefetch.r, prefetch.w and prefetch.i executed");
    stats_rare(stats, scope, "prefetch_faults", &core->prefetch_faults, "instructions",
               "prefetch instructions without effect, because their address may not be accessed");
    core->ops->publish(core, stats, scope);
}

void core_free(struct core *core)
{
    if (!core)
        return;
    event_cancel(core->parts.queue, &core->event);
    stream_free(&core->stream);
    core_track_free(core->track);
    core_passages_free(core->passages);
    core->ops->free(core);
}
