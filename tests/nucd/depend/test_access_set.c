/* Sets of lines, and the dependency table that compares them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/nucd/depend/depend.h"
#include "tests/isa/random.h"

enum { LINES = 64, ROUNDS = 400 };

static uint64_t random_state = 1;

static uint64_t next(void)
{
    random_shift(&random_state);
    return random_state;
}

/* Fills in the set with the lines whose bits are set. */
static void fill(struct nucd_lines *lines, uint64_t mask)
{
    for (unsigned i = 0; i < LINES; i++)
        if (mask >> i & 1)
            nucd_lines_append(lines, (uint64_t)i * NUCD_LINE);
}

static void lines_are_found_like_bits(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct nucd_access_set *set = calloc(1, sizeof *set);
        uint64_t mask = next() & next();
        fill(&set->in, mask);
        assert_int_equal(set->in.count,
                         __builtin_popcountll(mask & ~(mask << 1))); /* runs of adjacent lines */
        for (int i = 0; i < 200; i++) {
            uint64_t first = next() % (LINES * NUCD_LINE), last = first + next() % 300;
            bool touches = false;
            for (uint64_t byte = first; byte <= last; byte++)
                touches |= byte / NUCD_LINE < LINES && (mask >> byte / NUCD_LINE & 1);
            assert_int_equal(nucd_lines_touch(&set->in, first, last), touches);
        }
        nucd_access_set_free(set);
    }
}

/* Two tasks conflict if one writes a line that the other reads or writes; declared ranges do not matter. A task of which
 * the lines are not known conflicts by its ranges. */
static void known_lines_count_in_place_of_ranges(void **state)
{
    const struct nucd_task everything = {.memory.out = {.count = 1, .range = {{0, LINES * NUCD_LINE - 1}}}};
    unsigned conflicts = 0, none = 0;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct nucd_depend table;
        struct nucd_access_set *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
        uint64_t few = next() & next() & next();
        uint64_t in[2] = {next() & next() & few, next() & next() & next()},
                 out[2] = {next() & next() & next() & few, next() & next() & next() & next()};
        fill(&a->in, in[0]);
        fill(&a->out, out[0]);
        fill(&b->in, in[1]);
        fill(&b->out, out[1]);
        bool conflict = (out[0] & (in[1] | out[1])) || (in[0] & out[1]);
        conflicts += conflict;
        none += !conflict;
        nucd_depend_init(&table, 4, NUCD_LINE);
        (void)nucd_depend_add(&table, &everything, a);
        assert_int_equal(nucd_depend_blocked(&table, nucd_depend_add(&table, &everything, b)), conflict);
        assert_int_equal(nucd_depend_blocked(&table, nucd_depend_add(&table, &everything, NULL)),
                         (in[0] | out[0] | in[1] | out[1]) != 0);
        nucd_access_set_free(a);
        nucd_access_set_free(b);
    }
    assert_true(conflicts > ROUNDS / 10 && none > ROUNDS / 10);
}

/* Accesses of the host wait for tasks that write, or for a store also read, the line. */
static void the_host_waits_for_known_lines(void **state)
{
    const struct nucd_task everything = {.memory.out = {.count = 1, .range = {{0, LINES * NUCD_LINE - 1}}}};
    struct nucd_access_set *set = calloc(1, sizeof *set);
    struct nucd_depend table;
    (void)state;
    fill(&set->in, 1 << 3);
    fill(&set->out, 1 << 5);
    nucd_depend_init(&table, 4, NUCD_LINE);
    int slot = nucd_depend_add(&table, &everything, set);
    for (uint64_t line = 0; line < LINES; line++) {
        uint64_t byte = line * NUCD_LINE + 7;
        assert_int_equal(nucd_depend_load(&table, byte, byte, table.next_age),
                         line == 5 ? slot : NUCD_NO_TASK);
        assert_int_equal(nucd_depend_store(&table, byte, byte, table.next_age),
                         line == 5 || line == 3 ? slot : NUCD_NO_TASK);
    }
    nucd_access_set_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_found_like_bits),
        cmocka_unit_test(known_lines_count_in_place_of_ranges),
        cmocka_unit_test(the_host_waits_for_known_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
