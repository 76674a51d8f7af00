#include "emu/env/linux/time.h"

#include <errno.h>
#include <string.h>

#include "emu/machine/scheduler.h"

uint64_t linux_now(const struct process *process)
{
    return system_nanoseconds(&process->system) + process->passed;
}

static struct guest_time time_of(uint64_t ns)
{
    return (struct guest_time){(int64_t)(ns / SECOND), (int64_t)(ns % SECOND)};
}

int64_t time_put(struct process *process, uint64_t address, uint64_t ns)
{
    const struct guest_time time = time_of(ns);
    return guest_put(process->user, address, &time, sizeof time);
}

void time_leave(struct process *process, uint64_t address, uint64_t ns)
{
    const struct guest_time time = time_of(ns);
    (void)address_space_write(&process->space, address, &time, sizeof time);
}

int64_t time_deadline(struct process *process, uint64_t address, bool absolute, bool realtime,
                      uint64_t *deadline)
{
    struct guest_time time;
    const void *from = guest_readable(process->user, address, sizeof time);
    const uint64_t now = linux_now(process), epoch = absolute && realtime ? TIME_EPOCH : 0;
    if (!from)
        return -EFAULT;
    memcpy(&time, from, sizeof time);
    if (time.seconds < 0 || time.fraction < 0 || time.fraction >= SECOND)
        return -EINVAL;
    const uint64_t longest = UINT64_C(1) << 33; /* in seconds; later deadlines would wrap the clock */
    if ((uint64_t)time.seconds >= longest) {
        *deadline = LINUX_NEVER;
        return 0;
    }
    uint64_t ns = (uint64_t)time.seconds * SECOND + (uint64_t)time.fraction;
    ns = ns > epoch ? ns - epoch : 0;
    *deadline = absolute ? ns : now + ns;
    return 0;
}
