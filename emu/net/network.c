#include "emu/net/network.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/net/calendar.h"
#include "emu/net/islip.h"
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

struct network_checks;

struct network {
    struct network_config config;
    const struct topology *topology;
    const struct routing *routing;
    struct event_queue *queue;
    const struct clock *clock;
    struct network_client client;
    struct event event;
    uint32_t vcs; /* of a port */
    uint32_t groups;
    uint32_t speedup, head_ticks; /* ticks from a head's arrival to its first bid */
    uint64_t now;                 /* the clock being worked on, or to be worked on next */
    uint64_t next;                /* first clock that has not been worked on */
    bool stepping;
    /* VA: NULL: round robin */
    uint32_t (*choose)(const void *context, const struct islip_channels *channels, const uint64_t *words,
                       uint32_t vc);
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
    uint64_t group_vcs[NETWORK_CLASSES * ROUTING_SETS]; /* channels of a group on wires */
    uint64_t class_vcs[NETWORK_CLASSES];
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
    uint32_t vcs = network->config.vcs;
    return network->routing->sets > 1 && vc % vcs >= vcs - vcs / 2;
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
    input->group = (uint8_t)(vc / network->config.vcs * network->routing->sets + route.set);
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

static inline void arrive_at_router(struct network *network, uint32_t in_port, struct flit flit,
                                    uint32_t tick)
{
    struct port *port = &network->ports[in_port];
    uint32_t vc = flit.vc, buffer = network->config.buffer;
    struct input_vc *input = &network->inputs[in_port * network->vcs + vc];
    uint32_t at = (uint32_t)input->first + input->count++;
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
            input->since = tick;
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
    struct input_vc *input = &network->inputs[router->first_port * network->vcs + output->owner];
    if (input->count == 0)
        return;
    uint64_t waited = (tick - input->since) / network->speedup;
    network->links[out_port].credit_stalls += waited;
    network->vc_counters[router->first_port * network->vcs + output->owner].stalls += waited;
    make_ready(network, &network->ports[in_port], in_port, output->owner % network->vcs);
}

/* The bids of a group for an output: a word of inputs, then a word of channels of each input. */
static inline uint64_t *bids_of(const struct network *network, const struct router *router, uint32_t output,
                                uint32_t group)
{
    return network->bids + router->bids + (size_t)(output * network->groups + group) * (1 + router->ports);
}

/* Channels of a port that a group may use. */
static inline uint64_t channels_of(const struct network *network, const struct port *out, uint32_t group)
{
    return out->node ? network->class_vcs[group / network->routing->sets] : network->group_vcs[group];
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
            input->since = tick;
            port->routing &= ~BIT(vc);
            uint64_t *bids = bids_of(network, router, input->out_port, input->group);
            bids[0] |= BIT(i);
            bids[1 + i] |= BIT(vc);
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

/* Virtual-channel allocation. Input channels are numbered port * vcs + vc within the router. By age, the free
 * channels of an output go to its oldest packets, the lowest channel first; no pointer moves. */

/* Whether an output channel has room for the packet at the head of an input channel, as its flow control asks. */
static bool has_room(const struct network *network, const struct router *router, uint32_t input,
                     const struct output_vc *output)
{
    return network->config.flow == NETWORK_WORMHOLE ||
           output->credits >= packet_at(network, router->first_port * network->vcs + input)->flits;
}

/* A chooser of islip_allocate(): the oldest bidder that an output channel has room for, or the next one in turn. */
struct channel_choice {
    const struct network *network;
    const struct router *router;
};

static uint32_t choose_bidder(const void *context, const struct islip_channels *channels,
                              const uint64_t *words, uint32_t channel)
{
    const struct channel_choice *choice = context;
    const struct network *network = choice->network;
    const struct router *router = choice->router;
    uint32_t vcs = network->vcs, base = router->first_port * vcs, total = channels->total;
    uint32_t best = ISLIP_NOBODY, turn = channels->grant[channel];
    const struct output_vc *output = &network->outputs[base + channels->output * vcs + channel];
    for (uint64_t inputs = words[0]; inputs;) {
        uint32_t i = take_bit(&inputs);
        for (uint64_t left = words[1 + i]; left;) {
            uint32_t input = i * vcs + take_bit(&left);
            if (!has_room(network, router, input, output))
                continue;
            bool wins = best == ISLIP_NOBODY ||
                        (channels->greedy ? older(network, base + input, base + best)
                                          : (input + total - turn) % total < (best + total - turn) % total);
            if (wins)
                best = input;
        }
    }
    return best;
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
    uint64_t waited = (tick - in->since) / network->speedup;
    network->links[out_port].vc_stalls += waited;
    network->vc_counters[router->first_port * vcs + input].stalls += waited;
    in->since = tick + 1;
    if (output->credits)
        make_ready(network, &network->ports[in_port], in_port, input % vcs);
}

/* Gives free channels of an output to the bidders of a group. */
static void allocate_group(struct network *network, struct router *router, uint32_t out, uint64_t *bids,
                           uint64_t free, uint32_t tick)
{
    const uint32_t vcs = network->vcs, base = router->first_port * vcs, total = router->ports * vcs;
    uint16_t *grant = network->grants + base + out * vcs;
    uint32_t *accept = network->accepts + base;
    if (!network->choose && islip_alone(bids)) {
        struct islip_grant one = islip_allocate_one(bids, free, out, vcs, total, grant, accept);
        give_vc(network, router, one.input, out, one.vc, tick);
        return;
    }
    const struct channel_choice choice = {network, router};
    const struct islip_channels channels = {.vcs = vcs,
                                            .total = total,
                                            .iterations = network->config.iterations,
                                            .output = out,
                                            .grant = grant,
                                            .accept = accept,
                                            .choose = network->choose,
                                            .context = &choice,
                                            .greedy = network->config.vc_arbitration == NETWORK_AGE};
    struct islip_grant grants[ISLIP_CHANNELS];
    uint32_t count = islip_allocate(&channels, bids, free, grants);
    for (uint32_t i = 0; i < count; i++)
        give_vc(network, router, grants[i].input, out, grants[i].vc, tick);
}

static void allocate_vcs(struct network *network, struct router *router, uint32_t tick)
{
    for (uint64_t outputs = router->waiting; outputs;) {
        uint32_t out = take_bit(&outputs);
        const struct port *port = &network->ports[router->first_port + out];
        uint64_t any = 0;
        for (uint32_t group = 0; group < network->groups; group++) {
            uint64_t *bids = bids_of(network, router, out, group);
            uint64_t free = port->free & channels_of(network, port, group);
            if (bids[0] && free)
                allocate_group(network, router, out, bids, free, tick);
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

/* Adds the bids of some channels of an input. Of several for one output, the one at or after the input's turn
 * bids, or the oldest. */
static inline void bid_channels(const struct network *network, const struct router *router,
                                struct islip_switch *match, uint32_t i, uint64_t channels, uint64_t taken,
                                uint64_t crossed)
{
    uint32_t in_port = router->first_port + i;
    uint32_t turn = network->ports[in_port].turn;
    bool by_age = network->config.switch_arbitration == NETWORK_AGE;
    uint64_t high = channels >> turn << turn, low = channels ^ high;
    while (high | low) {
        uint32_t vc = take_bit(high ? &high : &low), base = in_port * network->vcs;
        uint32_t out = network->inputs[base + vc].out_port;
        if (taken & BIT(out))
            continue;
        bool again = islip_bids(match, i, out);
        if (again ? !by_age || !older(network, base + vc, base + match->vc[i][out])
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

/* The chooser of islip_match() by age. */

static uint64_t oldest_input(const void *context, const struct islip_switch *match, uint32_t out,
                             uint64_t inputs)
{
    const struct channel_choice *choice = context;
    const struct network *network = choice->network;
    uint32_t best = take_bit(&inputs), vcs = network->vcs, base = choice->router->first_port;
    while (inputs) {
        uint32_t i = take_bit(&inputs);
        if (older(network, (base + i) * vcs + match->vc[i][out], (base + best) * vcs + match->vc[best][out]))
            best = i;
    }
    return BIT(best);
}

static uint64_t oldest_output(const void *context, const struct islip_switch *match, uint32_t i,
                              uint64_t outputs)
{
    const struct channel_choice *choice = context;
    const struct network *network = choice->network;
    uint32_t best = take_bit(&outputs), base = (choice->router->first_port + i) * network->vcs;
    while (outputs) {
        uint32_t out = take_bit(&outputs);
        if (older(network, base + match->vc[i][out], base + match->vc[i][best]))
            best = out;
    }
    return BIT(best);
}

/* Matches inputs and outputs. Returns the matched inputs. */
static uint64_t match_switch(struct network *network, const struct router *router, struct islip_switch *match)
{
    const struct channel_choice choice = {network, router};
    const struct islip_chooser chooser = {oldest_input, oldest_output, &choice};
    bool by_age = network->config.switch_arbitration == NETWORK_AGE;
    return islip_match(match, &network->turns[router->first_port], router->ports, network->config.iterations,
                       by_age ? &chooser : NULL);
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
        input->since = (uint32_t)tick + 1;
    }
    if (!in->ready)
        router->ready &= ~BIT(i);
}

/* Whether a waiting channel could get one. */
static bool can_allocate(const struct network *network, const struct router *router)
{
    for (uint64_t outputs = router->waiting; outputs;) {
        uint32_t out = take_bit(&outputs);
        const struct port *port = &network->ports[router->first_port + out];
        for (uint32_t group = 0; group < network->groups; group++)
            if (bids_of(network, router, out, group)[0] && port->free & channels_of(network, port, group))
                return true;
    }
    return false;
}

/* One clock of a router's pipeline. The switch serves channels that were active before this clock. */
static void step_router(struct network *network, struct router *router, uint64_t tick)
{
    struct islip_switch match;
    islip_begin(&match);
    uint64_t crossed = tick + network->config.switch_clocks - 1 + network->config.traversal_clocks;
    if (network->speedup > 1)
        crossed /= network->speedup;
    if (router->routing)
        finish_routing(network, router, (uint32_t)tick);
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
        uint32_t vc = order[k], class = vc / network->config.vcs;
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
    uint64_t free = node->free & network->class_vcs[class];
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
        node->last_vc[class] = node->vc[class] = (uint8_t)vc;
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
    if (!(network->nodes[node].blocked & network->class_vcs[class]))
        return;
    network->nodes[node].retry |= (uint8_t)(1U << class);
    workset_add(&network->active_nodes, node);
    wake_at(network, now);
}

void network_set_width(struct network *network, uint32_t number, uint32_t parts, uint32_t pause, uint64_t now)
{
    struct port *port = &network->ports[number];
    uint32_t clocks = flit_clocks(network->config.flit * parts, network->topology->ports[number].width);
    uint64_t clock = clock_cycle(network->clock, now), from = port->busy > clock ? port->busy : clock;
    port->flit_clocks = (uint16_t)clocks;
    port->busy = from + pause;
    network->links[number].busy += pause;
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
    if (flit.vc / network->config.vcs != packet->class)
        broken(network, "a packet is in a channel of another class", target, flit.vc);
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
    if (held + network->checks->under_way[place] + network->outputs[sender].credits != network->config.buffer)
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
    return true;
}

static void make_masks(struct network *network)
{
    uint32_t vcs = network->config.vcs, sets = network->routing->sets, low = vcs - vcs / 2;
    for (uint32_t class = 0; class < network->config.classes; class ++) {
        assert(class * vcs < NETWORK_VCS);
        uint64_t all = low_bits(vcs) << class * vcs, first = low_bits(low) << class * vcs;
        network->class_vcs[class] = all;
        network->group_vcs[class * sets] = sets > 1 ? first : all;
        if (sets > 1)
            network->group_vcs[class * sets + 1] = all & ~first;
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
        bids += (size_t)from->ports * network->groups * (1 + from->ports);
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
            node->last_vc[class] = (uint8_t)((class + 1) * network->config.vcs - 1);
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
        network->outputs[i] = (struct output_vc){.credits = (uint16_t)buffer, .owner = NO_OWNER};
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
                                .vcs = config->classes * config->vcs,
                                .groups = config->classes * routing->sets,
                                .speedup = config->speedup,
                                .head_ticks = config->routing_clocks + config->vc_clocks - 1};
    calendar_init(&network->calendar, horizon(config, topology));
    if (config->vc_arbitration != NETWORK_ROUND_ROBIN || config->flow != NETWORK_WORMHOLE)
        network->choose = choose_bidder;
    make_arrays(network);
    make_masks(network);
    make_routers(network);
    make_nodes(network);
    event_init(&network->event, component, step, network);
    return network;
}

void network_free(struct network *network)
{
    if (!network)
        return;
    event_cancel(network->queue, &network->event);
    calendar_free(&network->calendar);
    if (network->checks) {
        free(network->checks->passages);
        free(network->checks->under_way);
    }
    void *blocks[] = {network->checks,  network->ports,      network->routers, network->inputs,
                      network->outputs, network->turns,      network->grants,  network->accepts,
                      network->buffers, network->bids,       network->nodes,   network->arrivals,
                      network->held,    network->sends,      network->packets, network->free_packets,
                      network->links,   network->vc_counters};
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
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows);
}

void network_publish(const struct network *network, struct stats *stats, struct scope scope)
{
    const struct topology *topology = network->topology;
    publish_totals(network, stats, scope);
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

static uint64_t wire_bits(const void *context)
{
    const struct network *network = context;
    return network->totals.wire_flits * network->config.flit * 8;
}

/* Bits that wires between routers could have carried so far, without those that they carried. */
static uint64_t idle_bits(const void *context)
{
    const struct network *network = context;
    uint64_t bits = 0;
    for (uint32_t p = 0; p < network->topology->port_count; p++) {
        const struct topology_port *port = &network->topology->ports[p];
        uint64_t busy = network->links[p].busy;
        if (port->wire != TOPOLOGY_NO_WIRE && busy < network->next)
            bits += (network->next - busy) * port->width * 8;
    }
    return bits;
}

void network_energy(struct network *network, struct energy_ledger *ledger, struct scope scope)
{
    const struct network_config *config = &network->config;
    const struct energy_account accounts[] = {
        {.name = "flits", .read = node_flits, .unit = config->energy_flit, .fields = "energy_flit"},
        {.name = "hops", .count = &network->totals.hops, .unit = config->energy_hop, .fields = "energy_hop"},
        {.name = "wires", .read = wire_bits, .unit = config->energy_bit, .fields = "energy_bit"},
        {.name = "idle_wires", .read = idle_bits, .unit = config->energy_idle, .fields = "energy_idle"},
    };
    for (size_t i = 0; i < sizeof accounts / sizeof *accounts; i++) {
        struct energy_account account = accounts[i];
        account.context = network;
        account.kind = ENERGY_PER_EVENT;
        energy_add(ledger, scope, &account);
    }
}
