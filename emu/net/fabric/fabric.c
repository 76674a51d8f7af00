#include "emu/net/fabric.h"

#include <stdio.h>

#include "emu/net/fabric/post.h"
#include "emu/net/fabric/purposes.h"
#include "emu/net/message.h"

struct fabric_input {
    struct fabric *fabric;
    uint32_t node;
    uint8_t class; /* of its requests */
};

struct fabric_output {
    struct fabric *fabric;
    struct mem_link link;
    uint32_t node;
    uint8_t class; /* of the requests that it gets */
    bool refused;  /* a response was refused: the port below waits for room */
};

struct fabric {
    struct network_config config;
    struct network_shape shape;
    struct network *network;
    const struct clock *clock;
    struct outputs homes;
    struct mem_site_slices slices; /* `below` is NULL here */
    struct fabric_input *inputs;
    struct fabric_output *outputs;
    uint32_t input_count, output_count;
    struct mem_waiters *waiters; /* by node: refused clients */
    struct mem_waiters *lower;   /* those that send requests of class FABRIC_LOWER */
    struct post post;            /* messages */
    bool *turn;                  /* by node: the last opportunity was for a memory request or response */
    struct purposes purposes;
    struct event_queue *queue;
    uint32_t component;
    struct net_track *track; /* or NULL */
    struct network_observer observer;
    uint64_t *begun; /* with a track, by line: clock in which the head of the present packet crossed */
};

static bool send(struct fabric *fabric, struct mem_request *request, uint32_t from, uint32_t to,
                 uint8_t class, uint32_t bytes, uint64_t now)
{
    uint32_t flit = fabric->config.flit, size = fabric->config.header + bytes;
    const struct network_packet packet = {.owner = request,
                                          .time = now,
                                          .source = from,
                                          .destination = to,
                                          .flits = size ? (size + flit - 1) / flit : 1,
                                          .class = class,
                                          .urgent = !request->divergent};
    return network_send(fabric->network, &packet, now);
}

/* Returns the output of an access that does not come from the slices. */
static struct fabric_output *slice_of(struct fabric *fabric, uint64_t address)
{
    const struct mem_site_slices *slices = &fabric->slices;
    return &fabric->outputs[slices->first + (uint32_t)((address >> slices->shift) % slices->count)];
}

static struct fabric_output *output_of(struct fabric *fabric, const struct mem_request *request,
                                       uint8_t class)
{
    if (fabric->slices.count && class == FABRIC_REQUESTS)
        return slice_of(fabric, request->address);
    return &fabric->outputs[outputs_of_request(&fabric->homes, request)];
}

static struct mem_waiters *waiters_at(const struct fabric *fabric, uint32_t node, uint32_t class)
{
    return &(class == FABRIC_LOWER ? fabric->lower : fabric->waiters)[node];
}

static bool request_offered(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    const struct fabric_input *input = port;
    struct fabric *fabric = input->fabric;
    uint32_t to = output_of(fabric, request, input->class)->node;
    if (send(fabric, request, input->node, to, input->class, net_request_bytes(request), now))
        return true;
    mem_waiters_add(waiters_at(fabric, input->node, input->class), link);
    return false;
}

static void request_room(void *client, struct mem_link *link, uint64_t now)
{
    const struct fabric_output *output = client;
    (void)link;
    network_unblock(output->fabric->network, output->node, output->class, now);
}

static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct fabric_output *output = client;
    const struct fabric_input *input = mem_request_link(request)->port;
    (void)link;
    if (send(output->fabric, request, output->node, input->node, FABRIC_RESPONSES,
             net_response_bytes(request), now))
        return true;
    output->refused = true;
    return false;
}

static void response_room(void *port, struct mem_link *link, uint64_t now)
{
    const struct fabric_input *input = port;
    (void)link;
    network_unblock(input->fabric->network, input->node, FABRIC_RESPONSES, now);
}

/* Messages. */

static const uint8_t class_of_mail[MAIL_CLASSES] = {
    [MAIL_REQUEST] = FABRIC_REQUESTS, [MAIL_FORWARD] = FABRIC_LOWER, [MAIL_RESPONSE] = FABRIC_RESPONSES};
static const uint8_t mail_of_class[FABRIC_ALL] = {
    [FABRIC_REQUESTS] = MAIL_REQUEST, [FABRIC_LOWER] = MAIL_FORWARD, [FABRIC_RESPONSES] = MAIL_RESPONSE};

static bool send_parcel(struct fabric *fabric, struct parcel *parcel, uint64_t now)
{
    const struct mail *mail = &parcel->mail;
    const uint32_t flit = fabric->config.flit;
    const struct network_packet packet = {.owner = parcel,
                                          .time = parcel->time,
                                          .source = mail->from,
                                          .destination = mail->to,
                                          .flits = mail->bytes ? (mail->bytes + flit - 1) / flit : 1,
                                          .class = class_of_mail[mail->class],
                                          .urgent = true,
                                          .kind = OWNER_PARCEL};
    return network_send(fabric->network, &packet, now);
}

/* Sends a message behind those that wait already. */
static void post_message(void *owner, uint64_t now)
{
    struct parcel *parcel = owner;
    struct fabric *fabric = parcel->carrier;
    if (post_first(&fabric->post, parcel->mail.from, parcel->mail.class) || !send_parcel(fabric, parcel, now))
        post_wait(&fabric->post, parcel);
}

static void mail_send(void *carrier, const struct mail *mail, const void *message, size_t size, uint64_t now)
{
    struct fabric *fabric = carrier;
    assert(fabric->config.classes >= FABRIC_ALL && mail->class < MAIL_CLASSES);
    assert(mail->from < fabric->shape.topology.node_count && mail->to < fabric->shape.topology.node_count);
    struct parcel *parcel = post_copy(&fabric->post, fabric, mail, message, size);
    parcel->time = now;
    if (now <= fabric->queue->now) {
        post_message(parcel, now);
        return;
    }
    event_init(&parcel->event, fabric->component, post_message, parcel);
    event_schedule(fabric->queue, &parcel->event, now);
}

static void mail_retry(void *carrier, uint16_t node, uint64_t now)
{
    struct fabric *fabric = carrier;
    network_unblock(fabric->network, node, FABRIC_REQUESTS, now);
}

static void mail_sort(void *carrier)
{
    struct fabric *fabric = carrier;
    purposes_count(&fabric->purposes, fabric->network);
}

const struct mail_ops fabric_mail_ops = {mail_send, mail_retry, mail_sort};

static bool deliver_parcel(struct fabric *fabric, struct parcel *parcel, uint64_t now)
{
    const struct mail *mail = &parcel->mail;
    if (!mail->deliver(mail->receiver, parcel->bytes, now)) {
        assert(mail->class == MAIL_REQUEST);
        return false;
    }
    post_drop(&fabric->post, parcel);
    return true;
}

static bool deliver(void *context, const struct network_packet *packet, uint64_t now)
{
    struct fabric *fabric = context;
    struct mem_request *request = packet->owner;
    if (packet->kind == OWNER_PARCEL)
        return deliver_parcel(fabric, packet->owner, now);
    if (packet->class == FABRIC_RESPONSES)
        return mem_request_respond(request, now);
    return mem_link_request(&output_of(fabric, request, packet->class)->link, request, now);
}

/* Lets the first part below that has a refused response at the node try again. Returns false if there is none. */
static bool let_respond(struct fabric *fabric, uint32_t node, uint64_t now)
{
    for (uint32_t i = 0; i < fabric->output_count; i++) {
        struct fabric_output *output = &fabric->outputs[i];
        if (output->node != node || !output->refused)
            continue;
        output->refused = false;
        mem_link_response_room(&output->link, now);
        return true;
    }
    return false;
}

/* Lets a refused memory request or response of a node try again. Returns false if none waits. */
static bool let_memory(struct fabric *fabric, uint32_t node, uint32_t class, uint64_t now)
{
    if (class == FABRIC_RESPONSES)
        return let_respond(fabric, node, now);
    return mem_waiters_wake(waiters_at(fabric, node, class), now);
}

/* Lets a message of a node in, which has room. Returns false if none waits. */
static bool let_message(struct fabric *fabric, uint32_t node, uint32_t class, uint64_t now)
{
    struct parcel *parcel = class < FABRIC_ALL ? post_first(&fabric->post, node, mail_of_class[class]) : NULL;
    if (!parcel)
        return false;
    post_advance(&fabric->post, node, mail_of_class[class]);
    const bool sent = send_parcel(fabric, parcel, now);
    assert(sent);
    return sent;
}

static void room(void *context, uint32_t node, uint32_t class, uint64_t now)
{
    struct fabric *fabric = context;
    bool more = true;
    while (more && network_has_room(fabric->network, node, class)) {
        bool *memory = &fabric->turn[node];
        *memory = !*memory;
        more = *memory ? let_memory(fabric, node, class, now) || let_message(fabric, node, class, now)
                       : let_message(fabric, node, class, now) || let_memory(fabric, node, class, now);
    }
}

static bool warm(void *port, struct mem_link *link, uint64_t address, bool exclusive)
{
    const struct fabric_input *input = port;
    struct fabric *fabric = input->fabric;
    struct mem_link *lower = &fabric->outputs[outputs_of_address(&fabric->homes, address)].link;
    if (!fabric->slices.count || input->class == FABRIC_LOWER)
        return mem_link_warm(lower, address, exclusive);
    lower = &slice_of(fabric, address)->link; /* the slice knows the cache by the cache's own link */
    return lower->port_ops->warm(lower->port, link, address, exclusive);
}

/* Splits the range into pieces of one route each. */
static void maintain(void *port, struct mem_link *link, enum mem_op op, uint64_t address, uint64_t size)
{
    const struct fabric_input *input = port;
    struct fabric *fabric = input->fabric;
    uint64_t end = address + size;
    const uint64_t grain = outputs_grain(&fabric->homes);
    (void)link;
    if (fabric->slices.count && input->class != FABRIC_LOWER) {
        mem_link_maintain(&slice_of(fabric, address)->link, op, address, size); /* of all slices */
        return;
    }
    for (uint64_t at = address, next; at < end; at = next) {
        struct mem_link *lower = &fabric->outputs[outputs_of_address(&fabric->homes, at)].link;
        next = (at | (grain - 1)) + 1;
        next = next < end ? next : end;
        mem_link_maintain(lower, op, at, next - at);
    }
}

const struct mem_port_ops fabric_ops = {request_offered, response_room, warm, maintain, NULL};

uint32_t *fabric_nodes(const char *text, uint32_t ends, uint32_t first, uint32_t nodes, struct error *err)
{
    uint32_t *list = alloc((size_t)ends + 1, sizeof *list), count = 0;
    const char *at = text + strspn(text, " ");
    for (; *text && *at && count <= ends; at += strspn(at, " ")) {
        char *end;
        unsigned long node = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : nodes;
        if (node >= nodes || (*end && *end != ' ')) {
            free(list);
            return (void)error_set(err, "not a list of nodes from 0 to %u, such as \"0 2 5\"", nodes - 1),
                   NULL;
        }
        if (count < ends)
            list[count] = (uint32_t)node;
        count++;
        at = end;
    }
    for (; !*text && count < ends && first + count < nodes; count++)
        list[count] = first + count;
    if (count == ends)
        return list;
    free(list);
    if (*text)
        (void)error_set(err, "a list of %s than %u nodes; that many parts are connected",
                        count > ends ? "more" : "fewer", ends);
    else
        (void)error_set(err, "%u parts are connected, to nodes from %u on; the network has %u nodes", ends,
                        first, nodes);
    return NULL;
}

static uint8_t input_class(const struct mem_site_slices *slices, uint32_t input)
{
    return slices->count && slices->below[input] ? FABRIC_LOWER : FABRIC_REQUESTS;
}

static uint8_t output_class(const struct mem_site_slices *slices, uint32_t output)
{
    bool memory = slices->count && output - slices->first >= slices->count;
    return memory ? FABRIC_LOWER : FABRIC_REQUESTS;
}

struct fabric *fabric_new(const struct network_config *config, const struct fabric_plan *plan,
                          struct event_queue *queue, const struct clock *clock, uint32_t component)
{
    struct fabric *fabric = alloc(1, sizeof *fabric);
    *fabric = (struct fabric){.config = *config,
                              .shape = *plan->shape,
                              .clock = clock,
                              .input_count = plan->inputs,
                              .output_count = plan->outputs,
                              .inputs = alloc(plan->inputs, sizeof *fabric->inputs),
                              .outputs = alloc(plan->outputs, sizeof *fabric->outputs),
                              .slices = plan->slices,
                              .waiters = alloc(plan->shape->topology.node_count, sizeof *fabric->waiters),
                              .lower = alloc(plan->shape->topology.node_count, sizeof *fabric->lower),
                              .turn = alloc(plan->shape->topology.node_count, sizeof *fabric->turn),
                              .queue = queue,
                              .component = component};
    const struct network_client client = {deliver, room, fabric};
    post_init(&fabric->post, plan->shape->topology.node_count);
    outputs_init(&fabric->homes, &plan->route, plan->outputs);
    for (uint32_t i = 0; i < plan->inputs; i++)
        fabric->inputs[i] = (struct fabric_input){
            .fabric = fabric, .node = plan->input_nodes[i], .class = input_class(&plan->slices, i)};
    for (uint32_t i = 0; i < plan->outputs; i++)
        fabric->outputs[i] = (struct fabric_output){
            .fabric = fabric, .node = plan->output_nodes[i], .class = output_class(&plan->slices, i)};
    fabric->slices.below = NULL;
    fabric->network = network_new(&fabric->config, &fabric->shape.topology, &fabric->shape.routing, queue,
                                  clock, component, &client);
    if (plan->pieces)
        network_divide(fabric->network, plan->pieces);
    free(plan->input_nodes);
    free(plan->output_nodes);
    return fabric;
}

/* The track's lines: port * virtual channels + channel. */
static void name_line(const void *context, uint32_t line, char *text, size_t size)
{
    const struct fabric *fabric = context;
    const struct topology *topology = &fabric->shape.topology;
    uint32_t vcs = network_vc_count(fabric->network), port = line / vcs,
             router = topology->ports[port].router;
    const struct topology_router *at = &topology->routers[router];
    if (*at->name)
        (void)snprintf(text, size, "%.16s.%u vc %u", at->name, port - at->first_port, line % vcs);
    else
        (void)snprintf(text, size, "%u.%u vc %u", router, port - at->first_port, line % vcs);
}

static void show_hop(void *context, const struct network_hop *hop, const struct network_packet *packet)
{
    struct fabric *fabric = context;
    uint32_t line = hop->out_port * network_vc_count(fabric->network) + hop->out_vc;
    if (packet->kind == OWNER_PARCEL)
        return;
    if (hop->head)
        fabric->begun[line] = hop->clock;
    if (!hop->tail)
        return;
    const struct net_message message = {.request = packet->owner,
                                        .bytes = packet->flits * fabric->config.flit};
    net_track_show(fabric->track, line, packet->source, &message,
                   clock_time(fabric->clock, fabric->begun[line]), clock_time(fabric->clock, hop->clock + 1));
}

void fabric_track(struct fabric *fabric, struct track_sink *sink, const char *name)
{
    uint32_t lines = fabric->shape.topology.port_count * network_vc_count(fabric->network);
    if (!track_takes(sink, TRACK_TIMELINE))
        return;
    fabric->track = net_track_new(sink, name, lines, name_line, fabric);
    fabric->begun = alloc(lines, sizeof *fabric->begun);
    fabric->observer = (struct network_observer){.hop = show_hop, .context = fabric};
    network_observe(fabric->network, &fabric->observer);
}

void fabric_free(struct fabric *fabric)
{
    if (!fabric)
        return;
    net_track_free(fabric->track);
    free(fabric->begun);
    network_free(fabric->network);
    shape_free(&fabric->shape);
    outputs_free(&fabric->homes);
    free(fabric->inputs);
    free(fabric->outputs);
    free(fabric->waiters);
    free(fabric->lower);
    free(fabric->turn);
    post_free(&fabric->post);
    free(fabric);
}

void *fabric_port(struct fabric *fabric, uint32_t input)
{
    assert(input < fabric->input_count);
    return &fabric->inputs[input];
}

struct fabric *fabric_of_port(void *port)
{
    return ((struct fabric_input *)port)->fabric;
}

uint32_t fabric_port_node(const void *port)
{
    return ((const struct fabric_input *)port)->node;
}

void fabric_connect(struct fabric *fabric, uint32_t output, const struct mem_port_ops *ops, void *port)
{
    static const struct mem_client_ops client = {respond, request_room};
    assert(output < fabric->output_count);
    fabric->outputs[output].link = (struct mem_link){
        .port_ops = ops, .port = port, .client_ops = &client, .client = &fabric->outputs[output]};
}

uint32_t fabric_output_node(const struct fabric *fabric, uint32_t output)
{
    return fabric->outputs[output].node;
}

const struct topology *fabric_topology(const struct fabric *fabric)
{
    return &fabric->shape.topology;
}

struct network *fabric_network(struct fabric *fabric)
{
    return fabric->network;
}

void fabric_publish(const struct fabric *fabric, struct stats *stats, struct scope scope)
{
    network_publish(fabric->network, stats, scope);
    purposes_publish(&fabric->purposes, stats, scope);
}
