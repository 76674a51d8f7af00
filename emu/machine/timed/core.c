/* The cores of a timed machine: their harts, the handling of their stops, and their observers. */
#include <string.h>

#include "emu/machine/timed/state.h"

/* Privileged: 10 MHz, the board's time base. User programs: `time` counts nanoseconds. */
#define TICK_PRIVILEGED UINT64_C(100000000)
#define TICK_USER       UINT64_C(1000000)

static enum core_next stopped(void *context, struct core *core, enum hart_stop stop, uint64_t now)
{
    struct timed *timed = context;
    const struct core_mechanism *mechanism = &timed->options.mechanism;
    unsigned i = core->parts.number;
    if (mechanism->ops && mechanism->ops->stopped(mechanism->context, i, stop, now))
        return CORE_CONTINUE;
    if (stop == HART_STOP_MARKER)
        timed_marker(timed, i, now);
    timed_switch_detail(timed, i);
    return scheduler_stopped(&timed->scheduler, i, stop);
}

static void code_changed(void *context, struct core *core)
{
    const struct core_mechanism *mechanism = &((const struct timed *)context)->options.mechanism;
    mechanism->ops->code_changed(mechanism->context, core->parts.number);
}

/* Lets the mechanism make what takes instructions from a host's core (core_site.mechanism()). */
static bool make_offload(void *context, const struct part_site *site, const struct core_parts *parts,
                         const struct core_config *config, struct core_offload *offload, struct error *err)
{
    const struct timed *timed = context;
    const struct core_mechanism *mechanism = &timed->options.mechanism;
    const struct core_site *place = site->place;
    return parts->number >= timed->hosts ||
           mechanism->ops->make(mechanism->context, parts, config, place->memory->level, offload, err);
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
    const struct core_mechanism *mechanism = &timed->options.mechanism;
    struct timed_core *core = &timed->cores[i];
    struct hart *hart = &timed->harts[i];
    core->name = instance->path;
    core->site = (struct core_site){
        .memory = memory,
        .hart = hart,
        .number = (uint16_t)i,
        .device_time = timed->options.machine->devices.latency,
        .tick = hart->privileged ? TICK_PRIVILEGED : TICK_USER,
        .server = {stopped, timed, mechanism->ops ? code_changed : NULL},
        .mechanism = mechanism->ops ? make_offload : NULL,
        .context = timed,
    };
    if (mechanism->ops)
        core->site.near = mechanism->ops->near(mechanism->context, i);
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
    bool apart =
        timed->options.mechanism.ops && !timed->harts[0].privileged && core->core->parts.hart != timed->harts;
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
    const struct core_mechanism *mechanism = &timed->options.mechanism;
    struct timed_core *core = &timed->cores[i];
    core->tile = builder_object(&timed->builder, tree_find(timed->options.machine->tree, core->name));
    core->core = core->tile->core;
    core->core->warming = timed->warming;
    if (mechanism->ops)
        mechanism->ops->made(mechanism->context, i, core->core);
    scheduler_add(&timed->scheduler, core->core);
    watch_core(timed, core);
}
