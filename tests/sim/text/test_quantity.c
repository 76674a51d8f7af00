/* Quantities: exact conversion both ways, extremes, and every message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/sim/text/quantity.h"
#include "tests/isa/random.h"

struct conversion {
    enum quantity kind;
    const char *text;
    uint64_t value;
    const char *printed; /* NULL: as the text */
};

static const struct conversion conversions[] = {
    {QUANTITY_COUNT, "0", 0, NULL},
    {QUANTITY_COUNT, "18446744073709551615", UINT64_MAX, NULL},
    {QUANTITY_COUNT, "0x10", 16, "16"},
    {QUANTITY_COUNT, "010", 10, "10"},
    {QUANTITY_COUNT, " 7 ", 7, "7"},
    {QUANTITY_ADDRESS, "0x80000000", 0x80000000, NULL},
    {QUANTITY_ADDRESS, "0xFfffFFFFffffFFFF", UINT64_MAX, "0xffffffffffffffff"},
    {QUANTITY_ADDRESS, "4096", 4096, "0x1000"},
    {QUANTITY_SIZE, "0 B", 0, NULL},
    {QUANTITY_SIZE, "4096 B", 4096, "4 KiB"},
    {QUANTITY_SIZE, "4097 B", 4097, NULL},
    {QUANTITY_SIZE, "32 KiB", 32768, NULL},
    {QUANTITY_SIZE, "32KiB", 32768, "32 KiB"},
    {QUANTITY_SIZE, "1 MiB", 1048576, NULL},
    {QUANTITY_SIZE, "1.5 GiB", 1610612736, "1536 MiB"},
    {QUANTITY_SIZE, "0.5 KiB", 512, "512 B"},
    {QUANTITY_SIZE, "16777215.9990234375 TiB", UINT64_C(16777216) * (UINT64_C(1) << 40) - (UINT64_C(1) << 30),
     "17179869183 GiB"},
    {QUANTITY_SIZE, "18446744073709551615 B", UINT64_MAX, NULL},
    {QUANTITY_SIZE, "1.000000000000000000000000000000 KiB", 1024, "1 KiB"},
    {QUANTITY_TIME, "1 fs", 1, NULL},
    {QUANTITY_TIME, "13.75 ns", 13750000, NULL},
    {QUANTITY_TIME, "7.8 us", UINT64_C(7800000000), NULL},
    {QUANTITY_TIME, "0.1 ns", 100000, "100 ps"},
    {QUANTITY_TIME, "1.000000000000001 s", UINT64_C(1000000000000001), NULL},
    {QUANTITY_TIME, "18446.744073709551615 s", UINT64_MAX, NULL},
    {QUANTITY_TIME, "64 ms", UINT64_C(64000000000000), NULL},
    {QUANTITY_FREQUENCY, "1.4 GHz", 1400000000, NULL},
    {QUANTITY_FREQUENCY, "924 MHz", 924000000, NULL},
    {QUANTITY_FREQUENCY, "1.000000001 GHz", 1000000001, NULL},
    {QUANTITY_FREQUENCY, "32.768 kHz", 32768, NULL},
    {QUANTITY_FREQUENCY, "50 Hz", 50, NULL},
    {QUANTITY_ENERGY, "10.2 pJ", 10200, NULL},
    {QUANTITY_ENERGY, "828000 fJ", 828000, "828 pJ"},
    {QUANTITY_ENERGY, "0.011 uJ", 11000000, "11 nJ"},
    {QUANTITY_POWER, "675000 uW", 675000, "675 mW"},
    {QUANTITY_POWER, "1.5 W", 1500000, NULL},
    {QUANTITY_BANDWIDTH, "80 GB/s", UINT64_C(80000000000), NULL},
    {QUANTITY_BANDWIDTH, "12.8 GB/s", UINT64_C(12800000000), NULL},
    {QUANTITY_BANDWIDTH, "1 GiB/s", 1073741824, "1.073741824 GB/s"},
};

static void converts_exactly_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; i++) {
        const struct conversion *row = &conversions[i];
        struct error err = {.text = ""};
        uint64_t value = 42, again = 42;
        char printed[QUANTITY_TEXT];
        if (!quantity_parse(row->kind, row->text, &value, &err))
            fail_msg("%s: %s", row->text, err.text);
        assert_true(value == row->value);
        quantity_format(row->kind, value, printed);
        assert_string_equal(printed, row->printed ? row->printed : row->text);
        assert_true(quantity_parse(row->kind, printed, &again, &err));
        assert_true(again == value);
    }
}

/* Format and parse must be inverse for any value of any kind. */
static void round_trips_random_values(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        random_shift(&random);
        for (int kind = 0; kind < QUANTITY_KINDS; kind++) {
            uint64_t value = random >> (i % 64), again;
            char text[QUANTITY_TEXT];
            struct error err;
            quantity_format((enum quantity)kind, value, text);
            assert_true(quantity_parse((enum quantity)kind, text, &again, &err));
            assert_true(again == value);
        }
    }
}

struct refusal {
    enum quantity kind;
    const char *text;
    const char *message;
};

static const struct refusal refusals[] = {
    {QUANTITY_COUNT, "", "'' is not a whole number such as 16"},
    {QUANTITY_COUNT, "-1", "'-1' is not a whole number such as 16"},
    {QUANTITY_COUNT, "1.5", "'1.5' is not a whole number such as 16"},
    {QUANTITY_COUNT, "1e3", "'1e3' is not a whole number such as 16"},
    {QUANTITY_COUNT, "16 KiB", "'16 KiB' is not a whole number such as 16"},
    {QUANTITY_COUNT, "0x", "'0x' is not a whole number such as 16"},
    {QUANTITY_COUNT, "18446744073709551616",
     "'18446744073709551616' is too large; the limit is 18446744073709551615"},
    {QUANTITY_COUNT, "0x10000000000000000",
     "'0x10000000000000000' is too large; the limit is 18446744073709551615"},
    {QUANTITY_ADDRESS, "top", "'top' is not an address such as 0x80000000"},
    {QUANTITY_SIZE, "4096", "'4096' has no unit; write a size such as 32 KiB (units: B, KiB, MiB, GiB, TiB)"},
    {QUANTITY_SIZE, "32 KB",
     "'32 KB' has the unknown unit 'KB' (did you mean 'KiB'?); write a size such as 32 KiB (units: B, KiB, "
     "MiB, "
     "GiB, TiB)"},
    {QUANTITY_SIZE, "1 gib",
     "'1 gib' has the unknown unit 'gib' (did you mean 'GiB'?); write a size such as 32 KiB (units: B, KiB, "
     "MiB, "
     "GiB, TiB)"},
    {QUANTITY_SIZE, "1k",
     "'1k' has the unknown unit 'k' (did you mean 'KiB'?); write a size such as 32 KiB (units: B, KiB, MiB, "
     "GiB, TiB)"},
    {QUANTITY_SIZE, "3 parsec",
     "'3 parsec' has the unknown unit 'parsec'; write a size such as 32 KiB (units: B, KiB, MiB, GiB, TiB)"},
    {QUANTITY_SIZE, "0x10 KiB",
     "'0x10 KiB' has the unknown unit 'x10 KiB'; write a size such as 32 KiB (units: B, KiB, MiB, GiB, TiB)"},
    {QUANTITY_SIZE, "KiB", "'KiB' is not a size such as 32 KiB (units: B, KiB, MiB, GiB, TiB)"},
    {QUANTITY_SIZE, "1. KiB", "'1. KiB' is not a size such as 32 KiB (units: B, KiB, MiB, GiB, TiB)"},
    {QUANTITY_SIZE, "0.3 B", "'0.3 B' is not a whole number of bytes"},
    {QUANTITY_SIZE, "0.0001 KiB", "'0.0001 KiB' is not a whole number of bytes"},
    {QUANTITY_SIZE, "16777216 TiB", "'16777216 TiB' is too large; the limit is 18446744073709551615 bytes"},
    {QUANTITY_TIME, "0.1 fs", "'0.1 fs' is not a whole number of femtoseconds"},
    {QUANTITY_TIME, "0.0000000000000000001 s",
     "'0.0000000000000000001 s' is not a whole number of femtoseconds"},
    {QUANTITY_TIME, "18446.744073709551616 s",
     "'18446.744073709551616 s' is too large; the limit is 18446744073709551615 femtoseconds"},
    {QUANTITY_TIME, "1 min",
     "'1 min' has the unknown unit 'min'; write a time such as 13.75 ns (units: fs, ps, ns, us, "
     "ms, s)"},
    {QUANTITY_FREQUENCY, "1.4 ghz",
     "'1.4 ghz' has the unknown unit 'ghz' (did you mean 'GHz'?); write a frequency such as 1.4 GHz (units: "
     "Hz, kHz, "
     "MHz, GHz)"},
    {QUANTITY_FREQUENCY, "0.5 Hz", "'0.5 Hz' is not a whole number of hertz"},
    {QUANTITY_BANDWIDTH, "80 GBps",
     "'80 GBps' has the unknown unit 'GBps' (did you mean 'GB/s'?); write a bandwidth such as 80 GB/s "
     "(units: B/s, "
     "kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s)"},
    {QUANTITY_COUNT, "1\n2", "'1?2' is not a whole number such as 16"},
};

static void refuses_with_the_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct error err = {.text = ""};
        uint64_t value;
        assert_false(quantity_parse(refusals[i].kind, refusals[i].text, &value, &err));
        assert_string_equal(err.text, refusals[i].message);
    }
}

static void long_texts_are_cut(void **state)
{
    (void)state;
    char text[5000];
    struct error err;
    uint64_t value;
    memset(text, '9', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_false(quantity_parse(QUANTITY_SIZE, text, &value, &err));
    assert_true(strlen(err.text) < 200);
    text[1] = ' ';
    assert_false(quantity_parse(QUANTITY_SIZE, text, &value, &err));
    assert_true(strlen(err.text) < 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converts_exactly_both_ways),
        cmocka_unit_test(round_trips_random_values),
        cmocka_unit_test(refuses_with_the_message),
        cmocka_unit_test(long_texts_are_cut),
    };
    return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
