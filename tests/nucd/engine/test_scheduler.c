/* The scheduler: accelerators, credits, coalescing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "emu/nucd/engine/scheduler.h"

static struct nucd_scheduler start(uint32_t accelerators)
{
    const struct nucd_scheduler_config config = {.accelerators = accelerators,
                                                 .queue_lines = 8,
                                                 .buffer_lines = 8,
                                                 .transfer_lines = 4,
                                                 .coalesce = true};
    struct nucd_scheduler scheduler;
    nucd_scheduler_init(&scheduler, &config);
    return scheduler;
}

static void offer_ready(struct nucd_scheduler *scheduler, uint16_t tag, uint8_t capabilities, unsigned words)
{
    assert_true(nucd_scheduler_offer(scheduler, tag, capabilities, words));
    nucd_scheduler_release(scheduler, tag);
}

/* Sends one transfer of one task and asserts its accelerator. */
static void assert_sent(struct nucd_scheduler *scheduler, uint16_t tag, uint32_t accelerator)
{
    struct nucd_transfer transfer;
    assert_true(nucd_scheduler_next(scheduler, &transfer));
    assert_int_equal(transfer.count, 1);
    assert_int_equal(transfer.tags[0], tag);
    assert_int_equal(transfer.accelerator, accelerator);
}

static void assert_nothing(struct nucd_scheduler *scheduler)
{
    struct nucd_transfer transfer;
    assert_false(nucd_scheduler_next(scheduler, &transfer));
}

/* The accelerator with the fewest tasks is chosen; of several, the one with the lowest number. */
static void least_loaded_accelerator(void **state)
{
    (void)state;
    struct nucd_scheduler scheduler = start(3);
    const uint32_t accelerators[] = {0, 1, 2, 0, 1};
    for (uint16_t tag = 0; tag < 5; tag++) {
        offer_ready(&scheduler, tag, 0, 8);
        assert_sent(&scheduler, tag, accelerators[tag]);
    }
    nucd_scheduler_complete(&scheduler, 1);
    nucd_scheduler_complete(&scheduler, 1);
    offer_ready(&scheduler, 5, 0, 8);
    assert_sent(&scheduler, 5, 1); /* 0 tasks; the others have 2 and 1 */
    offer_ready(&scheduler, 6, 0, 8);
    assert_sent(&scheduler, 6, 1); /* 1 and 1 */
}

static void capabilities_decide_first(void **state)
{
    (void)state;
    struct nucd_scheduler scheduler = start(3);
    scheduler.config.capabilities[1] = 3;
    scheduler.config.capabilities[2] = 2;
    offer_ready(&scheduler, 0, 2, 8);
    assert_sent(&scheduler, 0, 1);
    offer_ready(&scheduler, 1, 2, 8);
    assert_sent(&scheduler, 1, 2);
    offer_ready(&scheduler, 2, 3, 8);
    assert_sent(&scheduler, 2, 1); /* although it has a task */
    offer_ready(&scheduler, 3, 0, 8);
    assert_sent(&scheduler, 3, 0);
}

/* A queue of 8 lines takes four packets of 2 lines. The next packet waits for a credit, and a packet for
 * another accelerator passes it. */
static void credits_bound_the_queue(void **state)
{
    (void)state;
    struct nucd_scheduler scheduler = start(2);
    scheduler.config.capabilities[0] = 1;
    scheduler.config.capabilities[1] = 2;
    for (uint16_t tag = 0; tag < 4; tag++) {
        offer_ready(&scheduler, tag, 1, 13);
        assert_sent(&scheduler, tag, 0);
    }
    offer_ready(&scheduler, 4, 1, 13);
    offer_ready(&scheduler, 5, 2, 13);
    assert_sent(&scheduler, 5, 1);
    assert_nothing(&scheduler);
    nucd_scheduler_credit(&scheduler, 0, 1);
    assert_nothing(&scheduler);
    nucd_scheduler_credit(&scheduler, 0, 1);
    assert_sent(&scheduler, 4, 0);
    assert_int_equal(scheduler.accelerator[0].credits, 0);
    assert_int_equal(scheduler.counters.lines, 12);
}

/* Without capabilities, a full accelerator is passed over for one with more tasks but with credits. */
static void credits_come_before_load(void **state)
{
    (void)state;
    struct nucd_scheduler scheduler = start(2);
    scheduler.accelerator[0].credits = 1;
    scheduler.accelerator[1].tasks = 3;
    offer_ready(&scheduler, 0, 0, 9);
    assert_sent(&scheduler, 0, 1);
    offer_ready(&scheduler, 1, 0, 8);
    assert_sent(&scheduler, 1, 0);
}

/* The buffer has 8 lines: four packets of 2. Blocked packets stay; ready ones after them are sent. */
static void write_buffer_fills(void **state)
{
    (void)state;
    struct nucd_scheduler scheduler = start(4);
    for (uint16_t tag = 0; tag < 4; tag++)
        assert_true(nucd_scheduler_offer(&scheduler, tag, 0, 9));
    assert_false(nucd_scheduler_offer(&scheduler, 4, 0, 1));
    assert_int_equal(scheduler.counters.full, 1);
    assert_nothing(&scheduler);
    nucd_scheduler_release(&scheduler, 2);
    assert_sent(&scheduler, 2, 0);
    assert_true(nucd_scheduler_offer(&scheduler, 4, 0, 9));
    assert_true(nucd_scheduler_squash(&scheduler, 1));
    assert_false(nucd_scheduler_squash(&scheduler, 1));
    assert_false(nucd_scheduler_squash(&scheduler, 2)); /* the packet was sent */
    nucd_scheduler_release(&scheduler, 4);
    nucd_scheduler_release(&scheduler, 0);
    assert_sent(&scheduler, 0, 1); /* the older packet first */
    assert_sent(&scheduler, 4, 2);
    assert_int_equal(scheduler.pending_count, 1);
}

/* One accelerator: packets of 6, 6 and 6 words share 3 lines (18 words), and the fourth, of 13, fills the
 * fourth line (31 words). The fifth would need more lines than a transfer may have. */
static void ready_packets_coalesce(void **state)
{
    (void)state;
    struct nucd_scheduler scheduler = start(1);
    static const unsigned words[] = {6, 6, 6, 13, 6};
    for (uint16_t tag = 0; tag < 5; tag++)
        offer_ready(&scheduler, tag, 0, words[tag]);
    struct nucd_transfer transfer;
    assert_true(nucd_scheduler_next(&scheduler, &transfer));
    assert_int_equal(transfer.count, 4);
    assert_int_equal(transfer.words, 31);
    assert_int_equal(transfer.lines, 4);
    const uint16_t tags[] = {0, 1, 2, 3};
    assert_memory_equal(transfer.tags, tags, sizeof tags);
    assert_int_equal(scheduler.counters.coalesced, 3);
    assert_int_equal(scheduler.accelerator[0].credits, 4);
    assert_sent(&scheduler, 4, 0);
    assert_int_equal(scheduler.accelerator[0].tasks, 5);
}

/* Two accelerators without tasks: the second packet goes to the other one. When that one has two tasks, both
 * packets go to the first, as they would one after the other. A blocked packet between them is passed
 * over. */
static void coalescing_keeps_the_balance(void **state)
{
    (void)state;
    struct nucd_scheduler scheduler = start(2);
    offer_ready(&scheduler, 0, 0, 6);
    offer_ready(&scheduler, 1, 0, 6);
    assert_sent(&scheduler, 0, 0);
    assert_sent(&scheduler, 1, 1);
    nucd_scheduler_complete(&scheduler, 0);
    scheduler.accelerator[1].tasks = 2;
    offer_ready(&scheduler, 2, 0, 6);
    assert_true(nucd_scheduler_offer(&scheduler, 3, 0, 6));
    offer_ready(&scheduler, 4, 0, 6);
    struct nucd_transfer transfer;
    assert_true(nucd_scheduler_next(&scheduler, &transfer));
    assert_int_equal(transfer.accelerator, 0);
    assert_int_equal(transfer.count, 2);
    assert_int_equal(transfer.tags[1], 4);
    assert_int_equal(scheduler.pending_count, 1);
    assert_int_equal(scheduler.buffer_used, 1);
}

static void coalescing_can_be_off(void **state)
{
    (void)state;
    struct nucd_scheduler scheduler = start(1);
    scheduler.config.coalesce = false;
    offer_ready(&scheduler, 0, 0, 5);
    offer_ready(&scheduler, 1, 0, 5);
    assert_sent(&scheduler, 0, 0);
    assert_sent(&scheduler, 1, 0);
    assert_int_equal(scheduler.counters.transfers, 2);
}

/* Two schedulers share both accelerators, whose queues hold one packet of a line. The one that finds no
 * credits first is first to get some, however often the other asks; then it is the other's turn. */
static void shared_credits_go_round(void **state)
{
    (void)state;
    struct nucd_turns turns = {0};
    struct nucd_scheduler a = start(2), b = start(2);
    for (unsigned i = 0; i < 2; i++) {
        nucd_scheduler_share(&b, i, &a, i, &turns);
        a.accelerator[i].credits = 1;
    }
    for (uint16_t tag = 0; tag < 4; tag++) {
        offer_ready(&a, tag, 0, NUCD_LINE_WORDS);
        offer_ready(&b, tag, 0, NUCD_LINE_WORDS);
    }
    assert_sent(&a, 0, 0);
    assert_sent(&b, 0, 1);
    assert_nothing(&b);
    nucd_scheduler_credit(&a, 0, 1);
    assert_nothing(&a); /* b waits for it */
    assert_nothing(&a);
    assert_sent(&b, 1, 0);
    assert_nothing(&b);
    nucd_scheduler_credit(&a, 1, 1);
    assert_nothing(&b);
    assert_sent(&a, 1, 1);
    nucd_scheduler_complete(&b, 0);
    nucd_scheduler_complete(&b, 0);
    assert_int_equal(a.accelerator[0].tasks, 0);
    assert_int_equal(a.accelerator[1].tasks, 2);
    /* One that gives its packets up does not keep the others waiting. */
    nucd_scheduler_credit(&a, 0, 1);
    assert_nothing(&a);
    assert_true(nucd_scheduler_squash(&b, 2));
    assert_true(nucd_scheduler_squash(&b, 3));
    assert_sent(&a, 2, 0);
}

/* Two exclusive schedulers that share one accelerator, whose queue holds 8 packets. */
struct pair {
    struct nucd_turns turns;
    struct nucd_scheduler a, b;
};

static void start_pair(struct pair *pair, bool first_come)
{
    *pair = (struct pair){.turns = {.first_come = first_come}, .a = start(1), .b = start(1)};
    pair->a.config.exclusive = pair->b.config.exclusive = true;
    pair->a.config.coalesce = pair->b.config.coalesce = false;
    nucd_scheduler_share(&pair->b, 0, &pair->a, 0, &pair->turns);
}

/* While one has tasks at the accelerator, the other waits, and then nobody sends more before it has its turn. */
static void exclusive_schedulers_alternate(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, false);
    for (uint16_t tag = 0; tag < 4; tag++)
        offer_ready(&p.a, tag, 0, NUCD_LINE_WORDS);
    assert_sent(&p.a, 0, 0);
    assert_sent(&p.a, 1, 0); /* behind its own task */
    assert_true(nucd_scheduler_owns(&p.a, 0) && !nucd_scheduler_owns(&p.b, 0));
    for (uint16_t tag = 0; tag < 2; tag++)
        offer_ready(&p.b, tag, 0, NUCD_LINE_WORDS);
    assert_nothing(&p.b);
    assert_true(p.b.lacks);
    assert_nothing(&p.a); /* there is room, but b waits */
    nucd_scheduler_complete(&p.a, 0);
    assert_nothing(&p.b);
    nucd_scheduler_complete(&p.a, 0);
    assert_nothing(&p.a);
    assert_sent(&p.b, 0, 0);
    assert_nothing(&p.b); /* now a waits, since before */
    nucd_scheduler_complete(&p.b, 0);
    assert_nothing(&p.b);
    assert_sent(&p.a, 2, 0);
    nucd_scheduler_complete(&p.a, 0);
    assert_nothing(&p.a);
    assert_sent(&p.b, 1, 0);
    nucd_scheduler_complete(&p.b, 0);
    assert_sent(&p.a, 3, 0);
    assert_int_equal(p.a.accelerator[0].tasks, 1);
}

/* The same packets, of which b's are ready after the first three of a: they are sent in the order in which they
 * became ready. */
static void first_come_is_served_first(void **state)
{
    (void)state;
    struct pair p;
    start_pair(&p, true);
    for (uint16_t tag = 0; tag < 3; tag++)
        offer_ready(&p.a, tag, 0, NUCD_LINE_WORDS);
    for (uint16_t tag = 0; tag < 2; tag++)
        offer_ready(&p.b, tag, 0, NUCD_LINE_WORDS);
    offer_ready(&p.a, 3, 0, NUCD_LINE_WORDS);
    assert_sent(&p.a, 0, 0);
    assert_nothing(&p.b);
    assert_sent(&p.a, 1, 0);
    assert_sent(&p.a, 2, 0);
    assert_nothing(&p.a); /* b's were ready earlier */
    for (int i = 0; i < 3; i++) {
        assert_nothing(&p.b);
        nucd_scheduler_complete(&p.a, 0);
    }
    assert_nothing(&p.a);
    assert_sent(&p.b, 0, 0);
    assert_sent(&p.b, 1, 0);
    nucd_scheduler_complete(&p.b, 0);
    nucd_scheduler_complete(&p.b, 0);
    assert_sent(&p.a, 3, 0);
}

/* Faulted tasks hold an accelerator for all schedulers, whatever its owner. */
static void all_accelerators_can_be_stuck(void **state)
{
    (void)state;
    struct nucd_turns turns = {0};
    struct nucd_scheduler a = start(2), b = start(2);
    for (unsigned i = 0; i < 2; i++)
        nucd_scheduler_share(&b, i, &a, i, &turns);
    a.config.capabilities[1] = b.config.capabilities[1] = 1;
    assert_false(nucd_scheduler_stuck(&a, 0));
    nucd_scheduler_freeze(&b, 1, true);
    assert_true(nucd_scheduler_stuck(&a, 1)); /* the only one that has the capability */
    assert_false(nucd_scheduler_stuck(&a, 0));
    nucd_scheduler_freeze(&a, 0, true);
    assert_true(nucd_scheduler_stuck(&a, 0) && nucd_scheduler_stuck(&b, 0));
    nucd_scheduler_freeze(&b, 1, false);
    assert_false(nucd_scheduler_stuck(&a, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(least_loaded_accelerator),     cmocka_unit_test(capabilities_decide_first),
        cmocka_unit_test(credits_bound_the_queue),      cmocka_unit_test(credits_come_before_load),
        cmocka_unit_test(write_buffer_fills),           cmocka_unit_test(ready_packets_coalesce),
        cmocka_unit_test(coalescing_keeps_the_balance), cmocka_unit_test(coalescing_can_be_off),
        cmocka_unit_test(shared_credits_go_round),      cmocka_unit_test(exclusive_schedulers_alternate),
        cmocka_unit_test(first_come_is_served_first),   cmocka_unit_test(all_accelerators_can_be_stuck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
