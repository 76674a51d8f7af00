/* Offsets of accesses in instances of a block, by hand and against a search through all that was executed before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/sim/alloc.h"
#include "emu/tom/mapping/offsets.h"

enum { LEADER = 0x1000, OTHER = 0x1004 };

static void execute(struct tom_offsets *offsets, struct tom_offsets_led *led, uint64_t pc, uint32_t mask,
                    const uint64_t *address)
{
    const struct warp_report report = {.pc = pc, .mask = mask, .address = address};
    tom_offsets_access(offsets, led, &report);
}

/* Two instances of a loop over two arrays with the same index, then one with another distance. */
static void arrays_with_one_index(void **state)
{
    (void)state;
    struct tom_offsets *offsets = alloc(1, sizeof *offsets);
    for (uint64_t instance = 0; instance < 3; instance++) {
        struct tom_offsets_led led = {.lanes = 0};
        const uint64_t begin = 0x40000 + 0x1000 * instance;
        for (uint64_t round = 0; round < 5; round++) {
            uint64_t a[WARP_LANES], b[WARP_LANES];
            for (unsigned lane = 0; lane < WARP_LANES; lane++) {
                a[lane] = begin + 128 * round + 4 * lane;
                b[lane] = a[lane] + (instance == 2 ? 0x20000 : 0x10000);
            }
            execute(offsets, &led, LEADER, UINT32_MAX, a);
            execute(offsets, &led, OTHER, UINT32_MAX, b);
        }
    }
    /* Nine accesses each behind the first; in the last instance only the leader's steps are as before. */
    assert_int_equal(offsets->measured, 27);
    assert_int_equal(offsets->fixed, 22);
    free(offsets);
}

/* Lanes that part have their own leaders; a lane that the leader has not reached has no offset. */
static void lanes_that_part(void **state)
{
    (void)state;
    struct tom_offsets *offsets = alloc(1, sizeof *offsets);
    struct tom_offsets_led led = {.lanes = 0};
    const uint64_t low[WARP_LANES] = {[0] = 0x100, [3] = 0x900},
                   high[WARP_LANES] = {[0] = 0x180, [3] = 0x980};
    execute(offsets, &led, LEADER, 1, low);
    execute(offsets, &led, OTHER, 8, high);
    assert_int_equal(offsets->measured, 0);
    execute(offsets, &led, OTHER, 1, high);
    execute(offsets, &led, LEADER, 8, low);
    execute(offsets, &led, OTHER, 8, high);
    assert_int_equal(offsets->measured, 2);
    assert_int_equal(offsets->fixed, 2);
    free(offsets);
}

/* Beyond TOM_ACCESSES instructions, offsets are measured and not fixed. */
static void many_instructions(void **state)
{
    (void)state;
    struct tom_offsets *offsets = alloc(1, sizeof *offsets);
    for (unsigned instance = 0; instance < 2; instance++) {
        struct tom_offsets_led led = {.lanes = 0};
        const uint64_t at[WARP_LANES] = {0x5000};
        execute(offsets, &led, LEADER, 1, at);
        for (uint64_t i = 0; i < TOM_ACCESSES + 6; i++)
            execute(offsets, &led, OTHER + 4 * i, 1, at);
    }
    assert_int_equal(offsets->measured, 2 * (TOM_ACCESSES + 6));
    assert_int_equal(offsets->fixed, 2 * TOM_ACCESSES);
    free(offsets);
}

/* Random accesses: an access counts as fixed if the first one of its instruction in the log had the same distance. */
static void random_accesses(void **state)
{
    enum { COUNT = 2000, PCS = 6 };
    static struct {
        uint64_t pc, distance;
    } log[COUNT];
    unsigned logged = 0, fixed = 0;
    uint32_t seed = 12345;
    (void)state;
    struct tom_offsets *offsets = alloc(1, sizeof *offsets);
    struct tom_offsets_led led = {.lanes = 0};
    uint64_t first = 0, latest = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        seed = seed * 1664525 + 1013904223;
        const uint64_t pc = LEADER + 4 * (seed >> 16) % (4 * PCS), at[WARP_LANES] = {0x8000 + (seed >> 28)};
        const uint64_t name = pc & ~UINT64_C(3);
        if (i % 50 == 0) {
            led = (struct tom_offsets_led){.lanes = 0};
            latest = 0;
        }
        first = first ? first : name;
        if (latest) {
            unsigned j = 0;
            log[logged].pc = name;
            log[logged].distance = at[0] - latest;
            while (log[j].pc != name)
                j++;
            fixed += log[j].distance == at[0] - latest;
            logged++;
        }
        execute(offsets, &led, name, 1, at);
        latest = name == first ? at[0] : latest;
    }
    assert_int_equal(offsets->measured, logged);
    assert_int_equal(offsets->fixed, fixed);
    assert_true(fixed > 0 && fixed < logged);
    free(offsets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_with_one_index),
        cmocka_unit_test(lanes_that_part),
        cmocka_unit_test(many_instructions),
        cmocka_unit_test(random_accesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
