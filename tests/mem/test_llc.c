/* The coherent level under scripted clients: latencies by the formula in llc.h, states, and every race.
 *
 * The default: tags 4 clocks, hit 12, probe 6 more, fill 2; memory of the rig 100. */
#include "tests/mem/llc_rig.h"

static void miss_then_hit(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    struct scripted *a = &rig->clients[0];
    assert_int_equal(rig_do(rig, 0, READ, 0x1000), MISS);
    assert_int_equal(a->request.level, MEM_LEVEL_MEMORY);
    assert_true(a->request.exclusive);
    check_line(rig, 0x1000, 1, 0, false);
    /* It dropped the line silently: nobody is asked. */
    assert_int_equal(rig_do(rig, 0, READ, 0x1000), HIT);
    assert_int_equal(a->request.level, MEM_LEVEL_L2);
    assert_true(a->request.exclusive);
    assert_int_equal(a->probes, 0);
    /* Off the edge by 1 fs: the rest of the clock is added. */
    event_queue_run(&rig->queue, 3000 * (uint64_t)CLOCK + 1);
    rig_ask(a, READ, 0x1000);
    rig_drain(rig);
    assert_int_equal(a->done, (3001 + HIT) * (uint64_t)CLOCK);
    assert_int_equal(llc_counted(rig->llc)->hits, 2);
    assert_int_equal(llc_counted(rig->llc)->misses, 1);
    rig_free(rig);
}

static void second_reader_shares(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    (void)rig_do(rig, 0, EXCLUSIVE, 0x40);
    check_line(rig, 0x40, 1, 0, false);
    rig->clients[0].dirty = true;
    assert_int_equal(rig_do(rig, 1, READ, 0x40), HIT + PROBE);
    assert_false(rig->clients[1].request.exclusive);
    assert_int_equal(rig->clients[0].probes, 1);
    assert_int_equal(rig->clients[0].probed, 0x40);
    assert_int_equal(rig->clients[0].remains, CACHE_SHARED);
    check_line(rig, 0x40, 3, -1, true);
    assert_int_equal(rig_do(rig, 2, READ, 0x40), HIT);
    check_line(rig, 0x40, 7, -1, true);
    rig_free(rig);
}

static void writer_takes_the_line_from_all(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    for (unsigned client = 0; client < 3; client++)
        (void)rig_do(rig, client, READ, 0x80);
    check_line(rig, 0x80, 7, -1, false);
    assert_int_equal(rig_do(rig, 3, EXCLUSIVE, 0x80), HIT + PROBE);
    assert_true(rig->clients[3].request.exclusive);
    /* The first one has been asked twice: it was the owner before the second read. */
    assert_int_equal(rig->clients[0].probes, 2);
    for (unsigned client = 0; client < 3; client++)
        assert_int_equal(rig->clients[client].remains, CACHE_INVALID);
    check_line(rig, 0x80, 8, 3, false);
    rig_free(rig);
}

/* Both have a copy and want to write: the first to come wins; the second, whose copy is taken, looks when the
 * first is answered, and gets the line as by an exclusive read. */
static void upgrade_of_a_copy_taken_away(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    (void)rig_do(rig, 0, READ, 0xc0);
    (void)rig_do(rig, 1, READ, 0xc0);
    rig_ask(&rig->clients[0], UPGRADE, 0xc0);
    rig_ask(&rig->clients[1], UPGRADE, 0xc0);
    event_queue_run(&rig->queue, rig->queue.now + (HIT + PROBE) * CLOCK);
    assert_int_equal(rig_clocks(&rig->clients[0]), HIT + PROBE);
    assert_int_equal(rig->clients[1].remains, CACHE_INVALID);
    rig->clients[0].dirty = true;
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[1]), HIT + PROBE + (HIT - TAGS) + PROBE);
    assert_true(rig->clients[1].request.exclusive);
    check_line(rig, 0xc0, 2, 1, false);
    assert_int_equal(llc_counted(rig->llc)->upgrades, 1);
    assert_int_equal(llc_counted(rig->llc)->lost_upgrades, 1);
    assert_int_equal(llc_counted(rig->llc)->line_waits, 1);
    /* Alone with its copy, nobody has to be asked. */
    (void)rig_do(rig, 2, READ, 0x100);
    assert_int_equal(rig_do(rig, 2, UPGRADE, 0x100), HIT);
    rig_free(rig);
}

static void write_back_frees_or_keeps(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    (void)rig_do(rig, 0, EXCLUSIVE, 0x40);
    assert_int_equal(rig_do(rig, 0, BACK_KEEP, 0x40), HIT);
    check_line(rig, 0x40, 1, -1, true);
    (void)rig_do(rig, 0, UPGRADE, 0x40);
    (void)rig_do(rig, 0, BACK, 0x40);
    check_line(rig, 0x40, 0, -1, true);
    assert_int_equal(rig_do(rig, 1, READ, 0x40), HIT);
    assert_true(rig->clients[1].request.exclusive);
    assert_int_equal(rig->clients[0].probes, 0);
    rig_free(rig);
}

/* The line is taken (from the write buffer) while its write-back is on the way: that changes nothing. */
static void late_write_back(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    (void)rig_do(rig, 0, EXCLUSIVE, 0x40);
    rig->clients[0].dirty = true;
    rig_ask(&rig->clients[1], EXCLUSIVE, 0x40);
    rig_ask(&rig->clients[0], BACK, 0x40);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[1]), HIT + PROBE);
    assert_int_equal(rig_clocks(&rig->clients[0]), HIT + PROBE + HIT - TAGS);
    assert_int_equal(llc_counted(rig->llc)->late_writes, 1);
    check_line(rig, 0x40, 2, 1, true);
    rig_free(rig);
}

/* One request to memory; the second reader looks when the first is answered, and has to ask it. */
static void misses_of_one_line_unite(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    rig_ask(&rig->clients[0], READ, 0x40);
    rig_ask(&rig->clients[1], READ, 0x40);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[0]), MISS);
    assert_int_equal(rig_clocks(&rig->clients[1]), MISS + HIT - TAGS + PROBE);
    assert_int_equal(rig->memory.seen[MEM_READ], 1);
    check_line(rig, 0x40, 3, -1, false);
    rig_free(rig);
}

static void requests_are_accepted_at_a_rate(void **state)
{
    (void)state;
    struct llc_config config;
    part_defaults(&llc_kind, 0, &config);
    config.accept_clocks = 5;
    struct rig *rig = rig_new(&config);
    for (unsigned client = 0; client < 3; client++)
        rig_ask(&rig->clients[client], READ, 0x1000 + 0x40 * client);
    rig_drain(rig);
    for (unsigned client = 0; client < 3; client++)
        assert_int_equal(rig_clocks(&rig->clients[client]), MISS + 5 * client);
    rig_free(rig);
}

static void mshrs_limit_misses(void **state)
{
    (void)state;
    struct llc_config config;
    part_defaults(&llc_kind, 0, &config);
    config.mshrs = 1;
    struct rig *rig = rig_new(&config);
    for (unsigned client = 0; client < 3; client++)
        rig_ask(&rig->clients[client], READ, 0x1000 + 0x40 * client);
    rig_drain(rig);
    for (unsigned client = 0; client < 3; client++)
        assert_int_equal(rig_clocks(&rig->clients[client]), MISS + MEMORY * client);
    assert_int_equal(llc_counted(rig->llc)->stalls, 2);
    rig_free(rig);
}

static void full_queue_refuses(void **state)
{
    (void)state;
    struct llc_config config;
    part_defaults(&llc_kind, 0, &config);
    config.queue = 2;
    struct rig *rig = rig_new(&config);
    for (unsigned client = 0; client < 4; client++)
        rig_ask(&rig->clients[client], READ, 0x1000 + 0x40 * client);
    assert_false(rig->clients[1].waits);
    assert_true(rig->clients[2].waits);
    assert_true(rig->clients[3].waits);
    rig_drain(rig);
    /* The first is answered at MISS, the second a clock later; then the others come. */
    assert_int_equal(rig_clocks(&rig->clients[2]), 2 * MISS);
    assert_int_equal(rig_clocks(&rig->clients[3]), 2 * MISS + 1);
    assert_int_equal(llc_counted(rig->llc)->refusals, 2);
    rig_free(rig);
}

/* Least recently used line out, its copies with it, and the newest version to memory. */
static void eviction_takes_copies(void **state)
{
    (void)state;
    struct llc_config config = one_set(2);
    struct rig *rig = rig_new(&config);
    (void)rig_do(rig, 0, EXCLUSIVE, 0x000);
    (void)rig_do(rig, 1, READ, 0x040);
    rig->clients[0].dirty = true;
    assert_int_equal(rig_do(rig, 2, READ, 0x080), MISS);
    assert_int_equal(rig->clients[0].remains, CACHE_INVALID);
    assert_int_equal(rig->clients[0].probed, 0x000);
    assert_int_equal(rig->clients[1].probes, 0);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 1);
    assert_false(llc_line_state(rig->llc, 0x000).present);
    /* The clean one goes without a write. */
    (void)rig_do(rig, 2, READ, 0x0c0);
    assert_int_equal(rig->clients[1].remains, CACHE_INVALID);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 1);
    assert_int_equal(llc_counted(rig->llc)->back_invalidations, 2);
    rig_free(rig);
}

/* The only way is busy with another line: the request waits, then takes it. */
static void busy_lines_are_no_victims(void **state)
{
    (void)state;
    struct llc_config config = one_set(1);
    struct rig *rig = rig_new(&config);
    rig_ask(&rig->clients[0], READ, 0x000);
    rig_ask(&rig->clients[1], READ, 0x040);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[0]), MISS);
    assert_int_equal(rig_clocks(&rig->clients[1]), MISS + MEMORY + FILL);
    assert_int_equal(rig->clients[0].remains, CACHE_INVALID);
    check_line(rig, 0x040, 2, 1, false);
    rig_free(rig);
}

/* The write buffer holds one line, which memory does not take: the second victim has to wait for it, and so
 * does a read of the line that is on its way. */
static void write_buffer_holds_up(void **state)
{
    (void)state;
    struct llc_config config = one_set(1);
    config.write_buffer = 1;
    struct rig *rig = rig_new(&config);
    (void)rig_do(rig, 0, EXCLUSIVE, 0x000);
    rig->clients[0].dirty = true;
    rig->memory.closed = true;
    rig_ask(&rig->clients[1], EXCLUSIVE, 0x040);
    event_queue_run(&rig->queue, rig->queue.now + 10 * CLOCK);
    assert_int_equal(rig->clients[0].probes, 1);
    rig_ask(&rig->clients[2], READ, 0x000);
    event_queue_run(&rig->queue, rig->queue.now + 90 * CLOCK);
    slow_open(&rig->memory);
    event_queue_run(&rig->queue, rig->queue.now + (MEMORY - 1) * CLOCK);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 1);
    assert_int_equal(rig->memory.seen[MEM_READ], 2);
    rig->clients[1].dirty = true;
    rig_drain(rig);
    /* Opened at 100 after the first request: 100 + MEMORY + FILL. The other then takes its way. */
    assert_int_equal(rig_clocks(&rig->clients[1]), 100 + MEMORY + FILL);
    assert_int_equal(rig_clocks(&rig->clients[2]), 90 + MEMORY + FILL + MEMORY + FILL);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 2);
    rig_free(rig);
}

/* A line on its way to memory is read again when memory has answered: its write is accepted when memory opens
 * at 50. */
static void line_on_its_way_is_waited_for(void **state)
{
    (void)state;
    struct llc_config config = one_set(2);
    struct rig *rig = rig_new(&config);
    (void)rig_do(rig, 0, EXCLUSIVE, 0x000);
    (void)rig_do(rig, 0, BACK, 0x000);
    (void)rig_do(rig, 0, READ, 0x040);
    (void)rig_do(rig, 0, READ, 0x080);
    rig_ask(&rig->clients[0], EXCLUSIVE, 0x000);
    rig_drain(rig);
    (void)rig_do(rig, 0, BACK, 0x000);
    (void)rig_do(rig, 0, READ, 0x040);
    rig->memory.closed_to_writes = true;
    (void)rig_do(rig, 0, READ, 0x0c0);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 1);
    rig_ask(&rig->clients[1], READ, 0x000);
    event_queue_run(&rig->queue, rig->queue.now + 50 * CLOCK);
    slow_open(&rig->memory);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[1]), 50 + MEMORY + MEMORY + FILL);
    rig_free(rig);
}

/* The line stays busy until the response is taken. */
static void refused_response_keeps_the_line(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    rig->clients[0].refuses = true;
    rig_ask(&rig->clients[0], READ, 0x40);
    rig_drain(rig);
    rig_ask(&rig->clients[1], READ, 0x40);
    rig_drain(rig);
    assert_true(llc_line_state(rig->llc, 0x40).busy);
    assert_int_equal(rig->clients[1].done, 0);
    rig->clients[0].refuses = false;
    uint64_t now = rig->queue.now;
    mem_link_response_room(&rig->clients[0].link, now);
    assert_int_equal(rig->clients[0].done, now);
    rig_drain(rig);
    assert_int_equal(rig->clients[1].done, now + (HIT - TAGS + PROBE) * CLOCK);
    check_line(rig, 0x40, 3, -1, false);
    rig_free(rig);
}

/* Who waits for a way does not stop a miss of another set. */
static void stalled_misses_are_passed(void **state)
{
    (void)state;
    struct llc_config config = one_set(1);
    config.size *= 2;
    struct rig *rig = rig_new(&config);
    rig_ask(&rig->clients[0], READ, 0x000);
    rig_ask(&rig->clients[1], READ, 0x080);
    rig_ask(&rig->clients[2], READ, 0x040);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[1]), MISS + MEMORY + FILL);
    assert_int_equal(rig_clocks(&rig->clients[2]), MISS + 2);
    rig_free(rig);
}

static void fetches_share(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    (void)rig_do(rig, 0, FETCH, 0x40);
    assert_false(rig->clients[0].request.exclusive);
    check_line(rig, 0x40, 1, -1, false);
    assert_int_equal(rig_do(rig, 1, READ, 0x40), HIT);
    check_line(rig, 0x40, 3, -1, false);
    rig_free(rig);
}

/* One of two slices of 4 sets and a way: its lines 0, 2, 4, 6 take a set each; 8 takes that of 0. */
static void slices_use_all_sets(void **state)
{
    (void)state;
    struct llc_config config;
    part_defaults(&llc_kind, 0, &config);
    config.ways = 1;
    config.size = (uint64_t)4 * config.line;
    config.slices = 2;
    struct rig *rig = rig_new(&config);
    for (unsigned line = 0; line < 8; line += 2)
        assert_int_equal(rig_do(rig, 0, READ, line * config.line), MISS);
    for (unsigned line = 0; line < 8; line += 2)
        assert_int_equal(rig_do(rig, 0, READ, line * config.line), HIT);
    assert_int_equal(rig_do(rig, 0, READ, 8 * config.line), MISS);
    assert_false(llc_line_state(rig->llc, 0).present);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(miss_then_hit),
        cmocka_unit_test(slices_use_all_sets),
        cmocka_unit_test(second_reader_shares),
        cmocka_unit_test(writer_takes_the_line_from_all),
        cmocka_unit_test(upgrade_of_a_copy_taken_away),
        cmocka_unit_test(write_back_frees_or_keeps),
        cmocka_unit_test(late_write_back),
        cmocka_unit_test(misses_of_one_line_unite),
        cmocka_unit_test(requests_are_accepted_at_a_rate),
        cmocka_unit_test(mshrs_limit_misses),
        cmocka_unit_test(full_queue_refuses),
        cmocka_unit_test(eviction_takes_copies),
        cmocka_unit_test(busy_lines_are_no_victims),
        cmocka_unit_test(write_buffer_holds_up),
        cmocka_unit_test(line_on_its_way_is_waited_for),
        cmocka_unit_test(refused_response_keeps_the_line),
        cmocka_unit_test(stalled_misses_are_passed),
        cmocka_unit_test(fetches_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
