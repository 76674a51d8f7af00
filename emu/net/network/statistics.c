/* Statistics and energy of a network. */
#include "emu/net/network/state.h"

static void publish_totals(const struct network *network, struct stats *stats, struct scope scope)
{
    const struct network_totals *totals = &network->totals;
    const struct stats_row rows[] = {
        {"packets_sent", &totals->sent, "packets", "Packets that entered a node's queue."},
        {"packets_delivered", &totals->delivered, "packets", "Packets delivered to their destinations."},
        {"flits_entered", &totals->flits_entered, "flits", "Flits that left their source."},
        {"flits_left", &totals->flits_left, "flits", "Flits taken by their destination."},
        {"urgent_flits", &totals->urgent_left, "flits",
         "Of `flits_left`, those of packets of non-divergent accesses that have arrived whole."},
        {"hops", &totals->hops, "flits", "Flits that crossed a router, summed over routers."},
        {"refusals", &totals->refusals, "packets", "Deliveries that the receiver refused."},
        {"busy_clocks", &totals->clocks, "clocks", "Clocks in which anything moved or could move."},
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows);
}

static void publish_link(const struct network *network, struct stats *stats, struct scope scope,
                         uint32_t port)
{
    const struct network_link_counters *link = &network->links[port];
    const struct stats_row rows[] = {
        {"flits", &link->flits, "flits", "Flits sent by this output."},
        {"busy", &link->busy, "clocks", "Clocks in which its wire carried a flit or changed its width."},
        {"credit_stalls", &link->credit_stalls, "clocks",
         "Clocks in which a flit waited for a credit of this output, summed over flits."},
        {"vc_stalls", &link->vc_stalls, "clocks",
         "Clocks in which a packet waited for a virtual channel of this output, summed over packets."},
        {"width_changes", &link->changes, "changes", "Changes of its link's width."},
        {"stopped", &link->stopped, "clocks", "Clocks of `busy` in which its link changed its width."},
    };
    stats_counters(stats, scope, rows, sizeof rows / sizeof *rows - (network->config.link_widths ? 0 : 2));
}

static void publish_paths(const struct network *network, struct stats *stats, struct scope scope)
{
    const struct congestion_counters *paths = &network->epochs.congestion->counters;
    const struct network_waits *waits = &network->routers.waits;
    const struct stats_row rows[] = {
        {"epochs", &paths->epochs, "epochs", "Epochs that have ended."},
        {"trackers", &paths->trackers, "flits", "Flits that carried a tracker."},
        {"pairs_added", &paths->pairs_added, "pairs",
         "Pairs of ports that became critical, summed over routers."},
        {"pairs_removed", &paths->pairs_removed, "pairs", "Pairs of ports that stopped to be critical."},
        {"critical_packets", &waits->packets[1], "packets",
         "Packets at routers, between critical pairs of ports."},
        {"critical_clocks", &waits->clocks[1], "clocks", "Clocks of their heads in these routers."},
        {"critical_longest", &waits->longest[1], "clocks", "The longest such time."},
        {"other_packets", &waits->packets[0], "packets", "Packets at routers, between other pairs of ports."},
        {"other_clocks", &waits->clocks[0], "clocks", "Clocks of their heads in these routers."},
        {"other_longest", &waits->longest[0], "clocks",
         "The longest such time: how long priorities let a packet starve."},
    };
    stats_counters(stats, scope, rows, network->routers.begun ? sizeof rows / sizeof *rows : 4);
}

static void publish_management(const struct network *network, struct stats *stats, struct scope scope)
{
    if (network->epochs.congestion)
        publish_paths(network, stats, scope);
    if (!network->channels.priority)
        return;
    stats_counter(stats, scope, "urgent_hops", &network->totals.urgent, "flits",
                  "Of `hops`, flits of packets of non-divergent accesses.");
    stats_counter(stats, scope, "buffered_hops", &network->totals.buffered, "flits",
                  "Of `urgent_hops`, flits out of priority buffers.");
}

void network_publish(const struct network *network, struct stats *stats, struct scope scope)
{
    const struct topology *topology = network->topology;
    publish_totals(network, stats, scope);
    publish_management(network, stats, scope);
    for (uint32_t r = 0; r < topology->router_count; r++) {
        const struct topology_router *router = &topology->routers[r];
        struct scope of_router = scope_at(&scope, "router", r);
        for (uint32_t p = 0; p < router->ports; p++) {
            uint32_t port = router->first_port + p;
            struct scope of_port = scope_at(&of_router, "port", p);
            publish_link(network, stats, scope_enter(&of_port, "out"), port);
            for (uint32_t v = 0; v < network->channels.vcs; v++) {
                const struct network_vc_counters *vc =
                    &network->vc_counters[port * network->channels.vcs + v];
                struct scope of_vc = scope_at(&of_port, "vc", v);
                stats_counter(stats, of_vc, "flits", &vc->flits, "flits",
                              "Flits that left this virtual channel's input queue.");
                stats_counter(
                    stats, of_vc, "stalls", &vc->stalls, "clocks",
                    "Clocks in which the flit at its head waited for a credit or a virtual channel.");
            }
        }
    }
    for (uint32_t n = 0; n < topology->node_count; n++)
        publish_link(network, stats, scope_at(&scope, "node", n), topology->port_count + n);
}

static uint64_t node_flits(const void *context)
{
    const struct network *network = context;
    return network->totals.flits_entered + network->totals.flits_left;
}

static bool is_off_chip(const struct network *network, uint32_t port)
{
    const struct topology_port *at = &network->topology->ports[port];
    return at->wire != TOPOLOGY_NO_WIRE && network->topology->wires[at->wire].off_chip;
}

/* Bits on off-chip wires, or on others between routers. */
static uint64_t bits_of(const struct network *network, bool off_chip)
{
    uint64_t flits = 0;
    for (uint32_t p = 0; p < network->topology->port_count; p++)
        if (network->topology->ports[p].wire != TOPOLOGY_NO_WIRE && is_off_chip(network, p) == off_chip)
            flits += network->links[p].flits;
    return flits * network->config.flit * 8;
}

static uint64_t wire_bits(const void *network)
{
    return bits_of(network, false);
}

static uint64_t io_bits(const void *network)
{
    return bits_of(network, true);
}

/* Bits that wires between routers could have carried so far, without those that they carried. */
static uint64_t idle_bits_of(const struct network *network, bool off_chip)
{
    uint64_t bits = 0, clock = network->queue->now / network->clock->period;
    clock = clock > network->next ? clock : network->next;
    for (uint32_t p = 0; p < network->topology->port_count; p++)
        if (network->topology->ports[p].wire != TOPOLOGY_NO_WIRE && is_off_chip(network, p) == off_chip)
            bits += epochs_idle_bits(network, p, clock);
    return bits;
}

static uint64_t idle_bits(const void *network)
{
    return idle_bits_of(network, false);
}

/* A network without work ends its epochs late. Ends those that have passed, so that the widths are up to date. */
static uint64_t idle_io_bits(const void *context)
{
    struct network *network = (struct network *)(uintptr_t)context;
    network_sync(network, network->queue->now);
    return idle_bits_of(network, true);
}

static bool has_off_chip(const struct network *network)
{
    for (uint32_t w = 0; w < network->topology->wire_count; w++)
        if (network->topology->wires[w].off_chip)
            return true;
    return false;
}

void network_energy(struct network *network, struct energy_ledger *ledger, struct scope scope)
{
    const struct network_config *config = &network->config;
    const struct energy_account accounts[] = {
        {.name = "flits", .read = node_flits, .unit = config->energy_flit, .fields = "energy_flit"},
        {.name = "hops", .count = &network->totals.hops, .unit = config->energy_hop, .fields = "energy_hop"},
        {.name = "wires", .read = wire_bits, .unit = config->energy_bit, .fields = "energy_bit"},
        {.name = "idle_wires", .read = idle_bits, .unit = config->energy_idle, .fields = "energy_idle"},
        {.name = "io", .read = io_bits, .unit = config->energy_bit, .fields = "energy_bit"},
        {.name = "idle_io", .read = idle_io_bits, .unit = config->energy_idle, .fields = "energy_idle"},
    };
    size_t count = sizeof accounts / sizeof *accounts - (has_off_chip(network) ? 0 : 2);
    for (size_t i = 0; i < count; i++) {
        struct energy_account account = accounts[i];
        account.context = network;
        account.kind = ENERGY_PER_EVENT;
        account.group = "network";
        energy_add(ledger, scope, &account);
    }
}
