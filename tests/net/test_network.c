/* A network: exact latencies, back-pressure, classes, widths, routes, messages, and its invariants under load. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/net/network_rig.h"

static uint32_t distance(uint32_t a, uint32_t b, uint32_t ring)
{
    uint32_t way = a > b ? a - b : b - a;
    return ring && ring - way < way ? ring - way : way;
}

/* H * (RC + VA + SA + ST + wire) + 1 + wire + (L - 1), for each pair of an 8x8 mesh and torus. The wires to nodes take 1,
 * those between routers 2 clocks. */
static void zero_load_latency(void **state)
{
    (void)state;
    static const struct {
        uint32_t rc, va, sa, st;
        bool speculative;
    } cases[] = {{1, 1, 1, 1, false},
                 {0, 1, 1, 1, false},
                 {1, 1, 1, 1, true},
                 {2, 3, 2, 4, false},
                 {2, 3, 2, 4, true}};
    for (unsigned i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct network_config config = defaults();
        bool torus = i % 2;
        config.topology = torus ? NETWORK_TORUS : NETWORK_MESH;
        config.routing_clocks = cases[i / 2].rc, config.vc_clocks = cases[i / 2].va;
        config.switch_clocks = cases[i / 2].sa, config.traversal_clocks = cases[i / 2].st;
        config.speculative = cases[i / 2].speculative;
        config.latency = 2;
        struct rig *rig = rig_new(&config);
        uint32_t stages =
            cases[i / 2].rc + cases[i / 2].va + cases[i / 2].sa + cases[i / 2].st - config.speculative;
        for (uint32_t from = 0; from < 64; from += 7)
            for (uint32_t to = 0; to < 64; to++) {
                uint32_t wires =
                    distance(from % 8, to % 8, torus * 8) + distance(from / 8, to / 8, torus * 8);
                uint32_t flits = 1 + to % 5;
                assert_int_equal(latency(rig, from, to, flits),
                                 (wires + 1) * stages + 2 * wires + 1 + 1 + 1 + flits - 1);
            }
        rig_free(rig);
    }
}

/* A flit of 32 B takes 4 clocks on a link of 8 B. */
static void serialisation(void **state)
{
    (void)state;
    struct network_config config = defaults();
    config.width = 8;
    config.topology = NETWORK_CHAIN;
    strcpy(config.size, "3");
    struct rig *rig = rig_new(&config);
    /* Each of the 4 links holds the first flit for 3 clocks longer; each further flit comes 4 clocks behind. */
    assert_int_equal(latency(rig, 0, 2, 1), 3 * 5 + 2 + 4 * 3);
    assert_int_equal(latency(rig, 0, 2, 5), 3 * 5 + 2 + 4 * 3 + 4 * 4);
    rig_free(rig);
}

/* Off the edge: a packet is sent at the next edge. */
static void off_the_edge(void **state)
{
    (void)state;
    struct network_config config = defaults();
    struct rig *rig = rig_new(&config);
    event_queue_run(rig->queue, 10 * PERIOD + 1);
    assert_true(send(rig, 0, 0, 1, 0));
    (void)finish(rig);
    assert_int_equal(rig->clocks[0], 11 + 5 + 2);
    rig_free(rig);
}

/* One packet in a network of 1,024 routers costs events for its own way only. */
static void idle_costs_nothing(void **state)
{
    (void)state;
    struct network_config config = defaults();
    strcpy(config.size, "32x32");
    config.latency = 100;
    struct rig *rig = rig_new(&config);
    assert_int_equal(event_queue_next(rig->queue), CLOCK_NEVER);
    assert_true(send(rig, 0, 1023, 1, 0));
    uint64_t last = finish(rig);
    assert_true(last > 62 * 100);
    assert_true(rig->queue->fired < 63 * 6); /* arrival, two allocations and a credit in each router */
    assert_int_equal(network_totals(rig->network)->clocks, rig->queue->fired);
    rig_free(rig);
}

/* A node that refuses a class fills the way to it, and only that class; then everything arrives in order. */
static void back_pressure(void **state)
{
    (void)state;
    struct network_config config = defaults();
    config.topology = NETWORK_CHAIN;
    strcpy(config.size, "2");
    config.classes = 2;
    config.vcs = 1;
    config.buffer = 4;
    config.send_queue = 2;
    struct rig *rig = rig_new(&config);
    rig->refuses = 1;
    unsigned sent = 0;
    for (uint64_t clock = 0; clock < 200; clock++) {
        while (send(rig, 0, 1, 1, 0))
            sent++;
        event_queue_run(rig->queue, clock * PERIOD);
    }
    /* Two routers' and the node's buffers of 4, the refused packet, and the queue of 2. */
    assert_int_equal(sent, 3 * 4 + 1 + 2);
    assert_int_equal(rig->count, 0);
    assert_int_equal(network_totals(rig->network)->refusals, 1);
    assert_true(send(rig, 0, 1, 3, 1));
    event_queue_run(rig->queue, 300 * PERIOD);
    assert_int_equal(rig->count, 1); /* the other class passes */
    assert_int_equal(rig->arrived[0].class, 1);
    assert_int_equal(event_queue_next(rig->queue), CLOCK_NEVER); /* blocked is idle, too */
    network_unblock(rig->network, 1, 0, rig->queue->now);
    event_queue_run(rig->queue, 400 * PERIOD);
    assert_int_equal(network_totals(rig->network)->refusals, 2);
    rig->refuses = 0;
    network_unblock(rig->network, 1, 0, rig->queue->now);
    (void)finish(rig);
    assert_int_equal(rig->count, 1 + sent);
    assert_int_equal(network_totals(rig->network)->delivered, 1 + sent);
    rig_free(rig);
}

/* A link at 1/4 of its width passes a flit in 4 clocks, and nothing during the change. */
static void link_width(void **state)
{
    (void)state;
    struct network_config config = defaults();
    config.topology = NETWORK_CHAIN;
    strcpy(config.size, "2");
    struct rig *rig = rig_new(&config);
    uint32_t port = rig->topology.routers[0].first_port;
    assert_int_equal(latency(rig, 0, 1, 8), 2 * 5 + 2 + 7);
    network_set_width(rig->network, port, 4, 0, rig->queue->now);
    /* The last flit finds RC and VA of the second router done. */
    assert_int_equal(latency(rig, 0, 1, 8), 2 * 5 + 2 + 3 + 7 * 4 - 2);
    assert_int_equal(latency(rig, 1, 0, 8), 2 * 5 + 2 + 7); /* the other direction is as before */
    event_queue_run(rig->queue, rig->queue->now + 50 * PERIOD);
    network_set_width(rig->network, port, 1, 1000, rig->queue->now + 50 * PERIOD);
    uint64_t from = rig->queue->now / PERIOD + 50;
    assert_int_equal(latency(rig, 0, 1, 1) + from,
                     from + 1000 + 2 + 5); /* the pause, a wire and the second router */
    rig_free(rig);
}

/* Seven nodes of a chain send to the node at its end. Round robin, each router gives half of the link to its own node, so
 * that the share of the farthest is 1/64; by age, none gets less than half of an equal share. */
static void age_arbitration(void **state)
{
    (void)state;
    for (unsigned by_age = 0; by_age < 2; by_age++) {
        struct network_config config = defaults();
        unsigned from[8] = {0};
        config.topology = NETWORK_CHAIN;
        strcpy(config.size, "8");
        config.vc_arbitration = config.switch_arbitration = by_age ? NETWORK_AGE : NETWORK_ROUND_ROBIN;
        struct rig *rig = rig_new(&config);
        for (uint64_t clock = 0; clock < 3000; clock++) {
            for (uint32_t node = 1; node < 8; node++)
                (void)send(rig, node, 0, 1, 0);
            event_queue_run(rig->queue, clock * PERIOD);
        }
        for (unsigned i = 0; i < rig->count; i++)
            from[rig->arrived[i].source]++;
        assert_true(rig->count > 1000);
        if (by_age)
            for (uint32_t node = 1; node < 8; node++)
                assert_true(from[node] > rig->count / 14);
        else
            assert_true(from[7] < rig->count / 40 && from[1] > rig->count * 2 / 5);
        rig_free(rig);
    }
}

/* Statistics and energy of one packet of 3 flits over 2 routers. */
static void counters(void **state)
{
    (void)state;
    struct network_config config = defaults();
    config.topology = NETWORK_CHAIN;
    strcpy(config.size, "2");
    config.energy_flit = 1, config.energy_hop = 1000, config.energy_bit = 1000000, config.energy_idle = 0;
    struct rig *rig = rig_new(&config);
    (void)latency(rig, 0, 1, 3);
    uint32_t port = rig->topology.routers[0].first_port, flits = 0;
    assert_int_equal(network_link(rig->network, port)->flits, 3);
    assert_int_equal(network_link(rig->network, port)->busy, 3);
    for (uint32_t vc = 0; vc < network_vc_count(rig->network); vc++)
        flits += (uint32_t)network_vc(rig->network, rig->topology.ports[port].peer, vc)->flits;
    assert_int_equal(flits, 3);
    struct energy_ledger ledger;
    energy_init(&ledger);
    network_energy(rig->network, &ledger, scope_enter(NULL, "net"));
    assert_int_equal(energy_total(&ledger), 6 + 6 * 1000 + 3 * 32 * 8 * 1000000);
    assert_string_equal(ledger.accounts[3]->name, "net.idle_wires");
    energy_free(&ledger);
    struct stats *stats = stats_new();
    network_publish(rig->network, stats, scope_enter(NULL, "net"));
    stats_free(stats);
    rig_free(rig);
}

/* Follows a route; returns the routers on the way. */
static uint32_t route_length(const struct rig *rig, uint32_t from, uint32_t to)
{
    const struct topology *topology = &rig->topology;
    uint32_t in = topology->node_ports[from], set = 0;
    for (uint32_t length = 1;; length++) {
        struct route route = routing_next(&rig->routing, topology, in, set, to);
        uint32_t out = topology->routers[topology->ports[in].router].first_port + route.port;
        assert_true(length <= topology->router_count);
        if (topology->ports[out].wire == TOPOLOGY_NO_WIRE) {
            assert_int_equal(out, topology->node_ports[to]);
            return length;
        }
        in = topology->ports[out].peer;
        set = route.set;
    }
}

/* The mean number of routers from any node to any node, by another way for each topology. */
static void routes(void **state)
{
    (void)state;
    static const struct {
        enum network_topology kind;
        const char *size;
        uint32_t nodes;
        enum network_routing routing;
        double routers;
    } cases[] = {
        {NETWORK_MESH, "8x8", 1, NETWORK_NATURAL, 1 + 2 * 2.625}, /* (k - 1 / k) / 3 in each dimension */
        {NETWORK_MESH, "8x8", 1, NETWORK_UPDOWN, 1 + 2 * 2.625},
        {NETWORK_TORUS, "8x8", 1, NETWORK_NATURAL, 1 + 2 * 2.0}, /* k / 4 */
        {NETWORK_CROSSBAR, "1", 64, NETWORK_NATURAL, 1},
        {NETWORK_FULL, "5", 2, NETWORK_NATURAL, 1 + 0.8},
        {NETWORK_CHAIN, "4", 1, NETWORK_NATURAL, 1 + 1.25},
        {NETWORK_RING, "6", 1, NETWORK_NATURAL, 1 + 1.5},
        {NETWORK_TREE, "2x3", 1, NETWORK_NATURAL, (1 + 3 + 5 + 5) / 4.0},
        {NETWORK_DRAGONFLY, "2x3", 1, NETWORK_NATURAL, (1 + 2 + 2 * (2 + 3 + 3 + 4) / 2.0 / 2) / 6 + 1.0 / 2},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct network_config config = defaults();
        config.topology = cases[i].kind;
        strcpy(config.size, cases[i].size);
        config.nodes = cases[i].nodes;
        config.routing = cases[i].routing;
        struct rig *rig = rig_new(&config);
        uint32_t nodes = rig->topology.node_count, sum = 0;
        for (uint32_t from = 0; from < nodes; from++)
            for (uint32_t to = 0; to < nodes; to++)
                sum += route_length(rig, from, to);
        double mean = (double)sum / nodes / nodes;
        if (cases[i].kind == NETWORK_DRAGONFLY)
            assert_true(mean > 2.4 && mean <= 4); /* at most local, global, local */
        else if (cases[i].routing == NETWORK_UPDOWN)
            assert_true(mean >= cases[i].routers - 0.001);
        else
            assert_true(mean > cases[i].routers - 0.001 && mean < cases[i].routers + 0.001);
        rig_free(rig);
    }
}

/* Makes a topology and its routes, and expects a message that contains all of the texts. */
static void refuses(enum network_topology kind, const char *size, uint32_t nodes,
                    enum network_routing routing, const char *text)
{
    struct topology topology;
    struct routing routes_made = {0};
    struct topology_culprit culprit;
    struct error err;
    const struct topology_shape shape = {size, nodes, 32, 1};
    topology_init(&topology, kind);
    bool fine = topology_generate(&topology, &shape, &err) &&
                topology_finish(&topology, 32, 1, &culprit, &err) &&
                routing_make(&routes_made, &topology, routing, &err);
    assert_false(fine);
    if (!strstr(err.text, text))
        fail_msg("'%s' is not in '%s'", text, err.text);
    routing_free(&routes_made);
    topology_free(&topology);
}

static void bad_topologies(void **state)
{
    (void)state;
    refuses(NETWORK_MESH, "8y8", 1, NETWORK_NATURAL, "size: '8y8' is not 1 to 4 numbers such as 8x8");
    refuses(NETWORK_MESH, "8x", 1, NETWORK_NATURAL, "size: '8x' is not");
    refuses(NETWORK_MESH, "1000x1000", 1, NETWORK_NATURAL, "a network has at most 16384");
    refuses(NETWORK_TREE, "2", 1, NETWORK_NATURAL, "children of a router x levels");
    refuses(NETWORK_MESH, "4x4", 0, NETWORK_NATURAL, "the network has no node");
    refuses(NETWORK_MESH, "4x4", 61, NETWORK_NATURAL,
            "router r5 has 65 ports for wires and nodes; the most is 64");
    refuses(NETWORK_FULL, "16384", 1, NETWORK_NATURAL,
            "size: each of 16384 routers would have 16383 wires; the most is 64");
    refuses(NETWORK_DRAGONFLY, "1x16384", 1, NETWORK_NATURAL,
            "size: the 1 routers of a group have at most 64 wires each");
    refuses(NETWORK_MESH, "128x128", 2, NETWORK_NATURAL,
            "16384 routers times 32768 nodes; at most 268435456 routes");
    refuses(NETWORK_CROSSBAR, "2", 4, NETWORK_NATURAL, "size: a crossbar is 1 router, not 2");
    refuses(NETWORK_TREE, "2x3", 1, NETWORK_ORDER, "routing: a tree has no dimensions");
    /* Shortest ways around a ring without a second set of channels. */
    refuses(
        NETWORK_RING, "5", 1, NETWORK_MINIMAL,
        "routing: packets can wait for each other in a cycle of 5 wires: r1 -> r0 -> r4 -> r3 -> r2 -> r1");
    refuses(NETWORK_TORUS, "5x1", 1, NETWORK_MINIMAL, "in a cycle of 5 wires");
}

static void bad_configurations(void **state)
{
    (void)state;
    struct network_config config = defaults();
    config.topology = NETWORK_TORUS;
    config.vcs = 2;
    struct rig *rig = rig_new(&config);
    struct error err;
    config.vcs = 1;
    assert_false(network_fits(&config, &rig->topology, &rig->routing, 1, &err));
    assert_non_null(strstr(err.text, "vcs: 1; the routing needs at least 2"));
    config.vcs = 33, config.classes = 2;
    assert_false(network_fits(&config, &rig->topology, &rig->routing, 1, &err));
    assert_non_null(strstr(err.text, "vcs: 33 for each of 2 classes are 66"));
    config.vcs = 2, config.flow = NETWORK_CUT_THROUGH;
    assert_false(network_fits(&config, &rig->topology, &rig->routing, 9, &err));
    assert_non_null(strstr(err.text, "buffer: 8 flits; cut_through needs room for a whole packet"));
    config.flow = NETWORK_STORE_AND_FORWARD;
    assert_false(network_fits(&config, &rig->topology, &rig->routing, 9, &err));
    assert_true(network_fits(&config, &rig->topology, &rig->routing, 8, &err));
    rig_free(rig);
}

/* Every topology and flow control at full load, with all invariants checked in every clock. FLITS=n: flits that are to
 * arrive over all of them. */
static void saturation(void **state)
{
    (void)state;
    enum { FLOWS = 3 };
    const uint64_t wanted = flits_each(300000, SHAPES * FLOWS);
    for (unsigned i = 0; i < SHAPES * FLOWS; i++) {
        struct network_config config = shaped(i / FLOWS);
        struct traffic_config traffic;
        part_defaults(&traffic_kind, 0, &traffic);
        config.flow = (enum network_flow)(i % FLOWS);
        config.classes = 1 + i % 2;
        config.speculative = i % 4 == 1;
        config.switch_arbitration = i % 5 == 1 ? NETWORK_AGE : NETWORK_ROUND_ROBIN;
        struct rig *rig = rig_new(&config); /* for its topology and routes */
        traffic.warmup = 0, traffic.measure = 100, traffic.limit = 1;
        traffic.flits = config.flow == NETWORK_WORMHOLE ? 1 + i % 12 : 1 + i % 8;
        traffic.seed = i;
        for (uint64_t arrived = 0; arrived < wanted; traffic.measure *= 2) {
            const struct traffic_setup setup = {.config = &traffic,
                                                .network = &config,
                                                .topology = &rig->topology,
                                                .routing = &rig->routing,
                                                .check = true};
            struct traffic_result result;
            struct traffic *run = traffic_new(&setup, 1);
            traffic_run(run, &result);
            assert_true(result.accepted > 0.02);
            arrived += network_totals(traffic_network(run))->flits_left;
            traffic_free(run);
        }
        rig_free(rig);
    }
}

/* Compares members, not bytes: the struct has padding. */
static bool are_equal(const struct traffic_result *one, const struct traffic_result *other)
{
    return one->offered == other->offered && one->accepted == other->accepted &&
           one->least_accepted == other->least_accepted && one->latency == other->latency &&
           one->network_latency == other->network_latency && one->hops == other->hops &&
           one->median == other->median && one->most_of_100 == other->most_of_100 &&
           one->longest == other->longest && one->packets == other->packets &&
           one->missing == other->missing && one->stable == other->stable &&
           one->flit_hops == other->flit_hops && one->clocks == other->clocks;
}

/* The same seed gives the same run; another one does not. */
static void repeats(void **state)
{
    (void)state;
    struct network_config config = defaults();
    struct traffic_config traffic;
    struct traffic_result results[3];
    part_defaults(&traffic_kind, 0, &traffic);
    strcpy(config.size, "4x4");
    traffic.warmup = 100, traffic.measure = 1000;
    struct rig *rig = rig_new(&config);
    for (unsigned i = 0; i < 3; i++) {
        traffic.seed = i == 2 ? 7 : 3;
        const struct traffic_setup setup = {
            .config = &traffic, .network = &config, .topology = &rig->topology, .routing = &rig->routing};
        struct traffic *run = traffic_new(&setup, 0.5);
        traffic_run(run, &results[i]);
        traffic_free(run);
    }
    assert_true(are_equal(&results[0], &results[1]));
    assert_false(are_equal(&results[0], &results[2]));
    assert_true(results[0].stable && results[0].accepted > 0.47 && results[0].accepted < 0.53);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_load_latency),
        cmocka_unit_test(serialisation),
        cmocka_unit_test(off_the_edge),
        cmocka_unit_test(idle_costs_nothing),
        cmocka_unit_test(back_pressure),
        cmocka_unit_test(link_width),
        cmocka_unit_test(age_arbitration),
        cmocka_unit_test(counters),
        cmocka_unit_test(routes),
        cmocka_unit_test(bad_topologies),
        cmocka_unit_test(bad_configurations),
        cmocka_unit_test(saturation),
        cmocka_unit_test(repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
