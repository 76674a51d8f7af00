/* The state of a network, for the parts of its model: the routers' inputs (router_input.h), arbitration (arbitration.h), both
 * allocators (vc_alloc.h, switch_alloc.h), the pipeline (router.h), nodes (endpoint.h), epochs (epochs.h) and checks
 * (network_check.h). network.c makes the state and runs its clock. No file outside these parts may include this one. */
#ifndef EMU_NET_NETWORK_STATE_H
#define EMU_NET_NETWORK_STATE_H

#include "emu/net/calendar.h"
#include "emu/net/congestion.h"
#include "emu/net/islip.h"
#include "emu/net/network.h"
#include "emu/net/oracle.h"
#include "emu/net/stalls.h"
#include "emu/net/workset.h"

enum vc_state {
    VC_IDLE,
    VC_PARTIAL, /* store and forward: waits for the packet's last flit */
    VC_ROUTING, /* in RC, or in the clocks of VA before the last */
    VC_WAITING, /* bids for a virtual channel */
    VC_ACTIVE,  /* has a virtual channel of an output */
};

/* A virtual channel at the input of a router. */
struct input_vc {
    uint32_t ready; /* VC_ROUTING: tick at which it bids for a virtual channel */
    uint32_t since; /* tick at which it began to wait for a virtual channel or a credit */
    uint16_t first, count;
    uint8_t state, out_port, out_vc;
    uint8_t group; /* class of its packet * sets + set of the channels that it may get */
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
    uint32_t port;    /* the router's port */
    uint16_t latency, flit_clocks;
    uint8_t last_class;
    uint8_t refused_count;
    uint8_t retry;                    /* set of the classes whose refused packets are offered again */
    uint8_t last_vc[NETWORK_CLASSES]; /* the channel that the last packet of the class was sent on */
    uint8_t vc[NETWORK_CLASSES];      /* of the packet at the head of the queue, if part of it is sent */
    uint16_t sent[NETWORK_CLASSES];   /* flits of that packet sent */
    uint32_t first[NETWORK_CLASSES], count[NETWORK_CLASSES]; /* queues of packets: network->sends */
    uint8_t refused[NETWORK_VCS];                            /* blocked channels, in the order of refusal */
};

/* Flits that wait at a node behind a refused packet, and that packet. */
struct arrivals {
    uint16_t first, count;
    uint32_t packet;
    bool owes; /* a shared channel: the credit of the refused packet's last flit */
};

/* The width of the link that begins at a port. */
struct link_width {
    uint8_t parts;     /* divisor of the full width: 1, 2, 4, 8 */
    uint8_t next;      /* parts from clock `at` on */
    uint64_t at;       /* UINT64_MAX: no change waits */
    uint64_t ready;    /* clock from which an epoch's end may change it again */
    uint64_t since;    /* clock of the last change */
    uint64_t idle;     /* bits that it could have carried before `since`, but did not */
    uint64_t occupied; /* clocks before `since` in which it was busy, but not stopped */
};

struct network_checks;
struct arbitration_policy;

struct network {
    struct network_config config;
    const struct topology *topology;
    const struct routing *routing;
    struct event_queue *queue;
    const struct clock *clock;
    struct network_client client;
    struct event event;
    uint32_t vcs; /* of a port */
    uint32_t
        class_vcs; /* of a class: config.vcs, then a priority buffer for each set of the routing, if each class has its own */
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
    /* channels of a group on wires, and of a class at nodes; [0]: without priority buffers; [1]: priority buffers */
    uint64_t wire_vcs[2][NETWORK_CLASSES * ROUTING_SETS], node_vcs[2][NETWORK_CLASSES];
    uint64_t priority_vcs; /* all priority buffers; 0: none */
    uint64_t
        shared_vcs; /* channels and priority buffers of all classes, numbered after those of each class; 0: none */
    uint64_t shared_wire[2][ROUTING_SETS], shared_node[2]; /* as wire_vcs and node_vcs */
    uint64_t *joint;  /* bids of all classes for an output, laid out as those of a group (router_bids()) */
    uint64_t *urgent; /* with priority buffers, by port: channels with a non-divergent packet at their head */
    uint16_t depth[NETWORK_VCS]; /* flits that a channel buffers */
    uint8_t *distances;          /* with NETWORK_DISTANCE: [router * routers + router] */
    const struct arbitration_policy *vc_policy, *switch_policy;
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
    uint64_t
        settle; /* clock at which all stalls are counted, so that no count is older than 32-bit ticks allow */
    uint64_t due; /* the earliest of epoch_end, change and settle */
    bool managed; /* congestion or priority buffers: router.c calls manage() for each flit that leaves */
    bool
        plain_vcs; /* the present router's VA is round robin, without ranks, priority buffers or need of room */
    bool plain_switch; /* the present router's SA is round robin, without ranks or priority buffers */
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

/* Returns the clocks that a flit takes on a link of a width; both in bytes. */
static inline uint32_t link_flit_clocks(uint32_t flit, uint32_t width)
{
    return (flit + width - 1) / width;
}

/* Compares ticks, which may wrap around. */
static inline bool tick_later(uint32_t tick, uint32_t than)
{
    return (int32_t)(tick - than) > 0;
}

/* Returns the packet at the head of an input channel (port * vcs + vc). */
static inline const struct network_packet *input_packet(const struct network *network, uint32_t input)
{
    const struct input_vc *vc = &network->inputs[input];
    return &network->packets[network->buffers[(size_t)input * network->config.buffer + vc->first].packet];
}

/* Returns the bids of a group for an output: a word of inputs, then a word of channels of each input. A group from
 * network->groups on stands for the urgent bids of group - network->groups. */
static inline uint64_t *router_bids(const struct network *network, const struct router *router,
                                    uint32_t output, uint32_t group)
{
    uint32_t groups = network->priority_vcs ? 2 * network->groups : network->groups;
    return network->bids + router->bids + (size_t)(output * groups + group) * (1 + router->ports);
}

/* Return the channels of a port that a group may use: router_channels() without priority buffers, router_buffers() only
 * these. */
static inline uint64_t router_channels(const struct network *network, const struct port *out, uint32_t group)
{
    return out->node ? network->node_vcs[0][group / network->routing->sets] : network->wire_vcs[0][group];
}

static inline uint64_t router_buffers(const struct network *network, const struct port *out, uint32_t group)
{
    return out->node ? network->node_vcs[1][group / network->routing->sets] : network->wire_vcs[1][group];
}

/* The set of a channel of a port. */
static inline uint32_t router_set_of(const struct network *network, uint32_t vc)
{
    uint32_t vcs = network->config.vcs, number = vc % network->class_vcs;
    if (network->routing->sets == 1)
        return 0;
    if (network->shared_vcs & BIT(vc)) {
        number = vc - network->config.classes * network->class_vcs;
        vcs = network->config.shared_vcs;
    }
    return number >= vcs ? number - vcs : number >= vcs - vcs / 2;
}

/* The class of a packet in a channel of a port. */
static inline uint32_t router_class_of(const struct network *network, uint32_t vc, uint32_t packet)
{
    return network->shared_vcs & BIT(vc) ? network->packets[packet].class : vc / network->class_vcs;
}

/* Returns those of a sender's channels that are empty: all their credits are back. Only then may a packet get a shared
 * channel. outputs: the sender's. */
static inline uint64_t output_empty(const struct network *network, const struct output_vc *outputs,
                                    uint64_t channels)
{
    uint64_t empty = 0;
    while (channels) {
        uint32_t vc = take_bit(&channels);
        empty |= outputs[vc].credits == network->depth[vc] ? BIT(vc) : 0;
    }
    return empty;
}

/* Whether an output channel has room for the packet at the head of an input channel of the router, as its flow control asks. */
static inline bool output_has_room(const struct network *network, const struct router *router, uint32_t input,
                                   const struct output_vc *output)
{
    return network->config.flow == NETWORK_WORMHOLE ||
           output->credits >= input_packet(network, router->first_port * network->vcs + input)->flits;
}

/* Returns those of a sender's channels that have the most credits. outputs: the sender's. */
static inline uint64_t output_most_credits(const struct output_vc *outputs, uint64_t channels)
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

#endif
