#include "emu/env/threads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/env/calls.h"
#include "emu/env/fault.h"
#include "emu/env/threads_state.h"
#include "emu/machine/scheduler.h"
#include "emu/sim/alloc.h"
#include "emu/simt/warp_debug.h"

static uint64_t executed_by_all(const struct threads *threads)
{
    return threads->user->hart->instret + launch_executed(threads->launch);
}

static bool stopped(void *context)
{
    const struct threads *threads = context;
    return guest_interrupted(threads->user) || executed_by_all(threads) >= threads->user->options->max_insns;
}

static uint32_t permission_for(enum warp_access access)
{
    return access == WARP_STORE   ? CROFT_RANGE_WRITE
           : access == WARP_FETCH ? CROFT_RANGE_EXECUTE
                                  : CROFT_RANGE_READ;
}

static bool translate(void *context, uint64_t address, enum warp_access access, uint64_t *physical)
{
    const struct threads *threads = context;
    return kernel_pages_translate(threads->user->pages, address, permission_for(access), physical);
}

/* Returns the physical address of the threads' stacks; 0: there is no room. The first launch calls it once,
 * so it also prints the warnings that appear once. */
static uint64_t take_stacks(void *context, uint64_t bytes)
{
    struct threads *threads = context;
    uint64_t stacks = threads->stacks ? threads->stacks : heap_map(&threads->user->heap, bytes);
    if (!stacks)
        return 0;
    if (threads->options->observed)
        fprintf(stderr,
                "croft run: warning: --log does not see threads on multiprocessors (but see --warp)\n");
    if (threads->options->unwatched)
        fprintf(
            stderr,
            "croft run: warning: --check coherence does not watch multiprocessors: neither stale lines in "
            "their caches nor lines that their stores make stale elsewhere are reported\n");
    return stacks;
}

bool threads_call_open(const struct threads *threads)
{
    return threads && threads->system && system_in_call(threads->system);
}

int threads_report_limit(const struct threads *threads)
{
    fprintf(stderr,
            "croft: %s: stopped after %" PRIu64
            " instructions (--max-insns), of which warps have executed %" PRIu64 ", up to launch %" PRIu64
            "\n",
            threads->user->options->program, executed_by_all(threads), launch_executed(threads->launch),
            launch_number(threads->launch));
    return USER_STATUS_LIMIT;
}

/* On a timed machine: ends the program because of a limit, a signal, or a call of a thread. */
static void end_early(void *context)
{
    const struct threads *threads = context;
    struct user *user = threads->user;
    if (!user->ended)
        guest_end(user, guest_interrupted(user) ? fault_interrupt(user) : threads_report_limit(threads));
    if (threads->system)
        system_exit(threads->system, user->status);
}

struct threads *threads_new(struct user *user, const struct launch_options *options,
                            const struct phys *memory, uint64_t stacks, struct system *system)
{
    struct threads *threads = alloc(1, sizeof *threads);
    threads->user = user;
    threads->options = options;
    threads->stacks = stacks;
    threads->system = system;
    threads->host =
        (struct launch_host){.grid = {.call = threads_serve, .stopped = stopped, .context = threads},
                             .stacks = take_stacks,
                             .translate = user->pages ? translate : NULL,
                             .fault = threads_fault,
                             .stop = end_early,
                             .context = threads};
    if (options->watch) {
        threads->host.grid.watch = options->watch;
        threads->host.grid.executed = threads_log;
    }
    threads->newest = &threads->requests;
    threads->beside = options->device && user->pages;
    if (threads->beside) {
        threads->host.grid.missing = threads_missing;
        threads->host.grid.later = threads_later;
        threads->host.grid.ended = threads_ended;
    }
    const struct launch_setup setup = {.options = options,
                                       .host = &threads->host,
                                       .hart = user->hart,
                                       .memory = memory,
                                       .write_first = user->write_first};
    threads->launch = launch_new(&setup);
    return threads;
}

void threads_free(struct threads *threads)
{
    if (!threads)
        return;
    if (threads->options->watch && !threads->shown)
        fprintf(stderr,
                "croft run: warning: --warp: the program has not launched this warp, so the log is empty\n");
    launch_free(threads->launch);
    free(threads->shown);
    threads_drop_requests(threads);
    free(threads);
}

struct launch *threads_launch(const struct threads *threads)
{
    return threads->launch;
}

bool threads_call_host(const struct threads *threads)
{
    if (!threads->options->device)
        return threads->paused || threads_call_open(threads);
    return threads->requests || threads->given;
}

void threads_publish(const struct threads *threads, struct stats *stats)
{
    launch_publish(threads->launch, stats);
}

/* Pauses the launch and returns -EFAULT, on which the kernel brings these bytes in. Returns 0 if the bytes
 * are present or the access is not allowed. */
static int64_t ask_for(struct threads *threads, uint64_t address, uint64_t length, uint32_t permission)
{
    struct kernel_pages *pages = threads->user->pages;
    if (!pages || !kernel_pages_allow(pages, address, permission) ||
        kernel_pages_view(pages, address, length, permission == CROFT_RANGE_WRITE))
        return 0;
    threads->paused = true;
    return -EFAULT;
}

/* Returns the result of the program's call after a thread's call has stopped the launch: the kernel must
 * serve that call, or must bring pages in, or the call has ended the program. */
static int64_t stopped_by_call(struct threads *threads)
{
    const struct kernel_missing *missing = &threads->missing;
    if (threads->asked[0]) {
        threads->paused = true;
        return -EFAULT;
    }
    if (missing->length == 0)
        return -EINTR;
    (void)ask_for(threads, missing->address, missing->length,
                  missing->write ? CROFT_RANGE_WRITE : CROFT_RANGE_READ);
    return -EFAULT;
}

static int64_t stopped_by_trap(struct threads *threads)
{
    const struct warp_report *report;
    struct warp *warp = launch_trapped(threads->launch, &report);
    if (ask_for(threads, report->trap.value, 1, threads_permission(report->trap.cause)))
        return -EFAULT;
    if (launch_memory(threads->launch)->debug && threads->system &&
        warp_debug_trap(launch_memory(threads->launch)->debug, warp, report))
        system_count_call(threads->system, launch_executed(threads->launch), false);
    else
        threads_fault(threads, warp, report);
    return -EFAULT;
}

/* Returns the result of the program's call for the way in which the launch has ended. */
static int64_t answer(struct threads *threads, enum launch_end end)
{
    switch (end) {
    case LAUNCH_DONE: return (int64_t)launch_number(threads->launch);
    case LAUNCH_REFUSED: return -EINVAL;
    case LAUNCH_MEMORY: return -ENOMEM;
    case LAUNCH_ENDED: return -EINTR;
    case LAUNCH_PAUSE: return 0; /* unused: the call is not finished */
    case LAUNCH_CALL: return stopped_by_call(threads);
    case LAUNCH_TRAP: break;
    }
    return stopped_by_trap(threads);
}

/* Begins the launch of `record`, or continues the current one if that is NULL: for one quantum of the system,
 * or to its end without a system. */
static enum launch_end run(struct threads *threads, const struct simt_launch_record *record,
                           struct error *err)
{
    struct launch *launch = threads->launch;
    struct system *system =
        threads->options->device ? NULL : threads->system; /* on a timed machine, the device lets time pass */
    uint64_t quantum = system ? system_open_call(system, launch_executed(launch)) : UINT64_MAX;
    enum launch_end end =
        record ? launch_begin(launch, record, quantum, err) : launch_advance(launch, quantum);
    if (system)
        system_count_call(system, launch_executed(launch), end != LAUNCH_PAUSE);
    return end;
}

/* Keeps the program's call, which waits for multiprocessors, open if a debugger has cut the wait short
 * (`cut`). A debugger runs the system in slices. */
static void keep_call(struct threads *threads, bool cut)
{
    struct system *system = threads->system;
    if (system && system->scheduler)
        system_keep_call(system, cut && system->slice && !threads->user->ended &&
                                     scheduler_goes_on(system->scheduler));
}

int64_t call_simt_launch(struct user *user, const uint64_t a[6])
{
    struct threads *threads = user->threads;
    struct simt_launch_record record;
    struct error err;
    if (!threads)
        return -ENOSYS;
    if (threads->caller)
        return -EBUSY;
    if (threads->paused || (threads_call_open(threads) && !threads->options->device)) {
        threads->paused = false;
        return answer(threads, run(threads, NULL, &err));
    }
    const void *from = guest_readable(user, a[0], sizeof record);
    if (!from)
        return -EFAULT;
    memcpy(&record, from, sizeof record);
    if (threads->beside && !launch_ready(threads->launch, LAUNCH_ROOM)) {
        threads_await(threads, LAUNCH_ROOM);
        return 0;
    }
    enum launch_end end = run(threads, &record, &err);
    if (threads->options->device)
        keep_call(threads, end == LAUNCH_ENDED);
    if (err.text[0])
        fprintf(stderr, "croft run: warning: %s: a launch is refused: %s\n", user->options->program,
                err.text);
    return answer(threads, end);
}

int64_t call_simt_wait(struct user *user, const uint64_t a[6])
{
    struct threads *threads = user->threads;
    if (!threads)
        return -ENOSYS;
    if (threads->caller)
        return -EBUSY;
    if (a[0] > launch_number(threads->launch))
        return -EINVAL;
    if (threads->beside) {
        if (!launch_ready(threads->launch, a[0]))
            threads_await(threads, a[0]);
        return 0;
    }
    bool ended = launch_wait(threads->launch, a[0]);
    keep_call(threads, !ended);
    return ended ? 0 : -EINTR;
}

int64_t call_simt_query(struct user *user, const uint64_t a[6])
{
    const struct threads *threads = user->threads;
    if (!threads)
        return -ENOSYS;
    const struct grid_limits *limits = &threads->options->limits;
    switch (a[0]) {
    case SIMT_QUERY_COUNT: return limits->count;
    case SIMT_QUERY_WIDTH: return limits->width;
    case SIMT_QUERY_THREADS: return limits->block_threads;
    case SIMT_QUERY_SCRATCHPAD: return (int64_t)limits->scratchpad;
    case SIMT_QUERY_STACK: return (int64_t)threads->options->stack;
    case SIMT_QUERY_WARPS:
        return (int64_t)(launch_stack_bytes(threads->options) / threads->options->stack / limits->width);
    default: return -EINVAL;
    }
}
