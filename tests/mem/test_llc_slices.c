/* Two coherent caches over three slices of a last level: each line has one home.
 *
 * A cache's lookup takes 2 clocks, the last level's tags 4, a hit 12, a probe 6 more, a fill 2, memory
 * 100. */
#include "emu/mem/llc_slices.h"
#include "tests/mem/slow_memory.h"

enum { SLICES = 3, LINES = 6, LINE = 64, LOOKUP = 2, HIT = 12, PROBE = 6, MISS = 4 + MEMORY + 2 };

struct access {
    struct cache_waiter waiter;
    uint64_t done;
    unsigned calls;
};

struct sliced {
    struct event_queue queue;
    struct slow_memory memory;
    struct llc *list[SLICES];
    struct llc_slices *slices;
    struct cache *caches[2];
};

static uint32_t by_line(const void *context, uint64_t address)
{
    (void)context;
    return (uint32_t)(address / LINE % SLICES);
}

static void done(struct cache_waiter *waiter, uint64_t now, unsigned level)
{
    struct access *access = waiter->owner;
    (void)level;
    access->done = now;
    access->calls++;
}

static struct sliced *sliced_new(uint32_t queue)
{
    struct sliced *sliced = calloc(1, sizeof *sliced);
    struct llc_config config;
    struct cache_config l1;
    struct clock clock = {CLOCK};
    assert_non_null(sliced);
    event_queue_init(&sliced->queue);
    sliced->memory.queue = &sliced->queue;
    part_defaults(&llc_kind, 0, &config);
    config.slices = SLICES;
    config.queue = queue;
    for (uint32_t i = 0; i < SLICES; i++)
        sliced->list[i] =
            llc_new("l2", &config, &sliced->queue, &clock, 2 + i, 99, &slow_ops, &sliced->memory);
    sliced->slices = llc_slices_new(sliced->list, SLICES, by_line, NULL);
    part_defaults(&cache_kind, 0, &l1);
    l1.coherent = true;
    for (uint16_t i = 0; i < 2; i++) {
        sliced->caches[i] =
            cache_new("l1", &l1, &sliced->queue, &clock, 10U + i, i, &llc_slices_ops, sliced->slices);
        llc_slices_attach(sliced->slices, sliced->caches[i]);
    }
    return sliced;
}

static void sliced_free(struct sliced *sliced)
{
    for (unsigned i = 0; i < 2; i++)
        cache_free(sliced->caches[i]);
    llc_slices_free(sliced->slices);
    for (unsigned i = 0; i < SLICES; i++) {
        assert_int_equal(llc_pending(sliced->list[i]), 0);
        llc_free(sliced->list[i]);
    }
    free(sliced);
}

/* Accesses a line, lets everything happen, and returns the latency in clocks. */
static uint64_t clocks(struct sliced *sliced, unsigned cache, enum cache_use use, unsigned line)
{
    struct access access = {.waiter = {NULL, done, &access}};
    uint64_t now = sliced->queue.now;
    enum cache_outcome outcome = cache_access(sliced->caches[cache], line * LINE, use, now,
                                              (struct cache_actor){.pc = 0}, &access.waiter);
    assert_int_equal(outcome, CACHE_MISS);
    event_queue_run(&sliced->queue, now + 1000 * (uint64_t)CLOCK);
    assert_int_equal(access.calls, 1);
    return (access.done - now) / CLOCK;
}

/* The line is in its own slice only, and known to be the cache's. */
static void check_home(const struct sliced *sliced, unsigned line, int owner)
{
    for (unsigned i = 0; i < SLICES; i++) {
        struct llc_line known = llc_line_state(sliced->list[i], line * LINE);
        assert_int_equal(known.present, i == line % SLICES);
        if (known.present)
            assert_int_equal(known.owner, owner);
    }
}

static void lines_have_one_home(void **state)
{
    (void)state;
    struct sliced *sliced = sliced_new(32);
    for (unsigned line = 0; line < LINES; line++) {
        assert_int_equal(clocks(sliced, 0, CACHE_STORE, line), LOOKUP + MISS);
        check_home(sliced, line, 0);
        assert_int_equal(clocks(sliced, 1, CACHE_STORE, line), LOOKUP + HIT + PROBE);
        check_home(sliced, line, 1);
        assert_int_equal(cache_line_state(sliced->caches[0], line * LINE), CACHE_INVALID);
        assert_int_equal(cache_line_state(sliced->caches[1], line * LINE), CACHE_MODIFIED);
        cache_warm(sliced->caches[0], line * LINE, true);
        check_home(sliced, line, 0);
        assert_int_equal(cache_line_state(sliced->caches[1], line * LINE), CACHE_INVALID);
    }
    sliced_free(sliced);
}

/* Both caches clean all lines at once: every dirty line is written once, and each cache is told once. A
 * queue of one request in each slice refuses parts of a range, which are sent again. */
static void ranges_reach_all_slices(void **state)
{
    (void)state;
    for (uint32_t queue = 1; queue <= 32; queue *= 32) {
        struct sliced *sliced = sliced_new(queue);
        struct access accesses[2];
        for (unsigned line = 0; line < LINES; line++)
            (void)clocks(sliced, line % 2, CACHE_STORE, line);
        uint64_t now = sliced->queue.now;
        for (unsigned i = 0; i < 2; i++) {
            accesses[i] = (struct access){.waiter = {NULL, done, &accesses[i]}};
            cache_maintain(sliced->caches[i], MEM_CLEAN_INVALIDATE, 0, LINES * LINE, now,
                           (struct cache_actor){.pc = 0}, &accesses[i].waiter);
        }
        event_queue_run(&sliced->queue, now + 2000 * (uint64_t)CLOCK);
        for (unsigned i = 0; i < 2; i++)
            assert_int_equal(accesses[i].calls, 1);
        assert_int_equal(sliced->memory.seen[MEM_WRITE], LINES);
        assert_int_equal(sliced->memory.seen[MEM_CLEAN_INVALIDATE], 2 * SLICES);
        for (unsigned line = 0; line < LINES; line++)
            assert_false(llc_line_state(sliced->list[line % SLICES], line * LINE).present);
        sliced_free(sliced);
    }
}

/* Without time: the same. */
static void warm_ranges_reach_all_slices(void **state)
{
    (void)state;
    struct sliced *sliced = sliced_new(32);
    for (unsigned line = 0; line < LINES; line++)
        cache_warm(sliced->caches[0], line * LINE, true);
    cache_warm_maintain(sliced->caches[0], MEM_CLEAN_INVALIDATE, 0, LINES * LINE);
    for (unsigned line = 0; line < LINES; line++)
        assert_false(llc_line_state(sliced->list[line % SLICES], line * LINE).present);
    sliced_free(sliced);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_one_home),
        cmocka_unit_test(ranges_reach_all_slices),
        cmocka_unit_test(warm_ranges_reach_all_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
