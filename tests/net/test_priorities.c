/* Congestion management at work in a network: priority buffers, priorities of critical paths, starvation, widths of links and
 * their energy, arbitration by distance, and all invariants under load with everything on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "emu/net/allocator/loads.h"
#include "tests/net/network_rig.h"

static bool send_urgent(struct rig *rig, uint32_t from, uint32_t to, uint32_t flits)
{
    const struct network_packet packet = {
        .time = rig->queue->now, .source = from, .destination = to, .flits = flits, .urgent = true};
    return network_send(rig->network, &packet, rig->queue->now);
}

static struct network_config chain(const char *routers)
{
    struct network_config config = defaults();
    config.topology = NETWORK_CHAIN;
    strcpy(config.size, routers);
    return config;
}

static void run_clocks(struct rig *rig, uint64_t clocks)
{
    event_queue_run(rig->queue, rig->queue->now + clocks * PERIOD);
}

/* A node refuses divergent packets, so that their only channel stands still. Urgent ones pass it in the priority buffer; the
 * channels hold as many flits together as before. */
static void urgent_packets_pass(void **state)
{
    (void)state;
    for (uint32_t buffer = 0; buffer <= 4; buffer += 4) {
        struct network_config config = chain("2");
        config.vcs = 1;
        config.priority_buffer = buffer;
        struct rig *rig = rig_new(&config);
        rig->refuses_divergent = true;
        for (unsigned i = 0; i < 50; i++) {
            (void)send(rig, 0, 1, 1, 0);
            run_clocks(rig, 20);
        }
        /* 8 - 4 flits in each of two routers and at the node, and the refused one */
        assert_int_equal(network_in_flight(rig->network) + 1, 3 * (8 - buffer) + 1);
        for (unsigned i = 0; i < 3; i++)
            assert_true(i > 0 || send_urgent(rig, 1, 1, 1)); /* another source: the queue of node 0 is full */
        run_clocks(rig, 100);
        assert_int_equal(rig->count, buffer > 0);
        assert_int_equal(network_totals(rig->network)->buffered, buffer > 0);
        rig->refuses_divergent = false;
        network_unblock(rig->network, 1, 0, rig->queue->now);
        (void)finish(rig);
        assert_int_equal(network_totals(rig->network)->delivered, network_totals(rig->network)->sent);
        rig_free(rig);
    }
}

/* An urgent packet that finds the priority buffer taken uses another channel; a divergent one never uses the buffer, unless
 * it is shared. */
static void buffers_are_for_urgent_packets(void **state)
{
    (void)state;
    for (unsigned shared = 0; shared < 2; shared++) {
        struct network_config config = chain("3");
        config.vcs = 1;
        config.priority_buffer = 2;
        config.priority_shared = shared;
        struct rig *rig = rig_new(&config);
        uint64_t buffered = 0, other = 0;
        for (unsigned i = 0; i < 4; i++)
            assert_true(send_urgent(rig, 0, 2, 8));
        (void)finish(rig);
        for (uint32_t p = 0; p < rig->topology.port_count; p++) {
            other += network_vc(rig->network, p, 0)->flits;
            buffered += network_vc(rig->network, p, 1)->flits;
        }
        assert_true(buffered >= 8 && other >= 8);
        assert_int_equal(buffered + other, 4 * 8 * 3);
        assert_int_equal(network_totals(rig->network)->urgent, 4 * 8 * 3);
        assert_int_equal(network_totals(rig->network)->buffered, buffered);
        for (unsigned i = 0; i < 4; i++)
            assert_true(send(rig, 0, 2, 8, 0));
        (void)finish(rig);
        assert_int_equal(network_totals(rig->network)->flits_left, 8 * 8);
        assert_int_equal(network_totals(rig->network)->urgent_left, 4 * 8);
        uint64_t after = 0;
        for (uint32_t p = 0; p < rig->topology.port_count; p++)
            after += network_vc(rig->network, p, 1)->flits;
        assert_int_equal(after > buffered, shared);
        rig_free(rig);
    }
}

/* The three leaves of a tree send to each other as much as they can, leaf 0 to the others in turn. */
struct tree_run {
    unsigned arrived[3][3]; /* packets by source and destination */
    struct congestion_pair first;
    struct network_waits waits;
};

static struct tree_run run_tree(bool priority, uint32_t fairness)
{
    struct tree_run run = {0};
    struct network_config config = defaults();
    config.topology = NETWORK_TREE;
    strcpy(config.size, "3x2");
    config.vcs = 1;
    config.track = true;
    config.epoch = 200 * PERIOD;
    config.path_priority = priority;
    config.fairness = fairness;
    struct rig *rig = rig_new(&config);
    for (uint64_t clock = 0, turn = 0; clock < 3000; clock++) {
        turn += send(rig, 0, 1 + turn % 2, 1, 0);
        (void)send(rig, 1, 2, 1, 0);
        (void)send(rig, 2, 1, 1, 0);
        run_clocks(rig, 1);
    }
    for (unsigned i = 0; i < rig->count; i++)
        run.arrived[rig->arrived[i].source][rig->arrived[i].destination]++;
    const struct congestion *congestion = network_congestion(rig->network);
    assert_true(congestion->counters.epochs >= 14 &&
                congestion->counters.trackers > congestion->counters.epochs);
    assert_true(congestion->routers[0].pair_count > 0); /* of the root, whose port n leads to leaf n */
    run.first = congestion->routers[0].pairs[0];
    run.waits = *network_waits(rig->network);
    rig_free(rig);
    return run;
}

/* More packets of the pair of the first rank arrive than without priorities, and packets of critical pairs spend less time at
 * routers, others more. Ranks that are always ignored change nothing. */
static void critical_paths_go_first(void **state)
{
    (void)state;
    const struct tree_run plain = run_tree(false, 0), critical = run_tree(true, 0),
                          fair = run_tree(true, 100);
    const unsigned in = critical.first.in, out = critical.first.out;
    assert_memory_equal(plain.arrived, fair.arrived, sizeof plain.arrived);
    assert_int_equal(plain.waits.packets[0] + plain.waits.packets[1], 0);
    assert_true(critical.arrived[in][out] > plain.arrived[in][out] * 11 / 10);
    assert_true(critical.waits.packets[1] > 1000);
    assert_true(critical.waits.clocks[1] * fair.waits.packets[1] <
                fair.waits.clocks[1] * critical.waits.packets[1]);
    assert_true(critical.waits.clocks[0] * fair.waits.packets[0] >
                fair.waits.clocks[0] * critical.waits.packets[0]);
    assert_true(critical.waits.longest[0] >= fair.waits.longest[0]);
}

/* Seven nodes of a chain send to the node at its end: those from farther away go first, up to the link's bandwidth. */
static void farther_packets_go_first(void **state)
{
    (void)state;
    struct network_config config = chain("8");
    unsigned from[8] = {0};
    config.vc_arbitration = config.switch_arbitration = NETWORK_DISTANCE;
    struct rig *rig = rig_new(&config);
    for (uint64_t clock = 0; clock < 3000; clock++) {
        for (uint32_t node = 1; node < 8; node++)
            (void)send(rig, node, 0, 1, 0);
        event_queue_run(rig->queue, clock * PERIOD);
    }
    for (unsigned i = 0; i < rig->count; i++)
        from[rig->arrived[i].source]++;
    assert_true(from[7] > rig->count * 2 / 5 && from[1] < rig->count / 20);
    rig_free(rig);
}

/* Packets for a node from two others that meet at its router: the oracle sends those first whose sender, the one of the higher
 * number, has more left to send, until both have the same, and knows what is left when nothing is. */
static void what_has_most_left_goes_first(void **state)
{
    (void)state;
    struct network_config config = chain("3");
    unsigned order[2][40], long_one[2] = {0};
    config.send_queue = 30;
    for (unsigned oracle = 0; oracle < 2; oracle++) {
        config.vc_arbitration = config.switch_arbitration = oracle ? NETWORK_ORACLE : NETWORK_ROUND_ROBIN;
        struct rig *rig = rig_new(&config);
        for (unsigned i = 0; i < 10; i++)
            assert_true(send(rig, 0, 1, 2, 0));
        for (unsigned i = 0; i < 30; i++)
            assert_true(send(rig, 2, 1, 2, 0));
        (void)finish(rig);
        assert_int_equal(rig->count, 40);
        for (unsigned i = 0; i < 40; i++)
            order[oracle][i] = rig->arrived[i].source;
        for (unsigned i = 0; i < 15; i++)
            long_one[oracle] += order[oracle][i] == 2;
        rig_free(rig);
    }
    assert_in_range(long_one[0], 6, 9);
    assert_true(long_one[1] >= 12);
}

static struct network_config crossbar(void)
{
    struct network_config config = defaults();
    config.topology = NETWORK_CROSSBAR;
    strcpy(config.size, "1");
    config.nodes = 32;
    return config;
}

/* The part of a full load of packets of 5 flits that a network accepts. */
static double accepted(const struct network_config *config)
{
    struct traffic_config traffic;
    struct traffic_result result;
    part_defaults(&traffic_kind, 0, &traffic);
    traffic.warmup = 500, traffic.measure = 1000, traffic.flits = 5, traffic.limit = 1;
    struct rig *rig = rig_new(config); /* for its topology and routes */
    const struct traffic_setup setup = {
        .config = &traffic, .network = config, .topology = &rig->topology, .routing = &rig->routing};
    struct traffic *run = traffic_new(&setup, 1);
    traffic_run(run, &result);
    traffic_free(run);
    rig_free(rig);
    return result.accepted;
}

/* Crossbar, packets of 5 flits, full load: inputs with single queues take 0.586 of it at most (Karol et al., "Input versus
 * output queueing on a space-division packet switch", 1987). With two, one iteration of the oracle's choice takes less,
 * because outputs that choose the same input stay idle; iterations to the end take more. */
static void oracle_matches_to_the_end(void **state)
{
    (void)state;
    struct network_config config = crossbar();
    config.vc_arbitration = config.switch_arbitration = NETWORK_ORACLE;
    assert_true(accepted(&config) > 0.66);
}

/* Most flits that one input sends in a clock. */
struct burst {
    uint64_t clock;
    uint32_t in_port, out_port, most;
    uint8_t in_vc;
};

static void note_hop(void *context, const struct network_hop *hop, const struct network_packet *packet)
{
    struct burst *burst = &((struct burst *)context)[hop->in_port];
    (void)packet;
    bool again = burst->most && burst->clock == hop->clock;
    if (again) {
        assert_int_not_equal(burst->in_vc % 2, hop->in_vc % 2);
        assert_int_not_equal(burst->out_port, hop->out_port);
    }
    burst->most = again ? 2 : burst->most ? burst->most : 1;
    burst->clock = hop->clock, burst->out_port = hop->out_port, burst->in_vc = hop->in_vc;
}

/* With input speed-up, an input sends two flits in a clock, of an even and an odd channel to two outputs, never more; without it,
 * one. More of a full load passes. */
static void inputs_send_two_flits_a_clock(void **state)
{
    (void)state;
    double passed[3];
    for (uint32_t speedup = 1; speedup <= 2; speedup++) {
        struct network_config config = crossbar();
        struct burst bursts[32] = {{0}};
        uint32_t most = 0;
        config.input_speedup = speedup;
        passed[speedup] = accepted(&config);
        struct rig *rig = rig_new(&config);
        struct network_observer observer = {.hop = note_hop, .context = bursts};
        network_observe(rig->network, &observer);
        for (uint32_t clock = 0; clock < 300; clock++) {
            for (uint32_t node = 0; node < 32; node++)
                (void)send(rig, node, (node * node * 3 + clock * clock * 7 + node * clock) % 32, 5, 0);
            run_clocks(rig, 1);
            rig->count = 0;
        }
        for (uint32_t port = 0; port < 32; port++)
            most = bursts[port].most > most ? bursts[port].most : most;
        assert_int_equal(most, speedup);
        rig_free(rig);
    }
    assert_true(passed[2] > passed[1] * 1.1);
}

/* Packets for a node from two others meet at its router. By counted loads, those of the one that has sent more go first; when it has been
 * silent for ten windows, those of the lower source. */
static void counted_loads_go_first(void **state)
{
    (void)state;
    for (unsigned silent = 0; silent < 2; silent++) {
        struct network_config config = chain("3");
        unsigned busy = 0;
        config.vcs = 4;
        config.send_queue = 30;
        config.vc_arbitration = config.switch_arbitration = NETWORK_LOADS;
        struct rig *rig = rig_new(&config);
        for (unsigned i = 0; i < 30; i++)
            assert_true(send(rig, 2, 1, 2, 0));
        run_clocks(rig, silent ? 10 * LOADS_WINDOW : 100);
        rig->count = 0;
        for (unsigned i = 0; i < 10; i++)
            assert_true(send(rig, 0, 1, 2, 0) && send(rig, 2, 1, 2, 0));
        (void)finish(rig);
        for (unsigned i = 0; i < 8; i++)
            busy += rig->arrived[i].source == 2;
        assert_true(silent ? busy <= 1 : busy >= 7);
        rig_free(rig);
    }
}

/* A packet waits no longer than younger ones have flits to pass: one that is made first goes before 30 of another node, which
 * are made after more clocks than they have flits. */
static void waiting_weighs_as_much_as_flits(void **state)
{
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        struct network_config config = chain("3");
        config.vcs = 1;
        config.send_queue = 30;
        config.vc_arbitration = config.switch_arbitration = NETWORK_ORACLE;
        struct rig *rig = rig_new(&config);
        rig->refuses_divergent = true;
        for (unsigned i = 0; i < 30; i++)
            assert_true(send(rig, 1, 1, 2, 0)); /* fill the node's channel */
        run_clocks(rig, 100);
        assert_true(send(rig, 2, 1, 2, 0));
        run_clocks(rig, late ? 100 : 10);
        for (unsigned i = 0; i < 30; i++)
            assert_true(send(rig, 0, 1, 2, 0));
        run_clocks(rig, 100);
        rig->refuses_divergent = false;
        network_unblock(rig->network, 1, 0, rig->queue->now);
        (void)finish(rig);
        unsigned before = 0;
        for (unsigned i = 0; rig->arrived[i].source != 2; i++)
            before += rig->arrived[i].source == 0;
        if (late)
            assert_int_equal(before, 0);
        else
            assert_in_range(before, 20, 30);
        rig_free(rig);
    }
}

static uint64_t account_of(struct rig *rig, const char *name)
{
    struct energy_ledger ledger;
    uint64_t energy = UINT64_MAX;
    energy_init(&ledger);
    network_energy(rig->network, &ledger, scope_enter(NULL, "net"));
    for (unsigned i = 0; i < ledger.count; i++)
        if (strcmp(ledger.accounts[i]->name, name) == 0)
            energy = energy_of(ledger.accounts[i]);
    energy_free(&ledger);
    return energy;
}

/* A link without traffic falls by one tier an epoch, at its end or the time of a change later; its idle bits follow. The
 * wire to a node, and a wire on the chip, stay. */
static void idle_links_get_narrow(void **state)
{
    (void)state;
    enum { EPOCH = 1000, WIDTH = 32 * 8, CHANGE = 100 };
    for (unsigned late = 0; late < 2; late++) {
        struct network_config config = chain("2");
        config.track = config.link_widths = config.off_chip = config.idle_epochs = true;
        config.epoch = EPOCH * PERIOD;
        config.width_time = CHANGE * PERIOD;
        config.width_change = late ? NETWORK_LATE : NETWORK_STOP;
        config.energy_idle = 1;
        struct rig *rig = rig_new(&config);
        uint32_t port = rig->topology.routers[0].first_port;
        static const uint32_t parts[] = {1, 2, 4, 8, 8};
        uint64_t before = 0, bits;
        for (unsigned epoch = 0; epoch < 5; epoch++, before = bits) {
            event_queue_run(rig->queue, (epoch * EPOCH + CHANGE + 1) * PERIOD);
            bits = account_of(rig, "net.idle_io");
            assert_true(bits > before && bits <= 2 * WIDTH * (epoch * EPOCH + CHANGE + 1));
            assert_int_equal(network_width(rig->network, port), parts[epoch]);
            assert_int_equal(network_width(rig->network, port + 1), 1);
        }
        event_queue_run(rig->queue, (5 * EPOCH + CHANGE) * PERIOD);
        uint64_t idle = EPOCH + EPOCH / 2 + EPOCH / 4 + 2 * EPOCH / 8 + CHANGE / 8;
        if (late) /* full width for the time of a change longer, and so on */
            idle = EPOCH + CHANGE + EPOCH / 2 + EPOCH / 4 + 2 * EPOCH / 8;
        assert_in_range(account_of(rig, "net.idle_io"), 2 * WIDTH * idle - 2 * WIDTH,
                        2 * WIDTH * idle + 2 * WIDTH);
        assert_int_equal(account_of(rig, "net.idle_wires"), 0);
        rig_free(rig);
    }
}

/* A change that takes longer than an epoch is finished before the next one begins, at the end of an epoch. */
static void long_changes_are_finished(void **state)
{
    (void)state;
    enum { EPOCH = 1000, CHANGE = 2500 };
    for (unsigned late = 0; late < 2; late++) {
        struct network_config config = chain("2");
        config.track = config.link_widths = config.off_chip = config.idle_epochs = true;
        config.epoch = EPOCH * PERIOD;
        config.width_time = CHANGE * PERIOD;
        config.width_change = late ? NETWORK_LATE : NETWORK_STOP;
        struct rig *rig = rig_new(&config);
        uint32_t port = rig->topology.routers[0].first_port;
        static const uint32_t begins[] = {1000, 4000, 7000}; /* ends of epochs */
        for (unsigned i = 0; i < 3; i++) {
            uint64_t clock = begins[i] + (late ? CHANGE : 0);
            network_sync(rig->network, (clock - 1) * PERIOD);
            assert_int_equal(network_width(rig->network, port), 1U << i);
            network_sync(rig->network, clock * PERIOD);
            assert_int_equal(network_width(rig->network, port), 2U << i);
        }
        assert_int_equal(network_link(rig->network, port)->changes, 3);
        assert_int_equal(network_link(rig->network, port)->stopped, late ? 0 : 3 * CHANGE);
        rig_free(rig);
    }
}

/* A node takes no packet, so its output stalls, and the link to its router behind it does. Of the two, only the link can be critical,
 * unless all ports can. */
static void outputs_to_nodes_are_candidates_by_key(void **state)
{
    (void)state;
    for (unsigned all = 0; all < 2; all++) {
        struct network_config config = chain("2");
        config.track = config.idle_epochs = true;
        config.track_ports = all ? NETWORK_ALL_PORTS : NETWORK_LINKS;
        config.vcs = 1;
        config.buffer = 2;
        config.epoch = 1000 * PERIOD;
        struct rig *rig = rig_new(&config);
        rig->refuses = 1;
        for (unsigned packet = 0; packet < 4; packet++)
            assert_true(send(rig, 0, 1, 4, 0));
        event_queue_run(rig->queue, 1010 * PERIOD);
        network_sync(rig->network, 1010 * PERIOD);
        const struct congestion *congestion = network_congestion(rig->network);
        assert_in_range(congestion->routers[0].most, 900, 1000);
        assert_int_equal(congestion->routers[0].pending, BIT(0));
        uint32_t node = rig->topology.node_ports[1] - rig->topology.routers[1].first_port;
        assert_true(all ? congestion->routers[1].most > 900 : congestion->routers[1].most == 0);
        assert_int_equal(congestion->routers[1].pending, all ? BIT(node) : 0);
        rig_free(rig);
    }
}

/* Stalls that last longer than 2^31 and 2^32 ticks are counted to the clock: a node takes no packet. */
static void long_stalls_are_counted(void **state)
{
    (void)state;
    static const uint64_t epochs[] = {UINT64_C(1000), UINT64_C(3000000000), UINT64_C(5000000000)};
    for (unsigned i = 0; i < 3; i++) {
        struct network_config config = chain("2");
        config.track = config.idle_epochs = true;
        config.track_ports = NETWORK_ALL_PORTS;
        config.vcs = 1;
        config.buffer = 4;
        config.epoch = epochs[i] * PERIOD;
        struct rig *rig = rig_new(&config);
        rig->refuses = 1;
        for (unsigned packet = 0; packet < 4; packet++)
            assert_true(send(rig, 0, 1, 4, 0));
        event_queue_run(rig->queue, (epochs[i] + 10) * PERIOD);
        network_sync(rig->network, (epochs[i] + 10) * PERIOD);
        const struct congestion_router *router = &network_congestion(rig->network)->routers[1];
        assert_in_range(router->most, epochs[i] - 50, epochs[i]);
        const struct network_link_counters *link = network_link(rig->network, rig->topology.node_ports[1]);
        assert_in_range(link->credit_stalls + link->vc_stalls, epochs[i] - 50, epochs[i]);
        rig_free(rig);
    }
}

/* A critical link keeps at least 1/4, and gets its full width back when it stalls. */
static void busy_links_stay_wide(void **state)
{
    (void)state;
    struct network_config config = chain("3");
    config.track = config.link_widths = config.off_chip = true;
    config.epoch = 1000 * PERIOD;
    config.width_time = 10 * PERIOD;
    struct rig *rig = rig_new(&config);
    uint32_t port = rig->topology.routers[1].first_port; /* towards router 0 */
    for (uint64_t clock = 0; clock < 20000; clock++) {
        if (clock < 3000 || clock > 12000) {
            (void)send(rig, 1, 0, 1, 0);
            (void)send(rig, 2, 0, 1, 0);
        }
        event_queue_run(rig->queue, clock * PERIOD);
        rig->count = 0;
        network_sync(rig->network, rig->queue->now);
        if (clock == 2999 || clock == 14999)
            assert_int_equal(network_width(rig->network, port), 1);
        if (clock == 11999)
            assert_int_equal(network_width(rig->network, port), 4);
    }
    assert_true(network_link(rig->network, port)->changes >= 2);
    rig_free(rig);
}

/* A narrow link that carries what it can stalls by the clock, although its packets have credits: it gets wide again at the end
 * of the epoch. With stalls summed over heads alone, it does not. */
static void full_narrow_links_get_wide(void **state)
{
    (void)state;
    enum { EPOCH = 1000 };
    for (unsigned heads = 0; heads < 2; heads++) {
        struct network_config config = chain("2");
        config.vcs = 8; /* no packet waits for a channel */
        config.track = config.link_widths = config.off_chip = config.idle_epochs = true;
        config.stalls = heads ? NETWORK_HEADS : NETWORK_CLOCKS;
        config.epoch = EPOCH * PERIOD;
        config.width_time = 0;
        struct rig *rig = rig_new(&config);
        uint32_t port = rig->topology.routers[0].first_port;
        event_queue_run(rig->queue, (4 * EPOCH + 1) * PERIOD);
        network_sync(rig->network, rig->queue->now);
        assert_int_equal(network_width(rig->network, port), 8);
        for (uint64_t clock = 4 * EPOCH; clock < 6 * EPOCH; clock++) {
            (void)(clock % 6 == 0 && send(rig, 0, 1, 1, 0)); /* a little more than an eighth */
            event_queue_run(rig->queue, clock * PERIOD);
        }
        network_sync(rig->network, rig->queue->now);
        assert_int_equal(network_width(rig->network, port) < 8, !heads);
        rig_free(rig);
    }
}

static void bad_keys_are_refused(void **state)
{
    (void)state;
    struct network_config config = defaults();
    config.topology = NETWORK_TORUS;
    struct rig *rig = rig_new(&config);
    struct error err;
    config.path_priority = true;
    assert_false(network_fits(&config, &rig->topology, &rig->routing, 1, &err));
    assert_non_null(strstr(err.text, "path_priority: needs `track: true`"));
    config.path_priority = false;
    config.classes = 2, config.vcs = 2, config.priority_buffer = 3;
    assert_false(network_fits(&config, &rig->topology, &rig->routing, 1, &err));
    assert_non_null(
        strstr(err.text, "priority_buffer: 3 flits; each of 2 classes and 2 sets of channels needs one"));
    config.priority_buffer = 32;
    assert_false(network_fits(&config, &rig->topology, &rig->routing, 1, &err));
    assert_non_null(strstr(err.text, "leave nothing of 8 flits"));
    config.priority_buffer = 4, config.flow = NETWORK_CUT_THROUGH;
    assert_false(network_fits(&config, &rig->topology, &rig->routing, 2, &err));
    assert_non_null(strstr(err.text, "priority buffers have 1"));
    assert_true(network_fits(&config, &rig->topology, &rig->routing, 1, &err));
    rig_free(rig);
}

/* Everything on, at full load, on every topology and flow control, with all invariants checked in every clock. FLITS=n:
 * flits that are to arrive over all of them. */
static void invariants_hold(void **state)
{
    (void)state;
    enum { WAYS = 4 };
    const uint64_t wanted = flits_each(200000, SHAPES * WAYS);
    uint64_t pairs = 0, changes = 0, buffered = 0;
    for (unsigned i = 0; i < SHAPES * WAYS; i++) {
        struct network_config config = shaped(i / WAYS);
        struct traffic_config traffic;
        part_defaults(&traffic_kind, 0, &traffic);
        config.classes = 1 + i % 2;
        config.vcs = 2;
        config.speculative = i % 4 == 1;
        config.vc_arbitration = config.switch_arbitration = (enum network_arbitration)(i % 3);
        config.track = config.path_priority = config.link_widths = config.off_chip = true;
        config.epoch = 50 * 1000000;
        config.width_time = i % 5 * 10 * 1000000;
        config.width_change = i % 2 ? NETWORK_LATE : NETWORK_STOP;
        config.hysteresis = i % 4;
        config.fairness = i % 3 * 20;
        config.priority_buffer = 4;
        config.priority_shared = i % 3 == 2;
        config.flow = i % 7 == 3 ? NETWORK_CUT_THROUGH : NETWORK_WORMHOLE;
        struct rig *rig = rig_new(&config); /* for its topology and routes */
        traffic.warmup = 0, traffic.measure = 400, traffic.limit = 1;
        traffic.flits = config.flow == NETWORK_WORMHOLE ? 1 + i % 12 : 1;
        traffic.urgent = 50;
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
            assert_true(result.accepted > 0.01);
            arrived += network_totals(traffic_network(run))->flits_left;
            buffered += network_totals(traffic_network(run))->buffered;
            pairs += network_congestion(traffic_network(run))->counters.pairs_added;
            for (uint32_t p = 0; p < rig->topology.port_count; p++)
                changes += network_link(traffic_network(run), p)->changes;
            traffic_free(run);
        }
        rig_free(rig);
    }
    assert_true(pairs > 100 && changes > 1000 && buffered > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urgent_packets_pass),
        cmocka_unit_test(buffers_are_for_urgent_packets),
        cmocka_unit_test(critical_paths_go_first),
        cmocka_unit_test(farther_packets_go_first),
        cmocka_unit_test(idle_links_get_narrow),
        cmocka_unit_test(long_changes_are_finished),
        cmocka_unit_test(outputs_to_nodes_are_candidates_by_key),
        cmocka_unit_test(long_stalls_are_counted),
        cmocka_unit_test(busy_links_stay_wide),
        cmocka_unit_test(bad_keys_are_refused),
        cmocka_unit_test(invariants_hold),
        cmocka_unit_test(oracle_matches_to_the_end),
        cmocka_unit_test(inputs_send_two_flits_a_clock),
        cmocka_unit_test(counted_loads_go_first),
        cmocka_unit_test(waiting_weighs_as_much_as_flits),
        cmocka_unit_test(what_has_most_left_goes_first),
        cmocka_unit_test(full_narrow_links_get_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
