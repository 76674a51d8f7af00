/* Synthetic traffic and traces for a network alone, and what is measured with them.
 *
 * Every node makes packets with the same probability in each clock (a Bernoulli process) and has a queue without
 * bound: a packet's latency runs from the clock in which it is made, also when the network does not take it yet,
 * to the arrival of its last flit. Packets of several classes take their class at random. After `warmup` clocks,
 * packets are measured for `measure` clocks; the traffic goes on until all measured packets have arrived.
 */
#ifndef EMU_NET_TRAFFIC_H
#define EMU_NET_TRAFFIC_H

#include "emu/net/network.h"

enum traffic_pattern {
    TRAFFIC_UNIFORM,
    TRAFFIC_TRANSPOSE,
    TRAFFIC_COMPLEMENT,
    TRAFFIC_TORNADO,
    TRAFFIC_HOTSPOT,
    TRAFFIC_TRACE,
};

struct traffic_config {
#include "emu/sim/fields_struct.h"

#include "emu/net/traffic.def"
};

/* The kind of croft net's descriptions. */
extern const struct part_kind traffic_kind;

/* A line of a trace. */
struct traffic_event {
    uint64_t clock;
    uint32_t source, destination, flits;
    uint8_t class;
};

struct traffic_trace {
    struct traffic_event *events;
    size_t count;
    uint32_t longest; /* flits of the longest packet */
};

/* Reads a trace for that many nodes and classes. Messages name file and line. Release it with
 * traffic_trace_free(), also after a failure. */
bool traffic_trace_read(struct traffic_trace *trace, const char *path, uint32_t nodes, uint32_t classes,
                        struct error *err);
void traffic_trace_free(struct traffic_trace *trace);

/* Whether the pattern exists on the topology; the message begins with the key. */
bool traffic_fits(const struct traffic_config *config, const struct topology *topology, struct error *err);

/* All of it must outlive the run. */
struct traffic_setup {
    const struct traffic_config *config;
    const struct network_config *network;
    const struct topology *topology;
    const struct routing *routing;
    const struct traffic_trace *trace; /* for TRAFFIC_TRACE */
    bool check;                        /* check the network's invariants in every clock */
    struct network_observer *observer; /* or NULL */
};

/* The results of a run at one rate. Latencies are in clocks of the links. */
struct traffic_result {
    double offered, accepted; /* flits per clock and node */
    double least_accepted;    /* of the node that received least */
    double latency,
        network_latency; /* mean, from making and from entering the network; of measured packets */
    double hops;         /* mean routers visited */
    uint64_t median, most_of_100, longest; /* 50th and 99th percentile, maximum */
    uint64_t packets;                      /* measured */
    uint64_t missing;                      /* of these, not delivered in time */
    bool stable;
    uint64_t flit_hops, clocks; /* of the whole run */
};

struct traffic;

/* Makes a run at a rate of flits per clock and node. Free it with traffic_free(). */
struct traffic *traffic_new(const struct traffic_setup *setup, double rate);
void traffic_free(struct traffic *traffic);

/* Runs and measures. Call it once. */
void traffic_run(struct traffic *traffic, struct traffic_result *result);

/* The network, for its counters; it is valid until traffic_free(). */
struct network *traffic_network(struct traffic *traffic);

/* Reads "0.01 0.1:0.9:0.1" into rates[room]. Returns their number, or 0 with err set. */
enum { TRAFFIC_RATES = 256 };
size_t traffic_rates(const char *text, double rates[TRAFFIC_RATES], struct error *err);

#endif
