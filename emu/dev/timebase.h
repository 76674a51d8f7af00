/* Simulated time for devices, and how devices announce their next event. */
#ifndef EMU_DEV_TIMEBASE_H
#define EMU_DEV_TIMEBASE_H

#include <stdint.h>

#include "linker/map.h"

enum { TIMEBASE_HZ = CROFT_TIMEBASE }; /* ticks per second: the timebase of the QEMU `virt` board */

#define TIMEBASE_NEVER UINT64_MAX

/* A device with timed behaviour has two functions beside its registers. X_next_event() returns the tick at
 * which one of its outputs next changes by itself (TIMEBASE_NEVER: none). X_update() brings its outputs up to
 * date. The code that advances time must call X_update() at that tick or earlier for the change to happen on
 * time; early and repeated calls are harmless. */
struct timebase {
    uint64_t (*now)(void *context); /* ticks since the machine was made; never decreases */
    void (*moved)(void *context);   /* a device's next event may have become earlier; may be NULL */
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
