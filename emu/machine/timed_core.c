/* A timing core with its caches and TLBs. */
#include <stdio.h>

#include "emu/core/inorder/inorder.h"
#include "emu/core/ooo/ooo.h"
#include "emu/machine/offload.h"
#include "emu/machine/timed_state.h"

/* 10 MHz, the time base of the board; a user program's `time` counts nanoseconds. */
#define TICK_PRIVILEGED UINT64_C(100000000)
#define TICK_USER       UINT64_C(1000000)

static struct cache *make_cache(struct timed *timed, const struct timed_core *core, const char *kind,
                                const struct cache_config *config, const struct clock *clock, unsigned number)
{
    char name[32];
    (void)snprintf(name, sizeof name, "%s.%s", core->name, kind);
    uint32_t component = timed_component(timed);
    if (config->coherent) {
        struct cache *cache =
            cache_new(name, config, &timed->queue, clock, component, (uint16_t)number, &llc_ops, timed->llc);
        llc_attach(timed->llc, cache);
        return cache;
    }
    struct cache *cache = cache_new(name, config, &timed->queue, clock, component, (uint16_t)number,
                                    &crossbar_ops, crossbar_port(timed->crossbar, 1 + number - timed->hosts));
    cache_set_homes(cache, timed->homes);
    return cache;
}

static bool watch_core(struct timed *timed, struct timed_core *core, const struct clock *clock,
                       struct error *err)
{
    struct trace *trace = timed->options.trace;
    if (timed->count > 1 || timed->options.machine->simt)
        core->core->stream.peers = &timed->peers;
    bool apart =
        timed->options.offload && !timed->harts[0].privileged && core->core->parts.hart != timed->harts;
    core->core->stream.observe = apart ? NULL : timed->options.observe;
    core->core->stream.context = timed->options.context;
    if (!trace)
        return true;
    struct track_sink *sink = trace_tracks(trace);
    if (sink) {
        cache_track(core->l1i, sink);
        cache_track(core->l1d, sink);
        core_track(core->core, sink);
    }
    if (!trace_core(trace, core->name, clock, &core->traced, err))
        return false;
    if (core->traced.retired || core->traced.stalled)
        core_observe(core->core, &core->traced);
    return true;
}

static enum core_next stopped(void *context, struct core *core, enum hart_stop stop, uint64_t now)
{
    struct timed *timed = context;
    unsigned i = core->parts.number;
    if (timed->options.offload && i >= timed->hosts &&
        offload_stopped(timed->options.offload, i - timed->hosts, stop))
        return CORE_CONTINUE;
    if (stop == HART_STOP_MARKER)
        timed_marker(timed, i, now);
    timed_switch_detail(timed, i);
    return scheduler_stopped(&timed->scheduler, i, stop);
}

/* A host's FENCE.I is for accelerators too: their next tasks begin with one. */
static void code_changed(void *context, struct core *core)
{
    const struct timed *timed = context;
    if (core->parts.number < timed->hosts)
        offload_change_code(timed->options.offload);
}

/* The task units' registers: an accelerator's beside it, those of all at the host's end of the packets' link. */
static struct core_near near_units(const struct timed *timed, unsigned number, bool host)
{
    const struct offload *offload = timed->options.offload;
    if (!offload)
        return (struct core_near){0};
    return host ? offload_near_host(offload) : offload_near(offload, number);
}

/* A cache of the core as the description has it. */
static struct cache_config cache_of(const struct timed *timed, const struct timed_core *core,
                                    const char *kind, bool coherent)
{
    char path[32];
    (void)snprintf(path, sizeof path, "%s.%s", core->name, kind);
    struct cache_config config =
        *(const struct cache_config *)tree_config(timed->options.machine->tree, path);
    config.coherent = coherent;
    return config;
}

bool timed_make_core(struct timed *timed, unsigned i, bool host, struct error *err)
{
    const struct machine_config *machine = timed->options.machine;
    struct timed_core *core = &timed->cores[i];
    const struct clock *clock = host ? &timed->host_clock : &timed->accel_clock;
    struct hart *hart = &timed->harts[i];
    unsigned number = host ? i : i - timed->hosts;
    (void)snprintf(core->name, sizeof core->name, "%s.%u", host ? "host" : "accel", number);
    const struct core_config *config = tree_config(machine->tree, core->name);
    const struct cache_config l1i = cache_of(timed, core, "l1i", host),
                              l1d = cache_of(timed, core, "l1d", host);
    core->l1i = make_cache(timed, core, "l1i", &l1i, clock, i);
    core->l1d = make_cache(timed, core, "l1d", &l1d, clock, i);
    char tlb[32];
    (void)snprintf(tlb, sizeof tlb, "%s.tlb", core->name);
    if (hart->privileged)
        core->tlb = tlb_new(tree_config(machine->tree, tlb), hart, &timed->queue, clock,
                            timed_component(timed), (uint16_t)i, core->l1d);
    struct core_ahead ahead = {0};
    if (!timed_make_engine(timed, i, config, &ahead, err))
        return false;
    if (core->tlb && !host)
        tlb_set_ranges(core->tlb, config->range_tlb_entries);
    const struct core_parts core_parts = {
        .name = core->name,
        .hart = hart,
        .queue = &timed->queue,
        .clock = *clock,
        .component = timed_component(timed),
        .number = (uint16_t)i,
        .l1i = core->l1i,
        .l1d = core->l1d,
        .tlb = core->tlb,
        .mmio_clocks = clock_cycle(clock, machine->devices.latency),
        .near = near_units(timed, number, host),
        .tick = hart->privileged ? TICK_PRIVILEGED : TICK_USER,
        .server = {stopped, timed, timed->options.offload ? code_changed : NULL},
        .ahead = ahead,
    };
    core->core =
        config->core == CORE_OOO ? ooo_new(config, &core_parts, err) : inorder_new(config, &core_parts, err);
    if (core->core)
        timed_attach_engine(timed, i);
    return core->core && watch_core(timed, core, clock, err);
}

void timed_free_core(struct timed_core *core)
{
    core_free(core->core);
    if (core->tlb)
        tlb_free(core->tlb);
    if (core->l1d)
        cache_free(core->l1d);
    if (core->l1i)
        cache_free(core->l1i);
}
