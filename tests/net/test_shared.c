/* Virtual channels and priority buffers that requests and responses share. Nodes answer each request before they take the next
 * one, so a response that waited behind a request for ever would stop all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/isa/random.h"
#include "tests/net/network_rig.h"

enum { REQUESTS, RESPONSES, NODES = 64, EACH = 300 };

struct loop {
    struct network_config config;
    struct topology topology;
    struct routing routing;
    struct event_queue *queue;
    struct clock clock;
    struct network *network;
    unsigned sent[NODES], answered;
};

/* A node takes a request when it can queue the response to it. */
static bool answer(void *context, const struct network_packet *packet, uint64_t now)
{
    struct loop *loop = context;
    if (packet->class == RESPONSES) {
        loop->answered++;
        return true;
    }
    const struct network_packet response = {.time = now,
                                            .source = packet->destination,
                                            .destination = packet->source,
                                            .flits = 6 - packet->flits,
                                            .class = RESPONSES,
                                            .urgent = packet->urgent};
    return network_send(loop->network, &response, now);
}

static void answer_again(void *context, uint32_t node, uint32_t class, uint64_t now)
{
    struct loop *loop = context;
    if (class == RESPONSES)
        network_unblock(loop->network, node, REQUESTS, now);
}

static struct loop *loop_new(const struct network_config *config)
{
    struct loop *loop = calloc(1, sizeof *loop);
    struct topology_culprit culprit;
    struct error err;
    assert_non_null(loop);
    loop->config = *config;
    loop->clock.period = PERIOD;
    loop->queue = calloc(1, sizeof *loop->queue);
    event_queue_init(loop->queue);
    const struct topology_shape shape = {config->size, config->nodes, config->width, config->latency};
    topology_init(&loop->topology, config->topology);
    assert_true(topology_generate(&loop->topology, &shape, &err));
    assert_true(topology_finish(&loop->topology, config->width, config->node_latency, &culprit, &err));
    assert_true(routing_make(&loop->routing, &loop->topology, config->routing, &err));
    assert_true(loop->topology.node_count <= NODES);
    assert_true(network_fits(config, &loop->topology, &loop->routing, 5, &err));
    const struct network_client client = {.deliver = answer, .room = answer_again, .context = loop};
    loop->network =
        network_new(config, &loop->topology, &loop->routing, loop->queue, &loop->clock, 0, &client);
    network_check_always(loop->network);
    return loop;
}

static void loop_free(struct loop *loop)
{
    network_free(loop->network);
    topology_free(&loop->topology);
    routing_free(&loop->routing);
    free(loop->queue);
    free(loop);
}

/* Each node sends requests as fast as it can, most to the node opposite; all are answered. Returns the clocks. */
static uint64_t run_loop(struct loop *loop)
{
    struct random random = {1};
    const uint32_t nodes = loop->topology.node_count;
    for (bool busy = true; busy;) {
        busy = false;
        for (uint32_t n = 0; n < nodes; n++) {
            const uint32_t to =
                (uint32_t)(random_next(&random) % 4 ? (n + nodes / 2) % nodes : random_next(&random) % nodes);
            const struct network_packet request = {.time = loop->queue->now,
                                                   .source = n,
                                                   .destination = to,
                                                   .flits = random_next(&random) % 2 ? 1 : 5,
                                                   .urgent = random_next(&random) % 2};
            if (loop->sent[n] < EACH)
                loop->sent[n] += network_send(loop->network, &request, loop->queue->now);
            busy = busy || loop->sent[n] < EACH;
        }
        event_queue_run(loop->queue, loop->queue->now + PERIOD);
        assert_true(loop->queue->now < UINT64_C(1000000) * PERIOD); /* nothing moves */
    }
    while (event_queue_step(loop->queue))
        continue;
    assert_int_equal(network_in_flight(loop->network), 0);
    assert_int_equal(loop->answered, EACH * nodes);
    return loop->queue->now / PERIOD;
}

static struct network_config closed(enum network_topology topology, const char *size, uint32_t vcs)
{
    struct network_config config = defaults();
    config.topology = topology;
    strcpy(config.size, size);
    config.classes = 2;
    config.vcs = vcs;
    config.buffer = 4;
    config.send_queue = 1;
    return config;
}

/* Flits that crossed routers in a channel, over all ports. */
static uint64_t flits_in(const struct loop *loop, uint32_t vc)
{
    uint64_t flits = 0;
    for (uint32_t p = 0; p < loop->topology.port_count; p++)
        flits += network_vc(loop->network, p, vc)->flits;
    return flits;
}

/* On all topologies, with every flow control, shared channels carry much, and block nothing. */
static void shared_channels_do_not_block(void **state)
{
    static const struct {
        enum network_topology kind;
        const char *size;
        uint32_t sets;
    } shapes[] = {{NETWORK_CHAIN, "5", 1},    {NETWORK_MESH, "3x3", 1},  {NETWORK_TREE, "3x3", 1},
                  {NETWORK_RING, "6", 2},     {NETWORK_TORUS, "4x4", 2}, {NETWORK_DRAGONFLY, "3x4", 2},
                  {NETWORK_CROSSBAR, "1", 1}, {NETWORK_FULL, "5", 1}};
    (void)state;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (unsigned flow = 0; flow < 3; flow++) {
            struct network_config config = closed(shapes[i].kind, shapes[i].size, shapes[i].sets);
            config.nodes = shapes[i].kind == NETWORK_CROSSBAR ? 8 : 1;
            config.shared_vcs = 2;
            config.flow = (enum network_flow)flow;
            config.buffer = flow == NETWORK_WORMHOLE ? 3 : 5;
            config.speculative = i % 2;
            struct loop *loop = loop_new(&config);
            uint32_t first = 2 * config.vcs, vcs = network_vc_count(loop->network);
            assert_int_equal(vcs, first + 2);
            (void)run_loop(loop);
            assert_true(10 * (flits_in(loop, first) + flits_in(loop, first + 1)) >
                        network_totals(loop->network)->hops);
            loop_free(loop);
        }
}

/* The paper's buffer: four flits at an input, for both classes. Only non-divergent packets use it, or all with priority_shared. */
static void one_buffer_serves_both_classes(void **state)
{
    (void)state;
    for (unsigned open = 0; open < 2; open++) {
        struct network_config config = closed(NETWORK_TREE, "3x3", 1);
        config.buffer = 6;
        config.priority_buffer = 4;
        config.priority_by_class = false;
        config.priority_shared = open;
        struct loop *loop = loop_new(&config);
        assert_int_equal(network_vc_count(loop->network), 3);
        (void)run_loop(loop);
        const struct network_totals *totals = network_totals(loop->network);
        assert_true(totals->buffered > totals->urgent / 10);
        assert_int_equal(flits_in(loop, 2) > totals->buffered, open);
        loop_free(loop);
    }
}

/* A node refuses packets of a flit. The channel of their class fills: 8 flits at each of two routers and at the node. The shared channel
 * has one packet at each router, and the refused one, whose flit has left, at the node. */
static void a_shared_channel_holds_one_packet(void **state)
{
    (void)state;
    struct network_config config = closed(NETWORK_CHAIN, "2", 1);
    config.shared_vcs = 1;
    config.buffer = 8;
    struct rig *rig = rig_new(&config);
    rig->refuses = 1U << RESPONSES;
    for (unsigned i = 0; i < 50; i++) {
        (void)send(rig, 0, 1, 1, RESPONSES);
        event_queue_run(rig->queue, rig->queue->now + 20 * PERIOD);
    }
    assert_int_equal(network_in_flight(rig->network), 3 * 8 + 2);
    assert_int_equal(network_totals(rig->network)->flits_left, 2);
    rig->refuses = 0;
    network_unblock(rig->network, 1, RESPONSES, rig->queue->now);
    (void)finish(rig);
    assert_int_equal(network_totals(rig->network)->delivered, network_totals(rig->network)->sent);
    rig_free(rig);
}

/* Class 0 passes while class 1 fills all that it may have. */
static void a_blocked_class_leaves_the_other_its_channel(void **state)
{
    (void)state;
    struct network_config config = closed(NETWORK_CHAIN, "3", 1);
    config.shared_vcs = 2;
    config.priority_buffer = 2;
    config.priority_by_class = false;
    struct rig *rig = rig_new(&config);
    rig->refuses = 1U << RESPONSES;
    for (unsigned i = 0; i < 100; i++) {
        (void)send(rig, 0, 2, 1, RESPONSES);
        event_queue_run(rig->queue, rig->queue->now + 20 * PERIOD);
    }
    const uint64_t stuck = network_in_flight(rig->network);
    for (unsigned i = 0; i < 10; i++) {
        rig->count = 0;
        assert_true(send(rig, 0, 2, 5, REQUESTS));
        event_queue_run(rig->queue, rig->queue->now + 200 * PERIOD);
        assert_int_equal(rig->count, 1);
        assert_int_equal(network_in_flight(rig->network), stuck);
    }
    rig->refuses = 0;
    network_unblock(rig->network, 2, RESPONSES, rig->queue->now);
    (void)finish(rig);
    assert_int_equal(network_totals(rig->network)->delivered, network_totals(rig->network)->sent);
    rig_free(rig);
}

static void refused(struct network_config *config, const char *wanted)
{
    struct topology topology;
    struct topology_culprit culprit;
    struct routing routing;
    struct error err = {0};
    const struct topology_shape shape = {config->size, 1, 32, 1};
    topology_init(&topology, config->topology);
    assert_true(topology_generate(&topology, &shape, &err));
    assert_true(topology_finish(&topology, 32, 1, &culprit, &err));
    assert_true(routing_make(&routing, &topology, NETWORK_NATURAL, &err));
    assert_false(network_fits(config, &topology, &routing, 5, &err));
    assert_non_null(strstr(err.text, wanted));
    routing_free(&routing);
    topology_free(&topology);
}

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    struct network_config config = closed(NETWORK_RING, "6", 2);
    config.shared_vcs = 1;
    refused(&config, "shared_vcs: 1; the routing needs one for each of its 2 sets");
    config = closed(NETWORK_CHAIN, "4", 1);
    config.shared_vcs = 63;
    refused(&config, "vcs: 1 for each of 2 classes, 63 for all of them, and 0 priority buffers");
    config = closed(NETWORK_RING, "6", 2);
    config.priority_buffer = 1;
    config.priority_by_class = false;
    refused(&config, "priority_buffer: 1 flits; each of 1 classes and 2 sets");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_channels_do_not_block),
        cmocka_unit_test(one_buffer_serves_both_classes),
        cmocka_unit_test(a_shared_channel_holds_one_packet),
        cmocka_unit_test(a_blocked_class_leaves_the_other_its_channel),
        cmocka_unit_test(bad_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
