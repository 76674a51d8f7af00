/* The policies by which blocks are placed, and tables from files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "emu/simt/grid/placement.h"

enum { MOST = 8, BLOCKS = 16 };

/* Multiprocessors 0 to 3 are one part, 4 and 5 another. */
static const uint32_t parts[MOST] = {0, 0, 0, 0, 1, 1};

static struct placement_setup setup_of(enum placement_policy policy, const bool able[MOST])
{
    static const bool all[MOST] = {true, true, true, true, true, true, true, true};
    return (struct placement_setup){.policy = policy,
                                    .launch = 1,
                                    .blocks = BLOCKS,
                                    .count = 6,
                                    .parts = parts,
                                    .able = able ? able : all};
}

/* Lets multiprocessor `number` take all blocks that it may; writes their numbers as text. */
static const char *taken(struct placement *placement, uint32_t number)
{
    static char text[128];
    uint64_t block;
    size_t length = 0;
    text[0] = '\0';
    while (placement_next(placement, number, &block)) {
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%s%d", length ? " " : "", (int)block);
        placement_take(placement, number);
    }
    return text;
}

/* Multiprocessors that take turns get the blocks in order; the first could take them all. */
static void round_robin_is_open(void **state)
{
    (void)state;
    struct placement_setup setup = setup_of(PLACEMENT_ROUND_ROBIN, NULL);
    struct placement *placement = placement_new(&setup);
    uint64_t block;
    for (uint32_t i = 0; i < 10; i++) {
        assert_true(placement_next(placement, i % 6, &block));
        assert_int_equal(block, i);
        placement_take(placement, i % 6);
    }
    assert_string_equal(taken(placement, 0), "10 11 12 13 14 15");
    for (uint32_t i = 0; i < 6; i++)
        assert_false(placement_next(placement, i, &block));
    placement_free(placement);
}

/* 16 blocks on six: 16 i / 6, rounded down, is the first of multiprocessor i. Without number 2, five share them. */
static void contiguous_divides(void **state)
{
    (void)state;
    static const char *const of_six[] = {"0 1", "2 3 4", "5 6 7", "8 9", "10 11 12", "13 14 15"};
    static const char *const of_five[] = {"0 1 2", "3 4 5", "", "6 7 8", "9 10 11", "12 13 14 15"};
    static const bool able[MOST] = {true, true, false, true, true, true};
    for (unsigned some = 0; some < 2; some++) {
        struct placement_setup setup = setup_of(PLACEMENT_CONTIGUOUS, some ? able : NULL);
        struct placement *placement = placement_new(&setup);
        for (uint32_t i = 0; i < 6; i++)
            assert_string_equal(taken(placement, i), (some ? of_five : of_six)[i]);
        placement_free(placement);
    }
}

/* The part of four gets 16 * 4 / 6 = 10 blocks, the part of two the rest; within a part, they are for any. */
static void modules_are_proportional(void **state)
{
    (void)state;
    struct placement_setup setup = setup_of(PLACEMENT_MODULE, NULL);
    struct placement *placement = placement_new(&setup);
    uint64_t block;
    assert_true(placement_next(placement, 3, &block));
    assert_int_equal(block, 0);
    placement_take(placement, 3);
    assert_string_equal(taken(placement, 1), "1 2 3 4 5 6 7 8 9");
    assert_false(placement_next(placement, 0, &block));
    assert_string_equal(taken(placement, 5), "10 11 12 13 14 15");
    assert_false(placement_next(placement, 4, &block));
    placement_free(placement);
}

static char path[] = "/tmp/test_placement.XXXXXX";

static struct placement_table *read_table(const char *text, struct error *err)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return placement_table_read(path, 6, err);
}

/* Blocks 3 and 9 to 15, which no line names, are for any; so is block 4, whose multiprocessor cannot hold it. The second
 * launch has lines of its own. */
static void tables_are_obeyed(void **state)
{
    (void)state;
    static const bool able[MOST] = {true, true, false, true, true, true};
    struct error err;
    struct placement_table *table =
        read_table("# where blocks run\n5-8 4-5\n0-2\t1 # three\n\n4 2\nlaunch 2\n0-99 3\n", &err);
    assert_non_null(table);
    struct placement_setup setup = setup_of(PLACEMENT_TABLE, able);
    setup.table = table;
    struct placement *placement = placement_new(&setup);
    uint64_t block;
    assert_true(placement_next(placement, 0, &block));
    assert_int_equal(block, 3);
    assert_false(placement_next(placement, 2, &block));
    assert_string_equal(taken(placement, 1), "0 1 2 3 4 9 10 11 12 13 14 15");
    assert_string_equal(taken(placement, 4), "5 6 7 8");
    assert_false(placement_next(placement, 5, &block));
    placement_free(placement);
    setup.launch = 2;
    placement = placement_new(&setup);
    assert_false(placement_next(placement, 1, &block));
    assert_string_equal(taken(placement, 3), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
    placement_free(placement);
    placement_table_free(table);
}

static void bad_tables_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"0 1\n0-x 1\n", ":2: \"0-x\" is not a block or a range of blocks; allowed: such as 4 or 4-7"},
        {"3-2 1\n", ":1: \"3-2\" is not a block or a range of blocks; allowed: such as 4 or 4-7"},
        {"-1 1\n", ":1: \"-1\" is not a block or a range of blocks; allowed: such as 4 or 4-7"},
        {"0 6\n", ":1: \"6\" is not a multiprocessor; allowed: 0 to 5, or a range such as 0-1"},
        {"0 2-6\n", ":1: \"2-6\" is not a multiprocessor; allowed: 0 to 5, or a range such as 0-1"},
        {"\n#\n7\n", ":3: a line consists of blocks and multiprocessors, or of `launch` and a number"},
        {"7 1 2\n", ":1: a line consists of blocks and multiprocessors, or of `launch` and a number"},
        {"launch 0\n", ":1: \"0\" is not the number of a launch; allowed: 1 and more"},
        {"launch 2-3\n", ":1: \"2-3\" is not the number of a launch; allowed: 1 and more"},
        {"0-4 1\n4 2\n", ": block 4 is in two lines; allowed: one for each launch"},
    };
    struct error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(read_table(cases[i].text, &err));
        assert_string_equal(err.text + strlen(path), cases[i].message);
    }
    assert_null(placement_table_read("/nonexistent/table", 6, &err));
    assert_string_equal(err.text,
                        "/nonexistent/table: cannot read the table of blocks: No such file or directory");
    assert_null(placement_table_read("/", 6, &err));
    assert_string_equal(err.text, "/: Is a directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_robin_is_open),      cmocka_unit_test(contiguous_divides),
        cmocka_unit_test(modules_are_proportional), cmocka_unit_test(tables_are_obeyed),
        cmocka_unit_test(bad_tables_are_refused),
    };
    int descriptor = mkstemp(path);
    if (descriptor < 0)
        return 1;
    (void)close(descriptor);
    int status = cmocka_run_group_tests_name("placement of blocks", tests, NULL, NULL);
    (void)unlink(path);
    return status;
}
