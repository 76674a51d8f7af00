/* sleep() and usleep() on top of nanosleep(). Include this file once in each C library. */
#ifndef HOST_NEWLIB_SLEEP_H
#define HOST_NEWLIB_SLEEP_H

#include <time.h>
#include <unistd.h>

int usleep(useconds_t microseconds)
{
    struct timespec wanted = {(time_t)(microseconds / 1000000), (long)(microseconds % 1000000) * 1000};
    return nanosleep(&wanted, NULL);
}

unsigned sleep(unsigned seconds)
{
    struct timespec wanted = {(time_t)seconds, 0}, left = wanted;
    return nanosleep(&wanted, &left) == 0 ? 0 : (unsigned)left.tv_sec;
}

#endif
