/* A last level whose only link refuses responses: if it may ask the client, it offers none that would be refused; else it
 * offers all. Both runs must be alike, refusal by refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "emu/mem/llc.h"
#include "tests/mem/slow_memory.h"

enum { REQUESTS = 12, GAP = 40 };

struct narrow {
    struct mem_link link;
    struct mem_request requests[REQUESTS];
    struct event_queue queue;
    struct slow_memory memory;
    struct llc *llc;
    uint32_t room, done;
    uint64_t calls;   /* of respond() that were refused */
    uint64_t counted; /* by refuses() */
    uint64_t order[REQUESTS], times[REQUESTS];
};

static bool respond(void *context, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct narrow *narrow = context;
    (void)link;
    if (!narrow->room) {
        narrow->calls++;
        return false;
    }
    narrow->room--;
    narrow->order[narrow->done] = (uint64_t)(request - narrow->requests);
    narrow->times[narrow->done++] = now;
    return true;
}

static bool refuses(void *context, uint64_t count)
{
    struct narrow *narrow = context;
    narrow->counted += narrow->room ? 0 : count;
    return !narrow->room;
}

static void request_room(void *context, struct mem_link *link, uint64_t now)
{
    (void)context, (void)link, (void)now;
    fail();
}

/* All lines have come when the link begins to give room: for one response, then two, three, one ... */
static void run(struct narrow *narrow, bool counts)
{
    static const struct mem_client_ops ops = {respond, request_room};
    struct llc_config config;
    part_defaults(&llc_kind, 0, &config);
    *narrow = (struct narrow){.room = 0};
    event_queue_init(&narrow->queue);
    narrow->memory.queue = &narrow->queue;
    narrow->llc =
        llc_new("l2", &config, &narrow->queue, &(struct clock){CLOCK}, 2, 99, &slow_ops, &narrow->memory);
    narrow->link = (struct mem_link){.port_ops = &llc_ops,
                                     .port = narrow->llc,
                                     .client_ops = &ops,
                                     .client = narrow,
                                     .refuses = counts ? refuses : NULL};
    for (uint32_t i = 0; i < REQUESTS; i++) {
        mem_request_init(&narrow->requests[i], MEM_READ, (uint64_t)i * 4096 + i * 64, 64);
        assert_true(mem_link_request(&narrow->link, &narrow->requests[i], narrow->queue.now));
    }
    for (uint32_t turn = 0; narrow->done < REQUESTS; turn++) {
        assert_true(turn < 100);
        event_queue_run(&narrow->queue, narrow->queue.now + GAP * CLOCK);
        narrow->room = 1 + turn % 3;
        mem_link_response_room(&narrow->link, narrow->queue.now);
        narrow->room = 0;
    }
    assert_int_equal(llc_pending(narrow->llc), 0);
    llc_free(narrow->llc);
}

static void counted_as_if_offered(void **state)
{
    static struct narrow all, few;
    (void)state;
    run(&all, false);
    run(&few, true);
    assert_int_equal(all.counted, 0);
    assert_true(all.calls > REQUESTS); /* several are passed over each time */
    assert_int_equal(few.calls, 0);
    assert_int_equal(few.counted, all.calls);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        assert_int_equal(few.order[i], all.order[i]);
        assert_int_equal(few.times[i], all.times[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counted_as_if_offered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
