/* What threads on timed multiprocessors need from the kernel: a queue of requests, and the answers to calls. */
#include <stdlib.h>
#include <string.h>

#include "emu/env/threads/state.h"
#include "emu/sim/alloc.h"

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

bool threads_request_add(struct threads *threads, struct warp *warp, unsigned lane, const struct trap *trap,
                         struct custom_waiter *waiter)
{
    struct request *request = alloc(1, sizeof *request);
    *request = (struct request){.warp = warp,
                                .lane = lane,
                                .host = warp_where(warp)->host,
                                .waiter = waiter,
                                .pc = warp_pc(warp, lane)};
    if (!describe(threads, trap, request)) {
        free(request);
        return false;
    }
    *threads->newest = request;
    threads->newest = &request->next;
    return true;
}

bool threads_request_waits(const struct threads *threads, unsigned host)
{
    for (const struct request *at = threads->requests; at; at = at->next)
        if (at->host == host)
            return true;
    return false;
}

const struct request *threads_request_give(struct threads *threads, unsigned host)
{
    struct request **at = &threads->requests;
    while (*at && (*at)->host != host)
        at = &(*at)->next;
    struct request *request = *at;
    if (!request)
        return NULL;
    *at = request->next;
    if (!request->next)
        threads->newest = at;
    threads->given = request;
    return request;
}

void threads_request_end(struct threads *threads, const uint64_t *result)
{
    struct request *request = threads->given;
    threads->given = NULL;
    if (!result) {
        free(request);
        return;
    }
    request->result = *result;
    request->next = threads->served;
    threads->served = request;
}

bool threads_request_take(struct threads *threads, const struct warp *warp, unsigned lane, uint64_t *result)
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
    return false;
}

static void drop(struct request *request)
{
    while (request) {
        struct request *next = request->next;
        free(request);
        request = next;
    }
}

void threads_request_drop(struct threads *threads)
{
    drop(threads->requests);
    drop(threads->served);
    free(threads->given);
}
