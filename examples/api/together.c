/* Two models together: a memory at node 3 of a mesh, to which the other nodes send requests; its answers go back through the
 * network. Both move from event to event of either, so their times agree to the femtosecond. A packet for which the memory has
 * no room stays in the network, and holds what is behind it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <undercroft.h>

enum {
    NODES = 16,
    HOME = 3,
    EACH = 200,
    REQUEST_FLITS = 1,
    LINE_FLITS = 5,
    REQUESTS = 0,
    RESPONSES = 1,
    WAITING = 4096
};

static const char mesh[] = "network: {topology: mesh, size: 4x4, clock: 1 GHz, wires: on_chip, classes: 2}";

struct system {
    struct undercroft *memory, *network;
    uint64_t sent[NODES];  /* requests of a node so far */
    uint64_t begin[NODES]; /* time of its request that is under way */
    uint64_t arrived, latency, refused, last;
    uint64_t waiting[WAITING]; /* answers that wait for room in the network, as tags */
    unsigned first, end;
    int unblock; /* the memory has room again */
};

static void check(int status, const struct undercroft_error *error)
{
    if (status >= 0)
        return;
    fprintf(stderr, "%s\n", error->text);
    exit(1);
}

/* Node `node` asks for its next line. A tag is the node's number. */
static void ask(struct system *s, uint64_t node, uint64_t now)
{
    struct undercroft_error error;
    const struct undercroft_packet packet = {node, (uint32_t)node, HOME, REQUEST_FLITS, REQUESTS};
    if (node == HOME || s->sent[node] == EACH)
        return;
    s->sent[node]++;
    s->begin[node] = now;
    check(undercroft_network_send(s->network, &packet, &error), &error); /* one at a time: there is room */
}

/* Sends answers back as long as the network takes them. */
static void send_back(struct system *s)
{
    struct undercroft_error error;
    for (; s->first != s->end; s->first = (s->first + 1) % WAITING) {
        const uint64_t node = s->waiting[s->first];
        const struct undercroft_packet packet = {node, HOME, (uint32_t)node, LINE_FLITS, RESPONSES};
        const int status = undercroft_network_send(s->network, &packet, &error);
        check(status, &error);
        if (status == UNDERCROFT_FULL)
            return;
    }
}

static int deliver(void *context, const struct undercroft_packet *packet, uint64_t now)
{
    struct system *s = context;
    struct undercroft_error error;
    const uint64_t node = packet->tag;
    if (packet->destination != HOME) {
        s->latency += now - s->begin[node];
        s->arrived++;
        s->last = now;
        ask(s, node, now);
        return 0;
    }
    check(undercroft_run(s->memory, now, &error), &error); /* the memory is never ahead of the network */
    const uint64_t address = (s->sent[node] * NODES + node) * 64;
    const int status = undercroft_memory_request(s->memory, UNDERCROFT_READ, address, 64, node, &error);
    check(status, &error);
    s->refused += status == UNDERCROFT_FULL;
    return status;
}

static void network_room(void *context, uint32_t node, uint32_t class, uint64_t now)
{
    (void)now;
    if (node == HOME && class == RESPONSES)
        send_back(context);
}

static void answer(void *context, uint64_t tag, uint64_t now)
{
    struct system *s = context;
    (void)now;
    s->waiting[s->end] = tag;
    s->end = (s->end + 1) % WAITING;
}

static void memory_room(void *context, uint64_t now)
{
    struct system *s = context;
    (void)now;
    s->unblock = 1;
}

int main(int argc, char **argv)
{
    static struct system s;
    struct undercroft_error error;
    static const char *const sets[] = {"dram.read_queue=4"};
    const struct undercroft_source dram = {
        .size = sizeof dram, .file = argc > 1 ? argv[1] : "ddr3_1600k", .sets = sets, .set_count = 1};
    const struct undercroft_source net = {.size = sizeof net, .text = mesh};
    const struct undercroft_memory_client memory = {sizeof memory, &s, answer, memory_room};
    const struct undercroft_network_client network = {sizeof network, &s, deliver, network_room};
    uint64_t at_memory, at_network;
    check(undercroft_memory_new(&s.memory, &dram, &memory, &error), &error);
    check(undercroft_network_new(&s.network, &net, LINE_FLITS, &network, &error), &error);
    for (uint64_t node = 0; node < NODES; node++)
        ask(&s, node, 0);
    for (;;) {
        undercroft_next(s.memory, &at_memory, NULL);
        undercroft_next(s.network, &at_network, NULL);
        const uint64_t next = at_memory < at_network ? at_memory : at_network;
        if (next == UNDERCROFT_FOREVER)
            break;
        check(undercroft_run(s.memory, next, &error), &error);
        check(undercroft_run(s.network, next, &error), &error);
        if (s.unblock) /* now that both are at the same time */
            undercroft_network_unblock(s.network, HOME, REQUESTS, NULL);
        s.unblock = 0;
        send_back(&s);
    }
    printf("%" PRIu64 " lines in %.3f us, %.3f ns on average; the memory refused %" PRIu64 " requests\n",
           s.arrived, (double)s.last * 1e-9, (double)s.latency / (double)s.arrived * 1e-6, s.refused);
    undercroft_free(s.memory, NULL);
    undercroft_free(s.network, NULL);
    return 0;
}
