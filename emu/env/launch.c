#include "emu/env/launch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/env/calls.h"
#include "emu/env/fault.h"
#include "emu/env/launch_state.h"
#include "isa/include/croft/simt_call.h"

enum { GP = 3 };

/* Of the warps that exist at a time: without a clock, those of one block. */
static uint32_t stack_warps(const struct launch_options *options)
{
    const struct grid_limits *limits = &options->limits;
    return options->device ? options->device->warps
                           : (limits->block_threads + limits->width - 1) / limits->width;
}

uint64_t launch_stack_bytes(const struct launch_options *options)
{
    return stack_warps(options) * (uint64_t)options->limits.width * options->stack;
}

/* Instructions of warps. */
static uint64_t executed(const struct launch *launch)
{
    const struct launch_device *device = launch->options->device;
    return device ? device->count(device->context)->insns : launch->grid.insns;
}

static uint64_t executed_by_all(const struct launch *launch)
{
    return launch->user->hart->instret + executed(launch);
}

static bool stopped(void *context)
{
    const struct launch *launch = context;
    return guest_interrupted(launch->user) || executed_by_all(launch) >= launch->user->options->max_insns;
}

static bool translate(void *context, uint64_t address, enum warp_access access, uint64_t *physical)
{
    const struct launch *launch = context;
    return kernel_pages_translate(launch->user->pages, address,
                                  access == WARP_STORE   ? CROFT_RANGE_WRITE
                                  : access == WARP_FETCH ? CROFT_RANGE_EXECUTE
                                                         : CROFT_RANGE_READ,
                                  physical);
}

struct launch *launch_new(struct user *user, const struct launch_options *options, const struct phys *memory,
                          uint64_t stacks)
{
    struct launch *launch = calloc(1, sizeof *launch);
    if (!launch)
        abort();
    launch->user = user;
    launch->options = options;
    launch->all = memory;
    launch->stacks = stacks;
    launch->host = (struct grid_host){.call = launch_serve, .stopped = stopped, .context = launch};
    launch->grid = (struct grid){.memory = &launch->memory, .host = &launch->host, .limits = options->limits};
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

static void warn(const struct launch *launch, const char *why)
{
    fprintf(stderr, "croft run: warning: %s: a launch is refused: %s\n", launch->user->options->program, why);
}

/* Memory and stacks, when the first launch needs them. */
static bool make_ready(struct launch *launch, struct error *err)
{
    struct user *user = launch->user;
    const struct launch_options *options = launch->options;
    if (launch->ready)
        return true;
    if (!launch->stacks)
        launch->stacks = heap_map(&user->heap, launch_stack_bytes(options));
    if (!launch->stacks)
        return error_set(err,
                         "no room in memory for stacks of %" PRIu64 " B for each of %" PRIu32
                         " warps' %" PRIu32 " threads (simt.stack, simt.count, simt.warps, simt.width)",
                         options->stack, stack_warps(options), options->limits.width);
    if (user->options->log || options->debugged)
        fprintf(stderr, "croft run: warning: gdb and --log do not see threads on multiprocessors\n");
    if (options->untimed)
        fprintf(stderr, "croft run: warning: under --env kernel launches on multiprocessors take no time\n");
    const struct warp_memory_setup setup = {
        .memory = launch->all,
        .decoder = user->hart->decoder,
        .width = launch->options->limits.width,
        .write_first = user->write_first,
        .stack_shift = (unsigned)__builtin_ctzll(launch->options->stack),
        .stack_physical = launch->stacks,
        .stack_warps = stack_warps(launch->options),
        .translate = user->pages ? translate : NULL,
        .context = launch,
        .custom = user->hart->custom,
    };
    launch->ready = warp_memory_init(&launch->memory, &setup, err);
    return launch->ready;
}

/* The launch waits until the kernel has brought these bytes in. Returns what makes it do that, or 0 when they are there
 * or not allowed. */
static int64_t ask_for(struct launch *launch, uint64_t address, uint64_t length, uint32_t permission)
{
    struct kernel_pages *pages = launch->user->pages;
    if (!pages || !kernel_pages_allow(pages, address, permission) ||
        kernel_pages_view(pages, address, length, permission == CROFT_RANGE_WRITE))
        return 0;
    launch->paused = true;
    return -EFAULT;
}

static uint32_t permission_of(enum trap_cause cause)
{
    return cause == TRAP_STORE_PAGE   ? CROFT_RANGE_WRITE
           : cause == TRAP_FETCH_PAGE ? CROFT_RANGE_EXECUTE
                                      : CROFT_RANGE_READ;
}

static int report_limit(const struct launch *launch)
{
    fprintf(stderr,
            "croft: %s: stopped after %" PRIu64
            " instructions (--max-insns), of which warps have executed %" PRIu64 ", up to launch %" PRIu64
            "\n",
            launch->user->options->program, executed_by_all(launch), executed(launch), launch->number);
    return USER_STATUS_LIMIT;
}

static int64_t end_early(struct launch *launch)
{
    struct user *user = launch->user;
    if (!user->ended)
        guest_end(user, guest_interrupted(user) ? fault_interrupt(user) : report_limit(launch));
    return -EINTR;
}

static void stop(void *context)
{
    (void)end_early(context);
}

static int64_t advance(struct launch *launch)
{
    struct error err;
    int64_t waits;
    launch->paused = false;
    switch (grid_advance(&launch->grid, &err)) {
    case GRID_DONE: return (int64_t)launch->number;
    case GRID_HOST: return -ENOMEM;
    case GRID_STOP:
        if (launch->asked[0]) {
            launch->paused = true;
            return -EFAULT;
        }
        if (launch->missing.length == 0)
            return end_early(launch);
        waits = ask_for(launch, launch->missing.address, launch->missing.length,
                        launch->missing.write ? CROFT_RANGE_WRITE : CROFT_RANGE_READ);
        return waits ? waits : -EFAULT;
    default: break;
    }
    const struct trap *trap = &launch->grid.report.trap;
    waits = ask_for(launch, trap->value, 1, permission_of(trap->cause));
    if (!waits)
        launch_fault(launch, launch->grid.warp, &launch->grid.report);
    return waits ? waits : -EFAULT;
}

static int64_t enqueue(struct launch *launch, const struct grid_launch *wanted,
                       const struct simt_launch_record *record)
{
    const struct launch_device *device = launch->options->device;
    const struct launch_work work = {.launch = *wanted,
                                     .queue = record->queue,
                                     .number = wanted->number,
                                     .registers = record->registers,
                                     .memory = &launch->memory,
                                     .host = &launch->host,
                                     .limits = &launch->options->limits,
                                     .fault = launch_fault,
                                     .stop = stop,
                                     .fault_context = launch};
    launch->running = true;
    int64_t failed = device->enqueue(device->context, &work);
    if (failed)
        return failed;
    launch->number = wanted->number;
    return (int64_t)launch->number;
}

int64_t call_simt_launch(struct user *user, const uint64_t a[6])
{
    struct launch *launch = user->launch;
    struct simt_launch_record record;
    if (!launch)
        return -ENOSYS;
    if (launch->caller)
        return -EBUSY;
    if (launch->paused)
        return advance(launch);
    const void *from = guest_readable(user, a[0], sizeof record);
    if (!from)
        return -EFAULT;
    memcpy(&record, from, sizeof record);
    struct grid_launch wanted = {.entry = record.entry,
                                 .argument = record.argument,
                                 .gp = user->hart->x[GP],
                                 .scratchpad = record.scratchpad};
    memcpy(wanted.grid, record.grid, sizeof wanted.grid);
    memcpy(wanted.block, record.block, sizeof wanted.block);
    struct error err;
    bool possible = grid_check(&wanted, &launch->options->limits, &err);
    if (!possible || !make_ready(launch, &err)) {
        warn(launch, err.text);
        return possible ? -ENOMEM : -EINVAL;
    }
    wanted.number = launch->number + 1;
    if (launch->running)
        warp_memory_forget(&launch->memory);
    else
        warp_memory_flush(&launch->memory);
    if (launch->options->device)
        return enqueue(launch, &wanted, &record);
    launch->number = wanted.number;
    grid_begin(&launch->grid, &wanted);
    return advance(launch);
}

int64_t call_simt_wait(struct user *user, const uint64_t a[6])
{
    struct launch *launch = user->launch;
    if (!launch)
        return -ENOSYS;
    if (launch->caller)
        return -EBUSY;
    if (a[0] > launch->number)
        return -EINVAL;
    const struct launch_device *device = launch->options->device;
    int64_t failed = device ? device->wait(device->context, a[0]) : 0;
    if (!failed && a[0] == 0)
        launch->running = false;
    return failed;
}

int64_t call_simt_query(struct user *user, const uint64_t a[6])
{
    const struct launch *launch = user->launch;
    if (!launch)
        return -ENOSYS;
    const struct grid_limits *limits = &launch->options->limits;
    switch (a[0]) {
    case SIMT_QUERY_COUNT: return limits->count;
    case SIMT_QUERY_WIDTH: return limits->width;
    case SIMT_QUERY_THREADS: return limits->block_threads;
    case SIMT_QUERY_SCRATCHPAD: return (int64_t)limits->scratchpad;
    default: return -EINVAL;
    }
}
