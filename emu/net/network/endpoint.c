#include "emu/net/network/endpoint.h"

#include <stdlib.h>
#include <string.h>

#include "emu/net/network/state.h"
#include "emu/sim/alloc.h"

/* Returns a node's queue of packets of a class, config.send_queue long. */
static inline uint32_t *queue_of(const struct network *network, uint32_t number, uint32_t class)
{
    return network->endpoints.sends +
           (size_t)(number * network->config.classes + class) * network->config.send_queue;
}

/* Returns a credit for a channel of the node: a buffer of the channel is free again. */
static inline void return_credit(struct network *network, const struct endpoint *node, uint32_t vc)
{
    calendar_post_credit(&network->calendar, network->now + node->latency + 1 + network->config.credit_clocks,
                         node->port * network->channels.vcs + vc);
}

/* Offers a packet to the client. */
static bool deliver(struct network *network, struct endpoint *node, uint32_t vc, uint32_t packet)
{
    struct network_packet copy = network->packets.items[packet];
    if (!network->client.deliver(network->client.context, &copy, clock_time(network->clock, network->now))) {
        network->totals->refusals++;
        if (!(node->blocked & BIT(vc))) {
            node->blocked |= BIT(vc);
            node->refused[node->refused_count++] = (uint8_t)vc;
            uint32_t number = (uint32_t)(node - network->endpoints.nodes);
            network->endpoints.arrivals[number * network->channels.vcs + vc].packet = packet;
        }
        return false;
    }
    network->totals->delivered++;
    packets_drop(&network->packets, packet);
    return true;
}

/* A node takes a flit: the packet is complete with its last one. A shared channel is not empty until its packet is delivered. */
static void absorb(struct network *network, struct endpoint *node, struct flit flit)
{
    network->totals->flits_left++;
    if (flit.flags & FLIT_TAIL && network->packets.items[flit.packet].urgent)
        network->totals->urgent_left += network->packets.items[flit.packet].flits;
    if (flit.flags & FLIT_TAIL && network->channels.shared & BIT(flit.vc)) {
        uint32_t number = (uint32_t)(node - network->endpoints.nodes);
        struct arrivals *held = &network->endpoints.arrivals[number * network->channels.vcs + flit.vc];
        held->owes = !deliver(network, node, flit.vc, flit.packet);
        if (!held->owes)
            return_credit(network, node, flit.vc);
        return;
    }
    return_credit(network, node, flit.vc);
    if (flit.flags & FLIT_TAIL)
        (void)deliver(network, node, flit.vc, flit.packet);
}

void endpoint_take_flit(struct network *network, uint32_t number, struct flit flit)
{
    struct endpoint *node = &network->endpoints.nodes[number];
    if (!(node->blocked & BIT(flit.vc))) {
        absorb(network, node, flit);
        return;
    }
    struct arrivals *held = &network->endpoints.arrivals[number * network->channels.vcs + flit.vc];
    uint32_t at = (uint32_t)held->first + held->count++, buffer = network->config.buffer;
    network->endpoints.held[(size_t)(number * network->channels.vcs + flit.vc) * buffer +
                            (at < buffer ? at : at - buffer)] = flit;
}

/* Offers refused packets of the classes in `retry` again, in the order of their refusal, and takes the flits behind those
 * that are accepted. */
static void retry(struct network *network, uint32_t number)
{
    struct endpoint *node = &network->endpoints.nodes[number];
    uint32_t count = node->refused_count, buffer = network->config.buffer, classes = node->retry;
    uint8_t order[NETWORK_VCS];
    memcpy(order, node->refused, sizeof order);
    node->refused_count = 0;
    node->retry = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t vc = order[k];
        struct arrivals *held = &network->endpoints.arrivals[number * network->channels.vcs + vc];
        uint32_t class = router_class_of(network, vc, held->packet);
        if (!(classes & 1U << class) || !deliver(network, node, vc, held->packet)) {
            node->refused[node->refused_count++] = (uint8_t)vc;
            continue;
        }
        node->blocked &= ~BIT(vc);
        if (held->owes)
            return_credit(network, node, vc);
        held->owes = false;
        while (held->count && !(node->blocked & BIT(vc))) {
            struct flit flit =
                network->endpoints.held[(size_t)(number * network->channels.vcs + vc) * buffer + held->first];
            held->first = (uint16_t)(held->first + 1 == (uint16_t)buffer ? 0 : held->first + 1);
            held->count--;
            absorb(network, node, flit);
        }
    }
}

/* The channel on which the next flit of a class can leave, or NO_OWNER. */
static uint32_t sending_vc(const struct network *network, const struct endpoint *node, uint32_t number,
                           uint32_t class)
{
    const struct output_vc *outputs =
        &network->routers.outputs[(size_t)(network->topology->port_count + number) * network->channels.vcs];
    if (node->count[class] == 0)
        return NO_OWNER;
    if (node->sent[class])
        return outputs[node->vc[class]].credits ? node->vc[class] : NO_OWNER;
    uint32_t room = 1;
    if (network->config.flow != NETWORK_WORMHOLE)
        room = network->packets.items[queue_of(network, number, class)[node->first[class]]].flits;
    if (network->channels.priority &&
        network->packets.items[queue_of(network, number, class)[node->first[class]]].urgent) {
        for (uint64_t left = node->free & network->channels.node[1][class]; left;) {
            uint32_t vc = take_bit(&left);
            if (outputs[vc].credits >= room)
                return vc;
        }
        uint64_t empty =
            output_empty(&network->channels, outputs, node->free & network->channels.shared_node[1]);
        if (empty)
            return take_bit(&empty);
    }
    uint64_t free = node->free & network->channels.node[0][class];
    if (network->config.vc_choice == NETWORK_CREDITS)
        free = output_most_credits(outputs, free);
    for (uint64_t high = free >> node->last_vc[class] >> 1 << 1 << node->last_vc[class], low = free ^ high;
         high | low;) {
        uint32_t vc = take_bit(high ? &high : &low);
        if (outputs[vc].credits >= room)
            return vc;
    }
    free = output_empty(&network->channels, outputs, node->free & network->channels.shared_node[0]);
    return free ? take_bit(&free) : NO_OWNER;
}

static void send_flit(struct network *network, struct endpoint *node, uint32_t number, uint32_t class,
                      uint32_t vc)
{
    uint32_t index = queue_of(network, number, class)[node->first[class]];
    struct network_packet *packet = &network->packets.items[index];
    uint32_t from = network->topology->port_count + number;
    bool head = node->sent[class] == 0, tail = node->sent[class] + 1U == packet->flits;
    struct flit flit = {.packet = index,
                        .value = head ? (uint16_t)packet->destination : node->sent[class],
                        .vc = (uint8_t)vc,
                        .flags = (uint8_t)((head ? FLIT_HEAD : 0) | (tail ? FLIT_TAIL : 0))};
    if (head) {
        packet->entered = network->now;
        node->vc[class] = (uint8_t)vc;
        if (!((network->channels.priority | network->channels.shared) & BIT(vc)))
            node->last_vc[class] = (uint8_t)vc;
        node->free &= ~BIT(vc);
    }
    network->routers.outputs[(size_t)from * network->channels.vcs + vc].credits--;
    node->last_class = (uint8_t) class;
    node->busy = network->now + node->flit_clocks;
    calendar_post_flit(&network->calendar, network->now + node->latency + node->flit_clocks, node->port,
                       flit);
    network->totals->flits_entered++;
    network->links[from].flits++;
    network->links[from].busy += node->flit_clocks;
    node->sent[class]++;
    if (!tail)
        return;
    node->free |= BIT(vc);
    node->sent[class] = 0;
    node->first[class] = node->first[class] + 1 == network->config.send_queue ? 0 : node->first[class] + 1;
    if (node->count[class]-- == network->config.send_queue && network->client.room)
        network->client.room(network->client.context, number, class,
                             clock_time(network->clock, network->now));
}

bool endpoint_step(struct network *network, uint32_t number)
{
    struct endpoint *node = &network->endpoints.nodes[number];
    if (node->retry)
        retry(network, number);
    uint32_t classes = network->config.classes, able = 0;
    bool sent = node->busy > network->now;
    for (uint32_t i = 1; i <= classes; i++) {
        uint32_t class = (node->last_class + i) % classes;
        uint32_t vc = sending_vc(network, node, number, class);
        if (vc == NO_OWNER)
            continue;
        able++;
        if (sent)
            continue;
        send_flit(network, node, number, class, vc);
        sent = true;
        able = 0;
        i = 0; /* look again, from the class after this one, for more to send */
    }
    return able > 0;
}

bool endpoint_send(struct network *network, const struct network_packet *packet)
{
    struct endpoint *node = &network->endpoints.nodes[packet->source];
    uint32_t class = packet->class, size = network->config.send_queue;
    if (node->count[class] == size)
        return false;
    uint32_t at = node->first[class] + node->count[class]++;
    queue_of(network, packet->source, class)[at < size ? at : at - size] =
        packets_add(&network->packets, packet);
    network->totals->sent++;
    if (network->arbitration.oracle)
        oracle_sent(network->arbitration.oracle, packet->source, packet->destination, packet->flits);
    workset_add(&network->endpoints.active, packet->source);
    return true;
}

void endpoints_make(struct network *network)
{
    const struct network_config *config = &network->config;
    const struct channels *channels = &network->channels;
    struct endpoints *endpoints = &network->endpoints;
    size_t count = network->topology->node_count, vcs = channels->vcs;
    *endpoints = (struct endpoints){
        .nodes = alloc(count, sizeof *endpoints->nodes),
        .arrivals = alloc(count * vcs, sizeof *endpoints->arrivals),
        .held = alloc(count * vcs * config->buffer, sizeof *endpoints->held),
        .sends = alloc(count * config->classes * config->send_queue, sizeof *endpoints->sends),
        .active = workset_new((uint32_t)count),
        .busy = workset_new((uint32_t)count)};
    for (uint32_t n = 0; n < count; n++) {
        uint32_t port = network->topology->node_ports[n];
        struct endpoint *node = &endpoints->nodes[n];
        *node = (struct endpoint){.free = low_bits(channels->vcs),
                                  .port = port,
                                  .latency = network->routers.ports[port].latency,
                                  .flit_clocks = network->routers.ports[port].flit_clocks};
        for (uint32_t class = 0; class < config->classes; class ++)
            node->last_vc[class] = (uint8_t)(class * channels->class_vcs + channels->own - 1);
    }
}

void endpoints_free(struct endpoints *endpoints)
{
    free(endpoints->nodes);
    free(endpoints->arrivals);
    free(endpoints->held);
    free(endpoints->sends);
    workset_free(&endpoints->active);
    workset_free(&endpoints->busy);
}
