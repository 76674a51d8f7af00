/* Time of the computer that croft runs on, for progress and limits; results never depend on it. */
#ifndef EMU_SIM_HOST_TIME_H
#define EMU_SIM_HOST_TIME_H

#include <stdint.h>
#include <time.h>

/* Return the time since some fixed moment, in nanoseconds and in seconds. */
static inline uint64_t host_nanoseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline double host_seconds(void)
{
    return (double)host_nanoseconds() * 1e-9;
}

#endif
