/* Simulated time as devices see it, and how they say when something happens next. */
#ifndef EMU_DEV_TIMEBASE_H
#define EMU_DEV_TIMEBASE_H

#include <stdint.h>

#include "linker/map.h"

enum { TIMEBASE_HZ = CROFT_TIMEBASE }; /* ticks per second: the timebase of the QEMU `virt` board */

#define TIMEBASE_NEVER UINT64_MAX

/* A device with timed behaviour has two functions beside its registers: X_next_event(), the tick at which one
 * of its outputs changes by itself (TIMEBASE_NEVER: none will), and X_update(), which brings its outputs up
 * to date. Whoever advances time calls X_update() no later than that tick if the change shall be seen on
 * time; earlier and repeated calls do no harm. */
struct timebase {
    uint64_t (*now)(void *context); /* ticks since the machine was made; never goes back */
    void (*moved)(void *context);   /* a next event may have become earlier; NULL: nobody wants to know */
    void *context;
};

static inline uint64_t timebase_now(const struct timebase *timebase)
{
    return timebase->now(timebase->context);
}

static inline void timebase_moved(const struct timebase *timebase)
{
    if (timebase->moved)
        timebase->moved(timebase->context);
}

#endif
