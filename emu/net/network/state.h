/* The state of a network: that of its parts, each in the part's header, and what they share. Only the parts' source files and
 * router_input.h, whose functions are inline, include it. network.c makes the state and runs the clock. */
#ifndef EMU_NET_NETWORK_STATE_H
#define EMU_NET_NETWORK_STATE_H

#include "emu/net/flits/calendar.h"
#include "emu/net/flits/channels.h"
#include "emu/net/flits/packets.h"
#include "emu/net/network.h"
#include "emu/net/network/arbitration.h"
#include "emu/net/network/check.h"
#include "emu/net/network/endpoint.h"
#include "emu/net/network/epochs.h"
#include "emu/net/network/router.h"
#include "emu/net/network/switch_alloc.h"
#include "emu/net/network/vc_alloc.h"

/* What is counted of all pieces. */
struct network_sum {
    struct network_totals totals;
    uint64_t counted; /* number of the clock after the last one in totals.clocks */
};

/* A flit or credit on its way to a router of another piece. */
struct letter {
    uint64_t clock;
    uint32_t target;
    bool is_flit;
    struct flit flit;
    struct network_packet packet; /* of a head */
};

/* What a piece has sent to another one in a window. */
struct letters {
    struct letter *all;
    uint32_t count, room;
};

struct network {
    struct network_config config;
    const struct topology *topology;
    const struct routing *routing;
    struct event_queue *queue;
    const struct clock *clock;
    struct network_client client;
    struct event event;
    uint64_t now;     /* the clock being worked on, or to be worked on next */
    uint64_t next;    /* first clock that has not been worked on */
    uint32_t speedup; /* ticks of the routers' pipelines in a clock */
    bool stepping;
    struct calendar calendar;
    struct packets packets;
    struct channels channels;
    struct routers routers;
    struct vc_alloc va;
    struct switch_alloc sa;
    struct arbitration arbitration;
    struct endpoints endpoints;
    struct epochs epochs;
    struct network_sum sum;              /* of the first piece */
    struct network_totals *totals;       /* of all pieces */
    struct network_link_counters *links; /* by port; then of nodes */
    struct network_vc_counters *vc_counters;
    struct observer_list observers;
    struct network_checks *checks; /* NULL: no checks */
    /* Pieces. */
    struct network **pieces;     /* by number; NULL: the network is whole */
    uint32_t piece, piece_count; /* its own number */
    uint32_t *router_pieces;     /* by router */
    uint32_t *came;  /* by input channel: index here of the packet that comes from another piece */
    uint64_t posted; /* pieces for which this one has posted something in this clock */
    /* In a window, in which pieces work on threads of their own: */
    bool apart;
    uint64_t base; /* its first clock */
    _Atomic uint64_t
        worked; /* clocks since it on which the piece has worked: bits; others read it in their turn */
    struct letters *outbox; /* by piece */
};

/* pieces.c: a network can be in pieces, each with some of the routers, their nodes, and an event of the network's component in a
 * queue of its own. They share the counters; of other arrays, each piece uses the places of its routers. What passes between two
 * is posted in the other's calendar, at once or at the end of a window. A packet has an index in each piece that it comes to. */

/* Posts a flit that leaves by a port for another piece. */
void pieces_post_flit(struct network *network, const struct port *out, uint64_t clock, struct flit flit);

/* Posts a credit for a channel of another piece. */
void pieces_post_credit(struct network *network, uint32_t piece, uint64_t clock, uint32_t target);

/* Begins a window for a piece: what it sends to others waits in its outboxes, and it counts for itself. */
void pieces_part(struct network *network, uint64_t base);

/* Ends the window of all pieces: delivers what they have sent, and adds up what they have counted. */
void pieces_join(struct network *network, void (*wake)(struct network *piece, uint64_t clock));

void pieces_free(struct network *network);

/* Returns the first clock on which a piece can work, for what is asked of it at time `now`, before or on `clock`. As a whole, a network
 * works on a clock once; so none of its pieces does after the time at which the others have. */
uint64_t pieces_next(const struct network *network, uint64_t now, uint64_t clock);

/* Sets of which pieces the other ends of ports are. */
void pieces_mark(struct network *network);

/* Returns the piece with a node. */
static inline struct network *piece_of(struct network *network, uint32_t node)
{
    const struct topology *topology = network->topology;
    return network->pieces
               ? network->pieces[network->router_pieces[topology->ports[topology->node_ports[node]].router]]
               : network;
}

/* Returns the first clock on which no piece has worked. */
static inline uint64_t network_next(const struct network *network)
{
    uint64_t next = network->next;
    for (uint32_t i = 0; i < network->piece_count; i++)
        next = network->pieces[i]->next > next ? network->pieces[i]->next : next;
    return next;
}

/* Returns the packet at the head of an input channel (port * vcs + vc). */
static inline const struct network_packet *input_packet(const struct network *network, uint32_t input)
{
    const struct input_vc *vc = &network->routers.inputs[input];
    return &network->packets
                .items[network->routers.buffers[(size_t)input * network->config.buffer + vc->first].packet];
}

/* Returns the bids of a group for an output: a word of inputs, then a word of channels of each input. A group from
 * channels.groups on stands for the urgent bids of group - channels.groups. */
static inline uint64_t *router_bids(const struct network *network, const struct router *router,
                                    uint32_t output, uint32_t group)
{
    uint32_t groups = network->channels.priority ? 2 * network->channels.groups : network->channels.groups;
    return network->va.bids + router->bids + (size_t)(output * groups + group) * (1 + router->ports);
}

/* The class of a packet in a channel of a port. */
static inline uint32_t router_class_of(const struct network *network, uint32_t vc, uint32_t packet)
{
    return network->channels.shared & BIT(vc) ? network->packets.items[packet].class
                                              : vc / network->channels.class_vcs;
}

/* Whether an output channel has room for the packet at the head of an input channel of the router, as its flow control asks. */
static inline bool output_has_room(const struct network *network, const struct router *router, uint32_t input,
                                   const struct output_vc *output)
{
    return network->config.flow == NETWORK_WORMHOLE ||
           output->credits >=
               input_packet(network, router->first_port * network->channels.vcs + input)->flits;
}

#endif
