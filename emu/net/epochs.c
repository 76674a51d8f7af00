#include "emu/net/epochs.h"

#include <stdlib.h>

#include "emu/sim/alloc.h"

/* Ticks of 32 bits are compared by their difference, so no count may be older than 2^31 of them. */
enum { SETTLE_TICKS = 1 << 30 };

uint64_t epochs_idle_bits(const struct network *network, uint32_t port, uint64_t clock)
{
    const struct link_width *width = &network->widths[port];
    const struct network_link_counters *link = &network->links[port];
    uint64_t occupied = link->busy - link->stopped - width->occupied, clocks = clock - width->since;
    uint64_t bits = UINT64_C(8) * network->topology->ports[port].width / width->parts;
    return width->idle + (clocks > occupied ? (clocks - occupied) * bits : 0);
}

void epochs_change_width(struct network *network, uint32_t number, uint32_t parts, uint32_t pause,
                         uint64_t clock)
{
    struct port *port = &network->ports[number];
    struct link_width *width = &network->widths[number];
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
    network->change = UINT64_MAX;
    for (uint32_t p = 0; p < network->topology->port_count; p++) {
        struct link_width *width = &network->widths[p];
        if (width->at <= clock) {
            epochs_change_width(network, p, width->next, 0, width->at);
            width->at = UINT64_MAX;
        }
        network->change = width->at < network->change ? width->at : network->change;
    }
}

/* Counts the stalls so far of heads that wait. */
static void count_waiting(struct network *network, const struct router *router, uint32_t input, uint32_t tick)
{
    struct input_vc *in = &network->inputs[router->first_port * network->vcs + input];
    uint32_t out_port = router->first_port + in->out_port;
    bool waits = in->state == VC_WAITING;
    bool blocked = in->state == VC_ACTIVE && in->count &&
                   !network->outputs[out_port * network->vcs + in->out_vc].credits;
    if ((!waits && !blocked) || !tick_later(tick, in->since))
        return;
    uint32_t waited = (tick - in->since) / network->speedup;
    in->since += waited * network->speedup;
    *(waits ? &network->links[out_port].vc_stalls : &network->links[out_port].credit_stalls) += waited;
    network->vc_counters[router->first_port * network->vcs + input].stalls += waited;
}

/* Chooses the width of an off-chip link for the next epoch. */
static void adapt_width(struct network *network, uint32_t number, const struct congestion_router *router,
                        const struct congestion_epoch *epoch, uint64_t most, uint64_t clock)
{
    const struct topology_port *port = &network->topology->ports[number];
    struct link_width *width = &network->widths[number];
    if (port->wire == TOPOLOGY_NO_WIRE || !network->topology->wires[port->wire].off_chip)
        return;
    if (clock < width->ready) /* changes now */
        return;
    uint64_t flits = network->epoch_clocks / link_flit_clocks(network->config.flit, port->width);
    bool critical = router->critical & BIT(number - router->first_port);
    uint32_t parts =
        congestion_width(critical, width->parts, epoch, flits, most, network->config.width_threshold);
    if (parts == width->parts)
        return;
    width->ready = clock + network->width_clocks;
    if (network->config.width_change == NETWORK_STOP) {
        epochs_change_width(network, number, parts, network->width_clocks, clock);
        return;
    }
    width->next = (uint8_t)parts;
    width->at = width->ready;
    network->change = width->at < network->change ? width->at : network->change;
}

static void adapt_widths(struct network *network, const struct congestion_router *router, uint64_t clock)
{
    uint64_t most = 0;
    for (uint32_t p = router->first_port; p < router->first_port + router->ports; p++)
        most = network->ended[p].stalls > most ? network->ended[p].stalls : most;
    for (uint32_t p = router->first_port; p < router->first_port + router->ports; p++)
        adapt_width(network, p, router, &network->ended[p], most, clock);
}

static uint64_t credits_of(const struct network *network, uint32_t port)
{
    uint64_t credits = 0;
    for (uint32_t vc = 0; vc < network->vcs; vc++)
        credits += network->outputs[port * network->vcs + vc].credits;
    return credits;
}

/* The stalls of an output so far. */
static uint64_t stalls_of(const struct network *network, uint32_t port)
{
    const struct network_link_counters *link = &network->links[port];
    return network->config.stalls == NETWORK_HEADS ? link->credit_stalls + link->vc_stalls
                                                   : network->stalls[port].ticks / network->speedup;
}

/* Counts all stalls before a tick. */
static void settle(struct network *network, uint32_t tick)
{
    for (uint32_t p = 0; network->stalls && p < network->topology->port_count; p++)
        stalls_settle(&network->stalls[p], tick);
    for (uint32_t r = 0; r < network->topology->router_count; r++)
        for (uint32_t input = 0; input < network->routers[r].ports * network->vcs; input++)
            count_waiting(network, &network->routers[r], input, tick);
}

/* Ends the epoch whose end is `clock`. */
static void end_epoch(struct network *network, uint64_t clock)
{
    uint32_t tick = (uint32_t)(clock * network->speedup);
    network->epoch_end += network->epoch_clocks;
    if (network->totals.hops == network->epoch_hops && !network->config.idle_epochs) {
        for (uint32_t p = 0; p < network->topology->port_count; p++)
            stalls_settle(&network->stalls[p], tick);
        return;
    }
    network->epoch_hops = network->totals.hops;
    settle(network, tick);
    for (uint32_t p = 0; p < network->topology->port_count; p++) {
        const struct network_link_counters *link = &network->links[p];
        uint64_t stalls = stalls_of(network, p);
        uint64_t credits = credits_of(network, p) + link->flits; /* each flit has taken one */
        network->ended[p] =
            (struct congestion_epoch){stalls - network->epoch[p].stalls, credits - network->epoch[p].credits};
        network->epoch[p] = (struct congestion_epoch){stalls, credits};
    }
    for (uint32_t r = 0; network->config.link_widths && r < network->topology->router_count; r++)
        adapt_widths(network, &network->congestion->routers[r], clock);
    congestion_end_epoch(network->congestion, network->ended);
}

void epochs_set_due(struct network *network)
{
    network->due = network->change < network->epoch_end ? network->change : network->epoch_end;
    network->due = network->settle < network->due ? network->settle : network->due;
}

void epochs_pass(struct network *network)
{
    if (network->settle <= network->due) {
        settle(network, (uint32_t)(network->settle * network->speedup));
        network->settle += SETTLE_TICKS / network->speedup;
    } else if (network->change <= network->epoch_end)
        apply_changes(network, network->change);
    else
        end_epoch(network, network->epoch_end);
    epochs_set_due(network);
}

void epochs_begin(struct network *network)
{
    network->settle = SETTLE_TICKS / network->speedup;
    epochs_set_due(network);
}

void epochs_make(struct network *network)
{
    const struct topology *topology = network->topology;
    const struct network_config *config = &network->config;
    uint32_t *first = alloc(topology->router_count, sizeof *first),
             *ports = alloc(topology->router_count, sizeof *ports);
    for (uint32_t r = 0; r < topology->router_count; r++) {
        first[r] = topology->routers[r].first_port;
        ports[r] = topology->routers[r].ports;
    }
    network->congestion =
        congestion_new(&(struct congestion_setup){.routers = topology->router_count,
                                                  .first_port = first,
                                                  .ports = ports,
                                                  .threshold = config->track_threshold,
                                                  .hysteresis = config->hysteresis,
                                                  .width_threshold = config->width_threshold,
                                                  .reorder = config->pair_order == NETWORK_LATEST});
    free(first);
    free(ports);
    network->epoch = alloc(topology->port_count, sizeof *network->epoch);
    network->ended = alloc(topology->port_count, sizeof *network->ended);
    network->stalls = alloc(topology->port_count, sizeof *network->stalls);
    for (uint32_t p = 0; p < topology->port_count; p++)
        network->epoch[p].credits = credits_of(network, p);
    network->epoch_clocks = config->epoch / network->clock->period;
    network->epoch_clocks += !network->epoch_clocks;
    network->epoch_end = network->epoch_clocks;
    network->width_clocks = (uint32_t)(config->width_time / network->clock->period);
    if (config->path_priority)
        network->begun = alloc((size_t)topology->port_count * network->vcs, sizeof *network->begun);
}
