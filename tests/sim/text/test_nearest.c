/* nearest_name(): distances, the threshold, ties, and names of any length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/sim/text/nearest.h"

static const char *const names[] = {"machine", "memory", "stats", "set", "max-insns", "gdb", "log", "lag"};

static const char *nearest(const char *wrong)
{
    return nearest_name(wrong, names, sizeof names / sizeof names[0]);
}

static void finds_each_kind_of_edit(void **state)
{
    (void)state;
    assert_string_equal(nearest("machin"), "machine");   /* missing letter */
    assert_string_equal(nearest("mmachine"), "machine"); /* one too many */
    assert_string_equal(nearest("nemory"), "memory");    /* wrong letter */
    assert_string_equal(nearest("mahcine"), "machine");  /* swapped letters */
    assert_string_equal(nearest("memory"), "memory");
    assert_string_equal(nearest("maxinsns"), "max-insns");
}

static void swap_counts_as_one_edit(void **state)
{
    (void)state;
    assert_string_equal(nearest("gbd"),
                        "gdb");  /* of 3 letters, one may be wrong: two replacements would be too far */
    assert_null(nearest("bgd")); /* two edits */
}

static void keeps_to_the_threshold(void **state)
{
    (void)state;
    static const char *const six[] = {"abcdef"}, *const seven[] = {"abcdefg"};
    assert_non_null(nearest_name("abcdxy", six, 1));    /* 2 of 6 */
    assert_null(nearest_name("abcxyz", six, 1));        /* 3 of 6 */
    assert_non_null(nearest_name("abcdxyz", seven, 1)); /* 3 of 7: a third, rounded up */
    assert_null(nearest_name("abcwxyz", seven, 1));     /* 4 of 7 */
    assert_null(nearest("quantum"));
}

static void ties_go_to_the_earlier_name(void **state)
{
    (void)state;
    assert_string_equal(nearest("lxg"), "log");
}

static void names_that_begin_so_come_first(void **state)
{
    (void)state;
    static const char *const timings[] = {"tRC", "tRCDRD", "tRCDWR", "tRCDRDx"};
    assert_string_equal(nearest_name("tRCD", timings, 4), "tRCDRD");
    assert_string_equal(nearest_name("tRC", timings, 4), "tRC");
    assert_string_equal(nearest_name("tRD", timings, 4), "tRC"); /* no name begins with it */
    static const char *const far[] = {"li", "l10000"};
    assert_string_equal(nearest_name("l1", far, 2), "li"); /* two characters: 4 of 6 are too many edits */
    assert_string_equal(nearest_name("l10", far, 2), "l10000");
    static const char *const standards[] = {"gddr5", "ddr3_1600k", "ddr4_3200", "ddr4_32000"};
    assert_string_equal(nearest_name("ddr4", standards, 4), "ddr4_3200");
    assert_string_equal(nearest_name("gddr4", standards, 4), "gddr5");
}

static void survives_extreme_names(void **state)
{
    (void)state;
    char longest[128], longer[129], *huge = test_malloc(1 << 20);
    const char *const both[] = {longer, longest};
    memset(longest, 'a', 127);
    longest[127] = '\0';
    memset(longer, 'a', 128);
    longer[128] = '\0';
    memset(huge, 'a', (1 << 20) - 1);
    huge[(1 << 20) - 1] = '\0';
    assert_ptr_equal(nearest_name(longest, both, 2), longest);
    assert_null(nearest_name(longer, both, 2));
    assert_null(nearest_name(huge, both, 2));
    assert_null(nearest_name("", both, 2));
    assert_null(nearest_name("set", names, 0));
    test_free(huge);
}

static void hints_end_a_message(void **state)
{
    (void)state;
    char longest[128];
    assert_string_equal(nearest_hint("memroy", names, 8).text, "; did you mean 'memory'?");
    assert_string_equal(nearest_hint("something", names, 8).text, "");
    assert_string_equal(nearest_allowed("gdx", names + 4, 3).text,
                        "; did you mean 'gdb'? Allowed: max-insns, gdb, log");
    assert_string_equal(nearest_allowed("something", names, 2).text, "; allowed: machine, memory");
    memset(longest, 'x', 127);
    longest[127] = '\0';
    const char *const known[] = {longest};
    struct nearest_hint hint = nearest_hint(longest, known, 1);
    assert_int_equal(strlen(hint.text), 127 + strlen("; did you mean ''?"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_each_kind_of_edit),
        cmocka_unit_test(swap_counts_as_one_edit),
        cmocka_unit_test(keeps_to_the_threshold),
        cmocka_unit_test(ties_go_to_the_earlier_name),
        cmocka_unit_test(names_that_begin_so_come_first),
        cmocka_unit_test(survives_extreme_names),
        cmocka_unit_test(hints_end_a_message),
    };
    return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
