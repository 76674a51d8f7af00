/* Random and streaming traffic: no rule is broken, bandwidth is near the peak, no request starves, every run
 * is the same. DRAM_COMMANDS=10000000 sets the number of commands of the random part. */
#include "tests/dram/rig.h"
#include "tests/dram/text_sink.h"

enum { CLIENTS = 64, DEFAULT_COMMANDS = 300000 };

static uint64_t commands_wanted(void)
{
    const char *text = getenv("DRAM_COMMANDS");
    return text ? strtoull(text, NULL, 10) : DEFAULT_COMMANDS;
}

/* Random requests anywhere, with bursts of activity in few rows, and pauses. */
static void send_random(struct probe *probe)
{
    struct rig *rig = probe->rig;
    const struct dram_config *config = &rig->memory.common.config;
    uint64_t random = rig_random(rig), bytes = dram_config_bytes(config);
    uint64_t address = rig_random(rig) % bytes;
    if (random % 8 < 3) /* a small area: row hits and conflicts */
        address = address % 4 * bytes / 8 + rig_random(rig) % 4096;
    uint32_t size = random % 5 == 0 ? 1 + (uint32_t)(random >> 20) % 200 : config->burst_bytes;
    if (random % 5)
        address -= address % config->burst_bytes;
    if (address + size > bytes)
        address = bytes - size;
    (void)probe_send(probe, random >> 8 & 3 ? MEM_READ : MEM_WRITE, address, size);
}

static void again(struct probe *probe, uint64_t now)
{
    (void)now;
    struct rig *rig = probe->rig;
    rig->resting |= rig->finished % 3000 == 0; /* until no request is outstanding */
    if (!rig->resting)
        send_random(probe);
}

static void run_random(struct rig *rig, uint64_t commands)
{
    uint64_t pause = 1;
    for (unsigned i = 0; i < CLIENTS; i++)
        rig->probes[i].then = again;
    while (rig->checker.commands < commands) {
        rig->resting = false;
        for (unsigned i = 0; i < CLIENTS; i++)
            if (!rig->probes[i].away)
                send_random(&rig->probes[i]);
        while (event_queue_step(&rig->queue))
            ;
        pause = pause * 5 % 100003; /* up to 100,000 clocks: rows time out and refreshes pass */
        rig_until(rig, rig->queue.now / rig->memory.common.config.tCK + pause);
    }
}

static void random_traffic_breaks_no_rule(void **state)
{
    (void)state;
    const enum dram_page pages[] = {DRAM_PAGE_OPEN, DRAM_PAGE_CLOSED, DRAM_PAGE_TIMEOUT};
    uint64_t short_cuts[2] = {0, 0}, total = 0, each = commands_wanted() / (DRAM_STANDARDS * 3);
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++)
        for (unsigned page = 0; page < 3; page++) {
            struct dram_config config;
            dram_config_default(&config, standard);
            config.channels = standard == DRAM_STANDARD_gddr5 ? 3 : 1;
            if (standard != DRAM_STANDARD_gddr5)
                config = one_channel(standard);
            config.page = pages[page];
            config.bank_hash = config.activate_first = page == 1;
            config.act_last_clock = page == 2;
            if (standard == DRAM_STANDARD_hbm1)
                config.refresh = page == 0 ? DRAM_REFRESH_ALL : DRAM_REFRESH_BANK;
            if (standard == DRAM_STANDARD_ddr3_1600k && page != 2) {
                config.ranks = 2;
                (void)strcpy(config.map, "R16 B3 C7 K O6");
            }
            struct rig *rig = rig_new(&config, CLIENTS, NULL);
            run_random(rig, each);
            total += rig->checker.commands;
            dram_memory_sync(&rig->memory, rig->queue.now);
            assert_true(
                DRAM_MEMORY_SUM(&rig->memory, refreshes) + DRAM_MEMORY_SUM(&rig->memory, bank_refreshes) > 0);
            short_cuts[0] += DRAM_MEMORY_SUM(&rig->memory, forwarded);
            short_cuts[1] += DRAM_MEMORY_SUM(&rig->memory, merged);
            rig_free(rig);
        }
    print_message("%llu bursts forwarded, %llu merged; ", (unsigned long long)short_cuts[0],
                  (unsigned long long)short_cuts[1]);
    assert_true(short_cuts[0] > 100 && short_cuts[1] > 100);
    print_message("%llu commands\n", (unsigned long long)total);
}

static void stream_on(struct probe *probe, uint64_t now)
{
    struct rig *rig = probe->rig;
    (void)now;
    uint64_t burst = rig->memory.common.config.burst_bytes;
    (void)probe_send(probe, MEM_READ, rig->random++ * burst, (uint32_t)burst);
}

/* Reads of ascending addresses reach 90 % of what refresh leaves of the data bus, for each standard. */
static void streams_reach_the_peak(void **state)
{
    (void)state;
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        struct dram_config config;
        dram_config_default(&config, standard);
        unsigned probes = 28 * config.channels;
        struct rig *rig = rig_unwatched(&config, probes);
        rig->random = 0;
        for (unsigned i = 0; i < probes; i++) {
            rig->probes[i].then = stream_on;
            stream_on(&rig->probes[i], 0);
        }
        event_queue_run(&rig->queue, 20 * config.tREFI);
        double peak = (double)config.channels * (double)config.burst_bytes / (double)config.tBURST;
        double left = peak * (1 - (double)config.tRFC / (double)config.tREFI);
        double reached = (double)rig->finished * (double)config.burst_bytes / (double)rig->queue.now;
        print_message("%-12s %6.1f GB/s of %6.1f: %.1f %%\n", dram_standard_name(standard), reached * 1e6,
                      left * 1e6, 100 * reached / left);
        assert_true(reached >= 0.9 * left);
        assert_true(reached <= left * 1.01);
        rig_free(rig);
    }
}

/* A memory with a text trace of its commands. */
struct traced {
    struct text_sink sink;
    struct dram_trace *trace;
    char *text;
    size_t size;
    struct rig *rig;
};

static void trace_open(struct traced *traced, const struct dram_config *config)
{
    FILE *out = open_memstream(&traced->text, &traced->size);
    traced->trace = text_sink_trace(&traced->sink, out, config);
    traced->rig = rig_new(config, CLIENTS, dram_trace_observer(traced->trace));
}

static void trace_close(struct traced *traced)
{
    rig_free(traced->rig);
    dram_trace_free(traced->trace);
    (void)fclose(traced->sink.out);
}

static void poke(void *owner, uint64_t now)
{
    struct rig *rig = owner;
    dram_memory_sync(&rig->memory, now);
}

/* A fixed script of requests; the memory is brought up to date every `step` clocks, or only when it needs to
 * be. */
static void run_script(struct traced *traced, uint64_t step)
{
    struct rig *rig = traced->rig;
    uint64_t tCK = rig->memory.common.config.tCK;
    struct event event;
    event_init(&event, 0, poke, rig);
    for (unsigned round = 0; round < 400; round++) {
        for (unsigned i = 0; i < CLIENTS; i++)
            if (!rig->probes[i].away)
                send_random(&rig->probes[i]);
        uint64_t end = rig->queue.now + (rig_random(rig) % 900 + 1) * tCK + rig_random(rig) % tCK;
        if (round % 50 == 49)
            end += 20000 * tCK; /* idle over several refreshes */
        for (uint64_t at = rig->queue.now + step * tCK; step && at < end; at += step * tCK) {
            event_schedule(&rig->queue, &event, at);
            event_queue_run(&rig->queue, at);
        }
        event_queue_run(&rig->queue, end);
    }
}

/* Channels run lazily. How often they are run must not matter. */
static void lazy_is_the_same_as_eager(void **state)
{
    (void)state;
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++) {
        struct dram_config config = one_channel(standard);
        struct traced eager, lazy, repeated;
        config.page = (enum dram_page)(standard % 3);
        if (standard == DRAM_STANDARD_hbm1)
            config.refresh = DRAM_REFRESH_BANK;
        trace_open(&eager, &config);
        trace_open(&lazy, &config);
        trace_open(&repeated, &config);
        run_script(&eager, 1);
        run_script(&lazy, 0);
        run_script(&repeated, 0);
        assert_true(eager.rig->queue.now == lazy.rig->queue.now);
        assert_true(eager.rig->finished == lazy.rig->finished);
        assert_true(eager.rig->memory.read_latency == lazy.rig->memory.read_latency);
        trace_close(&eager);
        trace_close(&lazy);
        trace_close(&repeated);
        assert_true(lazy.size > 100000);
        assert_string_equal(eager.text, lazy.text);
        assert_string_equal(repeated.text, lazy.text);
        free(eager.text);
        free(lazy.text);
        free(repeated.text);
    }
}

static void read_anywhere(struct probe *probe, uint64_t now)
{
    struct rig *rig = probe->rig;
    (void)now;
    uint64_t bursts = dram_config_bytes(&rig->memory.common.config) / 64;
    (void)probe_send(probe, MEM_READ, rig_random(rig) % bursts * 64, 64);
}

/* A memory has as many channels as its description says, also if that is not a power of two; each gets its
 * share. */
static void any_number_of_channels(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 3, 68, 300};
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct dram_config config = one_channel(DRAM_STANDARD_hbm1);
        config.channels = counts[i];
        (void)snprintf(config.map, sizeof config.map, "R14 B2 C5 G2 %% O6");
        struct rig *rig = rig_new(&config, CLIENTS, NULL);
        for (unsigned j = 0; j < CLIENTS; j++) {
            rig->probes[j].then = read_anywhere;
            read_anywhere(&rig->probes[j], 0);
        }
        while (rig->finished < 200 * (uint64_t)counts[i])
            (void)event_queue_step(&rig->queue);
        dram_memory_sync(&rig->memory, rig->queue.now);
        uint64_t reads = DRAM_MEMORY_SUM(&rig->memory, reads) / counts[i];
        for (uint32_t channel = 0; channel < counts[i]; channel++) {
            uint64_t own = rig->memory.slices[channel].channel.counters.reads;
            assert_true(own > reads / 2 && own < reads * 2);
        }
        rig_free(rig);
    }
}

/* Without an observer, refreshes of an idle memory are counted and not executed: the same results, much
 * faster. */
static void idle_costs_nothing(void **state)
{
    (void)state;
    for (unsigned banks = 0; banks < 2; banks++) {
        struct dram_config config;
        dram_config_default(&config, DRAM_STANDARD_hbm1);
        config.refresh = banks ? DRAM_REFRESH_BANK : DRAM_REFRESH_ALL;
        struct rig *watched = rig_new(&config, 1, NULL), *idle = rig_unwatched(&config, 1);
        const uint64_t cycles[] = {100, 3000000, 3001234, 1950 * 2000 + 3, 1936 * 5000 + 2, 50000000};
        for (unsigned i = 0; i < sizeof cycles / sizeof *cycles; i++) {
            rig_until(watched, cycles[i]);
            rig_until(idle, cycles[i]);
            (void)probe_send(watched->probes, MEM_READ, 4096 * i, 64);
            (void)probe_send(idle->probes, MEM_READ, 4096 * i, 64);
            rig_until(watched, cycles[i] + 500);
            rig_until(idle, cycles[i] + 500);
            assert_true(probe_clocks(watched->probes) == probe_clocks(idle->probes));
        }
        dram_memory_sync(&watched->memory, watched->queue.now);
        dram_memory_sync(&idle->memory, idle->queue.now);
        for (uint32_t i = 0; i < config.channels; i++)
            assert_memory_equal(&watched->memory.slices[i].channel.counters,
                                &idle->memory.slices[i].channel.counters, sizeof(struct dram_counters));
        uint64_t fired = idle->queue.fired;
        event_queue_run(&idle->queue, CLOCK_SECOND); /* a simulated second without any work */
        assert_int_equal(idle->queue.fired - fired, 0);
        dram_memory_sync(&idle->memory, CLOCK_SECOND);
        uint64_t refreshes =
            DRAM_MEMORY_SUM(&idle->memory, refreshes) + DRAM_MEMORY_SUM(&idle->memory, bank_refreshes);
        uint64_t interval = banks ? 1950 / 16 : 1950;
        assert_true(refreshes == 8 * ((CLOCK_SECOND / config.tCK - 1) / interval));
        rig_free(watched);
        rig_free(idle);
    }
}

static void hammer(struct probe *probe, uint64_t now)
{
    struct rig *rig = probe->rig;
    (void)now;
    bool write = probe >= rig->probes + 32;
    (void)probe_send(probe, write ? MEM_WRITE : MEM_READ,
                     address_of(rig, 0, 0, 1, (uint32_t)rig_random(rig) % 128), 64);
}

/* Endless row hits of many readers and writers do not starve a read of another row of the bank. */
static void nobody_starves(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    uint64_t latency[2];
    for (unsigned i = 0; i < 2; i++) {
        config.hit_cap = i ? 64 : 4;
        struct rig *rig = rig_new(&config, 64, NULL);
        for (unsigned j = 0; j < 63; j++) {
            rig->probes[j].then = hammer;
            hammer(&rig->probes[j], 0);
        }
        rig_until(rig, 20000);
        (void)probe_send(&rig->probes[63], MEM_READ, address_of(rig, 0, 0, 2, 0), 64);
        rig_until(rig, 40000);
        latency[i] = probe_clocks(&rig->probes[63]);
        rig_free(rig);
    }
    print_message("read of another row: %llu clocks with a cap of 4, %llu with 64\n",
                  (unsigned long long)latency[0], (unsigned long long)latency[1]);
    assert_true(latency[0] < 2000 && latency[0] < latency[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_traffic_breaks_no_rule),
        cmocka_unit_test(streams_reach_the_peak),
        cmocka_unit_test(lazy_is_the_same_as_eager),
        cmocka_unit_test(any_number_of_channels),
        cmocka_unit_test(idle_costs_nothing),
        cmocka_unit_test(nobody_starves),
    };
    return cmocka_run_group_tests_name("DRAM traffic", tests, NULL, NULL);
}
