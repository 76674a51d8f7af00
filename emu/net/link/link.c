#include "emu/net/link.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/net/message.h"
#include "emu/net/track.h"
#include "emu/sim/alloc.h"

/* State of one direction. */
struct way {
    struct link *link;
    uint64_t flit;             /* duration of a flit, fs */
    uint64_t free;             /* time at which the lanes can take the next message, fs */
    struct net_queue waiting;  /* messages to be sent */
    struct net_queue arriving; /* messages in flight or at the far end, in order of arrival */
    struct event send, deliver;
    bool blocked; /* the receiver refused the head of `arriving` */
    bool (*hand_on)(struct link *link, struct mem_request *request, uint64_t now);
    void (*room)(struct link *link, uint64_t now); /* `waiting` has room again */
    /* Statistics. */
    uint64_t messages, bytes, flits;
    uint64_t refusals, blockings, waiting_peak, arriving_peak;
    uint64_t busy; /* duration of all messages sent, up to the end of the last, fs */
};

struct link {
    struct link_config config;
    struct event_queue *queue;
    struct way request, response;
    struct mem_link lower;
    struct mem_waiters waiters; /* clients whose requests were refused */
    bool refused;               /* a response of the port below was refused */
    struct net_track *track;    /* shows messages; or NULL */
};

/* Returns the duration of a flit in fs. */
static uint64_t flit_time(const struct link_config *config, uint64_t bandwidth)
{
    return (config->width * CLOCK_SECOND + bandwidth / 2) / bandwidth;
}

/* Returns the flits of a message, at least 1: with a header of 0 bytes, a message without data still takes a
 * flit. */
static uint32_t flits_of(const struct link_config *config, uint32_t bytes)
{
    uint64_t flits = ((uint64_t)config->header + bytes + config->width - 1) / config->width;
    return flits ? (uint32_t)flits : 1;
}

/* Sends messages while the lanes are free and the far end has credits. */
static void send_some(struct way *way, uint64_t now)
{
    while (way->waiting.count && !net_queue_full(&way->arriving)) {
        if (way->free > now) {
            if (!event_pending(&way->send))
                event_schedule(way->link->queue, &way->send, way->free);
            return;
        }
        struct net_message message = *net_queue_head(&way->waiting);
        uint64_t time = message.clocks * way->flit;
        way->free = now + time;
        way->busy += time;
        way->messages++;
        way->bytes += message.bytes;
        way->flits += message.clocks;
        if (way->link->track)
            net_track_show(way->link->track, way == &way->link->response, NET_TRACK_ONE, &message, now,
                           way->free);
        message.time = way->free + way->link->config.latency;
        net_queue_drop(&way->waiting);
        net_queue_add(&way->arriving, &message, &way->arriving_peak);
        if (!way->blocked && !event_pending(&way->deliver))
            event_schedule(way->link->queue, &way->deliver, message.time);
        way->room(way->link, now);
    }
}

static void send(void *owner, uint64_t now)
{
    send_some(owner, now);
}

/* Delivers arrived messages in order until the receiver refuses one. */
static void deliver(void *owner, uint64_t now)
{
    struct way *way = owner;
    bool again = way->blocked;
    way->blocked = false; /* the receiver may report room while it takes the message */
    while (way->arriving.count) {
        const struct net_message *head = net_queue_head(&way->arriving);
        if (head->time > now) {
            event_schedule(way->link->queue, &way->deliver, head->time);
            break;
        }
        if (!way->hand_on(way->link, head->request, now)) {
            way->blockings += !again;
            way->blocked = true;
            break;
        }
        again = false;
        net_queue_drop(&way->arriving);
    }
    send_some(way, now);
}

static bool offer(struct way *way, struct mem_request *request, uint32_t bytes, uint64_t now)
{
    const struct net_message message = {
        .request = request, .clocks = flits_of(&way->link->config, bytes), .bytes = bytes};
    if (net_queue_full(&way->waiting)) {
        way->refusals++;
        return false;
    }
    net_queue_add(&way->waiting, &message, &way->waiting_peak);
    send_some(way, now);
    return true;
}

/* Takes a request from a client into the queue of requests. */
static bool request_offered(void *port, struct mem_link *upper, struct mem_request *request, uint64_t now)
{
    struct link *link = port;
    if (offer(&link->request, request, net_request_bytes(request), now))
        return true;
    mem_waiters_add(&link->waiters, upper);
    return false;
}

static bool hand_down(struct link *link, struct mem_request *request, uint64_t now)
{
    return mem_link_request(&link->lower, request, now);
}

static void request_queue_room(struct link *link, uint64_t now)
{
    while (link->waiters.first && !net_queue_full(&link->request.waiting))
        (void)mem_waiters_wake(&link->waiters, now);
}

static void request_room(void *client, struct mem_link *lower, uint64_t now)
{
    struct link *link = client;
    (void)lower;
    if (link->request.blocked)
        deliver(&link->request, now);
}

/* Takes a response from the port below into the queue of responses. */
static bool respond(void *client, struct mem_link *lower, struct mem_request *request, uint64_t now)
{
    struct link *link = client;
    (void)lower;
    if (offer(&link->response, request, net_response_bytes(request), now))
        return true;
    link->refused = true;
    return false;
}

static bool hand_up(struct link *link, struct mem_request *request, uint64_t now)
{
    (void)link;
    return mem_request_respond(request, now);
}

static void response_queue_room(struct link *link, uint64_t now)
{
    if (!link->refused)
        return;
    link->refused = false;
    mem_link_response_room(&link->lower, now);
}

static void response_room(void *port, struct mem_link *upper, uint64_t now)
{
    struct link *link = port;
    (void)upper;
    if (link->response.blocked)
        deliver(&link->response, now);
}

/* Passes an access without time on to the port below. */
static bool warm(void *port, struct mem_link *upper, uint64_t address, bool exclusive)
{
    (void)upper;
    return mem_link_warm(&((struct link *)port)->lower, address, exclusive);
}

static void maintain(void *port, struct mem_link *upper, enum mem_op op, uint64_t address, uint64_t size)
{
    (void)upper;
    mem_link_maintain(&((struct link *)port)->lower, op, address, size);
}

const struct mem_port_ops link_ops = {request_offered, response_room, warm, maintain, NULL};

static void way_init(struct way *way, struct link *link, uint64_t bandwidth, uint32_t component)
{
    way->link = link;
    way->flit = flit_time(&link->config, bandwidth);
    net_queue_init(&way->waiting, link->config.queue);
    net_queue_init(&way->arriving, link->config.buffer);
    event_init(&way->send, component, send, way);
    event_init(&way->deliver, component, deliver, way);
}

struct link *link_new(const struct link_config *config, struct event_queue *queue, uint32_t component)
{
    struct link *link = alloc(1, sizeof *link);
    link->config = *config;
    link->queue = queue;
    link->request = (struct way){.hand_on = hand_down, .room = request_queue_room};
    link->response = (struct way){.hand_on = hand_up, .room = response_queue_room};
    way_init(&link->request, link, config->request_bandwidth, component);
    way_init(&link->response, link, config->response_bandwidth, component);
    return link;
}

static void way_free(struct way *way)
{
    event_cancel(way->link->queue, &way->send);
    event_cancel(way->link->queue, &way->deliver);
    net_queue_free(&way->waiting);
    net_queue_free(&way->arriving);
}

void link_free(struct link *link)
{
    if (!link)
        return;
    way_free(&link->request);
    way_free(&link->response);
    net_track_free(link->track);
    free(link);
}

void link_connect(struct link *link, const struct mem_port_ops *ops, void *port)
{
    static const struct mem_client_ops client = {respond, request_room};
    link->lower = (struct mem_link){.port_ops = ops, .port = port, .client_ops = &client, .client = link};
}

static void name_way(const void *context, uint32_t line, char *text, size_t size)
{
    (void)context;
    (void)snprintf(text, size, "%s", line ? "responses" : "requests");
}

void link_track(struct link *link, struct track_sink *sink, const char *name)
{
    if (track_takes(sink, TRACK_TIMELINE))
        link->track = net_track_new(sink, name, 2, name_way, NULL);
}

uint64_t link_request_time(const struct link *link, uint32_t bytes)
{
    return flits_of(&link->config, bytes) * link->request.flit + link->config.latency;
}

uint64_t link_response_time(const struct link *link, uint32_t bytes)
{
    return flits_of(&link->config, bytes) * link->response.flit + link->config.latency;
}

/* Statistics and energy. */

/* Returns the time up to now in which the lanes were busy, in fs. */
static uint64_t busy_time(const void *context)
{
    const struct way *way = context;
    uint64_t now = way->link->queue->now;
    return way->busy - (way->free > now ? way->free - now : 0);
}

uint64_t link_busy_time(const struct link *link, bool responses)
{
    return busy_time(responses ? &link->response : &link->request);
}

static uint64_t sent_bytes(const void *context)
{
    const struct way *way = context;
    return way->flits * way->link->config.width;
}

static uint64_t sent_bits(const void *context)
{
    return 8 * sent_bytes(context);
}

/* Returns the bits that idle lanes could have sent, rounded down to whole flits. */
static uint64_t idle_bits(const void *context)
{
    const struct way *way = context;
    return (way->link->queue->now - busy_time(way)) / way->flit * way->link->config.width * 8;
}

static void publish_way(struct way *way, struct stats *stats, struct scope scope)
{
    const struct {
        const char *name;
        const uint64_t *value;
        uint64_t (*read)(const void *context);
        const char *unit, *meaning;
    } rows[] = {
        {"messages", &way->messages, NULL, "messages", "Messages sent"},
        {"bytes", &way->bytes, NULL, "bytes", "Data in these messages"},
        {"sent_bytes", NULL, sent_bytes, "bytes", "Data, headers and padding sent"},
        {"busy_time", NULL, busy_time, "fs", "Time in which the lanes were busy"},
        {"refusals", &way->refusals, NULL, "times", "Times that the full queue refused a message"},
        {"blockings", &way->blockings, NULL, "times", "Messages that the receiver refused on arrival"},
        {"waiting_peak", &way->waiting_peak, NULL, "messages",
         "Most messages waiting to be sent at one time"},
        {"arriving_peak", &way->arriving_peak, NULL, "messages",
         "Most messages in flight or at the far end at one time"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].value)
            stats_counter(stats, scope, rows[i].name, rows[i].value, rows[i].unit, rows[i].meaning);
        else
            stats_computed(stats, scope, rows[i].name, rows[i].read, way, rows[i].unit, rows[i].meaning);
    }
}

void link_publish(struct link *link, struct stats *stats, struct scope scope)
{
    publish_way(&link->request, stats, scope_enter(&scope, "request"));
    publish_way(&link->response, stats, scope_enter(&scope, "response"));
}

static void account(struct energy_ledger *ledger, const struct way *way, struct scope scope, const char *name,
                    uint64_t (*read)(const void *context), uint64_t unit, const char *field, const char *idle)
{
    const struct link_config *config = &way->link->config;
    const bool untold = config->wires == WIRES_UNKNOWN && !config->energy_bit && !config->energy_idle;
    energy_add(ledger, scope,
               &(struct energy_account){.name = name,
                                        .read = read,
                                        .context = way,
                                        .unit = unit,
                                        .kind = ENERGY_PER_EVENT,
                                        .fields = field,
                                        .untold = untold ? WIRES_UNTOLD : NULL,
                                        .idle = idle,
                                        .group = "network"});
}

static void way_energy(const struct way *way, struct energy_ledger *ledger, struct scope scope)
{
    const struct link_config *config = &way->link->config;
    account(ledger, way, scope, "transfer", sent_bits, config->energy_bit, "energy_bit", NULL);
    account(ledger, way, scope, "idle", idle_bits, config->energy_idle, "energy_idle", "wires, energy_idle");
}

void link_energy(struct link *link, struct energy_ledger *ledger, struct scope scope)
{
    way_energy(&link->request, ledger, scope_enter(&scope, "request"));
    way_energy(&link->response, ledger, scope_enter(&scope, "response"));
}
