#include "emu/machine/timed_simt.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/machine/timed_state.h"

enum { REQUESTER = 256 }; /* of the first multiprocessor; the slices are behind the last */

#define TICK UINT64_C(1000000) /* `time` counts nanoseconds, as a user program's */

struct multiprocessor {
    char name[16]; /* "simt.3" */
    struct cache *l1;
    struct simt *core;
};

struct timed_simt {
    struct simt_config config;
    struct crossbar_config crossbar_config;
    struct llc_config l2;
    struct clock clock, crossbar_clock, l2_clock;
    struct crossbar *crossbar;
    struct llc **slices;
    struct simt_grid *grid;
    bool failed;
    timed_simt_fault *fault;
    void *fault_context;
    uint32_t count;
    struct multiprocessor cores[SIMT_MULTIPROCESSORS];
};

uint32_t timed_simt_inputs(const struct machine_config *machine)
{
    const struct llc_config *l2 = tree_config(machine->tree, "simt.l2");
    return machine->simt && l2 ? l2->slices : 0;
}

bool timed_simt_present(const struct timed *timed)
{
    return timed->simt != NULL;
}

/* What a wait is for. */
struct simt_wait {
    const struct timed_simt *simt;
    bool (*met)(const struct simt_grid *grid, uint64_t number);
    uint64_t number;
};

static bool set_clocks(struct timed *timed, struct timed_simt *simt, struct error *err)
{
    (void)timed;
    return clock_set_frequency(&simt->clock, simt->config.clock, err) &&
           clock_set_frequency(&simt->crossbar_clock, simt->crossbar_config.clock, err) &&
           clock_set_frequency(&simt->l2_clock, simt->l2.clock, err);
}

static void make_slices(struct timed *timed, struct timed_simt *simt)
{
    const struct machine_config *machine = timed->options.machine;
    uint32_t count = simt->l2.slices, input = 1 + machine->accel_count;
    const struct crossbar_route route = {.shift = (uint32_t)__builtin_ctz(simt->l2.line)}; /* lines in turn */
    simt->crossbar = crossbar_new(&simt->crossbar_config, &timed->queue, &simt->crossbar_clock,
                                  timed_component(timed), &route);
    simt->slices = calloc(count, sizeof *simt->slices);
    if (!simt->slices)
        abort();
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        const struct mem_port_ops *ops = timed->crossbar ? &crossbar_ops : &dram_memory_ops;
        void *lower = timed->crossbar ? crossbar_port(timed->crossbar, input + i) : &timed->memory;
        (void)snprintf(name, sizeof name, "simt.l2.%u", i);
        simt->slices[i] = llc_new(name, &simt->l2, &timed->queue, &simt->l2_clock, timed_component(timed),
                                  (uint16_t)(REQUESTER + simt->count + i), ops, lower);
        llc_set_homes(simt->slices[i], timed->homes);
        crossbar_connect(simt->crossbar, i, &llc_ops, simt->slices[i]);
    }
}

static void make_core(struct timed *timed, struct timed_simt *simt, uint32_t i)
{
    struct multiprocessor *core = &simt->cores[i];
    char name[32];
    void *lower = crossbar_port(simt->crossbar, i);
    (void)snprintf(core->name, sizeof core->name, "simt.%u", i);
    (void)snprintf(name, sizeof name, "%s.l1", core->name);
    const struct cache_config *l1 = tree_config(timed->options.machine->tree, "simt.l1");
    core->l1 = cache_new(name, l1, &timed->queue, &simt->clock, timed_component(timed),
                         (uint16_t)(REQUESTER + i), &crossbar_ops, lower);
    const struct simt_parts parts = {
        .name = core->name,
        .queue = &timed->queue,
        .clock = simt->clock,
        .component = timed_component(timed),
        .number = (uint16_t)(REQUESTER + i),
        .l1 = core->l1,
        .lower_ops = &crossbar_ops,
        .lower = lower,
        .source = simt_grid_source(simt->grid, i),
    };
    core->core = simt_new(&simt->config, &parts);
    simt_grid_attach(simt->grid, i, core->core);
    struct track_sink *sink = trace_tracks(timed->options.trace);
    if (sink)
        cache_track(core->l1, sink);
}

static void failed(void *context, enum grid_end end, struct warp *warp, const struct warp_report *report)
{
    struct timed *timed = context;
    struct timed_simt *simt = timed->simt;
    simt->failed = true;
    simt->fault(simt->fault_context, end, warp, report);
}

bool timed_simt_new(struct timed *timed, struct error *err)
{
    const struct machine_config *machine = timed->options.machine;
    if (!machine->simt)
        return true;
    struct timed_simt *simt = calloc(1, sizeof *simt);
    if (!simt)
        abort();
    timed->simt = simt;
    simt->config = *machine->simt;
    simt->count = simt->config.count;
    simt->crossbar_config = *(const struct crossbar_config *)tree_config(machine->tree, "simt.crossbar");
    simt->l2 = *(const struct llc_config *)tree_config(machine->tree, "simt.l2");
    simt->crossbar_config.inputs = simt->count;
    simt->crossbar_config.outputs = simt->l2.slices;
    if (!set_clocks(timed, simt, err))
        return false;
    make_slices(timed, simt);
    const struct simt_grid_parts parts = {
        .queue = &timed->queue,
        .clock = simt->clock,
        .component = timed_component(timed),
        .count = simt->count,
        .config = &simt->config,
        .tick = TICK,
        .failed = failed,
        .context = timed,
    };
    simt->grid = simt_grid_new(&parts);
    for (uint32_t i = 0; i < simt->count; i++)
        make_core(timed, simt, i);
    return true;
}

void timed_simt_free(struct timed *timed)
{
    struct timed_simt *simt = timed->simt;
    if (!simt)
        return;
    simt_grid_free(simt->grid);
    for (uint32_t i = 0; i < simt->count; i++) {
        simt_free(simt->cores[i].core);
        if (simt->cores[i].l1)
            cache_free(simt->cores[i].l1);
    }
    for (uint32_t i = 0; simt->slices && i < simt->l2.slices; i++)
        llc_free(simt->slices[i]);
    free(simt->slices);
    if (simt->crossbar)
        crossbar_free(simt->crossbar);
    free(simt);
}

void timed_simt_bind(struct timed *timed, struct warp_memory *memory, const struct grid_host *host,
                     timed_simt_fault *fault, void *context)
{
    timed->simt->fault = fault;
    timed->simt->fault_context = context;
    memory->peers = &timed->peers;
    timed->peers.threads = memory;
    simt_grid_bind(timed->simt->grid, memory, host);
}

bool timed_simt_possible(const struct timed *timed, const struct grid_launch *launch, uint32_t registers)
{
    return grid_block_threads(launch) <= timed->options.machine->simt->block_threads &&
           simt_grid_possible(timed->simt->grid, launch, registers);
}

const struct simt_counters *timed_simt_counted(struct timed *timed, uint32_t multiprocessor)
{
    return simt_counted(timed->simt->cores[multiprocessor].core);
}

static bool is_met(const void *context)
{
    const struct simt_wait *wait = context;
    return wait->simt->failed || wait->met(wait->simt->grid, wait->number);
}

static bool wait_until(struct timed *timed, bool (*met)(const struct simt_grid *grid, uint64_t number),
                       uint64_t number)
{
    const struct simt_wait wait = {timed->simt, met, number};
    return scheduler_wait(&timed->scheduler, is_met, &wait) && met(timed->simt->grid, number);
}

bool timed_simt_wait(struct timed *timed, uint64_t number)
{
    return wait_until(timed, simt_grid_done, number);
}

static bool has_room(const struct simt_grid *grid, uint64_t number)
{
    (void)number;
    return simt_grid_room(grid);
}

bool timed_simt_launch(struct timed *timed, const struct grid_launch *launch, uint32_t registers,
                       uint64_t queue, uint64_t number)
{
    if (!wait_until(timed, has_room, 0))
        return false;
    simt_grid_launch(timed->simt->grid, launch, registers, queue, number);
    return true;
}

void timed_simt_publish(struct timed *timed, struct stats *stats)
{
    struct timed_simt *simt = timed->simt;
    const struct scope scope = scope_enter(NULL, "simt");
    if (!simt)
        return;
    simt_grid_publish(simt->grid, stats, scope);
    for (uint32_t i = 0; i < simt->count; i++) {
        const struct scope core = scope_number(&scope, i), l1 = scope_enter(&core, "l1");
        simt_publish(simt->cores[i].core, stats, core);
        simt_energy(simt->cores[i].core, &timed->ledger, core);
        cache_publish(simt->cores[i].l1, stats, l1);
        cache_energy(simt->cores[i].l1, &timed->ledger, l1);
    }
    crossbar_publish(simt->crossbar, stats, scope_enter(&scope, "crossbar"));
    crossbar_energy(simt->crossbar, &timed->ledger, scope_enter(&scope, "crossbar"));
    for (uint32_t i = 0; i < simt->l2.slices; i++) {
        const struct scope slice = scope_at(&scope, "l2", i);
        llc_publish(simt->slices[i], stats, slice);
        llc_energy(simt->slices[i], &timed->ledger, slice);
    }
}
