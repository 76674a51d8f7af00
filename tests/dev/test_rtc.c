/* The goldfish RTC against its register description. */
#include "tests/dev/rig.h"

#include "emu/dev/rtc.h"

enum { TIME_LOW, TIME_HIGH, ALARM_LOW, ALARM_HIGH, IRQ_ENABLED, CLEAR_ALARM, ALARM_STATUS, CLEAR_INTERRUPT };

static struct rtc *make(struct rig *rig, uint64_t epoch)
{
    struct timebase timebase = rig_timebase(rig);
    struct rtc *rtc = rtc_new(&timebase, epoch, rig_line(rig, 0));
    assert_non_null(rtc);
    return rtc;
}

static uint64_t get(struct rtc *rtc, unsigned index)
{
    return rtc_ops.read(rtc, 4 * index, 4);
}

static void put(struct rtc *rtc, unsigned index, uint64_t value)
{
    rtc_ops.write(rtc, 4 * index, 4, value);
}

static uint64_t get_time(struct rtc *rtc)
{
    uint64_t low = get(rtc, TIME_LOW);
    return get(rtc, TIME_HIGH) << 32 | low;
}

static void set_alarm(struct rtc *rtc, uint64_t ns)
{
    put(rtc, ALARM_HIGH, ns >> 32);
    put(rtc, ALARM_LOW, (uint32_t)ns);
}

static void time_follows_the_ticks(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct rtc *rtc = make(&rig, 1704067200);
    assert_true(get_time(rtc) == UINT64_C(1704067200000000000));
    rig.now = 12345;
    assert_true(get_time(rtc) == UINT64_C(1704067200001234500));
    uint64_t low = get(rtc, TIME_LOW);
    rig.now += UINT64_C(1) << 40;
    assert_true((get(rtc, TIME_HIGH) << 32 | low) == UINT64_C(1704067200001234500)); /* latched */
    rtc_free(rtc);
}

static void time_can_be_set(void **state)
{
    (void)state;
    struct rig rig = {.now = 7};
    struct rtc *rtc = make(&rig, 1);
    put(rtc, TIME_HIGH, 0x11223344);
    put(rtc, TIME_LOW, 0x55667788);
    rig.now += 2;
    assert_true(get_time(rtc) == UINT64_C(0x1122334455667788) + 200);
    rtc_reset(rtc);
    assert_true(get_time(rtc) == 1000000900);
    rtc_free(rtc);
}

static void the_alarm_fires(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct rtc *rtc = make(&rig, 1);
    put(rtc, IRQ_ENABLED, 1);
    assert_true(rtc_next_event(rtc) == TIMEBASE_NEVER);
    set_alarm(rtc, 1000005050); /* in the middle of tick 50: seen at 51 */
    assert_int_equal(get(rtc, ALARM_STATUS), 1);
    assert_true(rig.moved > 0 && rtc_next_event(rtc) == 51);
    assert_int_equal(get(rtc, ALARM_LOW), 1000005050);
    assert_int_equal(get(rtc, ALARM_HIGH), 0);
    rig.now = 50;
    rtc_update(rtc);
    assert_false(rig.level[0]);
    rig.now = 51;
    rtc_update(rtc);
    assert_true(rig.level[0]);
    assert_int_equal(get(rtc, ALARM_STATUS), 0);
    assert_true(rtc_next_event(rtc) == TIMEBASE_NEVER);
    put(rtc, IRQ_ENABLED, 0);
    assert_false(rig.level[0]);
    put(rtc, IRQ_ENABLED, 3);
    assert_true(rig.level[0]);
    assert_int_equal(get(rtc, IRQ_ENABLED), 1);
    put(rtc, CLEAR_INTERRUPT, 0);
    assert_false(rig.level[0]);
    rtc_free(rtc);
}

static void alarms_in_the_past_and_cleared_ones(void **state)
{
    (void)state;
    struct rig rig = {.now = 100};
    struct rtc *rtc = make(&rig, 1);
    put(rtc, IRQ_ENABLED, 1);
    set_alarm(rtc, 1000010000); /* this moment */
    assert_true(rig.level[0]);
    put(rtc, CLEAR_INTERRUPT, 1);
    set_alarm(rtc, 2000000000);
    put(rtc, CLEAR_ALARM, 1);
    rig.now = 100000000;
    rtc_update(rtc);
    assert_false(rig.level[0]);
    set_alarm(rtc, UINT64_MAX); /* further away than ticks can say */
    assert_true(rtc_next_event(rtc) > rig.now);
    put(rtc, 100, 1);
    assert_int_equal(get(rtc, 100), 0);
    rtc_free(rtc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_follows_the_ticks),
        cmocka_unit_test(time_can_be_set),
        cmocka_unit_test(the_alarm_fires),
        cmocka_unit_test(alarms_in_the_past_and_cleared_ones),
    };
    return cmocka_run_group_tests_name("rtc", tests, NULL, NULL);
}
