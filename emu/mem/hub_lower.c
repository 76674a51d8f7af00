/* The coherent level's way to memory: lines read, lines written back, requests that pass. */
#include <assert.h>
#include <stddef.h>

#include "emu/mem/hub_state.h"

static bool send(struct hub *hub, enum hub_way way, struct mem_request *request, uint64_t now)
{
    return mem_link_request(&hub->lower[way], request, now);
}

static void send_reads(struct hub *hub, uint64_t now)
{
    while (hub->unsent_reads) {
        struct hub_mshr *mshr = hub->unsent_reads;
        hub->unsent_reads = mshr->next;
        if (send(hub, HUB_READS, &mshr->request, now))
            continue;
        hub->unsent_reads = mshr;
        return;
    }
}

void hub_read_memory(struct hub *hub, struct hub_entry *entry, uint64_t now)
{
    struct hub_mshr *mshr = hub->free_mshrs;
    assert(mshr);
    hub->free_mshrs = mshr->next;
    mshr->entry = entry;
    mshr->next = NULL;
    mem_request_init(&mshr->request, MEM_READ, entry->line, hub->config.line);
    mshr->request.requester = entry->request->requester;
    mshr->request.kind = entry->request->kind;
    mshr->request.divergent = entry->request->divergent;
    bool first = !hub->unsent_reads;
    if (first)
        hub->unsent_reads = mshr;
    else
        hub->unsent_reads_last->next = mshr;
    hub->unsent_reads_last = mshr;
    if (first)
        send_reads(hub, now);
}

bool hub_can_write(const struct hub *hub)
{
    return hub->free_writes != NULL;
}

bool hub_writing(const struct hub *hub, uint64_t line)
{
    for (uint32_t i = 0; i < hub->config.write_buffer; i++)
        if (hub->writes[i].used && hub->writes[i].request.address == line)
            return true;
    return false;
}

static void send_writes(struct hub *hub, uint64_t now)
{
    bool some = false;
    while (hub->unsent_writes) {
        struct hub_outgoing *out = hub->unsent_writes;
        hub->unsent_writes = out->next;
        if (!send(hub, HUB_WRITES, &out->request, now)) {
            hub->unsent_writes = out;
            break;
        }
        hub->accepted++;
        some = true;
    }
    if (some)
        hub_pass_ranges(hub, now);
}

void hub_write_back(struct hub *hub, uint64_t line, uint64_t now)
{
    struct hub_outgoing *out = hub->free_writes;
    assert(out);
    hub->free_writes = out->next;
    out->next = NULL;
    out->used = true;
    mem_request_init(&out->request, MEM_WRITE, line, hub->config.line);
    out->request.requester = hub->requester;
    hub->counters.write_backs++;
    hub->transfers++;
    hub->written++;
    hub_tell_write(hub, line, now);
    bool first = !hub->unsent_writes;
    if (first)
        hub->unsent_writes = out;
    else
        hub->unsent_writes_last->next = out;
    hub->unsent_writes_last = out;
    if (first)
        send_writes(hub, now);
}

bool hub_pass(struct hub *hub, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    if (!hub->lower[HUB_PASSED].waiting && send(hub, HUB_PASSED, request, now))
        return true;
    if (link)
        mem_waiters_add(&hub->passed, link);
    return false;
}

void hub_pass_ranges(struct hub *hub, uint64_t now)
{
    while (hub->ranges.first && hub->ranges.first->barrier <= hub->accepted) {
        struct hub_entry *entry = hub->ranges.first;
        if (!hub_pass(hub, NULL, entry->request, now))
            return;
        (void)hub_list_take(&hub->ranges);
        hub_release(entry, now);
    }
}

/* A line has come: its requester is answered fill_clocks later. */
static void line_came(struct hub *hub, struct mem_request *request, uint64_t now)
{
    struct hub_mshr *mshr = (struct hub_mshr *)((char *)request - offsetof(struct hub_mshr, request));
    struct hub_entry *entry = mshr->entry;
    entry->request->level = request->level == MEM_LEVEL_L1 ? MEM_LEVEL_MEMORY : request->level;
    hub->counters.fills++;
    hub->transfers++;
    hub_tell_fill(hub, entry->line, entry->asked, now, entry->request->level);
    mshr->next = hub->free_mshrs;
    hub->free_mshrs = mshr;
    event_schedule(hub->queue, &entry->event,
                   hub_after(hub, clock_edge(&hub->clock, now), hub->config.fill_clocks));
    hub_retry(hub, now);
}

static void line_went(struct hub *hub, struct mem_request *request, uint64_t now)
{
    struct hub_outgoing *out =
        (struct hub_outgoing *)((char *)request - offsetof(struct hub_outgoing, request));
    out->used = false;
    out->next = hub->free_writes;
    hub->free_writes = out;
    hub_retry(hub, now);
}

static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct hub *hub = client;
    if (link == &hub->lower[HUB_READS]) {
        line_came(hub, request, now);
    } else if (link == &hub->lower[HUB_WRITES]) {
        line_went(hub, request, now);
    } else if (!mem_request_respond(request, now)) {
        hub->response_refused = true;
        return false;
    }
    return true;
}

static void request_room(void *client, struct mem_link *link, uint64_t now)
{
    struct hub *hub = client;
    if (link == &hub->lower[HUB_READS]) {
        send_reads(hub, now);
    } else if (link == &hub->lower[HUB_WRITES]) {
        send_writes(hub, now);
    } else {
        hub_pass_ranges(hub, now);
        while (!link->waiting && mem_waiters_wake(&hub->passed, now))
            continue;
    }
}

const struct mem_client_ops hub_lower_ops = {respond, request_room};
