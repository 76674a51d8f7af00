/* Timers: of descriptors (timerfd), and those that send signals (timer_create). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "emu/env/linux/calls/descriptor.h"
#include "emu/env/linux/served.h"
#include "emu/env/linux/time.h"

enum {
    CLOCK_REAL = 0,
    CLOCK_MONOTONE = 1,
    CLOCK_BOOT = 7,
    CLOCK_REAL_ALARM = 8,
    CLOCK_BOOT_ALARM = 9,
    CLOCK_REMOVED = 10, /* CLOCK_SGI_CYCLE of older kernels */
    CLOCK_ATOMIC = 11
};
enum { ABSOLUTE = 1, CANCELS = 2 };

/* Returns 0 if a timer can follow the clock, or -errno; `other`: of clocks that exist but cannot. */
static int64_t check_clock(uint64_t number, int64_t other)
{
    const int32_t clock = (int32_t)number;
    if (clock == CLOCK_REAL || clock == CLOCK_MONOTONE || clock == CLOCK_BOOT)
        return 0;
    if (clock == CLOCK_REAL_ALARM || clock == CLOCK_BOOT_ALARM)
        return -EPERM; /* they may wake the machine */
    return clock > CLOCK_ATOMIC || clock == CLOCK_REMOVED ? -EINVAL : other;
}

static bool is_time(const struct guest_time *time)
{
    return time->seconds >= 0 && time->fraction >= 0 && time->fraction < SECOND;
}

/* Returns a span in ns, at most a century. */
static uint64_t span_of(const struct guest_time *time)
{
    const int64_t most = INT64_C(100) * 366 * 24 * 3600;
    return (uint64_t)(time->seconds < most ? time->seconds : most) * SECOND + (uint64_t)time->fraction;
}

/* Stores period and rest of a timer as an itimerspec. */
static int64_t put_rest(struct process *process, const struct timer *timer, uint64_t address)
{
    const uint64_t now = timer_now(process, timer);
    const uint64_t rest = timer->deadline == LINUX_NEVER ? 0
                          : timer->deadline > now        ? timer->deadline - now
                                                         : 1;
    const int64_t failed = time_put(process, address, timer->period);
    return failed ? failed : time_put(process, address + sizeof(struct guest_time), rest);
}

/* Starts a timer as the itimerspec says; stores the old one at `old` unless that is 0. */
static int64_t set_timer(struct process *process, unsigned number, bool absolute, uint64_t address,
                         uint64_t old)
{
    struct timer *timer = &process->timers[number];
    struct guest_time times[2]; /* period, rest */
    uint64_t deadline = LINUX_NEVER;
    const void *from = guest_readable(process->user, address, sizeof times);
    if (!from)
        return -EFAULT;
    memcpy(times, from, sizeof times);
    if (!is_time(&times[0]) || !is_time(&times[1]))
        return -EINVAL;
    timers_update(process);
    int64_t failed = old ? put_rest(process, timer, old) : 0;
    const bool starts = times[1].seconds || times[1].fraction;
    if (!failed && starts && timer->time != TIME_OF_CLOCK)
        deadline = span_of(&times[1]) + (absolute ? 0 : timer_now(process, timer));
    else if (!failed && starts)
        failed = time_deadline(process, address + sizeof times[0], absolute, timer->real, &deadline);
    if (!failed)
        timer_start(process, number, deadline, span_of(&times[0]));
    return failed;
}

/* a[]: clock, flags. */
int64_t linux_timerfd_create(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    if (a[1] & ~(uint64_t)(GUEST_CLOEXEC | GUEST_NONBLOCK))
        return -EINVAL;
    int64_t failed = check_clock(a[0], -EINVAL);
    if (failed)
        return failed;
    const int number = timer_new(process, TIMER_OF_FILE);
    if (number < 0)
        return -EMFILE;
    process->timers[number].real = a[0] == CLOCK_REAL;
    int host = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return host < 0 ? -errno : descriptor_add_own(process, host, a[1], FILE_TIMER, (uint64_t)number);
}

/* Sets *number to the timer of a descriptor. */
static int64_t find_file(struct process *process, uint64_t descriptor, unsigned *number)
{
    const struct file *file = files_get(&process->user->files, descriptor);
    if (!file || file->kind != FILE_TIMER)
        return file ? -EINVAL : -EBADF;
    *number = (unsigned)file->own;
    return 0;
}

/* a[]: descriptor, flags, itimerspec, old one. */
int64_t linux_timerfd_settime(struct process *process, struct thread *thread, const uint64_t a[6])
{
    unsigned number;
    uint64_t expiries;
    (void)thread;
    if (!guest_readable(process->user, a[2], 2 * sizeof(struct guest_time)))
        return -EFAULT;
    if (a[1] & ~(uint64_t)(ABSOLUTE | CANCELS))
        return -EINVAL;
    int64_t failed = find_file(process, a[0], &number);
    const struct file *file = failed ? NULL : files_get(&process->user->files, a[0]);
    const struct timer kept = failed ? (struct timer){0} : process->timers[number];
    if (!failed) {
        process->timers[number].deadline = LINUX_NEVER; /* so that it counts nothing meanwhile */
        (void)!read(file->host, &expiries, sizeof expiries);
        process->timers[number].deadline = kept.deadline;
        failed = set_timer(process, number, a[1] & ABSOLUTE, a[2], a[3]);
    }
    return failed;
}

int64_t linux_timerfd_gettime(struct process *process, struct thread *thread, const uint64_t a[6])
{
    unsigned number;
    (void)thread;
    int64_t failed = find_file(process, a[0], &number);
    timers_update(process);
    return failed ? failed : put_rest(process, &process->timers[number], a[1]);
}

/* The kernel's struct sigevent, without its padding. */
struct guest_event {
    uint64_t value;
    int32_t signal, notify, thread;
};

enum { NOTIFY_SIGNAL = 0, NOTIFY_NONE = 1, NOTIFY_THREAD = 4 };

/* Lets a new timer send what the sigevent at an address says. */
static int64_t set_event(struct process *process, struct timer *timer, uint64_t address)
{
    struct guest_event event = {.signal = SIGALRM, .value = timer->signal.value};
    const void *from = address ? guest_readable(process->user, address, sizeof event) : &event;
    if (!from)
        return -EFAULT;
    memcpy(&event, from, sizeof event);
    if (event.notify & ~(NOTIFY_NONE | NOTIFY_THREAD) || event.notify == (NOTIFY_NONE | NOTIFY_THREAD))
        return -EINVAL;
    if (event.notify != NOTIFY_NONE && (event.signal <= 0 || event.signal >= GUEST_SIGNALS))
        return -EINVAL;
    if (event.notify == NOTIFY_THREAD && !thread_find(process, event.thread))
        return -EINVAL;
    timer->thread = event.notify == NOTIFY_THREAD ? event.thread : 0;
    timer->signal.number = event.notify == NOTIFY_NONE ? 0 : event.signal;
    timer->signal.value = event.value;
    return 0;
}

/* Sets what a timer follows by a clock's number: one of processor time may have the number of a process or thread (kernel's
 * posix-timers.h). Returns 0 or -errno. */
static int64_t set_clock(const struct process *process, const struct thread *thread, uint64_t number,
                         struct timer *timer)
{
    enum { PROCESS_TIME = 2, THREAD_TIME = 3, OF_THREAD = 4, KIND = 3, NUMBER_SHIFT = 3 };
    const int32_t clock = (int32_t)number;
    timer->real = clock == CLOCK_REAL;
    timer->timed = thread->id;
    timer->time = clock == PROCESS_TIME  ? TIME_OF_PROCESS
                  : clock == THREAD_TIME ? TIME_OF_THREAD
                                         : TIME_OF_CLOCK;
    if (timer->time != TIME_OF_CLOCK)
        return 0;
    if (clock >= 0)
        return check_clock(number, -EOPNOTSUPP);
    const int32_t id = ~(clock >> NUMBER_SHIFT);
    timer->time = clock & OF_THREAD ? TIME_OF_THREAD : TIME_OF_PROCESS;
    timer->timed = id ? id : thread->id;
    const bool known = timer->time == TIME_OF_THREAD ? thread_find(process, timer->timed) != NULL
                                                     : id == 0 || id == GUEST_PROCESS_ID;
    return (clock & KIND) == KIND || !known ? -EINVAL : 0;
}

/* a[]: clock, sigevent or 0, where the timer's number is stored. */
int64_t linux_timer_create(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct timer clock = {.kind = TIMER_FREE};
    int64_t failed = set_clock(process, thread, a[0], &clock);
    if (failed)
        return failed;
    const int32_t number = timer_new(process, TIMER_OF_SIGNAL);
    if (number < 0)
        return -EAGAIN;
    struct timer *timer = &process->timers[number];
    timer->real = clock.real;
    timer->time = clock.time;
    timer->timed = clock.timed;
    timer->signal =
        (struct queued_signal){.code = LINUX_SIGNAL_TIMER, .sender = number, .value = (uint64_t)number};
    failed = set_event(process, timer, a[1]);
    if (!failed)
        failed = guest_put(process->user, a[2], &number, sizeof number);
    if (failed)
        timer->kind = TIMER_FREE;
    return failed;
}

/* Returns the timer of timer_create that has a number, or NULL. */
static struct timer *find_timer(struct process *process, uint64_t number)
{
    struct timer *timer = &process->timers[number % LINUX_TIMERS];
    return (uint32_t)number < LINUX_TIMERS && timer->kind == TIMER_OF_SIGNAL ? timer : NULL;
}

/* a[]: timer, flags, itimerspec, old one. */
int64_t linux_timer_settime(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    if (!a[2] || !find_timer(process, a[0]))
        return -EINVAL;
    return set_timer(process, (unsigned)a[0], a[1] & ABSOLUTE, a[2], a[3]);
}

int64_t linux_timer_gettime(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    const struct timer *timer = find_timer(process, a[0]);
    timers_update(process);
    return timer ? put_rest(process, timer, a[1]) : -EINVAL;
}

int64_t linux_timer_getoverrun(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { MOST = INT32_MAX };
    (void)thread;
    const struct timer *timer = find_timer(process, a[0]);
    return !timer ? -EINVAL : timer->overrun < MOST ? (int64_t)timer->overrun : MOST;
}

int64_t linux_timer_delete(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    struct timer *timer = find_timer(process, a[0]);
    if (!timer)
        return -EINVAL;
    timer_start(process, (unsigned)a[0], LINUX_NEVER, 0);
    timer->kind = TIMER_FREE;
    return 0;
}
