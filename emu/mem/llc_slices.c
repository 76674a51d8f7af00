#include "emu/mem/llc_slices.h"

#include <assert.h>
#include <stdlib.h>

enum { GRAIN = 16 }; /* bytes, aligned, that always have one slice: the smallest line */

/* A slice's part of the range under way. */
struct part {
    struct mem_link link; /* to the slice */
    struct mem_request request;
    bool unsent; /* the slice has refused it */
};

struct llc_slices {
    uint32_t count;
    struct llc **slices;
    llc_slice_of *slice_of;
    const void *context;
    struct part *parts;         /* by slice */
    struct mem_request *range;  /* under way, or NULL */
    uint32_t left;              /* slices that have not answered it */
    struct mem_waiters waiters; /* for the range to be over */
};

static uint32_t slice_of(const struct llc_slices *slices, uint64_t address)
{
    uint32_t slice = slices->slice_of(slices->context, address);
    assert(slice < slices->count);
    return slice;
}

static void send_part(struct part *part, uint64_t now)
{
    part->unsent = !mem_link_request(&part->link, &part->request, now);
}

static bool offer_range(struct llc_slices *slices, struct mem_link *link, struct mem_request *range,
                        uint64_t now)
{
    if (slices->range) {
        mem_waiters_add(&slices->waiters, link);
        return false;
    }
    slices->range = range;
    slices->left = slices->count;
    for (uint32_t i = 0; i < slices->count; i++) {
        struct part *part = &slices->parts[i];
        mem_request_init(&part->request, (enum mem_op)range->op, range->address, range->size);
        part->request.requester = range->requester;
        send_part(part, now);
    }
    return true;
}

static bool request_offered(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct llc_slices *slices = port;
    if (request->op == MEM_CLEAN || request->op == MEM_INVALIDATE || request->op == MEM_CLEAN_INVALIDATE)
        return offer_range(slices, link, request, now);
    return llc_ops.request(slices->slices[slice_of(slices, request->address)], link, request, now);
}

/* Any slice may hold the response that was refused. */
static void response_room(void *port, struct mem_link *link, uint64_t now)
{
    struct llc_slices *slices = port;
    for (uint32_t i = 0; i < slices->count; i++)
        llc_ops.response_room(slices->slices[i], link, now);
}

static bool functional(void *port, const struct mem_access *access)
{
    const struct llc_slices *slices = port;
    for (uint64_t at = access->address, end = at + access->size, next; at < end; at = next) {
        next = (at | (GRAIN - 1)) + 1;
        next = next < end ? next : end;
        struct mem_access piece = {at, (uint8_t *)access->bytes + (at - access->address), next - at,
                                   access->write};
        if (!llc_ops.functional(slices->slices[slice_of(slices, at)], &piece))
            return false;
    }
    return true;
}

static bool warm(void *port, struct mem_link *link, uint64_t address, bool exclusive)
{
    struct llc_slices *slices = port;
    return llc_ops.warm(slices->slices[slice_of(slices, address)], link, address, exclusive);
}

static void maintain(void *port, struct mem_link *link, enum mem_op op, uint64_t address, uint64_t size)
{
    struct llc_slices *slices = port;
    for (uint32_t i = 0; i < slices->count; i++)
        llc_ops.maintain(slices->slices[i], link, op, address, size);
}

const struct mem_port_ops llc_slices_ops = {request_offered, response_room, functional, warm, maintain, NULL};

/* The originator of a range, a cache, takes every response. */
static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct llc_slices *slices = client;
    (void)link;
    struct mem_request *range = slices->range;
    if (range->level < request->level)
        range->level = request->level;
    if (--slices->left > 0)
        return true;
    slices->range = NULL;
    bool taken = mem_request_respond(range, now);
    assert(taken);
    (void)taken;
    while (!slices->range && mem_waiters_wake(&slices->waiters, now))
        continue;
    return true;
}

static void request_room(void *client, struct mem_link *link, uint64_t now)
{
    struct llc_slices *slices = client;
    struct part *part = &slices->parts[0];
    while (&part->link != link)
        part++;
    if (part->unsent)
        send_part(part, now);
}

static const struct mem_client_ops range_ops = {respond, request_room};

static void *array_of(size_t count, size_t size)
{
    void *array = calloc(count, size);
    if (!array)
        abort();
    return array;
}

struct llc_slices *llc_slices_new(struct llc *const *list, uint32_t count, llc_slice_of *of,
                                  const void *context)
{
    struct llc_slices *slices = array_of(1, sizeof *slices);
    assert(count > 0);
    slices->count = count;
    slices->slices = array_of(count, sizeof(struct llc *));
    slices->parts = array_of(count, sizeof *slices->parts);
    slices->slice_of = of;
    slices->context = context;
    for (uint32_t i = 0; i < count; i++) {
        slices->slices[i] = list[i];
        slices->parts[i].link = (struct mem_link){
            .port_ops = &llc_ops, .port = list[i], .client_ops = &range_ops, .client = slices};
    }
    return slices;
}

void llc_slices_free(struct llc_slices *slices)
{
    free(slices->slices);
    free(slices->parts);
    free(slices);
}

void llc_slices_attach(struct llc_slices *slices, struct cache *cache)
{
    for (uint32_t i = 0; i < slices->count; i++)
        llc_attach(slices->slices[i], cache);
}
