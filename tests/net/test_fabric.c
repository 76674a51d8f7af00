/* A network between scripted requesters and memories of fixed latency. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/net/fabric.h"
#include "tests/isa/random.h"
#include "tests/net/patient_memory.h"
#include "tests/sim/value.h"

enum { PERIOD = 1000, CLIENTS = 4, MEMORIES = 3, WINDOW = 8, HELD = 6 };

struct rig;

struct client {
    struct rig *rig;
    struct mem_link link;
    struct mem_request requests[WINDOW];
    bool away[WINDOW], waits, refuses;
    int unsent; /* the request that was refused, or -1 */
    uint64_t sent, answered, limit, done;
    struct event retry;
};

struct rig {
    struct event_queue *queue;
    struct clock clock;
    struct fabric *fabric;
    struct random random;
    bool wild; /* random latencies and refusals */
    uint64_t clocks, hash;
    struct patient_memory memories[MEMORIES];
    struct client clients[CLIENTS];
};

static uint64_t take(void *context, const struct patient_memory *memory, const struct mem_request *request,
                     uint64_t now)
{
    struct rig *rig = context;
    assert_int_equal(request->address / 4096 % MEMORIES, memory - rig->memories);
    rig->hash = random_digest(rig->hash, now ^ request->address);
    return (rig->clocks + (rig->wild ? random_below(&rig->random, 60) : 0)) * PERIOD;
}

static void client_go(struct client *client, uint64_t now)
{
    while (!client->waits) {
        int slot = client->unsent;
        if (slot < 0) {
            for (slot = 0; slot < WINDOW && client->away[slot]; slot++)
                continue;
            if (slot == WINDOW || client->sent == client->limit)
                return;
            struct random *random = &client->rig->random;
            mem_request_init(&client->requests[slot], random_chance(random, 40) ? MEM_WRITE : MEM_READ,
                             (uint64_t)random_below(random, 1 << 20) * 64, 1 + random_below(random, 128));
            client->away[slot] = true;
            client->sent++;
            client->unsent = slot;
        }
        client->waits = !mem_link_request(&client->link, &client->requests[slot], now);
        if (!client->waits)
            client->unsent = -1;
    }
}

static void client_retry(void *owner, uint64_t now)
{
    struct client *client = owner;
    mem_link_response_room(&client->link, now);
}

static bool client_respond(void *owner, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct client *client = owner;
    struct rig *rig = client->rig;
    ptrdiff_t slot = request - client->requests;
    assert_ptr_equal(link, &client->link);
    if (rig->wild && random_chance(&rig->random, 30)) {
        if (!event_pending(&client->retry))
            event_schedule(rig->queue, &client->retry, now + (1 + random_below(&rig->random, 20)) * PERIOD);
        return false;
    }
    assert_true(slot >= 0 && slot < WINDOW && client->away[slot]);
    assert_int_equal(request->depth, 0);
    client->away[slot] = false;
    client->answered++;
    client->done = now;
    rig->hash = random_digest(rig->hash, now ^ (uint64_t)slot);
    client_go(client, now);
    return true;
}

static void client_room(void *owner, struct mem_link *link, uint64_t now)
{
    struct client *client = owner;
    (void)link;
    assert_true(client->waits);
    client->waits = false;
    client_go(client, now);
}

static struct network_config chain(const char *size)
{
    struct network_config config;
    part_defaults(&network_kind, 0, &config);
    config.topology = NETWORK_CHAIN;
    (void)strcpy(config.size, size);
    config.classes = FABRIC_CLASSES;
    return config;
}

static struct rig *rig_new(const struct network_config *config)
{
    static const struct mem_client_ops ops = {client_respond, client_room};
    struct rig *rig = calloc(1, sizeof *rig);
    struct network_shape shape;
    struct shape_culprit culprit;
    struct error err;
    assert_non_null(rig);
    rig->random.state = 5;
    rig->clocks = 10;
    rig->clock.period = PERIOD;
    rig->queue = calloc(1, sizeof *rig->queue);
    event_queue_init(rig->queue);
    assert_true(shape_make(&shape, config, NULL, 0, &culprit, &err));
    uint32_t nodes = shape.topology.node_count;
    struct fabric_plan plan = {.shape = &shape,
                               .inputs = CLIENTS,
                               .outputs = MEMORIES,
                               .input_nodes = fabric_nodes(config->in_nodes, CLIENTS, 0, nodes, &err),
                               .output_nodes =
                                   fabric_nodes(config->out_nodes, MEMORIES, CLIENTS, nodes, &err),
                               .route = {.shift = 12}};
    assert_true(plan.input_nodes && plan.output_nodes);
    rig->fabric = fabric_new(config, &plan, rig->queue, &rig->clock, 0);
    network_check_always(fabric_network(rig->fabric));
    for (uint32_t i = 0; i < MEMORIES; i++) {
        rig->memories[i] =
            (struct patient_memory){.queue = rig->queue, .capacity = HELD, .take = take, .context = rig};
        fabric_connect(rig->fabric, i, &patient_ops, &rig->memories[i]);
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = &rig->clients[i];
        *client = (struct client){.rig = rig, .unsent = -1};
        client->link = (struct mem_link){.port_ops = &fabric_ops,
                                         .port = fabric_port(rig->fabric, i),
                                         .client_ops = &ops,
                                         .client = client};
        event_init(&client->retry, 8, client_retry, client);
    }
    return rig;
}

static void rig_free(struct rig *rig)
{
    fabric_free(rig->fabric);
    free(rig->queue);
    free(rig);
}

/* The clocks of one request of a client alone. */
static uint64_t latency(struct rig *rig, unsigned number, enum mem_op op, uint64_t address, uint32_t size)
{
    struct client *client = &rig->clients[number];
    event_queue_run(rig->queue, rig->queue->now + 100 * PERIOD);
    uint64_t start = rig->queue->now;
    mem_request_init(&client->requests[0], op, address, size);
    client->away[0] = true;
    assert_true(mem_link_request(&client->link, &client->requests[0], start));
    event_queue_run(rig->queue, start + 1000 * PERIOD);
    assert_false(client->away[0]);
    return (client->done - start) / PERIOD;
}

/* Seven routers in a row: a client at router i, memory m at router 4 + m. A way over H routers takes 5 H + 2 clocks, and
 * one more for each flit behind the first; a packet has 16 B and its data, a flit 32 B. */
static void exact_latency(void **state)
{
    (void)state;
    struct network_config config = chain("7");
    struct rig *rig = rig_new(&config);
    for (unsigned client = 0; client < CLIENTS; client++)
        for (unsigned memory = 0; memory < MEMORIES; memory++) {
            uint64_t way = 5 * (5 + memory - client) + 2;
            assert_int_equal(latency(rig, client, MEM_READ, memory * 4096, 64), way + 10 + way + 2);
            assert_int_equal(latency(rig, client, MEM_READ, memory * 4096, 16), way + 10 + way);
            assert_int_equal(latency(rig, client, MEM_WRITE, memory * 4096, 64), way + 2 + 10 + way);
            assert_int_equal(latency(rig, client, MEM_CLEAN, memory * 4096, 4096), way + 10 + way);
        }
    assert_int_equal(event_queue_next(rig->queue), CLOCK_NEVER);
    rig_free(rig);
}

/* Parts that share nodes: all clients at node 1, memories at nodes 1, 0 and 0. */
static void shared_nodes(void **state)
{
    (void)state;
    struct network_config config = chain("2");
    (void)strcpy(config.in_nodes, "1 1 1 1");
    (void)strcpy(config.out_nodes, "1 0 0");
    struct rig *rig = rig_new(&config);
    assert_int_equal(latency(rig, 3, MEM_READ, 0, 16), 7 + 10 + 7);
    assert_int_equal(latency(rig, 0, MEM_READ, 4096, 16), 12 + 10 + 12);
    assert_int_equal(latency(rig, 2, MEM_READ, 2 * 4096, 16), 12 + 10 + 12);
    assert_int_equal(rig->memories[2].taken, 1);
    rig_free(rig);
}

/* What takes no time reaches the right memory; a range is split. */
static void untimed(void **state)
{
    (void)state;
    struct network_config config = chain("7");
    struct rig *rig = rig_new(&config);
    const struct mem_link *link = &rig->clients[1].link;
    assert_true(link->port_ops->warm(link->port, &rig->clients[1].link, 4096 + 64, true));
    assert_int_equal(rig->memories[1].warmed, 4096 + 64);
    link->port_ops->maintain(link->port, &rig->clients[1].link, MEM_CLEAN, 4000, 5000);
    assert_int_equal(rig->memories[0].cleaned, 96);
    assert_int_equal(rig->memories[1].cleaned, 4096);
    assert_int_equal(rig->memories[2].cleaned, 5000 - 96 - 4096);
    rig_free(rig);
}

/* Random traffic with memories that are often full and clients that refuse responses: every request is answered once, nothing
 * is left, and a second run is the same. */
static void random_traffic(void **state)
{
    (void)state;
    static const char *const nodes[][2] = {{"", ""}, {"0 0 1 2", "2 2 0"}, {"3 3 3 3", "3 3 3"}};
    for (unsigned i = 0; i < 12; i++) {
        struct network_config config = chain("7");
        uint64_t hash[2];
        config.vcs = 1 + i % 3;
        config.buffer = i % 4 ? 4 : 8;
        config.flow = i % 4 ? NETWORK_WORMHOLE : NETWORK_CUT_THROUGH;
        config.send_queue = 1 + i % 2;
        (void)strcpy(config.in_nodes, nodes[i % 3][0]);
        (void)strcpy(config.out_nodes, nodes[i % 3][1]);
        for (unsigned k = 0; k < 2; k++) {
            struct rig *rig = rig_new(&config);
            rig->wild = true;
            rig->clocks = 1;
            rig->random.state = i;
            for (unsigned c = 0; c < CLIENTS; c++) {
                rig->clients[c].limit = 500;
                client_go(&rig->clients[c], 0);
            }
            event_queue_run(rig->queue, UINT64_C(2000000) * PERIOD);
            for (unsigned c = 0; c < CLIENTS; c++)
                assert_int_equal(rig->clients[c].answered, 500);
            assert_int_equal(event_queue_next(rig->queue), CLOCK_NEVER);
            assert_int_equal(network_in_flight(fabric_network(rig->fabric)), 0);
            const struct network_totals *totals = network_totals(fabric_network(rig->fabric));
            assert_int_equal(totals->delivered, 2 * CLIENTS * 500);
            assert_true(totals->refusals > 100);
            hash[k] = rig->hash;
            rig_free(rig);
        }
        assert_int_equal(hash[0], hash[1]);
    }
}

/* What a flood of messages has delivered. */
struct flood {
    struct rig *rig;
    uint64_t got, at_end; /* at_end: those that came after the last answer to a memory request */
};

static bool flood_deliver(void *receiver, const void *message, uint64_t now)
{
    struct flood *flood = receiver;
    bool over = true;
    (void)now;
    assert_int_equal(*(const uint32_t *)message, flood->got);
    flood->got++;
    for (unsigned c = 0; c < CLIENTS; c++)
        over = over && flood->rig->clients[c].answered == 100;
    flood->at_end += over;
    return true;
}

/* Messages that wait at the nodes of memories' clients and of memories share their queues with requests and responses, in turns:
 * these end long before the messages do. With one virtual channel, messages of a class keep their order. */
static void messages_beside_requests(void **state)
{
    enum { MESSAGES = 4000 };
    static const uint16_t way[MAIL_CLASSES][2] = {{1, 5}, {1, 5}, {5, 1}};
    (void)state;
    for (unsigned class = 0; class < MAIL_CLASSES; class ++) {
        struct network_config config = chain("7");
        config.classes = FABRIC_ALL;
        config.vcs = 1;
        config.send_queue = 1;
        struct rig *rig = rig_new(&config);
        struct flood flood = {.rig = rig};
        for (uint32_t i = 0; i < MESSAGES; i++) {
            const struct mail mail = {.from = way[class][0],
                                      .to = way[class][1],
                                      .class = (uint8_t) class,
                                      .bytes = 64,
                                      .deliver = flood_deliver,
                                      .receiver = &flood};
            fabric_mail_ops.send(rig->fabric, &mail, &i, sizeof i, 0);
        }
        for (unsigned c = 0; c < CLIENTS; c++) {
            rig->clients[c].limit = 100;
            client_go(&rig->clients[c], 0);
        }
        event_queue_run(rig->queue, UINT64_C(2000000) * PERIOD);
        for (unsigned c = 0; c < CLIENTS; c++)
            assert_int_equal(rig->clients[c].answered, 100);
        assert_int_equal(flood.got, MESSAGES);
        assert_true(flood.at_end > MESSAGES / 2);
        rig_free(rig);
    }
}

static bool drop_message(void *receiver, const void *message, uint64_t now)
{
    (void)receiver, (void)message, (void)now;
    return true;
}

static uint64_t hops_of(struct stats *stats, const char *purpose)
{
    char name[32];
    (void)snprintf(name, sizeof name, "net.%shops", purpose);
    return stats_value(stats, name);
}

/* Flits by what they are for, worked out by hand: client 1 is 4 routers from memory 0, and 6 from memory 2, its own included. A packet
 * has 16 B and its data, a flit 32 B. A packed request has the words of its mask: 4 of 16. Before they are asked for there are no such
 * statistics. */
static void purposes(void **state)
{
    (void)state;
    struct network_config config = chain("7");
    config.classes = FABRIC_ALL;
    struct rig *rig = rig_new(&config);
    struct stats *stats = stats_new();
    fabric_publish(rig->fabric, stats, scope_enter(NULL, "net"));
    assert_int_equal(stats_print(stats, "net.*_hops", stdout), 0);
    stats_free(stats);
    stats = stats_new();
    fabric_mail_ops.sort(rig->fabric);
    fabric_mail_ops.sort(rig->fabric);
    fabric_publish(rig->fabric, stats, scope_enter(NULL, "net"));
    (void)latency(rig, 1, MEM_READ, 0, 64);
    assert_int_equal(hops_of(stats, "read_"), 4 * (1 + 3));
    (void)latency(rig, 1, MEM_WRITE, 2 * 4096, 64);
    assert_int_equal(hops_of(stats, "write_back_"), 6 * (3 + 1));
    (void)latency(rig, 1, MEM_CLEAN, 0, 4096);
    assert_int_equal(hops_of(stats, "other_"), 4 * (1 + 1));
    for (unsigned purpose = 0; purpose < MAIL_PURPOSES; purpose++) {
        const struct mail mail = {.from = 1,
                                  .to = 3,
                                  .class = MAIL_FORWARD,
                                  .purpose = (uint8_t)purpose,
                                  .bytes = 33,
                                  .deliver = drop_message};
        fabric_mail_ops.send(rig->fabric, &mail, &purpose, sizeof purpose, rig->queue->now);
    }
    event_queue_run(rig->queue, rig->queue->now + 1000 * PERIOD);
    assert_int_equal(hops_of(stats, "read_"), 4 * (1 + 3) + 3 * 2);
    assert_int_equal(hops_of(stats, "write_"), 3 * 2);
    assert_int_equal(hops_of(stats, "write_back_"), 6 * (3 + 1) + 3 * 2);
    assert_int_equal(hops_of(stats, "other_"), 4 * (1 + 1) + 3 * 2);
    assert_int_equal(hops_of(stats, ""), hops_of(stats, "read_") + hops_of(stats, "write_") +
                                             hops_of(stats, "write_back_") + hops_of(stats, "other_"));
    stats_free(stats);
    rig_free(rig);
}

/* Requests for some words of a line carry only these: 4 of 16 words, with a header, are a flit. */
static void packed_requests(void **state)
{
    (void)state;
    struct network_config config = chain("7");
    struct rig *rig = rig_new(&config);
    const struct network_totals *totals = network_totals(fabric_network(rig->fabric));
    for (unsigned op = MEM_READ; op <= MEM_WRITE; op++) {
        struct mem_request *request = &rig->clients[1].requests[0];
        const uint64_t before = totals->hops;
        mem_request_init(request, (enum mem_op)op, 0, 64);
        mem_request_pack(request, 0x8421);
        assert_int_equal(request->mask, 0x8421);
        rig->clients[1].away[0] = true;
        assert_true(mem_link_request(&rig->clients[1].link, request, rig->queue->now));
        event_queue_run(rig->queue, rig->queue->now + 1000 * PERIOD);
        assert_false(rig->clients[1].away[0]);
        assert_int_equal(totals->hops - before, 4 * (1 + 1));
    }
    rig_free(rig);
}

static void lists_of_nodes(void **state)
{
    (void)state;
    struct error err;
    static const struct {
        const char *text;
        uint32_t ends, first;
        const char *message; /* NULL: fine */
    } cases[] = {
        {"", 3, 5, NULL},
        {" 7 0 7 ", 3, 0, NULL},
        {"", 4, 5, "4 parts are connected, to nodes from 5 on; the network has 8 nodes"},
        {"8", 1, 0, "not a list of nodes from 0 to 7"},
        {"1,2", 2, 0, "not a list"},
        {"-1", 1, 0, "not a list"},
        {"1 2", 3, 0, "a list of fewer than 3 nodes"},
        {"1 2 3 4", 3, 0, "a list of more than 3 nodes"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t *list = fabric_nodes(cases[i].text, cases[i].ends, cases[i].first, 8, &err);
        assert_int_equal(list == NULL, cases[i].message != NULL);
        if (cases[i].message)
            assert_non_null(strstr(err.text, cases[i].message));
        else
            assert_int_equal(list[2], 7);
        free(list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_latency),
        cmocka_unit_test(shared_nodes),
        cmocka_unit_test(untimed),
        cmocka_unit_test(random_traffic),
        cmocka_unit_test(messages_beside_requests),
        cmocka_unit_test(purposes),
        cmocka_unit_test(packed_requests),
        cmocka_unit_test(lists_of_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
