/* Lines of a last level that become old, and pushes of its writes.
 *
 * A request that arrives at clock 0 looks up the tags at TAGS. */
#include "tests/mem/llc/crowd.h"

static struct crowd *through(void)
{
    struct llc_config config = crowd_config(4, 2);
    config.write_policy = LLC_WRITE_THROUGH;
    config.write_allocate = false;
    return crowd_new(&config);
}

static void until(struct crowd *crowd, uint64_t clock)
{
    event_queue_run(&crowd->queue, clock * CLOCK);
}

static void a_line_leaves(void **state)
{
    (void)state;
    struct crowd *crowd = through();
    (void)crowd_add(crowd, MEM_READ, LINE, LINE, 0);
    until(crowd, 200);
    assert_true(llc_line_state(crowd->llc, LINE).present);
    llc_expire(crowd->llc, LINE, crowd->queue.now);
    llc_expire(crowd->llc, 2 * LINE, crowd->queue.now);
    assert_false(llc_line_state(crowd->llc, LINE).present);
    crowd_free(crowd);
}

/* The read under way is answered as without, and what waits for it reads memory again: at 50 it has waited, and begins when
 * the first one is answered. */
static void a_line_under_way_is_not_kept(void **state)
{
    (void)state;
    struct crowd *crowd = through();
    (void)crowd_add(crowd, MEM_READ, LINE, LINE, 0);
    (void)crowd_add(crowd, MEM_READ, LINE, LINE, 50);
    until(crowd, 40);
    llc_expire(crowd->llc, LINE, crowd->queue.now);
    crowd->start = 0;
    event_queue_run(&crowd->queue, CLOCK_NEVER);
    assert_int_equal(crowd_clock(crowd, 0), TAGS + MEMORY + FILL);
    assert_int_equal(crowd_clock(crowd, 1), 2 * (MEMORY + FILL) + TAGS);
    assert_int_equal(crowd->memory.seen[MEM_READ], 2);
    assert_true(llc_line_state(crowd->llc, LINE).present);
    crowd_free(crowd);
}

/* With write-back, the transaction may be a store, whose bytes only this cache has. */
static void a_store_under_way_is_kept(void **state)
{
    (void)state;
    const struct llc_config config = crowd_config(4, 2);
    struct crowd *crowd = crowd_new(&config);
    (void)crowd_add(crowd, MEM_WRITE, LINE, 8, 0);
    until(crowd, 40);
    assert_true(llc_line_state(crowd->llc, LINE).busy);
    llc_expire(crowd->llc, LINE, crowd->queue.now);
    event_queue_run(&crowd->queue, CLOCK_NEVER);
    assert_int_equal(crowd->memory.seen[MEM_WRITE], 0);
    assert_true(llc_line_state(crowd->llc, LINE).present && llc_line_state(crowd->llc, LINE).dirty);
    crowd_free(crowd);
}

static void done(struct mem_push *push, uint64_t now)
{
    *(uint64_t *)push->owner = now / CLOCK;
}

/* The cache answers a store at HIT; memory has it MEMORY clocks after the tags' lookup. */
static void a_push_waits_for_memory(void **state)
{
    (void)state;
    struct crowd *crowd = through();
    uint64_t when = 0, never = 0;
    struct mem_push push = {.done = done, .owner = &when}, none = {.done = done, .owner = &never};
    assert_false(llc_push(crowd->llc, &none));
    (void)crowd_add(crowd, MEM_WRITE, LINE, 8, 0);
    (void)crowd_add(crowd, MEM_WRITE, 2 * LINE, 8, 50);
    until(crowd, 20);
    crowd->start = 0;
    assert_int_equal(crowd_clock(crowd, 0), HIT);
    assert_true(llc_push(crowd->llc, &push));
    event_queue_run(&crowd->queue, CLOCK_NEVER);
    assert_int_equal(when, TAGS + MEMORY);
    assert_false(llc_push(crowd->llc, &none));
    assert_int_equal(never, 0);
    crowd_free(crowd);
}

/* A push of one client's stores does not wait for another's, unless both have stored to a line before memory took it. */
static void a_push_of_some_waits_for_them(void **state)
{
    (void)state;
    struct crowd *crowd = through();
    uint64_t when = 0, never = 0;
    struct mem_push push = {.done = done, .owner = &when}, none = {.done = done, .owner = &never};
    crowd->requests[crowd_add(crowd, MEM_WRITE, LINE, 8, 0)].request.requester = 3;
    crowd->requests[crowd_add(crowd, MEM_WRITE, 2 * LINE, 8, 10)].request.requester = 4;
    until(crowd, 20);
    assert_false(llc_push_of(crowd->llc, 5, &none));
    assert_true(llc_push_of(crowd->llc, 3, &push));
    event_queue_run(&crowd->queue, CLOCK_NEVER);
    assert_int_equal(when, TAGS + MEMORY);
    assert_int_equal(never, 0);
    free(push.numbers);
    free(none.numbers);
    crowd_free(crowd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_leaves),
        cmocka_unit_test(a_line_under_way_is_not_kept),
        cmocka_unit_test(a_store_under_way_is_kept),
        cmocka_unit_test(a_push_waits_for_memory),
        cmocka_unit_test(a_push_of_some_waits_for_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
