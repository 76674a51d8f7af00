/* Many requests at once to a last level over a memory of constant latency. */
#ifndef TESTS_MEM_LLC_CROWD_H
#define TESTS_MEM_LLC_CROWD_H

#include "emu/mem/llc.h"
#include "tests/mem/slow_memory.h"

enum { CROWD = 256, LINE = 64 };

/* The default configuration, in clocks. */
enum { TAGS = 4, HIT = 12, FILL = 2 };

struct crowd_request {
    struct mem_request request;
    struct event event;
    struct crowd *crowd;
    uint64_t done; /* time of the response; 0: none yet */
};

/* A client that is not attached; it offers a refused request again. */
struct crowd {
    struct event_queue queue;
    struct slow_memory memory;
    struct llc *llc;
    struct mem_link link;
    struct crowd_request requests[CROWD], *unsent[CROWD];
    unsigned count, unsent_first, unsent_count;
    uint64_t start;   /* time of clock 0 in crowd_clock() */
    uint64_t written; /* words in the writes that memory has accepted */
};

static bool crowd_respond(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct crowd_request *one = (void *)((char *)request - offsetof(struct crowd_request, request));
    (void)client;
    (void)link;
    assert_int_equal(one->done, 0);
    one->done = now;
    return true;
}

static void crowd_room(void *client, struct mem_link *link, uint64_t now)
{
    struct crowd *crowd = client;
    while (crowd->unsent_first < crowd->unsent_count) {
        if (!mem_link_request(link, &crowd->unsent[crowd->unsent_first]->request, now))
            return;
        crowd->unsent_first++;
    }
}

static void crowd_send(void *owner, uint64_t now)
{
    struct crowd_request *one = owner;
    struct crowd *crowd = one->crowd;
    crowd->unsent[crowd->unsent_count++] = one;
    if (crowd->unsent_first == crowd->unsent_count - 1)
        crowd_room(crowd, &crowd->link, now);
}

static void crowd_accepted(void *context, const struct mem_request *request)
{
    struct crowd *crowd = context;
    const unsigned words = request->size / 4;
    uint64_t mask = words < 64 ? request->mask & ((UINT64_C(1) << words) - 1) : request->mask;
    if (request->op == MEM_WRITE)
        crowd->written += (unsigned)__builtin_popcountll(mask);
}

static inline struct crowd *crowd_new(const struct llc_config *config)
{
    static const struct mem_client_ops ops = {crowd_respond, crowd_room};
    struct crowd *crowd = calloc(1, sizeof *crowd);
    struct error err;
    assert_non_null(crowd);
    if (!part_check(&llc_kind, config, &err))
        fail_msg("%s", err.text);
    event_queue_init(&crowd->queue);
    crowd->memory.queue = &crowd->queue;
    crowd->memory.accepted = crowd_accepted;
    crowd->memory.context = crowd;
    crowd->llc =
        llc_new("l2", config, &crowd->queue, &(struct clock){CLOCK}, 2, 99, &slow_ops, &crowd->memory);
    crowd->link = (struct mem_link){&llc_ops, crowd->llc, &ops, crowd, NULL, false, NULL, NULL};
    return crowd;
}

static inline void crowd_free(struct crowd *crowd)
{
    const struct llc_counters *counted = llc_counted(crowd->llc);
    event_queue_run(&crowd->queue, CLOCK_NEVER);
    assert_int_equal(llc_pending(crowd->llc), 0);
    assert_int_equal(counted->reads + counted->writes,
                     counted->hits + counted->misses + counted->late_writes);
    llc_free(crowd->llc);
    free(crowd);
}

/* Adds a request for [address, address + size), which is sent `clock` clocks from now. Returns its number. */
static inline unsigned crowd_add(struct crowd *crowd, enum mem_op op, uint64_t address, uint32_t size,
                                 uint64_t clock)
{
    struct crowd_request *one = &crowd->requests[crowd->count];
    assert_true(crowd->count < CROWD);
    one->crowd = crowd;
    mem_request_init(&one->request, op, address, size);
    event_init(&one->event, 9, crowd_send, one);
    event_schedule(&crowd->queue, &one->event, crowd->queue.now + clock * CLOCK);
    return crowd->count++;
}

/* Runs all events from clock 0 on. */
static inline void crowd_run(struct crowd *crowd)
{
    crowd->start = crowd->queue.now;
    event_queue_run(&crowd->queue, crowd->start + UINT64_C(1000000) * CLOCK);
    assert_int_equal(llc_pending(crowd->llc), 0);
    for (unsigned i = 0; i < crowd->count; i++)
        assert_true(crowd->requests[i].done > 0);
}

/* Forgets all requests. They must have been answered. */
static inline void crowd_clear(struct crowd *crowd)
{
    crowd->count = crowd->unsent_first = crowd->unsent_count = 0;
    memset(crowd->requests, 0, sizeof crowd->requests);
}

/* Returns the clock in which a request was answered. */
static inline uint64_t crowd_clock(const struct crowd *crowd, unsigned number)
{
    const struct crowd_request *one = &crowd->requests[number];
    assert_true(one->done >= crowd->start && (one->done - crowd->start) % CLOCK == 0);
    return (one->done - crowd->start) / CLOCK;
}

/* Returns the default configuration with `sets` sets of `ways` ways, which accepts a request per clock. */
static inline struct llc_config crowd_config(uint32_t sets, uint32_t ways)
{
    struct llc_config config;
    part_defaults(&llc_kind, 0, &config);
    config.ways = ways;
    config.size = (uint64_t)sets * ways * LINE;
    config.queue = CROWD;
    return config;
}

#endif
