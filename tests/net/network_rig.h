/* A network of a generated topology in a test, with its invariants checked in every clock. */
#ifndef TESTS_NET_NETWORK_RIG_H
#define TESTS_NET_NETWORK_RIG_H

#include <stdlib.h>
#include <string.h>

#include "emu/net/congestion/congestion.h"
#include "emu/net/topology/shape.h"
#include "emu/net/traffic.h"

enum { PERIOD = 1000, ARRIVALS = 4096 };

struct rig {
    struct network_config config;
    struct topology topology;
    struct routing routing;
    struct event_queue *queue;
    struct clock clock;
    struct network *network;
    struct network_packet arrived[ARRIVALS];
    uint64_t clocks[ARRIVALS];
    unsigned count;
    unsigned refuses; /* bits: classes that the nodes refuse */
    bool refuses_divergent;
};

static inline bool deliver(void *context, const struct network_packet *packet, uint64_t now)
{
    struct rig *rig = context;
    if (rig->refuses >> packet->class & 1 || (rig->refuses_divergent && !packet->urgent))
        return false;
    assert_true(rig->count < ARRIVALS);
    rig->clocks[rig->count] = now / PERIOD;
    rig->arrived[rig->count++] = *packet;
    return true;
}

static inline struct network_config defaults(void)
{
    struct network_config config;
    part_defaults(&network_kind, 0, &config);
    return config;
}

enum { SHAPES = 9 };

/* Returns the defaults with one of SHAPES small topologies of every kind. */
static inline struct network_config shaped(unsigned i)
{
    static const struct {
        enum network_topology kind;
        const char *size;
        uint32_t nodes;
    } shapes[SHAPES] = {
        {NETWORK_MESH, "4x4", 1}, {NETWORK_TORUS, "4x4", 1},     {NETWORK_CROSSBAR, "1", 8},
        {NETWORK_FULL, "5", 2},   {NETWORK_TREE, "2x4", 1},      {NETWORK_CHAIN, "6", 1},
        {NETWORK_RING, "7", 1},   {NETWORK_DRAGONFLY, "3x4", 1}, {NETWORK_MESH, "5x2x2", 2},
    };
    struct network_config config = defaults();
    config.topology = shapes[i].kind;
    strcpy(config.size, shapes[i].size);
    config.nodes = shapes[i].nodes;
    return config;
}

/* Returns how many flits are to arrive in each of so many runs: of FLITS, or `usual`, over all of them. */
static inline uint64_t flits_each(uint64_t usual, unsigned runs)
{
    const char *flits = getenv("FLITS");
    return (flits ? strtoull(flits, NULL, 10) : usual) / runs + 1;
}

/* Makes a network of a generated topology, whose invariants are checked in every clock. */
static inline struct rig *rig_new(const struct network_config *config)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct error err;
    struct topology_culprit culprit;
    assert_non_null(rig);
    rig->config = *config;
    rig->clock.period = PERIOD;
    rig->queue = calloc(1, sizeof *rig->queue);
    event_queue_init(rig->queue);
    const struct topology_shape shape = {config->size, config->nodes, config->width, config->latency};
    topology_init(&rig->topology, config->topology);
    assert_true(topology_generate(&rig->topology, &shape, &err));
    assert_true(topology_finish(&rig->topology, config->width, config->node_latency, &culprit, &err));
    shape_plain_wires(&rig->topology, config);
    assert_true(routing_make(&rig->routing, &rig->topology, config->routing, &err));
    assert_true(network_fits(config, &rig->topology, &rig->routing, 1, &err));
    const struct network_client client = {.deliver = deliver, .context = rig};
    rig->network = network_new(config, &rig->topology, &rig->routing, rig->queue, &rig->clock, 0, &client);
    network_check_always(rig->network);
    return rig;
}

static inline void rig_free(struct rig *rig)
{
    network_free(rig->network);
    topology_free(&rig->topology);
    routing_free(&rig->routing);
    free(rig->queue);
    free(rig);
}

static inline bool send(struct rig *rig, uint32_t from, uint32_t to, uint32_t flits, uint8_t class)
{
    const struct network_packet packet = {
        .time = rig->queue->now, .source = from, .destination = to, .flits = flits, .class = class};
    return network_send(rig->network, &packet, rig->queue->now);
}

/* Runs until nothing is left to do; returns the clock. */
static inline uint64_t finish(struct rig *rig)
{
    while (event_queue_step(rig->queue))
        continue;
    assert_int_equal(network_in_flight(rig->network), 0);
    return rig->queue->now / PERIOD;
}

/* The clocks that a packet takes alone. */
static inline uint64_t latency(struct rig *rig, uint32_t from, uint32_t to, uint32_t flits)
{
    event_queue_run(rig->queue, (rig->queue->now / PERIOD + 50) * PERIOD);
    uint64_t sent = rig->queue->now / PERIOD;
    rig->count = 0;
    assert_true(send(rig, from, to, flits, 0));
    (void)finish(rig);
    assert_int_equal(rig->count, 1);
    assert_int_equal(rig->arrived[0].destination, to);
    return rig->clocks[0] - sent;
}

#endif
