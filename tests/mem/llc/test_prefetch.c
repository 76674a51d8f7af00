/* The prefetcher of the last level, and prefetches of first-level caches at it. */
#include "tests/mem/llc/rig.h"

enum { LINE = 64, BASE = 0x10000 };

static struct rig *prefetching(enum cache_prefetch kind, uint32_t degree, uint32_t distance, uint32_t mshrs)
{
    struct llc_config config;
    part_defaults(&llc_kind, 0, &config);
    config.prefetch = kind;
    config.prefetch_degree = degree;
    config.prefetch_distance = distance;
    config.mshrs = mshrs;
    return rig_new(&config);
}

/* Every prefetch is counted once more. */
static void check_counts(const struct rig *rig)
{
    const struct llc_counters *counted = llc_counted(rig->llc);
    assert_int_equal(counted->prefetches, counted->prefetches_useful + counted->prefetches_late +
                                              counted->prefetches_unused + llc_prefetches_pending(rig->llc));
}

/* Reads a page, line by line: the first misses begin the pattern (three of a stream, four of a stride, one
 * for next_line), all others hit. Memory reads each line once. */
static void a_page_is_read_ahead(void **state)
{
    (void)state;
    static const unsigned misses[] = {64, 1, 4, 3};
    for (int kind = 0; kind < 4; kind++)
        for (uint32_t degree = 1; degree <= 8; degree += 3) {
            struct rig *rig = prefetching((enum cache_prefetch)kind, degree, 0, 16);
            for (uint64_t i = 0; i < 64; i++)
                assert_int_equal(rig_do(rig, 0, READ, BASE + i * LINE), i < misses[kind] ? MISS : HIT);
            const struct llc_counters *counted = llc_counted(rig->llc);
            assert_int_equal(counted->misses, misses[kind]);
            assert_int_equal(counted->prefetches, 64 - misses[kind]);
            assert_int_equal(counted->prefetches_useful, 64 - misses[kind]);
            assert_int_equal(rig->memory.seen[MEM_READ], 64);
            check_counts(rig);
            rig_free(rig);
        }
}

/* A prefetch leaves when the read that causes it looks up the tags, TAGS after its arrival. A request for the
 * line then waits until it has arrived, and is a hit without TAGS. */
static void a_late_prefetch_is_waited_for(void **state)
{
    (void)state;
    struct rig *rig = prefetching(CACHE_PREFETCH_NEXT_LINE, 1, 0, 16);
    rig_ask(&rig->clients[0], READ, BASE);
    event_queue_run(&rig->queue, 50 * CLOCK);
    rig_ask(&rig->clients[1], READ, BASE + LINE);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[0]), MISS);
    assert_int_equal(rig_clocks(&rig->clients[1]), TAGS + MEMORY + FILL + (HIT - TAGS) - 50);
    const struct llc_counters *counted = llc_counted(rig->llc);
    assert_int_equal(counted->prefetches, 2); /* the late use is fresh, and requests the next line */
    assert_int_equal(counted->prefetches_late, 1);
    assert_int_equal(counted->prefetches_useful, 0);
    check_counts(rig);
    rig_free(rig);
}

/* Of 3 MSHRs, the miss takes one, prefetches one, and one is reserved: it serves the next miss at once. */
static void an_mshr_is_left(void **state)
{
    (void)state;
    struct rig *rig = prefetching(CACHE_PREFETCH_NEXT_LINE, 8, 0, 3);
    rig_ask(&rig->clients[0], READ, BASE);
    event_queue_run(&rig->queue, 10 * CLOCK);
    assert_int_equal(rig->memory.held, 2);
    rig_ask(&rig->clients[1], READ, BASE + 0x8000);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[1]), MISS);
    assert_int_equal(llc_counted(rig->llc)->stalls, 0);
    assert_true(llc_counted(rig->llc)->prefetches_dropped >= 2);
    rig_free(rig);
}

/* While memory refuses the reads of misses, there are no prefetches. */
static void misses_go_first(void **state)
{
    (void)state;
    struct rig *rig = prefetching(CACHE_PREFETCH_NEXT_LINE, 1, 0, 16);
    rig->memory.closed = true;
    rig_ask(&rig->clients[0], READ, BASE);
    rig_ask(&rig->clients[1], READ, BASE + 0x8000);
    rig_drain(rig);
    assert_int_equal(llc_counted(rig->llc)->prefetches, 0);
    assert_int_equal(llc_counted(rig->llc)->prefetches_dropped, 2);
    slow_open(&rig->memory);
    rig_drain(rig);
    assert_int_equal(rig->memory.seen[MEM_READ], 2);
    rig_free(rig);
}

/* A prefetched line that is evicted or invalidated is unused. One set of 4 ways. */
static void lines_leave_unused(void **state)
{
    (void)state;
    struct llc_config config = one_set(4);
    config.prefetch = CACHE_PREFETCH_NEXT_LINE;
    struct rig *rig = rig_new(&config);
    (void)rig_do(rig, 0, READ, BASE);
    assert_int_equal(llc_prefetches_pending(rig->llc), 1);
    for (uint64_t i = 1; i < 5; i++)
        (void)rig_do(rig, 0, READ,
                     BASE + 0x8000 * i + 63 * LINE); /* the last lines of pages: no prefetches */
    assert_int_equal(llc_counted(rig->llc)->prefetches_unused, 1);
    check_counts(rig);
    rig_free(rig);
}

static void ask_prefetch(struct scripted *client, uint64_t address)
{
    mem_request_init(&client->request, MEM_READ, address, LINE);
    client->request.prefetch = true;
    client->request.speculative = true;
    rig_send(client);
}

/* A first-level cache's prefetch is recorded in the directory like any read. With 2 MSHRs it finds none
 * beside a miss, and is answered without a line, after a lookup. */
static void prefetches_of_clients(void **state)
{
    (void)state;
    struct rig *rig = prefetching(CACHE_PREFETCH_NONE, 1, 0, 2);
    ask_prefetch(&rig->clients[0], BASE);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[0]), MISS);
    assert_false(rig->clients[0].request.dropped);
    check_line(rig, BASE, 1, 0, false);
    rig_ask(&rig->clients[1], READ, BASE + 0x8000);
    ask_prefetch(&rig->clients[2], BASE + 0x9000);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[1]), MISS);
    assert_int_equal(rig_clocks(&rig->clients[2]), HIT + 1); /* the bank accepts one request per clock */
    assert_true(rig->clients[2].request.dropped);
    assert_false(llc_line_state(rig->llc, BASE + 0x9000).present);
    assert_int_equal(llc_counted(rig->llc)->speculative_dropped, 1);
    rig_free(rig);
}

/* Kept out: the prefetcher's own lines, and prefetches of clients that had been accepted before. Other
 * reads of the line are served. */
static void lines_are_kept_out(void **state)
{
    (void)state;
    struct rig *rig = prefetching(CACHE_PREFETCH_NEXT_LINE, 2, 0, 16);
    struct keep_out list;
    keep_out_init(&list, 1);
    llc_keep_out(rig->llc, &list);
    keep_out_set(&list, 0, (struct keep_out_range){BASE + LINE, BASE + 2 * LINE - 1});
    (void)rig_do(rig, 0, READ, BASE);
    assert_false(llc_line_state(rig->llc, BASE + LINE).present);
    assert_true(llc_line_state(rig->llc, BASE + 2 * LINE).present);
    ask_prefetch(&rig->clients[1], BASE + 0x8000);
    keep_out_set(&list, 0, (struct keep_out_range){BASE + 0x8000, BASE + 0x8000});
    rig_drain(rig);
    assert_true(rig->clients[1].request.dropped);
    assert_false(llc_line_state(rig->llc, BASE + 0x8000).present);
    assert_int_equal(rig_do(rig, 1, READ, BASE + 0x8000), MISS);
    assert_false(rig->clients[1].request.dropped);
    check_counts(rig);
    rig_free(rig);
    keep_out_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_is_read_ahead), cmocka_unit_test(a_late_prefetch_is_waited_for),
        cmocka_unit_test(an_mshr_is_left),      cmocka_unit_test(misses_go_first),
        cmocka_unit_test(lines_leave_unused),   cmocka_unit_test(prefetches_of_clients),
        cmocka_unit_test(lines_are_kept_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
