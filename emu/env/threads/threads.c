#include "emu/env/threads.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/env/calls.h"
#include "emu/env/guest/fault.h"
#include "emu/env/threads/state.h"
#include "emu/machine/scheduler.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/say.h"
#include "emu/simt/warp_debug.h"
#include "isa/include/croft/door.h"
#include "isa/include/croft/simt_call.h"

enum { SP = 2, GP = 3, A0 = 10, A7 = 17, SEIP = 9 };

/* Instructions of warps in a turn of a launch, if other hosts' turns follow: about as many as those have (quantum). */
enum { TURN = 1 << 14 };

/* Returns the number of the host whose call is being served, or whose kernel speaks. */
static unsigned caller_of(const struct threads *threads)
{
    return threads->host_count > 1 ? threads->user->hart->hartid : 0;
}

/* Returns the number, not 0, of whoever makes the call that is being served. */
static uint64_t owner_of(const struct threads *threads)
{
    return threads->scheduler ? threads->scheduler->caller(threads->scheduler->context)
                              : (uint64_t)caller_of(threads) + 1;
}

static uint64_t executed_by_all(const struct threads *threads)
{
    uint64_t executed = launch_executed(threads->launch);
    if (threads->host_count == 1)
        return threads->user->hart->instret + executed;
    for (unsigned i = 0; i < threads->host_count; i++)
        executed += threads->system->harts[i].instret;
    return executed;
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
    const struct threads_scheduler *scheduler = threads->scheduler;
    uint64_t stacks = scheduler         ? scheduler->stacks(scheduler->context, bytes)
                      : threads->stacks ? threads->stacks
                                        : heap_map(&threads->user->heap, bytes);
    if (!stacks)
        return 0;
    if (threads->options->observed)
        say_warning("--log does not see threads on multiprocessors (but see --warp)");
    if (threads->options->unwatched)
        say_warning("--check coherence does not watch multiprocessors: neither stale lines in "
                    "their caches nor lines that their stores make stale elsewhere are reported%s%s%s",
                    threads->options->checks ? ", but for those that " : "",
                    threads->options->checks ? threads->options->checks : "",
                    threads->options->checks ? " makes stale" : "");
    return stacks;
}

int threads_report_limit(const struct threads *threads)
{
    fprintf(say_stream(),
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
    if (!user->ended) {
        guest_end(user, guest_interrupted(user) ? fault_interrupt(user) : threads_report_limit(threads));
        threads_tell_wait(threads);
    }
    if (threads->system)
        system_exit(threads->system, user->status);
}

/* The hart's own registers while it holds a lane's, from which calls and reports read them. */
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

/* Lets messages read the program's memory as the program does. */
static void show_to_reports(struct hart *hart)
{
    hart->privilege = PRIV_U;
    priv_changed(hart);
}

static void report_fault(void *context, struct warp *warp, const struct warp_report *report)
{
    struct threads *threads = context;
    struct user *user = threads->user;
    if (threads->host_count > 1)
        user->hart = &threads->system->harts[warp_where(warp)->host];
    struct registers kept = show_lane(user->hart, warp, report->lane);
    char host[32] = "";
    if (threads->system)
        system_quiet(threads->system);
    if (threads->host_count > 1)
        (void)snprintf(host, sizeof host, " of host %" PRIu32, warp_where(warp)->host);
    const uint32_t *block = warp_where(warp)->block;
    uint32_t thread[3];
    warp_thread(warp, report->lane, thread);
    fprintf(say_stream(),
            "croft: %s: in thread (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ") of block (%" PRIu32 ", %" PRIu32
            ", %" PRIu32 ") of launch %" PRIu64 "%s, lane %u of warp %" PRIu32 ":\n",
            user->options->program, thread[0], thread[1], thread[2], block[0], block[1], block[2],
            warp_where(warp)->launch, host, report->lane, warp_where(warp)->warp);
    uint64_t below;
    if (warp_overflowed(warp, report->lane, &below))
        fprintf(say_stream(),
                "croft: %s: stack overflow: sp is %" PRIu64
                " bytes below the end of the thread's stack of %" PRIu64
                " bytes: endless recursion, or is simt.stack too small?\n",
                user->options->program, below, threads->options->stack);
    user->hart->trap = report->trap;
    user->launched = true;
    if (threads->scheduler)
        show_to_reports(user->hart);
    guest_end(user, fault_report(user));
    if (threads->system)
        system_exit(threads->system, user->status);
    show_host(user->hart, &kept);
}

/* Ends the program, because one of its threads has done what several threads of the host cannot execute. */
static void refuse_thread(void *context, const struct warp *warp, const char *what)
{
    struct threads *threads = context;
    struct user *user = threads->user;
    const struct warp_place *place = warp_where(warp);
    if (threads->system)
        system_quiet(threads->system);
    fprintf(say_stream(),
            "croft: %s: a thread of warp %" PRIu32 " of block (%" PRIu32 ", %" PRIu32 ", %" PRIu32
            ") of launch %" PRIu64 " %s, which needs --threads 1\n",
            user->options->program, place->warp, place->block[0], place->block[1], place->block[2],
            place->launch, what);
    guest_end(user, 1);
    if (threads->system)
        system_exit(threads->system, user->status);
}

/* Returns the permission (CROFT_RANGE_...) that an access lacked when it raised a page fault. */
static uint32_t permission_lacked(enum trap_cause cause)
{
    return cause == TRAP_STORE_PAGE   ? CROFT_RANGE_WRITE
           : cause == TRAP_FETCH_PAGE ? CROFT_RANGE_EXECUTE
                                      : CROFT_RANGE_READ;
}

/* While another host changes the table of ranges, what the emulator reads there may be half done. So with several hosts the
 * kernel decides, under its lock: it brings the page in, or denies it (refuse()). */
static bool can_bring_page(void *context, const struct trap *trap)
{
    const struct threads *threads = context;
    const bool decided = threads->host_count == 1 || launch_memory(threads->launch)->debug;
    uint32_t permission = permission_lacked(trap->cause);
    uint64_t physical;
    if (trap->cause != TRAP_LOAD_PAGE && trap->cause != TRAP_STORE_PAGE && trap->cause != TRAP_FETCH_PAGE)
        return false;
    return (!decided || kernel_pages_allow(threads->user->pages, trap->value, permission)) &&
           !kernel_pages_translate(threads->user->pages, trap->value, permission, &physical);
}

/* Tells a host that what its call waits for has happened, or, under the kernel, that there are requests: SEIP is high
 * while that is so. Without the kernel, the call is repeated. */
static void notify_host(struct threads *threads, unsigned i)
{
    struct threads_host *host = &threads->hosts[i];
    bool ready = host->waits && launch_ready(threads->launch, host->awaited);
    if (threads->user->pages) {
        system_set_interrupt(threads->system, i, SEIP, ready || threads_request_waits(threads, i));
    } else if (ready) {
        host->waits = false;
        system_resume(threads->system, i, true);
    }
}

static void notify(struct threads *threads)
{
    if (threads->scheduler)
        threads->scheduler->changed(threads->scheduler->context);
    for (unsigned i = 0; i < threads->host_count && !threads->scheduler; i++)
        notify_host(threads, i);
}

static bool bring_later(void *context, struct warp *warp, unsigned lane, const struct trap *trap,
                        struct custom_waiter *waiter)
{
    struct threads *threads = context;
    if (threads->user->ended || !threads_request_add(threads, warp, lane, trap, waiter))
        return false;
    notify(threads);
    if (launch_memory(threads->launch)->debug)
        system_pause(threads->system); /* a debugger may hold the hart */
    return true;
}

static void launch_ended(void *context)
{
    notify(context);
}

/* Makes the program's call wait for `what` (struct threads_host.awaited). The call is then repeated. */
static void await(struct threads *threads, uint64_t what)
{
    threads->hosts[caller_of(threads)] = (struct threads_host){true, what};
    if (!threads->scheduler)
        notify_host(threads, caller_of(threads));
}

bool threads_awaits(struct threads *threads, uint64_t *what)
{
    struct threads_host *host = &threads->hosts[caller_of(threads)];
    const bool waits = threads->beside && host->waits;
    *what = host->awaited;
    host->waits = false;
    return waits;
}

bool threads_ready(struct threads *threads, uint64_t what)
{
    return launch_ready(threads->launch, what);
}

void threads_abandon(struct threads *threads, uint64_t caller)
{
    if (threads->owner == caller)
        threads->owner = 0;
    if (threads->left.owner == caller)
        threads->left.owner = 0;
}

bool threads_wait(struct threads *threads)
{
    return threads && threads->beside && threads->hosts[caller_of(threads)].waits;
}

/* Ends the program: the bytes that a thread needs cannot be brought in. */
static void refuse(struct threads *threads, const struct request *request)
{
    const struct warp_report report = {
        .lane = (uint8_t)request->lane, .trap = request->trap, .pc = request->pc};
    report_fault(threads, request->warp, &report);
}

/* Ends the request that the kernel has served, and lets its warp try again. */
static void finish(struct threads *threads, const struct kernel_frame *frame)
{
    const struct request *request = threads->given;
    if (!request)
        return;
    struct custom_waiter *waiter = request->waiter;
    if (!frame->thread_call && frame->missing_denied)
        refuse(threads, request);
    threads_request_end(threads, frame->thread_call ? &frame->thread_arguments[0] : NULL);
    if (!threads->user->ended)
        launch_resume(threads->launch, waiter);
}

void threads_need(struct threads *threads, struct kernel_frame *frame)
{
    finish(threads, frame);
    frame->thread_call = frame->missing_size = frame->missing_denied = 0;
    threads->hosts[caller_of(threads)].waits = false;
    const struct request *request =
        threads->user->ended ? NULL : threads_request_give(threads, caller_of(threads));
    if (request) {
        frame->pc = request->pc;
        frame->missing = request->bytes.address;
        frame->missing_size = request->bytes.length;
        frame->missing_write = request->bytes.write;
        frame->thread_call = request->bytes.length ? 0 : request->call[0];
        memcpy(frame->thread_arguments, request->call + 1, sizeof frame->thread_arguments);
    }
    notify(threads);
}

void threads_forget(struct threads *threads)
{
    if (threads->beside || threads->scheduler)
        launch_forget(threads->launch);
}

/* Pauses the launch and returns -EFAULT, on which the kernel brings these bytes in. Returns 0 if the bytes
 * are present or the access is not allowed. */
static int64_t ask_for(struct threads *threads, uint64_t address, uint64_t length, uint32_t permission)
{
    struct kernel_pages *pages = threads->user->pages;
    if (!pages || threads->scheduler || !kernel_pages_allow(pages, address, permission) ||
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
    if (ask_for(threads, report->trap.value, 1, permission_lacked(report->trap.cause)))
        return -EFAULT;
    if (launch_memory(threads->launch)->debug && threads->system &&
        warp_debug_trap(launch_memory(threads->launch)->debug, warp, report))
        system_count_call(threads->system, launch_executed(threads->launch), false);
    else
        report_fault(threads, warp, report);
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
    struct system *system = threads->options->device || threads->turns
                                ? NULL
                                : threads->system; /* on a timed machine, the device lets time pass */
    const struct launch_caller caller = {caller_of(threads), threads->user->hart->x[GP]};
    uint64_t quantum = system           ? system_open_call(system, launch_executed(launch))
                       : threads->turns ? TURN
                                        : UINT64_MAX;
    enum launch_end end =
        record ? launch_begin(launch, record, &caller, quantum, err) : launch_advance(launch, quantum);
    if (system)
        system_count_call(system, launch_executed(launch), end != LAUNCH_PAUSE);
    threads->turn_over = threads->turns && end == LAUNCH_PAUSE;
    threads->owner = threads->turn_over || end == LAUNCH_CALL || end == LAUNCH_TRAP ? owner_of(threads) : 0;
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

/* Returns whether another host's launch, or this one's, if `own`, has not ended: the call is then repeated. */
static bool must_take_turns(struct threads *threads, bool own)
{
    threads->turn_over = threads->turns && threads->owner && (own || threads->owner != owner_of(threads));
    if (threads->turns && stopped(threads))
        end_early(threads);
    return threads->turn_over;
}

bool threads_turn(struct threads *threads)
{
    bool over = threads && threads->turn_over;
    if (over)
        threads->turn_over = false;
    return over && !threads->user->ended;
}

/* Continues the caller's own launch, whose call a signal handler has interrupted. Returns an error, or 0: the handler's call is
 * repeated, and when the launch has ended, its call finds the result. */
static int64_t pass_own(struct threads *threads)
{
    struct error err;
    if (threads->left.owner)
        return -EBUSY;
    enum launch_end end = run(threads, NULL, &err);
    if (end != LAUNCH_DONE)
        return answer(threads, end);
    threads->left = threads->open;
    threads->left_result = answer(threads, end);
    threads->turn_over = true;
    return 0;
}

static bool is_same(const struct threads_call *a, const struct threads_call *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Returns whether a call may be made by a signal handler that has interrupted the call `left`, whose frame is then below or on the
 * alternate stack; otherwise a handler has left that call by a jump, or it is repeated. */
static bool is_within(const struct threads_call *call, const struct threads_call *left)
{
    return call->alternate == left->alternate ? call->sp < left->sp : call->alternate;
}

/* Returns whether a launch's call is not a new one, and sets its result. */
static bool goes_on(struct threads *threads, const struct threads_call *call, int64_t *result)
{
    struct error err;
    if (threads->owner) {
        *result =
            is_same(call, &threads->open) ? answer(threads, run(threads, NULL, &err)) : pass_own(threads);
        return true;
    }
    if (threads->left.owner != call->owner)
        return false;
    const bool same = is_same(call, &threads->left);
    if (!is_within(call, &threads->left))
        threads->left.owner = 0;
    *result = threads->left_result;
    return same;
}

static int64_t call_launch(struct user *user, const uint64_t a[6])
{
    struct threads *threads = user->threads;
    struct simt_launch_record record;
    struct error err;
    if (!threads)
        return -ENOSYS;
    if (user->lane)
        return -EBUSY;
    if (must_take_turns(threads, false))
        return 0;
    if (threads->paused ||
        (!(threads->turns && threads->owner) && threads_call_open(threads) && !threads->options->device)) {
        threads->paused = false;
        return answer(threads, run(threads, NULL, &err));
    }
    const void *from = guest_readable(user, a[0], sizeof record);
    if (!from)
        return -EFAULT;
    memcpy(&record, from, sizeof record);
    const struct threads_scheduler *scheduler = threads->scheduler;
    const bool alternate = scheduler && scheduler->alternate(scheduler->context);
    const struct threads_call call = {owner_of(threads), user->hart->pc, user->hart->x[SP], a[0],
                                      alternate,         record};
    int64_t result;
    if (threads->turns && goes_on(threads, &call, &result))
        return result;
    threads->open = call;
    if (threads->beside && !launch_ready(threads->launch, LAUNCH_ROOM)) {
        await(threads, LAUNCH_ROOM);
        return 0;
    }
    struct threads_host *host = &threads->hosts[caller_of(threads)];
    *host = (struct threads_host){threads->options->device != NULL && !threads->beside, LAUNCH_ROOM};
    enum launch_end end = run(threads, &record, &err);
    host->waits = host->waits && end == LAUNCH_ENDED;
    if (threads->options->device)
        keep_call(threads, end == LAUNCH_ENDED);
    if (err.text[0])
        say_warning("%s: a launch is refused: %s", user->options->program, err.text);
    return answer(threads, end);
}

static int64_t call_wait(struct user *user, const uint64_t a[6])
{
    struct threads *threads = user->threads;
    if (!threads)
        return -ENOSYS;
    if (user->lane)
        return -EBUSY;
    if (a[0] > launch_number(threads->launch))
        return -EINVAL;
    const bool newest = a[0] == 0 || a[0] == launch_number(threads->launch);
    if (newest && threads->turns && threads->owner == owner_of(threads) && !stopped(threads))
        return pass_own(threads);
    if (must_take_turns(threads, newest))
        return 0;
    if (threads->beside) {
        if (!launch_ready(threads->launch, a[0]))
            await(threads, a[0]);
        return 0;
    }
    struct threads_host *host = &threads->hosts[0];
    *host = (struct threads_host){true, a[0]};
    bool ended = launch_wait(threads->launch, a[0]);
    host->waits = !ended;
    keep_call(threads, !ended);
    return ended ? 0 : -EINTR;
}

static int64_t call_query(struct user *user, const uint64_t a[6])
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

int64_t threads_call(struct user *user)
{
    const uint64_t *a = &user->hart->x[A0];
    switch (user->hart->x[A7]) {
    case SIMT_CALL_LAUNCH: return call_launch(user, a);
    case SIMT_CALL_WAIT: return call_wait(user, a);
    case SIMT_CALL_QUERY: return call_query(user, a);
    default: return calls_serve(user);
    }
}

/* Returns whether the kernel serves the call: brk, munmap, mremap, mmap, mprotect, riscv_flush_icache (see
 * host/kernel/main.c). */
static bool is_kernels(uint64_t number)
{
    return (number >= 214 && number <= 216) || number == 222 || number == 226 || number == 259;
}

/* Returns whether the kernel has served the lane's call, with its result in *result. If not, requests it. */
static bool ask_kernel(struct threads *threads, const struct warp *warp, unsigned lane, uint64_t *result)
{
    if (threads->beside && threads_request_take(threads, warp, lane, result))
        return true;
    if (!threads->beside && threads->answered) {
        threads->answered = false;
        *result = threads->answer;
        warp_memory_forget(launch_memory(threads->launch));
        return true;
    }
    threads->asked[0] = warp_register(warp, A7, lane);
    for (unsigned i = 0; i < 6; i++)
        threads->asked[1 + i] = warp_register(warp, A0 + i, lane);
    return false;
}

bool threads_ask(struct threads *threads, uint64_t call[7])
{
    if (!threads || !threads->asked[0])
        return false;
    memcpy(call, threads->asked, sizeof threads->asked);
    threads->asked[0] = 0;
    return true;
}

void threads_answer(struct threads *threads, uint64_t result)
{
    threads->answered = true;
    threads->answer = result;
}

/* Returns whether there are missing bytes that the kernel can bring in. */
static bool can_bring(const struct user *user, const struct kernel_missing *missing)
{
    return missing->length > 0 && !user->threads->scheduler &&
           kernel_pages_allow(user->pages, missing->address,
                              missing->write ? CROFT_RANGE_WRITE : CROFT_RANGE_READ);
}

static bool serve_lane(void *context, struct warp *warp, unsigned lane, uint64_t *result)
{
    struct threads *threads = context;
    struct user *user = threads->user;
    if (threads->system)
        system_quiet(threads->system); /* the call may print */
    threads->missing.length = 0;
    if (user->pages && !threads->scheduler && is_kernels(warp_register(warp, A7, lane)))
        return ask_kernel(threads, warp, lane, result);
    struct registers kept = show_lane(user->hart, warp, lane);
    const struct guest_lane memory = {launch_memory(threads->launch), warp_scratchpad(warp)};
    user->lane = &memory;
    *result = threads->scheduler ? (uint64_t)threads->scheduler->serve(threads->scheduler->context)
                                 : (uint64_t)threads_call(user);
    guest_settle(user);
    threads->missing = (struct kernel_missing){0};
    if (user->pages)
        threads->missing = kernel_pages_settle(user->pages, true);
    user->lane = NULL;
    show_host(user->hart, &kept);
    if (*result != (uint64_t)-EFAULT || !can_bring(user, &threads->missing))
        threads->missing.length = 0;
    return !user->ended && threads->missing.length == 0;
}

struct threads *threads_new(struct user *user, const struct launch_options *options,
                            const struct phys *memory, uint64_t stacks, struct system *system, unsigned hosts)
{
    struct threads *threads = alloc(1, sizeof *threads);
    threads->host_count = hosts;
    threads->turns = hosts > 1 && !options->device;
    threads->hosts = alloc(hosts, sizeof *threads->hosts);
    threads->user = user;
    threads->options = options;
    threads->stacks = stacks;
    threads->system = system;
    threads->host = (struct launch_host){.grid = {.call = serve_lane, .stopped = stopped, .context = threads},
                                         .stacks = take_stacks,
                                         .translate = user->pages ? translate : NULL,
                                         .fault = report_fault,
                                         .stop = end_early,
                                         .refuse = refuse_thread,
                                         .context = threads};
    if (options->watch) {
        threads->host.grid.watch = options->watch;
        threads->host.grid.executed = threads_log;
    }
    threads->newest = &threads->requests;
    threads->beside = options->device && (user->pages || hosts > 1);
    if (threads->beside)
        threads->host.grid.ended = launch_ended;
    if (threads->beside && user->pages) {
        threads->host.grid.missing = can_bring_page;
        threads->host.grid.later = bring_later;
    }
    const struct launch_setup setup = {.options = options,
                                       .host = &threads->host,
                                       .hart = user->hart,
                                       .memory = memory,
                                       .write_first = user->write_first};
    threads->launch = launch_new(&setup);
    return threads;
}

void threads_schedule(struct threads *threads, const struct threads_scheduler *scheduler)
{
    const bool timed = threads->options->device != NULL;
    threads->scheduler = scheduler;
    threads->turns = !timed;
    threads->beside = timed;
    threads->host.grid.missing = NULL;
    threads->host.grid.later = NULL;
    if (timed)
        threads->host.grid.ended = launch_ended;
}

void threads_free(struct threads *threads)
{
    if (!threads)
        return;
    if (threads->options->watch && !threads->shown)
        say_warning("--warp: the program has not launched this warp, so the log is empty");
    launch_free(threads->launch);
    free(threads->shown);
    free(threads->hosts);
    threads_request_drop(threads);
    free(threads);
}

struct launch *threads_launch(const struct threads *threads)
{
    return threads->launch;
}

bool threads_call_host(const struct threads *threads, unsigned *host)
{
    const struct request *request = threads->given ? threads->given : threads->requests;
    *host = threads->options->device && request ? request->host : 0;
    if (!threads->options->device)
        return threads->paused || threads_call_open(threads);
    return request;
}

void threads_publish(const struct threads *threads, struct stats *stats)
{
    launch_publish(threads->launch, stats);
}
