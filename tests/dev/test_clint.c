/* The CLINT against the FU540-C000 manual, chapter 9. */
#include "tests/dev/rig.h"

#include "emu/dev/clint.h"

enum { HARTS = 3, TIMER = 100, MTIME = 0xbff8 }; /* wires: software h, timer TIMER + h */

static struct clint *make(struct rig *rig)
{
    struct irq_line software[HARTS], timer[HARTS];
    struct timebase timebase = rig_timebase(rig);
    for (unsigned hart = 0; hart < HARTS; hart++) {
        software[hart] = rig_line(rig, hart);
        timer[hart] = rig_line(rig, TIMER + hart);
    }
    struct clint *clint = clint_new(HARTS, &timebase, software, timer);
    assert_non_null(clint);
    return clint;
}

static uint64_t get(struct clint *clint, uint64_t offset, unsigned size)
{
    return clint_ops.read(clint, offset, size);
}

static void put(struct clint *clint, uint64_t offset, unsigned size, uint64_t value)
{
    clint_ops.write(clint, offset, size, value);
}

static void software_interrupts_follow_bit_0(void **state)
{
    (void)state;
    struct rig rig = {.now = 5};
    struct clint *clint = make(&rig);
    put(clint, 4, 4, 0xffffffff);
    assert_true(!rig.level[0] && rig.level[1] && !rig.level[2]);
    assert_int_equal(get(clint, 4, 4), 1);
    put(clint, 4, 4, 1);
    assert_int_equal(rig.changes[1], 1);
    put(clint, 4, 4, 2);
    assert_false(rig.level[1]);
    put(clint, 0, 8, UINT64_C(0x100000001)); /* both of an aligned pair */
    assert_true(rig.level[0] && rig.level[1]);
    assert_true(get(clint, 0, 8) == UINT64_C(0x100000001));
    put(clint, 4 * HARTS, 4, 1); /* no such hart */
    assert_int_equal(get(clint, 4 * HARTS, 4), 0);
    clint_free(clint);
}

static void the_timer_fires_when_mtime_reaches_mtimecmp(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct clint *clint = make(&rig);
    assert_true(clint_next_event(clint) == TIMEBASE_NEVER);
    assert_true(get(clint, 0x4008, 8) == UINT64_MAX);
    put(clint, 0x4008, 8, 100);
    put(clint, 0x4010, 8, 70);
    assert_true(rig.moved >= 2 && clint_next_event(clint) == 70);
    rig.now = 69;
    clint_update(clint);
    assert_true(!rig.level[TIMER] && !rig.level[TIMER + 1] && !rig.level[TIMER + 2]);
    rig.now = 70;
    clint_update(clint);
    assert_true(!rig.level[TIMER + 1] && rig.level[TIMER + 2]);
    assert_true(clint_next_event(clint) == 100); /* what has fired is no event */
    rig.now = 1000;
    clint_update(clint);
    assert_true(rig.level[TIMER + 1] && !rig.level[TIMER]);
    put(clint, 0x4008, 8, 1001); /* a later time takes the interrupt back */
    assert_false(rig.level[TIMER + 1]);
    put(clint, 0x4008, 8, 1000); /* a time that has come fires at once */
    assert_true(rig.level[TIMER + 1]);
    clint_free(clint);
}

static void the_comparison_is_unsigned(void **state)
{
    (void)state;
    struct rig rig = {.now = 10};
    struct clint *clint = make(&rig);
    put(clint, 0x4000, 8, UINT64_C(1) << 63);
    assert_false(rig.level[TIMER]);
    put(clint, MTIME, 8, UINT64_MAX);
    assert_true(rig.level[TIMER]);
    rig.now = 11; /* mtime wraps around to 0 */
    clint_update(clint);
    assert_true(clint_time(clint) == 0);
    assert_false(rig.level[TIMER]);
    clint_free(clint);
}

static void registers_have_two_halves(void **state)
{
    (void)state;
    struct rig rig = {.now = UINT64_C(0x123456789)};
    struct clint *clint = make(&rig);
    assert_true(get(clint, MTIME, 8) == 0); /* mtime counts from the reset */
    rig.now += UINT64_C(0x500000007);
    assert_true(get(clint, MTIME, 4) == 7 && get(clint, MTIME + 4, 4) == 5);
    put(clint, MTIME + 4, 4, 0x11);
    assert_true(get(clint, MTIME, 8) == UINT64_C(0x1100000007));
    put(clint, MTIME, 4, 0xfffffffe);
    assert_true(get(clint, MTIME, 8) == UINT64_C(0x11fffffffe));
    put(clint, 0x4000, 4, 1);
    put(clint, 0x4004, 4, 0x12);
    assert_true(get(clint, 0x4000, 8) == UINT64_C(0x1200000001));
    assert_true(clint_next_event(clint) == rig.now + 3);
    put(clint, 0x4000 + 8 * HARTS, 8, 1); /* no such hart, no such register */
    assert_int_equal(get(clint, 0x4000 + 8 * HARTS, 8), 0);
    assert_int_equal(get(clint, 0xfff8, 8), 0);
    clint_free(clint);
}

static void far_events_do_not_wrap(void **state)
{
    (void)state;
    struct rig rig = {.now = 100};
    struct clint *clint = make(&rig);
    put(clint, 0x4000, 8,
        UINT64_MAX - 50); /* 50 ticks before the tick counter's end, which is 100 ahead of mtime */
    assert_true(clint_next_event(clint) == TIMEBASE_NEVER);
    clint_free(clint);
}

static void reset_starts_anew(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct clint *clint = make(&rig);
    put(clint, 0, 4, 1);
    put(clint, 0x4000, 8, 5);
    rig.now = 9;
    clint_update(clint);
    assert_true(rig.level[0] && rig.level[TIMER]);
    clint_reset(clint);
    assert_true(!rig.level[0] && !rig.level[TIMER] && clint_time(clint) == 0);
    clint_free(clint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(software_interrupts_follow_bit_0),
        cmocka_unit_test(the_timer_fires_when_mtime_reaches_mtimecmp),
        cmocka_unit_test(the_comparison_is_unsigned),
        cmocka_unit_test(registers_have_two_halves),
        cmocka_unit_test(far_events_do_not_wrap),
        cmocka_unit_test(reset_starts_anew),
    };
    return cmocka_run_group_tests_name("clint", tests, NULL, NULL);
}
