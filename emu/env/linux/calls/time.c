/* Calls on time. The process's clock begins with it; clocks of real time add TIME_EPOCH. */
#include <errno.h>
#include <string.h>

#include "emu/env/linux/served.h"
#include "emu/env/linux/time.h"

enum { TICKS = 100 }; /* per second (AT_CLKTCK) */

enum guest_clock {
    CLOCK_OF_REAL_TIME,
    CLOCK_MONOTONE,
    CLOCK_PROCESS,
    CLOCK_THREAD,
    CLOCK_RAW,
    CLOCK_REAL_COARSE,
    CLOCK_MONOTONE_COARSE,
    CLOCK_BOOT,
    CLOCK_REAL_ALARM,
    CLOCK_BOOT_ALARM,
    CLOCK_TAI = 11,
};

static struct guest_time timeval_of(uint64_t ns)
{
    return (struct guest_time){(int64_t)(ns / SECOND), (int64_t)(ns % SECOND / 1000)};
}

/* The CPU clock of another process or thread: a number and kind in one (clock_getcpuclockid(3)). */
static int64_t read_cpu_clock(const struct process *process, const struct thread *thread, int32_t clock,
                              uint64_t *ns)
{
    enum { KIND = 3, OF_THREAD = 4, ID_SHIFT = 3, KINDS = 3 };
    const int32_t id = ~(clock >> ID_SHIFT);
    const struct thread *of = id == 0 ? thread : thread_find(process, id);
    if ((clock & KIND) == KINDS || !of || (!(clock & OF_THREAD) && id != 0 && id != GUEST_PROCESS_ID))
        return -EINVAL;
    *ns = clock & OF_THREAD ? thread_ran(process, of) : threads_ran(process);
    return 0;
}

/* Sets *ns to the time of a clock. Returns 0 or -EINVAL. */
static int64_t read_clock(const struct process *process, const struct thread *thread, uint64_t clock,
                          uint64_t *ns)
{
    *ns = linux_now(process);
    if ((int32_t)clock < 0)
        return read_cpu_clock(process, thread, (int32_t)clock, ns);
    switch ((int32_t)clock) {
    case CLOCK_OF_REAL_TIME:
    case CLOCK_REAL_COARSE:
    case CLOCK_REAL_ALARM:
    case CLOCK_TAI: *ns += TIME_EPOCH; return 0;
    case CLOCK_MONOTONE:
    case CLOCK_RAW:
    case CLOCK_MONOTONE_COARSE:
    case CLOCK_BOOT:
    case CLOCK_BOOT_ALARM: return 0;
    case CLOCK_PROCESS: *ns = threads_ran(process); return 0;
    case CLOCK_THREAD: *ns = thread_ran(process, thread); return 0;
    default: return -EINVAL;
    }
}

int64_t linux_clock_gettime(struct process *process, struct thread *thread, const uint64_t a[6])
{
    uint64_t ns;
    int64_t failed = read_clock(process, thread, a[0], &ns);
    return failed ? failed : time_put(process, a[1], ns);
}

int64_t linux_clock_getres(struct process *process, struct thread *thread, const uint64_t a[6])
{
    uint64_t ns;
    int64_t failed = read_clock(process, thread, a[0], &ns);
    return failed || !a[1] ? failed : time_put(process, a[1], 1);
}

int64_t linux_gettimeofday(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    const struct guest_time time = timeval_of(linux_now(process) + TIME_EPOCH);
    const int32_t zone[2] = {0, 0};
    int64_t failed = a[0] ? guest_put(process->user, a[0], &time, sizeof time) : 0;
    return !failed && a[1] ? guest_put(process->user, a[1], zone, sizeof zone) : failed;
}

/* Lets the thread sleep until the deadline. `rest`: where the rest of an interrupted sleep is stored, or 0. */
static int64_t sleep_until(struct process *process, struct thread *thread, uint64_t deadline, uint64_t rest)
{
    if (deadline <= linux_now(process))
        return 0;
    if (signal_is_due(process, thread))
        return -EINTR;
    thread_wait(process, thread, WAIT_TIME, deadline, 0);
    thread->rest_address = rest;
    return LINUX_WAITS;
}

int64_t linux_nanosleep(struct process *process, struct thread *thread, const uint64_t a[6])
{
    uint64_t deadline;
    int64_t failed = time_deadline(process, a[0], false, false, &deadline);
    return failed ? failed : sleep_until(process, thread, deadline, a[1]);
}

int64_t linux_clock_nanosleep(struct process *process, struct thread *thread, const uint64_t a[6])
{
    uint64_t deadline, clock = a[0];
    bool absolute = a[1] & 1;
    if (clock != CLOCK_OF_REAL_TIME && clock != CLOCK_MONOTONE && clock != CLOCK_BOOT && clock != CLOCK_TAI)
        return clock > CLOCK_TAI ? -EINVAL : -EOPNOTSUPP;
    bool real = clock == CLOCK_OF_REAL_TIME || clock == CLOCK_TAI;
    int64_t failed = time_deadline(process, a[2], absolute, real, &deadline);
    return failed ? failed : sleep_until(process, thread, deadline, absolute ? 0 : a[3]);
}

int64_t linux_times(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    const uint64_t times[4] = {threads_ran(process) /
                               (SECOND / TICKS)}; /* user, system, children's of both */
    int64_t failed = a[0] ? guest_put(process->user, a[0], times, sizeof times) : 0;
    return failed ? failed : (int64_t)(linux_now(process) / (SECOND / TICKS));
}

int64_t linux_getrusage(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { SELF = 0, CHILDREN = -1, THREAD = 1 };
    const int32_t who = (int32_t)a[0];
    if (who != SELF && who != CHILDREN && who != THREAD)
        return -EINVAL;
    uint64_t size, resident;
    struct guest_time usage[9] = {{0, 0}}; /* user and system time, and 14 counters */
    usage[0] = timeval_of(who == SELF     ? threads_ran(process)
                          : who == THREAD ? thread_ran(process, thread)
                                          : 0);
    address_space_measure(&process->space, &size, &resident);
    usage[2].seconds = who == CHILDREN ? 0 : (int64_t)(resident / 1024); /* ru_maxrss, in KiB */
    return guest_put(process->user, a[1], usage, sizeof usage);
}

/* An alarm as an itimerval: period, then rest. */
static int64_t put_alarm(struct process *process, unsigned which, uint64_t address)
{
    const struct alarm *alarm = &process->alarms[which];
    const uint64_t now = alarm_now(process, which), deadline = alarm->deadline;
    const uint64_t rest = deadline == LINUX_NEVER ? 0 : deadline > now ? deadline - now : 1000;
    const struct guest_time times[2] = {timeval_of(alarm->period), timeval_of(rest)};
    return address ? guest_put(process->user, address, times, sizeof times) : 0;
}

int64_t linux_getitimer(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    if ((uint32_t)a[0] >= LINUX_ALARMS)
        return -EINVAL;
    return a[1] ? put_alarm(process, (unsigned)a[0], a[1]) : -EFAULT;
}

int64_t linux_setitimer(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    struct guest_time times[2] = {{0, 0}, {0, 0}};
    const uint32_t which = (uint32_t)a[0];
    const void *from = a[1] ? guest_readable(process->user, a[1], sizeof times) : NULL;
    if (a[1] && !from)
        return -EFAULT;
    if (from)
        memcpy(times, from, sizeof times);
    for (int i = 0; i < 2; i++)
        if (times[i].seconds < 0 || times[i].seconds >= INT64_C(1) << 33 || times[i].fraction < 0 ||
            times[i].fraction >= 1000000)
            return -EINVAL;
    if (which >= LINUX_ALARMS)
        return -EINVAL;
    int64_t failed = put_alarm(process, which, a[2]);
    if (failed)
        return failed;
    const uint64_t period = (uint64_t)times[0].seconds * SECOND + (uint64_t)times[0].fraction * 1000;
    const uint64_t rest = (uint64_t)times[1].seconds * SECOND + (uint64_t)times[1].fraction * 1000;
    process->alarms[which].period = period;
    process->alarms[which].deadline = rest ? alarm_now(process, which) + rest : LINUX_NEVER;
    system_timer_moved(&process->system);
    return 0;
}
