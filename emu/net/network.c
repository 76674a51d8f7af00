#include "emu/net/network.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/net/calendar.h"
#include "emu/net/congestion.h"
#include "emu/net/islip.h"
#include "emu/net/oracle.h"
#include "emu/net/stalls.h"
#include "emu/net/workset.h"
#include "emu/sim/alloc.h"

enum vc_state {
    VC_IDLE,
    VC_PARTIAL, /* store and forward: waits for the packet's last flit */
    VC_ROUTING, /* in RC, or in the clocks of VA before the last */
    VC_WAITING, /* bids for a virtual channel */
    VC_ACTIVE,  /* has one */
};

/* A virtual channel at the input of a router. */
struct input_vc {
    uint32_t ready; /* VC_ROUTING: tick at which it bids for a virtual channel */
    uint32_t since; /* tick at which it began to wait for a virtual channel or a credit */
    uint16_t first, count;
    uint8_t state, out_port, out_vc;
    uint8_t group; /* class * sets + set of the channels that it may get */
};

/* A virtual channel at the output of a router, or at a node. */
struct output_vc {
    uint16_t credits;
    uint16_t owner; /* the input channel (port * vcs + vc) that has it, or NO_OWNER */
};
enum { NO_OWNER = ISLIP_NOBODY };

/* Both directions of a router's port. Bits are virtual channels. */
struct port {
    uint64_t ready;   /* input: can bid for the switch: active, not empty, with a credit */
    uint64_t routing; /* input: VC_ROUTING */
    uint64_t free;    /* output: without an owner */
    uint64_t busy;    /* output: clock from which the link is free */
    uint32_t router, peer;
    uint16_t latency, flit_clocks;
    uint8_t turn; /* SA, input: channel with the highest priority */
    bool node;    /* the other end is a node */
};

/* Bits are ports of the router. */
struct router {
    uint64_t ready, routing; /* inputs with such channels */
    uint64_t waiting;        /* outputs that VC_WAITING channels want */
    uint32_t first_port, ports;
    size_t bids; /* place in network->bids */
};

/* The end of a node's link. */
struct endpoint {
    uint64_t free;    /* virtual channels without a packet that is being sent */
    uint64_t blocked; /* virtual channels whose packet the client refused */
    uint64_t busy;    /* clock from which the link is free */
    uint32_t port;    /* of the router */
    uint16_t latency, flit_clocks;
    uint8_t last_class;
    uint8_t refused_count;
    uint8_t retry;                    /* bit: class whose refused packets are offered again */
    uint8_t last_vc[NETWORK_CLASSES]; /* sent on last */
    uint8_t vc[NETWORK_CLASSES];      /* of the packet at the head of the queue, if part of it is sent */
    uint16_t sent[NETWORK_CLASSES];   /* flits of it sent */
    uint32_t first[NETWORK_CLASSES], count[NETWORK_CLASSES]; /* queues of packets: network->sends */
    uint8_t refused[NETWORK_VCS];                            /* blocked channels, in the order of refusal */
};

/* Flits that wait at a node behind a refused packet, and that packet. */
struct arrivals {
    uint16_t first, count;
    uint32_t packet;
};

/* The width of the link that begins at a port. */
struct link_width {
    uint8_t parts;     /* of the full width: 1, 2, 4, 8 */
    uint8_t next;      /* parts from clock `at` on */
    uint64_t at;       /* UINT64_MAX: no change waits */
    uint64_t since;    /* clock of the last change */
    uint64_t idle;     /* bits that it could have carried more until then */
    uint64_t occupied; /* clocks until then in which it was busy, but not stopped */
};

struct network_checks;

struct network {
    struct network_config config;
    const struct topology *topology;
    const struct routing *routing;
    struct event_queue *queue;
    const struct clock *clock;
    struct network_client client;
    struct event event;
    uint32_t vcs;       /* of a port */
    uint32_t class_vcs; /* of a class: config.vcs, then a priority buffer for each set of the routing */
    uint32_t groups;
    uint32_t speedup, head_ticks; /* ticks from a head's arrival to its first bid */
    uint64_t now;                 /* the clock being worked on, or to be worked on next */
    uint64_t next;                /* first clock that has not been worked on */
    bool stepping;
    struct port *ports;
    struct router *routers;
    struct input_vc *inputs;   /* [port * vcs + vc] */
    struct output_vc *outputs; /* [port * vcs + vc]; then those of nodes */
    struct islip_turns *turns; /* of SA, by port */
    uint16_t *grants;     /* of VA: [port * vcs + vc] as output: input channel with the highest priority */
    uint32_t *accepts;    /* of VA: [port * vcs + vc] as input: output channel with the highest priority */
    struct flit *buffers; /* [(port * vcs + vc) * buffer + i] */
    uint64_t *
        bids; /* of a router: [(output * groups + group) * (1 + ports)]: inputs; then channels of each input */
    /* channels of a group on wires, and of a class at nodes, without priority buffers; then the latter */
    uint64_t wire_vcs[2][NETWORK_CLASSES * ROUTING_SETS], node_vcs[2][NETWORK_CLASSES];
    uint64_t priority_vcs; /* all priority buffers; 0: none */
    uint64_t *urgent; /* with priority buffers, by port: channels with a non-divergent packet at their head */
    uint16_t depth[NETWORK_VCS];           /* flits that a channel buffers */
    uint8_t *distances;                    /* with NETWORK_DISTANCE: [router * routers + router] */
    struct oracle *oracle;                 /* with NETWORK_ORACLE */
    struct congestion *congestion;         /* NULL: none */
    const struct congestion_router *ranks; /* of the router being worked on; NULL: all pairs are equal */
    struct congestion_epoch *epoch;        /* by port: stalls and credits before this epoch */
    struct congestion_epoch *ended;        /* by port: of the epoch that ends */
    struct stalls *stalls;                 /* with critical paths, by port */
    struct link_width *widths;             /* by port */
    uint64_t epoch_clocks, epoch_end; /* epoch_end: the next epoch's first clock; UINT64_MAX: no epochs */
    uint64_t epoch_hops;              /* totals.hops before this epoch */
    uint64_t change;                  /* first clock of a late change of a width; UINT64_MAX: none */
    uint64_t random;                  /* state of the generator for config.fairness */
    uint32_t width_clocks;
    uint32_t *begun; /* with path_priority, by input channel: tick at which its packet came to the head */
    struct network_waits waits;
    uint64_t due; /* the earlier of epoch_end and change */
    bool managed; /* congestion or priority buffers: a flit that leaves a router is looked at */
    bool
        plain_vcs; /* the present router's VA is round robin, without ranks, priority buffers or need of room */
    bool plain_switch; /* so is its SA */
    struct endpoint *nodes;
    struct arrivals *arrivals; /* [node * vcs + vc] */
    struct flit *held;         /* [(node * vcs + vc) * buffer + i] */
    uint32_t *sends;           /* [(node * classes + class) * send_queue + i]: packets */
    struct network_packet *packets;
    uint32_t *free_packets;
    uint32_t free_count, packet_room;
    struct calendar calendar;
    struct workset active_routers, active_nodes; /* in the next clock */
    struct workset busy_routers, busy_nodes;     /* in this clock */
    struct network_totals totals;
    struct network_link_counters *links; /* by port; then of nodes */
    struct network_vc_counters *vc_counters;
    struct observer_list observers;
    struct network_checks *checks; /* NULL: no checks */
};

static uint32_t flit_clocks(uint32_t flit, uint32_t width)
{
    return (flit + width - 1) / width;
}

static inline bool later(uint32_t tick, uint32_t than)
{
    return (int32_t)(tick - than) > 0;
}

/* Makes the network work on a clock, unless it does so earlier. */
static void wake(struct network *network, uint64_t clock)
{
    uint64_t time = clock_time(network->clock, clock);
    if (!event_pending(&network->event) || network->event.time > time)
        event_schedule(network->queue, &network->event, time);
}

static void wake_at(struct network *network, uint64_t now)
{
    if (network->stepping)
        return;
    uint64_t clock = clock_cycle(network->clock, now);
    wake(network, clock > network->next ? clock : network->next);
}

/* Packets. */

static uint32_t packet_new(struct network *network, const struct network_packet *packet)
{
    if (network->free_count == 0) {
        uint32_t room = network->packet_room ? 2 * network->packet_room : 256;
        network->packets = alloc_resize(network->packets, room * sizeof *network->packets);
        network->free_packets = alloc_resize(network->free_packets, room * sizeof *network->free_packets);
        for (uint32_t i = room; i-- > network->packet_room;)
            network->free_packets[network->free_count++] = i;
        network->packet_room = room;
    }
    uint32_t index = network->free_packets[--network->free_count];
    network->packets[index] = *packet;
    return index;
}

/* The checks, declared here and defined below. */
static void check_arrival(struct network *network, uint32_t target, struct flit flit);
static void check_all(struct network *network);

/* Routers: the input side. */

static inline uint32_t set_of(const struct network *network, uint32_t vc)
{
    uint32_t vcs = network->config.vcs, number = vc % network->class_vcs;
    if (network->routing->sets == 1)
        return 0;
    return number >= vcs ? number - vcs : number >= vcs - vcs / 2;
}

/* Notes whether the packet that has come to the head of a channel is urgent, and when it came. */
static __attribute__((noinline, cold)) void note_head(struct network *network, uint32_t in_port, uint32_t vc,
                                                      uint32_t packet, uint32_t tick)
{
    if (network->priority_vcs)
        network->urgent[in_port] =
            (network->urgent[in_port] & ~BIT(vc)) | (network->packets[packet].urgent ? BIT(vc) : 0);
    if (network->begun)
        network->begun[in_port * network->vcs + vc] = tick;
}

/* The head of a packet is at the head of its queue: it begins RC at that tick. */
static inline void begin_packet(struct network *network, struct port *port, uint32_t in_port, uint32_t vc,
                                uint32_t tick)
{
    struct input_vc *input = &network->inputs[in_port * network->vcs + vc];
    const struct flit *flit =
        &network->buffers[(size_t)(in_port * network->vcs + vc) * network->config.buffer + input->first];
    struct router *router = &network->routers[port->router];
    struct route route =
        routing_next(network->routing, network->topology, in_port, set_of(network, vc), flit->value);
    input->out_port = route.port;
    input->group = (uint8_t)(vc / network->class_vcs * network->routing->sets + route.set);
    if (network->managed)
        note_head(network, in_port, vc, flit->packet, tick);
    input->ready = tick + network->head_ticks;
    if (network->config.flow == NETWORK_STORE_AND_FORWARD &&
        input->count < network->packets[flit->packet].flits) {
        input->state = VC_PARTIAL;
        return;
    }
    input->state = VC_ROUTING;
    port->routing |= BIT(vc);
    router->routing |= BIT(in_port - router->first_port);
}

/* An active channel has a flit and a credit. */
static inline void make_ready(struct network *network, struct port *port, uint32_t in_port, uint32_t vc)
{
    struct router *router = &network->routers[port->router];
    port->ready |= BIT(vc);
    router->ready |= BIT(in_port - router->first_port);
}

/* A channel begins to wait for a virtual channel or a credit of an output. */
static inline void begin_wait(struct network *network, struct input_vc *input, uint32_t out_port,
                              uint32_t tick)
{
    input->since = tick;
    if (network->stalls)
        stalls_begin(&network->stalls[out_port], tick);
}

/* Such a wait ends. input: of the network. */
static inline void end_wait(struct network *network, uint32_t input, uint32_t out_port, uint64_t *counter,
                            uint32_t tick)
{
    uint64_t waited = (tick - network->inputs[input].since) / network->speedup;
    *counter += waited;
    network->vc_counters[input].stalls += waited;
    if (network->stalls)
        stalls_end(&network->stalls[out_port], tick);
}

/* A router takes the tracker of a flit. */
static __attribute__((noinline, cold)) struct flit take_tracker(struct network *network, uint32_t in_port,
                                                                struct flit flit)
{
    uint32_t router = network->ports[in_port].router;
    flit.flags &= (uint8_t)~FLIT_TRACKER;
    congestion_arrived(network->congestion, router, in_port - network->routers[router].first_port);
    return flit;
}

static inline void arrive_at_router(struct network *network, uint32_t in_port, struct flit flit,
                                    uint32_t tick)
{
    struct port *port = &network->ports[in_port];
    uint32_t vc = flit.vc, buffer = network->config.buffer;
    struct input_vc *input = &network->inputs[in_port * network->vcs + vc];
    uint32_t at = (uint32_t)input->first + input->count++;
    if (flit.flags & FLIT_TRACKER)
        flit = take_tracker(network, in_port, flit);
    network->buffers[(size_t)(in_port * network->vcs + vc) * buffer + (at < buffer ? at : at - buffer)] =
        flit;
    workset_add(&network->active_routers, port->router);
    if (input->state == VC_IDLE) {
        begin_packet(network, port, in_port, vc, tick);
    } else if (input->state == VC_PARTIAL && flit.flags & FLIT_TAIL) {
        input->state = VC_ROUTING;
        port->routing |= BIT(vc);
        network->routers[port->router].routing |= BIT(in_port - network->routers[port->router].first_port);
    } else if (input->state == VC_ACTIVE && input->count == 1) {
        uint32_t out = network->routers[port->router].first_port + input->out_port;
        if (network->outputs[out * network->vcs + input->out_vc].credits)
            make_ready(network, port, in_port, vc);
        else
            begin_wait(network, input, out, tick);
    }
}

static inline void credit_at_router(struct network *network, uint32_t target, uint32_t tick)
{
    struct output_vc *output = &network->outputs[target];
    uint32_t out_port = target / network->vcs;
    const struct port *port = &network->ports[out_port];
    struct router *router = &network->routers[port->router];
    workset_add(&network->active_routers, port->router);
    if (output->credits++ || output->owner == NO_OWNER)
        return;
    uint32_t in_port = router->first_port + output->owner / network->vcs;
    uint32_t input = router->first_port * network->vcs + output->owner;
    if (network->inputs[input].count == 0)
        return;
    end_wait(network, input, out_port, &network->links[out_port].credit_stalls, tick);
    make_ready(network, &network->ports[in_port], in_port, output->owner % network->vcs);
}

/* The bids of a group for an output: a word of inputs, then a word of channels of each input. Of groups from
 * network->groups on: the urgent ones among those of group - network->groups. */
static inline uint64_t *bids_of(const struct network *network, const struct router *router, uint32_t output,
                                uint32_t group)
{
    uint32_t groups = network->priority_vcs ? 2 * network->groups : network->groups;
    return network->bids + router->bids + (size_t)(output * groups + group) * (1 + router->ports);
}

/* Channels of a port that a group may use: without priority buffers, or these. */
static inline uint64_t channels_of(const struct network *network, const struct port *out, uint32_t group)
{
    return out->node ? network->node_vcs[0][group / network->routing->sets] : network->wire_vcs[0][group];
}

static inline uint64_t buffers_of(const struct network *network, const struct port *out, uint32_t group)
{
    return out->node ? network->node_vcs[1][group / network->routing->sets] : network->wire_vcs[1][group];
}

/* Channels that have finished RC bid for a virtual channel. */
static void finish_routing(struct network *network, struct router *router, uint32_t tick)
{
    for (uint64_t inputs = router->routing; inputs;) {
        uint32_t i = take_bit(&inputs), in_port = router->first_port + i;
        struct port *port = &network->ports[in_port];
        for (uint64_t left = port->routing; left;) {
            uint32_t vc = take_bit(&left);
            struct input_vc *input = &network->inputs[in_port * network->vcs + vc];
            if (later(input->ready, tick))
                continue;
            input->state = VC_WAITING;
            begin_wait(network, input, router->first_port + input->out_port, tick);
            port->routing &= ~BIT(vc);
            uint64_t *bids = bids_of(network, router, input->out_port, input->group);
            bids[0] |= BIT(i);
            bids[1 + i] |= BIT(vc);
            if (network->priority_vcs && network->urgent[in_port] & BIT(vc)) {
                bids = bids_of(network, router, input->out_port, network->groups + input->group);
                bids[0] |= BIT(i);
                bids[1 + i] |= BIT(vc);
            }
            router->waiting |= BIT(input->out_port);
        }
        if (!port->routing)
            router->routing &= ~BIT(i);
    }
}

/* Arbitration by age: the packet made first, then the one of the lowest source. */

static const struct network_packet *packet_at(const struct network *network, uint32_t input)
{
    const struct input_vc *vc = &network->inputs[input];
    return &network->packets[network->buffers[(size_t)input * network->config.buffer + vc->first].packet];
}

static bool older(const struct network *network, uint32_t one, uint32_t other)
{
    const struct network_packet *a = packet_at(network, one), *b = packet_at(network, other);
    return a->time != b->time ? a->time < b->time : a->source < b->source;
}

/* Routers from a packet's source to the router of an input channel. */
static uint32_t distance_of(const struct network *network, uint32_t input)
{
    uint32_t from = topology_node_router(network->topology, packet_at(network, input)->source);
    return network
        ->distances[from * network->topology->router_count + network->ports[input / network->vcs].router];
}

/* Flits that are still to pass from an input channel's port to the output of the packet at its head. */
static uint32_t left_of(const struct network *network, uint32_t input)
{
    uint32_t in_port = input / network->vcs,
             first = network->routers[network->ports[in_port].router].first_port;
    return oracle_left(network->oracle, in_port, first + network->inputs[input].out_port);
}

/* Compares the packets of two input channels of the network. */
static bool goes_first(const struct network *network, enum network_arbitration arbitration, uint32_t one,
                       uint32_t other)
{
    if (arbitration == NETWORK_AGE)
        return older(network, one, other);
    if (arbitration == NETWORK_ORACLE)
        return left_of(network, one) > left_of(network, other);
    return arbitration == NETWORK_DISTANCE && distance_of(network, one) > distance_of(network, other);
}

/* Virtual-channel allocation. Input channels are numbered port * vcs + vc within the router. By age, the free
 * channels of an output go to its oldest packets, the lowest channel first; no pointer moves. */

/* Whether an output channel has room for the packet at the head of an input channel, as its flow control asks. */
static bool has_room(const struct network *network, const struct router *router, uint32_t input,
                     const struct output_vc *output)
{
    return network->config.flow == NETWORK_WORMHOLE ||
           output->credits >= packet_at(network, router->first_port * network->vcs + input)->flits;
}

/* What choosers know. */
struct choice {
    const struct network *network;
    const struct router *router;
};

static inline uint32_t rank_of(const struct choice *choice, uint32_t in, uint32_t out)
{
    return choice->network->ranks ? congestion_rank(choice->network->ranks, in, out) : CONGESTION_NONE;
}

/* Compares two bidders for an output: by the rank of their inputs, by the arbitration, then round robin from `turn`. */
static bool bidder_wins(const struct choice *choice, const struct islip_channels *channels, uint32_t one,
                        uint32_t other, uint32_t turn)
{
    const struct network *network = choice->network;
    uint32_t vcs = network->vcs, base = choice->router->first_port * vcs, total = channels->total;
    uint32_t rank = rank_of(choice, one / vcs, channels->output),
             than = rank_of(choice, other / vcs, channels->output);
    if (rank != than)
        return rank < than;
    if (goes_first(network, network->config.vc_arbitration, base + one, base + other))
        return true;
    if (channels->greedy || goes_first(network, network->config.vc_arbitration, base + other, base + one))
        return false;
    return (one + total - turn) % total < (other + total - turn) % total;
}

/* The chooser of islip_allocate(): the best bidder for which an output channel has room. Of its port, a packet in a priority
 * buffer goes before those in other channels. */
static uint32_t choose_bidder(const void *context, const struct islip_channels *channels,
                              const uint64_t *words, uint32_t channel)
{
    const struct choice *choice = context;
    const struct network *network = choice->network;
    uint32_t vcs = network->vcs, best = ISLIP_NOBODY, turn = channels->grant[channel];
    const struct output_vc *output =
        &network->outputs[(choice->router->first_port + channels->output) * vcs + channel];
    for (uint64_t inputs = words[0]; inputs;) {
        uint32_t i = take_bit(&inputs);
        for (uint64_t left = words[1 + i]; left;) {
            uint32_t input = i * vcs + take_bit(&left);
            if (has_room(network, choice->router, input, output) &&
                (best == ISLIP_NOBODY || bidder_wins(choice, channels, input, best, turn)))
                best = input;
        }
    }
    if (best == ISLIP_NOBODY || network->priority_vcs & BIT(best % vcs))
        return best;
    for (uint64_t left = words[1 + best / vcs] & network->priority_vcs; left;) {
        uint32_t input = best / vcs * vcs + take_bit(&left);
        if (has_room(network, choice->router, input, output))
            return input;
    }
    return best;
}

/* Of free channels of a sender, those with most credits. outputs: the sender's. */
static uint64_t most_credits(const struct output_vc *outputs, uint64_t channels)
{
    uint64_t best = 0;
    uint32_t most = 0;
    while (channels) {
        uint32_t vc = take_bit(&channels);
        if (best && outputs[vc].credits < most)
            continue;
        best = (outputs[vc].credits > most ? 0 : best) | BIT(vc);
        most = outputs[vc].credits;
    }
    return best;
}

/* Leaves the channels with most credits to a bidder (vc_choice). */
static uint64_t leave_most_credits(const void *context, const struct islip_channels *channels,
                                   uint64_t granted)
{
    const struct choice *choice = context;
    return most_credits(
        &choice->network->outputs[(choice->router->first_port + channels->output) * channels->vcs], granted);
}

/* An input channel gets an output channel. */
static void give_vc(struct network *network, struct router *router, uint32_t input, uint32_t out, uint32_t vc,
                    uint32_t tick)
{
    uint32_t vcs = network->vcs, in_port = router->first_port + input / vcs,
             out_port = router->first_port + out;
    struct input_vc *in = &network->inputs[router->first_port * vcs + input];
    struct output_vc *output = &network->outputs[out_port * vcs + vc];
    output->owner = (uint16_t)input;
    network->ports[out_port].free &= ~BIT(vc);
    in->state = VC_ACTIVE;
    in->out_vc = (uint8_t)vc;
    end_wait(network, router->first_port * vcs + input, out_port, &network->links[out_port].vc_stalls, tick);
    if (output->credits)
        make_ready(network, &network->ports[in_port], in_port, input % vcs);
    else
        begin_wait(network, in, out_port, tick + 1);
}

/* Gives free channels of an output to the bidders of a group, which leave `others` too, if that is given. */
static __attribute__((noinline)) void allocate_group(struct network *network, struct router *router,
                                                     uint32_t out, uint64_t *bids, uint64_t *others,
                                                     uint64_t free, uint32_t tick)
{
    const uint32_t vcs = network->vcs, base = router->first_port * vcs, total = router->ports * vcs;
    uint16_t *grant = network->grants + base + out * vcs;
    uint32_t *accept = network->accepts + base;
    const struct choice choice = {network, router};
    const struct islip_channels channels = {
        .vcs = vcs,
        .total = total,
        .iterations = network->config.iterations,
        .output = out,
        .grant = grant,
        .accept = accept,
        .choose = network->plain_vcs ? NULL : choose_bidder,
        .leave = network->config.vc_choice == NETWORK_CREDITS ? leave_most_credits : NULL,
        .context = &choice,
        .greedy = network->config.vc_arbitration == NETWORK_AGE};
    struct islip_grant grants[ISLIP_CHANNELS];
    uint32_t count = islip_allocate(&channels, bids, free, grants);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t input = grants[i].input;
        if (others) {
            others[1 + input / vcs] &= ~BIT(input % vcs);
            if (!others[1 + input / vcs])
                others[0] &= ~BIT(input / vcs);
        }
        give_vc(network, router, input, out, grants[i].vc, tick);
    }
}

/* Free priority buffers of an output with credits. */
static uint64_t open_buffers(const struct network *network, const struct router *router, uint32_t out,
                             uint32_t group)
{
    const struct port *port = &network->ports[router->first_port + out];
    uint64_t open = 0;
    for (uint64_t free = port->free & buffers_of(network, port, group); free;) {
        uint32_t vc = take_bit(&free);
        open |= network->outputs[(router->first_port + out) * network->vcs + vc].credits ? BIT(vc) : 0;
    }
    return open;
}

/* Gives priority buffers to urgent bidders of a group. With priority_shared, others may have those that are left. */
static void allocate_buffers(struct network *network, struct router *router, uint32_t out, uint32_t group,
                             uint64_t *bids, uint64_t *urgent, uint32_t tick)
{
    uint64_t open = open_buffers(network, router, out, group);
    if (urgent[0] && open)
        allocate_group(network, router, out, urgent, bids, open, tick);
    if (!network->config.priority_shared || urgent[0] || !bids[0])
        return;
    open = open_buffers(network, router, out, group);
    if (open)
        allocate_group(network, router, out, bids, urgent, open, tick);
}

/* Gives a channel to a bidder that is alone. */
static inline void allocate_one(struct network *network, struct router *router, uint32_t out, uint64_t *bids,
                                uint64_t free, uint32_t tick)
{
    const uint32_t vcs = network->vcs, base = router->first_port * vcs;
    struct islip_grant one = islip_allocate_one(bids, free, out, vcs, router->ports * vcs,
                                                network->grants + base + out * vcs, network->accepts + base);
    give_vc(network, router, one.input, out, one.vc, tick);
}

static void allocate_vcs(struct network *network, struct router *router, uint32_t tick)
{
    for (uint64_t outputs = router->waiting; outputs;) {
        uint32_t out = take_bit(&outputs);
        const struct port *port = &network->ports[router->first_port + out];
        uint64_t any = 0;
        for (uint32_t group = 0; group < network->groups; group++) {
            uint64_t *bids = bids_of(network, router, out, group), *urgent = NULL;
            if (!bids[0])
                continue;
            uint64_t free = port->free & channels_of(network, port, group);
            if (network->priority_vcs) {
                urgent = bids_of(network, router, out, network->groups + group);
                allocate_buffers(network, router, out, group, bids, urgent, tick);
            }
            if (free && network->plain_vcs && islip_alone(bids))
                allocate_one(network, router, out, bids, free, tick);
            else if (free && bids[0])
                allocate_group(network, router, out, bids, urgent, free, tick);
            any |= bids[0];
        }
        if (!any)
            router->waiting &= ~BIT(out);
    }
}

/* Switch allocation. */

/* Whether the link of an output can take one more flit that crosses the switch from this tick. */
static inline bool link_open(const struct network *network, const struct port *out, uint64_t crossed)
{
    return out->busy <= crossed + (uint64_t)network->config.output_queue * out->flit_clocks;
}

/* Whether a channel of an input bids instead of another one. base: the input's channel 0. */
static inline bool replaces(const struct network *network, enum network_arbitration arbitration,
                            uint32_t base, uint32_t vc, uint32_t other)
{
    bool urgent = network->priority_vcs & BIT(vc);
    if (urgent != ((network->priority_vcs & BIT(other)) != 0))
        return urgent;
    return arbitration != NETWORK_ROUND_ROBIN && goes_first(network, arbitration, base + vc, base + other);
}

/* Adds the bids of some channels of an input. Of several for one output, a priority buffer bids, or the one that the
 * arbitration prefers, or the one at or after the input's turn. */
static inline void bid_channels(const struct network *network, const struct router *router,
                                struct islip_switch *match, uint32_t i, uint64_t channels, uint64_t taken,
                                uint64_t crossed)
{
    uint32_t in_port = router->first_port + i;
    uint32_t turn = network->ports[in_port].turn;
    enum network_arbitration arbitration = network->config.switch_arbitration;
    uint64_t high = channels >> turn << turn, low = channels ^ high;
    while (high | low) {
        uint32_t vc = take_bit(high ? &high : &low), base = in_port * network->vcs;
        uint32_t out = network->inputs[base + vc].out_port;
        if (taken & BIT(out))
            continue;
        bool again = islip_bids(match, i, out);
        if (again ? network->plain_switch || !replaces(network, arbitration, base, vc, match->vc[i][out])
                  : !link_open(network, &network->ports[router->first_port + out], crossed))
            continue;
        islip_bid(match, i, out, vc);
    }
}

/* The channels of `waiting` that may speculate: a free channel of the output that they want has a credit, or room for
 * the packet if the flow control asks for that. Without room, no virtual channel would be given, and an old packet
 * could keep the switch from others for ever. */
static uint64_t speculating(const struct network *network, const struct router *router, uint32_t out,
                            uint32_t group, uint32_t i, uint64_t waiting)
{
    const struct port *port = &network->ports[router->first_port + out];
    const struct output_vc *outputs = &network->outputs[(router->first_port + out) * network->vcs];
    uint64_t able = 0;
    for (uint64_t free = port->free & channels_of(network, port, group); free && able != waiting;) {
        const struct output_vc *output = &outputs[take_bit(&free)];
        if (!output->credits)
            continue;
        if (network->config.flow == NETWORK_WORMHOLE)
            return waiting;
        for (uint64_t left = waiting & ~able; left;) {
            uint32_t vc = take_bit(&left);
            able |= has_room(network, router, i * network->vcs + vc, output) ? BIT(vc) : 0;
        }
    }
    return able;
}

/* Adds the bids of packets that wait for a virtual channel, where no packet with one bids. */
static void bid_speculatively(const struct network *network, const struct router *router,
                              struct islip_switch *match, uint64_t crossed)
{
    uint64_t waiting[TOPOLOGY_PORTS], inputs = 0; /* channels by input */
    for (uint64_t outputs = router->waiting; outputs;) {
        uint32_t out = take_bit(&outputs);
        for (uint32_t group = 0; group < network->groups; group++) {
            const uint64_t *bids = bids_of(network, router, out, group);
            for (uint64_t left = bids[0]; left;) {
                uint32_t i = take_bit(&left);
                uint64_t able = speculating(network, router, out, group, i, bids[1 + i]);
                waiting[i] = (inputs & BIT(i) ? waiting[i] : 0) | able;
                inputs |= able ? BIT(i) : 0;
            }
        }
    }
    while (inputs) {
        uint32_t i = take_bit(&inputs);
        uint64_t taken = match->inputs & BIT(i) ? match->by_input[i] : 0;
        bid_channels(network, router, match, i, waiting[i], taken, crossed);
    }
}

/* The chooser of islip_match(): by rank, then a priority buffer of the same input, then by the arbitration. */

static uint64_t best_inputs(const void *context, const struct islip_switch *match, uint32_t out,
                            uint64_t inputs)
{
    const struct choice *choice = context;
    const struct network *network = choice->network;
    enum network_arbitration arbitration = network->config.switch_arbitration;
    uint32_t best = take_bit(&inputs), rank = rank_of(choice, best, out), vcs = network->vcs;
    const uint32_t base = choice->router->first_port;
    uint64_t equal = BIT(best);
    while (inputs) {
        uint32_t i = take_bit(&inputs), other = rank_of(choice, i, out);
        uint32_t one = (base + i) * vcs + match->vc[i][out], two = (base + best) * vcs + match->vc[best][out];
        if (other < rank || (other == rank && goes_first(network, arbitration, one, two))) {
            best = i;
            rank = other;
            equal = BIT(i);
        } else if (other == rank && arbitration != NETWORK_AGE &&
                   !goes_first(network, arbitration, two, one)) {
            equal |= BIT(i);
        }
    }
    return equal;
}

static uint64_t best_outputs(const void *context, const struct islip_switch *match, uint32_t i,
                             uint64_t outputs)
{
    const struct choice *choice = context;
    const struct network *network = choice->network;
    enum network_arbitration arbitration = network->config.switch_arbitration;
    const uint32_t base = (choice->router->first_port + i) * network->vcs;
    uint32_t best = ISLIP_PORTS;
    uint64_t equal = 0;
    while (outputs) {
        uint32_t out = take_bit(&outputs);
        uint32_t rank = rank_of(choice, i, out), than = equal ? rank_of(choice, i, best) : 0;
        bool urgent = network->priority_vcs & BIT(match->vc[i][out]);
        bool other = equal && network->priority_vcs & BIT(match->vc[i][best]);
        bool same = equal && rank == than && urgent == other;
        if (!equal || rank < than || (rank == than && urgent && !other) ||
            (same && goes_first(network, arbitration, base + match->vc[i][out], base + match->vc[i][best]))) {
            best = out;
            equal = BIT(out);
        } else if (same && arbitration != NETWORK_AGE &&
                   !goes_first(network, arbitration, base + match->vc[i][best], base + match->vc[i][out])) {
            equal |= BIT(out);
        }
    }
    return equal;
}

/* Matches inputs and outputs. Returns the matched inputs. */
static uint64_t match_switch(struct network *network, const struct router *router, struct islip_switch *match)
{
    const struct choice choice = {network, router};
    const struct islip_chooser chooser = {best_inputs, best_outputs, &choice};
    return islip_match(match, &network->turns[router->first_port], router->ports, network->config.iterations,
                       network->plain_switch ? NULL : &chooser);
}

static void tell_hop(const struct network *network, const struct router *router, uint32_t i, uint32_t vc,
                     const struct input_vc *input, struct flit flit)
{
    const struct network_hop hop = {.clock = network->now,
                                    .in_port = router->first_port + i,
                                    .out_port = router->first_port + input->out_port,
                                    .in_vc = (uint8_t)vc,
                                    .out_vc = input->out_vc,
                                    .head = flit.flags & FLIT_HEAD,
                                    .tail = flit.flags & FLIT_TAIL,
                                    .flit = flit.flags & FLIT_HEAD ? 0 : flit.value};
    OBSERVER_TELL(&network->observers, struct network_observer, hop, &hop, &network->packets[flit.packet]);
}

/* Looks at a flit that leaves: whether it carries a tracker, and how its packet was treated. Returns it. */
static __attribute__((noinline, cold)) struct flit manage(struct network *network, struct router *router,
                                                          uint32_t i, uint32_t vc, uint32_t out,
                                                          struct flit flit, uint32_t tick)
{
    uint32_t number = (uint32_t)(router - network->routers), in_port = router->first_port + i;
    if (network->priority_vcs && network->urgent[in_port] & BIT(vc)) {
        network->totals.urgent++;
        network->totals.buffered += (network->priority_vcs & BIT(vc)) != 0;
    }
    if (network->begun && flit.flags & FLIT_HEAD) {
        struct network_waits *waits = &network->waits;
        uint64_t clocks = (tick - network->begun[in_port * network->vcs + vc]) / network->speedup;
        bool critical = congestion_rank(&network->congestion->routers[number], i, out) != CONGESTION_NONE;
        waits->packets[critical]++;
        waits->clocks[critical] += clocks;
        waits->longest[critical] = clocks > waits->longest[critical] ? clocks : waits->longest[critical];
    }
    if (network->congestion && congestion_pends(network->congestion, number, out)) {
        congestion_send(network->congestion, number, out);
        if (!network->ports[router->first_port + out].node)
            flit.flags |= FLIT_TRACKER;
    }
    return flit;
}

/* Sends the flit at the head of an input channel over the switch and the link. */
static inline void forward(struct network *network, struct router *router, uint32_t i, uint32_t vc,
                           uint64_t tick, uint64_t crossed)
{
    uint32_t vcs = network->vcs, in_port = router->first_port + i;
    struct port *in = &network->ports[in_port];
    struct input_vc *input = &network->inputs[in_port * vcs + vc];
    struct flit flit = network->buffers[(size_t)(in_port * vcs + vc) * network->config.buffer + input->first];
    uint32_t out_port = router->first_port + input->out_port;
    struct port *out = &network->ports[out_port];
    struct output_vc *output = &network->outputs[out_port * vcs + input->out_vc];
    if (network->observers.first)
        tell_hop(network, router, i, vc, input, flit);
    if (network->oracle)
        oracle_passed(network->oracle, in_port, out_port);
    if (network->managed)
        flit = manage(network, router, i, vc, input->out_port, flit, (uint32_t)tick);
    input->first = (uint16_t)(input->first + 1 == (uint16_t)network->config.buffer ? 0 : input->first + 1);
    input->count--;
    output->credits--;
    uint64_t depart = crossed > out->busy ? crossed : out->busy;
    out->busy = depart + out->flit_clocks;
    flit.vc = input->out_vc;
    calendar_post_flit(&network->calendar, depart + out->latency + out->flit_clocks, out->peer, flit);
    uint64_t leaves = tick + network->config.switch_clocks - 1;
    if (network->speedup > 1)
        leaves /= network->speedup;
    calendar_post_credit(&network->calendar,
                         leaves + in->latency + 1 + (in->node ? 0 : network->config.credit_clocks),
                         in->peer * vcs + vc);
    network->links[out_port].flits++;
    network->links[out_port].busy += out->flit_clocks;
    network->vc_counters[in_port * vcs + vc].flits++;
    network->totals.hops++;
    network->totals.wire_flits += !out->node;
    if (flit.flags & FLIT_TAIL) {
        output->owner = NO_OWNER;
        out->free |= BIT(input->out_vc);
        input->state = VC_IDLE;
        in->ready &= ~BIT(vc);
        if (input->count)
            begin_packet(network, in, in_port, vc, (uint32_t)tick + 1);
    } else if (input->count == 0) {
        in->ready &= ~BIT(vc);
    } else if (output->credits == 0) {
        in->ready &= ~BIT(vc);
        begin_wait(network, input, out_port, (uint32_t)tick + 1);
    }
    if (!in->ready)
        router->ready &= ~BIT(i);
}

/* Whether a bidder of a group could get a priority buffer. */
static bool can_buffer(const struct network *network, const struct router *router, uint32_t out,
                       uint32_t group)
{
    return network->priority_vcs &&
           (network->config.priority_shared || bids_of(network, router, out, network->groups + group)[0]) &&
           open_buffers(network, router, out, group);
}

/* Whether a waiting channel could get one. */
static bool can_allocate(const struct network *network, const struct router *router)
{
    for (uint64_t outputs = router->waiting; outputs;) {
        uint32_t out = take_bit(&outputs);
        const struct port *port = &network->ports[router->first_port + out];
        for (uint32_t group = 0; group < network->groups; group++)
            if (bids_of(network, router, out, group)[0] &&
                (port->free & channels_of(network, port, group) || can_buffer(network, router, out, group)))
                return true;
    }
    return false;
}

static bool plain_vcs(const struct network *network)
{
    return network->config.vc_arbitration == NETWORK_ROUND_ROBIN &&
           network->config.flow == NETWORK_WORMHOLE && !network->priority_vcs &&
           network->config.vc_choice == NETWORK_TURN;
}

static bool plain_switch(const struct network *network)
{
    return network->config.switch_arbitration == NETWORK_ROUND_ROBIN && !network->priority_vcs;
}

/* Sets whether and how the packets of a router go by the ranks of its pairs in this clock. */
static void set_ranks(struct network *network, const struct router *router)
{
    const struct congestion_router *ranks = &network->congestion->routers[router - network->routers];
    uint64_t *random = &network->random; /* xorshift64 (Marsaglia, 2003) */
    network->ranks = ranks->pair_count ? ranks : NULL;
    if (network->ranks && network->config.fairness) {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        if ((*random >> 32) * 100 >> 32 < network->config.fairness)
            network->ranks = NULL;
    }
    network->plain_vcs = !network->ranks && plain_vcs(network);
    network->plain_switch = !network->ranks && plain_switch(network);
}

/* Counts the stalls of flits whose link is busy with the one before. */
static void note_busy_links(struct network *network, const struct router *router, uint32_t tick,
                            uint64_t crossed)
{
    for (uint64_t inputs = router->ready; inputs;) {
        uint32_t in_port = router->first_port + take_bit(&inputs);
        for (uint64_t left = network->ports[in_port].ready; left;) {
            uint32_t vc = take_bit(&left);
            uint32_t out = router->first_port + network->inputs[in_port * network->vcs + vc].out_port;
            if (!link_open(network, &network->ports[out], crossed))
                stalls_note(&network->stalls[out], tick);
        }
    }
}

/* One clock of a router's pipeline. The switch serves channels that were active before this clock. */
static void step_router(struct network *network, struct router *router, uint64_t tick)
{
    struct islip_switch match;
    islip_begin(&match);
    uint64_t crossed = tick + network->config.switch_clocks - 1 + network->config.traversal_clocks;
    if (network->speedup > 1)
        crossed /= network->speedup;
    if (network->config.path_priority)
        set_ranks(network, router);
    if (router->routing)
        finish_routing(network, router, (uint32_t)tick);
    if (network->stalls)
        note_busy_links(network, router, (uint32_t)tick, crossed);
    for (uint64_t inputs = router->ready; inputs;) {
        uint32_t i = take_bit(&inputs);
        bid_channels(network, router, &match, i, network->ports[router->first_port + i].ready, 0, crossed);
    }
    if (router->waiting) {
        if (network->config.speculative)
            bid_speculatively(network, router, &match, crossed);
        allocate_vcs(network, router, (uint32_t)tick);
    }
    if (!match.outputs)
        return;
    for (uint64_t matched = match_switch(network, router, &match); matched;) {
        uint32_t i = take_bit(&matched), vc = match.vc[i][match.out[i]];
        struct port *in = &network->ports[router->first_port + i];
        if (!(network->priority_vcs & BIT(vc)))
            in->turn = (uint8_t)(vc + 1 == network->vcs ? 0 : vc + 1);
        if (in->ready & BIT(vc)) /* else a speculation that failed */
            forward(network, router, i, vc, tick, crossed);
    }
}

/* Nodes. */

/* The flit of a refused packet's channel is taken: its buffer is free. */
static inline void return_credit(struct network *network, const struct endpoint *node, uint32_t vc)
{
    calendar_post_credit(&network->calendar, network->now + node->latency + 1 + network->config.credit_clocks,
                         node->port * network->vcs + vc);
}

/* Offers a packet to the client. */
static bool deliver(struct network *network, struct endpoint *node, uint32_t vc, uint32_t packet)
{
    struct network_packet copy = network->packets[packet];
    if (!network->client.deliver(network->client.context, &copy, clock_time(network->clock, network->now))) {
        network->totals.refusals++;
        if (!(node->blocked & BIT(vc))) {
            node->blocked |= BIT(vc);
            node->refused[node->refused_count++] = (uint8_t)vc;
            uint32_t number = (uint32_t)(node - network->nodes);
            network->arrivals[number * network->vcs + vc].packet = packet;
        }
        return false;
    }
    network->totals.delivered++;
    network->free_packets[network->free_count++] = packet;
    return true;
}

/* A node takes a flit: the packet is complete with its last one. */
static void absorb(struct network *network, struct endpoint *node, struct flit flit)
{
    network->totals.flits_left++;
    return_credit(network, node, flit.vc);
    if (flit.flags & FLIT_TAIL)
        (void)deliver(network, node, flit.vc, flit.packet);
}

static void arrive_at_node(struct network *network, uint32_t number, struct flit flit)
{
    struct endpoint *node = &network->nodes[number];
    if (!(node->blocked & BIT(flit.vc))) {
        absorb(network, node, flit);
        return;
    }
    struct arrivals *held = &network->arrivals[number * network->vcs + flit.vc];
    uint32_t at = (uint32_t)held->first + held->count++, buffer = network->config.buffer;
    network->held[(size_t)(number * network->vcs + flit.vc) * buffer + (at < buffer ? at : at - buffer)] =
        flit;
}

/* Offers refused packets of the classes in `retry` again, in the order of their refusal, and takes the flits behind those
 * that are accepted. */
static void retry(struct network *network, uint32_t number)
{
    struct endpoint *node = &network->nodes[number];
    uint32_t count = node->refused_count, buffer = network->config.buffer, classes = node->retry;
    uint8_t order[NETWORK_VCS];
    memcpy(order, node->refused, sizeof order);
    node->refused_count = 0;
    node->retry = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t vc = order[k], class = vc / network->class_vcs;
        struct arrivals *held = &network->arrivals[number * network->vcs + vc];
        if (!(classes & 1U << class) || !deliver(network, node, vc, held->packet)) {
            node->refused[node->refused_count++] = (uint8_t)vc;
            continue;
        }
        node->blocked &= ~BIT(vc);
        while (held->count && !(node->blocked & BIT(vc))) {
            struct flit flit = network->held[(size_t)(number * network->vcs + vc) * buffer + held->first];
            held->first = (uint16_t)(held->first + 1 == (uint16_t)buffer ? 0 : held->first + 1);
            held->count--;
            absorb(network, node, flit);
        }
    }
}

static inline uint32_t *send_queue(const struct network *network, uint32_t number, uint32_t class)
{
    return network->sends + (size_t)(number * network->config.classes + class) * network->config.send_queue;
}

/* The channel on which the next flit of a class can leave, or NO_OWNER. */
static uint32_t sending_vc(const struct network *network, const struct endpoint *node, uint32_t number,
                           uint32_t class)
{
    const struct output_vc *outputs =
        &network->outputs[(size_t)(network->topology->port_count + number) * network->vcs];
    if (node->count[class] == 0)
        return NO_OWNER;
    if (node->sent[class])
        return outputs[node->vc[class]].credits ? node->vc[class] : NO_OWNER;
    uint32_t room = 1;
    if (network->config.flow != NETWORK_WORMHOLE)
        room = network->packets[send_queue(network, number, class)[node->first[class]]].flits;
    if (network->priority_vcs &&
        network->packets[send_queue(network, number, class)[node->first[class]]].urgent) {
        for (uint64_t left = node->free & network->node_vcs[1][class]; left;) {
            uint32_t vc = take_bit(&left);
            if (outputs[vc].credits >= room)
                return vc;
        }
    }
    uint64_t free = node->free & network->node_vcs[0][class];
    if (network->config.vc_choice == NETWORK_CREDITS)
        free = most_credits(outputs, free);
    for (uint64_t high = free >> node->last_vc[class] >> 1 << 1 << node->last_vc[class], low = free ^ high;
         high | low;) {
        uint32_t vc = take_bit(high ? &high : &low);
        if (outputs[vc].credits >= room)
            return vc;
    }
    return NO_OWNER;
}

static void send_flit(struct network *network, struct endpoint *node, uint32_t number, uint32_t class,
                      uint32_t vc)
{
    uint32_t index = send_queue(network, number, class)[node->first[class]];
    struct network_packet *packet = &network->packets[index];
    uint32_t from = network->topology->port_count + number;
    bool head = node->sent[class] == 0, tail = node->sent[class] + 1U == packet->flits;
    struct flit flit = {.packet = index,
                        .value = head ? (uint16_t)packet->destination : node->sent[class],
                        .vc = (uint8_t)vc,
                        .flags = (uint8_t)((head ? FLIT_HEAD : 0) | (tail ? FLIT_TAIL : 0))};
    if (head) {
        packet->entered = network->now;
        node->vc[class] = (uint8_t)vc;
        if (!(network->priority_vcs & BIT(vc)))
            node->last_vc[class] = (uint8_t)vc;
        node->free &= ~BIT(vc);
    }
    network->outputs[(size_t)from * network->vcs + vc].credits--;
    node->last_class = (uint8_t) class;
    node->busy = network->now + node->flit_clocks;
    calendar_post_flit(&network->calendar, network->now + node->latency + node->flit_clocks, node->port,
                       flit);
    network->totals.flits_entered++;
    network->links[from].flits++;
    network->links[from].busy += node->flit_clocks;
    node->sent[class]++;
    if (!tail)
        return;
    node->free |= BIT(vc);
    node->sent[class] = 0;
    node->first[class] = node->first[class] + 1 == network->config.send_queue ? 0 : node->first[class] + 1;
    if (node->count[class]-- == network->config.send_queue && network->client.room)
        network->client.room(network->client.context, number, class,
                             clock_time(network->clock, network->now));
}

/* Sends a flit of the class whose turn it is. Returns whether the node has more to do without a credit. */
static bool step_node(struct network *network, uint32_t number)
{
    struct endpoint *node = &network->nodes[number];
    if (node->retry)
        retry(network, number);
    uint32_t classes = network->config.classes, able = 0;
    bool sent = node->busy > network->now;
    for (uint32_t i = 1; i <= classes; i++) {
        uint32_t class = (node->last_class + i) % classes;
        uint32_t vc = sending_vc(network, node, number, class);
        if (vc == NO_OWNER)
            continue;
        able++;
        if (sent)
            continue;
        send_flit(network, node, number, class, vc);
        sent = true;
        able = 0;
        i = 0; /* look again, from the class after this one, for more to send */
    }
    return able > 0;
}

/* Epochs and widths of links. */

static uint64_t idle_of(const struct network *network, uint32_t port, uint64_t clock)
{
    const struct link_width *width = &network->widths[port];
    const struct network_link_counters *link = &network->links[port];
    uint64_t occupied = link->busy - link->stopped - width->occupied, clocks = clock - width->since;
    uint64_t bits = UINT64_C(8) * network->topology->ports[port].width / width->parts;
    return width->idle + (clocks > occupied ? (clocks - occupied) * bits : 0);
}

/* Gives a link another width from a clock on. A stopped link uses the energy of an idle one. */
static void change_width(struct network *network, uint32_t number, uint32_t parts, uint32_t pause,
                         uint64_t clock)
{
    struct port *port = &network->ports[number];
    struct link_width *width = &network->widths[number];
    struct network_link_counters *link = &network->links[number];
    uint64_t from = port->busy > clock ? port->busy : clock;
    width->idle = idle_of(network, number, clock);
    width->since = clock;
    width->occupied = link->busy - link->stopped;
    width->parts = (uint8_t)parts;
    port->flit_clocks =
        (uint16_t)flit_clocks(network->config.flit * parts, network->topology->ports[number].width);
    port->busy = from + pause;
    link->busy += pause;
    link->stopped += pause;
    link->changes++;
}

/* Applies late changes of widths that are due at a clock. */
static void apply_changes(struct network *network, uint64_t clock)
{
    network->change = UINT64_MAX;
    for (uint32_t p = 0; p < network->topology->port_count; p++) {
        struct link_width *width = &network->widths[p];
        if (width->at <= clock) {
            change_width(network, p, width->next, 0, width->at);
            width->at = UINT64_MAX;
        }
        network->change = width->at < network->change ? width->at : network->change;
    }
}

/* Counts the stalls so far of heads that wait. */
static void count_waiting(struct network *network, const struct router *router, uint32_t input, uint32_t tick)
{
    struct input_vc *in = &network->inputs[router->first_port * network->vcs + input];
    uint32_t out_port = router->first_port + in->out_port;
    bool waits = in->state == VC_WAITING;
    bool blocked = in->state == VC_ACTIVE && in->count &&
                   !network->outputs[out_port * network->vcs + in->out_vc].credits;
    if ((!waits && !blocked) || !later(tick, in->since))
        return;
    uint32_t waited = (tick - in->since) / network->speedup;
    in->since += waited * network->speedup;
    *(waits ? &network->links[out_port].vc_stalls : &network->links[out_port].credit_stalls) += waited;
    network->vc_counters[router->first_port * network->vcs + input].stalls += waited;
}

/* Chooses the width of an off-chip link for the next epoch. */
static void adapt_width(struct network *network, uint32_t number, const struct congestion_router *router,
                        const struct congestion_epoch *epoch, uint64_t most, uint64_t clock)
{
    const struct topology_port *port = &network->topology->ports[number];
    struct link_width *width = &network->widths[number];
    if (port->wire == TOPOLOGY_NO_WIRE || !network->topology->wires[port->wire].off_chip)
        return;
    uint64_t flits = network->epoch_clocks / flit_clocks(network->config.flit, port->width);
    bool critical = router->critical & BIT(number - router->first_port);
    uint32_t parts =
        congestion_width(critical, width->parts, epoch, flits, most, network->config.width_threshold);
    if (parts == width->parts)
        return;
    if (network->config.width_change == NETWORK_STOP) {
        change_width(network, number, parts, network->width_clocks, clock);
        return;
    }
    width->next = (uint8_t)parts;
    width->at = clock + network->width_clocks;
    network->change = width->at < network->change ? width->at : network->change;
}

static void adapt_widths(struct network *network, const struct congestion_router *router, uint64_t clock)
{
    uint64_t most = 0;
    for (uint32_t p = router->first_port; p < router->first_port + router->ports; p++)
        most = network->ended[p].stalls > most ? network->ended[p].stalls : most;
    for (uint32_t p = router->first_port; p < router->first_port + router->ports; p++)
        adapt_width(network, p, router, &network->ended[p], most, clock);
}

static uint64_t credits_of(const struct network *network, uint32_t port)
{
    uint64_t credits = 0;
    for (uint32_t vc = 0; vc < network->vcs; vc++)
        credits += network->outputs[port * network->vcs + vc].credits;
    return credits;
}

/* The stalls of an output so far. */
static uint64_t stalls_of(const struct network *network, uint32_t port)
{
    const struct network_link_counters *link = &network->links[port];
    return network->config.stalls == NETWORK_HEADS ? link->credit_stalls + link->vc_stalls
                                                   : network->stalls[port].ticks / network->speedup;
}

/* Ends the epoch whose end is `clock`. */
static void end_epoch(struct network *network, uint64_t clock)
{
    uint32_t tick = (uint32_t)(clock * network->speedup);
    network->epoch_end += network->epoch_clocks;
    for (uint32_t p = 0; p < network->topology->port_count; p++)
        stalls_settle(&network->stalls[p], tick);
    if (network->totals.hops == network->epoch_hops && !network->config.idle_epochs)
        return;
    network->epoch_hops = network->totals.hops;
    for (uint32_t r = 0; r < network->topology->router_count; r++)
        for (uint32_t input = 0; input < network->routers[r].ports * network->vcs; input++)
            count_waiting(network, &network->routers[r], input, tick);
    for (uint32_t p = 0; p < network->topology->port_count; p++) {
        const struct network_link_counters *link = &network->links[p];
        uint64_t stalls = stalls_of(network, p);
        uint64_t credits = credits_of(network, p) + link->flits; /* each flit has taken one */
        network->ended[p] =
            (struct congestion_epoch){stalls - network->epoch[p].stalls, credits - network->epoch[p].credits};
        network->epoch[p] = (struct congestion_epoch){stalls, credits};
    }
    for (uint32_t r = 0; network->config.link_widths && r < network->topology->router_count; r++)
        adapt_widths(network, &network->congestion->routers[r], clock);
    congestion_end_epoch(network->congestion, network->ended);
}

static void set_due(struct network *network)
{
    network->due = network->change < network->epoch_end ? network->change : network->epoch_end;
}

/* Does what is due next: the end of an epoch, or late changes of widths. */
static void pass_time(struct network *network)
{
    if (network->change <= network->epoch_end)
        apply_changes(network, network->change);
    else
        end_epoch(network, network->epoch_end);
    set_due(network);
}

/* The clock. */

static void take_arrivals(struct network *network, uint32_t tick)
{
    struct calendar_slot *slot = calendar_take(&network->calendar, network->now);
    uint32_t ports = network->topology->port_count;
    if (!slot)
        return;
    for (uint32_t k = 0; k < slot->credit_count; k++) {
        uint32_t target = slot->credits[k];
        if (target < ports * network->vcs) {
            credit_at_router(network, target, tick);
        } else {
            network->outputs[target].credits++;
            workset_add(&network->active_nodes, target / network->vcs - ports);
        }
    }
    for (uint32_t k = 0; k < slot->flit_count; k++) {
        const struct flit_arrival *arrival = &slot->flits[k];
        if (network->checks)
            check_arrival(network, arrival->target, arrival->flit);
        if (arrival->target < ports)
            arrive_at_router(network, arrival->target, arrival->flit, tick);
        else
            arrive_at_node(network, arrival->target - ports, arrival->flit);
    }
    calendar_taken(&network->calendar, slot);
}

static void step_nodes(struct network *network)
{
    uint64_t word = 0;
    workset_begin(&network->active_nodes, &network->busy_nodes);
    for (uint32_t group = 0, first;
         (first = workset_take(&network->busy_nodes, &group, &word)) != UINT32_MAX;)
        while (word) {
            uint32_t number = first + take_bit(&word);
            if (step_node(network, number))
                workset_add(&network->active_nodes, number);
        }
}

static void step_routers(struct network *network)
{
    uint64_t word = 0;
    workset_begin(&network->active_routers, &network->busy_routers);
    for (uint32_t group = 0, first;
         (first = workset_take(&network->busy_routers, &group, &word)) != UINT32_MAX;)
        while (word) {
            uint32_t number = first + take_bit(&word);
            struct router *router = &network->routers[number];
            for (uint32_t part = 0; part < network->speedup; part++)
                step_router(network, router, network->now * network->speedup + part);
            if (router->ready || router->routing || can_allocate(network, router))
                workset_add(&network->active_routers, number);
        }
}

static void step(void *owner, uint64_t time)
{
    struct network *network = owner;
    network->stepping = true;
    network->now = time / network->clock->period;
    network->totals.clocks++;
    while (network->now >= network->due)
        pass_time(network);
    take_arrivals(network, (uint32_t)(network->now * network->speedup));
    step_nodes(network);
    step_routers(network);
    if (network->checks)
        check_all(network);
    network->stepping = false;
    network->next = network->now + 1;
    if (network->active_routers.any || network->active_nodes.any) {
        wake(network, network->next);
        return;
    }
    uint64_t clock = calendar_next(&network->calendar, network->next);
    if (clock != CLOCK_NEVER)
        wake(network, clock);
}

/* Interface. */

bool network_send(struct network *network, const struct network_packet *packet, uint64_t now)
{
    struct endpoint *node = &network->nodes[packet->source];
    uint32_t class = packet->class, size = network->config.send_queue;
    if (node->count[class] == size)
        return false;
    uint32_t at = node->first[class] + node->count[class]++;
    send_queue(network, packet->source, class)[at < size ? at : at - size] = packet_new(network, packet);
    network->totals.sent++;
    if (network->oracle)
        oracle_sent(network->oracle, packet->source, packet->destination, packet->flits);
    workset_add(&network->active_nodes, packet->source);
    wake_at(network, now);
    return true;
}

bool network_has_room(const struct network *network, uint32_t node, uint32_t class)
{
    return network->nodes[node].count[class] < network->config.send_queue;
}

void network_unblock(struct network *network, uint32_t node, uint32_t class, uint64_t now)
{
    if (!(network->nodes[node].blocked & (network->node_vcs[0][class] | network->node_vcs[1][class])))
        return;
    network->nodes[node].retry |= (uint8_t)(1U << class);
    workset_add(&network->active_nodes, node);
    wake_at(network, now);
}

void network_set_width(struct network *network, uint32_t number, uint32_t parts, uint32_t pause, uint64_t now)
{
    change_width(network, number, parts, pause, clock_cycle(network->clock, now));
}

uint32_t network_width(const struct network *network, uint32_t port)
{
    return network->widths[port].parts;
}

void network_sync(struct network *network, uint64_t now)
{
    uint64_t clock = now / network->clock->period;
    while (clock >= network->due)
        pass_time(network);
}

const struct congestion *network_congestion(const struct network *network)
{
    return network->congestion;
}

const struct network_waits *network_waits(const struct network *network)
{
    return &network->waits;
}

void network_observe(struct network *network, struct network_observer *observer)
{
    observer_add(&network->observers, &observer->link);
}

const struct network_totals *network_totals(const struct network *network)
{
    return &network->totals;
}

const struct network_link_counters *network_link(const struct network *network, uint32_t port)
{
    return &network->links[port];
}

const struct network_vc_counters *network_vc(const struct network *network, uint32_t port, uint32_t vc)
{
    return &network->vc_counters[port * network->vcs + vc];
}

uint32_t network_vc_count(const struct network *network)
{
    return network->vcs;
}

uint64_t network_in_flight(const struct network *network)
{
    return network->totals.flits_entered - network->totals.flits_left;
}

/* Checks of every clock. */

/* The packet that a channel is in the middle of. */
struct passage {
    uint32_t packet;
    uint32_t next; /* number of its next flit; 0: between packets */
};

struct network_checks {
    struct passage *passages; /* [target * vcs + vc] */
    uint32_t *under_way;      /* flits and credits on the wire, by receiving channel of the flits */
};

static _Noreturn void broken(const struct network *network, const char *what, uint32_t target, uint32_t vc)
{
    (void)fprintf(stderr, "network: clock %" PRIu64 ", port %u, virtual channel %u: %s\n", network->now,
                  target, vc, what);
    abort();
}

static void check_arrival(struct network *network, uint32_t target, struct flit flit)
{
    struct passage *passage = &network->checks->passages[target * network->vcs + flit.vc];
    const struct network_packet *packet = &network->packets[flit.packet];
    bool head = flit.flags & FLIT_HEAD;
    if (head != (passage->next == 0) ||
        (!head && (flit.packet != passage->packet || flit.value != passage->next)))
        broken(network, "a flit is out of order", target, flit.vc);
    if (flit.vc / network->class_vcs != packet->class)
        broken(network, "a packet is in a channel of another class", target, flit.vc);
    if (network->priority_vcs & BIT(flit.vc) && !packet->urgent && !network->config.priority_shared)
        broken(network, "a divergent packet is in a priority buffer", target, flit.vc);
    passage->packet = flit.packet;
    passage->next++;
    if (((flit.flags & FLIT_TAIL) != 0) != (passage->next == packet->flits))
        broken(network, "a packet has too few or too many flits", target, flit.vc);
    if (flit.flags & FLIT_TAIL)
        passage->next = 0;
    uint32_t ports = network->topology->port_count;
    if (target >= ports && packet->destination != target - ports)
        broken(network, "a packet is at a wrong node", target, flit.vc);
}

/* The output channel that sends to an input channel of a port, or of a node. */
static uint32_t sender_of(const struct network *network, uint32_t target, uint32_t vc)
{
    uint32_t ports = network->topology->port_count;
    uint32_t from = target < ports ? network->topology->ports[target].peer
                                   : network->topology->node_ports[target - ports];
    return from * network->vcs + vc;
}

static void check_credits(const struct network *network, uint32_t target, uint32_t vc)
{
    uint32_t ports = network->topology->port_count, place = target * network->vcs + vc;
    uint32_t sender = sender_of(network, target, vc);
    uint32_t held =
        target < ports ? network->inputs[place].count : network->arrivals[place - ports * network->vcs].count;
    if (held + network->checks->under_way[place] + network->outputs[sender].credits != network->depth[vc])
        broken(network, "credits and flits do not add up to the buffer", target, vc);
}

static void check_owner(const struct network *network, uint32_t out_port, uint32_t vc)
{
    const struct port *port = &network->ports[out_port];
    const struct router *router = &network->routers[port->router];
    uint32_t owner = network->outputs[out_port * network->vcs + vc].owner;
    if ((owner == NO_OWNER) != ((port->free >> vc & 1) != 0))
        broken(network, "a channel is both free and in use", out_port, vc);
    if (owner == NO_OWNER)
        return;
    const struct input_vc *input = &network->inputs[router->first_port * network->vcs + owner];
    if (input->state != VC_ACTIVE || input->out_vc != vc || router->first_port + input->out_port != out_port)
        broken(network, "a channel is in use by a packet that does not have it", out_port, vc);
    const struct port *in = &network->ports[router->first_port + owner / network->vcs];
    bool ready = input->count && network->outputs[out_port * network->vcs + vc].credits;
    if (ready != ((in->ready >> owner % network->vcs & 1) != 0))
        broken(network, "a channel bids without a flit or a credit, or does not bid with both", out_port, vc);
}

static void check_all(struct network *network)
{
    uint32_t ports = network->topology->port_count, nodes = network->topology->node_count, vcs = network->vcs;
    uint32_t *under_way = network->checks->under_way;
    memset(under_way, 0, (size_t)(ports + nodes) * vcs * sizeof *under_way);
    uint64_t flits = 0;
    for (uint32_t s = 0; s <= network->calendar.mask; s++) {
        const struct calendar_slot *slot = &network->calendar.slots[s];
        for (uint32_t k = 0; k < slot->flit_count; k++)
            under_way[slot->flits[k].target * vcs + slot->flits[k].flit.vc]++;
        flits += slot->flit_count;
        for (uint32_t k = 0; k < slot->credit_count; k++) {
            uint32_t sender = slot->credits[k] / vcs;
            uint32_t target = sender < ports ? network->topology->ports[sender].peer
                                             : network->topology->node_ports[sender - ports];
            under_way[target * vcs + slot->credits[k] % vcs]++;
        }
    }
    for (uint32_t place = 0; place < (ports + nodes) * vcs; place++) {
        check_credits(network, place / vcs, place % vcs);
        if (place < ports * vcs)
            check_owner(network, place / vcs, place % vcs);
        flits +=
            place < ports * vcs ? network->inputs[place].count : network->arrivals[place - ports * vcs].count;
    }
    if (flits != network_in_flight(network))
        broken(network, "a flit is lost or made", 0, 0);
}

void network_check_always(struct network *network)
{
    uint32_t ends = network->topology->port_count + network->topology->node_count;
    network->checks = alloc(1, sizeof *network->checks);
    network->checks->passages = alloc((size_t)ends * network->vcs, sizeof *network->checks->passages);
    network->checks->under_way = alloc((size_t)ends * network->vcs, sizeof *network->checks->under_way);
}

/* Making. */

/* Clocks in which the latest thing posted in a clock arrives. */
static uint64_t horizon(const struct network_config *config, const struct topology *topology)
{
    uint64_t most = 0;
    for (uint32_t p = 0; p < topology->port_count; p++) {
        const struct topology_port *port = &topology->ports[p];
        uint64_t flit = (uint64_t)flit_clocks(config->flit * NETWORK_NARROWEST, port->width);
        uint64_t clocks = port->latency + flit * (config->output_queue + 2);
        most = clocks > most ? clocks : most;
    }
    return most + config->switch_clocks + config->traversal_clocks + config->credit_clocks + 2;
}

enum { NETWORK_HORIZON = 1 << 18 };

/* Flits that each channel gives up for priority buffers. */
static uint32_t given_up(const struct network_config *config)
{
    uint32_t channels = config->classes * config->vcs;
    return (config->priority_buffer + channels - 1) / channels;
}

static bool fits_management(const struct network_config *config, const struct routing *routing,
                            uint32_t flits, struct error *err)
{
    uint32_t sets = routing->sets, buffers = config->classes * sets;
    if (!config->track && (config->path_priority || config->link_widths))
        return error_set(err, "%s: needs `track: true`, which finds critical paths",
                         config->path_priority ? "path_priority" : "link_widths");
    if (!config->priority_buffer)
        return true;
    if (config->priority_buffer < buffers)
        return error_set(
            err,
            "priority_buffer: %u flits; each of %u classes and %u sets of channels needs one of its own, or "
            "packets could wait for each other in a cycle",
            config->priority_buffer, config->classes, sets);
    if (config->classes * (config->vcs + sets) > NETWORK_VCS)
        return error_set(
            err, "vcs: %u for each of %u classes, and %u priority buffers; a port has at most %d channels",
            config->vcs, config->classes, buffers, NETWORK_VCS);
    if (given_up(config) >= config->buffer)
        return error_set(
            err, "priority_buffer: %u flits of all channels leave nothing of %u flits for each channel",
            config->priority_buffer, config->buffer);
    uint32_t least = config->buffer - given_up(config), own = config->priority_buffer / buffers;
    if (config->flow != NETWORK_WORMHOLE && flits > (least < own ? least : own))
        return error_set(
            err,
            "priority_buffer: channels keep %u flits and priority buffers have %u; packets have up to %u "
            "flits and need room for all of them",
            least, own, flits);
    return true;
}

bool network_fits(const struct network_config *config, const struct topology *topology,
                  const struct routing *routing, uint32_t flits, struct error *err)
{
    if (config->classes * config->vcs > NETWORK_VCS)
        return error_set(err, "vcs: %u for each of %u classes are %u virtual channels; a port has at most %d",
                         config->vcs, config->classes, config->classes * config->vcs, NETWORK_VCS);
    if (config->vcs < routing->sets)
        return error_set(
            err,
            "vcs: %u; the routing needs at least %u for each class, because packets could wait for "
            "each other in a cycle",
            config->vcs, routing->sets);
    if (config->flow != NETWORK_WORMHOLE && flits > config->buffer)
        return error_set(err, "buffer: %u flits; %s needs room for a whole packet, which has up to %u flits",
                         config->buffer,
                         config->flow == NETWORK_CUT_THROUGH ? "cut_through" : "store_and_forward", flits);
    if (horizon(config, topology) >= NETWORK_HORIZON)
        return error_set(err, "output_queue: %u flits at 1/%d of a link's width take more than %d clocks",
                         config->output_queue, NETWORK_NARROWEST, NETWORK_HORIZON);
    return fits_management(config, routing, flits, err);
}

static void make_masks(struct network *network)
{
    const struct network_config *config = &network->config;
    uint32_t vcs = config->vcs, sets = network->routing->sets, low = vcs - vcs / 2;
    uint32_t own = config->priority_buffer / (config->classes * sets);
    uint32_t others = config->buffer - (own ? given_up(config) : 0);
    for (uint32_t class = 0; class < config->classes; class ++) {
        uint32_t from = class * network->class_vcs;
        assert(from < NETWORK_VCS);
        uint64_t all = low_bits(vcs) << from, first = low_bits(low) << from;
        network->node_vcs[0][class] = all;
        network->wire_vcs[0][class * sets] = sets > 1 ? first : all;
        if (sets > 1)
            network->wire_vcs[0][class * sets + 1] = all & ~first;
        for (uint32_t k = 0; k < network->class_vcs; k++)
            network->depth[from + k] = (uint16_t)(k < vcs ? others : own);
        for (uint32_t set = 0; own && set < sets; set++) {
            network->wire_vcs[1][class * sets + set] = BIT(from + vcs + set);
            network->node_vcs[1][class] |= BIT(from + vcs + set);
        }
        network->priority_vcs |= network->node_vcs[1][class];
    }
}

static void make_routers(struct network *network)
{
    const struct topology *topology = network->topology;
    size_t bids = 0;
    for (uint32_t r = 0; r < topology->router_count; r++) {
        const struct topology_router *from = &topology->routers[r];
        network->routers[r] =
            (struct router){.first_port = from->first_port, .ports = from->ports, .bids = bids};
        bids += (size_t)from->ports * network->groups * (network->priority_vcs ? 2 : 1) * (1 + from->ports);
    }
    network->bids = alloc(bids, sizeof *network->bids);
    for (uint32_t p = 0; p < topology->port_count; p++) {
        const struct topology_port *from = &topology->ports[p];
        network->ports[p] =
            (struct port){.free = low_bits(network->vcs),
                          .router = from->router,
                          .peer = from->peer,
                          .latency = (uint16_t)from->latency,
                          .flit_clocks = (uint16_t)flit_clocks(network->config.flit, from->width),
                          .node = from->wire == TOPOLOGY_NO_WIRE};
    }
}

static void make_nodes(struct network *network)
{
    for (uint32_t n = 0; n < network->topology->node_count; n++) {
        uint32_t port = network->topology->node_ports[n];
        struct endpoint *node = &network->nodes[n];
        *node = (struct endpoint){.free = low_bits(network->vcs),
                                  .port = port,
                                  .latency = network->ports[port].latency,
                                  .flit_clocks = network->ports[port].flit_clocks};
        for (uint32_t class = 0; class < network->config.classes; class ++)
            node->last_vc[class] = (uint8_t)(class * network->class_vcs + network->config.vcs - 1);
    }
}

static void make_arrays(struct network *network)
{
    const struct topology *topology = network->topology;
    size_t vcs = network->vcs, ports = topology->port_count, nodes = topology->node_count;
    uint32_t buffer = network->config.buffer;
    network->ports = alloc(ports, sizeof *network->ports);
    network->routers = alloc(topology->router_count, sizeof *network->routers);
    network->inputs = alloc(ports * vcs, sizeof *network->inputs);
    network->outputs = alloc((ports + nodes) * vcs, sizeof *network->outputs);
    network->turns = alloc(ports, sizeof *network->turns);
    network->grants = alloc(ports * vcs, sizeof *network->grants);
    network->accepts = alloc(ports * vcs, sizeof *network->accepts);
    network->buffers = alloc(ports * vcs * buffer, sizeof *network->buffers);
    network->nodes = alloc(nodes, sizeof *network->nodes);
    network->arrivals = alloc(nodes * vcs, sizeof *network->arrivals);
    network->held = alloc(nodes * vcs * buffer, sizeof *network->held);
    network->sends =
        alloc(nodes * network->config.classes * network->config.send_queue, sizeof *network->sends);
    network->links = alloc(ports + nodes, sizeof *network->links);
    network->vc_counters = alloc(ports * vcs, sizeof *network->vc_counters);
    network->active_routers = workset_new(topology->router_count);
    network->busy_routers = workset_new(topology->router_count);
    network->active_nodes = workset_new(topology->node_count);
    network->busy_nodes = workset_new(topology->node_count);
    for (size_t i = 0; i < (ports + nodes) * vcs; i++)
        network->outputs[i] = (struct output_vc){.credits = network->depth[i % vcs], .owner = NO_OWNER};
    network->widths = alloc(ports, sizeof *network->widths);
    for (size_t p = 0; p < ports; p++)
        network->widths[p] = (struct link_width){.parts = 1, .at = UINT64_MAX};
}

static void make_congestion(struct network *network)
{
    const struct topology *topology = network->topology;
    const struct network_config *config = &network->config;
    uint32_t *first = alloc(topology->router_count, sizeof *first),
             *ports = alloc(topology->router_count, sizeof *ports);
    for (uint32_t r = 0; r < topology->router_count; r++) {
        first[r] = topology->routers[r].first_port;
        ports[r] = topology->routers[r].ports;
    }
    network->congestion =
        congestion_new(&(struct congestion_setup){.routers = topology->router_count,
                                                  .first_port = first,
                                                  .ports = ports,
                                                  .threshold = config->track_threshold,
                                                  .hysteresis = config->hysteresis,
                                                  .width_threshold = config->width_threshold,
                                                  .reorder = config->pair_order == NETWORK_LATEST});
    free(first);
    free(ports);
    network->epoch = alloc(topology->port_count, sizeof *network->epoch);
    network->ended = alloc(topology->port_count, sizeof *network->ended);
    network->stalls = alloc(topology->port_count, sizeof *network->stalls);
    for (uint32_t p = 0; p < topology->port_count; p++)
        network->epoch[p].credits = credits_of(network, p);
    network->epoch_clocks = config->epoch / network->clock->period;
    network->epoch_clocks += !network->epoch_clocks;
    network->epoch_end = network->epoch_clocks;
    network->width_clocks = (uint32_t)(config->width_time / network->clock->period);
    if (config->path_priority)
        network->begun = alloc((size_t)topology->port_count * network->vcs, sizeof *network->begun);
}

/* Counts the wires between all routers, breadth first from each. */
static void make_distances(struct network *network)
{
    const struct topology *topology = network->topology;
    uint32_t count = topology->router_count, *queue = alloc(count, sizeof *queue);
    network->distances = alloc((size_t)count * count, sizeof *network->distances);
    memset(network->distances, UINT8_MAX, (size_t)count * count);
    for (uint32_t from = 0; from < count; from++) {
        uint8_t *row = &network->distances[(size_t)from * count];
        uint32_t reached = 1;
        queue[0] = from;
        row[from] = 0;
        for (uint32_t k = 0; k < reached; k++)
            for (uint32_t p = 0; p < topology->routers[queue[k]].ports; p++) {
                const struct topology_port *port =
                    &topology->ports[topology->routers[queue[k]].first_port + p];
                uint32_t to = port->wire == TOPOLOGY_NO_WIRE ? from : topology->ports[port->peer].router;
                if (row[to] != UINT8_MAX)
                    continue;
                row[to] = (uint8_t)(row[queue[k]] < UINT8_MAX - 1 ? row[queue[k]] + 1 : UINT8_MAX - 1);
                queue[reached++] = to;
            }
    }
    free(queue);
}

static void make_management(struct network *network)
{
    const struct network_config *config = &network->config;
    if (config->track)
        make_congestion(network);
    if (network->priority_vcs)
        network->urgent = alloc(network->topology->port_count, sizeof *network->urgent);
    if (config->vc_arbitration == NETWORK_DISTANCE || config->switch_arbitration == NETWORK_DISTANCE)
        make_distances(network);
    if (config->vc_arbitration == NETWORK_ORACLE || config->switch_arbitration == NETWORK_ORACLE)
        network->oracle = oracle_new(network->topology, network->routing);
    network->managed = network->congestion || network->priority_vcs;
    network->plain_vcs = plain_vcs(network);
    network->plain_switch = plain_switch(network);
    set_due(network);
}

struct network *network_new(const struct network_config *config, const struct topology *topology,
                            const struct routing *routing, struct event_queue *queue,
                            const struct clock *clock, uint32_t component,
                            const struct network_client *client)
{
    struct network *network = alloc(1, sizeof *network);
    *network = (struct network){.config = *config,
                                .topology = topology,
                                .routing = routing,
                                .queue = queue,
                                .clock = clock,
                                .client = *client,
                                .class_vcs = config->vcs + (config->priority_buffer ? routing->sets : 0),
                                .epoch_end = UINT64_MAX,
                                .change = UINT64_MAX,
                                .random = UINT64_C(0x9e3779b97f4a7c15),
                                .groups = config->classes * routing->sets,
                                .speedup = config->speedup,
                                .head_ticks = config->routing_clocks + config->vc_clocks - 1};
    network->vcs = config->classes * network->class_vcs;
    calendar_init(&network->calendar, horizon(config, topology));
    make_masks(network);
    make_arrays(network);
    make_routers(network);
    make_nodes(network);
    make_management(network);
    event_init(&network->event, component, step, network);
    return network;
}

void network_free(struct network *network)
{
    if (!network)
        return;
    event_cancel(network->queue, &network->event);
    calendar_free(&network->calendar);
    congestion_free(network->congestion);
    oracle_free(network->oracle);
    if (network->checks) {
        free(network->checks->passages);
        free(network->checks->under_way);
    }
    void *blocks[] = {
        network->checks,       network->ports,    network->routers,     network->inputs,  network->outputs,
        network->turns,        network->grants,   network->accepts,     network->buffers, network->bids,
        network->nodes,        network->arrivals, network->held,        network->sends,   network->packets,
        network->free_packets, network->links,    network->vc_counters, network->urgent,  network->distances,
        network->epoch,        network->ended,    network->widths,      network->begun,   network->stalls};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
    workset_free(&network->active_routers);
    workset_free(&network->busy_routers);
    workset_free(&network->active_nodes);
    workset_free(&network->busy_nodes);
    free(network);
}

/* Statistics and energy. */

static void publish_totals(const struct network *network, struct stats *stats, struct scope scope)
{
    const struct network_totals *totals = &network->totals;
    const struct stats_row rows[] = {
        {"packets_sent", &totals->sent, "packets", "Packets that entered a node's queue."},
        {"packets_delivered", &totals->delivered, "packets", "Packets delivered to their destinations."},
        {"flits_entered", &totals->flits_entered, "flits", "Flits that left their source."},
        {"flits_left", &totals->flits_left, "flits", "Flits taken by their destination."},
        {"hops", &totals->hops, "flits", "Flits that crossed a router, summed over routers."},
        {"refusals", &totals->refusals, "packets", "Deliveries that the receiver refused."},
        {"busy_clocks", &totals->clocks, "clocks", "Clocks in which anything moved or could move."},
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows);
}

static void publish_link(const struct network *network, struct stats *stats, struct scope scope,
                         uint32_t port)
{
    const struct network_link_counters *link = &network->links[port];
    const struct stats_row rows[] = {
        {"flits", &link->flits, "flits", "Flits sent by this output."},
        {"busy", &link->busy, "clocks", "Clocks in which its wire carried a flit or changed its width."},
        {"credit_stalls", &link->credit_stalls, "clocks",
         "Clocks in which a flit waited for a credit of this output, summed over flits."},
        {"vc_stalls", &link->vc_stalls, "clocks",
         "Clocks in which a packet waited for a virtual channel of this output, summed over packets."},
        {"width_changes", &link->changes, "changes", "Changes of its link's width."},
        {"stopped", &link->stopped, "clocks", "Clocks of `busy` in which its link changed its width."},
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows - (network->config.link_widths ? 0 : 2));
}

static void publish_paths(const struct network *network, struct stats *stats, struct scope scope)
{
    const struct congestion_counters *paths = &network->congestion->counters;
    const struct network_waits *waits = &network->waits;
    const struct stats_row rows[] = {
        {"epochs", &paths->epochs, "epochs", "Epochs that have ended."},
        {"trackers", &paths->trackers, "flits", "Flits that carried a tracker."},
        {"pairs_added", &paths->pairs_added, "pairs",
         "Pairs of ports that became critical, summed over routers."},
        {"pairs_removed", &paths->pairs_removed, "pairs", "Pairs of ports that stopped to be critical."},
        {"critical_packets", &waits->packets[1], "packets",
         "Packets at routers, between critical pairs of ports."},
        {"critical_clocks", &waits->clocks[1], "clocks", "Clocks of their heads in these routers."},
        {"critical_longest", &waits->longest[1], "clocks", "The longest such time."},
        {"other_packets", &waits->packets[0], "packets", "Packets at routers, between other pairs of ports."},
        {"other_clocks", &waits->clocks[0], "clocks", "Clocks of their heads in these routers."},
        {"other_longest", &waits->longest[0], "clocks",
         "The longest such time: how long priorities let a packet starve."},
    };
    stats_counters(stats, scope, rows, network->begun ? sizeof rows / sizeof *rows : 4);
}

static void publish_management(const struct network *network, struct stats *stats, struct scope scope)
{
    if (network->congestion)
        publish_paths(network, stats, scope);
    if (!network->priority_vcs)
        return;
    stats_counter(stats, scope, "urgent_hops", &network->totals.urgent, "flits",
                  "Of `hops`, flits of packets of non-divergent accesses.");
    stats_counter(stats, scope, "buffered_hops", &network->totals.buffered, "flits",
                  "Of `urgent_hops`, flits out of priority buffers.");
}

void network_publish(const struct network *network, struct stats *stats, struct scope scope)
{
    const struct topology *topology = network->topology;
    publish_totals(network, stats, scope);
    publish_management(network, stats, scope);
    for (uint32_t r = 0; r < topology->router_count; r++) {
        const struct topology_router *router = &topology->routers[r];
        struct scope of_router = scope_at(&scope, "router", r);
        for (uint32_t p = 0; p < router->ports; p++) {
            uint32_t port = router->first_port + p;
            struct scope of_port = scope_at(&of_router, "port", p);
            publish_link(network, stats, scope_enter(&of_port, "out"), port);
            for (uint32_t v = 0; v < network->vcs; v++) {
                const struct network_vc_counters *vc = &network->vc_counters[port * network->vcs + v];
                struct scope of_vc = scope_at(&of_port, "vc", v);
                stats_counter(stats, of_vc, "flits", &vc->flits, "flits",
                              "Flits that left this virtual channel's input queue.");
                stats_counter(
                    stats, of_vc, "stalls", &vc->stalls, "clocks",
                    "Clocks in which the flit at its head waited for a credit or a virtual channel.");
            }
        }
    }
    for (uint32_t n = 0; n < topology->node_count; n++)
        publish_link(network, stats, scope_at(&scope, "node", n), topology->port_count + n);
}

static uint64_t node_flits(const void *context)
{
    const struct network *network = context;
    return network->totals.flits_entered + network->totals.flits_left;
}

static bool is_off_chip(const struct network *network, uint32_t port)
{
    const struct topology_port *at = &network->topology->ports[port];
    return at->wire != TOPOLOGY_NO_WIRE && network->topology->wires[at->wire].off_chip;
}

/* Bits on off-chip wires, or on others between routers. */
static uint64_t bits_of(const struct network *network, bool off_chip)
{
    uint64_t flits = 0;
    for (uint32_t p = 0; p < network->topology->port_count; p++)
        if (network->topology->ports[p].wire != TOPOLOGY_NO_WIRE && is_off_chip(network, p) == off_chip)
            flits += network->links[p].flits;
    return flits * network->config.flit * 8;
}

static uint64_t wire_bits(const void *network)
{
    return bits_of(network, false);
}

static uint64_t io_bits(const void *network)
{
    return bits_of(network, true);
}

/* Bits that wires between routers could have carried so far, without those that they carried. */
static uint64_t idle_bits_of(const struct network *network, bool off_chip)
{
    uint64_t bits = 0, clock = network->queue->now / network->clock->period;
    clock = clock > network->next ? clock : network->next;
    for (uint32_t p = 0; p < network->topology->port_count; p++)
        if (network->topology->ports[p].wire != TOPOLOGY_NO_WIRE && is_off_chip(network, p) == off_chip)
            bits += idle_of(network, p, clock);
    return bits;
}

static uint64_t idle_bits(const void *network)
{
    return idle_bits_of(network, false);
}

/* Without work, epochs end late; ends those that have passed, so that the widths are those of the time. */
static uint64_t idle_io_bits(const void *context)
{
    struct network *network = (struct network *)(uintptr_t)context;
    network_sync(network, network->queue->now);
    return idle_bits_of(network, true);
}

static bool has_off_chip(const struct network *network)
{
    for (uint32_t w = 0; w < network->topology->wire_count; w++)
        if (network->topology->wires[w].off_chip)
            return true;
    return false;
}

void network_energy(struct network *network, struct energy_ledger *ledger, struct scope scope)
{
    const struct network_config *config = &network->config;
    const struct energy_account accounts[] = {
        {.name = "flits", .read = node_flits, .unit = config->energy_flit, .fields = "energy_flit"},
        {.name = "hops", .count = &network->totals.hops, .unit = config->energy_hop, .fields = "energy_hop"},
        {.name = "wires", .read = wire_bits, .unit = config->energy_bit, .fields = "energy_bit"},
        {.name = "idle_wires", .read = idle_bits, .unit = config->energy_idle, .fields = "energy_idle"},
        {.name = "io", .read = io_bits, .unit = config->energy_bit, .fields = "energy_bit"},
        {.name = "idle_io", .read = idle_io_bits, .unit = config->energy_idle, .fields = "energy_idle"},
    };
    size_t count = sizeof accounts / sizeof *accounts - (has_off_chip(network) ? 0 : 2);
    for (size_t i = 0; i < count; i++) {
        struct energy_account account = accounts[i];
        account.context = network;
        account.kind = ENERGY_PER_EVENT;
        account.group = "network";
        energy_add(ledger, scope, &account);
    }
}
