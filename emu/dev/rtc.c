#include "emu/dev/rtc.h"

#include <stdlib.h>

#include "emu/dev/device.h"
#include "emu/sim/alloc.h"
#include "linker/map.h"

enum {
    TIME_LOW = 0x00,
    TIME_HIGH = 0x04,
    ALARM_LOW = 0x08,
    ALARM_HIGH = 0x0c,
    IRQ_ENABLED = 0x10,
    CLEAR_ALARM = 0x14,
    ALARM_STATUS = 0x18,
    CLEAR_INTERRUPT = 0x1c,
    NS_PER_TICK = 1000000000 / TIMEBASE_HZ,
};

struct rtc {
    uint64_t start;  /* time at tick 0, ns */
    uint64_t offset; /* ns added by the guest's writes, modulo 2^64 */
    uint64_t alarm;  /* alarm time, ns */
    uint32_t latched;
    bool armed, fired, enabled, level;
    struct irq_line irq;
    struct timebase timebase;
};

struct rtc *rtc_new(const struct timebase *timebase, uint64_t epoch, struct irq_line irq)
{
    struct rtc *rtc = alloc(1, sizeof *rtc);
    rtc->start = epoch * 1000000000;
    rtc->irq = irq;
    rtc->timebase = *timebase;
    return rtc;
}

void rtc_free(struct rtc *rtc)
{
    free(rtc);
}

static uint64_t time_ns(const struct rtc *rtc)
{
    return rtc->start + rtc->offset + timebase_now(&rtc->timebase) * NS_PER_TICK;
}

void rtc_reset(struct rtc *rtc)
{
    rtc->offset = rtc->alarm = 0;
    rtc->latched = 0;
    rtc->armed = rtc->fired = rtc->enabled = false;
    rtc_update(rtc);
}

void rtc_snapshot(struct rtc *rtc, struct snapshot *s)
{
    uint64_t time = time_ns(rtc);
    rtc->offset += snapshot_number(s, "time", time, UINT64_MAX) - time;
    rtc->alarm = snapshot_number(s, "alarm", rtc->alarm, UINT64_MAX);
    rtc->latched = (uint32_t)snapshot_number(s, "latched", rtc->latched, UINT32_MAX);
    rtc->armed = snapshot_flag(s, "armed", rtc->armed);
    rtc->fired = snapshot_flag(s, "fired", rtc->fired);
    rtc->enabled = snapshot_flag(s, "enabled", rtc->enabled);
    rtc->level = snapshot_flag(s, "level", rtc->level);
}

uint64_t rtc_next_event(const struct rtc *rtc)
{
    uint64_t time = time_ns(rtc), now = timebase_now(&rtc->timebase);
    if (!rtc->armed)
        return TIMEBASE_NEVER;
    if (rtc->alarm <= time)
        return now;
    uint64_t ns = rtc->alarm - time, ticks = ns / NS_PER_TICK + (ns % NS_PER_TICK != 0);
    return ticks < TIMEBASE_NEVER - now ? now + ticks : TIMEBASE_NEVER;
}

void rtc_update(struct rtc *rtc)
{
    if (rtc->armed && time_ns(rtc) >= rtc->alarm) {
        rtc->armed = false;
        rtc->fired = true;
    }
    bool level = rtc->fired && rtc->enabled;
    if (rtc->level == level)
        return;
    rtc->level = level;
    irq_set(&rtc->irq, level);
}

/* Returns the value of a register whose reads have no side effect. */
static uint64_t register_value(const struct rtc *rtc, uint64_t offset)
{
    switch (offset) {
    case TIME_HIGH: return rtc->latched;
    case ALARM_LOW: return (uint32_t)rtc->alarm;
    case ALARM_HIGH: return rtc->alarm >> 32;
    case IRQ_ENABLED: return rtc->enabled;
    case ALARM_STATUS: return rtc->armed;
    default: return 0;
    }
}

static uint64_t rtc_read(void *device, uint64_t offset, unsigned size)
{
    struct rtc *rtc = device;
    (void)size;
    rtc_update(rtc);
    if (offset != TIME_LOW)
        return register_value(rtc, offset);
    rtc->latched = (uint32_t)(time_ns(rtc) >> 32);
    return (uint32_t)time_ns(rtc);
}

static uint64_t with_low(uint64_t whole, uint64_t value)
{
    return (whole & ~(uint64_t)UINT32_MAX) | (uint32_t)value;
}

static uint64_t with_high(uint64_t whole, uint64_t value)
{
    return (uint32_t)whole | value << 32;
}

static void rtc_write(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    struct rtc *rtc = device;
    (void)size;
    rtc_update(rtc);
    switch (offset) {
    case TIME_LOW: rtc->offset += with_low(time_ns(rtc), value) - time_ns(rtc); break;
    case TIME_HIGH: rtc->offset += with_high(time_ns(rtc), value) - time_ns(rtc); break;
    case ALARM_LOW:
        rtc->alarm = with_low(rtc->alarm, value);
        rtc->armed = true;
        break;
    case ALARM_HIGH: rtc->alarm = with_high(rtc->alarm, value); break;
    case IRQ_ENABLED: rtc->enabled = value & 1; break;
    case CLEAR_ALARM: rtc->armed = false; break;
    case CLEAR_INTERRUPT: rtc->fired = false; break;
    default: return;
    }
    rtc_update(rtc);
    timebase_moved(&rtc->timebase);
}

/* Reads without side effects: does not update the alarm or latch the high half. */
static bool peek(void *device, uint64_t offset, uint64_t *value)
{
    const struct rtc *rtc = device;
    *value = offset == TIME_LOW ? (uint32_t)time_ns(rtc) : register_value(rtc, offset);
    return true;
}

static bool rtc_functional(void *device, const struct mem_access *access)
{
    return bytes_peek(access, 4, peek, device);
}

const struct device_ops rtc_ops = {.read = rtc_read, .write = rtc_write, .functional = rtc_functional};

struct rtc_config {
    struct device_config device;
    uint64_t epoch; /* initial time, in s after 1970-01-01 */
};

static void *make(const void *config, const struct device_site *site)
{
    return rtc_new(&site->timebase, ((const struct rtc_config *)config)->epoch, site->irq);
}

DEVICE_CLOCKED(rtc)

static void describe(struct node_writer *writer, const void *config)
{
    const struct device_config *own = config;
    node_begin_at(writer, "rtc", own->base);
    node_text(writer, "compatible", "google,goldfish-rtc");
    node_reg(writer, own->base, RTC_SIZE);
    node_interrupt(writer, own->irq);
    node_end(writer);
}

static const struct device_kind device = {
    .size = RTC_SIZE,
    .sizes = RTC_ACCESS,
    .ops = &rtc_ops,
    .make = make,
    DEVICE_CLOCKED_ROWS,
    .describe = describe,
};

static const struct part_field fields[] = {
    DEVICE_BASE(TEXT_VALUE(CROFT_RTC_BASE)),
    DEVICE_IRQ("11"),
    {"epoch",
     FIELD_COUNT,
     offsetof(struct rtc_config, epoch),
     sizeof(uint64_t),
     "0",
     "9000000000",
     "1",
     NULL,
     {"1704067200", "1704067200"},
     0,
     "Calendar time at the start, in seconds after 1970-01-01; by default 2024-01-01 00:00 UTC.",
     {"", ""}},
};

const struct part_kind rtc_kind = {
    .name = "rtc",
    .explanation = "Real-time clock (goldfish), which follows simulated time.",
    PART_CONFIG(struct rtc_config),
    .extension = &device,
};
