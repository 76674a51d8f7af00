#include "emu/mem/hub_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void hub_list_add(struct hub_list *list, struct hub_entry *entry)
{
    entry->next = NULL;
    if (list->first)
        list->last->next = entry;
    else
        list->first = entry;
    list->last = entry;
}

struct hub_entry *hub_list_take(struct hub_list *list)
{
    struct hub_entry *entry = list->first;
    if (entry)
        list->first = entry->next;
    return entry;
}

static void look(void *owner, uint64_t now)
{
    hub_look(owner, now);
}

static void answer(void *owner, uint64_t now)
{
    hub_answer(owner, now);
}

void hub_look(struct hub_entry *entry, uint64_t now)
{
    struct hub *hub = entry->hub;
    if (entry->request->op != MEM_READ && entry->request->op != MEM_WRITE) {
        hub_maintain(entry, now);
        return;
    }
    event_init(&entry->event, hub->component, answer, entry);
    uint32_t index = tags_find(&hub->tags, entry->line);
    if (index != TAGS_NONE && hub->frames[index].busy) {
        hub->counters.line_waits += !entry->waited;
        entry->waited = true;
        hub_list_add(&hub->frames[index].waiting, entry);
    } else if (entry->request->op == MEM_READ) {
        hub_read(entry, index, now);
    } else {
        hub_write(entry, index, now);
    }
}

void hub_stall(struct hub_entry *entry)
{
    struct hub *hub = entry->hub;
    hub->counters.stalls += !entry->stalled;
    entry->stalled = true;
    hub_list_add(&hub->stalled, entry);
}

void hub_retry(struct hub *hub, uint64_t now)
{
    struct hub_list stalled = hub->stalled;
    hub->stalled.first = NULL;
    while (stalled.first)
        hub_look(hub_list_take(&stalled), now);
}

void hub_unlock(struct hub *hub, uint32_t index, uint64_t now)
{
    struct hub_frame *frame = &hub->frames[index];
    struct hub_list waiting = frame->waiting;
    frame->waiting.first = NULL;
    frame->busy = false;
    while (waiting.first)
        hub_look(hub_list_take(&waiting), now);
    hub_retry(hub, now);
}

void hub_release(struct hub_entry *entry, uint64_t now)
{
    struct hub *hub = entry->hub;
    entry->next = hub->free_entries;
    hub->free_entries = entry;
    hub->held--;
    while (hub->free_entries && mem_waiters_wake(&hub->full, now))
        continue;
}

/* Whether the client has taken the response. */
static bool answered(struct hub_entry *entry, uint64_t now)
{
    uint32_t frame = entry->frame;
    hub_conclude(entry, now);
    if (!mem_request_respond(entry->request, now))
        return false;
    if (frame != TAGS_NONE)
        hub_unlock(entry->hub, frame, now);
    hub_release(entry, now);
    return true;
}

void hub_answer(struct hub_entry *entry, uint64_t now)
{
    if (!answered(entry, now))
        hub_list_add(&entry->hub->refused, entry);
}

static void response_room(void *port, struct mem_link *link, uint64_t now)
{
    struct hub *hub = port;
    struct hub_list refused = hub->refused;
    (void)link;
    hub->refused.first = NULL;
    while (refused.first)
        hub_answer(hub_list_take(&refused), now);
    if (hub->response_refused) {
        hub->response_refused = false;
        mem_link_response_room(&hub->lower[HUB_PASSED], now);
    }
}

static bool request_offered(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct hub *hub = port;
    if (request->kind == MEM_UNCACHED || request->op == MEM_COMMAND) {
        bool passed = hub_pass(hub, link, request, now);
        hub->counters.uncached += passed;
        return passed;
    }
    struct hub_entry *entry = hub->free_entries;
    if (!entry) {
        hub->counters.refusals++;
        mem_waiters_add(&hub->full, link);
        return false;
    }
    uint64_t line = request->address & ~(uint64_t)(hub->config.line - 1);
    assert((request->op != MEM_READ && request->op != MEM_WRITE) ||
           request->address + request->size <= line + hub->config.line);
    hub->free_entries = entry->next;
    hub->held++;
    *entry = (struct hub_entry){.hub = hub,
                                .request = request,
                                .line = line,
                                .asked = now,
                                .frame = TAGS_NONE,
                                .client = (int16_t)hub_client_of(hub, link)};
    uint64_t start = clock_edge(&hub->clock, now);
    if (start < hub->start)
        start = hub->start;
    hub->start = hub_after(hub, start, hub->config.accept_clocks);
    event_init(&entry->event, hub->component, look, entry);
    event_schedule(hub->queue, &entry->event, hub_after(hub, start, hub->config.tag_clocks));
    return true;
}

static bool functional(void *port, const struct mem_access *access)
{
    const struct mem_link *lower = &((struct hub *)port)->lower[HUB_READS];
    return lower->port_ops->functional(lower->port, access);
}

/* A full set of busy lines leaves no way: then the client has a copy that the directory does not know of,
 * until it loses it by itself. */
static bool warm(void *port, struct mem_link *link, uint64_t address, bool exclusive)
{
    struct hub *hub = port;
    struct mem_link *lower = &hub->lower[HUB_READS];
    uint64_t line = address & ~(uint64_t)(hub->config.line - 1), now = hub->queue->now;
    int client = hub_client_of(hub, link);
    uint32_t index = tags_find(&hub->tags, line);
    if (index == TAGS_NONE) {
        index = hub_make_room(hub, line, false, now);
        if (index == TAGS_NONE)
            return false;
        tags_fill(&hub->tags, index, line, HUB_CLEAN);
        if (lower->port_ops->warm)
            (void)lower->port_ops->warm(lower->port, lower, line, false);
        hub_tell_fill(hub, line, now, now, MEM_LEVEL_MEMORY);
    }
    tags_touch(&hub->tags, index);
    (void)hub_take(hub, index, client, exclusive ? CACHE_INVALID : CACHE_SHARED, now);
    bool alone = hub_alone(&hub->frames[index], client);
    hub_grant(hub, index, client, alone);
    if (exclusive)
        tags_set_state(&hub->tags, index, HUB_DIRTY); /* its copy may leave without a word */
    return alone;
}

const struct mem_port_ops hub_ops = {request_offered, response_room, functional, warm, hub_warm_maintain};

static void *array_of(size_t count, size_t size)
{
    void *array = calloc(count, size);
    if (!array)
        abort();
    return array;
}

static void make_pools(struct hub *hub)
{
    const struct hub_config *config = &hub->config;
    hub->entries = array_of(config->queue, sizeof *hub->entries);
    hub->mshrs = array_of(config->mshrs, sizeof *hub->mshrs);
    hub->writes = array_of(config->write_buffer, sizeof *hub->writes);
    for (uint32_t i = config->queue; i-- > 0;) {
        hub->entries[i].next = hub->free_entries;
        hub->free_entries = &hub->entries[i];
    }
    for (uint32_t i = config->mshrs; i-- > 0;) {
        hub->mshrs[i].next = hub->free_mshrs;
        hub->free_mshrs = &hub->mshrs[i];
    }
    for (uint32_t i = config->write_buffer; i-- > 0;) {
        hub->writes[i].next = hub->free_writes;
        hub->free_writes = &hub->writes[i];
    }
}

struct hub *hub_new(const char *name, const struct hub_config *config, struct event_queue *queue,
                    const struct clock *clock, uint32_t component, uint16_t requester,
                    const struct mem_port_ops *lower_ops, void *lower)
{
    struct hub *hub = array_of(1, sizeof *hub);
    uint32_t sets = (uint32_t)(config->size / config->line / config->ways);
    hub->config = *config;
    hub->queue = queue;
    hub->clock = *clock;
    hub->component = component;
    hub->requester = requester;
    hub->name = array_of(strlen(name) + 1, 1);
    strcpy(hub->name, name);
    uint32_t slices = config->slices ? config->slices : 1;
    tags_init(&hub->tags, sets, config->ways, (uint32_t)__builtin_ctz(config->line * slices),
              config->replacement);
    hub->frames = array_of(tags_size(&hub->tags), sizeof *hub->frames);
    for (uint32_t i = 0; i < tags_size(&hub->tags); i++)
        hub->frames[i].owner = HUB_NOBODY;
    for (enum hub_way way = 0; way < HUB_WAYS; way++)
        hub->lower[way] = (struct mem_link){lower_ops, lower, &hub_lower_ops, hub, NULL, false};
    make_pools(hub);
    return hub;
}

void hub_free(struct hub *hub)
{
    for (uint32_t i = 0; i < hub->config.queue; i++)
        event_cancel(hub->queue, &hub->entries[i].event);
    /* Requests that have been sent belong to the levels below, which may have them in the queue. */
    for (uint32_t i = 0; i < hub->config.mshrs; i++)
        event_cancel(hub->queue, &hub->mshrs[i].request.event);
    for (uint32_t i = 0; i < hub->config.write_buffer; i++)
        event_cancel(hub->queue, &hub->writes[i].request.event);
    tags_free(&hub->tags);
    free(hub->frames);
    free(hub->entries);
    free(hub->mshrs);
    free(hub->writes);
    free(hub->name);
    free(hub);
}

static bool probe_cache(void *context, uint64_t line, enum cache_state remains, uint64_t now)
{
    return cache_probe(context, line, remains, now);
}

void hub_attach(struct hub *hub, struct cache *cache)
{
    assert(cache_configuration(cache)->line == hub->config.line);
    hub_attach_client(hub, &(struct hub_client){cache_link(cache), probe_cache, cache});
}

void hub_attach_client(struct hub *hub, const struct hub_client *client)
{
    assert(hub->client_count < HUB_CLIENTS);
    hub->clients[hub->client_count++] = *client;
}

void hub_observe(struct hub *hub, const struct cache_observer *observer)
{
    assert(hub->observer_count < HUB_OBSERVERS);
    hub->observers[hub->observer_count++] = *observer;
}

unsigned hub_pending(const struct hub *hub)
{
    unsigned pending = hub->held;
    for (uint32_t i = 0; i < hub->config.write_buffer; i++)
        pending += hub->writes[i].used;
    return pending;
}
