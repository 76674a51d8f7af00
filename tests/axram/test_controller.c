/* The accelerator in a chip: results against the reference network, counts and times by hand, refreshes at every clock, stores
 * of others, beside ordinary traffic under the rule checker. */
#include "tests/axram/bench.h"

/* Counts by hand: RD4 of inputs, of weights, WR4. */
static void counts_by_hand(void **state)
{
    (void)state;
    static const struct {
        unsigned layers, size[NETWORK_LAYERS + 1];
        uint64_t inputs, weights, writes;
    } rows[] = {
        {2, {6, 8, 1}, 56, 14, 9},    /* blackscholes */
        {2, {18, 8, 2}, 160, 40, 10}, /* jmeint: twenty times what a register holds */
        {2, {2, 16, 3}, 80, 20, 19},  /* inversek2j */
        {3, {3, 4, 2, 1}, 22, 6, 7},  /* binarization: 22 weights are five and a half blocks */
        {1, {1, 1}, 1, 1, 1},
    };
    struct random random = {1};
    for (size_t i = 0; i < MEMORIES * sizeof rows / sizeof *rows; i++)
        for (enum arith_kind kind = 0; kind < ARITH_KINDS; kind++) {
            const struct memory *memory = &memories[i % MEMORIES];
            struct dram_config config = config_on(memory);
            config.refresh = DRAM_REFRESH_NONE;
            struct bench *b = bench_new(&config, 1);
            const unsigned j = (unsigned)(i / MEMORIES), parts = memory->parts;
            set_network(&b->network, kind, rows[j].layers, rows[j].size, false, &random);
            place(b, 0);
            fill_inputs(b, &random);
            run(b);
            check_results(b);
            assert_int_equal(b->shared.counters.input_reads, parts * rows[j].inputs);
            assert_int_equal(b->shared.counters.weight_reads, parts * rows[j].weights);
            assert_int_equal(issued(b, RD4), parts * (rows[j].inputs + rows[j].weights));
            assert_int_equal(issued(b, WR4), parts * rows[j].writes);
            assert_int_equal(issued(b, AXCF), 3);
            assert_int_equal(issued(b, AXCT), 1);
            bench_free(b);
        }
}

/* A network with a bias reads it as one more input of each neuron. */
static void bias_is_counted(void **state)
{
    (void)state;
    static const unsigned size[] = {6, 8, 1};
    struct random random = {2};
    struct dram_config config = config_of();
    config.refresh = DRAM_REFRESH_NONE;
    struct bench *b = bench_new(&config, 1);
    set_network(&b->network, ARITH_FXP, 2, size, true, &random);
    place(b, 0);
    fill_inputs(b, &random);
    run(b);
    check_results(b);
    assert_int_equal(issued(b, RD4), 7 * 8 + 9 + 17);
    bench_free(b);
}

/* The cycles of a chip's RD4 or WR4. */
struct reads {
    struct dram_observer observer;
    uint64_t cycles[64];
    unsigned count;
};

static void note_read(void *context, const struct dram_record *record)
{
    struct reads *reads = context;
    if (record->command == DRAM_OWN + RD4 && reads->count < 64)
        reads->cycles[reads->count++] = record->cycle;
}

static void note_write(void *context, const struct dram_record *record)
{
    struct reads *reads = context;
    if (record->command == DRAM_OWN + WR4 && reads->count < 64)
        reads->cycles[reads->count++] = record->cycle;
}

/* One weight, by hand, in clocks from the arrival: AXCF 0 4 8, ACT4 of the weights 1, AXCT 12, their RD4 13, ACT4 of the inputs 24
 * (tFAW), RD4 36, ACT4 of the results 47, WR4 57 (tRCDWR), AXMR 76 (12 + 64), data 88 to 90. Once more, with rows open: AXCF 0 4 8,
 * AXCT 12, RD4 13 and 16, data 28, sum 29, result 30, WR4 26 (tCWL), AXMR 76. */
static void time_by_hand(void **state)
{
    (void)state;
    static const unsigned size[] = {1, 1};
    struct random random = {3};
    struct dram_config config = config_of();
    struct bench *b = bench_new(&config, 1);
    set_network(&b->network, ARITH_FP, 1, size, false, &random);
    place(b, 0);
    fill_inputs(b, &random);
    rig_until(b->rig, 100);
    run(b);
    check_results(b);
    assert_int_equal(b->done / config.tCK - 100, 90);
    const struct dram_counters before = b->rig->memory.slices[0].channel.counters;
    struct reads writes = {.observer = {.command = note_write, .context = &writes}};
    dram_memory_observe(&b->rig->memory, &writes.observer);
    rig_until(b->rig, 300);
    run(b);
    check_results(b);
    assert_int_equal(b->done / config.tCK - 300, 90);
    assert_int_equal(writes.cycles[0] - 300, 26);
    assert_int_equal(issued(b, ACT4), before.own[ACT4]);
    assert_int_equal(issued(b, PRE4), before.own[PRE4]);
    assert_int_equal(DRAM_MEMORY_SUM(&b->rig->memory, precharges), before.precharges);
    bench_free(b);
}

/* 32 inputs of a neuron, by hand, when all rows are open: W0 i0 W1 i1 i2 i3 i4 W2 i5 ... FxP is bound by columns; SHA with five shifts by
 * its units, 5 clocks from each input to the next. A column inside its chip follows another after tCCDL, 3 clocks, which makes 6
 * of the 5 clocks of an input that weights follow; or by the paper after 1. */
static void steps_by_hand(void **state)
{
    (void)state;
    static const unsigned size[] = {32, 1};
    for (unsigned i = 0; i < 4; i++) {
        const enum arith_kind kind = i % 2 ? ARITH_FXP : ARITH_SHA;
        struct random random = {11};
        struct dram_config config = config_of();
        config.refresh = DRAM_REFRESH_NONE;
        config.inside = i / 2 ? DRAM_INSIDE_CLOCK : DRAM_INSIDE_GROUP;
        struct bench *b = bench_new(&config, 1);
        struct reads reads = {.observer = {.command = note_read, .context = &reads}};
        const unsigned column = i / 2 ? 1 : 3;
        dram_memory_observe(&b->rig->memory, &reads.observer);
        set_network(&b->network, kind, 1, size, false, &random);
        for (unsigned j = 0; j < 32; j++)
            b->network.weights[j] = arith_weight(kind, ARITH_SHIFTS, 0.999);
        place(b, 0);
        fill_inputs(b, &random);
        run(b);
        check_results(b);
        assert_int_equal(reads.count, 40);
        for (unsigned j = 12; j < 36; j++) {
            const bool refill = j % 5 == 1, refilled = j % 5 == 2;
            const uint64_t wanted = kind == ARITH_FXP || refill ? column
                                    : !refilled                 ? 5
                                    : column == 3               ? 3
                                                                : 4;
            if (reads.cycles[j + 1] - reads.cycles[j] != wanted)
                fail_msg("arithmetic %u, tCCD4 %u: %u clocks after RD4 %u", kind, column,
                         (unsigned)(reads.cycles[j + 1] - reads.cycles[j]), j);
        }
        assert_int_equal(b->shared.counters.mac_clocks, kind == ARITH_SHA ? 160 : 32);
        assert_int_equal(b->shared.counters.column_clocks, 40 * column);
        bench_free(b);
    }
}

/* While a result is on its way, the inputs of the layer's next neuron are read. Two neurons of eight inputs, rows open, the last RD4 of
 * the first at t: its result is there at t + 14, so WR4 at t + 10. By the paper, the nine RD4 that are left come before it. By the data sheet RD4 at t + 3,
 * 6 and 9, WR4 at t + 12, and the next RD4 tCWL + tWTRL after it, 9 clocks. */
static void neurons_overlap(void **state)
{
    (void)state;
    static const unsigned size[] = {8, 2};
    for (unsigned paper = 0; paper < 2; paper++) {
        struct random random = {13};
        struct dram_config config = config_of();
        config.refresh = DRAM_REFRESH_NONE;
        config.inside = paper ? DRAM_INSIDE_CLOCK : DRAM_INSIDE_GROUP;
        struct bench *b = bench_new(&config, 1);
        set_network(&b->network, ARITH_FXP, 1, size, false, &random);
        place(b, 0);
        fill_inputs(b, &random);
        run(b);
        struct reads reads = {.observer = {.command = note_read, .context = &reads}},
                     writes = {.observer = {.command = note_write, .context = &writes}};
        dram_memory_observe(&b->rig->memory, &reads.observer);
        dram_memory_observe(&b->rig->memory, &writes.observer);
        run(b);
        check_results(b);
        assert_int_equal(reads.count, 20);
        assert_int_equal(writes.count, 2);
        /* W0 i0 W1 i1 i2 i3 i4 W2 i5 i6 i7; with i8, W3 */
        assert_int_equal(writes.cycles[0] - reads.cycles[10], paper ? 10 : 12);
        assert_int_equal(reads.cycles[19] - reads.cycles[0], paper ? 19 : 18 * 3 + 12);
        bench_free(b);
    }
}

/* Polls take no slot from the chip's commands: the more often, the earlier the end is known. */
static void polls_give_way(void **state)
{
    (void)state;
    static const unsigned size[] = {6, 8, 1};
    for (unsigned paper = 0; paper < 2; paper++) {
        uint64_t last = 0, done[8];
        for (unsigned i = 0; i < 7; i++) {
            struct random random = {14};
            struct dram_config config = config_of();
            config.refresh = DRAM_REFRESH_NONE;
            config.inside = paper ? DRAM_INSIDE_CLOCK : DRAM_INSIDE_GROUP;
            struct bench *b = bench_new(&config, 1);
            struct reads writes = {.observer = {.command = note_write, .context = &writes}};
            b->shared.poll = 1U << i;
            dram_memory_observe(&b->rig->memory, &writes.observer);
            set_network(&b->network, ARITH_SHA, 2, size, false, &random);
            place(b, 0);
            fill_inputs(b, &random);
            run(b);
            check_results(b);
            assert_int_equal(writes.count, 9);
            assert_true(last == 0 || writes.cycles[8] == last);
            last = writes.cycles[8];
            done[i] = b->done / config.tCK;
            assert_true(done[i] <= last + (1U << i) + 12 + 2 + 4);
            bench_free(b);
        }
        assert_true(done[2] < done[6]);
    }
}

/* Units that hold a layer's values: each input is read once, and only the last results are written, in all parts. 6 -> 8 -> 1 needs 14
 * words; with 13, nothing is held. The work is the same, and FxP is bound by it: 56 clocks, with two reads of rows before and a few
 * clocks at the end of each neuron. */
static void held_values(void **state)
{
    (void)state;
    static const unsigned size[] = {6, 8, 1};
    for (unsigned i = 0; i < 2 * MEMORIES; i++) {
        struct random random = {15};
        const struct memory *memory = &memories[i / 2];
        const uint64_t parts = memory->parts;
        struct dram_config config = config_on(memory);
        config.refresh = DRAM_REFRESH_NONE;
        struct bench *b = bench_new(&config, 1);
        b->shared.held = i % 2 ? 14 : 13;
        set_network(&b->network, ARITH_FXP, 2, size, false, &random);
        place(b, 0);
        fill_inputs(b, &random);
        run(b);
        check_results(b);
        assert_int_equal(b->shared.counters.input_reads, parts * (i % 2 ? 6 : 56));
        assert_int_equal(b->shared.counters.weight_reads, parts * 14);
        assert_int_equal(b->shared.counters.result_writes, parts * (i % 2 ? 1 : 9));
        assert_int_equal(issued(b, RD4), parts * (i % 2 ? 20 : 70));
        assert_int_equal(issued(b, WR4), parts * (i % 2 ? 1 : 9));
        assert_int_equal(b->shared.counters.mac_clocks, parts * 56);
        const uint64_t first = b->rig->queue.now;
        run(b); /* rows are open */
        check_results(b);
        const uint64_t clocks = (b->done - first) / config.tCK;
        if (i ==
            1) /* AXCF and AXCT 16, first data 12 + 3, arithmetic 56, sigmoids 9, WR4, a poll 64 and its data 14 */
            assert_in_range(clocks, 16 + 56 + 14, 16 + 15 + 56 + 9 + 64 + 14);
        bench_free(b);
    }
}

/* Random networks on both chips, with random units, beside random requests. The others' results stay. */
static void random_networks_on(const struct memory *memory, enum dram_inside inside, uint32_t held,
                               unsigned count)
{
    struct random random = {4};
    struct dram_config config = config_on(memory);
    config.inside = inside;
    struct bench *b = bench_new(&config, 8);
    b->shared.held = held;
    for (unsigned i = 0; i < count; i++) {
        set_random(&b->network, &random);
        place(b, random_below(&random, 8));
        fill_inputs(b, &random);
        b->request.units = random_chance(&random, 50) ? UINT32_MAX : (uint32_t)random_next(&random);
        run_beside_others(b, &random);
    }
    assert_int_equal(b->shared.counters.invocations, count);
    assert_true(b->rig->finished > count / 2 && b->shared.counters.suspensions > 0);
    print_message("%s: %u networks, %llu commands, %llu suspensions\n", dram_standard_name(memory->standard),
                  count, (unsigned long long)b->rig->checker.commands,
                  (unsigned long long)b->shared.counters.suspensions);
    bench_free(b);
}

static void random_networks(void **state)
{
    (void)state;
    const char *text = getenv("AXRAM_NETWORKS");
    const unsigned count = text ? (unsigned)strtoul(text, NULL, 10) : NETWORKS;
    for (unsigned i = 0; i < MEMORIES; i++) {
        random_networks_on(&memories[i], DRAM_INSIDE_GROUP, 0, i ? count / 2 : count);
        random_networks_on(&memories[i], DRAM_INSIDE_CLOCK, 0, count / 2);
        random_networks_on(&memories[i], DRAM_INSIDE_GROUP, 96, count / 2);
        random_networks_on(&memories[i], DRAM_INSIDE_CLOCK, 12, count / 2);
    }
}

/* The wide columns that were read and written, by their number modulo 4. */
struct columns {
    struct dram_observer observer;
    unsigned count[4];
};

static void note_column(void *context, const struct dram_record *record)
{
    if (record->command == DRAM_OWN + RD4 || record->command == DRAM_OWN + WR4)
        ((struct columns *)context)->count[record->column % 4]++;
}

/* Only parts whose units are wanted are evaluated: units 9 and 30 are in two of four. Part p is column p of a block. */
static void unwanted_parts_are_left_out(void **state)
{
    (void)state;
    static const unsigned size[] = {3, 2, 1};
    struct random random = {12};
    struct dram_config config = config_on(&memories[2]);
    config.refresh = DRAM_REFRESH_NONE;
    struct bench *b = bench_new(&config, 1);
    struct columns columns = {.observer = {.command = note_column, .context = &columns}};
    uint32_t expected[NETWORK_NEURONS];
    dram_memory_observe(&b->rig->memory, &columns.observer);
    set_network(&b->network, ARITH_SHA, 2, size, false, &random);
    place(b, 0);
    fill_inputs(b, &random);
    memset(words_at(b, b->request.results), 0xee, AXRAM_BLOCK);
    b->request.units = 1U << 9 | 1U << 30;
    run(b);
    assert_int_equal(issued(b, RD4), 2 * (8 + 2));
    assert_int_equal(issued(b, WR4), 2 * 3);
    for (unsigned part = 0; part < 4; part++)
        assert_int_equal(columns.count[part], part % 2 ? 13 : 0);
    for (unsigned unit = 0; unit < AXRAM_UNITS; unit++) {
        expect(b, unit, expected);
        assert_int_equal(words_at(b, b->request.results)[unit],
                         unit == 9 || unit == 30 ? expected[0] : 0xeeeeeeee);
    }
    bench_free(b);
}

/* A refresh that is due at each clock of an invocation changes neither results nor counts. Each suspension writes two blocks
 * and reads them back. */
static void refresh_at_every_clock_on(const struct memory *memory, uint32_t held)
{
    static const unsigned size[] = {3, 2, 1};
    const unsigned parts = memory->parts;
    unsigned suspended = 0;
    for (enum arith_kind kind = 0; kind < ARITH_KINDS; kind++)
        for (uint64_t at = 1; at < 420; at++) {
            struct random random = {5};
            struct dram_config config = config_on(memory);
            config.inside = at % 2 ? DRAM_INSIDE_GROUP : DRAM_INSIDE_CLOCK;
            struct bench *b = bench_new(&config, 1);
            b->shared.held = held;
            struct dram_channel *channel = dram_memory_reach(&b->rig->memory, 0);
            channel->refresh_next[0] = channel->refresh.wake = at;
            dram_agent_changed(&channel->refresh);
            dram_memory_changed(&b->rig->memory, 0);
            set_network(&b->network, kind, 2, size, false, &random);
            place(b, 0);
            fill_inputs(b, &random);
            run(b);
            check_results(b);
            const struct axram_counters *counters = &b->shared.counters;
            const unsigned reads = held ? 3 : 8;
            assert_int_equal(counters->input_reads, parts * reads);
            assert_int_equal(counters->weight_reads, parts * 2);
            assert_int_equal(counters->result_writes, parts * (held ? 1 : 3));
            assert_int_equal(counters->saved, 2 * counters->suspensions);
            assert_int_equal(counters->loaded, 2 * counters->suspensions);
            assert_int_equal(issued(b, AXCT), 1 + 2 * counters->suspensions);
            assert_int_equal(issued(b, RD4), parts * (reads + 2) + counters->loaded);
            assert_true(DRAM_MEMORY_SUM(&b->rig->memory, refreshes) > 0 || at + 20 > b->done / config.tCK);
            suspended += counters->suspensions > 0;
            bench_free(b);
        }
    print_message("%s: %u of %u refreshes suspended the chip\n", dram_standard_name(memory->standard),
                  suspended, 3 * 419);
    assert_true(suspended > 3 * 40);
}

static void refresh_at_every_clock(void **state)
{
    (void)state;
    for (unsigned i = 0; i < MEMORIES; i++)
        for (uint32_t held = 0; held <= 8; held += 8)
            refresh_at_every_clock_on(&memories[i], held);
}

/* A bit that changes in a row during an invocation changes the result, as if it had changed before: the invocation is atomic
 * at its last command. A weight is replicated, so that only the units of its half group follow. */
static void stores_during_the_run(void **state)
{
    (void)state;
    static const unsigned size[] = {3, 2, 1};
    unsigned torn = 0;
    for (uint64_t at = 1; at < 320; at += 3) {
        struct random random = {6};
        struct dram_config config = config_of();
        struct bench *b = bench_new(&config, 1);
        set_network(&b->network, ARITH_FXP, 2, size, false, &random);
        for (unsigned i = 0; i < 8; i++)
            b->network.weights[i] = arith_weight(ARITH_FXP, 0, 0.25 * (i + 1));
        place(b, 0);
        for (unsigned i = 0; i < 3 * WORDS; i++)
            words_at(b, b->request.inputs)[i] = arith_data(ARITH_FXP, 0.125 * (1 + i % 7));
        uint32_t before[NETWORK_NEURONS], after[NETWORK_NEURONS];
        expect(b, 9, before);
        b->done = 0;
        axram_team_request(&b->teams[0], &b->request);
        rig_until(b->rig, at);
        const bool ended =
            b->shared.counters.result_writes == 3 && !event_pending(&b->teams[0].chips[0].commit);
        words_at(b, b->request.inputs)[2 * WORDS + 9] ^= 1 << 25;
        expect(b, 9, after);
        assert_true(before[0] != after[0]);
        while (!b->done && event_queue_step(&b->rig->queue))
            continue;
        assert_int_equal(words_at(b, b->request.results)[9], ended ? before[0] : after[0]);
        torn += b->shared.counters.torn > 0;
        bench_free(b);
    }
    print_message("%u invocations computed anew\n", torn);
    assert_true(torn > 5); /* channels run late: most of these stores come before the bytes are read */

    struct random random = {7};
    struct dram_config config = config_of();
    struct bench *b = bench_new(&config, 1);
    set_network(&b->network, ARITH_FXP, 2, size, false, &random);
    for (unsigned i = 0; i < 8; i++)
        b->network.weights[i] = arith_weight(ARITH_FXP, 0, 0.25 * (i + 1));
    place(b, 0);
    for (unsigned i = 0; i < 3 * WORDS; i++)
        words_at(b, b->request.inputs)[i] = arith_data(ARITH_FXP, 0.125 * (1 + i % 7));
    const struct axram_layout layout = axram_layout_of(&b->request.topology);
    uint32_t first[AXRAM_UNITS];
    run(b);
    memcpy(first, words_at(b, b->request.results), sizeof first);
    /* weight 2 of half group 5 (units 20 to 23) */
    words_at(b, b->request.configuration + (uint64_t)layout.weights * AXRAM_BLOCK)[5 * 4 + 2] ^= 1 << 18;
    run(b);
    for (unsigned unit = 0; unit < AXRAM_UNITS; unit++)
        assert_int_equal(words_at(b, b->request.results)[unit] != first[unit], unit / 4 == 5);
    bench_free(b);
}

struct many {
    struct bench *b;
    struct axram_request request;
    unsigned *order, number;
};

static void note_order(struct axram_request *request, uint64_t now)
{
    struct many *many = request->owner;
    (void)now;
    many->number = ++*many->order;
}

/* A chip serves its requests in the order of arrival, also those that have found the queue full. */
static void requests_queue(void **state)
{
    (void)state;
    static const unsigned size[] = {2, 1};
    struct random random = {8};
    struct dram_config config = config_of();
    struct bench *b = bench_new(&config, 1);
    struct many many[9];
    unsigned order = 0;
    set_network(&b->network, ARITH_SHA, 1, size, false, &random);
    place(b, 1);
    fill_inputs(b, &random);
    for (unsigned i = 0; i < 9; i++) {
        many[i] = (struct many){.b = b, .request = b->request, .order = &order};
        many[i].request.done = note_order;
        many[i].request.owner = &many[i];
        many[i].request.invokes = i != 0;
        axram_team_request(&b->teams[1], &many[i].request);
    }
    while (order < 9 && event_queue_step(&b->rig->queue))
        continue;
    for (unsigned i = 0; i < 9; i++)
        assert_int_equal(many[i].number, i + 1);
    check_results(b);
    assert_int_equal(b->shared.counters.full, 5);
    assert_int_equal(b->shared.counters.configurations, 1);
    assert_int_equal(b->shared.counters.invocations, 8);
    assert_int_equal(DRAM_MEMORY_SUM(&b->rig->memory, reads), 1); /* the header */
    assert_int_equal(issued(b, AXCF), 6 + 8 * 3);
    bench_free(b);
}

/* An ordinary read of a chip that is owned waits until it is released; one of the other chip does not. */
static void ordinary_requests_wait(void **state)
{
    (void)state;
    static const unsigned size[] = {6, 8, 1};
    struct random random = {9};
    struct dram_config config = config_of();
    struct bench *b = bench_new(&config, 2);
    set_network(&b->network, ARITH_FP, 2, size, false, &random);
    place(b, 0);
    fill_inputs(b, &random);
    axram_team_request(&b->teams[0], &b->request);
    rig_until(b->rig, 50);
    (void)probe_send(&b->rig->probes[0], MEM_READ, piece(2), 32);
    (void)probe_send(&b->rig->probes[1], MEM_READ, piece(3), 32);
    rig_until(b->rig, 3000);
    assert_true(b->done && b->done < b->rig->probes[0].done);
    assert_int_equal(probe_clocks(&b->rig->probes[1]), 12 + 12 + 2);
    check_results(b);
    bench_free(b);
}

/* An ordinary read that waits for a chip is served before the second of the requests that are queued behind the first. */
static void ordinary_requests_get_turns(void **state)
{
    (void)state;
    static const unsigned size[] = {6, 8, 1};
    struct random random = {11};
    struct dram_config config = config_of();
    struct bench *b = bench_new(&config, 1);
    struct many many[4];
    unsigned order = 0, before = 0;
    set_network(&b->network, ARITH_FP, 2, size, false, &random);
    place(b, 0);
    fill_inputs(b, &random);
    for (unsigned i = 0; i < 4; i++) {
        many[i] = (struct many){.b = b, .request = b->request, .order = &order};
        many[i].request.done = note_order;
        many[i].request.owner = &many[i];
        axram_team_request(&b->teams[0], &many[i].request);
    }
    rig_until(b->rig, 50);
    (void)probe_send(&b->rig->probes[0], MEM_READ, piece(2), 32);
    while (order < 4 && event_queue_step(&b->rig->queue))
        before = b->rig->probes[0].done ? before : order;
    assert_int_equal(order, 4);
    assert_int_equal(before, 1);
    check_results(b);
    bench_free(b);
}

/* An invocation in a piece, and its network. */
struct one {
    struct bench *b;
    struct network network;
    struct axram_request request;
    uint64_t done;
};

static void note_one(struct axram_request *request, uint64_t now)
{
    ((struct one *)request->owner)->done = now;
}

/* Places b's network in a piece, with inputs. */
static void place_one(struct one *one, struct bench *b, unsigned number, struct random *random)
{
    place(b, number);
    fill_inputs(b, random);
    *one = (struct one){.b = b, .network = b->network, .request = b->request};
    one->request.done = note_one;
    one->request.owner = one;
}

/* Lets the teams `first` and `second` have a request each at the same time; returns the clocks to the later end. Checks results. */
static uint64_t run_both(struct one *ones, unsigned first, unsigned second)
{
    struct bench *b = ones[0].b;
    const uint64_t start = b->rig->queue.now;
    ones[0].done = ones[1].done = 0;
    axram_team_request(&b->teams[first], &ones[0].request);
    axram_team_request(&b->teams[second], &ones[1].request);
    while (!(ones[0].done && ones[1].done) && event_queue_step(&b->rig->queue))
        continue;
    for (unsigned i = 0; i < 2; i++) {
        b->network = ones[i].network;
        b->request = ones[i].request;
        check_results(b);
    }
    const uint64_t end = ones[0].done > ones[1].done ? ones[0].done : ones[1].done;
    return (end - start) / b->shared.dram->tCK;
}

/* Both halves of a chip at work on random networks of their own, beside random requests and refreshes. */
static void halves_work_apart(void **state)
{
    (void)state;
    struct random random = {16};
    struct dram_config config = config_on(&memories[HALVED]);
    struct bench *b = bench_new(&config, 8);
    for (unsigned i = 0; i < NETWORKS / 2; i++) {
        const unsigned chip = random_below(&random, CHIPS);
        struct one ones[2];
        for (unsigned half = 0; half < 2; half++) {
            set_random(&b->network, &random);
            place_one(&ones[half], b, chip + half * CHIPS, &random);
        }
        for (unsigned j = 0; j < 8; j++)
            if (!b->rig->probes[j].away)
                (void)probe_send(&b->rig->probes[j], random_chance(&random, 50) ? MEM_READ : MEM_WRITE,
                                 random_below(&random, BYTES / 64) * UINT64_C(64), 64);
        (void)run_both(ones, chip, chip + CHIPS);
    }
    assert_int_equal(b->shared.counters.invocations, NETWORKS / 2 * 2);
    assert_true(b->shared.counters.suspensions > 10);
    bench_free(b);
}

/* Two invocations of 32 -> 1 on a chip whose rows are open, by hand. Words and AXCT take 13 clocks; then come the 39 distances of 40 RD4
 * (steps_by_hand(): 3 clocks each; in SHA 3 of 3, six times 3 * 5 + 2 * 3, and 6 of 5), 10 clocks (SHA 14) to the WR4, 1, and a poll with
 * its data: 14, and up to 3 of waiting. Whole chips do so twice. A half that is alone does the distances twice, 3 clocks apart, and loses
 * 9 clocks (SHA 7) by the first part's WR4. When both halves are at work, their words take turns, which makes 16 clocks, and a clock is
 * lost now and then when both want the command bus. */
static void halves_by_hand(void **state)
{
    (void)state;
    static const unsigned size[] = {32, 1};
    for (unsigned sha = 0; sha < 2; sha++) {
        uint64_t clocks[2], alone = 0;
        for (unsigned halves = 0; halves < 2; halves++) {
            struct random random = {17};
            struct dram_config config = config_on(&memories[halves ? HALVED : 0]);
            config.refresh = DRAM_REFRESH_NONE;
            struct bench *b = bench_new(&config, 1);
            struct one ones[2];
            b->shared.poll = 4;
            set_network(&b->network, sha ? ARITH_SHA : ARITH_FXP, 1, size, false, &random);
            for (unsigned j = 0; j < 32; j++)
                b->network.weights[j] = arith_weight(b->network.kind, ARITH_SHIFTS, 0.999);
            for (unsigned i = 0; i < 2; i++)
                place_one(&ones[i], b, halves ? i * CHIPS : 0, &random);
            (void)run_both(ones, 0, halves ? CHIPS : 0); /* opens the rows */
            clocks[halves] = run_both(ones, 0, halves ? CHIPS : 0);
            if (halves) {
                b->request = ones[0].request;
                b->network = ones[0].network;
                b->request.done = note_done;
                b->request.owner = b;
                const uint64_t start = b->rig->queue.now;
                run(b);
                alone = (b->done - start) / config.tCK;
            }
            bench_free(b);
        }
        print_message("%s: whole %u, a half alone %u, both halves %u clocks\n", sha ? "SHA" : "FxP",
                      (unsigned)clocks[0], (unsigned)alone, (unsigned)clocks[1]);
        const uint64_t reads = sha ? 3 * 3 + 6 * 21 + 6 * 5 : 39 * 3, rest = 13 + (sha ? 14 : 10) + 1 + 14;
        assert_in_range(clocks[0], 2 * (rest + reads), 2 * (rest + reads + 3));
        const uint64_t half = rest + 2 * reads + 3 + (sha ? 7 : 9);
        assert_in_range(alone, half, half + 3);
        assert_in_range(clocks[1], half + 16 - 3, half + 16 + 12);
        assert_true(clocks[1] < clocks[0]);
    }
}

/* With a fixed time, the controller polls nothing; a time that is too short is counted. */
static void fixed_time(void **state)
{
    (void)state;
    static const unsigned size[] = {6, 8, 1};
    for (unsigned fixed = 0; fixed <= 50; fixed += 50) {
        struct random random = {10};
        struct dram_config config = config_of();
        config.refresh = DRAM_REFRESH_NONE;
        struct bench *b = bench_new(&config, 1);
        b->shared.notify = AXRAM_FIXED;
        b->shared.fixed = fixed;
        set_network(&b->network, ARITH_SHA, 2, size, false, &random);
        place(b, 0);
        fill_inputs(b, &random);
        run(b);
        check_results(b);
        assert_int_equal(issued(b, AXMR), 0);
        assert_true((b->shared.counters.late > 0) == (fixed > 0));
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_by_hand),
        cmocka_unit_test(bias_is_counted),
        cmocka_unit_test(time_by_hand),
        cmocka_unit_test(steps_by_hand),
        cmocka_unit_test(neurons_overlap),
        cmocka_unit_test(polls_give_way),
        cmocka_unit_test(held_values),
        cmocka_unit_test(random_networks),
        cmocka_unit_test(unwanted_parts_are_left_out),
        cmocka_unit_test(refresh_at_every_clock),
        cmocka_unit_test(stores_during_the_run),
        cmocka_unit_test(requests_queue),
        cmocka_unit_test(ordinary_requests_wait),
        cmocka_unit_test(ordinary_requests_get_turns),
        cmocka_unit_test(fixed_time),
        cmocka_unit_test(halves_work_apart),
        cmocka_unit_test(halves_by_hand),
    };
    return cmocka_run_group_tests_name("AxRAM's chips", tests, NULL, NULL);
}
