/* Times of Linux calls. */
#ifndef EMU_ENV_LINUX_TIME_H
#define EMU_ENV_LINUX_TIME_H

#include "emu/env/linux/state.h"

/* 2020-01-01 00:00:00 UTC in ns since 1970: each program's start. */
#define TIME_EPOCH (UINT64_C(1577836800) * 1000000000)

enum { SECOND = 1000000000, MILLISECOND = 1000000 }; /* ns */

/* The kernel's struct timespec, and struct timeval with microseconds. */
struct guest_time {
    int64_t seconds, fraction;
};

/* Reads the timespec at an address as a deadline in ns of the process's clock: `absolute` on the clock that shows
 * real or monotonic time, or a span from now. Returns 0, -EFAULT or -EINVAL. */
int64_t time_deadline(struct process *process, uint64_t address, bool absolute, bool realtime,
                      uint64_t *deadline);

/* Stores a span in ns as a timespec. Returns 0 or -EFAULT. */
int64_t time_put(struct process *process, uint64_t address, uint64_t ns);

/* The same outside of a call, if there is memory at the address. */
void time_leave(struct process *process, uint64_t address, uint64_t ns);

#endif
