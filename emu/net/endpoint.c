#include "emu/net/endpoint.h"

#include <string.h>

/* Returns a credit for a channel of the node: a buffer of the channel is free again. */
static inline void return_credit(struct network *network, const struct endpoint *node, uint32_t vc)
{
    calendar_post_credit(&network->calendar, network->now + node->latency + 1 + network->config.credit_clocks,
                         node->port * network->vcs + vc);
}

/* Offers a packet to the client. */
static bool deliver(struct network *network, struct endpoint *node, uint32_t vc, uint32_t packet)
{
    struct network_packet copy = network->packets[packet];
    if (!network->client.deliver(network->client.context, &copy, clock_time(network->clock, network->now))) {
        network->totals.refusals++;
        if (!(node->blocked & BIT(vc))) {
            node->blocked |= BIT(vc);
            node->refused[node->refused_count++] = (uint8_t)vc;
            uint32_t number = (uint32_t)(node - network->nodes);
            network->arrivals[number * network->vcs + vc].packet = packet;
        }
        return false;
    }
    network->totals.delivered++;
    network->free_packets[network->free_count++] = packet;
    return true;
}

/* A node takes a flit: the packet is complete with its last one. A shared channel is not empty until its packet is delivered. */
static void absorb(struct network *network, struct endpoint *node, struct flit flit)
{
    network->totals.flits_left++;
    if (flit.flags & FLIT_TAIL && network->packets[flit.packet].urgent)
        network->totals.urgent_left += network->packets[flit.packet].flits;
    if (flit.flags & FLIT_TAIL && network->shared_vcs & BIT(flit.vc)) {
        uint32_t number = (uint32_t)(node - network->nodes);
        struct arrivals *held = &network->arrivals[number * network->vcs + flit.vc];
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
    struct endpoint *node = &network->nodes[number];
    if (!(node->blocked & BIT(flit.vc))) {
        absorb(network, node, flit);
        return;
    }
    struct arrivals *held = &network->arrivals[number * network->vcs + flit.vc];
    uint32_t at = (uint32_t)held->first + held->count++, buffer = network->config.buffer;
    network->held[(size_t)(number * network->vcs + flit.vc) * buffer + (at < buffer ? at : at - buffer)] =
        flit;
}

/* Offers refused packets of the classes in `retry` again, in the order of their refusal, and takes the flits behind those
 * that are accepted. */
static void retry(struct network *network, uint32_t number)
{
    struct endpoint *node = &network->nodes[number];
    uint32_t count = node->refused_count, buffer = network->config.buffer, classes = node->retry;
    uint8_t order[NETWORK_VCS];
    memcpy(order, node->refused, sizeof order);
    node->refused_count = 0;
    node->retry = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t vc = order[k];
        struct arrivals *held = &network->arrivals[number * network->vcs + vc];
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
            struct flit flit = network->held[(size_t)(number * network->vcs + vc) * buffer + held->first];
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
        &network->outputs[(size_t)(network->topology->port_count + number) * network->vcs];
    if (node->count[class] == 0)
        return NO_OWNER;
    if (node->sent[class])
        return outputs[node->vc[class]].credits ? node->vc[class] : NO_OWNER;
    uint32_t room = 1;
    if (network->config.flow != NETWORK_WORMHOLE)
        room = network->packets[endpoint_queue(network, number, class)[node->first[class]]].flits;
    if (network->priority_vcs &&
        network->packets[endpoint_queue(network, number, class)[node->first[class]]].urgent) {
        for (uint64_t left = node->free & network->node_vcs[1][class]; left;) {
            uint32_t vc = take_bit(&left);
            if (outputs[vc].credits >= room)
                return vc;
        }
        uint64_t empty = output_empty(network, outputs, node->free & network->shared_node[1]);
        if (empty)
            return take_bit(&empty);
    }
    uint64_t free = node->free & network->node_vcs[0][class];
    if (network->config.vc_choice == NETWORK_CREDITS)
        free = output_most_credits(outputs, free);
    for (uint64_t high = free >> node->last_vc[class] >> 1 << 1 << node->last_vc[class], low = free ^ high;
         high | low;) {
        uint32_t vc = take_bit(high ? &high : &low);
        if (outputs[vc].credits >= room)
            return vc;
    }
    free = output_empty(network, outputs, node->free & network->shared_node[0]);
    return free ? take_bit(&free) : NO_OWNER;
}

static void send_flit(struct network *network, struct endpoint *node, uint32_t number, uint32_t class,
                      uint32_t vc)
{
    uint32_t index = endpoint_queue(network, number, class)[node->first[class]];
    struct network_packet *packet = &network->packets[index];
    uint32_t from = network->topology->port_count + number;
    bool head = node->sent[class] == 0, tail = node->sent[class] + 1U == packet->flits;
    struct flit flit = {.packet = index,
                        .value = head ? (uint16_t)packet->destination : node->sent[class],
                        .vc = (uint8_t)vc,
                        .flags = (uint8_t)((head ? FLIT_HEAD : 0) | (tail ? FLIT_TAIL : 0))};
    if (head) {
        packet->entered = network->now;
        node->vc[class] = (uint8_t)vc;
        if (!((network->priority_vcs | network->shared_vcs) & BIT(vc)))
            node->last_vc[class] = (uint8_t)vc;
        node->free &= ~BIT(vc);
    }
    network->outputs[(size_t)from * network->vcs + vc].credits--;
    node->last_class = (uint8_t) class;
    node->busy = network->now + node->flit_clocks;
    calendar_post_flit(&network->calendar, network->now + node->latency + node->flit_clocks, node->port,
                       flit);
    network->totals.flits_entered++;
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
    struct endpoint *node = &network->nodes[number];
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
