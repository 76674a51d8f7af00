/* A second model of a network, written from the rules of emu/net/network.h alone: it looks at everything in every
 * clock, keeps plain lists, and runs iSLIP on whole matrices. Only topology, routes and the lists of critical pairs
 * (congestion.h) are shared; the stalls from which those are made are counted here anew. */
#ifndef TESTS_NET_SLOW_NETWORK_H
#define TESTS_NET_SLOW_NETWORK_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/net/allocator/loads.h"
#include "emu/net/congestion/congestion.h"
#include "emu/net/network.h"

enum {
    SLOW_PORTS = 96,
    SLOW_NODES = 32,
    SLOW_VCS = 16,
    SLOW_QUEUE = 16,
    SLOW_WIRE = 65536,
    SLOW_ROUTER_VCS = 160
};

struct slow_packet {
    struct network_packet head;
    int delivered; /* clock, or -1 */
};

struct slow_flit {
    int packet, number;
    bool tracker;
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
    int vcs, ports, class_vcs; /* of a port; of the network; of a class, with its priority buffers */
    int own_vcs,
        shared_vcs; /* of all classes; of a port: channels for all classes, without priority buffers */
    int depth[SLOW_VCS];
    struct congestion *congestion; /* with critical paths */
    long epoch_clocks;
    unsigned long stalled[SLOW_PORTS], stalled_before[SLOW_PORTS]; /* ticks */
    bool stalls[SLOW_PORTS];                                       /* in this tick */
    int left[SLOW_PORTS][SLOW_PORTS];   /* flits that are to pass from one port of a router to another */
    int passed[SLOW_PORTS][SLOW_PORTS]; /* flits of a pair, halved in each window */
    long clock;
    int wires[SLOW_PORTS][SLOW_PORTS]; /* between routers */
    struct slow_queue in[SLOW_PORTS][SLOW_VCS];
    int credits[SLOW_PORTS + SLOW_NODES][SLOW_VCS], owner[SLOW_PORTS + SLOW_NODES][SLOW_VCS];
    long busy[SLOW_PORTS + SLOW_NODES];
    int vc_grant[SLOW_PORTS * SLOW_VCS], vc_accept[SLOW_PORTS * SLOW_VCS];
    int sw_grant[2][SLOW_PORTS], sw_accept[2][SLOW_PORTS], turn[SLOW_PORTS];
    struct slow_event wire[SLOW_WIRE];
    int on_wire;
    int sends[SLOW_NODES][NETWORK_CLASSES][64], send_count[SLOW_NODES][NETWORK_CLASSES];
    int sent[SLOW_NODES][NETWORK_CLASSES], send_vc[SLOW_NODES][NETWORK_CLASSES];
    int last_vc[SLOW_NODES][NETWORK_CLASSES], last_class[SLOW_NODES];
    struct slow_queue held[SLOW_NODES][SLOW_VCS]; /* out: the refused packet, or -1 */
    bool owes[SLOW_NODES][SLOW_VCS];              /* the credit of its last flit */
    int refused[SLOW_NODES][SLOW_VCS], refused_count[SLOW_NODES];
};

static void slow_track(struct slow *slow)
{
    uint32_t first[SLOW_PORTS], ports[SLOW_PORTS];
    uint64_t candidates[SLOW_PORTS];
    const struct topology *topology = slow->topology;
    for (uint32_t r = 0; r < topology->router_count; r++) {
        first[r] = topology->routers[r].first_port, ports[r] = topology->routers[r].ports, candidates[r] = 0;
        for (uint32_t p = 0; p < ports[r]; p++)
            if (slow->config->track_ports == NETWORK_ALL_PORTS ||
                topology->ports[first[r] + p].wire != TOPOLOGY_NO_WIRE)
                candidates[r] |= BIT(p);
    }
    slow->congestion =
        congestion_new(&(struct congestion_setup){.routers = topology->router_count,
                                                  .first_port = first,
                                                  .ports = ports,
                                                  .candidates = candidates,
                                                  .threshold = slow->config->track_threshold,
                                                  .hysteresis = slow->config->hysteresis,
                                                  .reorder = slow->config->pair_order == NETWORK_LATEST});
}

static bool slow_is_shared(const struct slow *slow, int vc)
{
    return vc >= slow->own_vcs;
}

static bool slow_is_buffer(const struct slow *slow, int vc) /* a priority buffer */
{
    return slow_is_shared(slow, vc) ? vc >= slow->own_vcs + slow->shared_vcs
                                    : vc % slow->class_vcs >= (int)slow->config->vcs;
}

/* Shortest ways between routers (Floyd and Warshall). */
static void slow_measure(struct slow *slow)
{
    const struct topology *topology = slow->topology;
    int count = (int)topology->router_count;
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++)
            slow->wires[a][b] = a == b ? 0 : 1000;
    for (uint32_t p = 0; p < topology->port_count; p++)
        if (topology->ports[p].wire != TOPOLOGY_NO_WIRE)
            slow->wires[topology->ports[p].router][topology->ports[topology->ports[p].peer].router] = 1;
    for (int by = 0; by < count; by++)
        for (int a = 0; a < count; a++)
            for (int b = 0; b < count; b++)
                if (slow->wires[a][by] + slow->wires[by][b] < slow->wires[a][b])
                    slow->wires[a][b] = slow->wires[a][by] + slow->wires[by][b];
}

static struct slow *slow_new(const struct network_config *config, const struct topology *topology,
                             const struct routing *routing)
{
    struct slow *slow = calloc(1, sizeof *slow);
    assert(slow && topology->port_count <= SLOW_PORTS && topology->node_count <= SLOW_NODES);
    slow->config = config, slow->topology = topology, slow->routing = routing;
    int sets = (int)routing->sets, buffers = config->priority_by_class ? (int)config->classes * sets : sets;
    int own = (int)config->priority_buffer / buffers;
    int channels = (int)(config->classes * config->vcs + config->shared_vcs);
    slow->class_vcs = (int)config->vcs + (own && config->priority_by_class ? sets : 0);
    slow->own_vcs = (int)config->classes * slow->class_vcs, slow->shared_vcs = (int)config->shared_vcs;
    slow->vcs = slow->own_vcs + slow->shared_vcs + (own && !config->priority_by_class ? sets : 0);
    slow->ports = (int)topology->port_count;
    assert(slow->vcs <= SLOW_VCS);
    for (int v = 0; v < slow->vcs; v++)
        slow->depth[v] = slow_is_buffer(slow, v)
                             ? own
                             : (int)config->buffer - ((int)config->priority_buffer + channels - 1) / channels;
    for (int p = 0; p < SLOW_PORTS + SLOW_NODES; p++)
        for (int v = 0; v < slow->vcs; v++)
            slow->credits[p][v] = slow->depth[v], slow->owner[p][v] = -1;
    for (int n = 0; n < SLOW_NODES; n++) {
        for (int c = 0; c < NETWORK_CLASSES; c++)
            slow->last_vc[n][c] = (int)config->vcs - 1;
        for (int v = 0; v < SLOW_VCS; v++)
            slow->held[n][v].out = -1;
    }
    if (config->track)
        slow_track(slow);
    slow_measure(slow);
    return slow;
}

static void slow_free(struct slow *slow)
{
    congestion_free(slow->congestion);
    free(slow);
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

static int slow_set(const struct slow *slow, int vc)
{
    int vcs = (int)slow->config->vcs, number = vc % slow->class_vcs;
    if (slow_is_shared(slow, vc))
        vcs = slow->shared_vcs, number = vc - slow->own_vcs;
    if (slow->routing->sets == 1)
        return 0;
    return number >= vcs ? number - vcs : number >= vcs - vcs / 2;
}

static void slow_begin(struct slow *slow, int port, int vc, long tick)
{
    struct slow_queue *queue = &slow->in[port][vc];
    int set = slow_set(slow, vc);
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

static void slow_return(struct slow *slow, int node, int vc, long clock)
{
    const struct topology_port *port = slow_port(slow, slow->ports + node);
    slow_post(slow, clock + (long)port->latency + 1 + slow->config->credit_clocks,
              (int)slow->topology->node_ports[node], vc, true, (struct slow_flit){0});
}

/* A shared channel that has a refused packet keeps a credit. */
static void slow_absorb(struct slow *slow, int node, int vc, struct slow_flit flit, long clock)
{
    bool taken = !slow_is_tail(slow, flit) || slow_take(slow, node, vc, flit.packet, clock);
    slow->owes[node][vc] = slow_is_shared(slow, vc) && !taken;
    if (!slow->owes[node][vc])
        slow_return(slow, node, vc, clock);
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
            assert(queue->count < slow->depth[event.vc]);
            uint32_t router = slow_port(slow, event.target)->router;
            if (event.flit.tracker)
                congestion_arrived(slow->congestion, router,
                                   (uint32_t)event.target - slow->topology->routers[router].first_port);
            event.flit.tracker = false;
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
        if (slow->owes[node][order[i]])
            slow_return(slow, node, order[i], clock);
        slow->owes[node][order[i]] = false;
        while (held->count && held->out < 0)
            slow_absorb(slow, node, order[i], slow_pop(held), clock);
    }
}

/* An empty shared channel of a node's link, or -1. */
static int slow_empty(const struct slow *slow, int port, bool buffer)
{
    for (int v = slow->own_vcs; v < slow->vcs; v++)
        if (slow_is_buffer(slow, v) == buffer && slow->owner[port][v] < 0 &&
            slow->credits[port][v] == slow->depth[v])
            return v;
    return -1;
}

/* Sends a flit of a node: the classes in turn, a packet's virtual channel in turn. */
static void slow_node(struct slow *slow, int node, long clock)
{
    int port = slow->ports + node, vcs = (int)slow->config->vcs, classes = (int)slow->config->classes;
    int class_vcs = slow->class_vcs;
    if (slow->busy[port] > clock)
        return;
    for (int i = 1; i <= classes; i++) {
        int class = (slow->last_class[node] + i) % classes, vc = -1;
        if (slow->send_count[node][class] == 0)
            continue;
        int packet = slow->sends[node][class][0], *sent = &slow->sent[node][class];
        int room = slow->config->flow == NETWORK_WORMHOLE ? 1 : (int)slow->packets[packet].head.flits;
        bool urgent = slow->packets[packet].head.urgent;
        for (int k = vcs; k < class_vcs && *sent == 0 && vc < 0 && urgent; k++)
            if (slow->owner[port][class * class_vcs + k] < 0 &&
                slow->credits[port][class * class_vcs + k] >= room)
                vc = class * class_vcs + k;
        if (*sent == 0 && vc < 0 && urgent)
            vc = slow_empty(slow, port, true);
        bool buffered = vc >= 0, most = slow->config->vc_choice == NETWORK_CREDITS;
        for (int k = 1; k <= vcs && *sent == 0 && !buffered; k++) {
            int try = class * class_vcs + (slow->last_vc[node][class] + k) % vcs;
            if (slow->owner[port][try] < 0 && slow->credits[port][try] >= room &&
                (vc < 0 || (most && slow->credits[port][try] > slow->credits[port][vc])))
                vc = try;
        }
        if (*sent == 0 && vc < 0)
            vc = slow_empty(slow, port, false);
        if (*sent && slow->credits[port][slow->send_vc[node][class]])
            vc = slow->send_vc[node][class];
        if (vc < 0)
            continue;
        slow->send_vc[node][class] = vc;
        if (!slow_is_buffer(slow, vc) && !slow_is_shared(slow, vc))
            slow->last_vc[node][class] = vc % class_vcs;
        slow->last_class[node] = class;
        slow->owner[port][vc] = packet;
        slow->credits[port][vc]--;
        struct slow_flit flit = {packet, (*sent)++, false};
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

/* The request that wins among those of a row: the one of the least order, of equals the first from a pointer on. -1: none. */
static int slow_pick(const bool *requests, int count, int from, const long *order)
{
    int best = -1;
    for (int k = 0; k < count; k++) {
        int i = (from + k) % count;
        if (requests[i] && (best < 0 || (order && order[i] < order[best])))
            best = i;
    }
    return best;
}

/* Requests, and the orders in which outputs grant and inputs accept. vcs: of a port if rows and columns are channels, else 0. */
struct slow_match {
    bool requests[SLOW_ROUTER_VCS][SLOW_ROUTER_VCS];
    long grants[SLOW_ROUTER_VCS][SLOW_ROUTER_VCS], accepts[SLOW_ROUTER_VCS][SLOW_ROUTER_VCS];
    int size, vcs;
    int match[SLOW_ROUTER_VCS];                           /* of inputs: the output, or -1 */
    bool taken[SLOW_ROUTER_VCS], wanted[SLOW_ROUTER_VCS]; /* outputs: matched, requested */
};

/* The input that an output grants. A channel gives way to a priority buffer of its port. */
static int slow_granted(const struct slow *slow, const struct slow_match *m, int out, int from)
{
    bool column[SLOW_ROUTER_VCS];
    long orders[SLOW_ROUTER_VCS];
    if (!m->wanted[out])
        return -1;
    for (int in = 0; in < m->size; in++) {
        column[in] = m->requests[in][out] && m->match[in] < 0 && !m->taken[out];
        orders[in] = m->grants[in][out];
    }
    int in = slow_pick(column, m->size, from, orders);
    if (in < 0 || !m->vcs || slow_is_buffer(slow, in % m->vcs))
        return in;
    for (int other = in / m->vcs * m->vcs; other < in / m->vcs * m->vcs + m->vcs; other++)
        if (column[other] && slow_is_buffer(slow, other % m->vcs))
            return other;
    return in;
}

/* iSLIP. */
static void slow_islip(const struct slow *slow, struct slow_match *m, int *grant, int *accept, bool pointers,
                       int rounds)
{
    static bool granted[SLOW_ROUTER_VCS][SLOW_ROUTER_VCS];
    for (int round = 0; round < rounds; round++) {
        bool any[SLOW_ROUTER_VCS] = {false};
        for (int in = 0; in < m->size; in++)
            memset(granted[in], 0, (size_t)m->size * sizeof(bool));
        for (int out = 0; out < m->size; out++) {
            int in = slow_granted(slow, m, out, pointers ? grant[out] : 0);
            if (in >= 0)
                granted[in][out] = any[in] = true;
        }
        for (int in = 0; in < m->size; in++) {
            int from = pointers ? accept[in] : 0;
            int out = any[in] ? slow_pick(granted[in], m->size, from, m->accepts[in]) : -1;
            if (out < 0)
                continue;
            m->match[in] = out;
            m->taken[out] = true;
            if (round == 0)
                grant[out] = (in + 1) % m->size, accept[in] = (out + 1) % m->size;
        }
    }
}

static void slow_match_begin(struct slow_match *m, int size, int vcs)
{
    m->size = size, m->vcs = vcs;
    for (int i = 0; i < size; i++)
        m->match[i] = -1, m->taken[i] = m->wanted[i] = false;
}

/* The order of packets by an arbitration: the least goes first. By age: the earlier made, then of the lower source. The oracle:
 * as if it had been made a clock earlier for each flit that is left to pass between its ports. */
static long slow_order(const struct slow *slow, enum network_arbitration arbitration, int in)
{
    int port = in / slow->vcs;
    const struct network_packet *packet = &slow->packets[slow->in[port][in % slow->vcs].flits[0].packet].head;
    uint32_t from = topology_node_router(slow->topology, packet->source);
    if (arbitration == NETWORK_AGE)
        return (long)(packet->time / 1000) * 1000 + packet->source;
    if (arbitration == NETWORK_ORACLE)
        return ((1L << 18) + (long)(packet->time / 1000) -
                slow->left[port][slow->in[port][in % slow->vcs].out]) *
                   1000 +
               packet->source;
    if (arbitration == NETWORK_LOADS) {
        long age = slow->clock - (long)(packet->time / 1000);
        age = age < LOADS_OLDEST ? age : LOADS_OLDEST;
        return ((1L << 18) - age - LOADS_WEIGHT * slow->passed[port][slow->in[port][in % slow->vcs].out]) *
                   1000 +
               packet->source;
    }
    return arbitration == NETWORK_DISTANCE ? 1000 - slow->wires[from][slow_port(slow, port)->router] : 0;
}

/* The rank of a pair of ports of the network, which goes before all else. */
static long slow_rank(const struct slow *slow, int in, int out)
{
    uint32_t number = slow_port(slow, in)->router, first = slow->topology->routers[number].first_port;
    if (!slow->config->path_priority)
        return 0;
    return (long)congestion_rank(&slow->congestion->routers[number], (uint32_t)in - first,
                                 (uint32_t)out - first)
           << 32;
}

/* Whether a bidding packet may have an output channel. */
static bool slow_may_have(const struct slow *slow, const struct slow_queue *queue, int out, int out_vc)
{
    int length = slow_length(slow, queue->flits[0]);
    if (queue->state != SLOW_BIDS || queue->out != out || slow->owner[out][out_vc] >= 0)
        return false;
    if (slow_is_shared(slow, out_vc)
            ? slow->credits[out][out_vc] < slow->depth[out_vc]
            : slow->packets[queue->flits[0].packet].head.class != out_vc / slow->class_vcs)
        return false;
    bool node = slow_port(slow, out)->wire == TOPOLOGY_NO_WIRE;
    if (!node && slow->routing->sets > 1 && queue->set != slow_set(slow, out_vc))
        return false;
    if (slow_is_buffer(slow, out_vc) &&
        (!slow->packets[queue->flits[0].packet].head.urgent || !slow->credits[out][out_vc]))
        return false;
    return slow->config->flow == NETWORK_WORMHOLE || slow->credits[out][out_vc] >= length;
}

/* Whether a channel bids for an output of the switch. */
static bool slow_bids(const struct slow *slow, int in, int vc, int out, bool speculates)
{
    const struct slow_queue *queue = &slow->in[in][vc];
    if (!queue->count || queue->out != out)
        return false;
    if (!speculates)
        return queue->state == SLOW_OWNS && slow->credits[out][queue->out_vc];
    for (int v = 0; v < slow->vcs && queue->state == SLOW_BIDS; v++)
        if (!slow_is_buffer(slow, v) && slow->credits[out][v] && slow_may_have(slow, queue, out, v))
            return true;
    return false;
}

/* The channel of an input that bids for an output: of its active ones, else of those that speculate. half: -1: all channels; else
 * the even or the odd ones. */
static int slow_bidder(const struct slow *slow, int in, int out, int half)
{
    enum network_arbitration arbitration = slow->config->switch_arbitration == NETWORK_AGE_INPUT
                                               ? NETWORK_AGE
                                               : slow->config->switch_arbitration;
    for (int speculates = 0; speculates <= slow->config->speculative; speculates++) {
        int best = -1;
        for (int k = 0; k < slow->vcs; k++) {
            int vc = (slow->turn[in] + k) % slow->vcs;
            if ((half >= 0 && vc % 2 != half) || !slow_bids(slow, in, vc, out, speculates))
                continue;
            if (best < 0 || slow_is_buffer(slow, vc) > slow_is_buffer(slow, best) ||
                (slow_is_buffer(slow, vc) == slow_is_buffer(slow, best) &&
                 slow_order(slow, arbitration, in * slow->vcs + vc) <
                     slow_order(slow, arbitration, in * slow->vcs + best)))
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

/* Gives channels of outputs: priority buffers, or the others, those of classes or shared ones. By age or the oracle, one by one. */
static void slow_allocate(struct slow *slow, int first, int ports, bool buffers, bool shared)
{
    static struct slow_match m;
    bool one_by_one = slow->config->vc_arbitration == NETWORK_AGE ||
                      slow->config->vc_arbitration == NETWORK_LOADS ||
                      slow->config->vc_arbitration == NETWORK_ORACLE;
    slow_match_begin(&m, ports * slow->vcs, slow->vcs);
    assert(m.size <= SLOW_ROUTER_VCS);
    for (int out = 0; out < m.size; out++) {
        for (int in = 0; in < m.size; in++) {
            int in_port = first + in / slow->vcs, out_port = first + out / slow->vcs, vc = in % slow->vcs;
            m.requests[in][out] = slow_is_buffer(slow, out % slow->vcs) == buffers &&
                                  slow_is_shared(slow, out % slow->vcs) == shared &&
                                  slow_may_have(slow, &slow->in[in_port][vc], out_port, out % slow->vcs);
            m.wanted[out] |= m.requests[in][out];
            m.accepts[in][out] =
                slow->config->vc_choice == NETWORK_CREDITS ? -slow->credits[out_port][out % slow->vcs] : 0;
            if (m.requests[in][out])
                m.grants[in][out] = slow_rank(slow, in_port, out_port) +
                                    slow_order(slow, slow->config->vc_arbitration, first * slow->vcs + in);
        }
        int best = one_by_one ? slow_granted(slow, &m, out, 0) : -1;
        if (best >= 0)
            slow_give(slow, first, best, out);
    }
    if (one_by_one)
        return;
    slow_islip(slow, &m, slow->vc_grant + first * SLOW_VCS, slow->vc_accept + first * SLOW_VCS, true,
               (int)slow->config->iterations);
    for (int in = 0; in < m.size; in++)
        if (m.match[in] >= 0)
            slow_give(slow, first, in, m.match[in]);
}

/* A packet is in its node's queue: all its flits are to pass the routers on its way. */
static void slow_sent(struct slow *slow, const struct network_packet *packet)
{
    int in = (int)slow->topology->node_ports[packet->source];
    for (;;) {
        uint32_t router = slow_port(slow, in)->router;
        int out =
            (int)(slow->topology->routers[router].first_port +
                  routing_next(slow->routing, slow->topology, (uint32_t)in, 0, packet->destination).port);
        slow->left[in][out] += (int)packet->flits;
        if (slow_port(slow, out)->wire == TOPOLOGY_NO_WIRE)
            return;
        in = slow_peer(slow, out);
    }
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
    slow->left[in][queue->out]--;
    slow->passed[in][queue->out]++;
    slow->hop(slow->context, &hop, &slow->packets[flit.packet].head);
    uint32_t router = slow_port(slow, in)->router,
             out = (uint32_t)queue->out - slow->topology->routers[router].first_port;
    if (slow->congestion && congestion_pends(slow->congestion, router, out)) {
        congestion_send(slow->congestion, router, out);
        flit.tracker = slow_port(slow, queue->out)->wire != TOPOLOGY_NO_WIRE;
    }
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

/* Notes outputs for which heads wait, for a credit before the tick, or for a channel after it. */
static void slow_note(struct slow *slow, const struct topology_router *router, enum slow_state state)
{
    for (uint32_t p = router->first_port; p < router->first_port + router->ports; p++)
        for (int v = 0; v < slow->vcs; v++) {
            const struct slow_queue *queue = &slow->in[p][v];
            if (queue->state == state && queue->count &&
                (state == SLOW_BIDS || !slow->credits[queue->out][queue->out_vc]))
                slow->stalls[queue->out] = true;
        }
}

/* Finds the channels that bid for the switch: bidder[in][out], or -1. */
static void slow_find_bidders(struct slow *slow, int first, int ports, int half, long crossed,
                              int bidder[TOPOLOGY_PORTS][TOPOLOGY_PORTS])
{
    for (int in = 0; in < ports; in++)
        for (int out = 0; out < ports; out++) {
            bool open = slow->busy[first + out] <=
                        crossed + (long)slow->config->output_queue * slow_flit_clocks(slow, first + out);
            bidder[in][out] = open ? slow_bidder(slow, first + in, first + out, half) : -1;
            for (int v = 0; v < slow->vcs && !open; v++)
                slow->stalls[first + out] |= slow_bids(slow, first + in, v, first + out, false);
        }
}

/* Matches bidders and outputs that are not taken yet, and sends their flits. turns: of the pointers. */
static void slow_switch(struct slow *slow, int first, int ports, int turns,
                        int bidder[TOPOLOGY_PORTS][TOPOLOGY_PORTS], bool taken[TOPOLOGY_PORTS], long tick,
                        long clock)
{
    static struct slow_match m;
    enum network_arbitration arbitration = slow->config->switch_arbitration;
    slow_match_begin(&m, ports, 0);
    for (int in = 0; in < ports; in++)
        for (int out = 0; out < ports; out++) {
            int vc = taken[out] ? -1 : bidder[in][out];
            m.requests[in][out] = vc >= 0;
            m.wanted[out] |= vc >= 0;
            if (vc < 0)
                continue;
            long order = slow_order(slow, arbitration, (first + in) * slow->vcs + vc);
            m.grants[in][out] = slow_rank(slow, first + in, first + out) + order;
            m.accepts[in][out] = m.grants[in][out] + (slow_is_buffer(slow, vc) ? 0 : 1L << 30);
        }
    slow_islip(slow, &m, slow->sw_grant[turns] + first, slow->sw_accept[turns] + first,
               arbitration != NETWORK_AGE && arbitration != NETWORK_LOADS,
               arbitration == NETWORK_ORACLE ? ports : (int)slow->config->iterations);
    for (int in = 0; in < ports; in++) {
        if (m.match[in] < 0)
            continue;
        int vc = bidder[in][m.match[in]];
        taken[m.match[in]] = true;
        if (!slow_is_buffer(slow, vc))
            slow->turn[first + in] = (vc + 1) % slow->vcs;
        const struct slow_queue *queue = &slow->in[first + in][vc];
        if (queue->state == SLOW_OWNS && slow->credits[queue->out][queue->out_vc])
            slow_forward(slow, first + in, vc, tick, clock);
    }
}

static void slow_router(struct slow *slow, const struct topology_router *router, long tick, long clock)
{
    int first = (int)router->first_port, ports = (int)router->ports;
    static int bidder[2][TOPOLOGY_PORTS][TOPOLOGY_PORTS];
    bool taken[TOPOLOGY_PORTS] = {false}, twice = slow->config->input_speedup > 1;
    for (int p = first; p < first + ports; p++)
        for (int v = 0; v < slow->vcs; v++) {
            struct slow_queue *queue = &slow->in[p][v];
            bool whole = slow->config->flow != NETWORK_STORE_AND_FORWARD ||
                         (queue->count && queue->count >= slow_length(slow, queue->flits[0]));
            if (queue->state == SLOW_ROUTES && queue->bids_from <= tick && whole)
                queue->state = SLOW_BIDS;
        }
    slow_note(slow, router, SLOW_OWNS);
    long crossed =
        (tick + slow->config->switch_clocks - 1 + slow->config->traversal_clocks) / slow->config->speedup;
    for (int half = 0; half <= twice; half++)
        slow_find_bidders(slow, first, ports, twice ? half : -1, crossed, bidder[half]);
    if (slow->config->priority_buffer)
        slow_allocate(slow, first, ports, true, !slow->config->priority_by_class);
    slow_allocate(slow, first, ports, false, false);
    if (slow->shared_vcs)
        slow_allocate(slow, first, ports, false, true);
    for (int turn = 0; turn <= twice; turn++) {
        int half = twice ? (int)((tick + turn) % 2) : 0;
        slow_switch(slow, first, ports, half, bidder[half], taken, tick, clock);
    }
    slow_note(slow, router, SLOW_BIDS);
}

/* Ends an epoch at the beginning of a clock. */
static void slow_end_epoch(struct slow *slow)
{
    struct congestion_epoch epoch[SLOW_PORTS] = {{0}};
    for (int p = 0; p < slow->ports; p++) {
        epoch[p].stalls = slow->stalled[p] / slow->config->speedup - slow->stalled_before[p];
        slow->stalled_before[p] += epoch[p].stalls;
    }
    congestion_end_epoch(slow->congestion, epoch);
}

/* One clock. Packets to be sent in it are in slow->sends. */
static void slow_step(struct slow *slow, long clock)
{
    slow->clock = clock;
    for (int in = 0; clock % LOADS_WINDOW == 0 && in < slow->ports; in++)
        for (int out = 0; out < slow->ports; out++)
            slow->passed[in][out] /= 2;
    if (slow->congestion && clock && clock % slow->epoch_clocks == 0)
        slow_end_epoch(slow);
    slow_arrivals(slow, clock);
    for (int n = 0; n < (int)slow->topology->node_count; n++) {
        if (clock && slow->closed(n, clock - 1) && !slow->closed(n, clock))
            slow_open(slow, n, clock);
        slow_node(slow, n, clock);
    }
    for (uint32_t r = 0; r < slow->topology->router_count; r++)
        for (long part = 0; part < (long)slow->config->speedup; part++) {
            slow_router(slow, &slow->topology->routers[r], clock * (long)slow->config->speedup + part, clock);
            for (int p = 0; p < slow->ports; p++) {
                slow->stalled[p] += slow->stalls[p];
                slow->stalls[p] = false;
            }
        }
}

#endif
