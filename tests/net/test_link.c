/* A link between a scripted client and a memory of fixed latency: times in femtoseconds, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/net/link.h"
#include "tests/sim/track_text.h"
#include "tests/sim/value.h"

enum { REQUESTS = 256, NS = 1000000, MEMORY = 30 * NS };

struct rig {
    struct event_queue queue;
    struct link *link;
    struct stats *stats;
    struct energy_ledger ledger;
    /* The client. */
    struct mem_link upper;
    struct mem_request requests[REQUESTS];
    uint64_t done[REQUESTS];
    unsigned sent, accepted, answered, rooms;
    bool refusing, waits;
    /* The memory. */
    struct mem_waiters waiters;
    struct mem_request *refused[REQUESTS];
    uint64_t taken_at[REQUESTS];
    unsigned capacity, held, taken, first_refused, last_refused;
};

static void memory_answer(void *owner, uint64_t now)
{
    struct mem_request *request = owner;
    struct rig *rig = mem_request_link(request)->port;
    if (rig->first_refused == rig->last_refused && mem_request_respond(request, now)) {
        rig->held--;
        (void)mem_waiters_wake(&rig->waiters, now);
        return;
    }
    rig->refused[rig->last_refused++] = request;
}

static bool memory_request(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct rig *rig = port;
    if (rig->held == rig->capacity) {
        mem_waiters_add(&rig->waiters, link);
        return false;
    }
    assert_int_equal(request - rig->requests, rig->taken); /* in order */
    rig->taken_at[rig->taken++] = now;
    rig->held++;
    event_init(&request->event, 9, memory_answer, request);
    event_schedule(&rig->queue, &request->event, now + MEMORY);
    return true;
}

static void memory_room(void *port, struct mem_link *link, uint64_t now)
{
    struct rig *rig = port;
    (void)link;
    while (rig->first_refused < rig->last_refused) {
        if (!mem_request_respond(rig->refused[rig->first_refused], now))
            return;
        rig->first_refused++;
        rig->held--;
        (void)mem_waiters_wake(&rig->waiters, now);
    }
}

static bool client_respond(void *owner, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct rig *rig = owner;
    assert_ptr_equal(link, &rig->upper);
    if (rig->refusing)
        return false;
    assert_int_equal(request - rig->requests, rig->answered); /* in order */
    assert_int_equal(request->depth, 0);
    rig->done[rig->answered++] = now;
    return true;
}

static void client_room(void *owner, struct mem_link *link, uint64_t now)
{
    struct rig *rig = owner;
    assert_true(rig->waits);
    rig->rooms++;
    rig->waits = false;
    while (rig->accepted < rig->sent && !rig->waits) {
        rig->waits = !mem_link_request(link, &rig->requests[rig->accepted], now);
        rig->accepted += !rig->waits;
    }
}

static const struct mem_port_ops memory_ops = {.request = memory_request, .response_room = memory_room};
static const struct mem_client_ops client_ops = {client_respond, client_room};

/* Requests at 32 GB/s, 0.5 ns a flit; responses at 80 GB/s, 0.2 ns a flit; 7 ns. */
static struct link_config config_of(void)
{
    return (struct link_config){.latency = 7 * NS,
                                .request_bandwidth = UINT64_C(32000000000),
                                .response_bandwidth = UINT64_C(80000000000),
                                .width = 16,
                                .header = 16,
                                .queue = 200,
                                .buffer = 200,
                                .energy_bit = 2000,
                                .energy_idle = 1500};
}

static struct rig *rig_new(const struct link_config *config)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct error err;
    assert_non_null(rig);
    if (!part_check(&link_kind, config, &err))
        fail_msg("%s", err.text);
    event_queue_init(&rig->queue);
    rig->capacity = REQUESTS;
    rig->link = link_new(config, &rig->queue, 3);
    link_connect(rig->link, &memory_ops, rig);
    rig->upper =
        (struct mem_link){.port_ops = &link_ops, .port = rig->link, .client_ops = &client_ops, .client = rig};
    rig->stats = stats_new();
    energy_init(&rig->ledger);
    link_publish(rig->link, rig->stats, scope_enter(NULL, "x"));
    link_energy(rig->link, &rig->ledger, scope_enter(NULL, "x"));
    energy_publish(&rig->ledger, rig->stats);
    return rig;
}

static void rig_free(struct rig *rig)
{
    link_free(rig->link);
    stats_free(rig->stats);
    energy_free(&rig->ledger);
    free(rig);
}

/* Offers the next request, unless one waits already. */
static bool offer(struct rig *rig, enum mem_op op, uint32_t size)
{
    struct mem_request *request = &rig->requests[rig->sent++];
    mem_request_init(request, op, 0x1000, size);
    if (rig->waits)
        return false;
    rig->waits = !mem_link_request(&rig->upper, request, rig->queue.now);
    rig->accepted += !rig->waits;
    return !rig->waits;
}

static void until(struct rig *rig, uint64_t time)
{
    event_queue_run(&rig->queue, time);
}

static uint64_t counted(struct rig *rig, const char *name)
{
    char full[64];
    (void)snprintf(full, sizeof full, "x.%s", name);
    return stats_value(rig->stats, full);
}

static void idle_latency(void **state)
{
    (void)state;
    static const struct {
        enum mem_op op;
        bool upgrade;
        uint32_t size, down, up; /* flits */
    } cases[] = {
        {MEM_READ, false, 64, 1, 5},    {MEM_READ, false, 1, 1, 2},    {MEM_READ, false, 65, 1, 6},
        {MEM_WRITE, false, 64, 5, 1},   {MEM_WRITE, false, 20, 3, 1},  {MEM_READ, true, 64, 1, 1},
        {MEM_CLEAN, false, 4096, 1, 1}, {MEM_COMMAND, false, 8, 2, 2},
    };
    const struct link_config config = config_of();
    struct rig *rig = rig_new(&config);
    uint64_t down = 0, up = 0;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t start = 100 * NS * (i + 1) + 12345 * i; /* a link has no clock */
        until(rig, start);
        mem_request_init(&rig->requests[i], cases[i].op, 0x1000, cases[i].size);
        rig->requests[i].upgrade = cases[i].upgrade;
        rig->sent++;
        rig->accepted++;
        assert_true(mem_link_request(&rig->upper, &rig->requests[i], start));
        until(rig, start + 90 * NS);
        uint64_t there = cases[i].down * UINT64_C(500000) + 7 * NS;
        uint64_t back = cases[i].up * UINT64_C(200000) + 7 * NS;
        assert_int_equal(rig->taken_at[i] - start, there);
        assert_int_equal(rig->done[i] - start, there + MEMORY + back);
        down += cases[i].down;
        up += cases[i].up;
    }
    assert_int_equal(rig->done[0] - 100 * NS, 45500000); /* 0.5 + 7 + 30 + 5 * 0.2 + 7 ns */
    assert_int_equal(link_request_time(rig->link, 64), 9500000);
    assert_int_equal(link_response_time(rig->link, 64), 8000000);
    assert_int_equal(counted(rig, "request.messages"), 8);
    assert_int_equal(counted(rig, "request.bytes"), 64 + 20 + 8);
    assert_int_equal(counted(rig, "request.sent_bytes"), 16 * down);
    assert_int_equal(counted(rig, "request.busy_time"), 500000 * down);
    assert_int_equal(counted(rig, "response.bytes"), 64 + 1 + 65 + 8);
    assert_int_equal(counted(rig, "response.sent_bytes"), 16 * up);
    assert_int_equal(counted(rig, "response.busy_time"), 200000 * up);
    assert_int_equal(counted(rig, "request.refusals"), 0);
    rig_free(rig);
    /* A flit of 16 bytes at 60 GB/s is 266 666.67 fs. */
    struct link_config other = config_of();
    other.request_bandwidth = UINT64_C(60000000000);
    other.latency = 0;
    rig = rig_new(&other);
    assert_int_equal(link_request_time(rig->link, 64), 5 * 266667);
    rig_free(rig);
}

/* Each direction at its own bandwidth: writes leave 2.5 ns apart, answers to reads 1 ns apart. */
static void bandwidth_by_direction(void **state)
{
    (void)state;
    const struct link_config config = config_of();
    struct rig *rig = rig_new(&config);
    for (unsigned i = 0; i < 100; i++)
        assert_true(offer(rig, MEM_WRITE, 64));
    until(rig, 1000 * NS);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(rig->taken_at[i], 7 * NS + (i + 1) * UINT64_C(2500000));
    assert_int_equal(rig->done[99], 7 * NS + 250 * NS + MEMORY + 200000 + 7 * NS);
    assert_int_equal(counted(rig, "request.busy_time"), 250 * NS);
    assert_int_equal(counted(rig, "request.waiting_peak"), 99);
    rig_free(rig);
    rig = rig_new(&config);
    for (unsigned i = 0; i < 100; i++)
        assert_true(offer(rig, MEM_READ, 64));
    until(rig, 1000 * NS);
    for (unsigned i = 0; i < 100; i++) /* requests come 0.5 ns apart, their answers are 1 ns long */
        assert_int_equal(rig->done[i], 500000 + 7 * NS + MEMORY + 7 * NS + (i + 1) * UINT64_C(1000000));
    rig_free(rig);
}

/* One credit: the next message leaves when the one before has been taken. */
static void credits_bound_what_is_under_way(void **state)
{
    (void)state;
    struct link_config config = config_of();
    config.buffer = 1;
    struct rig *rig = rig_new(&config);
    for (unsigned i = 0; i < 10; i++)
        assert_true(offer(rig, MEM_WRITE, 64));
    until(rig, 1000 * NS);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(rig->taken_at[i], (i + 1) * UINT64_C(9500000));
    assert_int_equal(counted(rig, "request.arriving_peak"), 1);
    rig_free(rig);
}

/* Memory takes 2: 3 wait at the far end, 4 in the queue, the tenth is refused; then all go their way. */
static void requests_press_back(void **state)
{
    (void)state;
    struct link_config config = config_of();
    config.queue = 4;
    config.buffer = 3;
    struct rig *rig = rig_new(&config);
    rig->capacity = 2;
    rig->refusing = true; /* so that memory stays full */
    unsigned accepted = 0;
    for (unsigned i = 0; i < 20; i++) {
        accepted += offer(rig, MEM_WRITE, 64);
        until(rig, (i + 1) * UINT64_C(20) * NS);
    }
    /* The responses of the two have left memory for the link's far end, so that two more were taken, and so on until
     * the response's 3 credits and 4 places are full too. */
    assert_int_equal(rig->taken, 3 + 4 + 2);
    assert_int_equal(rig->held, 2);
    assert_int_equal(accepted, 9 + 3 + 4);
    assert_int_equal(rig->answered, 0);
    assert_true(rig->waits);
    assert_int_equal(counted(rig, "request.refusals"), 1);
    assert_int_equal(counted(rig, "request.blockings"), 1);
    assert_int_equal(counted(rig, "response.blockings"), 1);
    assert_int_equal(counted(rig, "response.arriving_peak"), 3);
    assert_int_equal(counted(rig, "response.waiting_peak"), 4);
    assert_int_equal(counted(rig, "request.arriving_peak"), 3);
    assert_int_equal(counted(rig, "request.waiting_peak"), 4);
    mem_link_response_room(&rig->upper, rig->queue.now); /* in vain: the same message is refused again */
    assert_int_equal(counted(rig, "response.blockings"), 1);
    rig->refusing = false;
    mem_link_response_room(&rig->upper, rig->queue.now);
    until(rig, 2000 * NS);
    assert_int_equal(rig->answered, 20);
    assert_true(rig->rooms > 0);
    assert_int_equal(event_queue_next(&rig->queue), CLOCK_NEVER);
    rig_free(rig);
}

/* Responses that nobody takes do not stop requests. */
static void directions_do_not_wait_for_each_other(void **state)
{
    (void)state;
    struct link_config config = config_of();
    config.queue = config.buffer = 2;
    struct rig *rig = rig_new(&config);
    rig->refusing = true;
    for (unsigned i = 0; i < 40; i++) {
        assert_true(offer(rig, MEM_READ, 64));
        until(rig, (i + 1) * UINT64_C(20) * NS);
    }
    assert_int_equal(rig->taken, 40); /* memory has room for all */
    assert_int_equal(rig->answered, 0);
    rig->refusing = false;
    mem_link_response_room(&rig->upper, rig->queue.now);
    until(rig, 2000 * NS);
    assert_int_equal(rig->answered, 40);
    rig_free(rig);
}

/* 2 pJ for each of the bits sent; 1.5 pJ for each that could have been sent meanwhile. */
static void energy(void **state)
{
    (void)state;
    const struct link_config config = config_of();
    struct rig *rig = rig_new(&config);
    for (unsigned i = 0; i < 2; i++)
        assert_true(offer(rig, MEM_WRITE, 64));
    until(rig, 100 * NS);
    /* Down: 10 flits in 5 ns of 100; 190 flits could have gone. Up: 2 flits in 0.4 ns; 498 more in 99.6 ns. */
    assert_int_equal(counted(rig, "request.transfer.energy"), 10 * 128 * 2000);
    assert_int_equal(counted(rig, "request.idle.energy"), 190 * 128 * 1500);
    assert_int_equal(counted(rig, "response.transfer.energy"), 2 * 128 * 2000);
    assert_int_equal(counted(rig, "response.idle.energy"), 498 * 128 * 1500);
    /* In the middle of a packet: 1 ns of 2.5 is over. */
    assert_true(offer(rig, MEM_WRITE, 64));
    until(rig, 101 * NS);
    assert_int_equal(counted(rig, "request.busy_time"), 6 * NS);
    assert_int_equal(counted(rig, "request.idle.energy"), 190 * 128 * 1500);
    rig_free(rig);
}

/* A read of one flit of 0.5 ns, then a write of five; a response of five flits of 0.2 ns, then one of one. Memory takes
 * 30 ns, and messages 7 ns on their way. */
static void messages_are_shown(void **state)
{
    (void)state;
    static struct track_text shown;
    const struct link_config config = config_of();
    struct rig *rig = rig_new(&config);
    track_text_init(&shown);
    link_track(rig->link, &shown.sink, "peer");
    assert_true(offer(rig, MEM_READ, 64));
    assert_true(offer(rig, MEM_WRITE, 64));
    until(rig, 1000 * NS);
    track_text_end(&shown, rig->queue.now);
    assert_string_equal(shown.text, "peer/requests: slice read 0x1000 0 500 bytes=0\n"
                                    "peer/requests: slice write 0x1000 500 3000 bytes=64\n"
                                    "peer/responses: slice read 0x1000 37500 38500 bytes=64\n"
                                    "peer/responses: slice write 0x1000 40000 40200 bytes=0\n");
    rig_free(rig);
}

static void untimed_accesses_pass(void **state)
{
    (void)state;
    const struct link_config config = config_of();
    struct rig *rig = rig_new(&config);
    assert_true(link_ops.warm(rig->link, &rig->upper, 0x1000, false));
    link_ops.maintain(rig->link, &rig->upper, MEM_CLEAN, 0x1000, 64);
    rig_free(rig);
}

static void bad_configurations_are_named(void **state)
{
    (void)state;
#define CASE(field, value)                                                                                   \
    do {                                                                                                     \
        struct link_config config;                                                                           \
        struct error err;                                                                                    \
        part_defaults(&link_kind, 0, &config);                                                               \
        assert_true(part_check(&link_kind, &config, &err));                                                  \
        config.field = value;                                                                                \
        assert_false(part_check(&link_kind, &config, &err));                                                 \
        assert_memory_equal(err.text, #field ": ", sizeof #field);                                           \
    } while (0)
    CASE(latency, CLOCK_SECOND);
    CASE(request_bandwidth, 0);
    CASE(response_bandwidth, CLOCK_SECOND + 1);
    CASE(width, 0);
    CASE(header, 4097);
    CASE(queue, 0);
    CASE(buffer, 0);
    CASE(energy_bit, 1000001);
    CASE(energy_idle, 1000001);
#undef CASE
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_latency),
        cmocka_unit_test(bandwidth_by_direction),
        cmocka_unit_test(credits_bound_what_is_under_way),
        cmocka_unit_test(requests_press_back),
        cmocka_unit_test(directions_do_not_wait_for_each_other),
        cmocka_unit_test(energy),
        cmocka_unit_test(messages_are_shown),
        cmocka_unit_test(untimed_accesses_pass),
        cmocka_unit_test(bad_configurations_are_named),
    };
    return cmocka_run_group_tests_name("links", tests, NULL, NULL);
}
