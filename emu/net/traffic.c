#include "emu/net/traffic.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"
#include "emu/sim/text/text.h"

static const char *const traffic_pattern_names[] = {[TRAFFIC_UNIFORM] = "uniform",
                                                    [TRAFFIC_TRANSPOSE] = "transpose",
                                                    [TRAFFIC_COMPLEMENT] = "complement",
                                                    [TRAFFIC_TORNADO] = "tornado",
                                                    [TRAFFIC_HOTSPOT] = "hotspot",
                                                    [TRAFFIC_TRACE] = "trace",
                                                    NULL};

#define PART struct traffic_config
static const struct part_field fields[] = {
#include "emu/sim/fields_rows.h"

#include "emu/net/traffic.def"
};

static bool check(const void *part, struct error *err)
{
    const struct traffic_config *config = part;
    double rates[TRAFFIC_RATES];
    if (config->pattern == TRAFFIC_TRACE && !*config->trace)
        return error_set(err, "pattern: trace needs the name of a file, `trace`");
    return config->pattern == TRAFFIC_TRACE || traffic_rates(config->rates, rates, err) > 0;
}

const struct part_kind traffic_kind = {
    .name = "traffic",
    .explanation = "Traffic of a network that is driven alone, and its measurement.",
    PART_CONFIG(struct traffic_config),
    .check = check,
};

enum { LATENCIES = 1 << 16 }; /* counted latencies in clocks; the last count has all longer ones, too */

struct source {
    uint64_t random; /* state of the generator (splitmix64) */
    uint64_t next;   /* clock of the packet to be sent next; UINT64_MAX: none in this run */
    uint32_t destination;
    uint8_t class;
    bool urgent;
    bool blocked; /* the network's queue is full */
};

struct traffic {
    struct traffic_setup setup;
    double rate;
    uint64_t threshold; /* a packet is made if a random number is below it */
    struct event_queue *queue;
    struct clock clock;
    struct event event;
    struct network *network;
    struct source *sources;
    uint64_t *received;  /* flits by node, in the measurement */
    uint32_t *counts;    /* packets by latency */
    size_t played;       /* events of the trace sent so far */
    uint64_t begin, end; /* clocks of the measurement */
    uint64_t last;       /* clock at which the run ends at the latest */
    uint64_t measured, arrived;
    uint64_t latency, network_latency, longest; /* sums, and a maximum */
    uint32_t nodes, bits, side;                 /* bits: logarithm of a power of two; side: square root */
};

static uint32_t random_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)((mix_next(state) >> 32) * bound >> 32);
}

/* Almost half way round in each dimension of a grid; in other networks over the numbers of nodes. */
static uint32_t tornado(const struct topology *topology, uint32_t node)
{
    uint32_t router = topology_node_router(topology, node), per_router = topology->routers[router].nodes;
    if (topology->ports[topology->routers[router].first_port].direction == 0)
        return (node + (topology->node_count + 1) / 2 - 1) % topology->node_count;
    uint32_t to = 0, step = 1;
    for (uint32_t d = 0; d < topology->dimensions; step *= topology->sizes[d++])
        to +=
            (topology->routers[router].at[d] + (topology->sizes[d] + 1) / 2 - 1) % topology->sizes[d] * step;
    return to * per_router + node % per_router;
}

static uint32_t destination(struct traffic *traffic, uint32_t node)
{
    const struct traffic_config *config = traffic->setup.config;
    uint64_t *random = &traffic->sources[node].random;
    switch (config->pattern) {
    case TRAFFIC_TRANSPOSE: return node % traffic->side * traffic->side + node / traffic->side;
    case TRAFFIC_COMPLEMENT: return ~node & (traffic->nodes - 1);
    case TRAFFIC_TORNADO: return tornado(traffic->setup.topology, node);
    case TRAFFIC_HOTSPOT:
        if (random_below(random, 100) < config->hot_share)
            return config->hot;
        break;
    case TRAFFIC_UNIFORM:
    case TRAFFIC_TRACE: break;
    }
    return random_below(random, traffic->nodes);
}

static bool is_measured(const struct traffic *traffic, uint64_t clock)
{
    return clock >= traffic->begin && clock < traffic->end;
}

/* Draws a node's next packet, made at clock `from` or later. At low rates the node makes none before the run ends. */
static void draw(struct traffic *traffic, uint32_t node, uint64_t from)
{
    struct source *source = &traffic->sources[node];
    source->next = from;
    while (mix_next(&source->random) >= traffic->threshold)
        if (++source->next > traffic->last) {
            source->next = UINT64_MAX;
            return;
        }
    source->destination = destination(traffic, node);
    uint32_t classes = traffic->setup.network->classes;
    source->class = (uint8_t)(classes > 1 ? random_below(&source->random, classes) : 0);
    uint32_t urgent = traffic->setup.config->urgent;
    source->urgent = urgent && random_below(&source->random, 100) < urgent;
}

static bool send(struct traffic *traffic, uint64_t made, uint32_t node, uint32_t to, uint32_t flits,
                 uint8_t class, uint64_t now)
{
    const struct network_packet packet = {.time = clock_time(&traffic->clock, made),
                                          .source = node,
                                          .destination = to,
                                          .flits = flits,
                                          .class = class,
                                          .urgent = traffic->sources[node].urgent};
    if (!network_send(traffic->network, &packet, now))
        return false;
    traffic->measured += is_measured(traffic, made);
    return true;
}

/* Sends a node's packets that are due. */
static void send_due(struct traffic *traffic, uint32_t node, uint64_t clock, uint64_t now)
{
    struct source *source = &traffic->sources[node];
    source->blocked = false;
    while (source->next <= clock) {
        if (!send(traffic, source->next, node, source->destination, traffic->setup.config->flits,
                  source->class, now)) {
            source->blocked = true;
            return;
        }
        draw(traffic, node, source->next + 1);
    }
}

static void send_all(void *owner, uint64_t now)
{
    struct traffic *traffic = owner;
    uint64_t clock = now / traffic->clock.period, next = UINT64_MAX;
    for (uint32_t node = 0; node < traffic->nodes; node++) {
        struct source *source = &traffic->sources[node];
        if (source->blocked)
            continue;
        if (source->next <= clock)
            send_due(traffic, node, clock, now);
        if (!source->blocked && source->next < next)
            next = source->next;
    }
    if (next != UINT64_MAX)
        event_schedule(traffic->queue, &traffic->event, clock_time(&traffic->clock, next));
}

/* Called when a source has room again. Sends the source's packets that are due, and schedules the next one. */
static void room(void *context, uint32_t node, uint32_t class, uint64_t now)
{
    struct traffic *traffic = context;
    struct source *source = &traffic->sources[node];
    if (!source->blocked || source->class != class || traffic->setup.config->pattern == TRAFFIC_TRACE)
        return;
    send_due(traffic, node, now / traffic->clock.period, now);
    uint64_t time = clock_time(&traffic->clock, source->next);
    if (!source->blocked && (!event_pending(&traffic->event) || traffic->event.time > time))
        event_schedule(traffic->queue, &traffic->event, time);
}

/* Plays the trace. A packet for which its source has no room is tried again in every clock, and those behind it
 * wait. */
static void play(void *owner, uint64_t now)
{
    struct traffic *traffic = owner;
    const struct traffic_trace *trace = traffic->setup.trace;
    uint64_t clock = now / traffic->clock.period;
    while (traffic->played < trace->count) {
        const struct traffic_event *event = &trace->events[traffic->played];
        if (event->clock > clock || !send(traffic, event->clock, event->source, event->destination,
                                          event->flits, event->class, now)) {
            uint64_t next = event->clock > clock ? event->clock : clock + 1;
            event_schedule(traffic->queue, &traffic->event, clock_time(&traffic->clock, next));
            return;
        }
        traffic->played++;
    }
}

static bool deliver(void *context, const struct network_packet *packet, uint64_t now)
{
    struct traffic *traffic = context;
    uint64_t clock = now / traffic->clock.period, made = packet->time / traffic->clock.period;
    if (is_measured(traffic, clock))
        traffic->received[packet->destination] += packet->flits;
    if (!is_measured(traffic, made))
        return true;
    uint64_t latency = clock - made;
    traffic->arrived++;
    traffic->latency += latency;
    traffic->network_latency += clock - packet->entered;
    traffic->longest = latency > traffic->longest ? latency : traffic->longest;
    traffic->counts[latency < LATENCIES ? latency : LATENCIES - 1]++;
    return true;
}

struct traffic *traffic_new(const struct traffic_setup *setup, double rate)
{
    struct traffic *traffic = alloc(1, sizeof *traffic);
    const struct topology *topology = setup->topology;
    bool trace = setup->config->pattern == TRAFFIC_TRACE;
    *traffic = (struct traffic){.setup = *setup,
                                .rate = rate,
                                .begin = trace ? 0 : setup->config->warmup,
                                .end = trace ? UINT64_MAX : setup->config->warmup + setup->config->measure,
                                .nodes = topology->node_count};
    traffic->last = trace ? UINT64_MAX : traffic->end + 20 * (uint64_t)setup->config->limit;
    struct error err;
    if (!clock_set_frequency(&traffic->clock, setup->network->clock, &err))
        traffic->clock.period = 1000000;
    double probability = rate / setup->config->flits;
    traffic->threshold = probability >= 1 ? UINT64_MAX : (uint64_t)(probability * 18446744073709551616.0);
    while ((traffic->side + 1) * (traffic->side + 1) <= traffic->nodes)
        traffic->side++;
    traffic->queue = alloc(1, sizeof *traffic->queue);
    event_queue_init(traffic->queue);
    event_init(&traffic->event, 0, trace ? play : send_all, traffic);
    const struct network_client client = {.deliver = deliver, .room = room, .context = traffic};
    traffic->network =
        network_new(setup->network, topology, setup->routing, traffic->queue, &traffic->clock, 1, &client);
    if (setup->check)
        network_check_always(traffic->network);
    if (setup->observer)
        network_observe(traffic->network, setup->observer);
    traffic->sources = alloc(traffic->nodes, sizeof *traffic->sources);
    traffic->received = alloc(traffic->nodes, sizeof *traffic->received);
    traffic->counts = alloc(LATENCIES, sizeof *traffic->counts);
    for (uint32_t node = 0; node < traffic->nodes; node++) {
        traffic->sources[node].random = (setup->config->seed << 32) + node;
        if (!trace)
            draw(traffic, node, 0);
    }
    event_schedule(traffic->queue, &traffic->event, 0);
    return traffic;
}

void traffic_free(struct traffic *traffic)
{
    network_free(traffic->network);
    free(traffic->queue);
    free(traffic->sources);
    free(traffic->received);
    free(traffic->counts);
    free(traffic);
}

/* The least latency that a share of the measured packets does not exceed. */
static uint64_t percentile(const struct traffic *traffic, uint64_t percent)
{
    uint64_t below = 0, wanted = (traffic->arrived * percent + 99) / 100;
    for (uint64_t latency = 0; latency < LATENCIES; latency++) {
        below += traffic->counts[latency];
        if (below >= wanted)
            return latency == LATENCIES - 1 ? traffic->longest : latency;
    }
    return 0;
}

/* Runs until all measured packets have arrived, for at most 20 times the latency limit. */
static void drain(struct traffic *traffic)
{
    while (traffic->arrived < traffic->measured) {
        uint64_t next = event_queue_next(traffic->queue);
        if (next == CLOCK_NEVER || next > clock_time(&traffic->clock, traffic->last))
            return;
        (void)event_queue_step(traffic->queue);
    }
}

/* Packets of the measurement that no source has sent yet. */
static uint64_t unsent(const struct traffic *traffic)
{
    uint64_t count = 0;
    for (uint32_t node = 0; node < traffic->nodes; node++)
        count += traffic->setup.config->pattern != TRAFFIC_TRACE &&
                 is_measured(traffic, traffic->sources[node].next);
    return count;
}

static void run_measured(struct traffic *traffic)
{
    if (traffic->setup.config->pattern == TRAFFIC_TRACE) {
        while (event_queue_step(traffic->queue))
            continue;
        return;
    }
    event_queue_run(traffic->queue, clock_time(&traffic->clock, traffic->end));
    double mean = traffic->arrived ? (double)traffic->latency / (double)traffic->arrived : 0;
    if (mean <= traffic->setup.config->limit && unsent(traffic) < traffic->nodes)
        drain(traffic);
}

void traffic_run(struct traffic *traffic, struct traffic_result *result)
{
    run_measured(traffic);
    const struct network_totals *totals = network_totals(traffic->network);
    double packets = traffic->arrived ? (double)traffic->arrived : 1;
    bool trace = traffic->setup.config->pattern == TRAFFIC_TRACE;
    double clocks = trace ? (double)(traffic->queue->now / traffic->clock.period + 1)
                          : (double)traffic->setup.config->measure;
    uint64_t flits = 0, least = UINT64_MAX;
    for (uint32_t node = 0; node < traffic->nodes; node++) {
        flits += traffic->received[node];
        least = traffic->received[node] < least ? traffic->received[node] : least;
    }
    *result = (struct traffic_result){
        .offered = trace ? (double)flits / clocks / traffic->nodes : traffic->rate,
        .accepted = (double)flits / clocks / traffic->nodes,
        .least_accepted = (double)least / clocks,
        .latency = (double)traffic->latency / packets,
        .network_latency = (double)traffic->network_latency / packets,
        .hops = totals->flits_left ? (double)totals->hops / (double)totals->flits_left : 0,
        .median = percentile(traffic, 50),
        .most_of_100 = percentile(traffic, 99),
        .longest = traffic->longest,
        .packets = traffic->measured,
        .missing = traffic->measured - traffic->arrived + unsent(traffic),
        .flit_hops = totals->hops,
        .clocks = traffic->queue->now / traffic->clock.period};
    result->stable = result->missing == 0 && (trace || result->latency <= traffic->setup.config->limit);
}

struct network *traffic_network(struct traffic *traffic)
{
    return traffic->network;
}

size_t traffic_rates(const char *text, double rates[TRAFFIC_RATES], struct error *err)
{
    size_t count = 0;
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        double numbers[3] = {0, 0, 0};
        int parts = 0;
        for (; parts < 3; parts++) {
            char *end;
            numbers[parts] = *at >= '0' && *at <= '9' ? strtod(at, &end) : -1;
            if (!(numbers[parts] > 0 && numbers[parts] <= 64))
                return (void)error_set(err,
                                       "rates: %s is not a list of rates above 0, such as 0.01 0.1:0.5:0.1",
                                       text_quote(text).text),
                       0;
            at = end;
            if (*at != ':')
                break;
            at++;
        }
        double step = parts == 0   ? 1
                      : parts == 1 ? 0.1
                                   : numbers[2],
               last = parts == 0 ? numbers[0] : numbers[1];
        if ((*at && *at != ' ') || (last - numbers[0]) / step >= TRAFFIC_RATES - (double)count)
            return (void)error_set(err,
                                   "rates: %s is not a list of at most %d rates, such as 0.01 0.1:0.5:0.1",
                                   text_quote(text).text, TRAFFIC_RATES),
                   0;
        for (unsigned i = 0; numbers[0] + i * step <= last + step / 1000 && count < TRAFFIC_RATES; i++)
            rates[count++] = numbers[0] + i * step;
    }
    if (count == 0)
        (void)error_set(err, "rates: no rate; write rates such as 0.01 0.1:0.5:0.1");
    return count;
}

bool traffic_fits(const struct traffic_config *config, const struct topology *topology, struct error *err)
{
    uint32_t nodes = topology->node_count, side = 0;
    while ((side + 1) * (side + 1) <= nodes)
        side++;
    if (config->pattern == TRAFFIC_TRANSPOSE && side * side != nodes)
        return error_set(err, "pattern: transpose needs a square number of nodes; there are %u", nodes);
    if (config->pattern == TRAFFIC_COMPLEMENT && (nodes & (nodes - 1)) != 0)
        return error_set(err, "pattern: complement needs a power of two of nodes; there are %u", nodes);
    if (config->pattern == TRAFFIC_HOTSPOT && config->hot >= nodes)
        return error_set(err, "hot: node %u; the network has nodes 0 to %u", config->hot, nodes - 1);
    return true;
}

static bool read_event(const char *line, struct traffic_event *event, uint32_t nodes, uint32_t classes)
{
    unsigned class = 0;
    char rest;
    int count = sscanf(line, "%" SCNu64 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %u %c", &event->clock,
                       &event->source, &event->destination, &event->flits, &class, &rest);
    event->class = (uint8_t) class;
    return (count == 4 || count == 5) && event->source < nodes && event->destination < nodes &&
           class < classes && event->flits >= 1 && event->flits <= NETWORK_PACKET && !strchr(line, '-');
}

bool traffic_trace_read(struct traffic_trace *trace, const char *path, uint32_t nodes, uint32_t classes,
                        struct error *err)
{
    *trace = (struct traffic_trace){0};
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(err, "%s: cannot be read: %s", path, strerror(errno));
    char *line = NULL;
    size_t size = 0, room = 0;
    bool fine = true;
    for (unsigned number = 1; fine && getline(&line, &size, file) >= 0; number++) {
        const char *text = line + strspn(line, " \t\r\n");
        struct traffic_event event;
        if (*text == '\0' || *text == '#')
            continue;
        if (!read_event(text, &event, nodes, classes))
            fine = error_set(
                err,
                "%s:%u: not `CLOCK SOURCE DESTINATION FLITS [CLASS]` with nodes below %u, 1 to %d flits and "
                "classes below %u",
                path, number, nodes, NETWORK_PACKET, classes);
        else if (trace->count && event.clock < trace->events[trace->count - 1].clock)
            fine = error_set(err, "%s:%u: clock %" PRIu64 " is before the clock of the line before", path,
                             number, event.clock);
        if (!fine)
            break;
        if (trace->count == room) {
            room = room ? 2 * room : 256;
            trace->events = alloc_resize(trace->events, room * sizeof *trace->events);
        }
        trace->events[trace->count++] = event;
        trace->longest = event.flits > trace->longest ? event.flits : trace->longest;
    }
    free(line);
    (void)fclose(file);
    if (fine && trace->count == 0)
        fine = error_set(err, "%s: has no packet", path);
    return fine;
}

void traffic_trace_free(struct traffic_trace *trace)
{
    free(trace->events);
}
