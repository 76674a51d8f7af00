/* A last level between scripted first-level caches and a memory of constant latency. */
#ifndef TESTS_MEM_LLC_RIG_H
#define TESTS_MEM_LLC_RIG_H

#include "emu/mem/llc.h"
#include "tests/mem/slow_memory.h"

enum { RIG_CLIENTS = 6 };

/* The default configuration, in clocks. */
enum { TAGS = 4, HIT = 12, PROBE = 6, FILL = 2, MISS = TAGS + MEMORY + FILL };

/* A client with one request at a time. Attached ones answer probes as scripted. */
struct scripted {
    struct mem_link link;
    struct mem_request request;
    struct event_queue *queue;
    uint64_t sent, done; /* done: time of the response; 0: none yet */
    bool waits, refuses; /* was refused; refuses responses */
    bool dirty;          /* its answer to probes */
    unsigned probes;
    enum protocol_event event; /* the last probe */
    uint64_t probed;           /* the probed line */
};

struct rig {
    struct event_queue queue;
    struct slow_memory memory;
    uint64_t written; /* address of the last write that memory has accepted */
    struct llc *llc;
    struct scripted clients[RIG_CLIENTS]; /* the last one is not attached */
};

static bool scripted_respond(void *context, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct scripted *client = context;
    assert_ptr_equal(link, &client->link);
    assert_ptr_equal(request, &client->request);
    assert_int_equal(request->depth, 0);
    assert_int_equal(client->done, 0);
    if (client->refuses)
        return false;
    client->done = now;
    return true;
}

static void scripted_room(void *context, struct mem_link *link, uint64_t now)
{
    struct scripted *client = context;
    assert_true(client->waits);
    client->waits = !mem_link_request(link, &client->request, now);
}

static bool scripted_probe(void *context, uint64_t line, enum protocol_event event, uint64_t now)
{
    struct scripted *client = context;
    (void)now;
    client->probes++;
    client->probed = line;
    client->event = event;
    bool dirty = client->dirty;
    client->dirty = false;
    return dirty;
}

static void rig_accepted(void *context, const struct mem_request *request)
{
    struct rig *rig = context;
    if (request->op == MEM_WRITE)
        rig->written = request->address;
}

static inline struct rig *rig_new(const struct llc_config *config)
{
    static const struct mem_client_ops ops = {scripted_respond, scripted_room};
    struct rig *rig = calloc(1, sizeof *rig);
    struct error err;
    assert_non_null(rig);
    if (!part_check(&llc_kind, config, &err))
        fail_msg("%s", err.text);
    event_queue_init(&rig->queue);
    rig->memory.queue = &rig->queue;
    rig->memory.accepted = rig_accepted;
    rig->memory.context = rig;
    rig->llc = llc_new("l2", config, &rig->queue, &(struct clock){CLOCK}, 2, 99, &slow_ops, &rig->memory);
    for (int i = 0; i < RIG_CLIENTS; i++) {
        struct scripted *client = &rig->clients[i];
        client->queue = &rig->queue;
        client->link = (struct mem_link){&llc_ops, rig->llc, &ops, client, NULL, false, NULL, NULL};
        if (i < RIG_CLIENTS - 1)
            llc_attach_client(rig->llc, &(struct llc_client){&client->link, scripted_probe, client, false});
    }
    return rig;
}

/* Returns the default configuration, but with one set of `ways`. */
static inline struct llc_config one_set(uint32_t ways)
{
    struct llc_config config;
    part_defaults(&llc_kind, 0, &config);
    config.ways = ways;
    config.size = (uint64_t)ways * config.line;
    return config;
}

static inline void rig_free(struct rig *rig)
{
    event_queue_run(&rig->queue, CLOCK_NEVER);
    assert_int_equal(llc_pending(rig->llc), 0);
    llc_free(rig->llc);
    free(rig);
}

static inline void rig_send(struct scripted *client)
{
    client->done = 0;
    client->sent = client->queue->now;
    client->waits = !mem_link_request(&client->link, &client->request, client->queue->now);
}

enum how { READ, EXCLUSIVE, UPGRADE, FETCH, BACK, BACK_KEEP, UNCACHED };

/* Sends a request for a whole line. */
static inline void rig_ask(struct scripted *client, enum how how, uint64_t address)
{
    mem_request_init(&client->request, how == BACK || how == BACK_KEEP ? MEM_WRITE : MEM_READ, address, 64);
    client->request.exclusive = how == EXCLUSIVE || how == UPGRADE || how == BACK_KEEP;
    client->request.upgrade = how == UPGRADE;
    client->request.kind = how == FETCH ? MEM_FETCH : how == UNCACHED ? MEM_UNCACHED : MEM_DATA;
    rig_send(client);
}

static inline void rig_drain(struct rig *rig)
{
    event_queue_run(&rig->queue, rig->queue.now + 1000 * CLOCK);
}

/* Returns the clocks from the request to its response. */
static inline uint64_t rig_clocks(const struct scripted *client)
{
    assert_true(client->done > 0);
    assert_int_equal((client->done - client->sent) % CLOCK, 0);
    return (client->done - client->sent) / CLOCK;
}

/* Sends a request, runs all events, and returns the latency in clocks. */
static inline uint64_t rig_do(struct rig *rig, unsigned client, enum how how, uint64_t address)
{
    rig_ask(&rig->clients[client], how, address);
    rig_drain(rig);
    return rig_clocks(&rig->clients[client]);
}

static inline struct rig *rig_default(void)
{
    struct llc_config config;
    part_defaults(&llc_kind, 0, &config);
    return rig_new(&config);
}

static inline void check_line(const struct rig *rig, uint64_t address, uint64_t holders, int owner,
                              bool dirty)
{
    struct llc_line line = llc_line_state(rig->llc, address);
    assert_true(line.present);
    assert_false(line.busy);
    assert_int_equal(line.holders[0], holders);
    assert_int_equal(line.owner, owner);
    assert_int_equal(line.dirty, dirty);
}

#endif
