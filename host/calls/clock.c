/* Clocks: newlib's and Linux's clock numbers differ. */
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>

#include "host/calls/call.h"
#include "host/newlib/calls.h"

enum { LINUX_CLOCK_MONOTONIC = 1, LINUX_CLOCK_PROCESS_CPUTIME = 2, LINUX_CLOCK_COARSE = 6 };

/* Indexed by newlib's clockid_t (time.h). */
static const unsigned char linux_clock[] = {
    5, /* CLOCK_REALTIME_COARSE */
    0, /* CLOCK_REALTIME */
    LINUX_CLOCK_PROCESS_CPUTIME,
    3, /* CLOCK_THREAD_CPUTIME_ID */
    LINUX_CLOCK_MONOTONIC,
    4, /* CLOCK_MONOTONIC_RAW */
    LINUX_CLOCK_COARSE,
    7, /* CLOCK_BOOTTIME */
};

static long clock_call(enum call number, clockid_t clock, struct timespec *result)
{
    if ((unsigned long)clock >= sizeof linux_clock) {
        errno = EINVAL;
        return -1;
    }
    return call2(number, linux_clock[clock], (long)result);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    return (int)clock_call(CALL_CLOCK_GETTIME, clock, now);
}

int clock_getres(clockid_t clock, struct timespec *resolution)
{
    return (int)clock_call(CALL_CLOCK_GETRES, clock, resolution);
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    return (int)call2(CALL_NANOSLEEP, (long)wanted, (long)left);
}

int _gettimeofday(struct timeval *now, void *zone)
{
    return (int)call2(CALL_GETTIMEOFDAY, (long)now, (long)zone);
}

static clock_t clock_ticks(int linux_number)
{
    struct timespec now;
    if (call2(CALL_CLOCK_GETTIME, linux_number, (long)&now) < 0)
        return (clock_t)-1;
    return (clock_t)(now.tv_sec * CLOCKS_PER_SEC + now.tv_nsec / (1000000000 / CLOCKS_PER_SEC));
}

/* Counts in 1 / CLOCKS_PER_SEC s, as newlib's clock() expects; the kernel's times() counts in 1/100 s. */
clock_t _times(struct tms *result)
{
    clock_t used = clock_ticks(LINUX_CLOCK_PROCESS_CPUTIME);
    if (used == (clock_t)-1)
        return used;
    *result = (struct tms){.tms_utime = used};
    return clock_ticks(LINUX_CLOCK_MONOTONIC);
}

#include "host/newlib/sleep.h"
