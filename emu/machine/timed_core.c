/* The cores of a timed machine: their harts, the handling of their stops, and their observers. */
#include <string.h>

#include "emu/machine/timed_state.h"

/* Privileged: 10 MHz, the board's time base. User programs: `time` counts nanoseconds. */
#define TICK_PRIVILEGED UINT64_C(100000000)
#define TICK_USER       UINT64_C(1000000)

static enum core_next stopped(void *context, struct core *core, enum hart_stop stop, uint64_t now)
{
    struct timed *timed = context;
    unsigned i = core->parts.number;
    if (nucd_stopped(timed->options.nucd, i, stop, now))
        return CORE_CONTINUE;
    if (stop == HART_STOP_MARKER)
        timed_marker(timed, i, now);
    timed_switch_detail(timed, i);
    return scheduler_stopped(&timed->scheduler, i, stop);
}

static void code_changed(void *context, struct core *core)
{
    const struct timed *timed = context;
    nucd_code_changed(timed->options.nucd, core->parts.number);
}

static bool make_engine(void *context, const struct part_site *site, const struct core_parts *parts,
                        const struct core_config *config, struct core_offload *offload, struct error *err)
{
    const struct timed *timed = context;
    const struct core_site *place = site->place;
    const struct nucd_core core = {parts->number, config,     parts->hart,         parts->clock,
                                   parts->l1d,    parts->l1i, place->memory->level};
    return parts->number >= timed->hosts || nucd_make_engine(timed->options.nucd, &core, offload, err);
}

/* Returns the hart of a core. The hosts' cores have the first harts, the accelerators' cores the following
 * ones. UINT32_MAX: none. */
static unsigned hart_of(const struct timed *timed, const struct instance *instance)
{
    bool host = strcmp(instance->role->name, "host") == 0;
    unsigned number = instance->index < 0 ? 0 : (unsigned)instance->index;
    unsigned hart = host ? number : timed->hosts + number;
    return hart < timed->count && (!host || hart < timed->hosts) ? hart : UINT32_MAX;
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
        .near = nucd_near(timed->options.nucd, i),
        .tick = hart->privileged ? TICK_PRIVILEGED : TICK_USER,
        .server = {stopped, timed, timed->options.nucd ? code_changed : NULL},
        .mechanism = make_engine,
        .context = timed,
    };
    return &core->site;
}

/* Observer of a user program's accelerator. Ignores machine mode: that is firmware, not the program's
 * regions. */
static void observe_region(void *context, struct hart *hart, const struct step_report *report)
{
    const struct timed *timed = context;
    if (report->privilege == PRIV_U)
        timed->options.observe(timed->options.context, hart, report);
}

static void watch_core(struct timed *timed, struct timed_core *core)
{
    struct stream *stream = &core->core->stream;
    bool apart = timed->options.nucd && !timed->harts[0].privileged && core->core->parts.hart != timed->harts;
    if (timed->count > 1 || timed->options.machine->simt)
        stream->peers = &timed->peers;
    stream->observe = timed->options.observe;
    stream->context = timed->options.context;
    if (apart && stream->observe) {
        stream->observe = observe_region;
        stream->context = timed;
    }
}

void timed_add_core(struct timed *timed, unsigned i)
{
    struct timed_core *core = &timed->cores[i];
    core->tile = builder_object(&timed->builder, tree_find(timed->options.machine->tree, core->name));
    core->core = core->tile->core;
    core->core->warming = timed->warming;
    nucd_attach_engine(timed->options.nucd, i, core->core);
    scheduler_add(&timed->scheduler, core->core);
    watch_core(timed, core);
}
