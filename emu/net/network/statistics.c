/* Statistics and energy of a network. */
#include "emu/net/network/state.h"

static void publish_totals(const struct network *network, struct stats *stats, struct scope scope)
{
    const struct network_totals *totals = network->totals;
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
    stats_counter(stats, scope, "urgent_hops", &network->totals->urgent, "flits",
                  "Of `hops`, flits of packets of non-divergent accesses.");
    stats_counter(stats, scope, "buffered_hops", &network->totals->buffered, "flits",
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
    return network->totals->flits_entered + network->totals->flits_left;
}

/* Classes of wires between routers; each has an account for bits that move and one for idle wires. */
enum wire_class { CLASS_ON_CHIP, CLASS_INTERPOSER, CLASS_IO, WIRE_CLASSES };

static enum wire_class class_of(const struct topology_wire *wire)
{
    if (!wire->off_chip)
        return CLASS_ON_CHIP;
    return wire->kind == WIRES_INTERPOSER ? CLASS_INTERPOSER : CLASS_IO;
}

/* Returns the wire of a port if it is one of the class, else NULL. */
static const struct topology_wire *wire_of(const struct network *network, uint32_t port,
                                           enum wire_class class)
{
    const uint32_t number = network->topology->ports[port].wire;
    const struct topology_wire *wire = &network->topology->wires[number];
    return number != TOPOLOGY_NO_WIRE && class_of(wire) == class ? wire : NULL;
}

/* Energy in fJ of the bits that wires of the class have carried. */
static uint64_t moved_on(const struct network *network, enum wire_class class)
{
    uint64_t sum = 0;
    for (uint32_t p = 0; p < network->topology->port_count; p++) {
        const struct topology_wire *wire = wire_of(network, p, class);
        sum += wire ? network->links[p].flits * wire->energy_bit : 0;
    }
    return sum * network->config.flit * 8;
}

/* Energy in fJ of the bits that wires of the class could have carried so far, without those that they carried. */
static uint64_t idle_on(const struct network *network, enum wire_class class)
{
    uint64_t sum = 0, clock = network->queue->now / network->clock->period;
    clock = clock > network_next(network) ? clock : network_next(network);
    for (uint32_t p = 0; p < network->topology->port_count; p++) {
        const struct topology_wire *wire = wire_of(network, p, class);
        sum += wire ? epochs_idle_bits(network, p, clock) * wire->energy_idle : 0;
    }
    return sum;
}

static uint64_t moved_on_chip(const void *network)
{
    return moved_on(network, CLASS_ON_CHIP);
}

static uint64_t moved_on_interposer(const void *network)
{
    return moved_on(network, CLASS_INTERPOSER);
}

static uint64_t moved_off_chip(const void *network)
{
    return moved_on(network, CLASS_IO);
}

static uint64_t idle_on_chip(const void *network)
{
    return idle_on(network, CLASS_ON_CHIP);
}

/* A network without work ends its epochs late. Ends those that have passed, so that the widths are up to date. */
static uint64_t idle_off_chip(const void *context, enum wire_class class)
{
    struct network *network = (struct network *)(uintptr_t)context;
    network_sync(network, network->queue->now);
    return idle_on(network, class);
}

static uint64_t idle_on_interposer(const void *network)
{
    return idle_off_chip(network, CLASS_INTERPOSER);
}

static uint64_t idle_io(const void *network)
{
    return idle_off_chip(network, CLASS_IO);
}

/* Wires of a class. */
struct wires_found {
    bool some;
    bool own;    /* one of them has energies of its own, not the network's */
    bool untold; /* the kind of one of them is unknown, and so is its energy */
};

static struct wires_found find_wires(const struct network *network, enum wire_class class)
{
    const struct network_config *config = &network->config;
    struct wires_found found = {false, false, false};
    for (uint32_t w = 0; w < network->topology->wire_count; w++) {
        const struct topology_wire *wire = &network->topology->wires[w];
        if (class_of(wire) != class)
            continue;
        found.some = true;
        found.own |= wire->kind != config->wires;
        found.untold |= wire->kind == WIRES_UNKNOWN && !wire->energy_bit && !wire->energy_idle;
    }
    return found;
}

static void add_account(struct network *network, struct energy_ledger *ledger, struct scope scope,
                        struct energy_account account)
{
    account.context = network;
    account.kind = ENERGY_PER_EVENT;
    account.group = "network";
    energy_add(ledger, scope, &account);
}

void network_energy(struct network *network, struct energy_ledger *ledger, struct scope scope)
{
    static const struct {
        const char *moved, *idle;
        uint64_t (*read_moved)(const void *network), (*read_idle)(const void *network);
    } classes[WIRE_CLASSES] = {
        [CLASS_ON_CHIP] = {"wires", "idle_wires", moved_on_chip, idle_on_chip},
        [CLASS_INTERPOSER] = {"interposer", "idle_interposer", moved_on_interposer, idle_on_interposer},
        [CLASS_IO] = {"io", "idle_io", moved_off_chip, idle_io},
    };
    const struct network_config *config = &network->config;
    add_account(
        network, ledger, scope,
        (struct energy_account){
            .name = "flits", .read = node_flits, .unit = config->energy_flit, .fields = "energy_flit"});
    add_account(network, ledger, scope,
                (struct energy_account){.name = "hops",
                                        .count = &network->totals->hops,
                                        .unit = config->energy_hop,
                                        .fields = "energy_hop"});
    for (enum wire_class class = 0; class < WIRE_CLASSES; class ++) {
        const struct wires_found found = find_wires(network, class);
        if (class != CLASS_ON_CHIP && !found.some)
            continue;
        struct energy_account account = {.name = classes[class].moved,
                                         .read = classes[class].read_moved,
                                         .unit = 1,
                                         .fields = found.own ? NULL : "energy_bit",
                                         .source = "energy_bit of each wire",
                                         .untold = found.untold ? WIRES_UNTOLD : NULL};
        add_account(network, ledger, scope, account);
        account.name = classes[class].idle;
        account.read = classes[class].read_idle;
        account.fields = found.own ? NULL : "energy_idle";
        account.source = "energy_idle of each wire";
        account.idle = "wires, energy_idle";
        add_account(network, ledger, scope, account);
    }
}
