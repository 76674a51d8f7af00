#include "emu/net/network.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/net/arbitration.h"
#include "emu/net/endpoint.h"
#include "emu/net/epochs.h"
#include "emu/net/network_check.h"
#include "emu/net/router.h"
#include "emu/net/router_input.h"
#include "emu/net/switch_alloc.h"
#include "emu/net/vc_alloc.h"
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
    uint64_t clock = clock_cycle(network->clock, now);
    wake(network, clock > network->next ? clock : network->next);
}

/* Packets. */

static uint32_t packet_new(struct network *network, const struct network_packet *packet)
{
    if (network->free_count == 0) {
        uint32_t room = network->packet_room ? 2 * network->packet_room : 256;
        network->packets = alloc_resize(network->packets, room * sizeof *network->packets);
        network->free_packets = alloc_resize(network->free_packets, room * sizeof *network->free_packets);
        for (uint32_t i = room; i-- > network->packet_room;)
            network->free_packets[network->free_count++] = i;
        network->packet_room = room;
    }
    uint32_t index = network->free_packets[--network->free_count];
    network->packets[index] = *packet;
    return index;
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
        if (target < ports * network->vcs) {
            router_take_credit(network, target, tick);
        } else {
            network->outputs[target].credits++;
            workset_add(&network->active_nodes, target / network->vcs - ports);
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
    workset_begin(&network->active_nodes, &network->busy_nodes);
    for (uint32_t group = 0, first;
         (first = workset_take(&network->busy_nodes, &group, &word)) != UINT32_MAX;)
        while (word) {
            uint32_t number = first + take_bit(&word);
            if (endpoint_step(network, number))
                workset_add(&network->active_nodes, number);
        }
}

static void step_routers(struct network *network)
{
    uint64_t word = 0;
    workset_begin(&network->active_routers, &network->busy_routers);
    for (uint32_t group = 0, first;
         (first = workset_take(&network->busy_routers, &group, &word)) != UINT32_MAX;)
        while (word) {
            uint32_t number = first + take_bit(&word);
            struct router *router = &network->routers[number];
            for (uint32_t part = 0; part < network->speedup; part++)
                router_step(network, router, network->now * network->speedup + part);
            if (router->ready || router->routing || vc_alloc_pends(network, router))
                workset_add(&network->active_routers, number);
        }
}

static void step(void *owner, uint64_t time)
{
    struct network *network = owner;
    network->stepping = true;
    network->now = time / network->clock->period;
    network->totals.clocks++;
    while (network->now >= network->due)
        epochs_pass(network);
    take_arrivals(network, (uint32_t)(network->now * network->speedup));
    step_nodes(network);
    step_routers(network);
    if (network->checks)
        network_check_clock(network);
    network->stepping = false;
    network->next = network->now + 1;
    if (network->active_routers.any || network->active_nodes.any) {
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
    struct endpoint *node = &network->nodes[packet->source];
    uint32_t class = packet->class, size = network->config.send_queue;
    if (node->count[class] == size)
        return false;
    uint32_t at = node->first[class] + node->count[class]++;
    endpoint_queue(network, packet->source, class)[at < size ? at : at - size] = packet_new(network, packet);
    network->totals.sent++;
    if (network->oracle)
        oracle_sent(network->oracle, packet->source, packet->destination, packet->flits);
    workset_add(&network->active_nodes, packet->source);
    wake_at(network, now);
    return true;
}

bool network_has_room(const struct network *network, uint32_t node, uint32_t class)
{
    return network->nodes[node].count[class] < network->config.send_queue;
}

void network_unblock(struct network *network, uint32_t node, uint32_t class, uint64_t now)
{
    uint64_t channels = network->node_vcs[0][class] | network->node_vcs[1][class] | network->shared_vcs;
    if (!(network->nodes[node].blocked & channels))
        return;
    network->nodes[node].retry |= (uint8_t)(1U << class);
    workset_add(&network->active_nodes, node);
    wake_at(network, now);
}

void network_set_width(struct network *network, uint32_t number, uint32_t parts, uint32_t pause, uint64_t now)
{
    epochs_change_width(network, number, parts, pause, clock_cycle(network->clock, now));
}

uint32_t network_width(const struct network *network, uint32_t port)
{
    return network->widths[port].parts;
}

void network_sync(struct network *network, uint64_t now)
{
    uint64_t clock = now / network->clock->period;
    while (clock >= network->due)
        epochs_pass(network);
}

const struct congestion *network_congestion(const struct network *network)
{
    return network->congestion;
}

const struct network_waits *network_waits(const struct network *network)
{
    return &network->waits;
}

void network_observe(struct network *network, struct network_observer *observer)
{
    observer_add(&network->observers, &observer->link);
}

const struct network_totals *network_totals(const struct network *network)
{
    return &network->totals;
}

const struct network_link_counters *network_link(const struct network *network, uint32_t port)
{
    return &network->links[port];
}

const struct network_vc_counters *network_vc(const struct network *network, uint32_t port, uint32_t vc)
{
    return &network->vc_counters[port * network->vcs + vc];
}

uint32_t network_vc_count(const struct network *network)
{
    return network->vcs;
}

uint64_t network_in_flight(const struct network *network)
{
    return network->totals.flits_entered - network->totals.flits_left;
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

/* Flits that each channel gives up for priority buffers. */
static uint32_t given_up(const struct network_config *config)
{
    uint32_t channels = config->classes * config->vcs + config->shared_vcs;
    return (config->priority_buffer + channels - 1) / channels;
}

/* Priority buffers of a port, or 0. */
static uint32_t buffers_of(const struct network_config *config, const struct routing *routing)
{
    return !config->priority_buffer ? 0 : routing->sets * (config->priority_by_class ? config->classes : 1);
}

static bool fits_buffers(const struct network_config *config, const struct routing *routing, uint32_t flits,
                         struct error *err)
{
    uint32_t buffers = buffers_of(config, routing);
    if (!buffers)
        return true;
    if (config->priority_buffer < buffers)
        return error_set(
            err,
            "priority_buffer: %u flits; each of %u classes and %u sets of channels needs one of its own, or "
            "packets could wait for each other in a cycle",
            config->priority_buffer, buffers / routing->sets, routing->sets);
    if (given_up(config) >= config->buffer)
        return error_set(
            err, "priority_buffer: %u flits of all channels leave nothing of %u flits for each channel",
            config->priority_buffer, config->buffer);
    uint32_t least = config->buffer - given_up(config), own = config->priority_buffer / buffers;
    if (config->flow != NETWORK_WORMHOLE && flits > (least < own ? least : own))
        return error_set(
            err,
            "priority_buffer: channels keep %u flits and priority buffers have %u; packets have up to %u "
            "flits and need room for all of them",
            least, own, flits);
    return true;
}

static bool fits_management(const struct network_config *config, const struct routing *routing,
                            uint32_t flits, struct error *err)
{
    uint32_t buffers = buffers_of(config, routing),
             channels = config->classes * config->vcs + config->shared_vcs;
    if (!config->track && (config->path_priority || config->link_widths))
        return error_set(err, "%s: needs `track: true`, which finds critical paths",
                         config->path_priority ? "path_priority" : "link_widths");
    if (config->shared_vcs && config->shared_vcs < routing->sets)
        return error_set(err,
                         "shared_vcs: %u; the routing needs one for each of its %u sets of channels, or none",
                         config->shared_vcs, routing->sets);
    if (channels + buffers > NETWORK_VCS)
        return error_set(
            err,
            "vcs: %u for each of %u classes, %u for all of them, and %u priority buffers; a port has at most "
            "%d channels",
            config->vcs, config->classes, config->shared_vcs, buffers, NETWORK_VCS);
    return fits_buffers(config, routing, flits, err);
}

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
    return fits_management(config, routing, flits, err);
}

/* Divides `count` channels from `first` on among the routing's sets: the lower half, rounded up, and the rest. With one
 * set, it has all of them. */
static void split_sets(uint32_t sets, uint32_t first, uint32_t count, uint64_t masks[])
{
    uint32_t low = sets > 1 ? count - count / 2 : count;
    masks[0] = low_bits(low) << first;
    if (sets > 1)
        masks[1] = low_bits(count) << first & ~masks[0];
}

/* Sets the masks of a class's channels: its own, then its priority buffers of `own` flits each. */
static void make_class(struct network *network, uint32_t class, uint32_t own)
{
    const struct network_config *config = &network->config;
    uint32_t vcs = config->vcs, sets = network->routing->sets, from = class * network->class_vcs;
    assert(from < NETWORK_VCS);
    network->node_vcs[0][class] = low_bits(vcs) << from;
    split_sets(sets, from, vcs, &network->wire_vcs[0][class * sets]);
    for (uint32_t set = 0; network->class_vcs > vcs && set < sets; set++) {
        network->wire_vcs[1][class * sets + set] = BIT(from + vcs + set);
        network->node_vcs[1][class] |= BIT(from + vcs + set);
        network->depth[from + vcs + set] = (uint16_t)own;
    }
    network->priority_vcs |= network->node_vcs[1][class];
}

/* Sets the masks of the shared channels of all classes, then of their priority buffers of `own` flits each. */
static void make_shared(struct network *network, uint32_t own)
{
    const struct network_config *config = &network->config;
    uint32_t sets = network->routing->sets, from = config->classes * network->class_vcs;
    if (config->shared_vcs) {
        network->shared_node[0] = low_bits(config->shared_vcs) << from;
        split_sets(sets, from, config->shared_vcs, network->shared_wire[0]);
    }
    for (uint32_t set = 0; from + config->shared_vcs < network->vcs && set < sets; set++) {
        uint32_t vc = from + config->shared_vcs + set;
        network->shared_wire[1][set] = BIT(vc);
        network->shared_node[1] |= BIT(vc);
        network->depth[vc] = (uint16_t)own;
    }
    network->shared_vcs = network->shared_node[0] | network->shared_node[1];
    network->priority_vcs |= network->shared_node[1];
}

static void make_masks(struct network *network)
{
    const struct network_config *config = &network->config;
    uint32_t buffers = buffers_of(config, network->routing);
    uint32_t own = buffers ? config->priority_buffer / buffers : 0;
    for (uint32_t vc = 0; vc < network->vcs; vc++)
        network->depth[vc] = (uint16_t)(config->buffer - (own ? given_up(config) : 0));
    for (uint32_t class = 0; class < config->classes; class ++)
        make_class(network, class, own);
    make_shared(network, own);
    if (network->shared_vcs)
        network->joint = alloc(1 + TOPOLOGY_PORTS, sizeof *network->joint);
}

static void make_routers(struct network *network)
{
    const struct topology *topology = network->topology;
    size_t bids = 0;
    for (uint32_t r = 0; r < topology->router_count; r++) {
        const struct topology_router *from = &topology->routers[r];
        network->routers[r] =
            (struct router){.first_port = from->first_port, .ports = from->ports, .bids = bids};
        bids += (size_t)from->ports * network->groups * (network->priority_vcs ? 2 : 1) * (1 + from->ports);
    }
    network->bids = alloc(bids, sizeof *network->bids);
    for (uint32_t p = 0; p < topology->port_count; p++) {
        const struct topology_port *from = &topology->ports[p];
        network->ports[p] =
            (struct port){.free = low_bits(network->vcs),
                          .router = from->router,
                          .peer = from->peer,
                          .latency = (uint16_t)from->latency,
                          .flit_clocks = (uint16_t)link_flit_clocks(network->config.flit, from->width),
                          .node = from->wire == TOPOLOGY_NO_WIRE};
    }
}

static void make_nodes(struct network *network)
{
    for (uint32_t n = 0; n < network->topology->node_count; n++) {
        uint32_t port = network->topology->node_ports[n];
        struct endpoint *node = &network->nodes[n];
        *node = (struct endpoint){.free = low_bits(network->vcs),
                                  .port = port,
                                  .latency = network->ports[port].latency,
                                  .flit_clocks = network->ports[port].flit_clocks};
        for (uint32_t class = 0; class < network->config.classes; class ++)
            node->last_vc[class] = (uint8_t)(class * network->class_vcs + network->config.vcs - 1);
    }
}

static void make_arrays(struct network *network)
{
    const struct topology *topology = network->topology;
    size_t vcs = network->vcs, ports = topology->port_count, nodes = topology->node_count;
    uint32_t buffer = network->config.buffer;
    network->ports = alloc(ports, sizeof *network->ports);
    network->routers = alloc(topology->router_count, sizeof *network->routers);
    network->inputs = alloc(ports * vcs, sizeof *network->inputs);
    network->outputs = alloc((ports + nodes) * vcs, sizeof *network->outputs);
    network->turns = alloc(ports, sizeof *network->turns);
    network->grants = alloc(ports * vcs, sizeof *network->grants);
    network->accepts = alloc(ports * vcs, sizeof *network->accepts);
    network->buffers = alloc(ports * vcs * buffer, sizeof *network->buffers);
    network->nodes = alloc(nodes, sizeof *network->nodes);
    network->arrivals = alloc(nodes * vcs, sizeof *network->arrivals);
    network->held = alloc(nodes * vcs * buffer, sizeof *network->held);
    network->sends =
        alloc(nodes * network->config.classes * network->config.send_queue, sizeof *network->sends);
    network->links = alloc(ports + nodes, sizeof *network->links);
    network->vc_counters = alloc(ports * vcs, sizeof *network->vc_counters);
    network->active_routers = workset_new(topology->router_count);
    network->busy_routers = workset_new(topology->router_count);
    network->active_nodes = workset_new(topology->node_count);
    network->busy_nodes = workset_new(topology->node_count);
    for (size_t i = 0; i < (ports + nodes) * vcs; i++)
        network->outputs[i] = (struct output_vc){.credits = network->depth[i % vcs], .owner = NO_OWNER};
    network->widths = alloc(ports, sizeof *network->widths);
    for (size_t p = 0; p < ports; p++)
        network->widths[p] = (struct link_width){.parts = 1, .at = UINT64_MAX};
}

static void make_management(struct network *network)
{
    const struct network_config *config = &network->config;
    if (config->track)
        epochs_make(network);
    if (network->priority_vcs)
        network->urgent = alloc(network->topology->port_count, sizeof *network->urgent);
    arbitration_make(network);
    network->managed = network->congestion || network->priority_vcs;
    network->plain_vcs = vc_alloc_plain(network);
    network->plain_switch = switch_alloc_plain(network);
    epochs_begin(network);
}

struct network *network_new(const struct network_config *config, const struct topology *topology,
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
                                .epoch_end = UINT64_MAX,
                                .change = UINT64_MAX,
                                .random = UINT64_C(0x9e3779b97f4a7c15),
                                .groups = config->classes * routing->sets,
                                .speedup = config->speedup,
                                .head_ticks = config->routing_clocks + config->vc_clocks - 1};
    network->class_vcs =
        config->vcs + (config->priority_by_class ? buffers_of(config, routing) / config->classes : 0);
    network->vcs = config->classes * config->vcs + config->shared_vcs + buffers_of(config, routing);
    calendar_init(&network->calendar, horizon(config, topology));
    make_masks(network);
    make_arrays(network);
    make_routers(network);
    make_nodes(network);
    make_management(network);
    event_init(&network->event, component, step, network);
    return network;
}

void network_free(struct network *network)
{
    if (!network)
        return;
    event_cancel(network->queue, &network->event);
    calendar_free(&network->calendar);
    congestion_free(network->congestion);
    oracle_free(network->oracle);
    network_check_free(network->checks);
    void *blocks[] = {network->ports,       network->routers, network->inputs,       network->outputs,
                      network->turns,       network->grants,  network->accepts,      network->buffers,
                      network->bids,        network->nodes,   network->arrivals,     network->held,
                      network->sends,       network->packets, network->free_packets, network->links,
                      network->vc_counters, network->urgent,  network->distances,    network->epoch,
                      network->ended,       network->widths,  network->begun,        network->stalls};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
    free(network->joint);
    workset_free(&network->active_routers);
    workset_free(&network->busy_routers);
    workset_free(&network->active_nodes);
    workset_free(&network->busy_nodes);
    free(network);
}
