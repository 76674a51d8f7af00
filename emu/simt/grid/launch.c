#include "emu/simt/grid/launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hart/hart.h"
#include "emu/sim/alloc.h"
#include "emu/simt/warp_debug.h"

struct launch {
    struct launch_setup setup;
    struct warp_memory memory;
    bool ready;   /* `memory` is initialized */
    bool running; /* a device may have threads that have not ended */
    struct grid grid;
    uint64_t number;          /* number of the last launch */
    struct warp_debug *debug; /* NULL: none */
};

void launch_describe(const struct simt_config *simt, uint32_t count, struct launch_options *options)
{
    *options = (struct launch_options){.limits = {.count = 0}};
    if (!simt)
        return;
    options->stack = simt->stack;
    options->reconvergence = simt->reconvergence;
    options->limits = (struct grid_limits){.count = count,
                                           .width = simt->width,
                                           .block_threads = simt->block_threads,
                                           .scratchpad = simt->scratchpad};
}

void launch_limit(struct launch_options *options, uint64_t threads)
{
    if (threads < options->limits.block_threads)
        options->limits.block_threads = (uint32_t)threads;
}

/* Returns the number of warps that need stacks at the same time: without a clock, those of one block. */
static uint32_t stack_warps(const struct launch_options *options)
{
    const struct grid_limits *limits = &options->limits;
    return options->device ? options->device->warps
                           : (limits->block_threads + limits->width - 1) / limits->width;
}

uint64_t launch_kernel(const struct decoder *decoder, const struct reach_code *code, uint64_t entry)
{
    enum { RA = 1, MOST = 4 };
    uint64_t pc = entry, base = 0;
    unsigned based = 0;
    for (unsigned i = 0; i < MOST; i++) {
        uint32_t bits;
        if (!code->fetch(code->context, pc, &bits))
            break;
        const struct insn insn = decode(decoder, bits);
        const uint64_t imm = (uint64_t)(int64_t)insn.imm;
        if (insn.id == INSN_auipc) {
            base = pc + imm;
            based = insn.rd;
        }
        if (insn.id == INSN_jal && insn.rd == RA)
            return pc + imm;
        if (insn.id == INSN_jalr && insn.rd == RA && insn.rs1 == based)
            return base + imm;
        pc += insn.length;
    }
    return entry;
}

bool launch_fetch(void *memory, uint64_t pc, uint32_t *bits)
{
    static const struct warp_scratchpad none = {0};
    *bits = 0;
    return warp_memory_load(memory, &none, pc, bits, 4) || warp_memory_load(memory, &none, pc, bits, 2);
}

uint64_t launch_stack_bytes(const struct launch_options *options)
{
    return stack_warps(options) * (uint64_t)options->limits.width * options->stack;
}

struct launch *launch_new(const struct launch_setup *setup)
{
    struct launch *launch = alloc(1, sizeof *launch);
    launch->setup = *setup;
    launch->grid = (struct grid){
        .memory = &launch->memory, .host = &setup->host->grid, .limits = setup->options->limits};
    return launch;
}

void launch_free(struct launch *launch)
{
    if (!launch)
        return;
    grid_free(&launch->grid);
    if (launch->ready)
        warp_memory_free(&launch->memory);
    free(launch);
}

/* Initializes memory and stacks at the first launch. */
static bool make_ready(struct launch *launch, struct error *err)
{
    const struct launch_setup *setup = &launch->setup;
    const struct launch_options *options = setup->options;
    if (launch->ready)
        return true;
    uint64_t stacks = setup->host->stacks(setup->host->context, launch_stack_bytes(options));
    if (!stacks)
        return error_set(err,
                         "no room in memory for stacks of %" PRIu64 " B for %" PRIu32 " warps of %" PRIu32
                         " threads (simt.stack, simt.count, simt.warps, simt.width)",
                         options->stack, stack_warps(options), options->limits.width);
    const struct warp_memory_setup memory = {
        .memory = setup->memory,
        .decoder = setup->hart->decoder,
        .width = options->limits.width,
        .reconvergence = options->reconvergence,
        .write_first = setup->write_first,
        .stack_shift = (unsigned)__builtin_ctzll(options->stack),
        .stack_physical = stacks,
        .stack_warps = stack_warps(options),
        .translate = setup->host->translate,
        .context = setup->host->context,
        .custom = setup->hart->custom,
    };
    launch->ready = warp_memory_init(&launch->memory, &memory, err);
    launch->memory.debug = launch->debug;
    return launch->ready;
}

static struct grid_launch wanted_by(const struct launch *launch, const struct simt_launch_record *record,
                                    const struct launch_caller *caller)
{
    struct grid_launch wanted = {.entry = record->entry,
                                 .argument = record->argument,
                                 .gp = caller->gp,
                                 .host = caller->host,
                                 .scratchpad = record->scratchpad,
                                 .number = launch->number + 1};
    memcpy(wanted.grid, record->grid, sizeof wanted.grid);
    memcpy(wanted.block, record->block, sizeof wanted.block);
    return wanted;
}

static enum launch_end enqueue(struct launch *launch, const struct grid_launch *wanted,
                               const struct simt_launch_record *record)
{
    const struct launch_device *device = launch->setup.options->device;
    const struct launch_work work = {.launch = *wanted,
                                     .queue = record->queue,
                                     .registers = record->registers,
                                     .memory = &launch->memory,
                                     .host = launch->setup.host};
    launch->running = true;
    enum launch_end end = device->enqueue(device->context, &work);
    if (end == LAUNCH_DONE)
        launch->number = wanted->number;
    return end;
}

enum launch_end launch_begin(struct launch *launch, const struct simt_launch_record *record,
                             const struct launch_caller *caller, uint64_t quantum, struct error *err)
{
    const struct launch_options *options = launch->setup.options;
    const struct grid_launch wanted = wanted_by(launch, record, caller);
    err->text[0] = '\0';
    if (!grid_check(&wanted, &options->limits, err))
        return LAUNCH_REFUSED;
    if (!make_ready(launch, err))
        return LAUNCH_MEMORY;
    if (launch->running)
        warp_memory_forget(&launch->memory);
    else
        warp_memory_flush(&launch->memory);
    if (options->device)
        return enqueue(launch, &wanted, record);
    launch->number = wanted.number;
    grid_begin(&launch->grid, &wanted);
    return launch_advance(launch, quantum);
}

enum launch_end launch_advance(struct launch *launch, uint64_t quantum)
{
    struct error ignored;
    switch (grid_advance(&launch->grid, quantum, &ignored)) {
    case GRID_DONE: return LAUNCH_DONE;
    case GRID_PAUSE: return LAUNCH_PAUSE;
    case GRID_HOST: return LAUNCH_MEMORY;
    case GRID_STOP: return LAUNCH_CALL;
    default: return LAUNCH_TRAP;
    }
}

struct warp *launch_trapped(const struct launch *launch, const struct warp_report **report)
{
    *report = &launch->grid.report;
    return launch->grid.warp;
}

bool launch_wait(struct launch *launch, uint64_t number)
{
    const struct launch_device *device = launch->setup.options->device;
    bool ended = !device || device->wait(device->context, number);
    if (ended && number == 0)
        launch->running = false;
    return ended;
}

bool launch_ready(struct launch *launch, uint64_t number)
{
    const struct launch_device *device = launch->setup.options->device;
    bool ready = device->ready(device->context, number);
    if (ready && number == 0)
        launch->running = false;
    return ready;
}

void launch_resume(const struct launch *launch, struct custom_waiter *waiter)
{
    const struct launch_device *device = launch->setup.options->device;
    device->resume(device->context, waiter);
}

void launch_forget(struct launch *launch)
{
    const struct launch_device *device = launch->setup.options->device;
    if (!launch->ready)
        return;
    warp_memory_forget(&launch->memory);
    if (device)
        device->forget(device->context);
}

void launch_debug(struct launch *launch, struct warp_debug *debug)
{
    launch->debug = debug;
    if (launch->ready)
        launch->memory.debug = debug;
}

bool launch_break(struct launch *launch, bool insert, uint64_t address)
{
    struct warp_memory *memory = launch->ready ? &launch->memory : NULL;
    return insert ? warp_debug_insert(launch->debug, memory, address)
                  : warp_debug_remove(launch->debug, memory, address);
}

uint32_t launch_warps(const struct launch *launch)
{
    return stack_warps(launch->setup.options);
}

unsigned launch_width(const struct launch *launch)
{
    return launch->setup.options->limits.width;
}

struct warp *launch_warp(const struct launch *launch, uint32_t number)
{
    const struct launch_device *device = launch->setup.options->device;
    struct warp *warp = NULL;
    if (device)
        warp = device->warp(device->context, number);
    else if (launch->grid.running && number < launch->grid.block.count)
        warp = launch->grid.block.warps[number];
    return warp && warp_live(warp) ? warp : NULL;
}

void launch_moved(const struct launch *launch)
{
    const struct launch_device *device = launch->setup.options->device;
    if (device && launch->ready)
        device->moved(device->context);
}

bool launch_pending(const struct launch *launch, uint64_t number, struct grid_pending *pending)
{
    const struct launch_device *device = launch->setup.options->device;
    if (!device)
        return grid_pending(&launch->grid, pending);
    return launch->ready && device->pending(device->context, number, pending);
}

uint64_t launch_function(struct launch *launch, uint64_t entry)
{
    const struct reach_code code = {launch_fetch, &launch->memory};
    return launch_kernel(launch->setup.hart->decoder, &code, entry);
}

uint64_t launch_number(const struct launch *launch)
{
    return launch->number;
}

struct warp_memory *launch_memory(struct launch *launch)
{
    return &launch->memory;
}

/* Returns the counters of the device or of the functional run. */
static struct launch_counts counts_of(const struct launch *launch)
{
    const struct launch_device *device = launch->setup.options->device;
    const struct grid *grid = &launch->grid;
    return device ? *device->count(device->context)
                  : (struct launch_counts){grid->launches, grid->blocks, grid->insns, grid->thread_insns};
}

uint64_t launch_executed(const struct launch *launch)
{
    return counts_of(launch).insns;
}

static uint64_t read_launches(const void *launch)
{
    return counts_of(launch).launches;
}

static uint64_t read_blocks(const void *launch)
{
    return counts_of(launch).blocks;
}

static uint64_t read_insns(const void *launch)
{
    return counts_of(launch).insns;
}

static uint64_t read_thread_insns(const void *launch)
{
    return counts_of(launch).thread_insns;
}

void launch_publish(const struct launch *launch, struct stats *stats)
{
    const struct scope simt = scope_enter(NULL, "simt");
    stats_computed(stats, simt, "launches", read_launches, launch, "launches",
                   "grids of threads that were launched");
    stats_computed(stats, simt, "blocks", read_blocks, launch, "blocks", "blocks of threads that have begun");
    stats_computed(stats, simt, "instructions", read_insns, launch, "instructions",
                   "instructions executed, counted once per warp");
    stats_computed(stats, simt, "thread_instructions", read_thread_insns, launch, "instructions",
                   "instructions executed, counted once per thread");
}
