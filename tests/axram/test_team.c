/* Chips that work together on an invocation: results against the reference network, counts by hand, refreshes at every clock, stores
 * of others, beside ordinary traffic under the rule checker. */
#include "tests/axram/bench.h"

static struct bench *team_new(unsigned memory, unsigned probes, uint32_t together)
{
    struct dram_config config = config_on(&memories[memory]);
    config.channels = 2 * together;
    return bench_of(&config, probes, together);
}

/* Places the network in each chip of a team, in the second turn of pieces, and the regions of data at the given addresses of the
 * first one. */
static void place_team(struct bench *b, unsigned team, uint64_t inputs, uint64_t results)
{
    const unsigned channels = b->together * b->team_count;
    place(b, 0);
    b->request.inputs = inputs;
    b->request.results = results;
    b->request.together = b->together;
    for (unsigned i = 0; i < b->together; i++) {
        b->request.configurations[i] = piece(channels + team * b->together + i);
        axram_write_configuration(&b->network, words_at(b, b->request.configurations[i]));
    }
    b->request.configuration = b->request.configurations[0];
}

/* Random networks on both teams, with random units and regions, some of which are in two chips, beside random requests. */
static void networks_of(unsigned memory, uint32_t together, unsigned count)
{
    struct random random = {21};
    struct bench *b = team_new(memory, 8, together);
    unsigned crossing = 0;
    for (unsigned i = 0; i < count; i++) {
        const unsigned team = random_below(&random, 2), first = team * together;
        const uint64_t at = piece(first + random_below(&random, together)),
                       next = piece(first + 1 + random_below(&random, together - 1));
        const bool crosses[2] = {random_chance(&random, 30), random_chance(&random, 30)};
        set_random(&b->network, &random);
        crossing += crosses[0] || crosses[1];
        /* Apart from each other, whatever the pieces are: inputs and results across a border, then results, then inputs. */
        place_team(b, team,
                   crosses[0] ? next - random_below(&random, 64) * AXRAM_BLOCK : at + 2 * AXRAM_HALF_PAGE,
                   crosses[1] && !crosses[0] ? next - random_below(&random, 32) * AXRAM_BLOCK
                                             : at + AXRAM_HALF_PAGE);
        fill_inputs(b, &random);
        b->request.units = random_chance(&random, 50) ? UINT32_MAX : (uint32_t)random_next(&random) | 1;
        run_beside_others(b, &random);
    }
    assert_int_equal(b->shared.counters.invocations, count);
    assert_int_equal(b->shared.counters.torn, 0);
    assert_true(crossing > count / 4 && b->shared.counters.suspensions > 0);
    print_message("%s, %u chips: %u networks, %u regions in two chips, %llu suspensions\n",
                  dram_standard_name(memories[memory].standard), (unsigned)together, count, crossing,
                  (unsigned long long)b->shared.counters.suspensions);
    bench_free(b);
}

static void random_networks(void **state)
{
    static const uint32_t together[] = {2, 4};
    const char *text = getenv("AXRAM_NETWORKS");
    const unsigned count = text ? (unsigned)strtoul(text, NULL, 10) / 4 : NETWORKS / 4;
    (void)state;
    for (unsigned i = 0; i < HALVED; i++)
        for (unsigned j = 0; j < sizeof together / sizeof *together; j++)
            networks_of(i, together[j], count);
}

/* 4 -> 4 -> 2 on two chips: each computes two of the hidden neurons and one output. The home gives four inputs and gets an output;
 * each chip gives two hidden results. A value is a block of four bursts. */
static void counts_by_hand(void **state)
{
    static const unsigned size[] = {4, 4, 2};
    struct random random = {2};
    (void)state;
    for (uint32_t together = 1; together <= 2; together++) {
        struct bench *b = team_new(0, 1, together);
        const struct axram_counters *counters = &b->shared.counters;
        set_network(&b->network, ARITH_FXP, 2, size, false, &random);
        place_team(b, 0, piece(0), piece(0) + AXRAM_HALF_PAGE);
        fill_inputs(b, &random);
        run(b);
        check_results(b);
        assert_int_equal(counters->input_reads, 24);
        assert_int_equal(counters->weight_reads, 6);
        assert_int_equal(counters->result_writes, 6);
        assert_int_equal(counters->given, together == 2 ? 4 * (4 + 4 + 1) : 0);
        assert_int_equal(counters->taken, together == 2 ? 4 * (4 + 4 + 1) : 0);
        assert_int_equal(counters->words, together == 2 ? 2 * 2 * (3 + 1) : 3);
        assert_int_equal(counters->invocations, 1);
        bench_free(b);
    }
}

/* A wide network takes less time on more chips: 32 -> 32 -> 32 has 2,048 steps. */
static void more_chips_are_faster(void **state)
{
    static const unsigned size[] = {32, 32, 32};
    uint64_t last = UINT64_MAX;
    (void)state;
    for (uint32_t together = 1; together <= 4; together *= 2) {
        struct random random = {3};
        struct bench *b = team_new(0, 1, together);
        set_network(&b->network, ARITH_FXP, 2, size, false, &random);
        place_team(b, 0, piece(0), piece(0) + AXRAM_HALF_PAGE);
        fill_inputs(b, &random);
        run(b);
        check_results(b);
        print_message("%u chips: %llu ns\n", (unsigned)together, (unsigned long long)(b->done / 1000000));
        assert_true(b->done < last);
        last = b->done;
        bench_free(b);
    }
}

/* One refresh of either chip at each clock of an invocation. */
static void refresh_at_every_clock(void **state)
{
    static const unsigned size[] = {3, 4, 2};
    (void)state;
    for (unsigned memory = 0; memory < HALVED; memory++) {
        unsigned suspended = 0, total = 0;
        for (uint32_t chip = 0; chip < 2; chip++)
            for (uint64_t at = 1; at < 700; at++, total++) {
                struct random random = {5};
                struct bench *b = team_new(memory, 1, 2);
                const struct axram_counters *counters = &b->shared.counters;
                struct dram_channel *channel = dram_memory_reach(&b->rig->memory, chip);
                channel->refresh_next[0] = channel->refresh.wake = at;
                dram_agent_changed(&channel->refresh);
                dram_memory_changed(&b->rig->memory, chip);
                set_network(&b->network, ARITH_SHA, 2, size, true, &random);
                place_team(b, 0, piece(0), piece(1));
                fill_inputs(b, &random);
                run(b);
                check_results(b);
                assert_int_equal(counters->given, 4 * (3 + 4 + 1));
                assert_int_equal(counters->given, counters->taken);
                assert_int_equal(counters->saved, 2 * counters->suspensions);
                assert_int_equal(counters->loaded, 2 * counters->suspensions);
                suspended += counters->suspensions > 0;
                bench_free(b);
            }
        print_message("%s: %u of %u refreshes suspended a chip\n",
                      dram_standard_name(memories[memory].standard), suspended, total);
        assert_true(suspended > 100);
    }
}

/* The home's inputs change while the chips work: the result is of the inputs before, if all was over, or of those after. */
static void stores_during_the_run(void **state)
{
    static const unsigned size[] = {3, 2, 2};
    unsigned torn = 0, early = 0;
    (void)state;
    for (uint64_t at = 1; at < 700; at += 3) {
        struct random random = {6};
        struct bench *b = team_new(0, 1, 2);
        set_network(&b->network, ARITH_FXP, 2, size, false, &random);
        for (unsigned i = 0; i < network_weights(&b->network); i++)
            b->network.weights[i] = arith_weight(ARITH_FXP, 0, 0.25 * (i + 1));
        place_team(b, 0, piece(0), piece(0) + AXRAM_HALF_PAGE);
        for (unsigned i = 0; i < 3 * WORDS; i++)
            words_at(b, b->request.inputs)[i] = arith_data(ARITH_FXP, 0.125 * (1 + i % 7));
        uint32_t before[NETWORK_NEURONS], after[NETWORK_NEURONS];
        expect(b, 9, before);
        b->done = 0;
        axram_team_request(&b->teams[0], &b->request);
        rig_until(b->rig, at);
        const bool ended = b->done != 0;
        words_at(b, b->request.inputs)[2 * WORDS + 9] ^= 1 << 25;
        expect(b, 9, after);
        assert_true(before[0] != after[0] && before[1] != after[1]);
        while (!b->done && event_queue_step(&b->rig->queue))
            continue;
        for (unsigned i = 0; i < 2; i++)
            assert_int_equal(words_at(b, b->request.results)[i * WORDS + 9], ended ? before[i] : after[i]);
        torn += b->shared.counters.torn > 0;
        early += ended;
        bench_free(b);
    }
    print_message("%u invocations computed anew, %u ended before\n", torn, early);
    assert_true(torn > 20);
}

/* Requests of a team follow each other, also configurations of its chips; those of the other team are at the same time. */
static void note_time(struct axram_request *request, uint64_t now)
{
    *(uint64_t *)request->owner = now;
}

static void requests_follow_each_other(void **state)
{
    enum { COUNT = 6 };
    static const unsigned size[] = {8, 8, 4};
    struct random random = {9};
    struct axram_request requests[COUNT];
    uint64_t times[COUNT] = {0};
    (void)state;
    struct bench *b = team_new(0, 1, 2);
    set_network(&b->network, ARITH_SHA, 2, size, false, &random);
    for (unsigned i = 0; i < COUNT; i++) {
        place_team(b, i == 5, piece(i == 5 ? 2 : 0), piece(i == 5 ? 3 : 0) + AXRAM_HALF_PAGE);
        fill_inputs(b, &random);
        requests[i] = b->request;
        requests[i].done = note_time;
        requests[i].owner = &times[i];
        if (i == 2 || i == 3) {
            requests[i].invokes = false;
            requests[i].chip = i - 2;
            requests[i].configuration = b->request.configurations[i - 2];
        }
    }
    for (unsigned i = 0; i < COUNT; i++)
        axram_team_request(&b->teams[i == 5], &requests[i]);
    for (bool all = false; !all && event_queue_step(&b->rig->queue);) {
        all = true;
        for (unsigned i = 0; i < COUNT; i++)
            all = all && times[i];
    }
    for (unsigned i = 1; i < 5; i++)
        assert_true(times[i] > times[i - 1]);
    assert_true(times[5] > 0 && times[5] < times[1]);
    assert_int_equal(b->shared.counters.configurations, 2);
    assert_int_equal(b->shared.counters.invocations, 4);
    assert_int_equal(b->shared.counters.full, 1);
    check_results(b);
    bench_free(b);
}

/* Both ways of learning the end give the same results. */
static void fixed_time(void **state)
{
    static const unsigned size[] = {5, 7, 3};
    (void)state;
    for (uint32_t fixed = 0; fixed < 50; fixed += 49) {
        struct random random = {11};
        struct bench *b = team_new(0, 1, 4);
        b->shared.notify = AXRAM_FIXED;
        b->shared.fixed = fixed;
        set_network(&b->network, ARITH_SHA, 2, size, false, &random);
        place_team(b, 0, piece(1), piece(2));
        fill_inputs(b, &random);
        run(b);
        check_results(b);
        assert_int_equal(b->shared.counters.polls, 0);
        assert_true((b->shared.counters.late > 0) == (fixed > 0));
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_by_hand),
        cmocka_unit_test(more_chips_are_faster),
        cmocka_unit_test(requests_follow_each_other),
        cmocka_unit_test(fixed_time),
        cmocka_unit_test(stores_during_the_run),
        cmocka_unit_test(refresh_at_every_clock),
        cmocka_unit_test(random_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
