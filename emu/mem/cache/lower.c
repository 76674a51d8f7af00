/* The requests to the level below: reads of lines, and the write buffer, which holds dirty lines and stores on the way
 * down. */
#include "emu/mem/cache/state.h"
#include "emu/sim/alloc.h"
#include "emu/sim/list.h"

#include <assert.h>

void cache_stir(struct cache *cache, uint64_t now)
{
    if ((cache->for_miss.first || cache->for_write.first || cache->upkeep) && !event_pending(&cache->room))
        event_schedule(cache->queue, &cache->room, now);
}

static void mark(struct mem_request *request, enum mshr_state state)
{
    if (request->op == MEM_READ)
        cache_mshr_of(request)->state = state;
}

static void append(struct cache_requests *list, struct mem_request *request)
{
    LIST_APPEND(list->first, list->last, request, next);
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

void cache_abandon(struct cache *cache, struct mshr *mshr, uint64_t now)
{
    struct cache_waiters refused = {0}, blocked = mshr->blocked;
    cache->counters.prefetches_returned += mshr->prefetch;
    for (uint32_t i = 0; i < mshr->targets; i++)
        if (mshr->target[i].waiter)
            cache_waiters_add(&refused, mshr->target[i].waiter);
    mshr->blocked = (struct cache_waiters){0};
    mshr->targets = 0;
    mshr_release(&cache->mshrs, mshr);
    cache_waiters_call(&refused, now, MEM_LEVELS);
    cache_waiters_call(&blocked, now, MEM_LEVELS);
    cache_stir(cache, now);
}

void cache_offer(struct cache *cache, struct mem_request *request, uint64_t now)
{
    if (!cache->refused_reads.first && send_read(cache, request, now))
        return;
    if (request->op == MEM_READ && request->prefetch) {
        cache_abandon(cache, cache_mshr_of(request), now);
        return;
    }
    mark(request, MSHR_REFUSED);
    append(&cache->refused_reads, request);
}

/* Returns whether a read that has not been sent must not be sent. */
static bool is_kept_out(const struct cache *cache, struct mem_request *request)
{
    return request->op == MEM_READ && request->speculative && cache_keeps_out(cache, request->address);
}

/* Sends a planned request at its time. A prefetch does not wait for a write of its line. */
static void read_planned(void *owner, uint64_t now)
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
        event_init(&mshr->request.event, cache->component, read_planned, mshr);
    mshr->state = MSHR_PLANNED;
    event_schedule(cache->queue, &mshr->request.event, time);
}

void cache_write_init(struct cache *cache)
{
    /* An MSHR may leave two dirty victims before it is free: a line that arrives as shared, is taken away and
     * arrives again as owned displaces two lines. These entries are in addition to the configured ones. */
    uint32_t places = cache->config.write_buffer + 2 * cache->config.mshrs;
    cache->writes = alloc(places, sizeof *cache->writes);
    for (uint32_t i = places; i-- > 0;) {
        cache->writes[i].next = cache->writes_free;
        cache->writes_free = &cache->writes[i];
    }
}

static struct cache_write *take_place(struct cache *cache, uint64_t line)
{
    struct cache_write *write = cache->writes_free;
    assert(write);
    cache->writes_free = write->next;
    *write = (struct cache_write){
        .next = cache->writes_busy, .line = line, .number = cache->writes_taken++, .cache = cache};
    if (write->next)
        write->next->previous = write;
    cache->writes_busy = write;
    cache->writes_used++;
    ++*cache_writes_of(cache, line);
    mem_request_init(&write->request, MEM_WRITE, line, cache->config.line);
    write->request.requester = cache->requester;
    return write;
}

struct cache_write *cache_write_find(const struct cache *cache, uint64_t line)
{
    struct cache_write *write = cache_write_absent(cache, line) ? NULL : cache->writes_busy;
    while (write && write->line != line)
        write = write->next;
    return write;
}

/* Returns an unsent entry of the line, with which more stores may merge, or NULL. */
static struct cache_write *waiting(const struct cache *cache, uint64_t line)
{
    struct cache_write *write = cache_write_absent(cache, line) ? NULL : cache->writes_busy;
    while (write && (write->line != line || write->state == CACHE_WRITE_SENT))
        write = write->next;
    return write;
}

static uint64_t all_words(const struct cache *cache)
{
    return UINT64_MAX >> (64 - cache->config.line / 4);
}

/* Makes the request cover the words from the first to the last one, with a mask if some between are
 * missing. */
static void shape(struct cache_write *write)
{
    uint32_t first = (uint32_t)__builtin_ctzll(write->words),
             last = 63 - (uint32_t)__builtin_clzll(write->words);
    uint64_t words = write->words >> first, whole = UINT64_MAX >> (63 - (last - first));
    write->request.address = write->line + 4 * (uint64_t)first;
    write->request.size = 4 * (last - first + 1);
    write->request.mask = words == whole ? UINT64_MAX : words;
    write->request.exclusive = write->keep;
}

static bool send_write(struct cache *cache, struct cache_write *write, uint64_t now)
{
    shape(write);
    write->state = CACHE_WRITE_SENT;
    if (mem_link_request(&cache->link, &write->request, now))
        return true;
    write->state = CACHE_WRITE_REFUSED;
    cache->counters.refusals++;
    return false;
}

/* Sends a write, after those that were refused. */
static void offer_write(struct cache *cache, struct cache_write *write, uint64_t now)
{
    if (!cache->refused_writes.first && send_write(cache, write, now))
        return;
    write->state = CACHE_WRITE_REFUSED;
    append(&cache->refused_writes, &write->request);
}

static void write_planned(void *owner, uint64_t now)
{
    struct cache_write *write = owner;
    offer_write(write->cache, write, now);
}

void cache_write_back(struct cache *cache, uint64_t line, bool keep, uint64_t now)
{
    struct cache_write *write = take_place(cache, line);
    write->words = all_words(cache);
    write->keep = keep;
    cache->counters.write_backs++;
    offer_write(cache, write, now);
}

void cache_write_words(struct cache *cache, uint64_t line, uint64_t words, uint64_t time)
{
    struct cache_write *write = take_place(cache, line);
    write->words = words;
    write->request.stack = true;
    write->state = CACHE_WRITE_PLANNED;
    cache->counters.write_backs++;
    event_init(&write->request.event, cache->component, write_planned, write);
    event_schedule(cache->queue, &write->request.event, time);
}

bool cache_write_fits(const struct cache *cache, uint64_t line)
{
    return cache_can_write(cache) || waiting(cache, line);
}

void cache_write_store(struct cache *cache, const struct cache_stored *stored, uint64_t time,
                       struct cache_actor actor)
{
    struct cache_write *write = waiting(cache, stored->line);
    cache->counters.writes_through++;
    if (write) {
        cache->counters.writes_united++;
        write->words |= stored->words;
        write->request.divergent &= stored->divergent;
        if (write->state == CACHE_WRITE_PLANNED && time + cache->hit_time < write->request.event.time)
            event_schedule(cache->queue, &write->request.event, time + cache->hit_time);
    } else {
        write = take_place(cache, stored->line);
        write->words = stored->words;
        write->request.divergent = stored->divergent;
        write->state = CACHE_WRITE_PLANNED;
        event_init(&write->request.event, cache->component, write_planned, write);
        event_schedule(cache->queue, &write->request.event, time + cache->hit_time);
    }
    write->keep = stored->keep;
    write->alone |= !stored->keep;
    write->actor = actor;
}

/* Frees the entry, and plans a read of the line that has waited for its writes. */
static void release(struct cache *cache, struct cache_write *write, uint64_t now)
{
    *(write->previous ? &write->previous->next : &cache->writes_busy) = write->next;
    if (write->next)
        write->next->previous = write->previous;
    --*cache_writes_of(cache, write->line);
    write->next = cache->writes_free;
    cache->writes_free = write;
    cache->writes_used--;
    struct mshr *mshr = mshr_find(&cache->mshrs, write->line);
    if (mshr && mshr->state == MSHR_HELD && !cache_write_find(cache, write->line))
        cache_plan(cache, mshr, now);
    if (cache->pushes.first)
        mem_pushes_answered(&cache->pushes, write->number, now);
}

bool cache_writing(const struct cache *cache, uint64_t line)
{
    return cache_write_find(cache, line);
}

bool cache_push(struct cache *cache, struct mem_push *push)
{
    return mem_pushes_add(&cache->pushes, push, cache->writes_taken, cache->writes_used);
}

/* Tells observers, if there are any, that the line has left, if neither the tags nor the write buffer have it. The tags of a
 * line that memory has just answered are seldom in the host's caches. */
static void tell_gone(const struct cache *cache, uint64_t line, uint64_t now)
{
    if (cache->observers.first && tags_find(&cache->front.tags, line) == TAGS_NONE &&
        !cache_write_find(cache, line))
        cache_tell_evict(cache, line, now);
}

void cache_write_answered(struct cache *cache, struct cache_write *write, uint64_t now)
{
    if (write->alone)
        cache_tell_access(cache, write->line, true, &write->actor, now);
    if (!write->taken)
        cache_tell_write_back(cache, write->line, now);
    release(cache, write, now);
    if (!write->keep)
        tell_gone(cache, write->line, now);
}

/* Removes a refused write. */
static void withdraw_write(struct cache *cache, struct cache_write *write)
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

void cache_write_drop(struct cache *cache, struct cache_write *write, uint64_t now)
{
    assert(write->state != CACHE_WRITE_SENT);
    if (write->state == CACHE_WRITE_REFUSED)
        withdraw_write(cache, write);
    else
        event_cancel(cache->queue, &write->request.event);
    release(cache, write, now);
    tell_gone(cache, write->line, now);
    cache_stir(cache, now);
}

/* Sends reads first, because accesses wait for them. */
void cache_send_refused(struct cache *cache, uint64_t now)
{
    while (cache->refused_reads.first) {
        struct mem_request *request = take_first(&cache->refused_reads);
        if (is_kept_out(cache, request)) {
            cache_abandon(cache, cache_mshr_of(request), now);
            continue;
        }
        if (!send_read(cache, request, now)) {
            prepend(&cache->refused_reads, request);
            break;
        }
    }
    while (cache->refused_writes.first) {
        struct mem_request *request = take_first(&cache->refused_writes);
        if (!send_write(cache, cache_write_of(request), now)) {
            prepend(&cache->refused_writes, request);
            break;
        }
    }
}
