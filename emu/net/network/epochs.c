#include "emu/net/network/epochs.h"

#include <stdlib.h>

#include "emu/net/network/state.h"
#include "emu/sim/alloc.h"

/* Ticks of 32 bits are compared by their difference, so no count may be older than 2^31 of them. */
enum { SETTLE_TICKS = 1 << 30 };

uint64_t epochs_idle_bits(const struct network *network, uint32_t port, uint64_t clock)
{
    const struct link_width *width = &network->epochs.widths[port];
    const struct network_link_counters *link = &network->links[port];
    uint64_t occupied = link->busy - link->stopped - width->occupied, clocks = clock - width->since;
    uint64_t bits = UINT64_C(8) * network->topology->ports[port].width / width->parts;
    return width->idle + (clocks > occupied ? (clocks - occupied) * bits : 0);
}

void epochs_change_width(struct network *network, uint32_t number, uint32_t parts, uint32_t pause,
                         uint64_t clock)
{
    struct port *port = &network->routers.ports[number];
    struct link_width *width = &network->epochs.widths[number];
    struct network_link_counters *link = &network->links[number];
    uint64_t from = port->busy > clock ? port->busy : clock;
    width->idle = epochs_idle_bits(network, number, clock);
    width->since = clock;
    width->occupied = link->busy - link->stopped;
    width->parts = (uint8_t)parts;
    port->flit_clocks =
        (uint16_t)link_flit_clocks(network->config.flit * parts, network->topology->ports[number].width);
    port->busy = from + pause;
    link->busy += pause;
    link->stopped += pause;
    link->changes++;
}

/* Applies late changes of widths that are due at a clock. */
static void apply_changes(struct network *network, uint64_t clock)
{
    network->epochs.change = UINT64_MAX;
    for (uint32_t p = 0; p < network->topology->port_count; p++) {
        struct link_width *width = &network->epochs.widths[p];
        if (width->at <= clock) {
            epochs_change_width(network, p, width->next, 0, width->at);
            width->at = UINT64_MAX;
        }
        network->epochs.change = width->at < network->epochs.change ? width->at : network->epochs.change;
    }
}

/* Counts the stalls so far of heads that wait. */
static void count_waiting(struct network *network, const struct router *router, uint32_t input, uint32_t tick)
{
    struct input_vc *in = &network->routers.inputs[router->first_port * network->channels.vcs + input];
    uint32_t out_port = router->first_port + in->out_port;
    bool waits = in->state == VC_WAITING;
    bool blocked = in->state == VC_ACTIVE && in->count &&
                   !network->routers.outputs[out_port * network->channels.vcs + in->out_vc].credits;
    if ((!waits && !blocked) || !tick_later(tick, in->since))
        return;
    uint32_t waited = (tick - in->since) / network->speedup;
    in->since += waited * network->speedup;
    *(waits ? &network->links[out_port].vc_stalls : &network->links[out_port].credit_stalls) += waited;
    network->vc_counters[router->first_port * network->channels.vcs + input].stalls += waited;
}

/* Chooses the width of an off-chip link for the next epoch. */
static void adapt_width(struct network *network, uint32_t number, const struct congestion_router *router,
                        const struct congestion_epoch *epoch, uint64_t most, uint64_t clock)
{
    const struct topology_port *port = &network->topology->ports[number];
    struct link_width *width = &network->epochs.widths[number];
    if (port->wire == TOPOLOGY_NO_WIRE || !network->topology->wires[port->wire].off_chip)
        return;
    if (clock < width->ready) /* changes now */
        return;
    const struct congestion_link link = {.flits = network->epochs.clocks /
                                                  link_flit_clocks(network->config.flit, port->width),
                                         .most = most,
                                         .parts = width->parts,
                                         .threshold = network->config.width_threshold,
                                         .critical = router->critical & BIT(number - router->first_port),
                                         .carries = network->config.width_floor == NETWORK_FLITS};
    uint32_t parts = congestion_width(&link, epoch);
    if (parts == width->parts)
        return;
    width->ready = clock + network->epochs.width_clocks;
    if (network->config.width_change == NETWORK_STOP) {
        epochs_change_width(network, number, parts, network->epochs.width_clocks, clock);
        return;
    }
    width->next = (uint8_t)parts;
    width->at = width->ready;
    network->epochs.change = width->at < network->epochs.change ? width->at : network->epochs.change;
}

static void adapt_widths(struct network *network, const struct congestion_router *router, uint64_t clock)
{
    uint64_t most = 0;
    for (uint32_t p = 0; p < router->ports; p++) {
        uint64_t stalls = network->epochs.ended[router->first_port + p].stalls;
        most = router->candidates & BIT(p) && stalls > most ? stalls : most;
    }
    for (uint32_t p = router->first_port; p < router->first_port + router->ports; p++)
        adapt_width(network, p, router, &network->epochs.ended[p], most, clock);
}

static uint64_t credits_of(const struct network *network, uint32_t port)
{
    uint64_t credits = 0;
    for (uint32_t vc = 0; vc < network->channels.vcs; vc++)
        credits += network->routers.outputs[port * network->channels.vcs + vc].credits;
    return credits;
}

/* The stalls of an output so far. */
static uint64_t stalls_of(const struct network *network, uint32_t port)
{
    const struct network_link_counters *link = &network->links[port];
    return network->config.stalls == NETWORK_HEADS ? link->credit_stalls + link->vc_stalls
                                                   : network->epochs.stalls[port].ticks / network->speedup;
}

/* Counts all stalls before a tick. */
static void settle(struct network *network, uint32_t tick)
{
    for (uint32_t p = 0; network->epochs.stalls && p < network->topology->port_count; p++)
        stalls_settle(&network->epochs.stalls[p], tick);
    for (uint32_t r = 0; r < network->topology->router_count; r++)
        for (uint32_t input = 0; input < network->routers.all[r].ports * network->channels.vcs; input++)
            count_waiting(network, &network->routers.all[r], input, tick);
}

/* Ends the epoch whose end is `clock`. */
static void end_epoch(struct network *network, uint64_t clock)
{
    uint32_t tick = (uint32_t)(clock * network->speedup);
    network->epochs.end += network->epochs.clocks;
    if (network->totals->hops == network->epochs.hops && !network->config.idle_epochs) {
        for (uint32_t p = 0; p < network->topology->port_count; p++)
            stalls_settle(&network->epochs.stalls[p], tick);
        return;
    }
    network->epochs.hops = network->totals->hops;
    settle(network, tick);
    for (uint32_t p = 0; p < network->topology->port_count; p++) {
        const struct network_link_counters *link = &network->links[p];
        uint64_t stalls = stalls_of(network, p);
        uint64_t credits = credits_of(network, p) + link->flits; /* each flit has taken one */
        network->epochs.ended[p] = (struct congestion_epoch){stalls - network->epochs.before[p].stalls,
                                                             credits - network->epochs.before[p].credits};
        network->epochs.before[p] = (struct congestion_epoch){stalls, credits};
    }
    for (uint32_t r = 0; network->config.link_widths && r < network->topology->router_count; r++)
        adapt_widths(network, &network->epochs.congestion->routers[r], clock);
    congestion_end_epoch(network->epochs.congestion, network->epochs.ended);
}

/* Call it after `end`, `change` or `settle` was set. */
static void set_due(struct network *network)
{
    network->epochs.due =
        network->epochs.change < network->epochs.end ? network->epochs.change : network->epochs.end;
    network->epochs.due =
        network->epochs.settle < network->epochs.due ? network->epochs.settle : network->epochs.due;
}

void epochs_pass(struct network *network)
{
    if (network->epochs.settle <= network->epochs.due) {
        settle(network, (uint32_t)(network->epochs.settle * network->speedup));
        network->epochs.settle += SETTLE_TICKS / network->speedup;
    } else if (network->epochs.change <= network->epochs.end)
        apply_changes(network, network->epochs.change);
    else
        end_epoch(network, network->epochs.end);
    set_due(network);
}

/* The outputs of a router that can be critical. */
static uint64_t candidates_of(const struct network *network, uint32_t router)
{
    const struct topology_router *of = &network->topology->routers[router];
    uint64_t links = 0;
    for (uint32_t p = 0; p < of->ports; p++)
        links |= network->topology->ports[of->first_port + p].wire == TOPOLOGY_NO_WIRE ? 0 : BIT(p);
    return network->config.track_ports == NETWORK_ALL_PORTS ? low_bits(of->ports) : links;
}

/* Makes the state of critical paths. */
static void make_paths(struct network *network)
{
    const struct topology *topology = network->topology;
    const struct network_config *config = &network->config;
    uint32_t *first = alloc(topology->router_count, sizeof *first),
             *ports = alloc(topology->router_count, sizeof *ports);
    uint64_t *candidates = alloc(topology->router_count, sizeof *candidates);
    for (uint32_t r = 0; r < topology->router_count; r++) {
        first[r] = topology->routers[r].first_port;
        ports[r] = topology->routers[r].ports;
        candidates[r] = candidates_of(network, r);
    }
    network->epochs.congestion =
        congestion_new(&(struct congestion_setup){.routers = topology->router_count,
                                                  .first_port = first,
                                                  .ports = ports,
                                                  .candidates = candidates,
                                                  .threshold = config->track_threshold,
                                                  .hysteresis = config->hysteresis,
                                                  .reorder = config->pair_order == NETWORK_LATEST});
    free(first);
    free(ports);
    free(candidates);
    network->epochs.before = alloc(topology->port_count, sizeof *network->epochs.before);
    network->epochs.ended = alloc(topology->port_count, sizeof *network->epochs.ended);
    network->epochs.stalls = alloc(topology->port_count, sizeof *network->epochs.stalls);
    for (uint32_t p = 0; p < topology->port_count; p++)
        network->epochs.before[p].credits = credits_of(network, p);
    network->epochs.clocks = config->epoch / network->clock->period;
    network->epochs.clocks += !network->epochs.clocks;
    network->epochs.end = network->epochs.clocks;
    network->epochs.width_clocks = (uint32_t)(config->width_time / network->clock->period);
}

void epochs_make(struct network *network)
{
    struct epochs *epochs = &network->epochs;
    size_t ports = network->topology->port_count;
    *epochs = (struct epochs){.end = UINT64_MAX,
                              .change = UINT64_MAX,
                              .settle = SETTLE_TICKS / network->speedup,
                              .widths = alloc(ports, sizeof *epochs->widths)};
    for (size_t p = 0; p < ports; p++)
        epochs->widths[p] = (struct link_width){.parts = 1, .at = UINT64_MAX};
    if (network->config.track)
        make_paths(network);
    set_due(network);
}

void epochs_free(struct epochs *epochs)
{
    congestion_free(epochs->congestion);
    free(epochs->stalls);
    free(epochs->before);
    free(epochs->ended);
    free(epochs->widths);
}
