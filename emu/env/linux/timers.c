/* Timers of a program: of descriptors, which count expiries, and of timer_create, which send signals. */
#include <signal.h>
#include <unistd.h>

#include "emu/env/linux/state.h"

enum { SIGNAL_OF_KERNEL = 128 }; /* SI_KERNEL */

/* Returns the file of a timer that a descriptor has, or NULL if all its descriptors are closed. */
static const struct file *file_of(const struct process *process, unsigned number)
{
    for (uint64_t i = 0; i < FILES_MAX; i++) {
        const struct file *file = files_get(&process->user->files, i);
        if (file && file->kind == FILE_TIMER && file->own == number)
            return file;
    }
    return NULL;
}

int timer_new(struct process *process, enum timer_kind kind)
{
    for (unsigned i = 0; i < LINUX_TIMERS; i++) {
        struct timer *timer = &process->timers[i];
        bool closed = timer->kind == TIMER_OF_FILE && !file_of(process, i);
        if (timer->kind == TIMER_FREE || closed) {
            *timer = (struct timer){.kind = kind, .deadline = LINUX_NEVER};
            return (int)i;
        }
    }
    return -1;
}

static bool is_on(const struct timer *timer)
{
    return timer->kind != TIMER_FREE && timer->deadline != LINUX_NEVER;
}

static void find_due(struct process *process)
{
    process->timers_due = LINUX_NEVER;
    process->timers_of_threads = 0;
    for (unsigned i = 0; i < LINUX_TIMERS; i++) {
        const struct timer *timer = &process->timers[i];
        if (is_on(timer) && timer->time != TIME_OF_CLOCK)
            process->timers_of_threads++;
        else if (is_on(timer) && timer->deadline < process->timers_due)
            process->timers_due = timer->deadline;
    }
}

void timer_start(struct process *process, unsigned number, uint64_t deadline, uint64_t period)
{
    struct timer *timer = &process->timers[number];
    timer->deadline = deadline;
    timer->period = period;
    timer->overrun = 0;
    find_due(process);
    timers_update(process);
}

/* Counts expiries of a timer on its descriptor; without one it is free. */
static void count(struct process *process, struct timer *timer, uint64_t expiries)
{
    const struct file *file = file_of(process, (unsigned)(timer - process->timers));
    if (!file) {
        timer->kind = TIMER_FREE;
        return;
    }
    (void)!write(file->host, &expiries, sizeof expiries);
    threads_repeat(process);
}

static void send(struct process *process, struct timer *timer, uint64_t expiries)
{
    const int32_t number = (int32_t)(timer - process->timers);
    struct thread *thread = timer->thread ? thread_find(process, timer->thread) : NULL;
    if (timer->signal.number == 0 || (timer->thread && !thread))
        return;
    if (signal_add_overrun(process, thread, number, expiries)) {
        timer->overrun += expiries;
        return;
    }
    timer->overrun = expiries - 1;
    timer->signal.user = (int32_t)timer->overrun;
    signal_send(process, thread, &timer->signal);
}

void timers_update(struct process *process)
{
    if (process->timers_due > linux_now(process) && process->timers_of_threads == 0)
        return;
    for (unsigned i = 0; i < LINUX_TIMERS; i++) {
        struct timer *timer = &process->timers[i];
        const uint64_t now = is_on(timer) ? timer_now(process, timer) : 0;
        if (!is_on(timer) || timer->deadline > now)
            continue;
        if (timer->time == TIME_OF_THREAD &&
            !thread_find(process, timer->timed)) { /* it stands still for ever */
            timer->deadline = LINUX_NEVER;
            continue;
        }
        uint64_t expiries = timer->period ? 1 + (now - timer->deadline) / timer->period : 1;
        timer->deadline = timer->period ? timer->deadline + expiries * timer->period : LINUX_NEVER;
        if (timer->kind == TIMER_OF_FILE)
            count(process, timer, expiries);
        else
            send(process, timer, expiries);
    }
    find_due(process);
}

void alarms_update(struct process *process)
{
    static const int32_t numbers[LINUX_ALARMS] = {SIGALRM, SIGVTALRM, SIGPROF};
    for (unsigned which = 0; which < LINUX_ALARMS; which++) {
        struct alarm *alarm = &process->alarms[which];
        const struct queued_signal signal = {.number = numbers[which], .code = SIGNAL_OF_KERNEL};
        if (alarm->deadline == LINUX_NEVER || alarm->deadline > alarm_now(process, which))
            continue;
        alarm->deadline = alarm->period ? alarm_now(process, which) + alarm->period : LINUX_NEVER;
        signal_send(process, NULL, &signal);
    }
}
