/* A second model of a network, written from the rules of emu/net/network.h alone: it looks at everything in every
 * clock, keeps plain lists, and runs iSLIP on whole matrices. Only topology and routes are shared. */
#ifndef TESTS_NET_SLOW_NETWORK_H
#define TESTS_NET_SLOW_NETWORK_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/net/network.h"

enum {
    SLOW_PORTS = 96,
    SLOW_NODES = 32,
    SLOW_VCS = 12,
    SLOW_QUEUE = 16,
    SLOW_WIRE = 65536,
    SLOW_ROUTER_VCS = 120
};

struct slow_packet {
    struct network_packet head;
    int delivered; /* clock, or -1 */
};

struct slow_flit {
    int packet, number;
};

enum slow_state { SLOW_EMPTY, SLOW_ROUTES, SLOW_BIDS, SLOW_OWNS };

struct slow_queue {
    struct slow_flit flits[SLOW_QUEUE];
    int count;
    enum slow_state state;
    long bids_from; /* tick */
    int out, set, out_vc;
};

struct slow_event { /* on a wire */
    long clock;
    int target, vc; /* target: port, or ports + node */
    bool credit;
    struct slow_flit flit;
};

struct slow {
    const struct network_config *config;
    const struct topology *topology;
    const struct routing *routing;
    struct slow_packet *packets;
    bool (*closed)(int node, long clock);
    void (*hop)(void *context, const struct network_hop *hop, const struct network_packet *packet);
    void *context;
    int vcs, ports;
    struct slow_queue in[SLOW_PORTS][SLOW_VCS];
    int credits[SLOW_PORTS + SLOW_NODES][SLOW_VCS], owner[SLOW_PORTS + SLOW_NODES][SLOW_VCS];
    long busy[SLOW_PORTS + SLOW_NODES];
    int vc_grant[SLOW_PORTS * SLOW_VCS], vc_accept[SLOW_PORTS * SLOW_VCS];
    int sw_grant[SLOW_PORTS], sw_accept[SLOW_PORTS], turn[SLOW_PORTS];
    struct slow_event wire[SLOW_WIRE];
    int on_wire;
    int sends[SLOW_NODES][NETWORK_CLASSES][64], send_count[SLOW_NODES][NETWORK_CLASSES];
    int sent[SLOW_NODES][NETWORK_CLASSES], send_vc[SLOW_NODES][NETWORK_CLASSES];
    int last_vc[SLOW_NODES][NETWORK_CLASSES], last_class[SLOW_NODES];
    struct slow_queue held[SLOW_NODES][SLOW_VCS]; /* out: the refused packet, or -1 */
    int refused[SLOW_NODES][SLOW_VCS], refused_count[SLOW_NODES];
};

static struct slow *slow_new(const struct network_config *config, const struct topology *topology,
                             const struct routing *routing)
{
    struct slow *slow = calloc(1, sizeof *slow);
    assert(slow && topology->port_count <= SLOW_PORTS && topology->node_count <= SLOW_NODES);
    slow->config = config, slow->topology = topology, slow->routing = routing;
    slow->vcs = (int)(config->classes * config->vcs), slow->ports = (int)topology->port_count;
    for (int p = 0; p < SLOW_PORTS + SLOW_NODES; p++)
        for (int v = 0; v < SLOW_VCS; v++)
            slow->credits[p][v] = (int)config->buffer, slow->owner[p][v] = -1;
    for (int n = 0; n < SLOW_NODES; n++) {
        for (int c = 0; c < NETWORK_CLASSES; c++)
            slow->last_vc[n][c] = (int)config->vcs - 1;
        for (int v = 0; v < SLOW_VCS; v++)
            slow->held[n][v].out = -1;
    }
    return slow;
}

static const struct topology_port *slow_port(const struct slow *slow, int port)
{
    return &slow->topology
                ->ports[port < slow->ports ? (uint32_t)port : slow->topology->node_ports[port - slow->ports]];
}

static int slow_peer(const struct slow *slow, int port)
{
    return port < slow->ports ? (int)slow_port(slow, port)->peer
                              : (int)slow->topology->node_ports[port - slow->ports];
}

static long slow_flit_clocks(const struct slow *slow, int port)
{
    return (slow->config->flit + slow_port(slow, port)->width - 1) / slow_port(slow, port)->width;
}

static void slow_post(struct slow *slow, long clock, int target, int vc, bool credit, struct slow_flit flit)
{
    assert(slow->on_wire < SLOW_WIRE);
    slow->wire[slow->on_wire++] = (struct slow_event){clock, target, vc, credit, flit};
}

/* A flit crosses the wire that begins at a port from clock `ready` on. */
static void slow_launch(struct slow *slow, int port, int vc, struct slow_flit flit, long ready)
{
    long depart = ready > slow->busy[port] ? ready : slow->busy[port];
    slow->busy[port] = depart + slow_flit_clocks(slow, port);
    slow_post(slow, slow->busy[port] + slow_port(slow, port)->latency, slow_peer(slow, port), vc, false,
              flit);
}

static struct slow_flit slow_pop(struct slow_queue *queue)
{
    struct slow_flit flit = queue->flits[0];
    memmove(queue->flits, queue->flits + 1, (size_t)--queue->count * sizeof flit);
    return flit;
}

static int slow_length(const struct slow *slow, struct slow_flit flit)
{
    return (int)slow->packets[flit.packet].head.flits;
}

static bool slow_is_tail(const struct slow *slow, struct slow_flit flit)
{
    return flit.number + 1 == slow_length(slow, flit);
}

static void slow_begin(struct slow *slow, int port, int vc, long tick)
{
    struct slow_queue *queue = &slow->in[port][vc];
    int vcs = (int)slow->config->vcs, set = slow->routing->sets > 1 && vc % vcs >= vcs - vcs / 2;
    struct route route = routing_next(slow->routing, slow->topology, (uint32_t)port, (uint32_t)set,
                                      slow->packets[queue->flits[0].packet].head.destination);
    queue->state = SLOW_ROUTES;
    queue->bids_from = tick + (long)slow->config->routing_clocks + (long)slow->config->vc_clocks - 1;
    queue->out = (int)slow->topology->routers[slow_port(slow, port)->router].first_port + route.port;
    queue->set = route.set;
}

static bool slow_take(struct slow *slow, int node, int vc, int packet, long clock)
{
    if (slow->closed(node, clock)) {
        slow->held[node][vc].out = packet;
        slow->refused[node][slow->refused_count[node]++] = vc;
        return false;
    }
    slow->packets[packet].delivered = (int)clock;
    return true;
}

static void slow_absorb(struct slow *slow, int node, int vc, struct slow_flit flit, long clock)
{
    const struct topology_port *port = slow_port(slow, slow->ports + node);
    slow_post(slow, clock + (long)port->latency + 1 + slow->config->credit_clocks,
              (int)slow->topology->node_ports[node], vc, true, flit);
    if (slow_is_tail(slow, flit))
        (void)slow_take(slow, node, vc, flit.packet, clock);
}

static void slow_arrivals(struct slow *slow, long clock)
{
    int kept = 0;
    for (int i = 0, count = slow->on_wire; i < count; i++) {
        struct slow_event event = slow->wire[i];
        if (event.clock > clock) {
            slow->wire[kept++] = event;
        } else if (event.credit) {
            slow->credits[event.target][event.vc]++;
        } else if (event.target < slow->ports) {
            struct slow_queue *queue = &slow->in[event.target][event.vc];
            assert(queue->count < (int)slow->config->buffer);
            queue->flits[queue->count++] = event.flit;
            if (queue->state == SLOW_EMPTY)
                slow_begin(slow, event.target, event.vc, clock * (long)slow->config->speedup);
        } else {
            struct slow_queue *held = &slow->held[event.target - slow->ports][event.vc];
            held->flits[held->count++] = event.flit;
        }
    }
    slow->on_wire = kept;
    for (int n = 0; n < (int)slow->topology->node_count; n++)
        for (int v = 0; v < slow->vcs; v++)
            while (slow->held[n][v].count && slow->held[n][v].out < 0)
                slow_absorb(slow, n, v, slow_pop(&slow->held[n][v]), clock);
}

static void slow_open(struct slow *slow, int node, long clock)
{
    int order[SLOW_VCS], count = slow->refused_count[node];
    memcpy(order, slow->refused[node], sizeof order);
    slow->refused_count[node] = 0;
    for (int i = 0; i < count; i++) {
        struct slow_queue *held = &slow->held[node][order[i]];
        int packet = held->out;
        held->out = -1;
        if (!slow_take(slow, node, order[i], packet, clock))
            continue;
        while (held->count && held->out < 0)
            slow_absorb(slow, node, order[i], slow_pop(held), clock);
    }
}

/* Sends a flit of a node: the classes in turn, a packet's virtual channel in turn. */
static void slow_node(struct slow *slow, int node, long clock)
{
    int port = slow->ports + node, vcs = (int)slow->config->vcs, classes = (int)slow->config->classes;
    if (slow->busy[port] > clock)
        return;
    for (int i = 1; i <= classes; i++) {
        int class = (slow->last_class[node] + i) % classes, vc = -1;
        if (slow->send_count[node][class] == 0)
            continue;
        int packet = slow->sends[node][class][0], *sent = &slow->sent[node][class];
        int room = slow->config->flow == NETWORK_WORMHOLE ? 1 : (int)slow->packets[packet].head.flits;
        for (int k = 1; k <= vcs && *sent == 0 && vc < 0; k++) {
            int try = class * vcs + (slow->last_vc[node][class] + k) % vcs;
            if (slow->owner[port][try] < 0 && slow->credits[port][try] >= room)
                vc = try;
        }
        if (*sent && slow->credits[port][slow->send_vc[node][class]])
            vc = slow->send_vc[node][class];
        if (vc < 0)
            continue;
        slow->send_vc[node][class] = vc;
        slow->last_vc[node][class] = vc % vcs;
        slow->last_class[node] = class;
        slow->owner[port][vc] = packet;
        slow->credits[port][vc]--;
        struct slow_flit flit = {packet, (*sent)++};
        slow_launch(slow, port, vc, flit, clock);
        if (!slow_is_tail(slow, flit))
            return;
        slow->owner[port][vc] = -1;
        *sent = 0;
        memmove(slow->sends[node][class], slow->sends[node][class] + 1,
                (size_t)--slow->send_count[node][class] * sizeof(int));
        return;
    }
}

/* The request that wins among those of a row: by age[] if it is there, else the first from a pointer on. -1: none. */
static int slow_pick(const bool *requests, int count, int from, const long *age)
{
    int best = -1;
    for (int k = 0; k < count; k++) {
        int i = age ? k : (from + k) % count;
        if (requests[i] && (best < 0 || (age && age[i] < age[best])))
            best = i;
    }
    return best;
}

/* iSLIP. requests[in][out]; match[in] becomes the output or -1. */
static void slow_islip(int size, bool requests[SLOW_ROUTER_VCS][SLOW_ROUTER_VCS], int *grant, int *accept,
                       int iterations, int *match, long (*age)[SLOW_ROUTER_VCS])
{
    static bool granted[SLOW_ROUTER_VCS][SLOW_ROUTER_VCS];
    bool taken[SLOW_ROUTER_VCS] = {false};
    for (int i = 0; i < size; i++)
        match[i] = -1;
    for (int round = 0; round < iterations; round++) {
        memset(granted, 0, sizeof granted);
        for (int out = 0; out < size; out++) {
            bool column[SLOW_ROUTER_VCS];
            long ages[SLOW_ROUTER_VCS];
            for (int in = 0; in < size; in++) {
                column[in] = requests[in][out] && match[in] < 0 && !taken[out];
                ages[in] = age ? age[in][out] : 0;
            }
            int in = slow_pick(column, size, grant[out], age ? ages : NULL);
            if (in >= 0)
                granted[in][out] = true;
        }
        for (int in = 0; in < size; in++) {
            int out = slow_pick(granted[in], size, accept[in], age ? age[in] : NULL);
            if (out < 0)
                continue;
            match[in] = out;
            taken[out] = true;
            if (round == 0)
                grant[out] = (in + 1) % size, accept[in] = (out + 1) % size;
        }
    }
}

/* An order of packets: the earlier made, then the lower source. */
static long slow_age(const struct slow *slow, const struct slow_queue *queue)
{
    const struct network_packet *packet = &slow->packets[queue->flits[0].packet].head;
    return (long)(packet->time / 1000) * 1000 + packet->source;
}

/* Whether a bidding packet may have an output channel. */
static bool slow_may_have(const struct slow *slow, const struct slow_queue *queue, int vc, int out,
                          int out_vc)
{
    int vcs = (int)slow->config->vcs, low = vcs - vcs / 2, length = slow_length(slow, queue->flits[0]);
    if (queue->state != SLOW_BIDS || queue->out != out || vc / vcs != out_vc / vcs ||
        slow->owner[out][out_vc] >= 0)
        return false;
    bool node = slow_port(slow, out)->wire == TOPOLOGY_NO_WIRE;
    if (!node && slow->routing->sets > 1 && queue->set != (out_vc % vcs >= low))
        return false;
    return slow->config->flow == NETWORK_WORMHOLE || slow->credits[out][out_vc] >= length;
}

/* The channel of an input that bids for an output: of its active ones, else of those that speculate. */
static int slow_bidder(const struct slow *slow, int in, int out)
{
    for (int speculates = 0; speculates <= slow->config->speculative; speculates++) {
        int best = -1;
        for (int k = 0; k < slow->vcs; k++) {
            int vc = (slow->turn[in] + k) % slow->vcs;
            const struct slow_queue *queue = &slow->in[in][vc];
            bool can = !speculates && queue->state == SLOW_OWNS && queue->count && queue->out == out &&
                       slow->credits[out][queue->out_vc];
            int vcs = (int)slow->config->vcs, room = 1;
            if (slow->config->flow != NETWORK_WORMHOLE && queue->count)
                room = slow_length(slow, queue->flits[0]);
            bool node = slow_port(slow, out)->wire == TOPOLOGY_NO_WIRE;
            for (int v = 0; v < slow->vcs && speculates && queue->state == SLOW_BIDS && queue->out == out;
                 v++)
                can =
                    can || (vc / vcs == v / vcs && slow->owner[out][v] < 0 && slow->credits[out][v] >= room &&
                            (node || slow->routing->sets < 2 || queue->set == (v % vcs >= vcs - vcs / 2)));
            if (can && (best < 0 || (slow->config->switch_arbitration == NETWORK_AGE &&
                                     slow_age(slow, queue) < slow_age(slow, &slow->in[in][best]))))
                best = vc;
        }
        if (best >= 0)
            return best;
    }
    return -1;
}

static void slow_give(struct slow *slow, int first, int in, int out)
{
    struct slow_queue *queue = &slow->in[first + in / slow->vcs][in % slow->vcs];
    queue->state = SLOW_OWNS;
    queue->out_vc = out % slow->vcs;
    slow->owner[first + out / slow->vcs][out % slow->vcs] = in;
}

static void slow_allocate_vcs(struct slow *slow, int first, int ports)
{
    static bool requests[SLOW_ROUTER_VCS][SLOW_ROUTER_VCS];
    int size = ports * slow->vcs, match[SLOW_ROUTER_VCS];
    assert(size <= SLOW_ROUTER_VCS);
    for (int out = 0; out < size; out++) {
        int oldest = -1;
        for (int in = 0; in < size; in++) {
            const struct slow_queue *queue = &slow->in[first + in / slow->vcs][in % slow->vcs];
            requests[in][out] =
                slow_may_have(slow, queue, in % slow->vcs, first + out / slow->vcs, out % slow->vcs);
            if (requests[in][out] &&
                (oldest < 0 || slow_age(slow, queue) <
                                   slow_age(slow, &slow->in[first + oldest / slow->vcs][oldest % slow->vcs])))
                oldest = in;
        }
        if (slow->config->vc_arbitration == NETWORK_AGE && oldest >= 0)
            slow_give(slow, first, oldest, out);
    }
    if (slow->config->vc_arbitration == NETWORK_AGE)
        return;
    slow_islip(size, requests, slow->vc_grant + first * SLOW_VCS, slow->vc_accept + first * SLOW_VCS,
               (int)slow->config->iterations, match, NULL);
    for (int in = 0; in < size; in++)
        if (match[in] >= 0)
            slow_give(slow, first, in, match[in]);
}

/* A flit leaves its queue. */
static void slow_forward(struct slow *slow, int in, int vc, long tick, long clock)
{
    struct slow_queue *queue = &slow->in[in][vc];
    struct slow_flit flit = slow_pop(queue);
    long speedup = slow->config->speedup, leaves = (tick + slow->config->switch_clocks - 1) / speedup;
    const struct network_hop hop = {.clock = (uint64_t)clock,
                                    .in_port = (uint32_t)in,
                                    .out_port = (uint32_t)queue->out,
                                    .in_vc = (uint8_t)vc,
                                    .out_vc = (uint8_t)queue->out_vc,
                                    .flit = (uint32_t)flit.number};
    slow->hop(slow->context, &hop, &slow->packets[flit.packet].head);
    slow->credits[queue->out][queue->out_vc]--;
    slow_launch(slow, queue->out, queue->out_vc, flit,
                (tick + slow->config->switch_clocks - 1 + slow->config->traversal_clocks) / speedup);
    bool node = slow_port(slow, in)->wire == TOPOLOGY_NO_WIRE;
    slow_post(slow, leaves + slow_port(slow, in)->latency + 1 + (node ? 0 : slow->config->credit_clocks),
              slow_peer(slow, in), vc, true, flit);
    if (!slow_is_tail(slow, flit))
        return;
    slow->owner[queue->out][queue->out_vc] = -1;
    queue->state = SLOW_EMPTY;
    if (queue->count)
        slow_begin(slow, in, vc, tick + 1);
}

static void slow_router(struct slow *slow, const struct topology_router *router, long tick, long clock)
{
    static bool requests[SLOW_ROUTER_VCS][SLOW_ROUTER_VCS];
    static long age[SLOW_ROUTER_VCS][SLOW_ROUTER_VCS];
    int first = (int)router->first_port, ports = (int)router->ports, match[SLOW_ROUTER_VCS];
    int bidder[TOPOLOGY_PORTS][TOPOLOGY_PORTS];
    for (int p = first; p < first + ports; p++)
        for (int v = 0; v < slow->vcs; v++) {
            struct slow_queue *queue = &slow->in[p][v];
            bool whole = slow->config->flow != NETWORK_STORE_AND_FORWARD ||
                         (queue->count && queue->count >= slow_length(slow, queue->flits[0]));
            if (queue->state == SLOW_ROUTES && queue->bids_from <= tick && whole)
                queue->state = SLOW_BIDS;
        }
    long crossed =
        (tick + slow->config->switch_clocks - 1 + slow->config->traversal_clocks) / slow->config->speedup;
    for (int in = 0; in < ports; in++)
        for (int out = 0; out < ports; out++) {
            bool open = slow->busy[first + out] <=
                        crossed + (long)slow->config->output_queue * slow_flit_clocks(slow, first + out);
            bidder[in][out] = open ? slow_bidder(slow, first + in, first + out) : -1;
            requests[in][out] = bidder[in][out] >= 0;
            age[in][out] = requests[in][out] ? slow_age(slow, &slow->in[first + in][bidder[in][out]]) : 0;
        }
    slow_allocate_vcs(slow, first, ports);
    slow_islip(ports, requests, slow->sw_grant + first, slow->sw_accept + first,
               (int)slow->config->iterations, match,
               slow->config->switch_arbitration == NETWORK_AGE ? age : NULL);
    for (int in = 0; in < ports; in++) {
        if (match[in] < 0)
            continue;
        int vc = bidder[in][match[in]];
        slow->turn[first + in] = (vc + 1) % slow->vcs;
        const struct slow_queue *queue = &slow->in[first + in][vc];
        if (queue->state == SLOW_OWNS && slow->credits[queue->out][queue->out_vc])
            slow_forward(slow, first + in, vc, tick, clock);
    }
}

/* One clock. Packets to be sent in it are in slow->sends. */
static void slow_step(struct slow *slow, long clock)
{
    slow_arrivals(slow, clock);
    for (int n = 0; n < (int)slow->topology->node_count; n++) {
        if (clock && slow->closed(n, clock - 1) && !slow->closed(n, clock))
            slow_open(slow, n, clock);
        slow_node(slow, n, clock);
    }
    for (uint32_t r = 0; r < slow->topology->router_count; r++)
        for (long part = 0; part < (long)slow->config->speedup; part++)
            slow_router(slow, &slow->topology->routers[r], clock * (long)slow->config->speedup + part, clock);
}

#endif
