/* The last level with scripted clients: ranges, uncached requests, warming, and reports. */
#include "tests/mem/llc/rig.h"

static void uncached_passes(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    assert_int_equal(rig_do(rig, 0, UNCACHED, 0x40), MEMORY);
    assert_false(llc_line_state(rig->llc, 0x40).present);
    /* Refused by the level below, then accepted; refused by the client, then accepted. */
    rig->memory.closed = true;
    rig_ask(&rig->clients[0], UNCACHED, 0x40);
    rig_ask(&rig->clients[1], UNCACHED, 0x80);
    assert_true(rig->clients[0].waits && rig->clients[1].waits);
    rig->clients[1].refuses = true;
    slow_open(&rig->memory);
    assert_false(rig->clients[0].waits || rig->clients[1].waits);
    event_queue_run(&rig->queue, rig->queue.now + (MEMORY + 5) * CLOCK);
    assert_int_equal(rig_clocks(&rig->clients[0]), MEMORY);
    assert_int_equal(rig->clients[1].done, 0);
    rig->clients[1].refuses = false;
    mem_link_response_room(&rig->clients[1].link, rig->queue.now);
    rig_drain(rig);
    assert_true(rig->clients[1].done > 0);
    assert_int_equal(llc_counted(rig->llc)->uncached, 3);
    rig_free(rig);
}

static uint64_t maintain(struct rig *rig, unsigned client, enum mem_op op, uint64_t address, uint32_t size)
{
    mem_request_init(&rig->clients[client].request, op, address, size);
    rig_send(&rig->clients[client]);
    rig_drain(rig);
    return rig_clocks(&rig->clients[client]);
}

static void ranges(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    (void)rig_do(rig, 0, EXCLUSIVE, 0x1000);
    (void)rig_do(rig, 1, READ, 0x1040);
    (void)rig_do(rig, 1, EXCLUSIVE, 0x10c0);
    (void)rig_do(rig, 0, EXCLUSIVE, 0x1100);
    /* Four lines: the lookup, three more clocks, then one request to memory. */
    rig->clients[0].dirty = true;
    assert_int_equal(maintain(rig, 2, MEM_CLEAN, 0x1010, 0xc0), TAGS + 3 + MEMORY);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 1);
    assert_int_equal(rig->memory.seen[MEM_CLEAN], 1);
    assert_int_equal(rig->clients[0].event, PROTOCOL_PROBE_SHARE);
    check_line(rig, 0x1000, 1, -1, false);
    check_line(rig, 0x10c0, 2, -1, false);
    check_line(rig, 0x1100, 1, 0, false);
    rig->clients[0].dirty = true;
    (void)maintain(rig, 2, MEM_CLEAN_INVALIDATE, 0x1100, 1);
    assert_false(llc_line_state(rig->llc, 0x1100).present);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 2);
    (void)rig_do(rig, 0, EXCLUSIVE, 0x1000);
    rig->clients[0].dirty = true;
    (void)maintain(rig, 2, MEM_INVALIDATE, 0x1000, 0x80);
    assert_false(llc_line_state(rig->llc, 0x1000).present || llc_line_state(rig->llc, 0x1040).present);
    assert_true(llc_line_state(rig->llc, 0x10c0).present);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 2);
    assert_int_equal(llc_counted(rig->llc)->dropped, 1);
    rig_free(rig);
}

/* More lines than the cache has entries: its 4 entries are checked. Writes that memory does not accept delay
 * the response, and an outstanding line is maintained after its arrival. */
static void range_larger_than_the_cache(void **state)
{
    (void)state;
    struct llc_config config = one_set(4);
    config.write_buffer = 1;
    struct rig *rig = rig_new(&config);
    (void)rig_do(rig, 0, EXCLUSIVE, 0x1000);
    (void)rig_do(rig, 0, BACK, 0x1000);
    (void)rig_do(rig, 0, EXCLUSIVE, 0x1040);
    (void)rig_do(rig, 0, BACK, 0x1040);
    (void)rig_do(rig, 0, READ, 0x9000);
    rig_ask(&rig->clients[1], READ, 0x1080);
    rig->memory.most = 1;
    /* Memory accepts one request after the other: the read at TAGS, the two writes, the range's request. */
    assert_int_equal(maintain(rig, 2, MEM_CLEAN_INVALIDATE, 0x1000, 0x4000), TAGS + 4 * MEMORY);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 2);
    assert_int_equal(rig->memory.seen[MEM_CLEAN_INVALIDATE], 1);
    assert_true(rig->clients[2].done > 0);
    for (uint64_t line = 0x1000; line < 0x10c0; line += 0x40)
        assert_false(llc_line_state(rig->llc, line).present);
    assert_true(llc_line_state(rig->llc, 0x9000).present);
    rig_free(rig);
}

/* The level below gets the range only after it has accepted the write-backs. */
static void range_waits_for_its_writes(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    (void)rig_do(rig, 0, EXCLUSIVE, 0x1000);
    (void)rig_do(rig, 0, BACK, 0x1000);
    rig->memory.closed_to_writes = true;
    mem_request_init(&rig->clients[0].request, MEM_CLEAN, 0x1000, 64);
    rig_send(&rig->clients[0]);
    rig_drain(rig);
    assert_int_equal(rig->memory.seen[MEM_CLEAN], 0);
    uint64_t opened = rig->queue.now;
    slow_open(&rig->memory);
    rig_drain(rig);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 1);
    assert_int_equal(rig->clients[0].done, opened + MEMORY * CLOCK);
    rig_free(rig);
}

/* A store takes the line from other clients; its sender keeps a copy. A client that is not attached is served
 * but not recorded. */
static void stores_through(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    (void)rig_do(rig, 0, READ, 0x40);
    (void)rig_do(rig, 1, READ, 0x40);
    mem_request_init(&rig->clients[0].request, MEM_WRITE, 0x48, 8);
    rig_send(&rig->clients[0]);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[0]), HIT + PROBE);
    assert_int_equal(rig->clients[1].event, PROTOCOL_PROBE_TAKE);
    check_line(rig, 0x40, 1, -1, true);

    struct scripted *device = &rig->clients[RIG_CLIENTS - 1];
    assert_int_equal(rig_do(rig, RIG_CLIENTS - 1, READ, 0x40), HIT);
    check_line(rig, 0x40, 1, -1, true);
    (void)rig_do(rig, RIG_CLIENTS - 1, BACK, 0x40);
    assert_int_equal(rig->clients[0].event, PROTOCOL_PROBE_TAKE);
    check_line(rig, 0x40, 0, -1, true);
    /* A store of a whole line does not read memory; a store of a part does. */
    assert_int_equal(rig_do(rig, RIG_CLIENTS - 1, BACK, 0x80), HIT);
    check_line(rig, 0x80, 0, -1, true);
    mem_request_init(&device->request, MEM_WRITE, 0xc0, 8);
    rig_send(device);
    rig_drain(rig);
    assert_int_equal(rig_clocks(device), MISS);
    check_line(rig, 0xc0, 0, -1, true);
    rig_free(rig);
}

static void warming_takes_no_time(void **state)
{
    (void)state;
    struct llc_config config = one_set(2);
    struct rig *rig = rig_new(&config);
    struct mem_link *a = &rig->clients[0].link, *b = &rig->clients[1].link;
    assert_true(llc_ops.warm(rig->llc, a, 0x48, false));
    check_line(rig, 0x40, 1, 0, false);
    assert_false(llc_ops.warm(rig->llc, b, 0x40, false));
    check_line(rig, 0x40, 3, -1, false);
    assert_true(llc_ops.warm(rig->llc, b, 0x40, true));
    check_line(rig, 0x40, 2, 1, true);
    (void)llc_ops.warm(rig->llc, a, 0x80, false);
    (void)llc_ops.warm(rig->llc, a, 0xc0, false);
    assert_false(llc_line_state(rig->llc, 0x40).present);
    assert_int_equal(rig->clients[1].event, PROTOCOL_PROBE_TAKE);
    assert_int_equal(llc_pending(rig->llc), 0);
    assert_int_equal(rig_do(rig, 0, READ, 0xc0), HIT);
    assert_int_equal(rig->memory.seen[MEM_READ] + rig->memory.seen[MEM_WRITE], 0);
    /* Warming during a read: the warming client has a copy, so the reader must not get the line
     * exclusively. */
    rig_ask(&rig->clients[2], READ, 0x100);
    event_queue_run(&rig->queue, rig->queue.now + 10 * CLOCK);
    assert_true(llc_ops.warm(rig->llc, b, 0x100, false));
    rig_drain(rig);
    assert_false(rig->clients[2].request.exclusive);
    check_line(rig, 0x100, 6, -1, false);
    rig_free(rig);
}

static void configuration(void **state)
{
    (void)state;
    struct llc_config config;
    struct error err;
    part_defaults(&llc_kind, 0, &config);
    assert_true(part_check(&llc_kind, &config, &err));
    config.size = 3 << 18;
    assert_false(part_check(&llc_kind, &config, &err));
    assert_memory_equal(err.text, "size: ", 6);
    part_defaults(&llc_kind, 0, &config);
    config.tag_clocks = 13;
    assert_false(part_check(&llc_kind, &config, &err));
    assert_memory_equal(err.text, "tag_clocks: ", 12);
    part_defaults(&llc_kind, 0, &config);
    config.mshrs = 0;
    assert_false(part_check(&llc_kind, &config, &err));
    assert_string_equal(err.text, "mshrs: '0' is not allowed; allowed: 1 to 1024");
    part_defaults(&llc_kind, 0, &config);
    config.line = 48;
    assert_false(part_check(&llc_kind, &config, &err));
    config.line = 64;
    config.ways = 12;
    config.replacement = TAGS_TREE_PLRU;
    assert_false(part_check(&llc_kind, &config, &err));
}

/* 1 MiB, scaled by the square root from 512 KiB: 172 pJ * 1.414 = 243.2 pJ. A miss is one array access, to
 * fill the line; so is a hit. */
static void energy(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    struct energy_ledger ledger;
    energy_init(&ledger);
    llc_energy(rig->llc, &ledger, scope_enter(NULL, "l2"));
    (void)rig_do(rig, 0, READ, 0x40);
    (void)rig_do(rig, 0, READ, 0x40);
    assert_int_equal(energy_total(&ledger), 2 * 243244);
    energy_free(&ledger);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uncached_passes),
        cmocka_unit_test(ranges),
        cmocka_unit_test(range_larger_than_the_cache),
        cmocka_unit_test(range_waits_for_its_writes),
        cmocka_unit_test(stores_through),
        cmocka_unit_test(warming_takes_no_time),
        cmocka_unit_test(configuration),
        cmocka_unit_test(energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
