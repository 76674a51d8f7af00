/* The part kind `tom_pcie`. */
#include "emu/tom/pcie.h"

#include <stdlib.h>

#include "emu/mem/request.h"
#include "emu/net/message.h"
#include "emu/sim/alloc.h"
#include "emu/sim/clock.h"
#include "emu/sim/list.h"
#include "emu/tom/tom.h"

struct tom_pcie {
    struct tom_pcie_config config;
    struct event_queue *queue;
    struct tom_host *host; /* NULL: not joined */
    struct mem_link lower;
    struct mem_waiters waiters;       /* whose requests were refused */
    bool refused;                     /* a response of the port below was refused */
    bool blocked;                     /* the response to `first` was refused */
    struct mem_request *first, *last; /* at the host, by the times of their responses */
    uint32_t count;
    struct event deliver;
};

/* Occupies a direction of the link for a packet from `from` on. Returns when it has passed. */
static uint64_t occupy(struct tom_host *host, bool response, uint64_t from, uint32_t data)
{
    const uint64_t bytes = (uint64_t)host->header + data;
    const uint64_t time = bytes * (CLOCK_SECOND / 1000) / (host->bandwidth / 1000);
    const uint64_t begin = from > host->free[response] ? from : host->free[response];
    host->free[response] = begin + time;
    host->bytes[response] += bytes;
    host->busy[response] += time;
    return begin + time;
}

static void send_to_host(struct tom_pcie *pcie, struct mem_request *request, uint64_t now)
{
    struct tom_host *host = pcie->host;
    const uint64_t there = occupy(host, false, now, net_request_bytes(request));
    request->level = MEM_LEVEL_MEMORY;
    request->time = occupy(host, true, there + host->latency, net_response_bytes(request));
    LIST_APPEND(pcie->first, pcie->last, request, next);
    pcie->count++;
    host->requests++;
    if (pcie->first == request)
        event_schedule(pcie->queue, &pcie->deliver, request->time);
}

/* Hands the host's responses on until one is refused or is not there yet. */
static void deliver(void *owner, uint64_t now)
{
    struct tom_pcie *pcie = owner;
    pcie->blocked = false;
    while (pcie->first) {
        struct mem_request *request = pcie->first, *next = request->next;
        if (request->time > now) {
            event_schedule(pcie->queue, &pcie->deliver, request->time);
            return;
        }
        if (!mem_request_respond(request, now)) {
            pcie->blocked = true;
            return;
        }
        pcie->first = next;
        pcie->count--;
        (void)mem_waiters_wake(&pcie->waiters, now);
    }
}

static bool request_offered(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct tom_pcie *pcie = port;
    const bool to_host =
        pcie->host && pcie->host->holds_data && (request->op == MEM_READ || request->op == MEM_WRITE);
    if (to_host && pcie->count < pcie->config.requests) {
        send_to_host(pcie, request, now);
        return true;
    }
    if (!to_host && !pcie->lower.waiting && mem_link_request(&pcie->lower, request, now))
        return true;
    mem_waiters_add(&pcie->waiters, link);
    return false;
}

static void response_room(void *port, struct mem_link *link, uint64_t now)
{
    struct tom_pcie *pcie = port;
    (void)link;
    if (pcie->blocked)
        deliver(pcie, now);
    if (!pcie->refused || pcie->blocked)
        return;
    pcie->refused = false;
    mem_link_response_room(&pcie->lower, now);
}

static bool warm(void *port, struct mem_link *link, uint64_t address, bool exclusive)
{
    (void)link;
    return mem_link_warm(&((struct tom_pcie *)port)->lower, address, exclusive);
}

static void maintain(void *port, struct mem_link *link, enum mem_op op, uint64_t address, uint64_t size)
{
    (void)link;
    mem_link_maintain(&((struct tom_pcie *)port)->lower, op, address, size);
}

static const struct mem_port_ops port_ops = {request_offered, response_room, warm, maintain, NULL};

static void request_room(void *client, struct mem_link *link, uint64_t now)
{
    struct tom_pcie *pcie = client;
    while (!link->waiting && mem_waiters_wake(&pcie->waiters, now))
        continue;
}

static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct tom_pcie *pcie = client;
    (void)link;
    if (mem_request_respond(request, now))
        return true;
    pcie->refused = true;
    return false;
}

void tom_pcie_join(struct tom_pcie *pcie, struct tom_host *host)
{
    pcie->host = host;
}

static void *make(const void *config, const struct part_site *site, struct error *err)
{
    struct tom_pcie *pcie = alloc(1, sizeof *pcie);
    (void)err;
    pcie->config = *(const struct tom_pcie_config *)config;
    pcie->queue = site->queue;
    event_init(&pcie->deliver, part_component(site), deliver, pcie);
    return pcie;
}

static void free_part(void *part)
{
    struct tom_pcie *pcie = part;
    event_cancel(pcie->queue, &pcie->deliver);
    free(pcie);
}

static struct part_end serve(void *part, unsigned port, unsigned slot)
{
    (void)port;
    (void)slot;
    return (struct part_end){&port_ops, part};
}

static void connect_part(void *part, unsigned port, unsigned slot, const struct part_end *server)
{
    static const struct mem_client_ops client = {respond, request_room};
    struct tom_pcie *pcie = part;
    (void)port;
    (void)slot;
    pcie->lower = (struct mem_link){
        .port_ops = server->ops, .port = server->object, .client_ops = &client, .client = pcie};
}

#define PART struct tom_pcie_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/tom/pcie.def"
};

static const struct part_port ports[] = {
    {.name = "in",
     .type = "memory",
     .direction = PART_SERVES,
     .explanation = "Receives requests to a stack from the crossbar in front of the links."},
    {.name = "to",
     .type = "memory",
     .direction = PART_ASKS,
     .explanation = "Where requests go on to when the data are in the stacks: the stack's link."},
    {.name = NULL},
};

const struct part_kind tom_pcie_kind = {
    .name = "tom_pcie",
    .explanation =
        "The way to host memory in front of a stack's link, while the TOM paper's mapping is learned.",
    PART_CONFIG(struct tom_pcie_config),
    .functional = "",
    .ports = ports,
    .make = make,
    .free = free_part,
    .serve = serve,
    .connect = connect_part,
};
