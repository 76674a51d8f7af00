/* Networks of the library. */
#include <inttypes.h>
#include <stdlib.h>

#include "emu/api/handle.h"
#include "emu/machine/alone/network.h"
#include "emu/sim/alloc.h"

struct model {
    struct tree *tree;
    struct alone_network *alone;
    uint32_t flits;
    struct undercroft_network_client client;
};

static void free_network(void *context)
{
    struct model *model = context;
    alone_network_free(model->alone);
    tree_free(model->tree);
    free(model);
}

static struct stats *stats(void *model)
{
    return alone_network_stats(((struct model *)model)->alone);
}

static uint64_t period(const void *model)
{
    return alone_network_period(((const struct model *)model)->alone);
}

static const struct handle_kind kind = {
    .name = "network", .free = free_network, .stats = stats, .period = period};

static bool deliver(void *context, const struct network_packet *packet, uint64_t now)
{
    const struct model *model = context;
    const struct undercroft_packet arrived = {.tag = (uint64_t)(uintptr_t)packet->owner,
                                              .source = packet->source,
                                              .destination = packet->destination,
                                              .flits = packet->flits,
                                              .message_class = packet->class};
    return model->client.deliver(model->client.context, &arrived, now) == 0;
}

static void room(void *context, uint32_t node, uint32_t class, uint64_t now)
{
    const struct model *model = context;
    if (model->client.room)
        model->client.room(model->client.context, node, class, now);
}

static int check_client(const struct undercroft_network_client *client, struct undercroft_error *error)
{
    if (!client)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "the client is NULL");
    if (client->size != sizeof *client)
        return handle_fail(error, UNDERCROFT_ARGUMENT,
                           "the client's `size` is %zu, not sizeof(struct undercroft_network_client), %zu",
                           client->size, sizeof *client);
    if (!client->deliver)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "the client's `deliver` is NULL");
    return UNDERCROFT_OK;
}

/* Loads the description and makes the network. */
static int make(struct model *model, const struct alone_source *source, uint32_t flits,
                const struct undercroft_network_client *client, struct undercroft_error *error)
{
    struct error err;
    const struct network_client callbacks = {deliver, room, model};
    *model = (struct model){.tree = alone_network_tree(source, &err), .flits = flits, .client = *client};
    if (model->tree)
        model->alone = alone_network_new(model->tree, flits, &callbacks, &err);
    return model->alone ? UNDERCROFT_OK : handle_fail_with(error, UNDERCROFT_DESCRIPTION, &err);
}

int undercroft_network_new(struct undercroft **network, const struct undercroft_source *source,
                           uint32_t flits, const struct undercroft_network_client *client,
                           struct undercroft_error *error)
{
    const char *name;
    if (!network)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "`network`, which receives the handle, is NULL");
    *network = NULL;
    int status = handle_source(source, &name, error);
    if (status == UNDERCROFT_OK)
        status = check_client(client, error);
    if (status != UNDERCROFT_OK)
        return status;
    if (flits == 0 || flits > NETWORK_PACKET)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "packets of %" PRIu32 " flits; allowed: 1 to %d",
                           flits, NETWORK_PACKET);
    const struct alone_source description = {name, source->text, source->sets, source->set_count};
    struct model *model = alloc(1, sizeof *model);
    status = make(model, &description, flits, client, error);
    if (status != UNDERCROFT_OK) {
        if (model->tree)
            tree_free(model->tree);
        free(model);
        return status;
    }
    *network = handle_new(&kind, model, alone_network_queue(model->alone));
    return UNDERCROFT_OK;
}

static int check_node(const struct model *model, const char *what, uint32_t node,
                      struct undercroft_error *error)
{
    const uint32_t nodes = alone_network_nodes(model->alone);
    return node < nodes
               ? UNDERCROFT_OK
               : handle_fail(error, UNDERCROFT_ARGUMENT,
                             "%s %" PRIu32 "; the network has nodes 0 to %" PRIu32, what, node, nodes - 1);
}

static int check_class(const struct model *model, uint32_t class, struct undercroft_error *error)
{
    const uint32_t classes = alone_network_classes(model->alone);
    return class < classes ? UNDERCROFT_OK
                           : handle_fail(error, UNDERCROFT_ARGUMENT,
                                         "class %" PRIu32 "; the network has %" PRIu32 " (network.classes)",
                                         class, classes);
}

int undercroft_network_send(struct undercroft *network, const struct undercroft_packet *packet,
                            struct undercroft_error *error)
{
    int status = handle_check(network, &kind, error);
    if (status != UNDERCROFT_OK)
        return status;
    if (!packet)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "the packet is NULL");
    struct model *model = network->model;
    if ((status = check_node(model, "source", packet->source, error)) != UNDERCROFT_OK ||
        (status = check_node(model, "destination", packet->destination, error)) != UNDERCROFT_OK ||
        (status = check_class(model, packet->message_class, error)) != UNDERCROFT_OK)
        return status;
    if (packet->flits == 0 || packet->flits > model->flits)
        return handle_fail(error, UNDERCROFT_ARGUMENT,
                           "a packet of %" PRIu32 " flits; allowed: 1 to %" PRIu32
                           ", for which the network was made",
                           packet->flits, model->flits);
    const uint64_t now = alone_network_queue(model->alone)->now;
    const struct network_packet sent = {.owner = (void *)(uintptr_t)packet->tag,
                                        .time = now,
                                        .source = packet->source,
                                        .destination = packet->destination,
                                        .flits = packet->flits,
                                        .class = (uint8_t)packet->message_class};
    network->inside++;
    const bool taken = network_send(alone_network_inside(model->alone), &sent, now);
    network->inside--;
    return taken ? UNDERCROFT_OK : UNDERCROFT_FULL;
}

int undercroft_network_unblock(struct undercroft *network, uint32_t node, uint32_t message_class,
                               struct undercroft_error *error)
{
    int status = handle_check(network, &kind, error);
    if (status != UNDERCROFT_OK)
        return status;
    struct model *model = network->model;
    if ((status = check_node(model, "node", node, error)) != UNDERCROFT_OK ||
        (status = check_class(model, message_class, error)) != UNDERCROFT_OK)
        return status;
    network->inside++;
    network_unblock(alone_network_inside(model->alone), node, message_class,
                    alone_network_queue(model->alone)->now);
    network->inside--;
    return UNDERCROFT_OK;
}

int undercroft_network_nodes(const struct undercroft *network, uint32_t *nodes,
                             struct undercroft_error *error)
{
    const int status = handle_check(network, &kind, error);
    if (status != UNDERCROFT_OK)
        return status;
    if (!nodes)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "`nodes` is NULL");
    *nodes = alone_network_nodes(((const struct model *)network->model)->alone);
    return UNDERCROFT_OK;
}
