/* Windows of a parallel simulation: gains worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/machine/study/waits.h"
#include "emu/machine/study/windows.h"
#include "emu/sim/event.h"

enum { NS = 1000000, MODULES = 2, EVENTS = 1000 };

/* Two modules that have an event each `period`, on an event queue, until both have had EVENTS of the shorter one. */
struct module {
    struct event event;
    struct event_queue *queue;
    struct windows *windows;
    uint32_t number;
    uint64_t period, left;
};

static void work(void *owner, uint64_t now)
{
    struct module *module = owner;
    windows_reach(module->windows, now);
    windows_add(module->windows, module->number, WINDOWS_EVENTS, 1);
    if (--module->left > 0)
        event_schedule(module->queue, &module->event, now + module->period);
}

/* The second module has `share` events for each one of the first, which has one in 1 ns; the link takes 10 ns. */
static struct windows *two_modules(uint64_t share)
{
    static const uint64_t weights[MODULES] = {1, 1};
    struct event_queue queue;
    struct module modules[MODULES];
    struct windows *windows = windows_new(10 * NS, weights, MODULES);
    event_queue_init(&queue);
    for (uint32_t i = 0; i < MODULES; i++) {
        const uint64_t times = i == 0 ? 1 : share;
        modules[i] = (struct module){
            .queue = &queue, .windows = windows, .number = i, .period = NS / times, .left = EVENTS * times};
        event_init(&modules[i].event, i, work, &modules[i]);
        event_schedule(&queue, &modules[i].event, 0);
    }
    event_queue_run(&queue, CLOCK_NEVER);
    return windows;
}

/* A window has ten events of each module. A barrier that costs as much as five makes 20 events take 15. */
static void test_equal_work(void **state)
{
    (void)state;
    struct windows *windows = two_modules(1);
    assert_int_equal(windows_count(windows), EVENTS / 10);
    assert_true(windows_total(windows, 0, WINDOWS_EVENTS) == EVENTS);
    assert_true(windows_gain(windows, 2, WINDOWS_EVENTS, false, 0) == 2.0);
    assert_true(windows_gain(windows, 16, WINDOWS_EVENTS, false, 0) == 2.0);
    assert_true(windows_gain(windows, 2, WINDOWS_EVENTS, false, 5) == 20.0 / 15.0);
    windows_free(windows);
}

/* Three quarters of the work are in one module: four events take three. */
static void test_unequal_work(void **state)
{
    (void)state;
    struct windows *windows = two_modules(3);
    assert_true(windows_gain(windows, 2, WINDOWS_EVENTS, false, 0) == 4.0 / 3.0);
    windows_free(windows);
}

/* Modules that work in turns gain nothing, although both have half of the work. */
static void test_turns(void **state)
{
    (void)state;
    static const uint64_t weights[MODULES] = {1, 1};
    struct windows *windows = windows_new(10 * NS, weights, MODULES);
    for (uint64_t i = 0; i < 100; i++) {
        windows_reach(windows, 10 * NS * i);
        windows_add(windows, i % 2, WINDOWS_EVENTS, 7);
    }
    assert_int_equal(windows_count(windows), 100);
    assert_true(windows_gain(windows, 2, WINDOWS_EVENTS, false, 0) == 1.0);
    windows_free(windows);
}

/* A window begins with its first event, and lasts as long as the lookahead. */
static void test_begin(void **state)
{
    (void)state;
    static const uint64_t weights[1] = {1}, times[] = {5, 14, 15, 100, 109, 110};
    struct windows *windows = windows_new(10, weights, 1);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        windows_reach(windows, times[i]);
        windows_add(windows, 0, WINDOWS_EVENTS, 1);
    }
    assert_int_equal(windows_count(windows), 4); /* 5 14, 15, 100 109, 110 */
    windows_free(windows);
}

/* One window of two is in order: 4 and 4 events take 4 + 8 / 2 of 8. It has no barrier. */
static void test_order(void **state)
{
    (void)state;
    static const uint64_t weights[MODULES] = {1, 1};
    struct windows *windows = windows_new(10, weights, MODULES);
    for (uint64_t i = 0; i < 2; i++) {
        windows_reach(windows, 10 * i);
        windows_add(windows, 0, WINDOWS_EVENTS, 2);
        windows_add(windows, 1, WINDOWS_EVENTS, 2);
        if (i == 0) {
            windows_order(windows, WINDOWS_LAUNCH);
            windows_order(windows, WINDOWS_ATOMIC);
        }
    }
    assert_int_equal(windows_ordered(windows), 1);
    assert_int_equal(windows_by_cause(windows, WINDOWS_LAUNCH), 1);
    assert_int_equal(windows_by_cause(windows, WINDOWS_ATOMIC), 1);
    assert_true(windows_gain(windows, 2, WINDOWS_EVENTS, false, 0) == 2.0);
    assert_true(windows_gain(windows, 2, WINDOWS_EVENTS, true, 0) == 8.0 / 6.0);
    assert_true(windows_gain(windows, 2, WINDOWS_EVENTS, true, 2) == 8.0 / 8.0);
    windows_free(windows);
}

/* Returns whether the second of two accesses, in the same window or in two, shares words with the first. */
static bool shared(uint32_t second, uint64_t words, bool first_stores, bool stores, uint64_t later)
{
    static const uint64_t weights[MODULES] = {1, 1};
    struct windows *windows = windows_new(10, weights, MODULES);
    windows_reach(windows, 0);
    assert_false(windows_access(windows, 0, 0x1000, 3, first_stores));
    windows_reach(windows, later);
    const bool shares = windows_access(windows, second, 0x1000, words, stores);
    windows_free(windows);
    return shares;
}

static void test_shared_words(void **state)
{
    (void)state;
    assert_int_equal(shared(1, 2, true, false, 0), 1);  /* loads what the other has stored */
    assert_int_equal(shared(1, 2, false, true, 0), 1);  /* stores what the other has loaded */
    assert_int_equal(shared(1, 2, true, true, 9), 1);   /* both store */
    assert_int_equal(shared(1, 2, false, false, 0), 0); /* both load */
    assert_int_equal(shared(1, 4, true, true, 0), 0);   /* other words of the line */
    assert_int_equal(shared(0, 2, true, true, 0), 0);   /* the same partition */
    assert_int_equal(shared(1, 2, true, true, 10), 0);  /* the next window */
}

/* A window of 3 and 5 events that ends after 2 and 1: 2 and then 4 of 8. */
static void test_end(void **state)
{
    (void)state;
    static const uint64_t weights[MODULES] = {1, 1};
    struct windows *windows = windows_new(10, weights, MODULES);
    assert_true(windows_reach(windows, 0));
    windows_add(windows, 0, WINDOWS_EVENTS, 2);
    windows_add(windows, 1, WINDOWS_EVENTS, 1);
    assert_false(windows_access(windows, 0, 0, 1, true));
    windows_end(windows, 5);
    windows_end(windows, 5); /* it has no work yet */
    assert_false(windows_access(windows, 1, 0, 1, true));
    windows_add(windows, 0, WINDOWS_EVENTS, 1);
    windows_add(windows, 1, WINDOWS_EVENTS, 4);
    assert_false(windows_reach(windows, 14));
    assert_true(windows_reach(windows, 15));
    assert_int_equal(windows_count(windows), 3);
    assert_true(windows_gain(windows, 2, WINDOWS_EVENTS, false, 0) == 8.0 / 6.0);
    windows_free(windows);
}

/* Of two threads, the first works 3, 1, 1 and the second 2, 2; the events in which they wait start at 3, 5, and, because nobody else has
 * worked, 6: all 9 take 7. A barrier of 2 makes them 7 + 2 + 2 waits * 1. */
static void test_waits(void **state)
{
    (void)state;
    static const uint64_t weights[MODULES] = {1, 1};
    struct windows *windows = windows_new(10, weights, MODULES);
    struct waits *waits = waits_new(windows);
    waits_window(waits);
    waits_add(waits, 0, WINDOWS_EVENTS, 3);
    waits_wait(waits, 1);
    waits_add(waits, 1, WINDOWS_EVENTS, 2);
    waits_wait(waits, 0);
    waits_add(waits, 0, WINDOWS_EVENTS, 1);
    waits_wait(waits, 0);
    waits_add(waits, 0, WINDOWS_EVENTS, 1);
    waits_add(waits, 1, WINDOWS_EVENTS, 2);
    assert_true(waits_gain(waits, 2, WINDOWS_EVENTS, 0) == 9.0 / 7.0);
    assert_true(waits_gain(waits, 2, WINDOWS_EVENTS, 2) == 9.0 / 11.0);
    assert_int_equal(waits_count(waits, 2), 2);
    waits_window(waits); /* both start at 7 */
    waits_add(waits, 0, WINDOWS_EVENTS, 4);
    waits_add(waits, 1, WINDOWS_EVENTS, 4);
    assert_true(waits_gain(waits, 16, WINDOWS_EVENTS, 0) == 17.0 / 11.0);
    waits_free(waits);
    windows_free(windows);
}

/* The heaviest partition has a thread of its own as long as the others together are lighter. */
static void test_threads(void **state)
{
    (void)state;
    static const uint64_t weights[] = {1, 4, 1, 1};
    struct windows *windows = windows_new(1, weights, 4);
    assert_int_equal(windows_thread(windows, 1, 2), 0);
    assert_int_equal(windows_thread(windows, 0, 2), 1);
    assert_int_equal(windows_thread(windows, 2, 2), 1);
    assert_int_equal(windows_thread(windows, 3, 2), 1);
    assert_int_equal(windows_thread(windows, 3, 4), 3);
    windows_free(windows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_work), cmocka_unit_test(test_unequal_work),
        cmocka_unit_test(test_turns),      cmocka_unit_test(test_begin),
        cmocka_unit_test(test_order),      cmocka_unit_test(test_shared_words),
        cmocka_unit_test(test_threads),    cmocka_unit_test(test_end),
        cmocka_unit_test(test_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
