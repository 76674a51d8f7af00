/* A packet network: routers with virtual channels and credits, driven by a clock of its own.
 *
 * Nodes send packets. A packet is cut into flits; its class selects the virtual channels that it may use
 * (Dally, "Virtual-channel flow control", 1992). A router has an input queue for each virtual channel of each
 * port. The head of a packet passes through route computation (RC), virtual-channel allocation (VA), switch
 * allocation (SA) and switch traversal (ST); the flits behind it need SA and ST only. Both allocators are iSLIP
 * (McKeown, "The iSLIP scheduling algorithm for input-queued switches", 1999): each output grants one request
 * round robin, each input accepts one grant round robin, and a pointer moves past a match of the first
 * iteration only. A virtual channel of a wire is free for the next packet when the last flit of the packet
 * before has left the router.
 *
 * Time. All stages take whole clocks. A flit that arrives at clock t and finds its queue empty computes its
 * route in t, allocates in t + 1 and t + 2, crosses the switch in t + 3 and the wire in t + 4 and arrives in
 * t + 5, if all lengths are 1. A credit leaves when the flit leaves its buffer and travels back for as long as
 * a flit travels. A node sends a flit in the clock in which the packet is sent, so a packet of L flits that
 * visits H routers takes H * (RC + VA + SA + ST + wire) + 1 + wire + (L - 1) clocks without contention.
 *
 * A packet is delivered whole, when its last flit arrives. A client that refuses it stops that virtual channel
 * at its node: the flits behind it keep their buffers. Routers and nodes without flits cost nothing, and the
 * network schedules no event when none is in it.
 *
 * Priorities (NUPIM, III-B and III-C). With path_priority, an allocator prefers packets from the input and to the output of
 * a critical pair (congestion.h), those of the lowest rank first. With priority_buffer, each input has one more virtual
 * channel, a priority buffer, for each class and set of the routing. The priority buffers of an input divide the
 * `priority_buffer` flits, which the other channels give up. A priority buffer takes packets of non-divergent accesses only
 * (but see priority_shared). Such a packet gets the buffer if it is free and has a credit, else another channel; when its
 * port is chosen, it goes before packets in other channels. As a priority buffer belongs to one class and one set, it adds
 * nothing to the graph of channels that is checked for cycles (routing.h). Without priority_by_class, all classes share one
 * priority buffer for each set.
 *
 * Shared channels. Packets of all classes may get one of the `shared_vcs` channels when those of their own class are taken;
 * all classes are allocated together. Priority buffers can be shared, too. If a response could wait in a shared channel
 * behind a request, requests and responses could wait for each other for ever. So a shared channel is given only when it is
 * empty: all its credits are back, and a node returns the last one when the packet is delivered. A packet in a shared
 * channel is then at the head of its queue, where it may also get the next channel of its own class. Shared channels lead
 * along the same wires and sets as those of a class. So channels of a class depend on each other, directly or by way of
 * shared ones, in a cycle only if the channels that routing.h checks do (Duato, "A necessary and sufficient condition for
 * deadlock-free adaptive routing in wormhole networks", 1995).
 *
 * Distance. A packet goes before those whose source is fewer routers away from the present one, round robin among equals: those
 * from far away go first.
 *
 * Loads. A packet goes before those that are younger and whose ports have passed fewer flits lately (loads.h).
 *
 * Energy. A flit has an energy at each node (energy_flit) and router (energy_hop); a bit on a wire, and one that an idle wire
 * could have carried, have those of the kind of wires (`wires`, wires.def). Wires of an unknown kind have none, unless a key
 * sets it.
 *
 * Oracle. A packet goes before those that have waited less and whose ports have fewer flits to pass, of all that are in the
 * network and wait at nodes. The allocators match to the end, whatever `iterations` is (oracle.h).
 */
#ifndef EMU_NET_NETWORK_H
#define EMU_NET_NETWORK_H

#include "emu/net/allocator/policies.h"
#include "emu/net/topology/routing.h"
#include "emu/net/topology/topology.h"
#include "emu/net/wires.h"
#include "emu/sim/event.h"
#include "emu/sim/observer.h"
#include "emu/sim/part.h"

enum network_flow { NETWORK_WORMHOLE, NETWORK_CUT_THROUGH, NETWORK_STORE_AND_FORWARD };
enum network_arbitration { NETWORK_POLICIES(POLICY_VALUE) };
enum network_change { NETWORK_STOP, NETWORK_LATE };
enum network_order { NETWORK_FIRST, NETWORK_LATEST };
enum network_choice { NETWORK_TURN, NETWORK_CREDITS };
enum network_stalls { NETWORK_CLOCKS, NETWORK_HEADS };
enum network_candidates { NETWORK_LINKS, NETWORK_ALL_PORTS };
enum network_floor { NETWORK_EIGHTH, NETWORK_FLITS };

struct network_config {
#include "emu/sim/fields_struct.h"

#include "emu/net/network.def"
};

/* A router of a graph. */
struct network_router_config {
    uint32_t nodes;
};

/* A wire of a graph. */
struct network_wire_config {
    char from[TOPOLOGY_NAME + 8], to[TOPOLOGY_NAME + 8]; /* "ROUTER" or "ROUTER.PORT" */
    uint32_t width, latency;                             /* if given; else the network's */
    enum wires wires;
    uint64_t energy_bit, energy_idle; /* unless `wires` is WIRES_NETWORK */
};

/* Kinds of descriptions. A network in a machine is a fabric (fabric.h). */
extern const struct part_kind network_kind, network_router_kind, network_wire_kind;

enum {
    NETWORK_CLASSES = 4,
    NETWORK_VCS = 64,       /* most virtual channels of a port */
    NETWORK_PACKET = 65535, /* most flits of a packet */
    NETWORK_NARROWEST = 8,  /* a link can fall to 1/8 of its width */
};

struct network_packet {
    void *owner;      /* the client's */
    uint64_t time;    /* fs at which it was made, not later than it is sent */
    uint64_t entered; /* clock in which its first flit left the node; the network sets it */
    uint32_t source, destination;
    uint32_t flits; /* 1 to NETWORK_PACKET */
    uint8_t class;
    bool urgent;  /* of a non-divergent access: it may use priority buffers */
    uint8_t kind; /* of the owner; the client's */
};

struct network_client {
    /* Takes a packet that has arrived. Returns false if it is refused; the client calls network_unblock() when it
     * has room. */
    bool (*deliver)(void *context, const struct network_packet *packet, uint64_t now);
    /* Called when a node's queue of that class has room again. May be NULL. */
    void (*room)(void *context, uint32_t node, uint32_t class, uint64_t now);
    void *context;
};

/* A flit that leaves a router's buffer. */
struct network_hop {
    uint64_t clock;
    uint32_t in_port, out_port; /* of the network */
    uint8_t in_vc, out_vc;
    bool head, tail;
    uint32_t flit; /* number within its packet */
};

struct network_observer {
    struct observer link;
    void (*hop)(void *context, const struct network_hop *hop, const struct network_packet *packet);
    void *context;
};

/* Counters of one direction of a link, at the port where it begins. */
struct network_link_counters {
    uint64_t flits;
    uint64_t busy;          /* clocks in which the wire carries a flit, or is stopped to change its width */
    uint64_t stopped;       /* of these, clocks in which it is stopped */
    uint64_t changes;       /* of its width */
    uint64_t credit_stalls; /* flit-clocks at the head of a queue, waiting for a credit of this link */
    uint64_t vc_stalls;     /* packet-clocks waiting for a virtual channel of this link */
};

struct network_vc_counters {
    uint64_t flits;  /* that left the input queue */
    uint64_t stalls; /* clocks in which the flit at its head waited for a credit or a virtual channel */
};

struct network_totals {
    uint64_t sent, delivered;           /* packets that entered a node's queue, and were delivered */
    uint64_t flits_entered, flits_left; /* flits that left their source, and arrived at their destination */
    uint64_t hops;                      /* flits that crossed a router */
    uint64_t wire_flits;                /* flits sent on wires between routers */
    uint64_t refusals;                  /* packets that the client refused */
    uint64_t clocks;                    /* clocks in which something was done, in any piece */
    uint64_t urgent_left;      /* of flits_left, those of non-divergent packets that have arrived whole */
    uint64_t urgent, buffered; /* hops of non-divergent packets; of these, out of priority buffers */
};

struct network;
struct congestion;

/* Returns whether a network of this configuration can carry packets of up to `flits` flits over the topology;
 * the message begins with the key. */
bool network_fits(const struct network_config *config, const struct topology *topology,
                  const struct routing *routing, uint32_t flits, struct error *err);

/* Makes a network; it must fit. All pointers but config must outlive it. Never NULL; aborts when out of
 * memory. Free it with network_free(). */
struct network *network_new(const struct network_config *config, const struct topology *topology,
                            const struct routing *routing, struct event_queue *queue,
                            const struct clock *clock, uint32_t component,
                            const struct network_client *client);
void network_free(struct network *network);

/* Returns whether a network of this configuration can be divided: its routers share nothing but counters. */
bool network_divisible(const struct network_config *config);

/* Divides a network that is divisible and unused, and will not be observed by others than now, into pieces, each with the routers to which
 * pieces->of gives its number; the first one keeps its queue, which is that of number 0. Its packets arrive in the same clocks as in one
 * piece. */
void network_divide(struct network *network, const struct part_pieces *pieces);

/* Begins a window of a divided network, in which the events of its pieces fire on threads of their own (emu/sim/threads/turns.h): from
 * `now`, until `end` at the latest. Returns when it has to end. What pieces send to others in the window must not arrive in it.
 * network_join() ends the window: all pieces have fired their events. */
uint64_t network_part(struct network *network, uint64_t now, uint64_t end);
void network_join(struct network *network);

/* Sends a packet from its source at time `now` (fs). False if the source's queue of the packet's class is full; the
 * client's room() is called when it has room again. */
bool network_send(struct network *network, const struct network_packet *packet, uint64_t now);

/* Whether network_send() would accept a packet of that source and class. */
bool network_has_room(const struct network *network, uint32_t node, uint32_t class);

/* Tells that the client has room again for packets of a class at a node, after it has refused one. */
void network_unblock(struct network *network, uint32_t node, uint32_t class, uint64_t now);

/* Clocks that the heads of packets spend in one router: [1] for critical pairs of ports, [0] for other pairs. Counted only
 * with path_priority. longest[0] shows whether other pairs starve. */
struct network_waits {
    uint64_t packets[2], clocks[2], longest[2];
};
const struct network_waits *network_waits(const struct network *network);

/* network_congestion() returns the state of critical paths, or NULL without `track`. network_sync() ends the epochs that
 * end until `now` (fs). */
const struct congestion *network_congestion(const struct network *network);
void network_sync(struct network *network, uint64_t now);

/* The width of the link that begins at a port, as the divisor of its full width: 1, 2, 4 or 8. */
uint32_t network_width(const struct network *network, uint32_t port);

/* Sets the width of the link that begins at a port to 1/parts of the topology's: parts is 1, 2, 4 or 8. The
 * link sends nothing for `pause` clocks; flits on the wire are not affected. */
void network_set_width(struct network *network, uint32_t port, uint32_t parts, uint32_t pause, uint64_t now);

void network_observe(struct network *network, struct network_observer *observer);

/* Checks all invariants after each clock: flits are neither lost nor made; for each virtual channel of each
 * link, the credits, the flits and credits under way and the flits in the buffer add up to its size; flits of a
 * packet are in order and not mixed with others. Aborts with a message if one is broken. */
void network_check_always(struct network *network);

/* Counters. They only grow. */
const struct network_totals *network_totals(const struct network *network);
const struct network_link_counters *network_link(const struct network *network, uint32_t port);
const struct network_vc_counters *network_vc(const struct network *network, uint32_t port, uint32_t vc);
uint32_t network_vc_count(const struct network *network);

/* Flits under way, from entering the network to leaving it. */
uint64_t network_in_flight(const struct network *network);

/* Registers all statistics. */
void network_publish(const struct network *network, struct stats *stats, struct scope scope);

/* Adds the accounts "flits", "hops", "wires" and "idle_wires", for wires on an interposer "interposer" and
 * "idle_interposer", and for other off-chip wires "io" and "idle_io". */
void network_energy(struct network *network, struct energy_ledger *ledger, struct scope scope);

#endif
