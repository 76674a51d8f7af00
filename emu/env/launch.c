#include "emu/env/launch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/env/calls.h"
#include "emu/env/fault.h"
#include "emu/env/kernel_pages.h"

enum { GP = 3, A0 = 10, A7 = 17 };

/* Bytes of a thread's own memory that a call works on. */
struct copy {
    struct copy *next;
    uint64_t address, length;
    bool write;
    uint8_t bytes[];
};

struct launch {
    struct user *user;
    const struct launch_options *options;
    const struct phys *all;
    uint64_t stacks;
    struct warp_memory memory;
    bool ready; /* memory is initialised */
    struct grid grid;
    struct grid_host host;
    uint64_t number;               /* of the last launch */
    bool paused;                   /* it waits for pages that the kernel is asked for */
    bool running;                  /* a device may have threads that have not ended */
    struct warp *caller;           /* whose lane's call is being served */
    struct copy *copies;           /* the youngest first */
    struct kernel_missing missing; /* of a lane's call */
    uint64_t asked[7];             /* a lane's call that the kernel is to serve; [0]: number, 0: none */
    bool answered;                 /* it has: */
    uint64_t answer;
};

/* What a program passes to the launch call. */
struct launch_record {
    uint64_t entry, argument;
    uint32_t grid[3], block[3];
    uint32_t scratchpad, registers;
    uint64_t queue;
};

static bool is_power(uint64_t n)
{
    return n && !(n & (n - 1));
}

bool launch_describe(const struct machine_config *machine, struct launch_options *options, struct error *err)
{
    const struct machine_simt *keys = &machine->simt;
    char source[MACHINE_SOURCE];
    const char *name = !is_power(keys->width) ? "simt.width" : !is_power(keys->stack) ? "simt.stack" : NULL;
    *options = (struct launch_options){.limits = {.count = (uint32_t)keys->count,
                                                  .width = (uint32_t)keys->width,
                                                  .block_threads = (uint32_t)keys->block_threads,
                                                  .scratchpad = keys->scratchpad},
                                       .stack = keys->stack};
    if (!name)
        return true;
    machine_source(machine, name, source);
    return error_set(err, "%s: %s: %" PRIu64 " is not allowed; allowed: a power of two", source, name,
                     strcmp(name, "simt.width") == 0 ? keys->width : keys->stack);
}

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

static void settle(struct launch *launch)
{
    const struct warp_scratchpad *pad = warp_scratchpad(launch->caller);
    for (struct copy *copy = launch->copies, *next; copy; copy = next) {
        next = copy->next;
        if (copy->write)
            (void)warp_memory_store(&launch->memory, pad, copy->address, copy->bytes, copy->length);
        free(copy);
    }
    launch->copies = NULL;
}

void *launch_view(struct launch *launch, uint64_t address, uint64_t length, bool write)
{
    if (!launch->caller)
        return NULL;
    const struct warp_scratchpad *pad = warp_scratchpad(launch->caller);
    if (length > launch->memory.stack_size + pad->size)
        return NULL;
    struct copy *copy = malloc(sizeof *copy + length);
    if (!copy)
        abort();
    *copy = (struct copy){launch->copies, address, length, write};
    if (!warp_memory_load(&launch->memory, pad, address, copy->bytes, length)) {
        free(copy);
        return NULL;
    }
    launch->copies = copy;
    return copy->bytes;
}

/* The hart's registers, while a lane's are in it: calls and reports look there. */
struct registers {
    uint64_t x[32], pc;
};

static struct registers show_lane(struct hart *hart, const struct warp *warp, unsigned lane)
{
    struct registers kept = {.pc = hart->pc};
    memcpy(kept.x, hart->x, sizeof kept.x);
    for (unsigned i = 1; i < 32; i++)
        hart->x[i] = warp_register(warp, i, lane);
    hart->pc = warp_pc(warp, lane);
    return kept;
}

static void show_host(struct hart *hart, const struct registers *kept)
{
    memcpy(hart->x, kept->x, sizeof kept->x);
    hart->pc = kept->pc;
}

/* brk, munmap, mremap, mmap, mprotect, riscv_flush_icache: see host/kernel/main.c. */
static bool is_kernels(uint64_t number)
{
    return (number >= 214 && number <= 216) || number == 222 || number == 226 || number == 259;
}

/* Whether the kernel has served the lane's call; otherwise it is asked to. */
static bool ask_kernel(struct launch *launch, const struct warp *warp, unsigned lane, uint64_t *result)
{
    if (launch->answered) {
        launch->answered = false;
        *result = launch->answer;
        warp_memory_forget(&launch->memory);
        return true;
    }
    launch->asked[0] = warp_register(warp, A7, lane);
    for (unsigned i = 0; i < 6; i++)
        launch->asked[1 + i] = warp_register(warp, A0 + i, lane);
    return false;
}

bool launch_asks(struct launch *launch, uint64_t call[7])
{
    if (!launch || !launch->asked[0])
        return false;
    memcpy(call, launch->asked, sizeof launch->asked);
    launch->asked[0] = 0;
    return true;
}

void launch_answer(struct launch *launch, uint64_t result)
{
    launch->answered = true;
    launch->answer = result;
}

static bool serve_lane(void *context, struct warp *warp, unsigned lane, uint64_t *result)
{
    struct launch *launch = context;
    struct user *user = launch->user;
    launch->missing.length = 0;
    if (user->pages && is_kernels(warp_register(warp, A7, lane)))
        return ask_kernel(launch, warp, lane, result);
    struct registers kept = show_lane(user->hart, warp, lane);
    launch->caller = warp;
    *result = (uint64_t)calls_serve(user);
    launch->missing = (struct kernel_missing){0};
    if (user->pages)
        launch->missing = kernel_pages_settle(user->pages, true);
    settle(launch);
    launch->caller = NULL;
    show_host(user->hart, &kept);
    if (*result != (uint64_t)-EFAULT)
        launch->missing.length = 0;
    return !user->ended && launch->missing.length == 0;
}

static uint64_t executed(const struct launch *launch)
{
    return launch->user->hart->instret + launch->grid.insns;
}

static bool stopped(void *context)
{
    const struct launch *launch = context;
    return guest_interrupted(launch->user) || executed(launch) >= launch->user->options->max_insns;
}

static void report_fault(void *context, struct warp *warp, const struct warp_report *report)
{
    struct launch *launch = context;
    struct user *user = launch->user;
    struct registers kept = show_lane(user->hart, warp, report->lane);
    const uint32_t *block = warp_where(warp)->block;
    uint32_t thread[3];
    warp_thread(warp, report->lane, thread);
    fprintf(stderr,
            "croft: %s: in thread (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ") of block (%" PRIu32 ", %" PRIu32
            ", %" PRIu32 ") of launch %" PRIu64 ", lane %u of warp %" PRIu32 ":\n",
            user->options->program, thread[0], thread[1], thread[2], block[0], block[1], block[2],
            launch->number, report->lane, warp_where(warp)->warp);
    user->hart->trap = report->trap;
    guest_end(user, fault_report(user));
    show_host(user->hart, &kept);
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
    launch->host = (struct grid_host){.call = serve_lane, .stopped = stopped, .context = launch};
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

/* What has executed the launches: a device, or the functional run. */
static struct launch_counts counts_of(const struct launch *launch)
{
    const struct launch_device *device = launch->options->device;
    const struct grid *grid = &launch->grid;
    return device ? *device->count(device->context)
                  : (struct launch_counts){grid->launches, grid->blocks, grid->insns, grid->thread_insns};
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
    stats_computed(stats, "simt.launches", read_launches, launch, "launches",
                   "grids of threads that were launched");
    stats_computed(stats, "simt.blocks", read_blocks, launch, "blocks", "blocks of threads that have begun");
    stats_computed(stats, "simt.instructions", read_insns, launch, "instructions",
                   "instructions executed, once for a warp");
    stats_computed(stats, "simt.thread_instructions", read_thread_insns, launch, "instructions",
                   "instructions executed, once for each thread");
}

/* Memory and stacks, when the first launch needs them. */
static bool make_ready(struct launch *launch)
{
    struct user *user = launch->user;
    struct error err;
    if (launch->ready)
        return true;
    if (!launch->stacks)
        launch->stacks = heap_map(&user->heap, launch_stack_bytes(launch->options));
    if (!launch->stacks)
        return false;
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
    };
    launch->ready = warp_memory_init(&launch->memory, &setup, &err);
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
            " instructions (--max-insns), of which warps have executed %" PRIu64 ", in launch %" PRIu64 "\n",
            launch->user->options->program, executed(launch), launch->grid.insns, launch->number);
    return USER_STATUS_LIMIT;
}

static int64_t end_early(struct launch *launch)
{
    struct user *user = launch->user;
    if (!user->ended)
        guest_end(user, guest_interrupted(user) ? fault_interrupt(user) : report_limit(launch));
    return -EINTR;
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
        report_fault(launch, launch->grid.warp, &launch->grid.report);
    return waits ? waits : -EFAULT;
}

static int64_t enqueue(struct launch *launch, const struct grid_launch *wanted,
                       const struct launch_record *record)
{
    const struct launch_device *device = launch->options->device;
    const struct launch_work work = {.launch = *wanted,
                                     .queue = record->queue,
                                     .number = launch->number,
                                     .registers = record->registers,
                                     .memory = &launch->memory,
                                     .host = &launch->host,
                                     .limits = &launch->options->limits,
                                     .fault = report_fault,
                                     .fault_context = launch};
    launch->running = true;
    int64_t failed = device->enqueue(device->context, &work);
    return failed ? failed : (int64_t)launch->number;
}

int64_t call_simt_launch(struct user *user, const uint64_t a[6])
{
    struct launch *launch = user->launch;
    struct launch_record record;
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
    if (!grid_possible(&wanted, &launch->options->limits))
        return -EINVAL;
    if (!make_ready(launch))
        return -ENOMEM;
    launch->number++;
    if (launch->running)
        warp_memory_forget(&launch->memory);
    else
        warp_memory_flush(&launch->memory);
    if (launch->options->device)
        return enqueue(launch, &wanted, &record);
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
    case 0: return limits->count;
    case 1: return limits->width;
    case 2: return limits->block_threads;
    case 3: return (int64_t)limits->scratchpad;
    default: return -EINVAL;
    }
}
