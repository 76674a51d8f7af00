/* Latencies of a scripted requester, each computed from the timing parameters. */
#include "tests/dram/rig.h"

/* Idle latency: front + tRCDRD + tCL + tBURST + back. The parts were computed by hand, in picoseconds, after
 * rounding to clocks. */
static void idle_read_is_the_sum_of_its_parts(void **state)
{
    (void)state;
    static const struct {
        uint64_t front, tRCDRD, tCL, tBURST, back;
    } parts[DRAM_STANDARDS] = {
        [DRAM_STANDARD_gddr5] = {0, 12000, 12000, 2000, 0},
        [DRAM_STANDARD_hmc_2500] = {4000, 10400, 10400, 3200, 4000},
        [DRAM_STANDARD_hmc_tom] = {0, 14400, 14400, 6400, 0},
        [DRAM_STANDARD_hbm1] = {0, 14000, 14000, 4000, 0},
        [DRAM_STANDARD_ddr3_1600k] = {0, 13750, 13750, 5000, 0},
        [DRAM_STANDARD_gddr5_axram] = {0, 12000, 12000, 2000, 0},
        [DRAM_STANDARD_hbm1_axram] = {0, 14000, 14000, 2000, 0},
        [DRAM_STANDARD_hmc_axram] = {4000, 10400, 10400, 3200, 4000},
        [DRAM_STANDARD_ddr4_3200] = {0, 13750, 13750, 2500, 0},
        /* a column command's second clock, and an activate's */
        [DRAM_STANDARD_ddr5_4800] = {0, 14144, 14144 + 416, 3328, 0},
        [DRAM_STANDARD_lpddr5_6400] = {0, 18750, 21250, 2500, 0},
        [DRAM_STANDARD_gddr6_14] = {0, 15390, 13680, 1140, 0},
        [DRAM_STANDARD_hbm2] = {0, 14000 + 1000, 14000, 2000, 0},
        [DRAM_STANDARD_hbm3] = {0, 19375 + 625, 12500, 1250, 0},
    };
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        struct dram_config config;
        dram_config_default(&config, standard);
        struct rig *rig = rig_new(&config, 1, NULL);
        rig_until(rig, 100);
        assert_true(probe_send(rig->probes, MEM_READ, 0x12340, config.burst_bytes));
        rig_until(rig, 200);
        uint64_t sum = parts[standard].front + parts[standard].tRCDRD + parts[standard].tCL +
                       parts[standard].tBURST + parts[standard].back;
        assert_int_equal(rig->probes->done - rig->probes->sent, 1000 * sum);
        /* 1 fs after a clock edge: the rest of the clock is added. */
        event_queue_run(&rig->queue, 300 * config.tCK + 1);
        assert_true(probe_send(rig->probes, MEM_READ, 0x7654300, config.burst_bytes));
        rig_until(rig, 400);
        assert_int_equal(rig->probes->done, 301 * config.tCK + 1000 * sum);
        rig_free(rig);
    }
}

/* Open row: tCL + tBURST. Another row of the bank: tRP before it, and tRAS from the activate on. */
static void hit_and_conflict(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    struct rig *rig = rig_new(&config, 1, NULL);
    struct probe *probe = rig->probes;
    rig_until(rig, 100);
    (void)probe_send(probe, MEM_READ, address_of(rig, 0, 2, 5, 0), 64);
    rig_until(rig, 200);
    assert_int_equal(probe_clocks(probe), 11 + 11 + 4);
    (void)probe_send(probe, MEM_READ, address_of(rig, 0, 2, 5, 9), 64);
    rig_until(rig, 300);
    assert_int_equal(probe_clocks(probe), 11 + 4);
    (void)probe_send(probe, MEM_READ, address_of(rig, 0, 2, 6, 9), 64);
    rig_until(rig, 301);
    assert_int_equal(probe->done, 0);
    rig_until(rig, 310);
    rig_until(rig, 338);
    assert_int_equal(probe_clocks(probe), 11 + 11 + 11 + 4);
    rig_free(rig);
}

/* Two rows of a bank at once: ACT at 0, RD 11, PRE when tRAS = 28 has passed, ACT 39, RD 50, data 61 to
 * 65. */
static void conflict_waits_for_tras(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    struct rig *rig = rig_new(&config, 2, NULL);
    rig_until(rig, 100);
    (void)probe_send(&rig->probes[0], MEM_READ, address_of(rig, 0, 2, 5, 0), 64);
    (void)probe_send(&rig->probes[1], MEM_READ, address_of(rig, 0, 2, 6, 0), 64);
    rig_until(rig, 300);
    assert_int_equal(probe_clocks(&rig->probes[0]), 26);
    assert_int_equal(probe_clocks(&rig->probes[1]), 65);
    rig_free(rig);
}

/* Random pairs of reads of open rows: the second data come tCCDL after the first if both are in one bank
 * group, else tCCDS; with bank groups off, always tCCDS. */
static void bank_groups_cost_tccdl(void **state)
{
    (void)state;
    enum { PAIRS = 2000 };
    uint64_t sums[2] = {0, 0}, same = 0;
    for (unsigned groups = 0; groups < 2; groups++) {
        struct dram_config config = one_channel(DRAM_STANDARD_gddr5);
        config.bank_groups = groups;
        config.refresh = DRAM_REFRESH_NONE;
        struct rig *rig = rig_new(&config, 16, NULL);
        for (uint32_t bank = 0; bank < 16; bank++) /* open all rows */
            (void)probe_send(&rig->probes[bank], MEM_READ, address_of(rig, bank / 4, bank % 4, 7, 0), 32);
        rig_until(rig, 1000);
        for (unsigned i = 0; i < PAIRS; i++) {
            uint32_t a = (uint32_t)rig_random(rig) % 16, b = (uint32_t)rig_random(rig) % 16;
            uint32_t column = (uint32_t)rig_random(rig) % 64;
            (void)probe_send(&rig->probes[0], MEM_READ, address_of(rig, a / 4, a % 4, 7, column), 32);
            (void)probe_send(&rig->probes[1], MEM_READ, address_of(rig, b / 4, b % 4, 7, (column + 1) % 64),
                             32);
            rig_until(rig, 1100 + 100 * i);
            assert_int_equal(probe_clocks(&rig->probes[0]), 14);
            uint64_t gap = probe_clocks(&rig->probes[1]) - 14;
            assert_int_equal(gap, groups && a / 4 == b / 4 ? 3 : 2);
            sums[groups] += gap;
            same += groups && a / 4 == b / 4;
        }
        rig_free(rig);
    }
    assert_true(same > PAIRS / 5 && same < PAIRS / 3); /* one pair in four */
    assert_int_equal(sums[1] - sums[0], same * (3 - 2));
}

/* A write is answered at once; a read of the same bytes is served from the queue; other bytes are read from
 * the device. */
static void writes_and_forwarding(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_hmc_2500);
    struct rig *rig = rig_new(&config, 6, NULL);
    struct probe *probes = rig->probes;
    uint64_t here = address_of(rig, 0, 3, 9, 0);
    rig_until(rig, 100);
    (void)probe_send(&probes[0], MEM_WRITE, here + 8, 16);
    (void)probe_send(&probes[1], MEM_READ, here + 8, 8);
    (void)probe_send(&probes[2], MEM_READ, here + 16, 16); /* 8 bytes of it are not in the queue */
    (void)probe_send(&probes[3], MEM_WRITE, here, 32);     /* merges with the first */
    (void)probe_send(&probes[4], MEM_READ, here + 16, 16);
    rig_until(rig, 102 + 10); /* a clock, 4 ns, 4 ns: 11 clocks */
    for (unsigned i = 0; i < 5; i++)
        if (i != 2)
            assert_int_equal(probe_clocks(&probes[i]), 11);
    rig_until(rig, 400);
    assert_true(probe_clocks(&probes[2]) >= 10 + 13 + 13 + 4);
    dram_memory_sync(&rig->memory, rig->queue.now);
    assert_int_equal(DRAM_MEMORY_SUM(&rig->memory, forwarded), 2);
    assert_int_equal(DRAM_MEMORY_SUM(&rig->memory, merged), 1);
    assert_int_equal(DRAM_MEMORY_SUM(&rig->memory, writes), 1);
    assert_int_equal(DRAM_MEMORY_SUM(&rig->memory, reads), 1);
    /* A masked write covers only some bytes: a read must go to the device. */
    struct mem_request *request = &probes[0].request;
    mem_request_init(request, MEM_WRITE, here + 64, 32);
    request->mask = 0x5;
    probes[0].done = 0;
    assert_true(mem_link_request(&probes[0].link, request, rig->queue.now));
    (void)probe_send(&probes[1], MEM_READ, here + 64, 8);
    rig_until(rig, 600);
    assert_true(probe_clocks(&probes[1]) > 30);
    rig_free(rig);
}

/* A request of several bursts, over channels, is done with its last burst; an unaligned one touches one burst
 * more. */
static void long_requests(void **state)
{
    (void)state;
    struct dram_config config;
    dram_config_default(&config, DRAM_STANDARD_hbm1);
    struct rig *rig = rig_new(&config, 2, NULL);
    rig_until(rig, 100);
    (void)probe_send(&rig->probes[0], MEM_READ, 0x10000, 512); /* one burst on each of 8 channels */
    rig_until(rig, 200);
    assert_int_equal(probe_clocks(&rig->probes[0]), 7 + 7 + 2);
    (void)probe_send(&rig->probes[0], MEM_READ, 0x20020,
                     512); /* two on the first channel, in groups 0 and 1 */
    rig_until(rig, 300);
    dram_memory_sync(&rig->memory, rig->queue.now);
    assert_int_equal(DRAM_MEMORY_SUM(&rig->memory, reads), 8 + 9);
    assert_int_equal(probe_clocks(&rig->probes[0]),
                     4 + 7 + 7 + 2);                            /* the second activate is tRRDS = 4 later */
    (void)probe_send(&rig->probes[0], MEM_CLEAN, 0x20020, 512); /* no request: nothing to do */
    rig_until(rig, 400);
    assert_int_equal(probe_clocks(&rig->probes[0]), 1);
    rig_free(rig);
}

/* Page policies, by the latency of a second access to the row after a pause. */
static void page_policies(void **state)
{
    (void)state;
    static const struct {
        enum dram_page page;
        uint64_t pause, latency;
    } cases[] = {
        {DRAM_PAGE_OPEN, 150, 15},
        {DRAM_PAGE_CLOSED, 150, 26},
        {DRAM_PAGE_TIMEOUT, 61, 15},
        {DRAM_PAGE_TIMEOUT, 80, 26}, /* read at 111, closed 50 clocks later at 161 */
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
        config.page = cases[i].page;
        struct rig *rig = rig_new(&config, 1, NULL);
        rig_until(rig, 100);
        (void)probe_send(rig->probes, MEM_READ, address_of(rig, 0, 0, 1, 0), 64);
        rig_until(rig, 100 + cases[i].pause);
        (void)probe_send(rig->probes, MEM_READ, address_of(rig, 0, 0, 1, 1), 64);
        rig_until(rig, 400);
        assert_int_equal(probe_clocks(rig->probes), cases[i].latency);
        rig_free(rig);
    }
}

/* A read that comes as a refresh begins waits for tRFC; the open row is closed for it first. */
static void refresh_delays(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    struct rig *rig = rig_new(&config, 1, NULL);
    rig_until(rig, 6240 + 1);
    (void)probe_send(rig->probes, MEM_READ, 0, 64);
    rig_until(rig, 7000);
    assert_int_equal(probe_clocks(rig->probes), 208 - 1 + 26);
    rig_until(rig, 2 * 6240 + 1); /* row 0 is open */
    (void)probe_send(rig->probes, MEM_READ, 0, 64);
    rig_until(rig, 14000);
    assert_int_equal(probe_clocks(rig->probes), 11 + 208 - 1 + 26); /* PREA, tRP, REF, tRFC */
    rig_free(rig);
}

/* A row that was activated for a read stays open for it although writes get their turn: ACT 100, RD 111, PRE
 * when tRAS = 28 has passed, ACT 139, WR 150. The same the other way round, with a read that comes when the row is
 * open for a write: WR at 111, PRE 8 + 4 + 12 clocks later, ACT 146, data 11 + 11 + 4 later. */
static void a_row_stays_for_its_burst(void **state)
{
    (void)state;
    static const uint64_t clocks[] = {26, 135 + 11 + 26 - 101};
    for (unsigned written = 0; written < 2; written++) {
        struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
        config.write_high = 1 + written;
        config.write_low = written; /* so that the other direction gets its turn at 101 */
        struct rig *rig = rig_new(&config, 2, NULL);
        struct probe *read = &rig->probes[written], *write = &rig->probes[!written];
        rig_until(rig, 100);
        (void)probe_send(written ? write : read, written ? MEM_WRITE : MEM_READ, address_of(rig, 0, 2, 5, 0),
                         64);
        rig_until(rig, 101);
        (void)probe_send(written ? read : write, written ? MEM_READ : MEM_WRITE, address_of(rig, 0, 2, 6, 0),
                         64);
        rig_until(rig, 400);
        assert_int_equal(probe_clocks(read), clocks[written]);
        dram_memory_sync(&rig->memory, rig->queue.now);
        assert_int_equal(DRAM_MEMORY_SUM(&rig->memory, activates), 2);
        assert_int_equal(DRAM_MEMORY_SUM(&rig->memory, writes), 1);
        rig_free(rig);
    }
}

/* A refresh closes the row that was activated for a read, and the read then opens it again: ACT 6235, PREA when tRAS
 * has passed, REF, ACT, RD. */
static void refresh_takes_the_row_of_a_burst(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    struct rig *rig = rig_new(&config, 1, NULL);
    rig_until(rig, 6235);
    (void)probe_send(rig->probes, MEM_READ, address_of(rig, 0, 2, 5, 0), 64);
    rig_until(rig, 8000);
    assert_int_equal(probe_clocks(rig->probes), 28 + 11 + 208 + 26);
    dram_memory_sync(&rig->memory, rig->queue.now);
    assert_int_equal(DRAM_MEMORY_SUM(&rig->memory, activates), 2);
    assert_int_equal(DRAM_MEMORY_SUM(&rig->memory, reads), 1);
    rig_free(rig);
}

/* A row hit and an activate could both come at 200, on one command bus: the older burst's hit goes first, or, with
 * activate_first, the activate. */
static void activates_may_go_first(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
        config.activate_first = first;
        struct rig *rig = rig_new(&config, 2, NULL);
        rig_until(rig, 100);
        (void)probe_send(&rig->probes[0], MEM_READ, address_of(rig, 0, 2, 5, 0), 64);
        rig_until(rig, 200);
        (void)probe_send(&rig->probes[0], MEM_READ, address_of(rig, 0, 2, 5, 1), 64);
        (void)probe_send(&rig->probes[1], MEM_READ, address_of(rig, 0, 3, 5, 0), 64);
        rig_until(rig, 300);
        assert_int_equal(probe_clocks(&rig->probes[0]), 15 + first);
        assert_int_equal(probe_clocks(&rig->probes[1]), 27 - first);
        rig_free(rig);
    }
}

/* HBM's activate takes two clocks. Times from it count from its first one, or from its last, and so do times to
 * it: two rows of a bank. ACT 100, RD 107 (108), PRE 117 (118), ACT 124 both ways, because of tRC and because tRP ends
 * in its second clock, RD 131 (132). */
static void times_from_the_last_clock(void **state)
{
    (void)state;
    for (unsigned last = 0; last < 2; last++) {
        struct dram_config config = one_channel(DRAM_STANDARD_hbm1);
        config.act_last_clock = last;
        struct rig *rig = rig_new(&config, 2, NULL);
        rig_until(rig, 100);
        (void)probe_send(&rig->probes[0], MEM_READ, address_of(rig, 0, 2, 5, 0), 64);
        (void)probe_send(&rig->probes[1], MEM_READ, address_of(rig, 0, 2, 6, 0), 64);
        rig_until(rig, 300);
        assert_int_equal(probe_clocks(&rig->probes[0]), 16 + last);
        assert_int_equal(probe_clocks(&rig->probes[1]), 40 + last);
        rig_free(rig);
    }
}

/* A full queue refuses requests and wakes clients in order; a response may be refused and is offered again in
 * order. */
static void back_pressure(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    config.read_queue = 2;
    struct rig *rig = rig_new(&config, 6, NULL);
    rig_until(rig, 100);
    for (uint32_t i = 0; i < 5; i++) /* one bank, five rows */
        assert_true(probe_send(&rig->probes[i], MEM_READ, address_of(rig, 0, 0, i, 0), 64) == (i < 2));
    assert_false(
        /* it is in the list only once */
        probe_send(&rig->probes[2], MEM_READ, address_of(rig, 0, 0, 2, 0), 64));
    rig->probes[3].parked = true; /* will not send again: the next waiter gets the room */
    rig->probes[0].refusals = 1;
    rig_until(rig, 200); /* 0 is done at 126 and refused; 1, done at 165, waits after it */
    assert_int_equal(rig->probes[0].done, 0);
    assert_int_equal(rig->probes[1].done, 0);
    mem_link_response_room(&rig->probes[0].link, rig->queue.now);
    assert_int_equal(rig->probes[0].done, rig->queue.now);
    assert_int_equal(rig->probes[1].done, rig->queue.now);
    rig_until(rig, 500);
    assert_int_equal(rig->probes[2].done, (100 + 2 * 39 + 26) * config.tCK);
    assert_int_equal(rig->probes[3].done, 0);
    assert_int_equal(rig->probes[4].done, (100 + 3 * 39 + 26) * config.tCK);
    rig_free(rig);
}

/* There is room one clock after the command that freed an entry: with a queue of one, the second read is
 * accepted in the clock after the first RD, at 112, and is then alone. */
static void room_comes_at_its_time(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    config.read_queue = 1;
    struct rig *rig = rig_new(&config, 2, NULL);
    rig_until(rig, 100);
    assert_true(probe_send(&rig->probes[0], MEM_READ, address_of(rig, 0, 0, 0, 0), 64));
    assert_false(probe_send(&rig->probes[1], MEM_READ, address_of(rig, 0, 1, 0, 0), 64));
    rig_until(rig, 300);
    assert_int_equal(probe_clocks(&rig->probes[0]), 26);
    assert_int_equal(probe_clocks(&rig->probes[1]), 12 + 26);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_read_is_the_sum_of_its_parts),
        cmocka_unit_test(hit_and_conflict),
        cmocka_unit_test(conflict_waits_for_tras),
        cmocka_unit_test(bank_groups_cost_tccdl),
        cmocka_unit_test(writes_and_forwarding),
        cmocka_unit_test(long_requests),
        cmocka_unit_test(page_policies),
        cmocka_unit_test(refresh_delays),
        cmocka_unit_test(a_row_stays_for_its_burst),
        cmocka_unit_test(refresh_takes_the_row_of_a_burst),
        cmocka_unit_test(activates_may_go_first),
        cmocka_unit_test(times_from_the_last_clock),
        cmocka_unit_test(back_pressure),
        cmocka_unit_test(room_comes_at_its_time),
    };
    return cmocka_run_group_tests_name("DRAM latencies", tests, NULL, NULL);
}
