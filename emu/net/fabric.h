/* A packet network between requesters and memories: the kind `network` of machines.
 *
 * Every input (a client) and every output (a memory, a crossbar, a link) stands at a node of a network
 * (emu/net/network.h); several can share a node. A request is a packet of class 0 from its input's node to its
 * output's, its response a packet of class 1 back. A packet has a header and the same data as a message of a
 * crossbar. A request passes the whole network as one link (struct mem_link). Back-pressure: a full queue of a node
 * refuses requests and responses; a packet that its receiver refuses stops its virtual channel at that node.
 * Packets of one class that take different virtual channels can pass each other.
 *
 * The slices of one last-level cache may stand at nodes, each an output (emu/mem/site.h), and have their requests on the same
 * network. Requests that do not come from the slices then go to the slice of their line. Those of the slices, whose homes are
 * known, go to memories, as packets of class 2: if they were of class 0, a slice that is full could wait for its own
 * requests, which stand behind those that it refuses.
 *
 * Messages. The network also carries messages between any two of its nodes (emu/mem/mail.h): requests as packets of class 0, forwards
 * of class 2, responses of class 1. A message that finds its node's queue full waits in a queue without limit; at a node,
 * messages and memory requests of a class enter the network in turns.
 */
#ifndef EMU_NET_FABRIC_H
#define EMU_NET_FABRIC_H

#include "emu/mem/mail.h"
#include "emu/mem/site.h"
#include "emu/net/outputs.h"
#include "emu/net/topology/shape.h"
#include "emu/net/track.h"

/* Message classes. FABRIC_LOWER: requests of slices, and forwards. */
enum { FABRIC_REQUESTS, FABRIC_RESPONSES, FABRIC_CLASSES, FABRIC_LOWER = FABRIC_CLASSES, FABRIC_ALL };

struct fabric;

/* The inputs' interface for their clients; the port is fabric_port(). A maintenance request for a range goes to the output
 * of its first address and is answered there. */
extern const struct mem_port_ops fabric_ops;

/* Reads a list of nodes such as "0 2 5", one for each of `ends` inputs or outputs. An empty list stands for the nodes from
 * `first` on. `nodes` is the number of nodes. The caller frees the result. On failure, returns NULL and sets err, which
 * does not name the key. */
uint32_t *fabric_nodes(const char *text, uint32_t ends, uint32_t first, uint32_t nodes, struct error *err);

/* What a fabric is made of; it takes over the shape and the lists. */
struct fabric_plan {
    struct network_shape *shape;
    uint32_t inputs, outputs;
    uint32_t *input_nodes, *output_nodes;
    struct crossbar_route route;
    struct mem_site_slices slices;    /* copied, with its list */
    const struct part_pieces *pieces; /* NULL: the network is in one piece */
};

/* Makes a fabric. config has at least FABRIC_CLASSES classes, and fits the shape. queue and clock must outlive it. Never NULL;
 * aborts when out of memory. */
struct fabric *fabric_new(const struct network_config *config, const struct fabric_plan *plan,
                          struct event_queue *queue, const struct clock *clock, uint32_t component);
void fabric_free(struct fabric *fabric);

/* Sends messages; the carrier is the fabric, whose network needs FABRIC_ALL classes. A message has at most the bytes of a memory
 * request with the longest line. */
extern const struct mail_ops fabric_mail_ops;

/* Returns the port of an input for fabric_ops. Several clients may use it. */
void *fabric_port(struct fabric *fabric, uint32_t input);

/* Return the fabric, and the number of the node, of such a port. */
struct fabric *fabric_of_port(void *port);
uint32_t fabric_port_node(const void *port);

/* Return the number of the node of an output, and the topology of the network. */
uint32_t fabric_output_node(const struct fabric *fabric, uint32_t output);
const struct topology *fabric_topology(const struct fabric *fabric);

/* Connects an output to the port below it. Call it for each output before the first request. */
void fabric_connect(struct fabric *fabric, uint32_t output, const struct mem_port_ops *ops, void *port);

/* Shows packets at routers' outputs on tracks of a trace, a line for each virtual channel: from the clock in which a packet's
 * head crosses the router's switch until its last flit has. */
void fabric_track(struct fabric *fabric, struct track_sink *sink, const char *name);

/* The network, for its counters and checks. */
struct network *fabric_network(struct fabric *fabric);

/* Registers the statistics of the network, and by purpose (mail.h) where those are asked for. */
void fabric_publish(const struct fabric *fabric, struct stats *stats, struct scope scope);

#endif
