/* The time of DMA transfers, over a memory that answers each request after LATENCY clocks: all times are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "emu/stash/dma/engine.h"

enum {
    PERIOD = 10,
    SETUP = 3,
    LATENCY = 20,
    LINES = 8,
    ANSWERS = 16,
    COMPONENT = 1,
    MEMORY = 2,
    START = 107
};

struct answer {
    struct rig *rig;
    struct event event;
    struct mem_request *request;
    struct mem_link *link;
};

struct rig {
    struct event_queue queue;
    struct dma_engine *engine;
    struct mem_link link; /* the multiprocessor's */
    struct answer answers[ANSWERS];
    uint64_t times[ANSWERS]; /* of requests */
    struct mem_request seen[ANSWERS];
    unsigned count, refuse; /* refuse: requests to refuse, each until RETRY clocks later */
    struct mem_link *refused;
    struct event retry;
    uint64_t busy[4]; /* times of calls, the odd ones of ends */
    unsigned busy_count;
    uint64_t ended[2];
    struct dma_line lines[LINES];
    struct dma_transfer transfers[2];
};

static void respond(void *owner, uint64_t now)
{
    struct answer *answer = owner;
    answer->request->depth--;
    assert_true(answer->link->client_ops->respond(answer->link->client, answer->link, answer->request, now));
}

static bool request(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct rig *rig = port;
    if (rig->refuse) {
        rig->refuse--;
        rig->refused = link;
        event_schedule(&rig->queue, &rig->retry, now + 5 * PERIOD);
        return false;
    }
    struct answer *answer = &rig->answers[rig->count];
    rig->times[rig->count] = now;
    rig->seen[rig->count++] = *request;
    *answer = (struct answer){.rig = rig, .request = request, .link = link};
    event_init(&answer->event, MEMORY, respond, answer);
    event_schedule(&rig->queue, &answer->event, now + LATENCY * PERIOD);
    return true;
}

static void retry(void *owner, uint64_t now)
{
    struct rig *rig = owner;
    rig->refused->client_ops->request_room(rig->refused->client, rig->refused, now);
}

static void busy(void *context, bool busy, uint64_t now)
{
    struct rig *rig = context;
    assert_int_equal(busy, rig->busy_count % 2 == 0);
    rig->busy[rig->busy_count++] = now;
}

static void ended(struct dma_transfer *transfer, uint64_t now)
{
    struct rig *rig = (void *)((char *)transfer->lines - offsetof(struct rig, lines));
    rig->ended[transfer - rig->transfers] = now;
}

static const struct mem_port_ops port_ops = {.request = request};

static void rig_init(struct rig *rig, uint32_t requests)
{
    *rig = (struct rig){.link = {.port_ops = &port_ops, .port = rig}};
    event_queue_init(&rig->queue);
    event_init(&rig->retry, MEMORY, retry, rig);
    rig->engine = dma_engine_new(&(struct dma_engine_parts){.queue = &rig->queue,
                                                            .component = COMPONENT,
                                                            .requester = 7,
                                                            .clock = {PERIOD},
                                                            .setup = SETUP,
                                                            .requests = requests,
                                                            .packed = true,
                                                            .link = &rig->link,
                                                            .busy = busy,
                                                            .context = rig});
    for (unsigned i = 0; i < LINES; i++)
        rig->lines[i] = (struct dma_line){0x1000 + i * 64, 0xf};
    for (unsigned i = 0; i < 2; i++)
        rig->transfers[i] = (struct dma_transfer){.lines = rig->lines, .done = ended};
}

static void transfer(struct rig *rig, unsigned i, bool store, uint32_t count, uint64_t time)
{
    rig->transfers[i].store = store;
    rig->transfers[i].count = count;
    dma_engine_begin(rig->engine, &rig->transfers[i], time);
}

static void rig_end(struct rig *rig)
{
    event_queue_run(&rig->queue, CLOCK_NEVER);
    dma_engine_free(rig->engine);
}

/* The instruction is at 107: the next edge is 110, the setup ends at 140. */
static void a_line_leaves_each_clock(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, 16);
    transfer(&rig, 0, false, LINES, START);
    event_queue_run(&rig.queue, CLOCK_NEVER);
    assert_int_equal(rig.count, LINES);
    for (unsigned i = 0; i < LINES; i++) {
        assert_int_equal(rig.times[i], 140 + i * PERIOD);
        assert_int_equal(rig.seen[i].op, MEM_READ);
        assert_int_equal(rig.seen[i].requester, 7);
        assert_int_equal(rig.seen[i].address, 0x1000 + i * 64);
        assert_int_equal(rig.seen[i].size, 16);
        assert_int_equal(rig.seen[i].mask, UINT64_MAX);
    }
    assert_int_equal(rig.ended[0], 140 + (LINES - 1 + LATENCY) * PERIOD);
    assert_int_equal(rig.busy_count, 2);
    assert_int_equal(rig.busy[0], START);
    assert_int_equal(rig.busy[1], rig.ended[0]);
    const struct dma_counters *counters = dma_engine_counted(rig.engine);
    assert_int_equal(counters->loads, 1);
    assert_int_equal(counters->reads, LINES);
    assert_int_equal(counters->words_read, LINES * 4);
    assert_int_equal(counters->time, rig.ended[0] - START);
    rig_end(&rig);
}

/* Two at a time: at 140, 150, then with the answers at 340, 350, ... */
static void no_more_are_under_way_than_allowed(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, 2);
    transfer(&rig, 0, true, 6, START);
    event_queue_run(&rig.queue, CLOCK_NEVER);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(rig.times[i], 140 + (i / 2 * LATENCY + i % 2) * PERIOD);
        assert_int_equal(rig.seen[i].op, MEM_WRITE);
    }
    assert_int_equal(rig.ended[0], 140 + (3 * LATENCY + 1) * PERIOD);
    assert_int_equal(dma_engine_counted(rig.engine)->words_written, 6 * 4);
    rig_end(&rig);
}

/* The second transfer's lines follow those of the first one, whose answers are still to come. */
static void transfers_follow_each_other(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, 16);
    transfer(&rig, 0, false, 4, START);
    transfer(&rig, 1, true, 4, START + PERIOD);
    event_queue_run(&rig.queue, CLOCK_NEVER);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(rig.times[i], 140 + i * PERIOD);
    assert_int_equal(rig.seen[3].op, MEM_READ);
    assert_int_equal(rig.seen[4].op, MEM_WRITE);
    assert_int_equal(rig.ended[0], 140 + (3 + LATENCY) * PERIOD);
    assert_int_equal(rig.ended[1], 140 + (7 + LATENCY) * PERIOD);
    assert_int_equal(rig.busy_count, 2);
    assert_int_equal(rig.busy[1], rig.ended[1]);
    rig_end(&rig);
}

/* The first request is refused at 140 and taken at 190; the others follow it. */
static void a_full_port_delays_all_lines(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, 16);
    rig.refuse = 1;
    transfer(&rig, 0, false, 3, START);
    event_queue_run(&rig.queue, CLOCK_NEVER);
    assert_int_equal(rig.times[0], 190);
    assert_int_equal(rig.times[1], 200);
    assert_int_equal(rig.times[2], 210);
    rig_end(&rig);
}

/* Words 1 and 3 of a line: from the first to the last one, with a mask. */
static void words_are_masked(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, 16);
    rig.lines[0].mask = 0xa;
    rig.lines[1].mask = 0x8000;
    transfer(&rig, 0, true, 2, START);
    event_queue_run(&rig.queue, CLOCK_NEVER);
    assert_int_equal(rig.seen[0].address, 0x1004);
    assert_int_equal(rig.seen[0].size, 12);
    assert_int_equal(rig.seen[0].mask, 5);
    assert_true(rig.seen[0].packed);
    assert_int_equal(rig.seen[1].address, 0x1040 + 60);
    assert_int_equal(rig.seen[1].size, 4);
    assert_int_equal(rig.seen[1].mask, UINT64_MAX);
    assert_false(rig.seen[1].packed);
    rig_end(&rig);
}

/* Engines that take all bytes from the first to the last word. */
static void pieces_are_carried(void **state)
{
    struct rig rig;
    (void)state;
    rig_init(&rig, 16);
    dma_engine_free(rig.engine);
    rig.engine = dma_engine_new(&(struct dma_engine_parts){
        .queue = &rig.queue, .component = COMPONENT, .clock = {PERIOD}, .requests = 16, .link = &rig.link});
    rig.lines[0].mask = 0xa;
    transfer(&rig, 0, true, 1, START);
    event_queue_run(&rig.queue, CLOCK_NEVER);
    assert_int_equal(rig.seen[0].size, 12);
    assert_int_equal(rig.seen[0].mask, 5);
    assert_false(rig.seen[0].packed);
    rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_leaves_each_clock),
        cmocka_unit_test(no_more_are_under_way_than_allowed),
        cmocka_unit_test(transfers_follow_each_other),
        cmocka_unit_test(a_full_port_delays_all_lines),
        cmocka_unit_test(words_are_masked),
        cmocka_unit_test(pieces_are_carried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
