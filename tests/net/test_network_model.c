/* Random small networks under random traffic, flit by flit beside a second model (slow_network.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/isa/random.h"
#include "tests/net/slow_network.h"

enum { PACKETS = 600, CLOCK = 1000, LAST_CLOCK = 200000 };

struct hop_log {
    struct network_hop *hops;
    int *packets;
    size_t count, room;
};

struct world {
    struct network_config config;
    struct topology topology;
    struct routing routing;
    struct slow_packet packets[PACKETS]; /* in the order of their making */
    int clocks[PACKETS];                 /* of delivery by the network */
    struct hop_log ours, theirs;
    struct network *network;
    int delivered;
};

static void log_hop(struct hop_log *log, const struct network_hop *hop, const struct network_packet *packet)
{
    if (log->count == log->room) {
        log->room = log->room ? 2 * log->room : 1024;
        log->hops = realloc(log->hops, log->room * sizeof *log->hops);
        log->packets = realloc(log->packets, log->room * sizeof *log->packets);
        assert_true(log->hops && log->packets);
    }
    log->hops[log->count] = *hop;
    log->packets[log->count++] = (int)(intptr_t)packet->owner;
}

static void our_hop(void *context, const struct network_hop *hop, const struct network_packet *packet)
{
    log_hop(&((struct world *)context)->ours, hop, packet);
}

static void their_hop(void *context, const struct network_hop *hop, const struct network_packet *packet)
{
    log_hop(&((struct world *)context)->theirs, hop, packet);
}

/* When a node refuses packets: odd ones for 24 clocks of 64. */
static bool closed(int node, long clock)
{
    return node % 2 && (clock + 16 * node) % 64 < 24;
}

static bool deliver(void *context, const struct network_packet *packet, uint64_t now)
{
    struct world *world = context;
    if (closed((int)packet->destination, (long)(now / CLOCK)))
        return false;
    world->clocks[(intptr_t)packet->owner] = (int)(now / CLOCK);
    world->delivered++;
    return true;
}

static void random_topology(struct topology *topology, struct random *random)
{
    static const struct {
        enum network_topology kind;
        const char *size;
        uint32_t nodes;
    } shapes[] = {
        {NETWORK_MESH, "3x3", 1},   {NETWORK_MESH, "2x3", 2},      {NETWORK_TORUS, "4x3", 1},
        {NETWORK_RING, "5", 2},     {NETWORK_CHAIN, "4", 2},       {NETWORK_FULL, "4", 2},
        {NETWORK_TREE, "2x3", 2},   {NETWORK_DRAGONFLY, "2x3", 1}, {NETWORK_CROSSBAR, "1", 7},
        {NETWORK_MESH, "2x2x2", 1}, {NETWORK_GRAPH, "", 0},
    };
    uint32_t choice = (uint32_t)(random_next(random) % (sizeof shapes / sizeof *shapes));
    struct topology_shape shape = {shapes[choice].size, shapes[choice].nodes,
                                   1 + (uint32_t)(random_next(random) % 4),
                                   1 + (uint32_t)(random_next(random) % 3)};
    struct error err;
    topology_init(topology, shapes[choice].kind);
    if (shapes[choice].kind != NETWORK_GRAPH) {
        assert_true(topology_generate(topology, &shape, &err));
        return;
    }
    for (uint32_t r = 0; r < 6; r++) {
        topology_add_router(topology, "", 1 + r % 2);
        if (r)
            topology_add_wire(topology, (uint32_t)(random_next(random) % r), r, shape.width, 1 + r % 2);
    }
    for (uint32_t r = 0; r < 4; r++) /* more wires than a tree has, some of them in parallel */
        topology_add_wire(topology, r, 5 - (uint32_t)(random_next(random) % 2), shape.width, shape.latency);
}

static uint32_t upto(struct random *random, uint32_t least, uint32_t most)
{
    return least + (uint32_t)(random_next(random) % (most - least + 1));
}

static void random_world(struct world *world, struct random *random)
{
    memset(world, 0, sizeof *world);
    random_topology(&world->topology, random);
    struct topology_culprit culprit;
    struct error err;
    struct network_config *config = &world->config;
    part_defaults(&network_kind, 0, config);
    config->flit = 4;
    config->width = upto(random, 1, 4);
    assert_true(topology_finish(&world->topology, config->width, upto(random, 1, 2), &culprit, &err));
    assert_true(routing_make(&world->routing, &world->topology, NETWORK_NATURAL, &err));
    config->classes = upto(random, 1, 2);
    config->vcs = upto(random, world->routing.sets, 4);
    config->buffer = upto(random, 1, 8);
    config->flow = (enum network_flow)upto(random, 0, 2);
    config->routing_clocks = upto(random, 0, 2);
    config->vc_clocks = upto(random, 1, 2);
    config->switch_clocks = upto(random, 1, 2);
    config->traversal_clocks = upto(random, 1, 2);
    config->credit_clocks = upto(random, 0, 2);
    config->speculative = upto(random, 0, 1);
    config->iterations = upto(random, 1, 3);
    static const enum network_arbitration arbitrations[] = {
        NETWORK_ROUND_ROBIN, NETWORK_ROUND_ROBIN, NETWORK_AGE,   NETWORK_AGE_INPUT,
        NETWORK_DISTANCE,    NETWORK_LOADS,       NETWORK_ORACLE};
    config->vc_arbitration = arbitrations[upto(random, 0, 6)];
    config->switch_arbitration = arbitrations[upto(random, 0, 6)];
    config->input_speedup = upto(random, 1, 2);
    config->output_queue = upto(random, 0, 2);
    config->send_queue = upto(random, 1, 4);
    config->speedup = upto(random, 1, 2);
    config->vc_choice = (enum network_choice)upto(random, 0, 1);
    config->track = upto(random, 0, 1);
    config->epoch = upto(random, 20, 200) * CLOCK;
    config->track_threshold = upto(random, 0, 100);
    config->hysteresis = upto(random, 0, 2);
    config->pair_order = (enum network_order)upto(random, 0, 1);
    config->track_ports = (enum network_candidates)upto(random, 0, 1);
    config->path_priority = config->track && upto(random, 0, 3) > 0;
    config->shared_vcs = upto(random, 0, 1) * upto(random, world->routing.sets, 2);
    config->priority_by_class = upto(random, 0, 1);
    if (upto(random, 0, 1) && config->flow == NETWORK_WORMHOLE) {
        config->priority_buffer = config->classes * world->routing.sets * upto(random, 1, 2);
        config->buffer += config->priority_buffer;
    }
    uint32_t longest = config->flow == NETWORK_WORMHOLE ? 6 : config->buffer, every = upto(random, 1, 8);
    assert_true(network_fits(config, &world->topology, &world->routing, longest, &err));
    for (int p = 0; p < PACKETS; p++) {
        uint32_t nodes = world->topology.node_count;
        world->packets[p].delivered = -1;
        world->packets[p].head =
            (struct network_packet){.owner = (void *)(intptr_t)p,
                                    .time = (uint64_t)(p / 4) * every * CLOCK,
                                    .source = upto(random, 0, nodes - 1),
                                    .destination = upto(random, 0, nodes - 1),
                                    .flits = upto(random, 1, longest),
                                    .class = (uint8_t)upto(random, 0, config->classes - 1),
                                    .urgent = upto(random, 0, 1)};
    }
}

static void print_config(const struct world *world, uint64_t seed)
{
    const struct network_config *c = &world->config;
    print_message(
        "seed %llu %s classes %u vcs %u buffer %u flow %d RC %u VA %u SA %u ST %u credit %u speculative %d "
        "iterations %u arbitration %d %d output queue %u speedup %u %u width %u track %d priority %d buffer "
        "%u choice %d shared %u by class %d\n",
        (unsigned long long)seed, network_topology_names[world->topology.kind], c->classes, c->vcs, c->buffer,
        c->flow, c->routing_clocks, c->vc_clocks, c->switch_clocks, c->traversal_clocks, c->credit_clocks,
        c->speculative, c->iterations, c->vc_arbitration, c->switch_arbitration, c->output_queue, c->speedup,
        c->input_speedup, c->width, c->track, c->path_priority, c->priority_buffer, c->vc_choice,
        c->shared_vcs, c->priority_by_class);
}

/* Sends the packets of a source and class in the order of their making, when its queue has room. Returns how many are
 * left. */
static int send_ours(struct world *world, bool *sent, long clock)
{
    bool full[SLOW_NODES][NETWORK_CLASSES] = {{false}};
    int left = 0;
    for (int p = 0; p < PACKETS; p++) {
        const struct network_packet *packet = &world->packets[p].head;
        if (sent[p])
            continue;
        left++;
        bool *stop = &full[packet->source][packet->class];
        if (packet->time > (uint64_t)clock * CLOCK || *stop)
            continue;
        sent[p] = network_send(world->network, packet, (uint64_t)clock * CLOCK);
        *stop = !sent[p];
    }
    return left;
}

enum { PIECES = 3 };

/* Divides a network that is divisible, at random, and makes its queues a team. */
static void divide(const struct world *world, struct event_team *team, struct event_queue *queues,
                   uint64_t seed)
{
    struct random random = {seed + 1};
    uint32_t of[SLOW_NODES * SLOW_NODES];
    const unsigned pieces = upto(&random, 2, PIECES);
    if (!network_divisible(&world->config))
        return;
    assert_true(world->topology.router_count <= sizeof of / sizeof *of);
    for (uint32_t r = 0; r < world->topology.router_count; r++)
        of[r] = upto(&random, 0, pieces - 1);
    event_team_init(team, queues, pieces);
    network_divide(world->network, &(struct part_pieces){queues, pieces, of});
}

static void run_until(struct event_team *team, struct event_queue *queue, uint64_t time)
{
    while (team->count && event_queue_next(queue) <= time && event_team_step(team))
        ;
    if (!team->count)
        event_queue_run(queue, time);
}

static void run_ours(struct world *world, uint64_t seed)
{
    struct event_queue *queue = calloc(PIECES, sizeof *queue);
    struct event_team team = {.count = 0};
    const struct clock clock = {CLOCK};
    const struct network_client client = {.deliver = deliver, .context = world};
    struct network_observer observer = {.hop = our_hop, .context = world};
    bool sent[PACKETS] = {false};
    event_queue_init(queue);
    world->network =
        network_new(&world->config, &world->topology, &world->routing, queue, &clock, 0, &client);
    network_observe(world->network, &observer);
    divide(world, &team, queue, seed);
    if (!team.count)
        network_check_always(world->network);
    for (long now = 0; world->delivered < PACKETS; now++) {
        if (now == LAST_CLOCK) {
            print_config(world, seed);
            fail_msg("%d packets of %d arrive", world->delivered, PACKETS);
        }
        (void)send_ours(world, sent, now);
        for (int n = 0; n < (int)world->topology.node_count && now; n++)
            for (uint32_t c = 0; c < world->config.classes; c++)
                if (closed(n, now - 1) && !closed(n, now))
                    network_unblock(world->network, (uint32_t)n, c, (uint64_t)now * CLOCK);
        run_until(&team, queue, (uint64_t)now * CLOCK);
    }
    run_until(&team, queue, CLOCK_NEVER);
    assert_int_equal(network_in_flight(world->network), 0);
    assert_int_equal(event_queue_next(queue), CLOCK_NEVER);
    network_free(world->network);
    free(queue);
}

static void run_theirs(struct world *world, long last)
{
    struct slow *slow = slow_new(&world->config, &world->topology, &world->routing);
    bool sent[PACKETS] = {false};
    slow->packets = world->packets;
    slow->closed = closed;
    slow->hop = their_hop;
    slow->context = world;
    slow->epoch_clocks = (long)(world->config.epoch / CLOCK);
    for (long now = 0; now <= last; now++) {
        for (int p = 0; p < PACKETS; p++) {
            const struct network_packet *packet = &world->packets[p].head;
            int *count = &slow->send_count[packet->source][packet->class];
            if (sent[p] || packet->time > (uint64_t)now * CLOCK || *count == (int)world->config.send_queue)
                continue;
            slow->sends[packet->source][packet->class][(*count)++] = p;
            sent[p] = true;
            slow_sent(slow, packet);
        }
        slow_step(slow, now);
    }
    slow_free(slow);
}

static int in_order(const void *one, const void *other)
{
    const struct network_hop *a = one, *b = other;
    if (a->clock != b->clock)
        return a->clock < b->clock ? -1 : 1;
    return (a->in_port > b->in_port) - (a->in_port < b->in_port);
}

/* Compares the hops of both logs; with a speedup, an input port can have two hops in a clock, in order of time. */
static void compare(const struct world *world, uint64_t seed)
{
    const struct hop_log *ours = &world->ours, *theirs = &world->theirs;
    struct network_hop *mine = malloc(ours->count * sizeof *mine),
                       *other = malloc(theirs->count * sizeof *other);
    assert_true(mine && other);
    for (size_t i = 0; i < ours->count; i++) {
        mine[i] = ours->hops[i];
        mine[i].head = mine[i].tail = false;
        mine[i].flit += (uint32_t)ours->packets[i] << 8;
        mine[i].clock = mine[i].clock * 2 * PACKETS * 64;
    }
    for (size_t i = 0; i < theirs->count; i++) {
        other[i] = theirs->hops[i];
        other[i].flit += (uint32_t)theirs->packets[i] << 8;
        other[i].clock = other[i].clock * 2 * PACKETS * 64;
    }
    for (size_t i = 0; i < ours->count && world->config.speedup > 1; i++)
        mine[i].clock += mine[i].flit;
    for (size_t i = 0; i < theirs->count && world->config.speedup > 1; i++)
        other[i].clock += other[i].flit;
    qsort(mine, ours->count, sizeof *mine, in_order);
    qsort(other, theirs->count, sizeof *other, in_order);
    for (size_t i = 0; i < ours->count && i < theirs->count; i++) {
        if (mine[i].clock == other[i].clock && mine[i].in_port == other[i].in_port &&
            mine[i].out_port == other[i].out_port && mine[i].in_vc == other[i].in_vc &&
            mine[i].out_vc == other[i].out_vc && mine[i].flit == other[i].flit)
            continue;
        print_config(world, seed);
        fail_msg("seed %llu, %s, hop %zu: ours clock %llu port %u vc %u to %u vc %u packet %u flit %u; "
                 "theirs clock %llu "
                 "port %u vc %u to %u vc %u packet %u flit %u",
                 (unsigned long long)seed, network_topology_names[world->topology.kind], i,
                 (unsigned long long)mine[i].clock / (2 * PACKETS * 64), mine[i].in_port, mine[i].in_vc,
                 mine[i].out_port, mine[i].out_vc, mine[i].flit >> 8, mine[i].flit & 255,
                 (unsigned long long)other[i].clock / (2 * PACKETS * 64), other[i].in_port, other[i].in_vc,
                 other[i].out_port, other[i].out_vc, other[i].flit >> 8, other[i].flit & 255);
    }
    assert_int_equal(ours->count, theirs->count);
    for (int p = 0; p < PACKETS; p++)
        assert_int_equal(world->clocks[p], world->packets[p].delivered);
    free(mine);
    free(other);
}

static void check_seed(uint64_t seed)
{
    struct random random = {seed};
    struct world *world = malloc(sizeof *world);
    assert_non_null(world);
    random_world(world, &random);
    run_ours(world, seed);
    int last = 0;
    for (int p = 0; p < PACKETS; p++)
        last = world->clocks[p] > last ? world->clocks[p] : last;
    run_theirs(world, last);
    compare(world, seed);
    free(world->ours.hops), free(world->ours.packets), free(world->theirs.hops), free(world->theirs.packets);
    topology_free(&world->topology);
    routing_free(&world->routing);
    free(world);
}

/* NETWORKS=n compares that many; SEED=n begins there. */
static void random_networks(void **state)
{
    (void)state;
    const char *networks = getenv("NETWORKS"), *seed = getenv("SEED");
    unsigned long count = networks ? strtoul(networks, NULL, 10) : 60,
                  first = seed ? strtoul(seed, NULL, 10) : 1;
    for (unsigned long i = 0; i < count; i++)
        check_seed(first + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
