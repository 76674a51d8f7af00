/* Threads take turns on hosts, in the order in which they became ready. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "emu/env/linux/state.h"
#include "emu/env/linux/time.h"
#include "emu/machine/scheduler.h"
#include "emu/sim/alloc.h"

struct thread *thread_new(struct process *process)
{
    struct thread *thread = alloc(1, sizeof *thread), **last = &process->threads;
    thread->id = process->next_id++;
    thread->state = THREAD_READY;
    thread->order = process->next_order++;
    thread->deadline = LINUX_NEVER;
    (void)memcpy(thread->name, "program", sizeof "program");
    while (*last)
        last = &(*last)->next;
    *last = thread;
    process->thread_count++;
    return thread;
}

struct thread *thread_find(const struct process *process, int32_t id)
{
    struct thread *thread = process->threads;
    while (thread && thread->id != id)
        thread = thread->next;
    return thread;
}

void thread_remove(struct process *process, struct thread *thread)
{
    struct thread **at = &process->threads;
    while (*at != thread)
        at = &(*at)->next;
    *at = thread->next;
    process->ended_ran += thread->ran + (linux_now(process) - thread->began);
    process->on[thread->host] = NULL;
    process->thread_count--;
    free(thread->input);
    free(thread);
}

void thread_load(const struct thread *thread, struct hart *hart)
{
    const struct context *c = &thread->context;
    memcpy(hart->x, c->x, sizeof c->x);
    memcpy(hart->f, c->f, sizeof c->f);
    hart->priv.mepc = c->pc;
    hart->fflags = c->fflags;
    hart->frm = c->frm;
    hart->reserved = false;
    priv_changed(hart);
}

void thread_store(struct thread *thread, const struct hart *hart)
{
    struct context *c = &thread->context;
    memcpy(c->x, hart->x, sizeof c->x);
    memcpy(c->f, hart->f, sizeof c->f);
    c->pc = hart->priv.mepc;
    c->fflags = hart->fflags;
    c->frm = hart->frm;
}

void thread_wait(struct process *process, struct thread *thread, enum thread_wait wait, uint64_t deadline,
                 int64_t timeout_result)
{
    (void)process;
    thread->state = THREAD_WAITING;
    thread->wait = wait;
    thread->deadline = deadline;
    thread->timeout_result = timeout_result;
    thread->rest_address = thread->info_address = 0;
}

static void make_ready(struct process *process, struct thread *thread)
{
    thread->state = THREAD_READY;
    thread->deadline = LINUX_NEVER;
    thread->order = process->next_order++;
}

void thread_wake(struct process *process, struct thread *thread, int64_t result)
{
    const uint64_t now = linux_now(process), deadline = thread->deadline;
    if (thread->rest_address && result < 0) /* an interrupted sleep */
        time_leave(process, thread->rest_address, deadline > now ? deadline - now : 0);
    thread->poll_deadline = 0;
    thread->context.x[X_A0] = (uint64_t)result;
    thread->context.pc += 4;
    make_ready(process, thread);
}

void thread_repeat(struct process *process, struct thread *thread)
{
    make_ready(process, thread);
}

void threads_repeat(struct process *process)
{
    for (struct thread *thread = process->threads; thread; thread = thread->next)
        if (thread->state == THREAD_WAITING && (thread->wait == WAIT_AGAIN || thread->wait == WAIT_POLL))
            make_ready(process, thread);
}

static struct thread *first_ready(const struct process *process)
{
    struct thread *first = NULL;
    for (struct thread *thread = process->threads; thread; thread = thread->next)
        if (thread->state == THREAD_READY && (!first || thread->order < first->order))
            first = thread;
    return first;
}

void threads_call_hosts(struct process *process)
{
    unsigned ready = 0;
    for (struct thread *thread = process->threads; thread; thread = thread->next)
        ready += thread->state == THREAD_READY;
    for (unsigned i = 0; i < process->hosts && ready > 0; i++)
        if (!process->on[i]) {
            system_set_interrupt(&process->system, i, process->irq, true);
            ready--;
        }
}

bool threads_end_turn(struct process *process, struct thread *thread, bool signalled)
{
    struct hart *hart = &process->system.harts[thread->host];
    const uint64_t now = linux_now(process);
    const bool over = now >= thread->slice_end && first_ready(process);
    thread->settles = (over || signalled) && tasks_keep(process->tasks, hart);
    hart->offload.settles = thread->settles;
    if (thread->settles)
        thread->slice_end = now + LINUX_SETTLE;
    return over && !thread->settles;
}

static void put_on(struct process *process, unsigned host, struct thread *thread)
{
    thread->state = THREAD_RUNNING;
    thread->host = host;
    thread->began = linux_now(process);
    thread->slice_end = thread->began + LINUX_SLICE;
    process->on[host] = thread;
    thread->settles = process->system.harts[host].offload.settles = false;
    thread_load(thread, &process->system.harts[host]);
}

static void take_off(struct process *process, unsigned host)
{
    process->on[host]->ran += linux_now(process) - process->on[host]->began;
    process->on[host] = NULL;
}

uint64_t thread_ran(const struct process *process, const struct thread *thread)
{
    bool runs = thread->state == THREAD_RUNNING;
    return thread->ran + (runs ? linux_now(process) - thread->began : 0);
}

uint64_t threads_ran(const struct process *process)
{
    uint64_t sum = process->ended_ran;
    for (const struct thread *t = process->threads; t; t = t->next)
        sum += thread_ran(process, t);
    return sum;
}

bool threads_choose(struct process *process, unsigned host, bool yields)
{
    struct thread *thread = process->on[host], *next = first_ready(process);
    if (thread && thread->state == THREAD_RUNNING && (!yields || !next))
        return true;
    if (thread) {
        if (thread->state == THREAD_RUNNING) {
            thread_store(thread, &process->system.harts[host]);
            make_ready(process, thread);
        }
        take_off(process, host);
    }
    if (next)
        put_on(process, host, next);
    return next != NULL;
}

bool threads_others_run(const struct process *process, const struct thread *thread)
{
    for (const struct thread *t = process->threads; t; t = t->next)
        if (t != thread && (t->state != THREAD_WAITING || t->wait == WAIT_LAUNCH))
            return true;
    return false;
}

void thread_add_input(struct thread *thread, int host, short events)
{
    if (thread->inputs == thread->input_room) {
        thread->input_room = thread->input_room ? 2 * thread->input_room : 4;
        thread->input = alloc_resize(thread->input, thread->input_room * sizeof *thread->input);
    }
    thread->input[thread->inputs++] = (struct pollfd){.fd = host, .events = events};
}

static bool awaits_input(const struct thread *thread)
{
    return thread->state == THREAD_WAITING && thread->wait == WAIT_POLL && thread->inputs > 0;
}

static int by_descriptor(const void *a, const void *b)
{
    const int one = ((const struct pollfd *)a)->fd, other = ((const struct pollfd *)b)->fd;
    return (one > other) - (one < other);
}

/* Merges inputs of the same descriptor: the host polls no more of them at once than a process may have open. Returns their new
 * number. */
static nfds_t merge_inputs(struct pollfd *inputs, nfds_t count)
{
    nfds_t kept = 0;
    qsort(inputs, count, sizeof *inputs, by_descriptor);
    for (nfds_t i = 1; i < count; i++)
        if (inputs[i].fd == inputs[kept].fd)
            inputs[kept].events = (short)(inputs[kept].events | inputs[i].events);
        else
            inputs[++kept] = inputs[i];
    return kept + 1;
}

/* Gathers what threads wait for on the host, and what `asks` (may be NULL) is about to wait for. Returns it, to be freed; NULL:
 * nothing. */
static struct pollfd *gather_inputs(const struct process *process, const struct thread *asks, nfds_t *count)
{
    *count = 0;
    for (const struct thread *t = process->threads; t; t = t->next)
        *count += t == asks || awaits_input(t) ? t->inputs : 0;
    if (*count == 0)
        return NULL;
    struct pollfd *inputs = alloc(*count, sizeof *inputs), *to = inputs;
    for (const struct thread *t = process->threads; t; t = t->next)
        if ((t == asks || awaits_input(t)) && t->inputs > 0) {
            memcpy(to, t->input, t->inputs * sizeof *to);
            to += t->inputs;
        }
    *count = merge_inputs(inputs, *count);
    return inputs;
}

/* Waits in real time until one of the inputs is ready on the host, at most for `span` ns (LINUX_NEVER: for ever), or until a signal ends
 * the run. Returns whether one is ready, or may be: the host refuses to tell. */
static bool poll_inputs(const struct process *process, struct pollfd *inputs, nfds_t count, uint64_t span)
{
    enum { SLICE = 100 }; /* ms: a signal to croft just before poll() would not end it */
    uint64_t ms = span == 0 ? 0 : span == LINUX_NEVER ? span : span / MILLISECOND + 1;
    int ready;
    do {
        const uint64_t slice = ms < SLICE ? ms : SLICE;
        ready = poll(inputs, count, (int)slice);
        ms -= ready == 0 && span != LINUX_NEVER ? slice : 0;
    } while ((ready == 0 || (ready < 0 && errno == EINTR)) && ms > 0 && !guest_interrupted(process->user));
    return ready > 0 || (ready < 0 && errno != EINTR);
}

bool threads_await_input(struct process *process, const struct thread *asks, uint64_t until)
{
    nfds_t count;
    struct pollfd *inputs = gather_inputs(process, asks, &count);
    const uint64_t now = linux_now(process);
    uint64_t span = 0;
    if (!inputs)
        return false;
    const bool stands = until == LINUX_NEVER || !threads_others_run(process, asks);
    if (stands && until > now && until != process->awaited)
        span = until == LINUX_NEVER ? until : until - now;
    const bool ready = poll_inputs(process, inputs, count, span);
    if (span > 0)
        process->awaited = ready || until == LINUX_NEVER ? 0 : until;
    free(inputs);
    if (!ready)
        return false;
    for (struct thread *t = process->threads; t; t = t->next)
        if (awaits_input(t))
            make_ready(process, t);
    return true;
}

void threads_update(struct process *process)
{
    const uint64_t now = linux_now(process), next = threads_next(process);
    (void)threads_await_input(process, NULL, next == LINUX_NEVER ? now : next);
    for (struct thread *thread = process->threads; thread; thread = thread->next)
        if (thread->state == THREAD_WAITING && thread->deadline <= now) {
            if (thread->wait == WAIT_POLL) /* it stores that nothing is ready */
                make_ready(process, thread);
            else
                thread_wake(process, thread, thread->timeout_result);
        }
    bool ready = first_ready(process) != NULL;
    for (unsigned i = 0; i < process->hosts; i++) {
        const struct thread *thread = process->on[i];
        if (thread && (ready || thread->settles) && thread->slice_end <= now)
            system_set_interrupt(&process->system, i, process->irq, true);
    }
    threads_call_hosts(process);
}

uint64_t alarm_now(const struct process *process, unsigned which)
{
    return which == ITIMER_REAL ? linux_now(process) : threads_ran(process);
}

uint64_t timer_now(const struct process *process, const struct timer *timer)
{
    if (timer->time == TIME_OF_CLOCK)
        return linux_now(process);
    if (timer->time == TIME_OF_PROCESS)
        return threads_ran(process);
    const struct thread *thread = thread_find(process, timer->timed);
    return thread ? thread_ran(process, thread) : LINUX_NEVER - 1;
}

/* Returns when, on the process's clock, the first timer of processor time may be due while `running` threads run, or LINUX_NEVER. */
static uint64_t timers_next(const struct process *process, uint64_t running)
{
    uint64_t next = LINUX_NEVER;
    for (unsigned i = 0; i < LINUX_TIMERS && process->timers_of_threads > 0 && running > 0; i++) {
        const struct timer *timer = &process->timers[i];
        if (timer->kind == TIMER_FREE || timer->deadline == LINUX_NEVER || timer->time == TIME_OF_CLOCK)
            continue;
        const struct thread *thread =
            timer->time == TIME_OF_THREAD ? thread_find(process, timer->timed) : NULL;
        if (timer->time == TIME_OF_THREAD && (!thread || thread->state != THREAD_RUNNING))
            continue;
        const uint64_t now = timer_now(process, timer),
                       rest = timer->deadline > now ? timer->deadline - now : 0;
        const uint64_t due = linux_now(process) + (thread ? rest : (rest + running - 1) / running);
        next = due < next ? due : next;
    }
    return next;
}

/* The time that threads run advances by as many ns each ns as there are running threads. */
static uint64_t alarms_next(const struct process *process)
{
    uint64_t next = process->alarms[ITIMER_REAL].deadline, running = 0;
    for (unsigned i = 0; i < process->hosts; i++)
        running += process->on[i] != NULL;
    for (unsigned which = ITIMER_REAL + 1; which < LINUX_ALARMS && running > 0; which++) {
        const uint64_t deadline = process->alarms[which].deadline;
        if (deadline == LINUX_NEVER)
            continue;
        const uint64_t now = alarm_now(process, which), rest = deadline > now ? deadline - now : 0;
        const uint64_t due = linux_now(process) + (rest + running - 1) / running;
        next = due < next ? due : next;
    }
    const uint64_t timer = timers_next(process, running);
    return timer < next ? timer : next;
}

uint64_t threads_next(const struct process *process)
{
    uint64_t next = alarms_next(process);
    next = process->timers_due < next ? process->timers_due : next;
    bool ready = first_ready(process) != NULL;
    for (const struct thread *thread = process->threads; thread; thread = thread->next) {
        if (thread->state == THREAD_WAITING && thread->deadline < next)
            next = thread->deadline;
        if (thread->state == THREAD_RUNNING && (ready || thread->settles) && thread->slice_end < next)
            next = thread->slice_end;
    }
    return next;
}
