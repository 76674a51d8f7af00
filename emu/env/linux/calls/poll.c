/* Waiting until one of several files is ready: poll, select, epoll. Who waits repeats its call when another thread has used a
 * file, or when a standard stream or a socket is ready. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "emu/env/linux/calls/descriptor.h"
#include "emu/env/linux/served.h"
#include "emu/env/linux/time.h"

enum { POLLED_MOST = FILES_MAX, SET_SIZE = 8 };

/* The kernel's struct pollfd. */
struct guest_poll {
    int32_t descriptor;
    int16_t events, found;
};

/* What a call waits for. */
struct wait {
    uint64_t deadline;
    bool masks;    /* blocks other signals meanwhile: */
    uint64_t mask; /* these */
};

/* Reads a call's time limit (a span; address 0: none) and signal mask. Returns 0 or -errno. */
static int64_t get_wait(struct process *process, const struct thread *thread, uint64_t limit, uint64_t mask,
                        uint64_t mask_size, struct wait *wait)
{
    *wait = (struct wait){.deadline = LINUX_NEVER, .masks = mask != 0};
    int64_t failed = limit ? time_deadline(process, limit, false, false, &wait->deadline) : 0;
    if (failed)
        return failed;
    if (mask && mask_size != SET_SIZE)
        return -EINVAL;
    const void *from = mask ? guest_readable(process->user, mask, SET_SIZE) : NULL;
    if (mask && !from)
        return -EFAULT;
    if (from)
        memcpy(&wait->mask, from, SET_SIZE);
    if (thread->poll_deadline)
        wait->deadline = thread->poll_deadline;
    return 0;
}

/* Returns 0 if the call has nothing to wait for any more, LINUX_WAITS, or -EINTR. */
static int64_t wait_ready(struct process *process, struct thread *thread, const struct wait *wait)
{
    if (wait->deadline <= linux_now(process))
        return 0;
    if (wait->masks) {
        thread->saved_blocked = thread->blocked;
        thread->restores = true;
        thread->blocked = wait->mask;
    }
    if (signal_is_due(process, thread))
        return -EINTR;
    thread_wait(process, thread, WAIT_POLL, wait->deadline, 0);
    thread->poll_deadline = wait->deadline;
    thread->reads = false;
    return LINUX_WAITS;
}

/* While no other thread can run, lets the host's time pass instead of simulated time until an input is ready, of this thread or of one
 * that waits. Returns whether one is. */
static bool input_comes(struct process *process, struct thread *thread, const struct wait *wait)
{
    const uint64_t now = linux_now(process), next = threads_next(process);
    const uint64_t until = wait->deadline < next ? wait->deadline : next;
    if (thread->inputs == 0 || until <= now || threads_others_run(process, thread))
        return false;
    return threads_await_input(process, thread, until);
}

/* Asks the host which are ready now, in pieces: it takes no more of them at once than a process may have open. */
static void poll_hosts(struct pollfd *hosts, uint64_t count)
{
    enum { PIECE = 64 };
    for (uint64_t i = 0; i < count; i += PIECE)
        (void)poll(hosts + i, count - i < PIECE ? count - i : PIECE, 0);
}

/* Asks the host about the descriptors. Returns how many are ready. */
static int64_t ask(const struct process *process, struct thread *thread, struct guest_poll *polls,
                   uint64_t count)
{
    struct pollfd hosts[POLLED_MOST];
    int64_t ready = 0;
    thread->inputs = 0;
    descriptor_show_signals(process, thread);
    for (uint64_t i = 0; i < count; i++) {
        const struct file *file =
            polls[i].descriptor < 0 ? NULL : files_get(&process->user->files, (uint64_t)polls[i].descriptor);
        hosts[i] = (struct pollfd){.fd = file ? file->host : -1, .events = polls[i].events};
        if (file && descriptor_only_reads(file)) /* an event counter on the host, which could be written to */
            hosts[i].events &= ~(POLLOUT | POLLWRNORM);
        polls[i].found = polls[i].descriptor >= 0 && !file ? POLLNVAL : 0;
        ready += polls[i].found != 0;
        if (file && descriptor_is_outer(process, file))
            thread_add_input(thread, file->host, polls[i].events);
    }
    poll_hosts(hosts, count);
    for (uint64_t i = 0; i < count; i++)
        if (hosts[i].fd >= 0 && hosts[i].revents) {
            polls[i].found = hosts[i].revents;
            ready++;
        }
    return ready;
}

/* Returns how many descriptors are ready, 0 at the time limit, LINUX_WAITS or -errno. */
static int64_t serve_poll(struct process *process, struct thread *thread, struct guest_poll *polls,
                          uint64_t count, const struct wait *wait)
{
    thread->poll_deadline = 0;
    int64_t ready = ask(process, thread, polls, count);
    if (ready == 0 && input_comes(process, thread, wait))
        ready = ask(process, thread, polls, count);
    return ready ? ready : wait_ready(process, thread, wait);
}

int64_t descriptor_await_input(struct process *process, struct thread *thread, uint64_t descriptor)
{
    struct guest_poll input = {.descriptor = (int32_t)descriptor, .events = POLLIN};
    const struct wait wait = {.deadline = LINUX_NEVER};
    thread->poll_deadline = 0; /* the other threads may have ended since this one began to wait */
    int64_t ready = process->thread_count > 1 ? serve_poll(process, thread, &input, 1, &wait) : 0;
    thread->reads = ready == LINUX_WAITS;
    return ready < 0 ? ready : 0;
}

int64_t descriptor_await(struct process *process, struct thread *thread, uint64_t descriptor, short events,
                         uint64_t deadline)
{
    struct guest_poll wanted = {.descriptor = (int32_t)descriptor, .events = events};
    const struct wait wait = {.deadline = thread->poll_deadline ? thread->poll_deadline : deadline};
    const int64_t ready = serve_poll(process, thread, &wanted, 1, &wait);
    thread->reads = ready == LINUX_WAITS;
    if (ready <= 0)
        return ready;
    thread->poll_deadline = wait.deadline;
    return LINUX_TURNS;
}

int64_t descriptor_try_later(struct process *process, struct thread *thread, uint64_t deadline)
{
    const uint64_t now = linux_now(process), later = now + MILLISECOND;
    const uint64_t until = thread->poll_deadline ? thread->poll_deadline : deadline;
    thread->poll_deadline = 0;
    if (until <= now)
        return 0;
    if (signal_is_due(process, thread))
        return -EINTR;
    if (!threads_others_run(process, thread))
        (void)poll(NULL, 0, 1); /* who makes it ready may be outside of the program */
    thread->inputs = 0;
    thread_wait(process, thread, WAIT_POLL, until < later ? until : later, 0);
    thread->poll_deadline = until;
    thread->reads = true;
    return LINUX_WAITS;
}

/* Stores what is left of a time limit, if the program can change it. */
static int64_t leave_rest(struct process *process, uint64_t limit, const struct wait *wait, int64_t result)
{
    const uint64_t now = linux_now(process);
    if (limit && wait->deadline != LINUX_NEVER)
        (void)time_put(process, limit, wait->deadline > now ? wait->deadline - now : 0);
    return result;
}

/* a[]: descriptors, their number, time limit, signal mask, its size. */
int64_t linux_ppoll(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct guest_poll polls[POLLED_MOST];
    struct wait wait;
    if (a[1] > POLLED_MOST)
        return -EINVAL;
    int64_t failed = get_wait(process, thread, a[2], a[3], a[4], &wait);
    void *at = failed ? NULL : guest_writable(process->user, a[0], a[1] * sizeof polls[0]);
    if (!at)
        return failed ? failed : -EFAULT;
    memcpy(polls, at, a[1] * sizeof polls[0]);
    int64_t ready = serve_poll(process, thread, polls, a[1], &wait);
    if (ready >= 0)
        memcpy(at, polls, a[1] * sizeof polls[0]);
    return ready == LINUX_WAITS ? ready : leave_rest(process, a[2], &wait, ready);
}

/* What select waits for, by set: to read, to write, exceptions. */
static const struct {
    int16_t events, found;
} select_events[3] = {{POLLIN | POLLRDNORM, POLLIN | POLLRDNORM | POLLHUP | POLLERR},
                      {POLLOUT | POLLWRNORM, POLLOUT | POLLWRNORM | POLLERR},
                      {POLLPRI, POLLPRI}};

struct sets {
    uint64_t bits[3][POLLED_MOST / 64];
};

/* Lists the descriptors of the sets. Returns their number, or -EBADF. */
static int64_t list_sets(const struct process *process, const struct sets *sets, uint64_t most,
                         struct guest_poll *polls)
{
    int64_t count = 0;
    for (uint64_t fd = 0; fd < most; fd++) {
        int16_t events = 0;
        for (int i = 0; i < 3; i++)
            if (sets->bits[i][fd / 64] >> fd % 64 & 1)
                events = (int16_t)(events | select_events[i].events);
        if (events && !files_get(&process->user->files, fd))
            return -EBADF;
        if (events)
            polls[count++] = (struct guest_poll){.descriptor = (int32_t)fd, .events = events};
    }
    return count;
}

/* Keeps of the sets what is ready. Returns the number of bits. */
static int64_t keep_ready(struct sets *sets, const struct guest_poll *polls, int64_t count)
{
    const struct sets asked = *sets;
    int64_t ready = 0;
    *sets = (struct sets){0};
    for (int64_t i = 0; i < count; i++)
        for (int set = 0; set < 3; set++) {
            const int32_t fd = polls[i].descriptor;
            if ((asked.bits[set][fd / 64] >> fd % 64 & 1) && (polls[i].found & select_events[set].found)) {
                sets->bits[set][fd / 64] |= UINT64_C(1) << fd % 64;
                ready++;
            }
        }
    return ready;
}

/* Copies the sets from or to the guest. Returns 0 or -EFAULT. */
static int64_t copy_sets(struct process *process, const uint64_t a[6], struct sets *sets, bool store)
{
    const uint64_t bytes = (a[0] + 63) / 64 * 8;
    for (int i = 0; i < 3; i++) {
        void *at = a[1 + i] ? guest_writable(process->user, a[1 + i], bytes) : NULL;
        if (a[1 + i] && !at)
            return -EFAULT;
        if (at)
            memcpy(store ? at : sets->bits[i], store ? sets->bits[i] : at, bytes);
    }
    return 0;
}

/* a[]: highest descriptor + 1, three sets, time limit, address of the mask's address and size. */
int64_t linux_pselect6(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct guest_poll polls[POLLED_MOST] = {{0}};
    struct sets sets = {0};
    struct wait wait;
    uint64_t mask[2] = {0, 0}, arguments[6];
    memcpy(arguments, a, sizeof arguments);
    if ((int32_t)a[0] < 0)
        return -EINVAL;
    arguments[0] = (uint32_t)a[0] < POLLED_MOST ? (uint32_t)a[0] : POLLED_MOST;
    const void *from = a[5] ? guest_readable(process->user, a[5], sizeof mask) : NULL;
    if (a[5] && !from)
        return -EFAULT;
    if (from)
        memcpy(mask, from, sizeof mask);
    int64_t result = get_wait(process, thread, a[4], mask[0], mask[1], &wait);
    if (!result)
        result = copy_sets(process, arguments, &sets, false);
    int64_t count = result ? result : list_sets(process, &sets, arguments[0], polls);
    if (count < 0)
        return count;
    result = serve_poll(process, thread, polls, (uint64_t)count, &wait);
    if (result < 0)
        return result;
    result = keep_ready(&sets, polls, count);
    int64_t failed = copy_sets(process, arguments, &sets, true);
    return leave_rest(process, a[4], &wait, failed ? failed : result);
}

/* The kernel's struct epoll_event. */
struct guest_event {
    uint32_t events, pad;
    uint64_t data;
};

int64_t linux_epoll_create1(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    if (a[0] & ~(uint64_t)GUEST_CLOEXEC)
        return -EINVAL;
    int host = epoll_create1(EPOLL_CLOEXEC);
    return host < 0 ? -errno : descriptor_add_own(process, host, a[0], FILE_EPOLL, 0);
}

/* a[]: epoll, operation, descriptor, event. The host's epoll has the host's descriptors. */
int64_t linux_epoll_ctl(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const struct file *epoll = files_get(&process->user->files, a[0]),
                      *file = files_get(&process->user->files, a[2]);
    struct guest_event event = {0};
    (void)thread;
    const void *from = a[1] == EPOLL_CTL_DEL ? NULL : guest_readable(process->user, a[3], sizeof event);
    if (a[1] != EPOLL_CTL_DEL && !from)
        return -EFAULT;
    if (!epoll || !file)
        return -EBADF;
    if (from)
        memcpy(&event, from, sizeof event);
    const uint32_t never = EPOLLWAKEUP | (descriptor_only_reads(file) ? EPOLLOUT | EPOLLWRNORM : 0);
    struct epoll_event host = {.events = event.events & ~never, .data.u64 = event.data};
    if (file->folder)
        return -EPERM;
    if (epoll_ctl(epoll->host, (int)a[1], file->host, &host) != 0)
        return -errno;
    process->epolls_input |= descriptor_is_outer(process, file);
    threads_repeat(process); /* one may wait for what is ready already */
    return 0;
}

/* Serves epoll_pwait and epoll_pwait2: a[0..2] are epoll, events and their most. */
static int64_t serve_epoll(struct process *process, struct thread *thread, const uint64_t a[6],
                           const struct wait *wait)
{
    enum { MOST = 256 };
    struct epoll_event found[MOST];
    const struct file *epoll = files_get(&process->user->files, a[0]);
    const int most = (int32_t)a[2] < MOST ? (int32_t)a[2] : MOST;
    thread->poll_deadline = 0;
    thread->inputs = 0;
    if (most <= 0 || (uint32_t)a[2] > INT32_MAX / sizeof(struct guest_event))
        return -EINVAL;
    uint8_t *to = guest_writable(process->user, a[1], (uint64_t)most * sizeof(struct guest_event));
    if (!to || !epoll)
        return to ? -EBADF : -EFAULT;
    descriptor_show_signals(process, thread);
    if (process->epolls_input)
        thread_add_input(thread, epoll->host, POLLIN);
    int count = epoll_wait(epoll->host, found, most, 0);
    if (count == 0 && input_comes(process, thread, wait))
        count = epoll_wait(epoll->host, found, most, 0);
    if (count < 0)
        return -errno;
    for (int i = 0; i < count; i++) {
        const struct guest_event event = {.events = found[i].events, .data = found[i].data.u64};
        memcpy(to + (size_t)i * sizeof event, &event, sizeof event);
    }
    return count ? count : wait_ready(process, thread, wait);
}

/* a[3..5]: time limit in ms, signal mask, its size. */
int64_t linux_epoll_pwait(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct wait wait;
    int64_t failed = get_wait(process, thread, 0, a[4], a[5], &wait);
    const int32_t limit = (int32_t)a[3];
    if (failed)
        return failed;
    if (!thread->poll_deadline && limit >= 0)
        wait.deadline = linux_now(process) + (uint64_t)limit * MILLISECOND;
    return serve_epoll(process, thread, a, &wait);
}

/* a[3..5]: address of the time limit, signal mask, its size. */
int64_t linux_epoll_pwait2(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct wait wait;
    int64_t failed = get_wait(process, thread, a[3], a[4], a[5], &wait);
    return failed ? failed : serve_epoll(process, thread, a, &wait);
}
