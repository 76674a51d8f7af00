/* Two coherent caches over three slices of a last level: each line is in one slice.
 *
 * A cache's lookup takes 2 clocks, the last level's tags 4, a hit 12, a probe 6 more, a fill 2, memory
 * 100. */
#include "emu/dram/map.h"
#include "emu/machine/machine.h"
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
    struct llc_slices *slices;
    struct cache *caches[2];
};

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
    sliced->slices = llc_slices_new("l2", &config, &sliced->queue, &clock, 2, 99, &slow_ops, &sliced->memory);
    const struct part_end port = llc_slices_port(sliced->slices);
    part_defaults(&cache_kind, 0, &l1);
    l1.coherent = true;
    for (uint16_t i = 0; i < 2; i++) {
        sliced->caches[i] = cache_new("l1", &l1, &sliced->queue, &clock, 10U + i, i, port.ops, port.object);
        llc_slices_attach(sliced->slices, sliced->caches[i]);
    }
    return sliced;
}

static void sliced_free(struct sliced *sliced)
{
    for (unsigned i = 0; i < 2; i++)
        cache_free(sliced->caches[i]);
    for (unsigned i = 0; i < SLICES; i++)
        assert_int_equal(llc_pending(llc_slices_at(sliced->slices, i)), 0);
    llc_slices_free(sliced->slices);
    free(sliced);
}

/* Accesses a line, runs all events, and returns the latency in clocks. */
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

/* The line is only in its own slice, whose directory records the cache. */
static void check_home(const struct sliced *sliced, unsigned line, int owner)
{
    for (unsigned i = 0; i < SLICES; i++) {
        struct llc_line known = llc_line_state(llc_slices_at(sliced->slices, i), line * LINE);
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

/* Both caches clean all lines at once: every dirty line is written once, and each cache is answered once. A
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
            assert_false(llc_line_state(llc_slices_at(sliced->slices, line % SLICES), line * LINE).present);
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
        assert_false(llc_line_state(llc_slices_at(sliced->slices, line % SLICES), line * LINE).present);
    sliced_free(sliced);
}

/* By partition, lines are where their channel is (machine gpu: 6 channels of 1 KiB in turn), and ranges find them there. */
static void ranges_reach_partitions(void **state)
{
    enum { CHANNELS = 6, BLOCK = 1024, BLOCKS = 12 };
    const uint64_t base = UINT64_C(0x80000000);
    struct machine_config machine;
    struct access access = {.waiter = {NULL, done, &access}};
    struct error err;
    (void)state;
    if (!machine_load(&machine, "gpu", "emu/machine/shipped", NULL, 0, &err))
        fail_msg("%s", err.text);
    struct home_map *homes = dram_map_homes(tree_config(machine.tree, "dram"), base);
    struct sliced *sliced = sliced_new(32);
    llc_slices_set_partitions(sliced->slices, homes, CHANNELS);
    for (unsigned i = 0; i < BLOCKS; i++) {
        cache_warm(sliced->caches[0], base + i * BLOCK, true);
        assert_true(
            llc_line_state(llc_slices_at(sliced->slices, i % CHANNELS / 2), base + i * BLOCK).present);
    }
    cache_maintain(sliced->caches[1], MEM_CLEAN_INVALIDATE, base, BLOCKS * BLOCK, sliced->queue.now,
                   (struct cache_actor){.pc = 0}, &access.waiter);
    event_queue_run(&sliced->queue, sliced->queue.now + 5000 * (uint64_t)CLOCK);
    assert_int_equal(access.calls, 1);
    assert_int_equal(sliced->memory.seen[MEM_WRITE], BLOCKS);
    for (unsigned i = 0; i < SLICES * BLOCKS; i++)
        assert_false(
            llc_line_state(llc_slices_at(sliced->slices, i % SLICES), base + i / SLICES * BLOCK).present);
    sliced_free(sliced);
    home_map_free(homes);
    machine_free(&machine);
}

/* A client between the slices and the originators of ranges, which can refuse a response. */
struct narrow {
    struct mem_link link;
    struct mem_request request;
    uint64_t done;
    bool full;
};

static bool narrow_respond(void *context, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct narrow *narrow = context;
    assert_ptr_equal(link, &narrow->link);
    assert_ptr_equal(request, &narrow->request);
    assert_int_equal(narrow->done, 0);
    if (narrow->full)
        return false;
    narrow->done = now;
    return true;
}

static void narrow_room(void *context, struct mem_link *link, uint64_t now)
{
    (void)context;
    (void)link;
    (void)now;
    fail_msg("a range is never refused");
}

static void clean(struct sliced *sliced, struct narrow *narrow, uint64_t address, uint32_t size)
{
    static const struct mem_client_ops ops = {narrow_respond, narrow_room};
    const struct part_end port = llc_slices_port(sliced->slices);
    narrow->done = 0;
    narrow->link =
        (struct mem_link){.port_ops = port.ops, .port = port.object, .client_ops = &ops, .client = narrow};
    mem_request_init(&narrow->request, MEM_CLEAN, address, size);
    assert_true(mem_link_request(&narrow->link, &narrow->request, sliced->queue.now));
}

/* A range takes the tag lookup of each slice, then memory's response. A second range begins a clock later,
 * and neither waits for the other; a refused response is sent again when there is room. */
static void ranges_do_not_wait_for_each_other(void **state)
{
    enum { RANGES = 3, ALONE = 4 + MEMORY };
    struct sliced *sliced = sliced_new(32);
    struct narrow narrow[RANGES] = {0};
    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        uint64_t start = sliced->queue.now;
        for (unsigned i = 0; i < RANGES; i++) {
            narrow[i].full = round == 1 && i > 0;
            clean(sliced, &narrow[i], 0x10000 * i, LINE);
        }
        event_queue_run(&sliced->queue, start + 1000 * (uint64_t)CLOCK);
        for (unsigned i = 0; i < RANGES; i++)
            assert_int_equal(narrow[i].done, narrow[i].full ? 0 : start + (ALONE + i) * (uint64_t)CLOCK);
    }
    narrow[1].full = false;
    mem_link_response_room(&narrow[1].link, sliced->queue.now);
    assert_int_equal(narrow[1].done, sliced->queue.now);
    assert_int_equal(narrow[2].done, 0);
    narrow[2].full = false;
    mem_link_response_room(&narrow[2].link, sliced->queue.now);
    assert_int_equal(narrow[2].done, sliced->queue.now);
    sliced_free(sliced);
}

/* All slices check their own lines of a range at the same time, one each clock; a slice without lines checks
 * none. The slice with the most lines determines the time. */
static void slices_look_at_their_own_lines(void **state)
{
    static const unsigned lines[][2] = {
        {0, 1}, {1, 3}, {2, 4}, {4, 12}, {5, 13}}; /* first line, and number of lines */
    struct sliced *sliced = sliced_new(32);
    struct narrow narrow = {0};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        uint64_t start = sliced->queue.now, most = (lines[i][1] + SLICES - 1) / SLICES;
        clean(sliced, &narrow, 0x1000 + lines[i][0] * LINE, lines[i][1] * LINE);
        event_queue_run(&sliced->queue, start + 1000 * (uint64_t)CLOCK);
        assert_int_equal(narrow.done, start + (4 + (most - 1) + MEMORY) * (uint64_t)CLOCK);
    }
    sliced_free(sliced);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_one_home),
        cmocka_unit_test(ranges_reach_all_slices),
        cmocka_unit_test(warm_ranges_reach_all_slices),
        cmocka_unit_test(ranges_reach_partitions),
        cmocka_unit_test(ranges_do_not_wait_for_each_other),
        cmocka_unit_test(slices_look_at_their_own_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
