/* The link to the level below: unsent requests, refusals and responses. */
#include "emu/mem/cache_state.h"

#include <assert.h>

static struct mshr *mshr_of(struct mem_request *request)
{
    return (struct mshr *)(void *)((char *)request - offsetof(struct mshr, request));
}

static struct cache_write *write_of(struct mem_request *request)
{
    return (struct cache_write *)(void *)((char *)request - offsetof(struct cache_write, request));
}

static struct cache_upkeep *upkeep_of(struct mem_request *request)
{
    return (struct cache_upkeep *)(void *)((char *)request - offsetof(struct cache_upkeep, request));
}

static void mark(struct mem_request *request, enum mshr_state state)
{
    if (request->op == MEM_READ)
        mshr_of(request)->state = state;
}

static void append(struct cache_requests *list, struct mem_request *request)
{
    request->next = NULL;
    if (list->first)
        list->last->next = request;
    else
        list->first = request;
    list->last = request;
}

static void prepend(struct cache_requests *list, struct mem_request *request)
{
    request->next = list->first;
    if (!list->first)
        list->last = request;
    list->first = request;
}

static struct mem_request *take_first(struct cache_requests *list)
{
    struct mem_request *request = list->first;
    list->first = request->next;
    if (!list->first)
        list->last = NULL;
    return request;
}

/* Marks the request as sent before it offers it, because the response may arrive within the call. */
static bool send_read(struct cache *cache, struct mem_request *request, uint64_t now)
{
    mark(request, MSHR_SENT);
    if (mem_link_request(&cache->link, request, now))
        return true;
    mark(request, MSHR_REFUSED);
    cache->counters.refusals++;
    return false;
}

void cache_offer(struct cache *cache, struct mem_request *request, uint64_t now)
{
    if (!cache->refused_reads.first && send_read(cache, request, now))
        return;
    if (request->op == MEM_READ && request->prefetch) {
        cache_abandon(cache, mshr_of(request), now);
        return;
    }
    mark(request, MSHR_REFUSED);
    append(&cache->refused_reads, request);
}

void cache_offer_write(struct cache *cache, struct cache_write *write, uint64_t now)
{
    if (!cache->refused_writes.first && cache_write_send(cache, write, now))
        return;
    write->state = CACHE_WRITE_REFUSED;
    append(&cache->refused_writes, &write->request);
}

void cache_withdraw_write(struct cache *cache, struct cache_write *write)
{
    struct cache_requests *list = &cache->refused_writes;
    struct mem_request *before = NULL, *at = list->first;
    while (at != &write->request) {
        before = at;
        at = at->next;
    }
    if (before)
        before->next = at->next;
    else
        list->first = at->next;
    if (list->last == at)
        list->last = before;
}

/* Returns whether a read that has not been sent must not be sent. */
static bool is_kept_out(const struct cache *cache, struct mem_request *request)
{
    return request->op == MEM_READ && request->speculative && cache_keeps_out(cache, request->address);
}

/* Sends reads first, because accesses wait for them. */
static void request_room(void *client, struct mem_link *link, uint64_t now)
{
    struct cache *cache = client;
    (void)link;
    while (cache->refused_reads.first) {
        struct mem_request *request = take_first(&cache->refused_reads);
        if (is_kept_out(cache, request)) {
            cache_abandon(cache, mshr_of(request), now);
            continue;
        }
        if (!send_read(cache, request, now)) {
            prepend(&cache->refused_reads, request);
            break;
        }
    }
    while (cache->refused_writes.first) {
        struct mem_request *request = take_first(&cache->refused_writes);
        if (!cache_write_send(cache, write_of(request), now)) {
            prepend(&cache->refused_writes, request);
            break;
        }
    }
}

static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct cache *cache = client;
    (void)link;
    switch (request->op) {
    case MEM_READ: cache_fill(cache, mshr_of(request), now); break;
    case MEM_WRITE: cache_write_answered(cache, write_of(request), now); break;
    default: cache_upkeep_answered(upkeep_of(request), now); break;
    }
    cache_stir(cache, now);
    return true;
}

const struct mem_client_ops cache_client_ops = {respond, request_room};

/* Sends a planned request at its time. A prefetch does not wait for a write of its line. */
static void planned(void *owner, uint64_t now)
{
    struct mshr *mshr = owner;
    struct cache *cache = mshr->owner;
    bool held = !mshr->ahead && cache_write_find(cache, mshr->line);
    if (is_kept_out(cache, &mshr->request) || (held && mshr->prefetch))
        cache_abandon(cache, mshr, now);
    else if (held)
        mshr->state = MSHR_HELD;
    else
        cache_offer(cache, &mshr->request, now);
}

void cache_plan(struct cache *cache, struct mshr *mshr, uint64_t time)
{
    if (!event_pending(&mshr->request.event))
        event_init(&mshr->request.event, cache->component, planned, mshr);
    mshr->state = MSHR_PLANNED;
    event_schedule(cache->queue, &mshr->request.event, time);
}
