/* The real-time clock (goldfish): calendar time that follows simulated time. */
#ifndef EMU_DEV_RTC_H
#define EMU_DEV_RTC_H

#include "emu/dev/timebase.h"
#include "emu/mem/phys/bus.h"
#include "emu/sim/snapshot/snapshot.h"

/* Registers (Android's Goldfish virtual hardware, "goldfish_rtc"), for accesses of 4 bytes. Times are
 * nanoseconds since 1970-01-01 00:00 UTC.
 *
 *   0x00 TIME_LOW         reading latches the high half; writing replaces the low half of the time
 *   0x04 TIME_HIGH        reads the latched half; writing replaces the high half of the time
 *   0x08 ALARM_LOW        writing arms the alarm for ALARM_HIGH:value; a time in the past fires at once
 *   0x0c ALARM_HIGH
 *   0x10 IRQ_ENABLED      bit 0
 *   0x14 CLEAR_ALARM      any write disarms the alarm
 *   0x18 ALARM_STATUS     1 while armed
 *   0x1c CLEAR_INTERRUPT  any write clears an alarm that has fired
 *
 * The interrupt is high while an alarm has fired and is not cleared and IRQ_ENABLED is 1. */
enum { RTC_SIZE = 0x1000, RTC_ACCESS = BUS_4 };

struct rtc;

/* Creates a clock whose time is `epoch` seconds after 1970-01-01 at tick 0. NULL when out of host memory.
 * Free with rtc_free(). */
struct rtc *rtc_new(const struct timebase *timebase, uint64_t epoch, struct irq_line irq);
void rtc_free(struct rtc *rtc);

/* Disarms the alarm and discards the times that the guest has written. */
void rtc_reset(struct rtc *rtc);
void rtc_snapshot(struct rtc *rtc, struct snapshot *snapshot);

extern const struct device_ops rtc_ops;

/* See timebase.h. */
uint64_t rtc_next_event(const struct rtc *rtc);
void rtc_update(struct rtc *rtc);

#endif
