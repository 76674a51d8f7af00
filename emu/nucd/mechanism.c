#include "emu/nucd/mechanism.h"

#include "emu/nucd/nucd.h"
#include "emu/simt/cluster.h"

static unsigned hosts(const void *nucd)
{
    return nucd_hosts(nucd);
}

static void start(void *nucd, const struct core_services *services)
{
    nucd_start_clock(nucd, services);
}

static bool coherent(const void *nucd, struct error *err)
{
    return nucd_coherent(nucd, err);
}

static struct core_near near(const void *nucd, unsigned core)
{
    return nucd_near(nucd, core);
}

static bool make(void *nucd, const struct core_parts *parts, const struct core_config *config,
                 struct llc_slices *level, struct core_offload *offload, struct error *err)
{
    const struct nucd_core core = {parts->number, config,     parts->hart, parts->clock,
                                   parts->l1d,    parts->l1i, level};
    return nucd_make_engine(nucd, &core, offload, err);
}

static void made(void *nucd, unsigned number, struct core *core)
{
    nucd_attach_engine(nucd, number, core);
}

static bool offloads(const void *nucd)
{
    return nucd_offloads(nucd);
}

static bool join(void *nucd, const char *name, const struct simt_beside *beside, struct hart *hart,
                 struct error *err)
{
    const struct nucd_multiprocessor multiprocessor = {.name = name,
                                                       .l1 = beside->l1,
                                                       .clock = beside->clock,
                                                       .number = beside->number,
                                                       .block = beside->block,
                                                       .hart = hart};
    simt_offer(beside->simt, EXTENSION_Xnucd);
    return nucd_add_multiprocessor(nucd, &multiprocessor, err);
}

static void serve(void *nucd, struct custom_units *units)
{
    nucd_serve(nucd, units);
}

static void attach(void *nucd, unsigned number, struct core *core)
{
    nucd_attach(nucd, number, core);
}

static void check(void *nucd)
{
    nucd_check(nucd);
}

static void allow(void *nucd, uint64_t first, uint64_t last)
{
    nucd_check_allow(nucd, first, last);
}

static void trace(void *nucd, struct track_sink *sink)
{
    nucd_trace(nucd, sink);
}

static void publish(const void *nucd, struct stats *stats)
{
    nucd_publish(nucd, stats);
}

static bool stopped(void *nucd, unsigned core, enum hart_stop stop, uint64_t now)
{
    return nucd_stopped(nucd, core, stop, now);
}

static void code_changed(void *nucd, unsigned core)
{
    nucd_code_changed(nucd, core);
}

static void facts(const void *nucd, struct stats *stats)
{
    nucd_add_facts(nucd, stats);
}

static bool findings(const void *nucd)
{
    return nucd_check_summary(nucd);
}

static void stop_clock(void *nucd)
{
    nucd_stop_clock(nucd);
}

struct core_mechanism nucd_mechanism(struct nucd *nucd)
{
    static const struct core_mechanism_ops ops = {
        .hosts = hosts,
        .start = start,
        .coherent = coherent,
        .near = near,
        .make = make,
        .made = made,
        .offloads = offloads,
        .join = join,
        .serve = serve,
        .attach = attach,
        .check = check,
        .allow = allow,
        .trace = trace,
        .publish = publish,
        .stopped = stopped,
        .code_changed = code_changed,
        .facts = facts,
        .findings = findings,
        .stop = stop_clock,
    };
    return (struct core_mechanism){nucd ? &ops : NULL, nucd};
}
