#include "emu/stash/dma/engine.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"
#include "emu/sim/list.h"

enum { WORD = 4 };

struct message {
    struct mem_request request;
    struct dma_engine *engine;
    struct dma_transfer *transfer;
    struct message *next; /* of the free ones */
};

struct dma_engine {
    struct dma_engine_parts parts;
    struct mem_link link;
    struct event event; /* sends the next request */
    struct message *messages, *free;
    struct message *refused;                     /* by the port */
    struct dma_transfer *sending, **sending_end; /* those with lines that are not sent */
    uint32_t transfers;                          /* under way */
    uint64_t next;                               /* time of the next request, at the earliest */
    uint64_t since;                              /* time since when there are transfers */
    struct dma_counters counters;
};

/* Schedules the next request, unless the engine has none, waits for its port, or has no free message. */
static void wake(struct dma_engine *engine, uint64_t now)
{
    if (!engine->sending || engine->refused || !engine->free || event_pending(&engine->event))
        return;
    uint64_t time = engine->next > engine->sending->first ? engine->next : engine->sending->first;
    time = time > now ? time : now;
    event_schedule(engine->parts.queue, &engine->event, clock_edge(&engine->parts.clock, time));
}

static void count(struct dma_engine *engine, const struct dma_transfer *transfer, uint64_t mask)
{
    struct dma_counters *counters = &engine->counters;
    *(transfer->store ? &counters->writes : &counters->reads) += 1;
    *(transfer->store ? &counters->words_written : &counters->words_read) +=
        (unsigned)__builtin_popcountll(mask);
}

/* Makes the request for a line, from its first to its last word. */
static void describe(struct message *message, const struct dma_line *line,
                     const struct dma_engine_parts *parts)
{
    const unsigned first = (unsigned)__builtin_ctzll(line->mask),
                   last = 63 - (unsigned)__builtin_clzll(line->mask);
    mem_request_init(&message->request, message->transfer->store ? MEM_WRITE : MEM_READ,
                     line->line + WORD * (uint64_t)first, WORD * (last - first + 1));
    mem_request_pack(&message->request, line->mask >> first);
    message->request.packed &= parts->packed;
    message->request.requester = parts->requester;
}

static void send(void *owner, uint64_t now)
{
    struct dma_engine *engine = owner;
    struct dma_transfer *transfer = engine->sending;
    struct message *message = engine->free;
    const struct dma_line *line = &transfer->lines[transfer->sent++];
    engine->free = message->next;
    message->transfer = transfer;
    describe(message, line, &engine->parts);
    count(engine, transfer, line->mask);
    if (transfer->sent == transfer->count) {
        engine->sending = transfer->next;
        if (!engine->sending)
            engine->sending_end = &engine->sending;
    }
    engine->next = clock_next(&engine->parts.clock, now);
    if (!mem_link_request(&engine->link, &message->request, now))
        engine->refused = message;
    wake(engine, now);
}

static void tell(struct dma_engine *engine, bool busy, uint64_t now)
{
    if (busy)
        engine->since = now;
    else
        engine->counters.time += now - engine->since;
    if (engine->parts.busy)
        engine->parts.busy(engine->parts.context, busy, now);
}

static void begin(void *owner, uint64_t now)
{
    struct dma_transfer *transfer = owner;
    struct dma_engine *engine = transfer->engine;
    const struct clock *clock = &engine->parts.clock;
    engine->link.port_ops = engine->parts.link->port_ops;
    engine->link.port = engine->parts.link->port;
    engine->link.homes = engine->parts.link->homes;
    transfer->first = clock_time(clock, clock_cycle(clock, now) + engine->parts.setup);
    *(transfer->store ? &engine->counters.stores : &engine->counters.loads) += 1;
    if (engine->transfers++ == 0)
        tell(engine, true, now);
    *engine->sending_end = transfer;
    engine->sending_end = &transfer->next;
    wake(engine, now);
}

void dma_engine_begin(struct dma_engine *engine, struct dma_transfer *transfer, uint64_t time)
{
    transfer->engine = engine;
    transfer->next = NULL;
    transfer->sent = transfer->answered = 0;
    event_init(&transfer->event, engine->parts.component, begin, transfer);
    event_schedule(engine->parts.queue, &transfer->event, time);
}

static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct dma_engine *engine = client;
    struct message *message = CONTAINER_OF(request, struct message, request);
    struct dma_transfer *transfer = message->transfer;
    (void)link;
    message->next = engine->free;
    engine->free = message;
    if (++transfer->answered == transfer->count) {
        if (--engine->transfers == 0)
            tell(engine, false, now);
        transfer->done(transfer, now);
    }
    wake(engine, now);
    return true;
}

static void request_room(void *client, struct mem_link *link, uint64_t now)
{
    struct dma_engine *engine = client;
    (void)link;
    if (!engine->refused || !mem_link_request(&engine->link, &engine->refused->request, now))
        return;
    engine->refused = NULL;
    engine->next = clock_next(&engine->parts.clock, now);
    wake(engine, now);
}

struct dma_engine *dma_engine_new(const struct dma_engine_parts *parts)
{
    static const struct mem_client_ops client_ops = {respond, request_room};
    struct dma_engine *engine = alloc(1, sizeof *engine);
    engine->parts = *parts;
    engine->link = (struct mem_link){.client_ops = &client_ops, .client = engine};
    engine->sending_end = &engine->sending;
    event_init(&engine->event, parts->component, send, engine);
    engine->messages = alloc(parts->requests, sizeof *engine->messages);
    for (uint32_t i = parts->requests; i-- > 0;) {
        engine->messages[i].next = engine->free;
        engine->free = &engine->messages[i];
    }
    return engine;
}

void dma_engine_free(struct dma_engine *engine)
{
    if (!engine)
        return;
    event_cancel(engine->parts.queue, &engine->event);
    for (uint32_t i = 0; i < engine->parts.requests; i++)
        event_cancel(engine->parts.queue, &engine->messages[i].request.event);
    free(engine->messages);
    free(engine);
}

const struct dma_counters *dma_engine_counted(const struct dma_engine *engine)
{
    return &engine->counters;
}
