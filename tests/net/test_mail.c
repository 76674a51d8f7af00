/* Messages between nodes of a fabric: a protocol of requests, forwards and responses with random nodes and sizes on small queues; nodes
 * that refuse requests; latencies without traffic; messages beside memory requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/net/fabric.h"
#include "emu/sim/clock.h"
#include "tests/isa/random.h"

enum { PERIOD = 1000, SIDE = 4, NODES = SIDE * SIDE, OPEN = 12, ROOM = 2, MOST = 72 };

/* A request to a home node, which forwards it to an owner, which answers the requester. */
struct message {
    uint32_t number; /* of the request */
    uint16_t requester, owner;
    uint8_t class;
    uint8_t filler[MOST];
};

struct rig;

struct node {
    struct rig *rig;
    uint16_t number;
    unsigned open; /* own requests without an answer */
    bool refuses, blocked;
    struct event next, serve;
    struct message held[ROOM];
    unsigned held_count;
};

struct rig {
    struct event_queue queue;
    struct clock clock;
    struct network_config config;
    struct fabric *fabric;
    struct random random;
    struct node nodes[NODES];
    uint64_t sent, answered, limit, refused, delivered[MAIL_CLASSES];
    uint64_t arrival; /* of the last message */
    unsigned char *seen;
    bool in_send;
};

static void fill(struct message *message)
{
    for (unsigned i = 0; i < MOST; i++)
        message->filler[i] = (uint8_t)(message->number * 7 + i * message->class + message->owner);
}

static void check(const struct message *message)
{
    for (unsigned i = 0; i < MOST; i++)
        assert_int_equal(message->filler[i],
                         (uint8_t)(message->number * 7 + i * message->class + message->owner));
}

static bool deliver(void *receiver, const void *bytes, uint64_t now);

static void send(struct rig *rig, uint16_t from, uint16_t to, struct message *message, enum mail_class class,
                 uint64_t now)
{
    message->class = (uint8_t) class;
    fill(message);
    const struct mail mail = {.from = from,
                              .to = to,
                              .class = (uint8_t) class,
                              .bytes = 1 + random_below(&rig->random, MOST),
                              .deliver = deliver,
                              .receiver = &rig->nodes[to]};
    rig->in_send = true;
    fabric_mail_ops.send(rig->fabric, &mail, message, sizeof *message, now);
    rig->in_send = false;
    memset(message, 0xee, sizeof *message); /* the carrier has a copy */
}

static uint16_t any(struct rig *rig)
{
    return (uint16_t)random_below(&rig->random, NODES);
}

/* A home forwards what it holds. */
static void serve(void *owner, uint64_t now)
{
    struct node *node = owner;
    struct rig *rig = node->rig;
    while (node->held_count > 0) {
        struct message message = node->held[--node->held_count];
        const uint16_t to = message.owner;
        send(rig, node->number, to, &message, MAIL_FORWARD, now + random_below(&rig->random, 3) * PERIOD);
    }
    if (node->blocked && !node->refuses) {
        node->blocked = false;
        fabric_mail_ops.retry(rig->fabric, node->number, now);
    }
}

static bool take(struct node *node, const struct message *message, uint64_t now)
{
    struct rig *rig = node->rig;
    if (node->refuses || node->held_count == ROOM) {
        node->blocked = true;
        rig->refused++;
        return false;
    }
    node->held[node->held_count++] = *message;
    if (!event_pending(&node->serve))
        event_schedule(&rig->queue, &node->serve, now + (1 + random_below(&rig->random, 20)) * PERIOD);
    return true;
}

static bool deliver(void *receiver, const void *bytes, uint64_t now)
{
    struct node *node = receiver;
    struct rig *rig = node->rig;
    struct message message;
    memcpy(&message, bytes, sizeof message);
    assert_false(rig->in_send);
    check(&message);
    if (message.class == MAIL_REQUEST && !take(node, &message, now))
        return false;
    rig->delivered[message.class]++;
    rig->arrival = now;
    if (message.class == MAIL_FORWARD) {
        assert_int_equal(node->number, message.owner);
        const uint16_t to = message.requester;
        send(rig, node->number, to, &message, MAIL_RESPONSE, now);
    } else if (message.class == MAIL_RESPONSE) {
        assert_int_equal(node->number, message.requester);
        assert_int_equal(rig->seen[message.number]++, 0);
        rig->answered++;
        node->open--;
    }
    return true;
}

/* A node's next request. */
static void ask(void *owner, uint64_t now)
{
    struct node *node = owner;
    struct rig *rig = node->rig;
    if (node->open < OPEN && rig->sent < rig->limit) {
        struct message message = {
            .number = (uint32_t)rig->sent++, .requester = node->number, .owner = any(rig)};
        node->open++;
        send(rig, node->number, random_chance(&rig->random, 50) ? 5 : any(rig), &message, MAIL_REQUEST, now);
    }
    if (rig->sent < rig->limit)
        event_schedule(&rig->queue, &node->next, now + (1 + random_below(&rig->random, 8)) * PERIOD);
}

static void rig_free(struct rig *rig)
{
    fabric_free(rig->fabric);
    free(rig->seen);
    free(rig);
}

static struct rig *rig_new(uint64_t limit, uint64_t seed, uint32_t vcs, uint32_t buffer)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct error err;
    struct shape_culprit culprit;
    struct network_shape shape;
    assert_non_null(rig);
    event_queue_init(&rig->queue);
    rig->clock = (struct clock){.period = PERIOD};
    rig->random = (struct random){seed};
    rig->limit = limit;
    rig->seen = calloc(1, limit + 1);
    part_defaults(&network_kind, 0, &rig->config);
    strcpy(rig->config.size, "4x4");
    rig->config.classes = FABRIC_ALL;
    rig->config.vcs = vcs;
    rig->config.buffer = buffer;
    rig->config.send_queue = 1;
    rig->config.flit = 16;
    if (!shape_make(&shape, &rig->config, NULL, 0, &culprit, &err))
        fail_msg("%s", err.text);
    struct fabric_plan plan = {.shape = &shape, .input_nodes = calloc(1, 4), .output_nodes = calloc(1, 4)};
    rig->fabric = fabric_new(&rig->config, &plan, &rig->queue, &rig->clock, 0);
    for (uint16_t i = 0; i < NODES; i++) {
        struct node *node = &rig->nodes[i];
        *node = (struct node){.rig = rig, .number = i};
        event_init(&node->next, 1, ask, node);
        event_init(&node->serve, 2, serve, node);
        if (limit)
            event_schedule(&rig->queue, &node->next, PERIOD);
    }
    return rig;
}

static void each_message_arrives_once(void **state)
{
    uint64_t refused = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct rig *rig = rig_new(20000, seed, 1 + seed % 2, 1 + (uint32_t)(seed % 3) * 2);
        event_queue_run(&rig->queue, CLOCK_NEVER);
        assert_int_equal(rig->answered, rig->limit);
        for (unsigned class = 0; class < MAIL_CLASSES; class ++)
            assert_int_equal(rig->delivered[class], rig->limit);
        refused += rig->refused;
        rig_free(rig);
    }
    assert_true(refused > 1000);
}

/* All nodes but one refuse requests; then requests fill the network, and forwards and responses pass them. */
static void refused_requests_hold_nothing_else_up(void **state)
{
    (void)state;
    struct rig *rig = rig_new(NODES * OPEN, 3, 1, 2);
    for (unsigned i = 0; i < NODES; i++)
        rig->nodes[i].refuses = true;
    event_queue_run(&rig->queue, 2000 * PERIOD);
    assert_int_equal(rig->delivered[MAIL_REQUEST], 0);
    for (uint16_t from = 0; from < NODES; from++)
        for (uint16_t to = 0; to < NODES; to++) {
            struct message message = {.number = 0, .requester = from, .owner = to};
            rig->seen[0] = 0;
            rig->nodes[from].open++;
            send(rig, from, to, &message, MAIL_FORWARD, rig->queue.now);
            event_queue_run(&rig->queue, rig->queue.now + 500 * PERIOD);
            assert_int_equal(rig->seen[0], 1);
        }
    rig->answered = 0;
    rig->seen[0] = 0;
    for (unsigned i = 0; i < NODES; i++) {
        rig->nodes[i].refuses = false;
        serve(&rig->nodes[i], rig->queue.now);
    }
    event_queue_run(&rig->queue, CLOCK_NEVER);
    assert_int_equal(rig->answered, rig->limit);
    rig_free(rig);
}

static uint64_t distance(unsigned from, unsigned to)
{
    const int rows = (int)(from / SIDE) - (int)(to / SIDE), columns = (int)(from % SIDE) - (int)(to % SIDE);
    return (uint64_t)(abs(rows) + abs(columns));
}

/* emu/net/network.h: routers * (RC + VA + SA + ST + wire) + 1 + wire + flits - 1. */
static void latency_without_traffic(void **state)
{
    (void)state;
    for (uint32_t bytes = 1; bytes <= MOST; bytes += 20)
        for (uint16_t from = 0; from < NODES; from++)
            for (uint16_t to = 0; to < NODES; to++) {
                struct rig *rig = rig_new(0, 1, 2, 8);
                struct message message = {.requester = to, .class = MAIL_RESPONSE};
                fill(&message);
                const struct mail mail = {.from = from,
                                          .to = to,
                                          .class = MAIL_RESPONSE,
                                          .bytes = bytes,
                                          .deliver = deliver,
                                          .receiver = &rig->nodes[to]};
                rig->nodes[to].open = 1;
                fabric_mail_ops.send(rig->fabric, &mail, &message, sizeof message, 100 * PERIOD);
                event_queue_run(&rig->queue, CLOCK_NEVER);
                assert_int_equal(rig->arrival / PERIOD,
                                 100 + (distance(from, to) + 1) * 5 + 2 + (bytes + 15) / 16 - 1);
                rig_free(rig);
            }
}

static void runs_repeat(void **state)
{
    (void)state;
    uint64_t ends[2];
    for (unsigned i = 0; i < 2; i++) {
        struct rig *rig = rig_new(5000, 9, 1, 3);
        event_queue_run(&rig->queue, CLOCK_NEVER);
        ends[i] = rig->arrival;
        rig_free(rig);
    }
    assert_int_equal(ends[0], ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_message_arrives_once),
        cmocka_unit_test(refused_requests_hold_nothing_else_up),
        cmocka_unit_test(latency_without_traffic),
        cmocka_unit_test(runs_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
