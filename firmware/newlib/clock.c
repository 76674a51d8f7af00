/* newlib's clocks in machine mode: all of them read mtime, which starts at 0. */
#include <croft/firmware/clint.h>
#include <croft/firmware/map.h>
#include <errno.h>
#include <time.h>

#include "host/newlib/calls.h"

enum { NANOSECONDS = 1000000000 };

static struct timespec time_of_ticks(uint64_t ticks)
{
    return (struct timespec){.tv_sec = (time_t)(ticks / CROFT_TIMEBASE),
                             .tv_nsec = (long)(ticks % CROFT_TIMEBASE * (NANOSECONDS / CROFT_TIMEBASE))};
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = time_of_ticks(clint_time());
    return 0;
}

int clock_getres(clockid_t clock, struct timespec *resolution)
{
    (void)clock;
    if (resolution)
        *resolution = time_of_ticks(1);
    return 0;
}

int _gettimeofday(struct timeval *now, void *zone)
{
    (void)zone;
    struct timespec time = time_of_ticks(clint_time());
    *now = (struct timeval){.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
    return 0;
}

clock_t _times(struct tms *result)
{
    clock_t used = (clock_t)(clint_time() / (CROFT_TIMEBASE / CLOCKS_PER_SEC));
    *result = (struct tms){.tms_utime = used};
    return used;
}

/* Polls, so that it needs neither the timer nor its interrupt. */
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    uint64_t start = clint_time();
    if (wanted->tv_sec < 0 || wanted->tv_nsec < 0 || wanted->tv_nsec >= NANOSECONDS) {
        errno = EINVAL;
        return -1;
    }
    const long tick = NANOSECONDS / CROFT_TIMEBASE;
    uint64_t ticks =
        (uint64_t)wanted->tv_sec * CROFT_TIMEBASE + (uint64_t)((wanted->tv_nsec + tick - 1) / tick);
    while (clint_time() - start < ticks)
        ;
    if (left)
        *left = (struct timespec){0};
    return 0;
}

#include "host/newlib/sleep.h"
