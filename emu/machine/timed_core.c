/* The cores of a machine with a clock: which hart each has, who serves its stops, and who watches it. */
#include <string.h>

#include "emu/machine/offload.h"
#include "emu/machine/timed_state.h"

/* 10 MHz, the time base of the board; a user program's `time` counts nanoseconds. */
#define TICK_PRIVILEGED UINT64_C(100000000)
#define TICK_USER       UINT64_C(1000000)

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
static struct core_near near_units(const struct timed *timed, unsigned i)
{
    const struct offload *offload = timed->options.offload;
    if (!offload)
        return (struct core_near){0};
    return i < timed->hosts ? offload_near_host(offload) : offload_near(offload, i - timed->hosts);
}

/* The hosts' cores have the first harts, the accelerators' those behind them. */
static unsigned hart_of(const struct timed *timed, const struct instance *instance)
{
    bool host = strcmp(instance->role->name, "host") == 0;
    unsigned number = instance->index < 0 ? 0 : (unsigned)instance->index;
    unsigned hart = host ? number : timed->hosts + number;
    return hart < (host ? timed->hosts : timed->count) ? hart : UINT32_MAX;
}

const struct core_site *timed_core_site(struct timed *timed, const struct instance *instance,
                                        const struct mem_site *memory)
{
    unsigned i = hart_of(timed, instance);
    if (i == UINT32_MAX)
        return NULL;
    struct timed_core *core = &timed->cores[i];
    struct hart *hart = &timed->harts[i];
    core->name = instance->path;
    core->site = (struct core_site){
        .memory = memory,
        .hart = hart,
        .number = (uint16_t)i,
        .device_time = timed->options.machine->devices.latency,
        .near = near_units(timed, i),
        .tick = hart->privileged ? TICK_PRIVILEGED : TICK_USER,
        .server = {stopped, timed, timed->options.offload ? code_changed : NULL},
        .mechanism = timed_make_engine,
        .context = timed,
    };
    return &core->site;
}

static void watch_core(struct timed *timed, struct timed_core *core)
{
    struct stream *stream = &core->core->stream;
    bool apart =
        timed->options.offload && !timed->harts[0].privileged && core->core->parts.hart != timed->harts;
    if (timed->count > 1 || timed->options.machine->simt)
        stream->peers = &timed->peers;
    stream->observe = apart ? NULL : timed->options.observe;
    stream->context = timed->options.context;
}

void timed_add_core(struct timed *timed, unsigned i)
{
    struct timed_core *core = &timed->cores[i];
    core->tile = builder_object(&timed->builder, tree_find(timed->options.machine->tree, core->name));
    core->core = core->tile->core;
    core->core->warming = timed->warming;
    timed_attach_engine(timed, i);
    scheduler_add(&timed->scheduler, core->core);
    watch_core(timed, core);
}
