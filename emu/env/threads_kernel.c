/* Threads on timed multiprocessors under the kernel: their requests to the kernel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/env/threads_state.h"
#include "emu/hart/custom.h"
#include "emu/sim/alloc.h"
#include "isa/include/croft/door.h"

enum { A0 = 10, A7 = 17, SEIP = 9, HOST = 0 };

/* Sets the level of the hart's SEIP: high while there are requests, or while what the program's call waits
 * for has happened. */
static void notify(struct threads *threads)
{
    bool level = threads->requests || (threads->waits && launch_ready(threads->launch, threads->awaited));
    system_set_interrupt(threads->system, HOST, SEIP, level);
}

uint32_t threads_permission(enum trap_cause cause)
{
    return cause == TRAP_STORE_PAGE   ? CROFT_RANGE_WRITE
           : cause == TRAP_FETCH_PAGE ? CROFT_RANGE_EXECUTE
                                      : CROFT_RANGE_READ;
}

bool threads_missing(void *context, const struct trap *trap)
{
    const struct threads *threads = context;
    uint32_t permission = threads_permission(trap->cause);
    uint64_t physical;
    if (trap->cause != TRAP_LOAD_PAGE && trap->cause != TRAP_STORE_PAGE && trap->cause != TRAP_FETCH_PAGE)
        return false;
    return kernel_pages_allow(threads->user->pages, trap->value, permission) &&
           !kernel_pages_translate(threads->user->pages, trap->value, permission, &physical);
}

/* Fills in what the lane needs from the kernel. Returns false if it needs nothing. */
static bool describe(struct threads *threads, const struct trap *trap, struct request *request)
{
    if (trap) {
        request->trap = *trap;
        request->bytes = (struct kernel_missing){trap->value, 1, trap->cause == TRAP_STORE_PAGE};
        return true;
    }
    if (threads->asked[0]) {
        memcpy(request->call, threads->asked, sizeof request->call);
        threads->asked[0] = 0;
        return true;
    }
    request->bytes = threads->missing;
    threads->missing.length = 0;
    return request->bytes.length > 0;
}

bool threads_later(void *context, struct warp *warp, unsigned lane, const struct trap *trap,
                   struct custom_waiter *waiter)
{
    struct threads *threads = context;
    struct request *request = alloc(1, sizeof *request);
    *request = (struct request){.warp = warp, .lane = lane, .waiter = waiter, .pc = warp_pc(warp, lane)};
    if (threads->user->ended || !describe(threads, trap, request)) {
        free(request);
        return false;
    }
    *threads->newest = request;
    threads->newest = &request->next;
    notify(threads);
    if (launch_memory(threads->launch)->debug)
        system_pause(threads->system); /* a debugger may hold the hart */
    return true;
}

void threads_ended(void *context)
{
    notify(context);
}

void threads_await(struct threads *threads, uint64_t what)
{
    threads->waits = true;
    threads->awaited = what;
    notify(threads);
}

bool threads_wait(struct threads *threads)
{
    return threads && threads->waits;
}

bool threads_take_answer(struct threads *threads, const struct warp *warp, unsigned lane, uint64_t *result)
{
    for (struct request **at = &threads->served; *at; at = &(*at)->next) {
        struct request *request = *at;
        if (request->warp != warp || request->lane != lane)
            continue;
        *result = request->result;
        *at = request->next;
        free(request);
        return true;
    }
    threads->asked[0] = warp_register(warp, A7, lane);
    for (unsigned i = 0; i < 6; i++)
        threads->asked[1 + i] = warp_register(warp, A0 + i, lane);
    return false;
}

/* Ends the program: the bytes that a thread needs cannot be brought in. */
static void refuse(struct threads *threads, const struct request *request)
{
    const struct warp_report report = {
        .lane = (uint8_t)request->lane, .trap = request->trap, .pc = request->pc};
    threads_fault(threads, request->warp, &report);
}

/* Ends the request that the kernel has served, and lets its warp try again. */
static void finish(struct threads *threads, const struct kernel_frame *frame)
{
    struct request *request = threads->given;
    if (!request)
        return;
    struct custom_waiter *waiter = request->waiter;
    threads->given = NULL;
    if (frame->thread_call) {
        request->result = frame->thread_arguments[0];
        request->next = threads->served;
        threads->served = request;
    } else {
        if (frame->missing_denied)
            refuse(threads, request);
        free(request);
    }
    if (!threads->user->ended)
        launch_resume(threads->launch, waiter);
}

void threads_need(struct threads *threads, struct kernel_frame *frame)
{
    finish(threads, frame);
    frame->thread_call = frame->missing_size = frame->missing_denied = 0;
    threads->waits = false;
    struct request *request = threads->user->ended ? NULL : threads->requests;
    if (request) {
        threads->requests = request->next;
        if (!threads->requests)
            threads->newest = &threads->requests;
        threads->given = request;
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
    if (threads->beside)
        launch_forget(threads->launch);
}

static void drop(struct request *request)
{
    while (request) {
        struct request *next = request->next;
        free(request);
        request = next;
    }
}

void threads_drop_requests(struct threads *threads)
{
    drop(threads->requests);
    drop(threads->served);
    free(threads->given);
}
