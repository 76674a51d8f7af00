/* Scripted requesters above a crossbar, and memories of fixed latency below it. */
#ifndef TESTS_NET_CROSSBAR_RIG_H
#define TESTS_NET_CROSSBAR_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/net/crossbar.h"
#include "tests/isa/random.h"
#include "tests/net/patient_memory.h"
#include "tests/sim/track_text.h"
#include "tests/sim/value.h"

enum { PERIOD = 800000, MOST = 8, REQUESTS = 64 };

struct rig;

/* Above an input: sends what send_next() makes, up to `window` at a time. */
struct client {
    struct rig *rig;
    struct mem_link link;
    struct mem_request requests[REQUESTS];
    bool away[REQUESTS];
    uint64_t sent, accepted, answered, rooms;
    uint64_t done;             /* time of the last response */
    unsigned window, refusing; /* responses that it still refuses */
    bool waits, endless;
    uint64_t limit; /* of requests in all */
    struct event retry;
    bool (*next)(struct client *client, struct mem_request *request); /* NULL: only what the test sends */
};

struct rig {
    struct event_queue queue;
    struct clock clock;
    struct crossbar *crossbar;
    struct stats *stats;
    uint64_t random, hash;
    uint64_t jitter; /* memories answer after 10 clocks and up to as many more, exclusively */
    struct patient_memory memories[MOST];
    uint64_t latest[MOST][MOST]; /* by memory and client: the number of the last request */
    struct client clients[MOST];
};

static inline uint64_t random_number(struct rig *rig)
{
    random_step(&rig->random);
    return rig->random >> 33;
}

/* Of a memory: requests of a client come in order. */
static inline uint64_t memory_take(void *context, const struct patient_memory *memory,
                                   const struct mem_request *request, uint64_t now)
{
    struct rig *rig = context;
    uint64_t *latest = &rig->latest[memory - rig->memories][request->requester];
    assert_int_equal(now % PERIOD, 0);
    assert_true(request->mask > *latest);
    *latest = request->mask;
    rig->hash = random_digest(rig->hash, now ^ request->mask ^ request->address);
    return (10 + (rig->jitter ? random_number(rig) % rig->jitter : 0)) * PERIOD;
}

static inline void client_go(struct client *client, uint64_t now);

static inline void client_retry(void *owner, uint64_t now)
{
    struct client *client = owner;
    client->refusing = 0;
    mem_link_response_room(&client->link, now);
}

static inline bool client_respond(void *owner, struct mem_link *link, struct mem_request *request,
                                  uint64_t now)
{
    struct client *client = owner;
    struct rig *rig = client->rig;
    assert_ptr_equal(link, &client->link);
    if (client->refusing) {
        client->refusing--;
        return false;
    }
    if (client->endless && random_number(rig) % 4 == 0) {
        if (!event_pending(&client->retry))
            event_schedule(&rig->queue, &client->retry, now + (1 + random_number(rig) % 20) * PERIOD);
        return false;
    }
    ptrdiff_t slot = request - client->requests;
    assert_true(client->away[slot]);
    assert_int_equal(request->depth, 0);
    client->away[slot] = false;
    client->answered++;
    client->done = now;
    rig->hash = random_digest(rig->hash, now ^ (uint64_t)slot);
    client_go(client, now);
    return true;
}

static inline void client_room(void *owner, struct mem_link *link, uint64_t now)
{
    struct client *client = owner;
    (void)link;
    assert_true(client->waits);
    client->waits = false;
    client->rooms++;
    client_go(client, now);
}

/* Offers the request that stands in the slot; whether it was accepted. */
static inline bool client_offer(struct client *client, unsigned slot, uint64_t now)
{
    client->waits = !mem_link_request(&client->link, &client->requests[slot], now);
    client->accepted += !client->waits;
    return !client->waits;
}

static inline unsigned free_slot(const struct client *client)
{
    unsigned slot = 0;
    while (slot < client->window && client->away[slot])
        slot++;
    return slot;
}

/* Sends as long as it may. A request that is refused is offered again when there is room. */
static inline void client_go(struct client *client, uint64_t now)
{
    while (client->next && !client->waits) {
        unsigned slot = free_slot(client);
        if (client->sent > client->accepted) {
            for (slot = 0; client->requests[slot].mask != client->sent; slot++)
                ;
        } else if (slot == client->window || client->sent == client->limit ||
                   !client->next(client, &client->requests[slot])) {
            return;
        } else {
            client->requests[slot].mask = ++client->sent;
            client->requests[slot].requester = (uint16_t)(client - client->rig->clients);
            client->away[slot] = true;
        }
        (void)client_offer(client, slot, now);
    }
}

/* One request by hand. */
static inline bool send(struct client *client, unsigned slot, enum mem_op op, uint64_t address, uint32_t size)
{
    mem_request_init(&client->requests[slot], op, address, size);
    client->requests[slot].mask = ++client->sent;
    client->requests[slot].requester = (uint16_t)(client - client->rig->clients);
    client->away[slot] = true;
    return client_offer(client, slot, client->rig->queue.now);
}

static inline struct rig *rig_new(const struct crossbar_config *config)
{
    static const struct mem_client_ops client_ops = {client_respond, client_room};
    struct rig *rig = calloc(1, sizeof *rig);
    struct error err;
    assert_non_null(rig);
    event_queue_init(&rig->queue);
    rig->clock.period = PERIOD;
    rig->random = 1;
    if (!part_check(&crossbar_kind, config, &err))
        fail_msg("%s", err.text);
    const struct crossbar_route route = {.shift = 12}; /* bits 12 and up of an address are its output */
    rig->crossbar = crossbar_new(config, &rig->queue, &rig->clock, 3, &route);
    rig->stats = stats_new();
    crossbar_publish(rig->crossbar, rig->stats, scope_enter(NULL, "x"));
    for (unsigned i = 0; i < MOST; i++) {
        rig->memories[i] = (struct patient_memory){
            .queue = &rig->queue, .capacity = 1000, .take = memory_take, .context = rig};
        if (i < config->outputs)
            crossbar_connect(rig->crossbar, i, &patient_ops, &rig->memories[i]);
        struct client *client = &rig->clients[i];
        *client = (struct client){.rig = rig, .window = REQUESTS, .limit = UINT64_MAX};
        event_init(&client->retry, 5, client_retry, client);
        if (i < config->inputs)
            client->link = (struct mem_link){
                &crossbar_ops, crossbar_port(rig->crossbar, i), &client_ops, client, NULL, false, NULL, NULL};
    }
    return rig;
}

static inline void rig_free(struct rig *rig)
{
    crossbar_free(rig->crossbar);
    stats_free(rig->stats);
    free(rig);
}

static inline void run(struct rig *rig, uint64_t clocks)
{
    event_queue_run(&rig->queue, rig->queue.now + clocks * PERIOD);
}

static inline uint64_t counted(struct rig *rig, const char *name)
{
    char full[64];
    (void)snprintf(full, sizeof full, "x.%s", name);
    return stats_value(rig->stats, full);
}

static inline struct crossbar_config config_of(uint32_t inputs, uint32_t outputs)
{
    return (struct crossbar_config){.clock = 1000000000,
                                    .inputs = inputs,
                                    .outputs = outputs,
                                    .width = 16,
                                    .latency = 3,
                                    .request_queue = 3,
                                    .response_queue = 3,
                                    .buffer = 8};
}

#endif
