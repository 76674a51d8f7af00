/* The memory's responses, and maintenance. */
#include "tests/dram/rig.h"

static void answers_name_the_level(void **state)
{
    (void)state;
    static const enum mem_op ops[] = {MEM_READ, MEM_WRITE, MEM_CLEAN};
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    struct rig *rig = rig_new(&config, 1, NULL);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(probe_send(rig->probes, ops[i], 0x1000, 64));
        rig_until(rig, 100 * (i + 1));
        assert_true(rig->probes->done > 0);
        assert_int_equal(rig->probes->request.level, MEM_LEVEL_MEMORY);
    }
    rig_free(rig);
}

/* tCK + front 4 ns + back 4 ns for any range, and no command. */
static void maintenance_takes_the_controllers_latencies(void **state)
{
    (void)state;
    static const enum mem_op ops[] = {MEM_CLEAN, MEM_INVALIDATE, MEM_CLEAN_INVALIDATE};
    struct dram_config config = one_channel(DRAM_STANDARD_hmc_2500);
    config.refresh = DRAM_REFRESH_NONE;
    struct rig *rig = rig_new(&config, 1, NULL);
    for (unsigned i = 0; i < 3; i++) {
        rig_until(rig, 100 * (i + 1));
        assert_true(probe_send(rig->probes, ops[i], 0x40, 1 << 20));
        rig_until(rig, 100 * (i + 2));
        assert_int_equal(rig->probes->done - rig->probes->sent, config.tCK + 8000000);
    }
    dram_memory_sync(&rig->memory, rig->queue.now);
    assert_int_equal(DRAM_MEMORY_SUM(&rig->memory, activates), 0);
    assert_int_equal(DRAM_MEMORY_SUM(&rig->memory, writes), 0);
    rig_free(rig);
}

/* Full write queues do not delay maintenance. */
static void maintenance_passes_full_queues(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    struct rig *rig = rig_new(&config, 200, NULL);
    unsigned sent = 0;
    while (probe_send(&rig->probes[sent], MEM_WRITE, address_of(rig, 0, 1, sent, 0), 64))
        sent++;
    assert_int_equal(sent, config.write_queue);
    assert_true(probe_send(&rig->probes[199], MEM_CLEAN, 0, 64));
    event_queue_run(&rig->queue, CLOCK_NEVER);
    assert_int_equal(rig->probes[199].done, config.tCK + config.front_latency + config.back_latency);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_name_the_level),
        cmocka_unit_test(maintenance_takes_the_controllers_latencies),
        cmocka_unit_test(maintenance_passes_full_queues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
