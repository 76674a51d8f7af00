#include "emu/nucd/nucd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/nucd/observe/task_check.h"
#include "emu/nucd/observe/task_table.h"
#include "emu/nucd/observe/task_track.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/quantity.h"
#include "linker/map.h"

struct nucd {
    struct tasks_options options;
    const struct nucd_config *config;
    struct phys firmware; /* the firmware's memory */
    unsigned hosts;       /* number of harts before those of accelerators */
    struct accelerators *accelerators;
    struct core_services machine;
    struct engines *engines;  /* NULL: without a clock */
    struct task_check *check; /* NULL: --check nucd is off */
    struct task_track *track; /* NULL: tasks are not on a trace's tracks */
    struct task_table *table; /* NULL: no table of tasks is written */
};

/* Loads the firmware into the lower half of its memory; the upper half is for stacks. */
static bool load(const struct nucd *nucd, uint64_t *entry, struct error *err)
{
    const struct phys *memory = &nucd->firmware;
    const struct phys window = phys_view(memory, memory->base, memory->size / 2, CROFT_NUCD_FIRMWARE);
    if (!nucd->options.load(nucd->options.firmware, &window, entry, err))
        return error_prefix(err, "--firmware");
    *entry = *entry - CROFT_NUCD_FIRMWARE + memory->base;
    return true;
}

bool nucd_restart(struct nucd *nucd, struct error *err)
{
    uint64_t entry = 0;
    if (!nucd)
        return true;
    if (!load(nucd, &entry, err))
        return false;
    accelerators_reset(nucd->accelerators, entry);
    return true;
}

static bool set_up(struct nucd *nucd, struct error *err)
{
    const struct tasks_options *o = &nucd->options;
    const struct accelerators_options options = {.config = nucd->config,
                                                 .harts = o->harts + nucd->hosts,
                                                 .count = o->count - nucd->hosts,
                                                 .memory_base = o->memory->base,
                                                 .firmware = nucd->firmware,
                                                 .done = o->done};
    char source[TREE_SOURCE];
    nucd->accelerators = accelerators_new(&options, err);
    if (!nucd->accelerators)
        return false;
    if (accelerators_connect(nucd->accelerators, o->bus, err))
        return nucd_restart(nucd, err);
    tree_source_of(o->tree, "nucd.base", source);
    return error_prefix(err, "%s: nucd.base", source);
}

struct nucd *nucd_new(const struct tasks_options *options, struct error *err)
{
    unsigned count = nucd_count(options->tree, options->firmware);
    if (count == 0)
        return NULL;
    struct nucd *nucd = alloc(1, sizeof *nucd);
    nucd->options = *options;
    nucd->config = nucd_described(options->tree);
    nucd->firmware = nucd_firmware_memory(options->tree, options->memory);
    nucd->hosts = options->count - count;
    if (set_up(nucd, err))
        return nucd;
    nucd_free(nucd);
    return NULL;
}

void nucd_free(struct nucd *nucd)
{
    if (!nucd)
        return;
    accelerators_free(nucd->accelerators);
    free(nucd);
}

/* Lines that are on their way when a range is cleaned in no time stay as they are (cache_warm_maintain()). */
bool nucd_coherent(const struct nucd *nucd, struct error *err)
{
    char source[TREE_SOURCE];
    if (!nucd || nucd->config->mode != NUCD_MODE_IDEAL)
        return true;
    tree_source_of(nucd->options.tree, "nucd.mode", source);
    return error_set(
        err,
        "%s: nucd.mode: ideal cleans caches in no time, and leaves old copies of lines that are on "
        "their way; leave --check coherence out, or set nucd.mode: nucd",
        source);
}

void nucd_protect(struct nucd *nucd, uint64_t first)
{
    if (nucd)
        accelerators_protect(nucd->accelerators, first);
}

void nucd_set_ranges(struct nucd *nucd, uint64_t table)
{
    if (nucd)
        accelerators_set_ranges(nucd->accelerators, table);
}

bool nucd_fault(const struct nucd *nucd, const struct hart *hart, unsigned *accelerator, uint64_t *pc)
{
    return nucd && nucd->engines && engines_fault(nucd->engines, hart, accelerator, pc);
}

bool nucd_keeps(const struct nucd *nucd, const struct hart *hart)
{
    return nucd && nucd->engines && engines_keep(nucd->engines, hart);
}

bool nucd_overflow(const struct nucd *nucd, unsigned accelerator, const struct trap *trap,
                   char text[NUCD_OVERFLOW_TEXT])
{
    uint64_t first, size;
    char bytes[QUANTITY_TEXT];
    bool load_trap = trap->cause == TRAP_LOAD_ACCESS || trap->cause == TRAP_LOAD_PAGE;
    if (!nucd || (!load_trap && trap->cause != TRAP_STORE_ACCESS && trap->cause != TRAP_STORE_PAGE))
        return false;
    accelerators_stack(nucd->accelerators, accelerator, &first, &size);
    if (trap->value < nucd->firmware.base || trap->value >= first)
        return false;
    quantity_format(QUANTITY_SIZE, size, bytes);
    (void)snprintf(text, NUCD_OVERFLOW_TEXT,
                   "stack overflow of accelerator %u: %s 0x%" PRIx64
                   ", below its stack of %s; its size is nucd.memory / %" PRIu64,
                   accelerator, load_trap ? "load from" : "store to", trap->value, bytes,
                   nucd->firmware.size / size);
    return true;
}

bool nucd_stopped_region(const struct nucd *nucd, unsigned accelerator, struct tasks_region *region)
{
    return nucd && accelerators_stopped_region(nucd->accelerators, accelerator, region);
}

bool nucd_caller(const struct nucd *nucd, unsigned accelerator, struct tasks_caller *caller)
{
    uint64_t first, size;
    const struct task_unit *unit = accelerators_unit(nucd->accelerators, accelerator);
    const enum task_unit_state state = task_unit_state(unit);
    if (!nucd->engines || (state != TASK_UNIT_RUNNING && state != TASK_UNIT_FAULTED))
        return false;
    accelerators_stack(nucd->accelerators, accelerator, &first, &size);
    caller->stack_end = first + size;
    return engines_task_sp(nucd->engines, accelerator, task_unit_packet(unit)->tag, &caller->sp);
}

void nucd_answer_call(struct nucd *nucd, unsigned accelerator, uint64_t result)
{
    accelerators_answer_call(nucd->accelerators, accelerator, result);
}

struct accelerators *nucd_accelerators(const struct nucd *nucd)
{
    return nucd->accelerators;
}

unsigned nucd_hosts(const struct nucd *nucd)
{
    return nucd->hosts;
}

void nucd_start_clock(struct nucd *nucd, const struct core_services *machine)
{
    if (!nucd)
        return;
    nucd->machine = *machine;
    nucd->engines = engines_new(nucd->config, nucd->accelerators, nucd->hosts, nucd_line(nucd->options.tree),
                                &nucd->machine);
}

void nucd_stop_clock(struct nucd *nucd)
{
    if (!nucd)
        return;
    task_check_free(nucd->check);
    task_track_free(nucd->track);
    task_table_free(nucd->table);
    nucd->check = NULL;
    nucd->track = NULL;
    nucd->table = NULL;
    engines_free(nucd->engines);
    nucd->engines = NULL;
    accelerators_detach(nucd->accelerators);
}

struct core_near nucd_near(const struct nucd *nucd, unsigned core)
{
    if (!nucd)
        return (struct core_near){0};
    return core < nucd->hosts ? accelerators_near_host(nucd->accelerators)
                              : accelerators_near(nucd->accelerators, core - nucd->hosts);
}

bool nucd_make_engine(struct nucd *nucd, const struct nucd_core *core, struct core_offload *offload,
                      struct error *err)
{
    return !nucd || engines_make(nucd->engines, core, offload, err);
}

void nucd_attach_engine(struct nucd *nucd, unsigned number, struct core *core)
{
    if (nucd)
        engines_attach(nucd->engines, number, core);
}

bool nucd_offloads(const struct nucd *nucd)
{
    return nucd && nucd->engines && engines_count(nucd->engines) > 0;
}

bool nucd_add_multiprocessor(struct nucd *nucd, const struct nucd_multiprocessor *multiprocessor,
                             struct error *err)
{
    return !nucd || engines_add(nucd->engines, multiprocessor, err);
}

void nucd_serve(struct nucd *nucd, struct custom_units *units)
{
    if (nucd)
        engines_serve(nucd->engines, units);
}

void nucd_attach(struct nucd *nucd, unsigned number, struct core *core)
{
    if (!nucd)
        return;
    struct hart *hart = core->parts.hart;
    if (number < nucd->hosts) {
        hart->offload.present = hart->privileged;
        hart->offload.traps = hart->privileged && nucd->config->mode == NUCD_MODE_DRIVER;
        return;
    }
    accelerators_attach(nucd->accelerators, number - nucd->hosts, core, &nucd->machine);
    if (!nucd->options.harts[0].privileged)
        core_wake(core, nucd->machine.queue->now);
}

bool nucd_stopped(struct nucd *nucd, unsigned core, enum hart_stop stop, uint64_t now)
{
    return nucd && core >= nucd->hosts &&
           accelerators_stopped(nucd->accelerators, core - nucd->hosts, stop, now);
}

void nucd_code_changed(struct nucd *nucd, unsigned core)
{
    if (nucd && core < nucd->hosts)
        accelerators_change_code(nucd->accelerators);
}

void nucd_check(struct nucd *nucd)
{
    nucd->check =
        task_check_new(nucd->config, nucd->accelerators, nucd->options.harts, nucd->hosts, &nucd->machine);
}

void nucd_check_allow(struct nucd *nucd, uint64_t first, uint64_t last)
{
    task_check_allow(nucd->check, first, last);
}

bool nucd_check_summary(const struct nucd *nucd)
{
    return nucd && nucd->check && task_check_summary(nucd->check);
}

void nucd_trace(struct nucd *nucd, struct track_sink *sink)
{
    if (!nucd)
        return;
    const struct task_sources sources = {nucd->config, nucd->engines, nucd->accelerators, &nucd->machine};
    if (track_takes(sink, TRACK_TIMELINE))
        nucd->track = task_track_new(sink, &sources);
    if (track_takes(sink, TRACK_TABLE))
        nucd->table = task_table_new(sink, &sources);
}

void nucd_publish(const struct nucd *nucd, struct stats *stats)
{
    if (!nucd)
        return;
    accelerators_publish(nucd->accelerators, stats);
    engines_publish(nucd->engines, stats);
    if (nucd->check)
        task_check_publish(nucd->check, stats);
}

void nucd_add_facts(const struct nucd *nucd, struct stats *stats)
{
    if (nucd)
        engines_add_facts(nucd->engines, stats);
}
