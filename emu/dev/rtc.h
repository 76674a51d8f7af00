/* The real-time clock (goldfish): a calendar time that follows simulated time. */
#ifndef EMU_DEV_RTC_H
#define EMU_DEV_RTC_H

#include "emu/dev/timebase.h"
#include "emu/mem/bus.h"

/* Registers (Android's Goldfish virtual hardware, "goldfish_rtc"), for accesses of 4 bytes. Times are
 * nanoseconds since 1970-01-01 00:00 UTC.
 *
 *   0x00 TIME_LOW         reading latches the high half; writing replaces the time's low half
 *   0x04 TIME_HIGH        as latched; writing replaces the time's high half
 *   0x08 ALARM_LOW        writing arms the alarm for ALARM_HIGH:value; a time in the past fires at once
 *   0x0c ALARM_HIGH
 *   0x10 IRQ_ENABLED      bit 0
 *   0x14 CLEAR_ALARM      any write disarms
 *   0x18 ALARM_STATUS     1 while armed
 *   0x1c CLEAR_INTERRUPT  any write takes back the alarm that has fired
 *
 * The interrupt is high while the alarm has fired, was not taken back, and IRQ_ENABLED is 1. */
enum { RTC_SIZE = 0x1000, RTC_ACCESS = BUS_4 };

struct rtc;

/* At tick 0 the time is `epoch` seconds after 1970. NULL when the host has no memory. Release with
 * rtc_free(). */
struct rtc *rtc_create(const struct timebase *timebase, uint64_t epoch, struct irq_line irq);
void rtc_free(struct rtc *rtc);

/* Disarms the alarm and forgets written times: the time follows the clock again. */
void rtc_reset(struct rtc *rtc);

extern const struct device_ops rtc_ops;

/* See timebase.h. */
uint64_t rtc_next_event(const struct rtc *rtc);
void rtc_update(struct rtc *rtc);

#endif
