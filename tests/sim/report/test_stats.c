/* Statistics: regions that nest, overlap and repeat; resets, dumps, and the JSON output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "emu/sim/report/stats.h"
#include "tests/sim/value.h"

struct machine {
    struct stats *stats;
    uint64_t instructions, bytes;
};

static uint64_t twice(const void *context)
{
    return 2 * *(const uint64_t *)context;
}

static int set_up(void **state)
{
    struct machine *machine = calloc(1, sizeof *machine);
    machine->stats = stats_new();
    const struct scope hart = scope_at(NULL, "hart", 0);
    stats_counter(machine->stats, hart, "instructions", &machine->instructions, "instructions",
                  "Instructions that have retired");
    stats_counter(machine->stats, scope_root(), "memory.bytes", &machine->bytes, "bytes",
                  "Bytes that were moved");
    stats_computed(machine->stats, hart, "twice", twice, &machine->instructions, "instructions", "Doubled");
    *state = machine;
    return 0;
}

static int tear_down(void **state)
{
    struct machine *machine = *state;
    stats_free(machine->stats);
    free(machine);
    return 0;
}

static json_t *parsed(struct stats *stats)
{
    char *text = stats_json(stats);
    json_error_t why;
    json_t *all = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    assert_non_null(all);
    free(text);
    return all;
}

static json_int_t number(const json_t *all, const char *part, const char *region, const char *name)
{
    json_t *object = json_object_get(all, part);
    if (region)
        object = json_object_get(object, region);
    json_t *value = json_object_get(object, name);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static void totals_with_units(void **state)
{
    struct machine *machine = *state;
    machine->instructions = 1234;
    machine->bytes = INT64_MAX; /* exact: more than a double can hold */
    json_t *all = parsed(machine->stats);
    assert_int_equal(number(all, "total", NULL, "hart.0.instructions"), 1234);
    assert_int_equal(number(all, "total", NULL, "hart.0.twice"), 2468);
    assert_true(number(all, "total", NULL, "memory.bytes") == INT64_MAX);
    json_t *row = json_object_get(json_object_get(all, "statistics"), "memory.bytes");
    assert_string_equal(json_string_value(json_object_get(row, "unit")), "bytes");
    assert_string_equal(json_string_value(json_object_get(row, "meaning")), "Bytes that were moved");
    assert_null(json_object_get(all, "dropped"));
    json_decref(all);
}

static void beyond_63_bits_is_text(void **state)
{
    struct machine *machine = *state;
    machine->bytes = UINT64_MAX;
    stats_fact_number(machine->stats, "seed", UINT64_C(1) << 63);
    json_t *all = parsed(machine->stats);
    json_t *value = json_object_get(json_object_get(all, "total"), "memory.bytes");
    assert_string_equal(json_string_value(value), "18446744073709551615");
    value = json_object_get(json_object_get(all, "run"), "seed");
    assert_string_equal(json_string_value(value), "9223372036854775808");
    json_decref(all);
}

static void regions_overlap_nest_and_repeat(void **state)
{
    struct machine *machine = *state;
    struct stats *stats = machine->stats;
    machine->instructions = 10;
    assert_true(stats_region_begin(stats, "outer"));
    machine->instructions = 20;
    assert_true(stats_region_begin(stats, "inner"));
    assert_false(stats_region_begin(stats, "inner")); /* open already: restarts nothing */
    machine->instructions = 25;
    assert_true(stats_region_begin(stats, "overlap"));
    assert_true(stats_region_end(stats, "inner")); /* 5 */
    machine->instructions = 40;
    assert_true(stats_region_end(stats, "outer"));  /* 30 */
    assert_false(stats_region_end(stats, "outer")); /* closed already */
    assert_false(stats_region_end(stats, "never"));
    machine->instructions = 100;
    assert_true(stats_region_begin(stats, "inner"));
    machine->instructions = 107;
    json_t *all = parsed(stats); /* closes inner (7 more) and overlap (82) */
    assert_int_equal(number(all, "regions", "outer", "hart.0.instructions"), 30);
    assert_int_equal(number(all, "regions", "outer", "hart.0.twice"), 60);
    assert_int_equal(number(all, "regions", "outer", "entries"), 1);
    assert_int_equal(number(all, "regions", "inner", "hart.0.instructions"), 12);
    assert_int_equal(number(all, "regions", "inner", "entries"), 2);
    assert_int_equal(number(all, "regions", "overlap", "hart.0.instructions"), 82);
    assert_int_equal(json_object_size(json_object_get(all, "regions")), 3);
    assert_int_equal(number(all, "total", NULL, "hart.0.instructions"), 107);
    json_decref(all);
}

static void reset_zeroes_run_and_open_regions(void **state)
{
    struct machine *machine = *state;
    struct stats *stats = machine->stats;
    assert_true(stats_region_begin(stats, "closed"));
    assert_true(stats_region_begin(stats, "open"));
    machine->instructions = 50;
    assert_true(stats_region_end(stats, "closed"));
    assert_true(stats_region_end(stats, "open"));
    assert_true(stats_region_begin(stats, "open"));
    machine->instructions = 60;
    assert_true(stats_dump(stats));
    stats_reset(stats);
    machine->instructions = 63;
    assert_true(stats_dump(stats));
    machine->instructions = 64;
    json_t *all = parsed(stats);
    assert_int_equal(number(all, "total", NULL, "hart.0.instructions"), 4);
    assert_int_equal(number(all, "regions", "open", "hart.0.instructions"), 4);
    assert_int_equal(number(all, "regions", "open", "entries"), 1);
    assert_int_equal(number(all, "regions", "closed", "hart.0.instructions"), 50);
    json_t *dumps = json_object_get(all, "dumps");
    assert_int_equal(json_array_size(dumps), 2);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(dumps, 0), "hart.0.instructions")),
                     60);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(dumps, 1), "hart.0.instructions")), 3);
    json_decref(all);
}

static void count_reset(void *context)
{
    unsigned *resets = context;
    ++*resets;
}

static void listeners_are_told_of_resets(void **state)
{
    struct machine *machine = *state;
    unsigned first = 0, second = 0;
    stats_on_reset(machine->stats, count_reset, &first);
    stats_reset(machine->stats);
    stats_on_reset(machine->stats, count_reset, &second);
    stats_reset(machine->stats);
    assert_int_equal(first, 2);
    assert_int_equal(second, 1);
}

static void what_a_program_can_ask_for_is_bounded(void **state)
{
    struct machine *machine = *state;
    char name[32];
    for (unsigned i = 0; i < STATS_REGIONS; i++) {
        (void)snprintf(name, sizeof name, "region-%u", i);
        assert_true(stats_region_begin(machine->stats, name));
    }
    assert_false(stats_region_begin(machine->stats, "one too many"));
    assert_false(stats_region_end(machine->stats, "one too many"));
    for (unsigned i = 0; i < STATS_DUMPS; i++)
        assert_true(stats_dump(machine->stats));
    assert_false(stats_dump(machine->stats));
    assert_false(stats_dump(machine->stats));
    json_t *all = parsed(machine->stats);
    assert_int_equal(number(all, "dropped", NULL, "regions"), 1);
    assert_int_equal(number(all, "dropped", NULL, "dumps"), 2);
    json_decref(all);
}

static double real(const json_t *all, const char *part, const char *region, const char *name)
{
    json_t *object = json_object_get(all, part);
    if (region)
        object = json_object_get(object, region);
    json_t *value = json_object_get(object, name);
    assert_true(json_is_real(value));
    return json_real_value(value);
}

/* 10 / 4 in all; 6 / 3 in the region, which excludes what came before it; 0 / 0 is null. */
static void ratios_are_of_what_is_written(void **state)
{
    struct machine *machine = *state;
    struct stats *stats = machine->stats;
    const struct stats_operand bytes = {.value = &machine->bytes};
    const struct stats_operand doubled = {.read = twice, .context = &machine->instructions};
    const struct scope memory = scope_enter(NULL, "memory");
    stats_ratio(stats, memory, "each", bytes, (struct stats_operand){.value = &machine->instructions},
                "bytes/instruction", "Bytes of an instruction");
    stats_ratio(stats, memory, "half", bytes, doubled, "bytes/instruction", "Half of them");
    machine->bytes = 4;
    machine->instructions = 1;
    assert_true(stats_region_begin(stats, "empty"));
    assert_true(stats_region_end(stats, "empty"));
    assert_true(stats_region_begin(stats, "roi"));
    machine->bytes = 10;
    machine->instructions = 4;
    assert_true(stats_region_end(stats, "roi"));
    assert_int_equal(stats_value(stats, "memory.half"), 1);
    json_t *all = parsed(stats);
    assert_true(real(all, "total", NULL, "memory.each") == 2.5);
    assert_true(real(all, "total", NULL, "memory.half") == 1.25);
    assert_true(real(all, "regions", "roi", "memory.each") == 2);
    assert_true(json_is_null(
        json_object_get(json_object_get(json_object_get(all, "regions"), "empty"), "memory.each")));
    assert_int_equal(json_object_size(json_object_get(all, "total")), 5); /* operands are not statistics */
    assert_int_equal(json_object_size(json_object_get(all, "statistics")), 5);
    json_t *row = json_object_get(json_object_get(all, "statistics"), "memory.each");
    assert_string_equal(json_string_value(json_object_get(row, "unit")), "bytes/instruction");
    json_decref(all);
    machine->bytes = 100;
    stats_reset(stats);
    machine->bytes = 107;
    machine->instructions += 2;
    all = parsed(stats);
    assert_true(real(all, "total", NULL, "memory.each") == 3.5);
    json_decref(all);
}

/* The buckets of a histogram, against a search for the first bound that is not below the value. */
static void check_buckets(struct histogram histogram, const uint64_t *bounds)
{
    uint64_t wanted[HISTOGRAM_BUCKETS + 1] = {0}, samples = 0;
    for (uint64_t value = 0; value < 300; value++, samples++) {
        uint32_t bucket = 0;
        while (bucket < histogram.count && value > bounds[bucket])
            bucket++;
        wanted[bucket]++;
        histogram_add(&histogram, value);
    }
    histogram_add(&histogram, UINT64_MAX);
    wanted[histogram.count]++;
    for (uint32_t i = 0; i <= histogram.count; i++)
        assert_true(histogram.buckets[i] == wanted[i]);
    for (uint32_t i = 0; i < histogram.count; i++)
        assert_true(histogram_most(&histogram, i) == bounds[i]);
    assert_true(histogram_samples(&histogram) == samples + 1);
    assert_true(histogram.sum == 299 * 300 / 2 - 1); /* and 2^64-1, modulo 2^64 */
}

static void histograms_have_buckets(void **state)
{
    (void)state;
    static const uint64_t powers[] = {1, 2, 4, 8, 16, 32, 64, 128}, steps[] = {25, 50, 75, 100}, one[] = {1},
                          from16[] = {16, 32, 64, 128};
    check_buckets(histogram_log2(0, 8), powers);
    check_buckets(histogram_linear(25, 4), steps);
    check_buckets(histogram_log2(0, 1), one);
    check_buckets(histogram_log2(4, 4), from16);
}

static void histograms_are_counters(void **state)
{
    struct machine *machine = *state;
    struct stats *stats = machine->stats;
    struct histogram delay = histogram_linear(10, 2), lines = histogram_log2(0, 3);
    const struct scope l1d = scope_enter(NULL, "l1d");
    lines.bounded = true;
    stats_histogram(stats, l1d, "delay", &delay, "clocks", "misses", "Delay of misses");
    stats_histogram(stats, l1d, "lines", &lines, "lines", "accesses", "Lines of accesses");
    histogram_add(&delay, 3);
    histogram_add(&delay, 20);
    assert_true(stats_region_begin(stats, "roi"));
    histogram_add(&delay, 10);
    histogram_add(&delay, 11);
    histogram_add(&delay, 21);
    histogram_add(&lines, 3);
    json_t *all = parsed(stats);
    assert_int_equal(number(all, "total", NULL, "l1d.delay.10"), 2);
    assert_int_equal(number(all, "total", NULL, "l1d.delay.20"), 2);
    assert_int_equal(number(all, "total", NULL, "l1d.delay.more"), 1);
    assert_int_equal(number(all, "regions", "roi", "l1d.delay.10"), 1);
    assert_int_equal(number(all, "regions", "roi", "l1d.delay.20"), 1);
    assert_true(real(all, "total", NULL, "l1d.delay.mean") == 13);
    assert_true(real(all, "regions", "roi", "l1d.delay.mean") == 14);
    assert_int_equal(number(all, "total", NULL, "l1d.lines.4"), 1);
    assert_null(json_object_get(json_object_get(all, "total"), "l1d.lines.more"));
    static const struct {
        const char *name, *unit, *meaning;
    } rows[] = {
        {"l1d.delay.10", "misses", "Delay of misses: at most 10"},
        {"l1d.delay.20", "misses", "Delay of misses: 11 to 20"},
        {"l1d.delay.more", "misses", "Delay of misses: more than 20"},
        {"l1d.delay.mean", "clocks", "Delay of misses"},
        {"l1d.lines.2", "accesses", "Lines of accesses: 2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *row = json_object_get(json_object_get(all, "statistics"), rows[i].name);
        assert_string_equal(json_string_value(json_object_get(row, "unit")), rows[i].unit);
        assert_string_equal(json_string_value(json_object_get(row, "meaning")), rows[i].meaning);
    }
    json_decref(all);
}

static void facts_of_any_bytes(void **state)
{
    struct machine *machine = *state;
    stats_fact_text(machine->stats, "program", "fir\"st\n");
    stats_fact_text(machine->stats, "program", "caf\xe9"); /* Latin-1, not UTF-8; replaces the first */
    stats_fact_number(machine->stats, "exit_status", 3);
    stats_host_number(machine->stats, "seconds", 0.25);
    stats_host_number(machine->stats, "mips", 1.0 / 0.0);
    assert_true(stats_region_begin(machine->stats, "\xff\"\\"));
    json_t *all = parsed(machine->stats);
    assert_string_equal(json_string_value(json_object_get(json_object_get(all, "run"), "program")),
                        "caf\\xe9");
    assert_int_equal(number(all, "run", NULL, "exit_status"), 3);
    assert_true(json_real_value(json_object_get(json_object_get(all, "host"), "seconds")) == 0.25);
    assert_true(json_is_null(json_object_get(json_object_get(all, "host"), "mips")));
    assert_int_equal(number(all, "regions", "\\xff\"\\", "entries"), 1);
    json_decref(all);
}

static void order_is_that_of_registration(void **state)
{
    struct machine *machine = *state;
    char *text = stats_json(machine->stats);
    const char *total = strstr(text, "\"total\"");
    const char *first = strstr(total, "hart.0.instructions");
    const char *second = strstr(total, "memory.bytes");
    const char *third = strstr(total, "hart.0.twice");
    assert_true(first && first < second && second < third);
    char *again = stats_json(machine->stats);
    assert_string_equal(text, again);
    free(text);
    free(again);
}

static void unwritable_output_is_an_error(void **state)
{
    struct machine *machine = *state;
    struct error err;
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_false(stats_write_json(machine->stats, full, &err));
    assert_non_null(strstr(err.text, "No space left"));
    (void)fclose(full);
}

#define STATS_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STATS_TEST(totals_with_units),
        STATS_TEST(beyond_63_bits_is_text),
        STATS_TEST(regions_overlap_nest_and_repeat),
        STATS_TEST(reset_zeroes_run_and_open_regions),
        STATS_TEST(listeners_are_told_of_resets),
        STATS_TEST(ratios_are_of_what_is_written),
        cmocka_unit_test(histograms_have_buckets),
        STATS_TEST(histograms_are_counters),
        STATS_TEST(what_a_program_can_ask_for_is_bounded),
        STATS_TEST(facts_of_any_bytes),
        STATS_TEST(order_is_that_of_registration),
        STATS_TEST(unwritable_output_is_an_error),
    };
    return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
