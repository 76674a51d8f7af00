#include "emu/net/network.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "emu/net/network/router_input.h"
#include "emu/net/network/state.h"
#include "emu/sim/alloc.h"

/* Makes the network work on a clock, unless it does so earlier. */
static void wake(struct network *network, uint64_t clock)
{
    uint64_t time = clock_time(network->clock, clock);
    if (!event_pending(&network->event) || network->event.time > time)
        event_schedule(network->queue, &network->event, time);
}

static void wake_at(struct network *network, uint64_t now)
{
    if (network->stepping)
        return;
    const uint64_t clock = clock_cycle(network->clock, now),
                   next = network->pieces ? pieces_next(network, now, clock) : network->next;
    wake(network, clock > next ? clock : next);
}

/* The clock. */

static void take_arrivals(struct network *network, uint32_t tick)
{
    struct calendar_slot *slot = calendar_take(&network->calendar, network->now);
    uint32_t ports = network->topology->port_count;
    if (!slot)
        return;
    for (uint32_t k = 0; k < slot->credit_count; k++) {
        uint32_t target = slot->credits[k];
        if (target < ports * network->channels.vcs) {
            router_take_credit(network, target, tick);
        } else {
            network->routers.outputs[target].credits++;
            workset_add(&network->endpoints.active, target / network->channels.vcs - ports);
        }
    }
    for (uint32_t k = 0; k < slot->flit_count; k++) {
        const struct flit_arrival *arrival = &slot->flits[k];
        if (network->checks)
            network_check_arrival(network, arrival->target, arrival->flit);
        if (arrival->target < ports)
            router_take_flit(network, arrival->target, arrival->flit, tick);
        else
            endpoint_take_flit(network, arrival->target - ports, arrival->flit);
    }
    calendar_taken(&network->calendar, slot);
}

static void step_nodes(struct network *network)
{
    uint64_t word = 0;
    workset_begin(&network->endpoints.active, &network->endpoints.busy);
    for (uint32_t group = 0, first;
         (first = workset_take(&network->endpoints.busy, &group, &word)) != UINT32_MAX;)
        while (word) {
            uint32_t number = first + take_bit(&word);
            if (endpoint_step(network, number))
                workset_add(&network->endpoints.active, number);
        }
}

static void step_routers(struct network *network)
{
    uint64_t word = 0;
    workset_begin(&network->routers.active, &network->routers.busy);
    for (uint32_t group = 0, first;
         (first = workset_take(&network->routers.busy, &group, &word)) != UINT32_MAX;)
        while (word) {
            uint32_t number = first + take_bit(&word);
            struct router *router = &network->routers.all[number];
            for (uint32_t part = 0; part < network->speedup; part++)
                router_step(network, router, network->now * network->speedup + part);
            if (router->ready || router->routing || vc_alloc_pends(network, router))
                workset_add(&network->routers.active, number);
        }
}

/* Counts a clock once for all pieces that work on it. */
static void count_clock(struct network *network)
{
    struct network_sum *sum = network->pieces ? &network->pieces[0]->sum : &network->sum;
    if (network->apart) {
        const uint64_t worked = atomic_load_explicit(&network->worked, memory_order_relaxed),
                       bit = UINT64_C(1) << (network->now - network->base);
        atomic_store_explicit(&network->worked, worked | bit, memory_order_relaxed);
        return;
    }
    network->totals->clocks += sum->counted <= network->now;
    sum->counted = network->now + 1;
}

/* Wakes the pieces for which this one has posted something. */
static void wake_others(struct network *network)
{
    while (network->posted) {
        struct network *other = network->pieces[take_bit(&network->posted)];
        wake(other, calendar_next(&other->calendar, network->next));
    }
}

static void step(void *owner, uint64_t time)
{
    struct network *network = owner;
    network->stepping = true;
    network->now = time / network->clock->period;
    count_clock(network);
    while (network->now >= network->epochs.due)
        epochs_pass(network);
    take_arrivals(network, (uint32_t)(network->now * network->speedup));
    step_nodes(network);
    step_routers(network);
    if (network->checks)
        network_check_clock(network);
    network->stepping = false;
    network->next = network->now + 1;
    wake_others(network);
    if (network->routers.active.any || network->endpoints.active.any) {
        wake(network, network->next);
        return;
    }
    uint64_t clock = calendar_next(&network->calendar, network->next);
    if (clock != CLOCK_NEVER)
        wake(network, clock);
}

/* Interface. */

bool network_send(struct network *network, const struct network_packet *packet, uint64_t now)
{
    network = piece_of(network, packet->source);
    if (!endpoint_send(network, packet))
        return false;
    wake_at(network, now);
    return true;
}

bool network_has_room(const struct network *network, uint32_t node, uint32_t class)
{
    const struct network *piece = piece_of((struct network *)(uintptr_t)network, node);
    return piece->endpoints.nodes[node].count[class] < network->config.send_queue;
}

void network_unblock(struct network *network, uint32_t node, uint32_t class, uint64_t now)
{
    network = piece_of(network, node);
    uint64_t channels =
        network->channels.node[0][class] | network->channels.node[1][class] | network->channels.shared;
    if (!(network->endpoints.nodes[node].blocked & channels))
        return;
    network->endpoints.nodes[node].retry |= (uint8_t)(1U << class);
    workset_add(&network->endpoints.active, node);
    wake_at(network, now);
}

void network_set_width(struct network *network, uint32_t number, uint32_t parts, uint32_t pause, uint64_t now)
{
    assert(!network->pieces);
    epochs_change_width(network, number, parts, pause, clock_cycle(network->clock, now));
}

uint32_t network_width(const struct network *network, uint32_t port)
{
    return network->epochs.widths[port].parts;
}

static void pass_until(struct network *network, uint64_t clock)
{
    while (clock >= network->epochs.due)
        epochs_pass(network);
}

void network_sync(struct network *network, uint64_t now)
{
    pass_until(network, now / network->clock->period);
    for (uint32_t i = 1; i < network->piece_count; i++)
        pass_until(network->pieces[i], now / network->clock->period);
}

const struct congestion *network_congestion(const struct network *network)
{
    return network->epochs.congestion;
}

const struct network_waits *network_waits(const struct network *network)
{
    return &network->routers.waits;
}

void network_observe(struct network *network, struct network_observer *observer)
{
    assert(!network->pieces);
    observer_add(&network->observers, &observer->link);
}

const struct network_totals *network_totals(const struct network *network)
{
    return network->totals;
}

const struct network_link_counters *network_link(const struct network *network, uint32_t port)
{
    return &network->links[port];
}

const struct network_vc_counters *network_vc(const struct network *network, uint32_t port, uint32_t vc)
{
    return &network->vc_counters[port * network->channels.vcs + vc];
}

uint32_t network_vc_count(const struct network *network)
{
    return network->channels.vcs;
}

uint64_t network_in_flight(const struct network *network)
{
    return network->totals->flits_entered - network->totals->flits_left;
}

/* Making. */

/* Returns a bound, in clocks, of the time from posting a flit or credit to its arrival. */
static uint64_t horizon(const struct network_config *config, const struct topology *topology)
{
    uint64_t most = 0;
    for (uint32_t p = 0; p < topology->port_count; p++) {
        const struct topology_port *port = &topology->ports[p];
        uint64_t flit = (uint64_t)link_flit_clocks(config->flit * NETWORK_NARROWEST, port->width);
        uint64_t clocks = port->latency + flit * (config->output_queue + 2);
        most = clocks > most ? clocks : most;
    }
    return most + config->switch_clocks + config->traversal_clocks + config->credit_clocks + 2;
}

enum { NETWORK_HORIZON = 1 << 18 };

bool network_fits(const struct network_config *config, const struct topology *topology,
                  const struct routing *routing, uint32_t flits, struct error *err)
{
    if (config->classes * config->vcs > NETWORK_VCS)
        return error_set(err, "vcs: %u for each of %u classes are %u virtual channels; a port has at most %d",
                         config->vcs, config->classes, config->classes * config->vcs, NETWORK_VCS);
    if (config->vcs < routing->sets)
        return error_set(
            err,
            "vcs: %u; the routing needs at least %u for each class, because packets could wait for "
            "each other in a cycle",
            config->vcs, routing->sets);
    if (config->flow != NETWORK_WORMHOLE && flits > config->buffer)
        return error_set(err, "buffer: %u flits; %s needs room for a whole packet, which has up to %u flits",
                         config->buffer,
                         config->flow == NETWORK_CUT_THROUGH ? "cut_through" : "store_and_forward", flits);
    if (horizon(config, topology) >= NETWORK_HORIZON)
        return error_set(err, "output_queue: %u flits at 1/%d of a link's width take more than %d clocks",
                         config->output_queue, NETWORK_NARROWEST, NETWORK_HORIZON);
    if (!config->track && (config->path_priority || config->link_widths))
        return error_set(err, "%s: needs `track: true`, which finds critical paths",
                         config->path_priority ? "path_priority" : "link_widths");
    return channels_fit(config, routing, flits, err);
}

/* Makes a network without counters. */
static struct network *make(const struct network_config *config, const struct topology *topology,
                            const struct routing *routing, struct event_queue *queue,
                            const struct clock *clock, uint32_t component,
                            const struct network_client *client)
{
    struct network *network = alloc(1, sizeof *network);
    *network = (struct network){.config = *config,
                                .topology = topology,
                                .routing = routing,
                                .queue = queue,
                                .clock = clock,
                                .client = *client,
                                .speedup = config->speedup};
    calendar_init(&network->calendar, horizon(config, topology));
    channels_make(&network->channels, config, routing);
    routers_make(network);
    arbitration_make(network);
    vc_alloc_make(network);
    switch_alloc_make(network);
    endpoints_make(network);
    epochs_make(network);
    event_init(&network->event, component, step, network);
    return network;
}

struct network *network_new(const struct network_config *config, const struct topology *topology,
                            const struct routing *routing, struct event_queue *queue,
                            const struct clock *clock, uint32_t component,
                            const struct network_client *client)
{
    struct network *network = make(config, topology, routing, queue, clock, component, client);
    const size_t ports = topology->port_count;
    network->totals = &network->sum.totals;
    network->links = alloc(ports + topology->node_count, sizeof *network->links);
    network->vc_counters = alloc(ports * network->channels.vcs, sizeof *network->vc_counters);
    return network;
}

bool network_divisible(const struct network_config *config)
{
    return !config->track && config->vc_arbitration < NETWORK_LOADS &&
           config->switch_arbitration < NETWORK_LOADS;
}

/* Makes a piece of a network besides the first one. */
static struct network *make_piece(const struct network *whole, struct event_queue *queue)
{
    struct network *piece = make(&whole->config, whole->topology, whole->routing, queue, whole->clock,
                                 whole->event.component, &whole->client);
    piece->totals = whole->totals;
    piece->links = whole->links;
    piece->vc_counters = whole->vc_counters;
    piece->observers = whole->observers;
    return piece;
}

void network_divide(struct network *network, const struct part_pieces *pieces)
{
    const uint32_t routers = network->topology->router_count;
    const size_t inputs = (size_t)network->topology->port_count * network->channels.vcs;
    assert(network_divisible(&network->config) && pieces->count <= EVENT_QUEUES &&
           network->queue == pieces->queues);
    struct network **all = alloc(pieces->count, sizeof *all);
    uint32_t *of = alloc(routers, sizeof *of);
    memcpy(of, pieces->of, routers * sizeof *of);
    for (uint32_t i = 0; i < pieces->count; i++) {
        all[i] = i == 0 ? network : make_piece(network, &pieces->queues[i]);
        all[i]->pieces = all;
        all[i]->piece = i;
        all[i]->piece_count = pieces->count;
        all[i]->router_pieces = of;
        all[i]->came = alloc(inputs, sizeof *all[i]->came);
        all[i]->outbox = alloc(pieces->count, sizeof *all[i]->outbox);
        pieces_mark(all[i]);
    }
}

uint64_t network_part(struct network *network, uint64_t now, uint64_t end)
{
    const uint64_t base = now / network->clock->period, most = (base + 64) * network->clock->period;
    for (uint32_t i = 0; i < network->piece_count; i++)
        pieces_part(network->pieces[i], base);
    return end < most ? end : most;
}

void network_join(struct network *network)
{
    pieces_join(network, wake);
}

/* Releases what a piece shares with no other. */
static void free_piece(struct network *network)
{
    event_cancel(network->queue, &network->event);
    calendar_free(&network->calendar);
    packets_free(&network->packets);
    routers_free(&network->routers);
    arbitration_free(&network->arbitration);
    vc_alloc_free(&network->va);
    switch_alloc_free(&network->sa);
    endpoints_free(&network->endpoints);
    epochs_free(&network->epochs);
    network_check_free(network->checks);
    pieces_free(network);
    free(network);
}

void network_free(struct network *network)
{
    if (!network)
        return;
    for (uint32_t i = 1; i < network->piece_count; i++)
        free_piece(network->pieces[i]);
    free(network->pieces);
    free(network->router_pieces);
    free(network->links);
    free(network->vc_counters);
    free_piece(network);
}
