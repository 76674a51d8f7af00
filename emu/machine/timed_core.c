/* A timing core with its caches and TLBs. */
#include <stdio.h>

#include "emu/core/inorder/inorder.h"
#include "emu/core/ooo/ooo.h"
#include "emu/machine/offload.h"
#include "emu/machine/timed_state.h"

/* 10 MHz, the time base of the board; a user program's `time` counts nanoseconds. */
#define TICK_PRIVILEGED UINT64_C(100000000)
#define TICK_USER       UINT64_C(1000000)

/* The part of the core in the description. */
static struct instance *instance_of(const struct timed *timed, const struct timed_core *core)
{
    return tree_find(timed->options.machine->tree, core->name);
}

/* A cache of the core: above a last level it is coherent, else requests get their homes when they leave it. */
static struct cache *make_cache(struct timed *timed, struct timed_core *core, const char *kind,
                                uint16_t number)
{
    char name[32];
    const struct instance *server = NULL;
    const struct part_end below =
        builder_server(&timed->builder, instance_of(timed, core), "memory", 0, &server);
    (void)snprintf(name, sizeof name, "%s.%s", core->name, kind);
    struct cache_config config =
        *(const struct cache_config *)tree_config(timed->options.machine->tree, name);
    config.coherent = server->kind == &llc_kind;
    struct cache *cache = cache_new(name, &config, &timed->queue, &core->clock, timed_component(timed),
                                    number, below.ops, below.object);
    if (config.coherent)
        llc_attach(below.object, cache);
    else
        cache_set_homes(cache, timed->builder.homes);
    core->llc = config.coherent ? below.object : NULL;
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

bool timed_make_core(struct timed *timed, unsigned i, bool host, struct error *err)
{
    const struct machine_config *machine = timed->options.machine;
    struct timed_core *core = &timed->cores[i];
    const struct clock *clock = &core->clock;
    struct hart *hart = &timed->harts[i];
    unsigned number = host ? i : i - timed->hosts;
    (void)snprintf(core->name, sizeof core->name, "%s.%u", host ? "host" : "accel", number);
    const struct core_config *config = tree_config(machine->tree, core->name);
    if (!clock_set_frequency(&core->clock, config->clock, err))
        return false;
    core->l1i = make_cache(timed, core, "l1i", (uint16_t)i);
    core->l1d = make_cache(timed, core, "l1d", (uint16_t)i);
    char tlb[32];
    (void)snprintf(tlb, sizeof tlb, "%s.tlb", core->name);
    if (hart->privileged)
        core->tlb = tlb_new(tree_config(machine->tree, tlb), hart, &timed->queue, clock,
                            timed_component(timed), (uint16_t)i, core->l1d);
    struct core_offload offload = {0};
    if (!timed_make_engine(timed, i, config, &offload, err))
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
        .offload = offload,
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
