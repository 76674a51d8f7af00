/* Slices of several banks: the times at which banks accept requests and data arrays are used, computed by
 * hand.
 *
 * Tags 4 clocks, hit 12, probe 6 more, fill 2; the rig's memory takes 100: a hit's array access begins at 4,
 * a fill's at 104. Lines 0, 2, 4 are in bank 0 of two, lines 1, 3, 5 in bank 1. */
#include "tests/mem/llc/rig.h"

static struct llc_config banked(uint32_t banks, uint32_t bank_clocks)
{
    struct llc_config config;
    part_defaults(&llc_kind, 0, &config);
    config.banks = banks;
    config.bank_clocks = bank_clocks;
    return config;
}

/* Brings in lines 0 to 5, without owners. */
static struct rig *rig_warm(const struct llc_config *config)
{
    struct rig *rig = rig_new(config);
    for (unsigned line = 0; line < 6; line++)
        (void)rig_do(rig, 0, FETCH, line * 64);
    return rig;
}

/* The latencies in clocks of fetches of three lines that arrive together. */
static void together(struct rig *rig, const unsigned lines[3], const uint64_t clocks[3])
{
    for (unsigned i = 0; i < 3; i++)
        rig_ask(&rig->clients[i], FETCH, lines[i] * 64);
    rig_drain(rig);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(rig_clocks(&rig->clients[i]), clocks[i]);
    rig_free(rig);
}

static void banks_accept_by_themselves(void **state)
{
    (void)state;
    struct llc_config config = banked(1, 0);
    config.accept_clocks = 5;
    together(rig_warm(&config), (unsigned[]){0, 1, 2}, (uint64_t[]){HIT, HIT + 5, HIT + 10});
    config.banks = 2;
    together(rig_warm(&config), (unsigned[]){0, 1, 2}, (uint64_t[]){HIT, HIT, HIT + 5});
    together(rig_warm(&config), (unsigned[]){0, 2, 4}, (uint64_t[]){HIT, HIT + 5, HIT + 10});
    config.banks = 4;
    together(rig_warm(&config), (unsigned[]){0, 1, 2}, (uint64_t[]){HIT, HIT, HIT});
    together(rig_warm(&config), (unsigned[]){0, 4, 5}, (uint64_t[]){HIT, HIT + 5, HIT});
}

/* The lines 1, 4, 7, 10 of slice 1 of 3 are distributed over the banks: line 7 waits for line 1. */
static void banks_of_a_slice(void **state)
{
    (void)state;
    struct llc_config config = banked(2, 0);
    config.accept_clocks = 5;
    config.slices = 3;
    together(rig_warm(&config), (unsigned[]){1, 4, 7}, (uint64_t[]){HIT, HIT, MISS + 5});
}

/* The array of bank 0 is busy from 4 to 7, from 7 to 10, from 10 to 13. */
static void arrays_take_turns(void **state)
{
    (void)state;
    struct llc_config config = banked(1, 3);
    together(rig_warm(&config), (unsigned[]){0, 1, 2}, (uint64_t[]){HIT, HIT + 3, HIT + 6});
    config.banks = 2;
    together(rig_warm(&config), (unsigned[]){0, 1, 2}, (uint64_t[]){HIT, HIT, HIT + 3});
    struct rig *rig = rig_warm(&config);
    rig_ask(&rig->clients[0], FETCH, 0);
    rig_ask(&rig->clients[1], FETCH, 2 * 64);
    rig_drain(rig);
    assert_int_equal(llc_counted(rig->llc)->bank_waits, 1);
    assert_int_equal(llc_counted(rig->llc)->array_waits, 1);
    /* Three clocks later the array is free again. */
    rig_ask(&rig->clients[0], FETCH, 0);
    event_queue_run(&rig->queue, rig->queue.now + 3 * CLOCK);
    rig_ask(&rig->clients[1], FETCH, 2 * 64);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[1]), HIT);
    assert_int_equal(llc_counted(rig->llc)->array_waits, 1);
    rig_free(rig);
}

/* A read of line 0 takes the newest version from its owner: the array is busy from 4 to 7, and with the
 * probed line to 10. A fetch of line 2 looks up the tags at 5. */
static void probed_data_takes_a_turn(void **state)
{
    (void)state;
    struct llc_config config = banked(2, 3);
    struct rig *rig = rig_warm(&config);
    (void)rig_do(rig, 0, EXCLUSIVE, 0);
    rig->clients[0].dirty = true;
    rig_ask(&rig->clients[1], READ, 0);
    rig_ask(&rig->clients[2], FETCH, 2 * 64);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[1]), HIT + PROBE);
    assert_int_equal(rig_clocks(&rig->clients[2]), HIT + 6);
    rig_free(rig);
}

/* Line 6 arrives from memory at 104. A hit whose lookup ends at 105 waits until 107; a fill waits for a hit
 * whose lookup ends at 103. */
static void fills_take_turns(void **state)
{
    (void)state;
    struct llc_config config = banked(2, 3);
    for (unsigned other = 0; other < 2; other++) {
        struct rig *rig = rig_warm(&config);
        uint64_t begin = rig->queue.now;
        rig_ask(&rig->clients[0], FETCH, 6 * 64);
        event_queue_run(&rig->queue, begin + (other ? 99U : 101U) * CLOCK);
        rig_ask(&rig->clients[1], FETCH, 2 * 64);
        rig_drain(rig);
        assert_int_equal(rig_clocks(&rig->clients[0]), other ? MISS + 2 : MISS);
        assert_int_equal(rig_clocks(&rig->clients[1]), other ? HIT : HIT + 2);
        rig_free(rig);
    }
}

/* Two ways: line 2 displaces line 0, which is dirty, at 4, the end of its lookup: a hit of line 1 whose
 * lookup ends at 5 waits until 7. */
static void victims_take_turns(void **state)
{
    (void)state;
    struct llc_config config = one_set(2);
    config.bank_clocks = 3;
    struct rig *rig = rig_new(&config);
    (void)rig_do(rig, 0, EXCLUSIVE, 0);
    (void)rig_do(rig, 0, BACK, 0);
    (void)rig_do(rig, 0, FETCH, 64);
    rig_ask(&rig->clients[0], FETCH, 2 * 64);
    rig_ask(&rig->clients[1], FETCH, 64);
    rig_drain(rig);
    assert_int_equal(rig->written, 0);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 1);
    assert_int_equal(rig_clocks(&rig->clients[0]), MISS);
    assert_int_equal(rig_clocks(&rig->clients[1]), HIT + 3);
    rig_free(rig);
}

/* Written-back lines and stores use the array like hits. */
static void writes_take_turns(void **state)
{
    (void)state;
    struct llc_config config = banked(2, 3);
    struct rig *rig = rig_warm(&config);
    (void)rig_do(rig, 0, EXCLUSIVE, 0);
    rig_ask(&rig->clients[0], BACK, 0);
    rig_ask(&rig->clients[RIG_CLIENTS - 1], BACK, 2 * 64);
    rig_ask(&rig->clients[1], FETCH, 4 * 64);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[0]), HIT);
    /* The lookup of the store ends at 5; its array access begins at 7, and client 0 is probed; the fetch's
     * begins at 10. */
    assert_int_equal(rig_clocks(&rig->clients[RIG_CLIENTS - 1]), HIT + 3 + PROBE);
    assert_int_equal(rig_clocks(&rig->clients[1]), HIT + 6);
    rig_free(rig);
}

static void bad_banks_are_refused(void **state)
{
    (void)state;
    struct error err;
    struct llc_config config = banked(3, 0);
    assert_false(part_check(&llc_kind, &config, &err));
    assert_string_equal(err.text, "banks: '3' is not allowed; allowed: 1 to 256, a power of two");
    config = one_set(4);
    config.banks = 2;
    assert_false(part_check(&llc_kind, &config, &err));
    assert_string_equal(err.text, "banks: 2; it must be a power of two and at most size / (ways * line), 1");
    config = banked(1, 1001);
    assert_false(part_check(&llc_kind, &config, &err));
    assert_string_equal(err.text, "bank_clocks: '1001' is not allowed; allowed: 0 to 1000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(banks_accept_by_themselves), cmocka_unit_test(banks_of_a_slice),
        cmocka_unit_test(arrays_take_turns),          cmocka_unit_test(probed_data_takes_a_turn),
        cmocka_unit_test(fills_take_turns),           cmocka_unit_test(victims_take_turns),
        cmocka_unit_test(writes_take_turns),          cmocka_unit_test(bad_banks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
