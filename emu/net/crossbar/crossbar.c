#include "emu/net/crossbar.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/net/crossbar/vc.h"
#include "emu/net/track.h"
#include "emu/sim/alloc.h"
#include "emu/sim/list.h"

const char *const crossbar_queues_names[] = {[CROSSBAR_FIFO] = "fifo", [CROSSBAR_VIRTUAL] = "virtual", NULL};

struct crossbar_input {
    struct crossbar *crossbar;
    struct mem_waiters waiters;
    uint32_t number;
};

struct crossbar_output {
    struct crossbar *crossbar;
    struct mem_link link;
    bool refused; /* a response was refused: the port below waits for room */
    struct {
        struct mem_request *first, *last;
    } signals; /* crossbar_signal(): they wait for room; `time` is the input */
    uint32_t number;
};

struct crossbar {
    struct crossbar_config config;
    struct vc requests;   /* from inputs to outputs */
    struct vc responses;  /* from outputs to inputs */
    struct outputs homes; /* the output of each home */
    struct crossbar_input *inputs;
    struct crossbar_output *outputs;
    struct net_track *track; /* shows messages; or NULL */
    struct vc_observer requests_observer, responses_observer;
};

static struct net_message message_of(const struct crossbar *crossbar, struct mem_request *request,
                                     uint32_t sink, uint32_t bytes)
{
    uint32_t width = crossbar->config.width;
    uint32_t clocks = bytes / width + (bytes % width != 0);
    return (struct net_message){
        .request = request, .clocks = clocks ? clocks : 1, .bytes = bytes, .sink = sink};
}

/* Takes a request from a client into the virtual channel of requests. */
static bool request_offered(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct crossbar_input *input = port;
    struct crossbar *crossbar = input->crossbar;
    struct net_message message = message_of(crossbar, request, outputs_of_request(&crossbar->homes, request),
                                            net_request_bytes(request));
    if (vc_offer(&crossbar->requests, input->number, &message, now))
        return true;
    mem_waiters_add(&input->waiters, link);
    return false;
}

static bool deliver_request(void *context, uint32_t sink, struct mem_request *request, uint64_t now)
{
    struct crossbar *crossbar = context;
    return mem_link_request(&crossbar->outputs[sink].link, request, now);
}

static void input_room(void *context, uint32_t source, uint64_t now)
{
    struct crossbar *crossbar = context;
    struct mem_waiters *waiters = &crossbar->inputs[source].waiters;
    while (waiters->first && vc_has_room(&crossbar->requests, source))
        (void)mem_waiters_wake(waiters, now);
}

static void request_room(void *client, struct mem_link *link, uint64_t now)
{
    const struct crossbar_output *output = client;
    (void)link;
    vc_unblock(&output->crossbar->requests, output->number, now);
}

/* Takes a response from the port below into the virtual channel of responses. */
static bool respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct crossbar_output *output = client;
    struct crossbar *crossbar = output->crossbar;
    const struct crossbar_input *input = mem_request_link(request)->port;
    struct net_message message = message_of(crossbar, request, input->number, net_response_bytes(request));
    (void)link;
    if (!output->signals.first && vc_offer(&crossbar->responses, output->number, &message, now))
        return true;
    output->refused = true;
    return false;
}

/* Returns whether the queue of responses is full, and counts refusals if it is. */
static bool refuses(void *client, uint64_t count)
{
    struct crossbar_output *output = client;
    struct vc *responses = &output->crossbar->responses;
    if (vc_has_room(responses, output->number) && !output->signals.first)
        return false;
    responses->sources[output->number].counters.refusals += count;
    output->refused = true;
    return true;
}

static bool deliver_response(void *context, uint32_t sink, struct mem_request *request, uint64_t now)
{
    (void)context, (void)sink;
    return mem_request_respond(request, now);
}

/* Returns whether the queue has taken the signal. */
static bool offer_signal(struct crossbar_output *output, struct mem_request *request, uint64_t now)
{
    struct crossbar *crossbar = output->crossbar;
    const struct net_message message = message_of(crossbar, request, (uint32_t)request->time, 0);
    return vc_offer(&crossbar->responses, output->number, &message, now);
}

void crossbar_signal(struct crossbar *crossbar, uint32_t number, uint32_t input, struct mem_request *request,
                     uint64_t now)
{
    struct crossbar_output *output = &crossbar->outputs[number];
    request->time = input;
    if (!output->signals.first && offer_signal(output, request, now))
        return;
    LIST_APPEND(output->signals.first, output->signals.last, request, next);
}

uint32_t crossbar_output(const struct crossbar *crossbar, uint64_t address)
{
    return outputs_of_address(&crossbar->homes, address);
}

static void output_room(void *context, uint32_t source, uint64_t now)
{
    struct crossbar *crossbar = context;
    struct crossbar_output *output = &crossbar->outputs[source];
    while (output->signals.first) {
        struct mem_request *request = output->signals.first, *next = request->next;
        if (!offer_signal(output, request, now))
            return;
        output->signals.first = next;
    }
    if (!output->refused)
        return;
    output->refused = false;
    mem_link_response_room(&output->link, now);
}

static void response_room(void *port, struct mem_link *link, uint64_t now)
{
    const struct crossbar_input *input = port;
    (void)link;
    vc_unblock(&input->crossbar->responses, input->number, now);
}

static bool warm(void *port, struct mem_link *link, uint64_t address, bool exclusive)
{
    struct crossbar *crossbar = ((struct crossbar_input *)port)->crossbar;
    struct mem_link *lower = &crossbar->outputs[outputs_of_address(&crossbar->homes, address)].link;
    (void)link;
    return mem_link_warm(lower, address, exclusive);
}

/* Splits the range into pieces of one route each. */
static void maintain(void *port, struct mem_link *link, enum mem_op op, uint64_t address, uint64_t size)
{
    struct crossbar *crossbar = ((struct crossbar_input *)port)->crossbar;
    uint64_t end = address + size;
    const uint64_t grain = outputs_grain(&crossbar->homes);
    (void)link;
    for (uint64_t at = address, next; at < end; at = next) {
        struct mem_link *lower = &crossbar->outputs[outputs_of_address(&crossbar->homes, at)].link;
        next = (at | (grain - 1)) + 1;
        next = next < end ? next : end;
        mem_link_maintain(lower, op, at, next - at);
    }
}

/* A response that is not on its way to the input yet takes at least the latency. */
static uint64_t quiet(const void *port, uint64_t now)
{
    const struct crossbar_input *input = port;
    const struct vc *responses = &input->crossbar->responses;
    const struct net_message *first = net_queue_head(&responses->sinks[input->number].arriving);
    if (!first)
        return now + responses->latency * responses->clock->period;
    return first->time > now ? first->time : now;
}

const struct mem_port_ops crossbar_ops = {request_offered, response_room, warm, maintain, quiet};

struct crossbar *crossbar_new(const struct crossbar_config *config, struct event_queue *queue,
                              const struct clock *clock, uint32_t component,
                              const struct crossbar_route *route)
{
    struct crossbar *crossbar = alloc(1, sizeof *crossbar);
    crossbar->config = *config;
    outputs_init(&crossbar->homes, route, config->outputs);
    const struct vc_owner down = {deliver_request, input_room, crossbar};
    const struct vc_owner up = {deliver_response, output_room, crossbar};
    vc_init(&crossbar->requests, queue, clock, component, config->inputs, config->request_queue,
            config->outputs, config->buffer, config->latency, config->queues == CROSSBAR_VIRTUAL, &down);
    vc_init(&crossbar->responses, queue, clock, component, config->outputs, config->response_queue,
            config->inputs, config->buffer, config->latency, config->queues == CROSSBAR_VIRTUAL, &up);
    crossbar->inputs = alloc(config->inputs, sizeof *crossbar->inputs);
    crossbar->outputs = alloc(config->outputs, sizeof *crossbar->outputs);
    for (uint32_t i = 0; i < config->inputs; i++)
        crossbar->inputs[i] = (struct crossbar_input){.crossbar = crossbar, .number = i};
    for (uint32_t i = 0; i < config->outputs; i++)
        crossbar->outputs[i] = (struct crossbar_output){.crossbar = crossbar, .number = i};
    return crossbar;
}

void crossbar_free(struct crossbar *crossbar)
{
    if (!crossbar)
        return;
    vc_free(&crossbar->requests);
    vc_free(&crossbar->responses);
    free(crossbar->inputs);
    free(crossbar->outputs);
    outputs_free(&crossbar->homes);
    net_track_free(crossbar->track);
    free(crossbar);
}

void *crossbar_port(struct crossbar *crossbar, uint32_t input)
{
    assert(input < crossbar->config.inputs);
    return &crossbar->inputs[input];
}

void crossbar_connect(struct crossbar *crossbar, uint32_t output, const struct mem_port_ops *ops, void *port)
{
    static const struct mem_client_ops client = {respond, request_room};
    assert(output < crossbar->config.outputs);
    crossbar->outputs[output].link = (struct mem_link){.port_ops = ops,
                                                       .port = port,
                                                       .client_ops = &client,
                                                       .client = &crossbar->outputs[output],
                                                       .refuses = refuses};
}

/* Lines of the track: outputs, then inputs. */
static void name_port(const void *context, uint32_t line, char *text, size_t size)
{
    uint32_t outputs = ((const struct crossbar *)context)->config.outputs;
    if (line < outputs)
        (void)snprintf(text, size, "out.%" PRIu32, line);
    else
        (void)snprintf(text, size, "in.%" PRIu32, line - outputs);
}

static void show_request(void *context, uint32_t output, uint32_t input, const struct net_message *message,
                         uint64_t now, uint64_t until)
{
    net_track_show(((const struct crossbar *)context)->track, output, input, message, now, until);
}

static void show_response(void *context, uint32_t input, uint32_t output, const struct net_message *message,
                          uint64_t now, uint64_t until)
{
    const struct crossbar *crossbar = context;
    net_track_show(crossbar->track, crossbar->config.outputs + input, output, message, now, until);
}

void crossbar_track(struct crossbar *crossbar, struct track_sink *sink, const char *name)
{
    if (!track_takes(sink, TRACK_TIMELINE))
        return;
    crossbar->track =
        net_track_new(sink, name, crossbar->config.outputs + crossbar->config.inputs, name_port, crossbar);
    crossbar->requests_observer = (struct vc_observer){.crosses = show_request, .context = crossbar};
    crossbar->responses_observer = (struct vc_observer){.crosses = show_response, .context = crossbar};
    observer_add(&crossbar->requests.observers, &crossbar->requests_observer.link);
    observer_add(&crossbar->responses.observers, &crossbar->responses_observer.link);
}

/* Statistics of one end of a virtual channel. NAME is the singular: "request" gives "requests" and
 * "request_bytes". */
#define END(NAME, counters)                                                                                  \
    {                                                                                                        \
        {NAME "s", &(counters)->messages, "messages", "Messages transferred"},                               \
            {NAME "_bytes", &(counters)->bytes, "bytes", "Data in these messages"},                          \
            {NAME "_clocks", &(counters)->busy_clocks, "clocks", "Clocks spent transferring messages"},      \
            {NAME "_refusals", &(counters)->refusals, "times",                                               \
             "Times that a message was refused, by the queue or by the receiver"},                           \
            {NAME "_peak", &(counters)->peak, "messages",                                                    \
             "Most messages in the queue, or in flight and in the buffer, at one time"},                     \
    }

/* Registers "in.0.requests" and the other statistics of one input or output. */
static void publish_port(struct stats *stats, struct scope scope, const struct vc_counters *requests,
                         const struct vc_counters *responses)
{
    const struct stats_row request[] = END("request", requests), response[] = END("response", responses);
    stats_counters(stats, scope, request, sizeof request / sizeof *request);
    stats_counters(stats, scope, response, sizeof response / sizeof *response);
}
#undef END

void crossbar_publish(struct crossbar *crossbar, struct stats *stats, struct scope scope)
{
    for (uint32_t i = 0; i < crossbar->config.inputs; i++)
        publish_port(stats, scope_at(&scope, "in", i), &crossbar->requests.sources[i].counters,
                     &crossbar->responses.sinks[i].counters);
    for (uint32_t i = 0; i < crossbar->config.outputs; i++)
        publish_port(stats, scope_at(&scope, "out", i), &crossbar->requests.sinks[i].counters,
                     &crossbar->responses.sources[i].counters);
}

static uint64_t read_bits(const void *context)
{
    const struct crossbar *crossbar = context;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < crossbar->config.inputs; i++)
        bytes += crossbar->requests.sources[i].counters.bytes;
    for (uint32_t i = 0; i < crossbar->config.outputs; i++)
        bytes += crossbar->responses.sources[i].counters.bytes;
    return 8 * bytes;
}

static uint64_t read_time(const void *context)
{
    return ((const struct crossbar *)context)->requests.queue->now;
}

void crossbar_energy(struct crossbar *crossbar, struct energy_ledger *ledger, struct scope scope)
{
    if (crossbar->config.energy_bit)
        energy_add(ledger, scope,
                   &(struct energy_account){.name = "transfer",
                                            .read = read_bits,
                                            .context = crossbar,
                                            .unit = crossbar->config.energy_bit,
                                            .kind = ENERGY_PER_EVENT,
                                            .fields = "energy_bit",
                                            .group = "network"});
    if (crossbar->config.leakage)
        energy_add(ledger, scope,
                   &(struct energy_account){.name = "static",
                                            .read = read_time,
                                            .context = crossbar,
                                            .unit = crossbar->config.leakage * crossbar->config.inputs *
                                                    crossbar->config.outputs,
                                            .kind = ENERGY_OVER_TIME,
                                            .fields = "leakage",
                                            .group = "static"});
}
