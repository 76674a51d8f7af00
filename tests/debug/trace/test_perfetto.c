/* Chrome traces: read by a JSON library; slices on a track nest, asynchronous ones pair, times are exact. */
#include <jansson.h>
#include <math.h>

#include "emu/core/report/track.h"
#include "emu/dram/observers/track.h"
#include "emu/mem/cache/track.h"
#include "tests/debug/trace/rig.h"

enum { TRACKS = 4096, DEPTH = 8, CLIENTS = 16 };

static json_t *load(void **state, const char *name)
{
    json_error_t error;
    json_t *events = json_load_file(in_folder(state, name), JSON_REJECT_DUPLICATES, &error);
    if (!events)
        fail_msg("%s, line %d", error.text, error.line);
    assert_true(json_is_array(events));
    return events;
}

static const char *text_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

static char phase_of(const json_t *event)
{
    return text_of(event, "ph")[0];
}

/* Times below 2^53 fs survive the double. */
static uint64_t time_of(const json_t *event, const char *key)
{
    const json_t *value = json_object_get(event, key);
    assert_true(json_is_number(value));
    return (uint64_t)llround(json_number_value(value) * 1e9);
}

static uint64_t number_of(const json_t *event, const char *key)
{
    const json_t *value = json_object_get(event, key);
    assert_true(json_is_integer(value));
    return (uint64_t)json_integer_value(value);
}

/* What is known of a track, or of an asynchronous id, while its events pass by in the order of the file. */
struct seen {
    char name[32], process[64];
    uint64_t ends[DEPTH]; /* of X slices on the stack; UINT64_MAX: a B without its E */
    unsigned depth;
    uint64_t last; /* time of the last event */
    unsigned slices;
};

struct tracks {
    struct seen of[TRACKS];
    char process[TRACKS][64];
    unsigned opened, closed; /* slices and their ends */
};

static void begin_slice(struct seen *track, uint64_t time, uint64_t end)
{
    while (track->depth > 0 && track->ends[track->depth - 1] <= time)
        track->depth--;
    if (track->depth > 0)
        assert_true(end == UINT64_MAX || end <= track->ends[track->depth - 1]);
    assert_true(track->depth < DEPTH);
    track->ends[track->depth++] = end;
    track->slices++;
}

static void end_slice(struct seen *track, uint64_t time)
{
    while (track->depth > 0 && track->ends[track->depth - 1] != UINT64_MAX) {
        assert_true(track->ends[track->depth - 1] <= time);
        track->depth--;
    }
    assert_true(track->depth > 0);
    track->depth--;
}

static void check_name(struct tracks *tracks, const json_t *event)
{
    const json_t *args = json_object_get(event, "args");
    uint64_t pid = number_of(event, "pid"), tid = number_of(event, "tid");
    if (strcmp(text_of(event, "name"), "process_name") == 0)
        (void)snprintf(tracks->process[pid], sizeof tracks->process[pid], "%s", text_of(args, "name"));
    if (strcmp(text_of(event, "name"), "thread_name") != 0)
        return;
    struct seen *track = &tracks->of[tid];
    assert_string_equal(track->name, ""); /* each track has a number of its own */
    (void)snprintf(track->name, sizeof track->name, "%s", text_of(args, "name"));
    memcpy(track->process, tracks->process[pid], sizeof track->process);
    assert_string_not_equal(track->process, "");
}

static void check_event(struct tracks *tracks, const json_t *event)
{
    char phase = phase_of(event);
    assert_true(number_of(event, "pid") < TRACKS);
    if (phase == 'M') {
        check_name(tracks, event);
        return;
    }
    bool async = phase == 'b' || phase == 'e' || phase == 'n';
    uint64_t number = number_of(event, async ? "id" : "tid"), time = time_of(event, "ts");
    assert_true(number < TRACKS);
    struct seen *track = &tracks->of[number];
    assert_true(time >= track->last);
    track->last = time;
    assert_int_equal(async, track->name[0] == '\0'); /* ids and tracks share no numbers */
    if (async)
        assert_string_not_equal(text_of(event, "cat"), "");
    switch (phase) {
    case 'X': begin_slice(track, time, time + time_of(event, "dur")); break;
    case 'b':
        assert_int_equal(track->depth, 0); /* one at a time for each id */
        /* fall through */
    case 'B':
        begin_slice(track, time, UINT64_MAX);
        tracks->opened++;
        break;
    case 'e':
    case 'E':
        end_slice(track, time);
        tracks->closed++;
        break;
    case 'i': assert_string_equal(text_of(event, "s"), "t"); break;
    case 'n': assert_string_equal(text_of(event, "name"), text_of(event, "cat")); break;
    case 'C': assert_true(json_is_object(json_object_get(event, "args"))); break;
    default: fail_msg("unknown phase %c", phase);
    }
}

/* Everything that must be true of any trace. free() the result. */
static struct tracks *check_events(const json_t *events)
{
    struct tracks *tracks = calloc(1, sizeof *tracks);
    size_t i;
    const json_t *event;
    json_array_foreach(events, i, event) check_event(tracks, event);
    assert_int_equal(tracks->opened, tracks->closed);
    return tracks;
}

static unsigned count(const json_t *events, char phase, const char *prefix)
{
    unsigned found = 0;
    size_t i;
    const json_t *event;
    json_array_foreach(events, i, event) found +=
        phase_of(event) == phase && strncmp(text_of(event, "name"), prefix, strlen(prefix)) == 0;
    return found;
}

static const json_t *find(const json_t *events, char phase, const char *name)
{
    size_t i;
    const json_t *event;
    json_array_foreach(events, i, event)
    {
        if (phase_of(event) == phase && strcmp(text_of(event, "name"), name) == 0)
            return event;
    }
    fail_msg("no event %c %s", phase, name);
    return NULL;
}

static void stalls_regions_and_marks(void **state)
{
    struct trace *trace = trace_new(state, "perfetto", "core.json");
    struct core_track *core = core_track_new(trace_tracks(trace), "host.0");
    const struct core_observer *observer = core_track_observer(core);
    assert_null(observer->retired);
    observer->stalled(observer->context, NULL, CPI_memory, 1000, 3000000001);
    observer->stalled(observer->context, NULL, CPI_branch, 3000000001, 3000000001); /* nothing */
    observer->stalled(observer->context, NULL, CPI_l2, 2000000000, 4000000000);     /* cut at the front */
    observer->stalled(observer->context, NULL, CPI_branch, 5000000000, 18446744073709551615U);
    core_track_region(core, "say \"hi\"\\\n", true, 7);
    core_track_region(core, "say \"hi\"\\\n", true, 8); /* open already */
    core_track_region(core, "inner", true, 9);
    core_track_region(core, "say \"hi\"\\\n", false, 10); /* overlaps: not nested */
    core_track_region(core, "never begun", false, 10);
    core_track_region(NULL, "nowhere", true, 10);
    core_track_mark(core, "caf\xe9", 11);
    core_track_mark(NULL, "nowhere", 11);
    trace_done(trace, 12345678901);
    core_track_region(core, "too late", true, 12345678902);
    core_track_free(core);
    json_t *events = load(state, "core.json");
    struct tracks *tracks = check_events(events);
    assert_int_equal(count(events, 'X', ""), 3);
    assert_int_equal(count(events, 'b', ""), 2);
    assert_int_equal(time_of(find(events, 'X', "l2"), "ts"), 3000000001);
    assert_int_equal(time_of(find(events, 'e', "say \"hi\"\\\n"), "ts"), 10);
    assert_int_equal(time_of(find(events, 'e', "inner"), "ts"), 12345678901); /* at the end of the run */
    assert_int_equal(time_of(find(events, 'i', "caf\xc3\xa9"), "ts"), 11);
    char *text = read_text(state, "core.json");
    assert_non_null(strstr(text, "\"ts\":0.000001,\"dur\":2.999999001"));
    assert_non_null(strstr(text, "\"dur\":0.999999999}"));
    assert_non_null(strstr(text, "\"ts\":5,\"dur\":18446744068.709551615}"));
    free(text);
    free(tracks);
    json_decref(events);
}

/* Misses in order of their ends: A 100-400, B 200-500, C 450-600, D 300-700. A and B overlap: two ids. C
 * comes after A: its id again. D overlaps all of them. */
static void misses_reuse_ids(void **state)
{
    static const struct {
        uint64_t line, asked, now;
        unsigned level;
    } misses[] = {{0x80000040, 100, 400, MEM_LEVEL_L2},
                  {0x80000080, 200, 500, MEM_LEVEL_MEMORY},
                  {0x800000c0, 450, 600, MEM_LEVEL_L2},
                  {0x80000100, 300, 700, MEM_LEVEL_MEMORY}};
    struct trace *trace = trace_new(state, "perfetto", "cache.json");
    struct cache_track *cache = cache_track_new(trace_tracks(trace), "host.0.l1d");
    const struct cache_observer *observer = cache_track_observer(cache);
    for (unsigned i = 0; i < 4; i++)
        observer->fill(observer->context, NULL, misses[i].line, misses[i].asked, misses[i].now,
                       misses[i].level);
    observer->write_back(observer->context, NULL, 0x80000040, 450);
    trace_done(trace, 1000);
    cache_track_free(cache);
    json_t *events = load(state, "cache.json");
    free(check_events(events));
    assert_int_equal(count(events, 'n', "miss"), 3);
    const json_t *first = find(events, 'b', "0x80000040"), *second = find(events, 'b', "0x80000080");
    assert_int_not_equal(number_of(first, "id"), number_of(second, "id"));
    assert_int_equal(number_of(find(events, 'b', "0x800000c0"), "id"), number_of(first, "id"));
    assert_string_equal(text_of(json_object_get(second, "args"), "level"), "memory");
    assert_int_equal(time_of(second, "ts"), 200);
    assert_int_equal(time_of(find(events, 'e', "0x80000080"), "ts"), 500);
    assert_int_equal(time_of(find(events, 'i', "0x80000040"), "ts"), 450);
    json_decref(events);
}

/* Two spans that overlap, each with two steps: the steps nest in their span, on the id of their span. */
static void steps_nest_in_spans(void **state)
{
    struct trace *trace = trace_new(state, "perfetto", "steps.json");
    struct track line = track_line(track_group(trace_tracks(trace), "nucd"), "tasks");
    const struct track_step steps[] = {
        {"wait", 100, 150}, {"run", 150, 400}, {"wait", 300, 301}, {"run", 400, 500}};
    for (unsigned i = 0; i < 2; i++)
        assert_true(track_write(line, &(struct track_record){.kind = TRACK_SPAN,
                                                             .name = i ? "second" : "first",
                                                             .category = "task",
                                                             .from = i ? 300 : 100,
                                                             .to = i ? 500 : 400,
                                                             .steps = &steps[2 * i],
                                                             .step_count = 2}));
    trace_done(trace, 1000);
    json_t *events = load(state, "steps.json");
    static const struct {
        char phase;
        const char *name;
        uint64_t time;
    } wanted[] = {{'b', "first", 100}, {'b', "wait", 100},  {'e', "wait", 150},   {'b', "run", 150},
                  {'e', "run", 400},   {'e', "first", 400}, {'b', "second", 300}, {'b', "wait", 300},
                  {'e', "wait", 301},  {'b', "run", 400},   {'e', "run", 500},    {'e', "second", 500}};
    unsigned found = 0;
    size_t i;
    const json_t *event;
    json_array_foreach(events, i, event)
    {
        if (phase_of(event) != 'b' && phase_of(event) != 'e')
            continue;
        const json_t *span = find(events, 'b', found < 6 ? "first" : "second");
        assert_true(found < 12 && phase_of(event) == wanted[found].phase);
        assert_string_equal(text_of(event, "name"), wanted[found].name);
        assert_int_equal(time_of(event, "ts"), wanted[found].time);
        assert_int_equal(number_of(event, "id"), number_of(span, "id"));
        found++;
    }
    assert_int_equal(found, 12);
    assert_int_not_equal(number_of(find(events, 'b', "first"), "id"),
                         number_of(find(events, 'b', "second"), "id"));
    json_decref(events);
}

/* The file of one read of GDDR5 (1 ns a clock) at cycle 100 that opens row 77 of bank 0.1.2; the run ends at
 * 302.5 ns. */
static json_t *trace_read(void **state, enum dram_page page)
{
    struct dram_config config = one_channel(DRAM_STANDARD_gddr5);
    struct trace *trace = trace_new(state, "perfetto", "read.json");
    config.front_latency = 2500000;
    config.page = page;
    struct dram_track *memory = dram_track_new(trace_tracks(trace), "memory", &config);
    struct rig *rig = rig_new(&config, 1, dram_track_observer(memory));
    rig_until(rig, 100);
    (void)probe_send(rig->probes, MEM_READ, address_of(rig, 1, 2, 77, 5), 32);
    rig_until(rig, 300);
    rig_free(rig);
    trace_done(trace, 302500000);
    dram_track_free(memory);
    return load(state, "read.json");
}

/* With the controller's 2.5 ns in front: ACT at 102.5 ns, RD tRCDRD = 12 clocks later at 114.5, data from tCL
 * = 12 clocks later, 126.5, for tBURST = 2 clocks. The row stays open until the end of the run, or with
 * auto-precharge until tRAS = 28 clocks after the activate (tRTP after the read would be 116.5 only). */
static void one_read_by_hand(void **state)
{
    for (unsigned closed = 0; closed < 2; closed++) {
        json_t *events = trace_read(state, closed ? DRAM_PAGE_CLOSED : DRAM_PAGE_OPEN);
        struct tracks *tracks = check_events(events);
        const json_t *row = find(events, 'B', "row 77"), *data = find(events, 'X', "read 0.1.2");
        assert_int_equal(time_of(row, "ts"), 102500000);
        assert_string_equal(tracks->of[number_of(row, "tid")].name, "bank 0.1.2");
        assert_string_equal(tracks->of[number_of(row, "tid")].process, "memory channel 0");
        assert_int_equal(time_of(find(events, 'B', closed ? "RDA 5" : "RD 5"), "ts"), 114500000);
        assert_int_equal(time_of(data, "ts"), 126500000);
        assert_int_equal(time_of(data, "dur"), 2000000);
        size_t size = json_array_size(events);
        const json_t *column_end = json_array_get(events, size - 2),
                     *row_end = json_array_get(events, size - 1);
        assert_true(phase_of(column_end) == 'E' && phase_of(row_end) == 'E');
        assert_int_equal(time_of(column_end, "ts"), 116500000);
        assert_int_equal(time_of(row_end, "ts"), closed ? 130500000 : 302500000);
        free(tracks);
        json_decref(events);
    }
}

struct expected {
    char phase;
    uint64_t cycle; /* of 1 ns */
};

/* The events of the track with that name are exactly these. */
static void check_track(const json_t *events, const struct tracks *tracks, const char *name,
                        const struct expected *expected, unsigned expected_count)
{
    unsigned found = 0;
    size_t i;
    const json_t *event;
    json_array_foreach(events, i, event)
    {
        if (phase_of(event) == 'M' || strcmp(tracks->of[number_of(event, "tid")].name, name) != 0)
            continue;
        assert_true(found < expected_count);
        assert_int_equal(phase_of(event), expected[found].phase);
        assert_int_equal(time_of(event, "ts"), expected[found].cycle * 1000000);
        found++;
    }
    assert_int_equal(found, expected_count);
}

/* Commands by hand, of GDDR5 with tRTP of 1 clock, less than a burst of 2: what closes a bank ends the column
 * command as well as the row. WRA at 312 closes the row tCWL + tBURST + tWR = 4 + 2 + 12 clocks later. */
static void banks_close_in_every_way(void **state)
{
    static const struct dram_record records[] = {
        {.cycle = 100, .command = DRAM_ACT, .row = 1},
        {.cycle = 112, .command = DRAM_RD, .row = 1, .column = 3},
        {.cycle = 113, .command = DRAM_PRE},
        {.cycle = 130, .command = DRAM_ACT, .row = 2},
        {.cycle = 140, .command = DRAM_ACT, .bank = 1, .row = 9},
        {.cycle = 160, .command = DRAM_PREA},
        {.cycle = 200, .command = DRAM_REF},
        {.cycle = 300, .command = DRAM_ACT, .row = 3},
        {.cycle = 312, .command = DRAM_WRA, .row = 3, .column = 4},
        {.cycle = 400, .command = DRAM_REFB},
    };
    static const struct expected bank0[] = {{'B', 100}, {'B', 112}, {'E', 113}, {'E', 113},
                                            {'B', 130}, {'E', 160}, {'B', 300}, {'B', 312},
                                            {'E', 314}, {'E', 330}, {'X', 400}};
    static const struct expected bank1[] = {{'B', 140}, {'E', 160}}, rank[] = {{'X', 200}};
    static const struct expected bus[] = {{'X', 124}, {'X', 316}};
    struct dram_config config = one_channel(DRAM_STANDARD_gddr5);
    struct trace *trace = trace_new(state, "perfetto", "close.json");
    config.front_latency = 0;
    config.tRTP = 1000000;
    config.tRFCB = 50000000;
    struct dram_track *memory = dram_track_new(trace_tracks(trace), "memory", &config);
    const struct dram_observer *observer = dram_track_observer(memory);
    for (unsigned i = 0; i < sizeof records / sizeof *records; i++)
        observer->command(observer->context, &records[i]);
    trace_done(trace, 500000000);
    dram_track_free(memory);
    json_t *events = load(state, "close.json");
    struct tracks *tracks = check_events(events);
    check_track(events, tracks, "bank 0.0.0", bank0, sizeof bank0 / sizeof *bank0);
    check_track(events, tracks, "bank 0.0.1", bank1, 2);
    check_track(events, tracks, "rank 0", rank, 1);
    check_track(events, tracks, "data bus", bus, 2);
    free(tracks);
    json_decref(events);
}

/* Anything, now and then with a pause, so that rows time out and refreshes pass. */
static void run_random(struct rig *rig, unsigned rounds)
{
    const struct dram_config *config = &rig->memory.common.config;
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < CLIENTS; i++) {
            uint64_t random = rig_random(rig), bytes = dram_config_bytes(config);
            uint64_t address = rig_random(rig) % (random % 3 ? bytes : 8192);
            (void)probe_send(&rig->probes[i], random >> 8 & 1 ? MEM_READ : MEM_WRITE,
                             address - address % config->burst_bytes, config->burst_bytes);
        }
        while (event_queue_step(&rig->queue))
            ;
        rig_until(rig, rig->queue.now / config->tCK + (round % 8 ? 20 : 3000));
    }
}

static unsigned slices_of(const struct tracks *tracks, const char *name)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < TRACKS; i++)
        if (strncmp(tracks->of[i].name, name, strlen(name)) == 0)
            sum += tracks->of[i].slices;
    return sum;
}

static struct dram_config random_config(enum dram_standard standard, enum dram_page page)
{
    struct dram_config config = one_channel(standard);
    config.page = page;
    if (standard == DRAM_STANDARD_hbm1)
        config.refresh = DRAM_REFRESH_BANK;
    if (standard == DRAM_STANDARD_ddr3_1600k) {
        config.ranks = 2;
        (void)strcpy(config.map, "R16 B3 C7 K O6");
    }
    return config;
}

/* Every command of real controllers: slices nest, and there are as many as the counters say. */
static void every_standard_nests(void **state)
{
    for (enum dram_standard standard = 0; standard < DRAM_STANDARDS; standard++)
        for (enum dram_page page = DRAM_PAGE_OPEN; page <= DRAM_PAGE_TIMEOUT; page++) {
            struct dram_config config = random_config(standard, page);
            struct trace *trace = trace_new(state, "perfetto", "dram.json");
            struct dram_track *memory = dram_track_new(trace_tracks(trace), "memory", &config);
            struct rig *rig = rig_new(&config, CLIENTS, dram_track_observer(memory));
            run_random(rig, 64);
            dram_memory_sync(&rig->memory, rig->queue.now);
            const struct dram_counters counters = rig->memory.slices[0].channel.counters;
            trace_done(trace, rig->queue.now);
            dram_track_free(memory);
            json_t *events = load(state, "dram.json");
            struct tracks *tracks = check_events(events);
            assert_true(counters.activates > 50);
            assert_true(counters.refreshes + counters.bank_refreshes > 1);
            assert_int_equal(count(events, 'B', "row "), counters.activates);
            assert_int_equal(count(events, 'B', "RD"), counters.reads);
            assert_int_equal(count(events, 'B', "WR"), counters.writes);
            assert_int_equal(slices_of(tracks, "data bus"), counters.reads + counters.writes);
            assert_int_equal(count(events, 'X', "refresh"), counters.refreshes + counters.bank_refreshes);
            assert_int_equal(slices_of(tracks, "rank "), counters.refreshes);
            free(tracks);
            json_decref(events);
            rig_free(rig);
        }
}

/* A full trace is still a whole one: what has begun ends, and the user is told. */
static void a_limit_keeps_it_whole(void **state)
{
    struct dram_config config = random_config(DRAM_STANDARD_ddr3_1600k, DRAM_PAGE_OPEN);
    for (unsigned limit = 0; limit < 40; limit++) {
        struct trace *trace = trace_new(state, "perfetto", "limit.json");
        struct error err;
        trace_set_limit(trace, limit);
        struct dram_track *memory = dram_track_new(trace_tracks(trace), "memory", &config);
        struct core_track *core = core_track_new(trace_tracks(trace), "host.0");
        core_track_region(core, "roi", true, 0);
        struct rig *rig = rig_new(&config, CLIENTS, dram_track_observer(memory));
        run_random(rig, 4);
        rig_free(rig);
        core_track_region(core, "roi", false, 1000);
        assert_true(trace_warning(trace, &err));
        trace_done(trace, 5000000);
        core_track_free(core);
        dram_track_free(memory);
        json_t *events = load(state, "limit.json");
        free(check_events(events));
        assert_int_equal(count(events, 'b', "") + count(events, 'B', "") + count(events, 'X', ""), limit);
        if (limit > 0)
            assert_int_equal(time_of(find(events, 'e', "roi"), "ts"), 1000);
        json_decref(events);
    }
}

/* A part of which nothing in emu/debug knows: a lift that stops, overlaps with itself in its calls, and counts passengers. */
static void any_part_has_tracks(void **state)
{
    struct trace *trace = trace_new(state, "perfetto", "lift.json");
    struct track_sink *sink = trace_tracks(trace);
    const struct track lift = track_group(sink, "lift"), doors = track_line(lift, "doors");
    const struct track_value from[] = {{"floor", NULL, 7}, {"by", "ann", 0}};
    assert_true(track_slice(doors, "open", 1000, 3000));
    assert_true(track_begin(doors, "close", 4000));
    assert_true(track_instant(doors, "obstacle", 4500));
    track_end(doors, 5000);
    assert_true(track_counter(track_line(lift, "load"), "passengers", 5500, 3));
    for (unsigned i = 0; i < 2; i++) /* overlap */
        assert_true(track_write(lift, &(struct track_record){.kind = TRACK_SPAN,
                                                             .name = "up",
                                                             .category = "call",
                                                             .from = 100 + i,
                                                             .to = 6000 + i,
                                                             .values = from,
                                                             .value_count = 2}));
    trace_done(trace, 7000);
    json_t *events = load(state, "lift.json");
    struct tracks *tracks = check_events(events);
    assert_int_equal(slices_of(tracks, "doors"), 2);
    assert_int_equal(count(events, 'n', "call"), 2);
    assert_int_equal(count(events, 'b', "up"), 2);
    const json_t *call = json_object_get(find(events, 'b', "up"), "args"),
                 *load = find(events, 'C', "passengers");
    assert_int_equal(number_of(call, "floor"), 7);
    assert_string_equal(text_of(call, "by"), "ann");
    assert_int_equal(number_of(json_object_get(load, "args"), "value"), 3);
    assert_int_equal(time_of(load, "ts"), 5500);
    free(tracks);
    json_decref(events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stalls_regions_and_marks, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(misses_reuse_ids, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(steps_nest_in_spans, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(one_read_by_hand, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(banks_close_in_every_way, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(every_standard_nests, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(any_part_has_tracks, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_limit_keeps_it_whole, folder_make, folder_remove),
    };
    return cmocka_run_group_tests_name("Chrome traces", tests, NULL, NULL);
}
