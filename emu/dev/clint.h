/* The core-local interruptor (SiFive CLINT): software interrupts, the timer, and mtime. */
#ifndef EMU_DEV_CLINT_H
#define EMU_DEV_CLINT_H

#include "emu/dev/timebase.h"
#include "emu/mem/phys/bus.h"
#include "emu/sim/snapshot/snapshot.h"

/* Registers (SiFive FU540-C000 manual, chapter 9), for accesses of 4 and 8 bytes:
 *   0x0000 + 4 h  msip of hart h: bit 0 is the level of its MSIP
 *   0x4000 + 8 h  mtimecmp of hart h: MTIP is high while mtime >= mtimecmp (unsigned)
 *   0xbff8        mtime
 * mtimecmp has all bits set at reset, so that no timer interrupt is pending; mtime is 0. */
enum { CLINT_SIZE = 0x10000, CLINT_ACCESS = BUS_4 | BUS_8 };

struct clint;

/* Creates a CLINT for `harts` harts (at most 4095). software[hart] and timer[hart] are their interrupt lines;
 * the arrays are copied. Release with clint_free(). */
struct clint *clint_new(unsigned harts, const struct timebase *timebase, const struct irq_line *software,
                        const struct irq_line *timer);
void clint_free(struct clint *clint);
void clint_reset(struct clint *clint);
void clint_snapshot(struct clint *clint, struct snapshot *snapshot);

extern const struct device_ops clint_ops;

/* Returns mtime in ticks, which is also the value of the harts' `time` CSR. */
uint64_t clint_time(const struct clint *clint);

/* See timebase.h. */
uint64_t clint_next_event(const struct clint *clint);
void clint_update(struct clint *clint);

#endif
