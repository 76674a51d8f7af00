/* Statistics and energies of a memory, computed by hand. */
#include "tests/dram/rig.h"
#include "tests/sim/value.h"

static const struct energy_account *account_of(const struct energy_ledger *ledger, const char *name)
{
    for (unsigned i = 0; i < ledger->count; i++)
        if (strcmp(ledger->accounts[i]->name, name) == 0)
            return ledger->accounts[i];
    fail_msg("no account %s", name);
    return NULL;
}

/* Two reads and a write of one row of DDR3, eight devices: one activate. The row is open from cycle 100 to
 * the end, at cycle 1000. */
static void by_hand(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    struct rig *rig = rig_new(&config, 3, NULL);
    struct energy_ledger ledger;
    struct stats *stats = stats_new();
    energy_init(&ledger);
    dram_memory_energy(&rig->memory, &ledger, scope_enter(NULL, "memory"));
    dram_memory_publish(&rig->memory, stats, scope_enter(NULL, "memory"));
    energy_publish(&ledger, stats);
    rig_until(rig, 100);
    (void)probe_send(&rig->probes[0], MEM_READ, address_of(rig, 0, 1, 3, 0), 64);
    (void)probe_send(&rig->probes[1], MEM_READ, address_of(rig, 0, 1, 3, 1), 64);
    (void)probe_send(&rig->probes[2], MEM_WRITE, address_of(rig, 0, 1, 3, 2), 64);
    rig_until(rig, 1000);
    assert_int_equal(energy_of(account_of(&ledger, "memory.activate")), 8 * 1230188);
    assert_int_equal(energy_of(account_of(&ledger, "memory.read")), 2 * 512 * 12551);
    assert_int_equal(energy_of(account_of(&ledger, "memory.write")), 512 * 9176);
    assert_int_equal(energy_of(account_of(&ledger, "memory.refresh")), 0);
    /* 51.3 mW * 8 for 900 clocks of 1.25 ns is 461.7 nJ; 43.2 mW * 8 for 100 clocks is 43.2 nJ */
    assert_int_equal(energy_of(account_of(&ledger, "memory.open")), 461700000);
    assert_int_equal(energy_of(account_of(&ledger, "memory.closed")), 43200000);
    char *text = stats_json(stats);
    static const char *const lines[] = {
        "\"memory.read_requests\": 2",       "\"memory.write_requests\": 1",
        "\"memory.read_latency\": 70000000", /* 26 + 30 clocks */
        "\"memory.0.row_hits\": 2",          "\"memory.activates\": 1",
        "\"memory.open_clocks\": 900",       "\"memory.read_clocks.16\": 0",
        "\"memory.read_clocks.32\": 2",      "\"memory.read_clocks.mean\": 28.0"};
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(text, lines[i]))
            fail_msg("%s is not in %s", lines[i], text);
    free(text);
    stats_free(stats);
    energy_free(&ledger);
    rig_free(rig);
}

/* The second read comes when the first has left the queue, and may have its place there. Its row is open. */
static void hits_in_turn(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    struct rig *rig = rig_new(&config, 1, NULL);
    for (unsigned i = 0; i < 2; i++) {
        (void)probe_send(&rig->probes[0], MEM_READ, address_of(rig, 0, 1, 3, i), 64);
        rig_until(rig, 100 * (i + 1));
        assert_false(rig->probes[0].away);
        rig->probes[0].done = 0;
    }
    assert_int_equal(DRAM_MEMORY_SUM(&rig->memory, activates), 1);
    assert_int_equal(DRAM_MEMORY_SUM(&rig->memory, row_hits), 1);
    rig_free(rig);
}

/* An idle second of HBM: refreshes, and standby with all banks closed, on each of 8 channels. */
static void idle_energy(void **state)
{
    (void)state;
    struct dram_config config;
    dram_config_default(&config, DRAM_STANDARD_hbm1);
    struct rig *rig = rig_unwatched(&config, 1);
    struct energy_ledger ledger;
    energy_init(&ledger);
    dram_memory_energy(&rig->memory, &ledger, scope_enter(NULL, "hbm"));
    event_queue_run(&rig->queue, CLOCK_SECOND);
    uint64_t refreshes = 8 * ((UINT64_C(500000000) - 1) / 1950);
    assert_true(energy_of(account_of(&ledger, "hbm.refresh")) == refreshes * 60840000);
    assert_true(energy_of(account_of(&ledger, "hbm.closed")) == UINT64_C(8) * 48000 * 1000000000);
    assert_true(energy_of(account_of(&ledger, "hbm.open")) == 0);
    energy_free(&ledger);
    rig_free(rig);
}

/* Bank 1: two reads and a write of row 3, then a read of row 5, for which row 3 is closed; after a refresh has closed that
 * one, a read of row 3. Bank 2: one read. */
static void banks_by_hand(void **state)
{
    (void)state;
    static const uint64_t rows[][2] = {{1, 3}, {1, 3}, {1, 3}, {1, 5}, {2, 7}, {1, 3}};
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    config.bank_statistics = true;
    struct rig *rig = rig_new(&config, 1, NULL);
    struct stats *stats = stats_new();
    dram_memory_publish(&rig->memory, stats, scope_enter(NULL, "memory"));
    for (unsigned i = 0; i < 6; i++) {
        rig_until(rig, i < 5 ? 200 * (i + 1) : 8000);
        (void)probe_send(&rig->probes[0], i == 2 ? MEM_WRITE : MEM_READ,
                         address_of(rig, 0, (uint32_t)rows[i][0], (uint32_t)rows[i][1], i), 64);
    }
    rig_until(rig, 9000);
    assert_int_equal(stats_value(stats, "memory.0.refreshes"), 1);
    assert_int_equal(stats_value(stats, "memory.0.bank.1.activates"), 3);
    assert_int_equal(stats_value(stats, "memory.0.bank.1.reads"), 4);
    assert_int_equal(stats_value(stats, "memory.0.bank.1.writes"), 1);
    assert_int_equal(stats_value(stats, "memory.0.bank.1.row_hits"), 2);
    assert_int_equal(stats_value(stats, "memory.0.bank.1.row_conflicts"), 1);
    assert_int_equal(stats_value(stats, "memory.0.bank.2.activates"), 1);
    assert_int_equal(stats_value(stats, "memory.0.bank.2.reads"), 1);
    assert_int_equal(stats_value(stats, "memory.0.bank.2.row_hits"), 0);
    assert_int_equal(stats_value(stats, "memory.0.bank.2.row_conflicts"), 0);
    assert_int_equal(stats_value(stats, "memory.0.bank.7.activates"), 0);
    stats_free(stats);
    rig_free(rig);
}

static void anywhere(struct probe *probe, uint64_t now)
{
    struct rig *rig = probe->rig;
    (void)now;
    uint64_t random = rig_random(rig), bytes = dram_config_bytes(&rig->memory.common.config);
    uint64_t address = random % 3 ? rig_random(rig) % 65536 : rig_random(rig) % bytes;
    if (rig->finished < 20000)
        (void)probe_send(probe, random >> 8 & 3 ? MEM_READ : MEM_WRITE, address & ~UINT64_C(63), 64);
}

/* Returns the sum of a statistic over all banks of a channel. */
static uint64_t sum_of(struct stats *stats, uint32_t channel, uint32_t banks, const char *name)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < banks; i++) {
        char key[64];
        (void)snprintf(key, sizeof key, "memory.%u.bank.%u.%s", channel, i, name);
        sum += stats_value(stats, key);
    }
    return sum;
}

/* Under random traffic the banks' counts add up to those of their channel, which come from elsewhere. */
static void banks_add_up(void **state)
{
    (void)state;
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        struct dram_config config;
        dram_config_default(&config, standard);
        config.channels = 3;
        if (standard != DRAM_STANDARD_gddr5)
            config = one_channel(standard);
        config.bank_statistics = true;
        config.refresh = DRAM_REFRESH_NONE;
        struct rig *rig = rig_unwatched(&config, 64);
        struct stats *stats = stats_new();
        dram_memory_publish(&rig->memory, stats, scope_enter(NULL, "memory"));
        for (unsigned i = 0; i < 64; i++) {
            rig->probes[i].then = anywhere;
            anywhere(&rig->probes[i], 0);
        }
        while (event_queue_step(&rig->queue))
            ;
        dram_memory_sync(&rig->memory, rig->queue.now);
        uint64_t conflicts = 0;
        for (uint32_t i = 0; i < config.channels; i++) {
            const struct dram_counters *counters = &rig->memory.slices[i].channel.counters;
            const uint32_t banks = dram_config_channel_banks(&config);
            assert_int_equal(sum_of(stats, i, banks, "activates"), counters->activates);
            assert_int_equal(sum_of(stats, i, banks, "reads"), counters->reads);
            assert_int_equal(sum_of(stats, i, banks, "writes"), counters->writes);
            assert_int_equal(sum_of(stats, i, banks, "row_hits"), counters->row_hits);
            conflicts += sum_of(stats, i, banks, "row_conflicts");
            /* Open rows are closed for waiting bursts only, which activate then, but for the last ones of each bank. */
            if (config.page == DRAM_PAGE_OPEN)
                assert_in_range(counters->precharges - sum_of(stats, i, banks, "row_conflicts"), 0, banks);
        }
        assert_true(config.page != DRAM_PAGE_OPEN || conflicts > 100);
        stats_free(stats);
        rig_free(rig);
    }
}

/* Counts the activates of a channel whose bank was precharged by the command before. */
struct sequence {
    struct dram_observer observer;
    const struct dram_config *config;
    enum dram_command last[DRAM_BANKS];
    uint64_t after_precharge;
};

static void see_command(void *context, const struct dram_record *record)
{
    struct sequence *seen = context;
    const uint32_t bank =
        (record->rank * seen->config->groups + record->group) * seen->config->banks + record->bank;
    seen->after_precharge += record->command == DRAM_ACT && seen->last[bank] == DRAM_PRE;
    seen->last[bank] = record->command;
    const uint32_t each = seen->config->groups * seen->config->banks;
    for (uint32_t i = 0; (record->command == DRAM_REF || record->command == DRAM_PREA) && i < each; i++)
        seen->last[record->rank * each + i] = record->command;
}

/* A refresh of a bank closes its row, too, also while bursts wait for the bank: that is no conflict. With open pages all other
 * precharges are. */
static void conflicts_under(struct dram_config config, uint64_t refreshes)
{
    config.bank_statistics = true;
    config.page = DRAM_PAGE_OPEN;
    struct sequence seen = {.observer = {.command = see_command, .context = &seen}, .config = &config};
    struct rig *rig = rig_new(&config, 64, &seen.observer);
    struct stats *stats = stats_new();
    dram_memory_publish(&rig->memory, stats, scope_enter(NULL, "memory"));
    for (unsigned i = 0; i < 64; i++) {
        rig->probes[i].then = anywhere;
        anywhere(&rig->probes[i], 0);
    }
    while (rig->finished < 20000 && event_queue_step(&rig->queue))
        ;
    dram_memory_sync(&rig->memory, rig->queue.now);
    assert_true(DRAM_MEMORY_SUM(&rig->memory, bank_refreshes) + DRAM_MEMORY_SUM(&rig->memory, refreshes) >=
                    refreshes &&
                seen.after_precharge > 100);
    assert_int_equal(sum_of(stats, 0, dram_config_channel_banks(&config), "row_conflicts"),
                     seen.after_precharge);
    stats_free(stats);
    rig_free(rig);
}

static void refreshes_are_no_conflicts(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_hbm1);
    config.refresh = DRAM_REFRESH_BANK;
    conflicts_under(config, 100);
}

/* A refresh of a rank while the other rank's banks are between precharge and activate. */
static void refreshes_leave_other_ranks(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    config.ranks = 2;
    (void)snprintf(config.map, sizeof config.map, "R16 B3 K1 C7 O6");
    conflicts_under(config, 20);
}

/* Each standard counts energies, or says that it does not. By hand: 6 requests of DDR5 are an activate of four devices, and 6 bursts of
 * 512 bits. */
static void energies_are_told(void **state)
{
    (void)state;
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        struct dram_config config = one_channel(standard);
        struct rig *rig = rig_new(&config, 6, NULL);
        struct energy_ledger ledger;
        struct error doubts[ENERGY_DOUBTS];
        energy_init(&ledger);
        ledger.part = "dram";
        dram_memory_energy(&rig->memory, &ledger, scope_enter(NULL, "dram"));
        for (unsigned i = 0; i < 6; i++)
            (void)probe_send(&rig->probes[i], i < 4 ? MEM_READ : MEM_WRITE, address_of(rig, 0, 1, 3, i),
                             config.burst_bytes);
        rig_until(rig, 1000);
        const bool unknown = standard == DRAM_STANDARD_hbm3;
        assert_int_equal(energy_doubts(&ledger, doubts), unknown);
        if (unknown)
            assert_string_equal(
                doubts[0].text,
                "some energy of dram is not counted; set dram.energy_act, energy_ref, "
                "energy_read_bit, energy_write_bit, power_open and power_closed: no public data "
                "sheet tells currents of this standard");
        assert_true((energy_total(&ledger) == 0) == unknown);
        if (standard == DRAM_STANDARD_ddr5_4800) {
            assert_int_equal(energy_of(account_of(&ledger, "dram.activate")), 4 * 1523808);
            assert_int_equal(energy_of(account_of(&ledger, "dram.read")), 4 * 512 * 11097);
            assert_int_equal(energy_of(account_of(&ledger, "dram.write")), 2 * 512 * 9638);
        }
        if (standard == DRAM_STANDARD_lpddr5_6400) {
            assert_int_equal(energy_of(account_of(&ledger, "dram.activate")), 983719);
            assert_int_equal(energy_of(account_of(&ledger, "dram.read")), 4 * 256 * 3063);
            assert_int_equal(energy_of(account_of(&ledger, "dram.write")), 2 * 256 * 1969);
            assert_int_equal(energy_of(account_of(&ledger, "dram.read_io")), 4 * 256 * 466);
        }
        energy_free(&ledger);
        rig_free(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand),
                                       cmocka_unit_test(hits_in_turn),
                                       cmocka_unit_test(idle_energy),
                                       cmocka_unit_test(energies_are_told),
                                       cmocka_unit_test(banks_by_hand),
                                       cmocka_unit_test(banks_add_up),
                                       cmocka_unit_test(refreshes_are_no_conflicts),
                                       cmocka_unit_test(refreshes_leave_other_ranks)};
    return cmocka_run_group_tests_name("DRAM statistics and energies", tests, NULL, NULL);
}
