/* Calls on signals. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "emu/env/linux/served.h"
#include "emu/env/linux/time.h"
#include "emu/env/loader/stack.h"

enum { SET_SIZE = 8, CODE_USER = 0, CODE_QUEUE = -1, CODE_THREAD = -6, STACK_USED = 1, STACK_DISABLED = 2 };
#define NEVER_BLOCKED (UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1))

static int64_t get_set(struct process *process, uint64_t address, uint64_t size, uint64_t *set)
{
    if (size != SET_SIZE)
        return -EINVAL;
    const void *from = guest_readable(process->user, address, SET_SIZE);
    if (!from)
        return -EFAULT;
    memcpy(set, from, SET_SIZE);
    return 0;
}

/* Sends a signal with the sender's code to a thread, or to the process. */
static int64_t send(struct process *process, struct thread *to, uint64_t number, int32_t code)
{
    const struct queued_signal signal = {
        .number = (int32_t)number, .code = code, .sender = GUEST_PROCESS_ID, .user = GUEST_USER_ID};
    if (number >= GUEST_SIGNALS)
        return -EINVAL;
    if (number > 0)
        signal_send(process, to, &signal);
    return 0;
}

int64_t linux_kill(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const int32_t to = (int32_t)a[0];
    (void)thread;
    if (a[1] >= GUEST_SIGNALS)
        return -EINVAL;
    if (to != GUEST_PROCESS_ID && to != 0 && to != -GUEST_PROCESS_ID)
        return -ESRCH;
    return send(process, NULL, a[1], CODE_USER);
}

static int64_t send_to(struct process *process, int32_t id, uint64_t number)
{
    struct thread *to = thread_find(process, id);
    if (id <= 0 || number >= GUEST_SIGNALS)
        return -EINVAL;
    return to ? send(process, to, number, CODE_THREAD) : -ESRCH;
}

int64_t linux_tkill(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    return send_to(process, (int32_t)a[0], a[1]);
}

int64_t linux_tgkill(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    if ((int32_t)a[0] <= 0)
        return -EINVAL;
    if ((int32_t)a[0] != GUEST_PROCESS_ID)
        return (int32_t)a[1] <= 0 ? -EINVAL : -ESRCH;
    return send_to(process, (int32_t)a[1], a[2]);
}

/* Sends a signal with a sender's siginfo_t to a thread, or to the process. */
static int64_t queue(struct process *process, struct thread *to, uint64_t number, uint64_t address)
{
    struct {
        int32_t number, error, code, pad, sender, user;
        uint64_t value;
    } info;
    const void *from = guest_readable(process->user, address, 128);
    if (!from)
        return -EFAULT;
    memcpy(&info, from, sizeof info);
    if (number >= GUEST_SIGNALS)
        return -EINVAL;
    const struct queued_signal signal = {(int32_t)number, info.code, info.sender, info.user, info.value};
    if (number > 0)
        signal_send(process, to, &signal);
    return 0;
}

int64_t linux_rt_sigqueueinfo(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    if (!guest_readable(process->user, a[2], 128))
        return -EFAULT;
    return (int32_t)a[0] == GUEST_PROCESS_ID ? queue(process, NULL, a[1], a[2]) : -ESRCH;
}

/* a[]: process, thread, signal, siginfo_t. */
int64_t linux_rt_tgsigqueueinfo(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    if (!guest_readable(process->user, a[3], 128))
        return -EFAULT;
    if ((int32_t)a[0] <= 0 || (int32_t)a[1] <= 0)
        return -EINVAL;
    struct thread *to = (int32_t)a[0] == GUEST_PROCESS_ID ? thread_find(process, (int32_t)a[1]) : NULL;
    return to ? queue(process, to, a[2], a[3]) : -ESRCH;
}

int64_t linux_sigaltstack(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { LEAST = 2048 }; /* MINSIGSTKSZ */
    struct {
        uint64_t base;
        int32_t flags, pad;
        uint64_t size;
    } old = {thread->stack, 0, 0, thread->stack_size}, new;
    const uint64_t sp = process->system.harts[thread->host].x[X_SP];
    const bool used = signal_stack_used(thread, sp);
    old.flags = thread->stack_size == 0 ? STACK_DISABLED : used ? STACK_USED : 0;
    const void *from = a[0] ? guest_readable(process->user, a[0], sizeof new) : NULL;
    if (a[0] && !from)
        return -EFAULT;
    if (from) {
        memcpy(&new, from, sizeof new);
        if (used)
            return -EPERM;
        if (new.flags & ~(STACK_USED | STACK_DISABLED))
            return -EINVAL;
        if (!(new.flags &STACK_DISABLED) && new.size < LEAST)
            return -ENOMEM;
        thread->stack = new.flags &STACK_DISABLED ? 0 : new.base;
        thread->stack_size = new.flags &STACK_DISABLED ? 0 : new.size;
    }
    return a[1] ? guest_put(process->user, a[1], &old, sizeof old) : 0;
}

int64_t linux_rt_sigprocmask(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { BLOCK = 0, UNBLOCK = 1, SET = 2 };
    const uint64_t old = thread->blocked;
    uint64_t set = 0;
    if (a[3] != SET_SIZE)
        return -EINVAL;
    int64_t failed = a[1] ? get_set(process, a[1], a[3], &set) : 0;
    if (failed)
        return failed;
    if (a[1] && a[0] > SET)
        return -EINVAL;
    if (a[1])
        thread->blocked = (a[0] == BLOCK ? old | set : a[0] == UNBLOCK ? old & ~set : set) & ~NEVER_BLOCKED;
    return a[2] ? guest_put(process->user, a[2], &old, sizeof old) : 0;
}

int64_t linux_rt_sigpending(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint64_t set = (thread->signals.pending | process->signals.pending) & thread->blocked;
    if (a[1] > SET_SIZE)
        return -EINVAL;
    return guest_put(process->user, a[0], &set, a[1]);
}

int64_t linux_rt_sigsuspend(struct process *process, struct thread *thread, const uint64_t a[6])
{
    uint64_t set;
    int64_t failed = get_set(process, a[0], a[1], &set);
    if (failed)
        return failed;
    thread->saved_blocked = thread->blocked;
    thread->restores = true;
    thread->blocked = set & ~NEVER_BLOCKED;
    if (signal_is_due(process, thread))
        return -EINTR;
    thread_wait(process, thread, WAIT_SIGNAL, LINUX_NEVER, 0);
    thread->wait_bits = 0;
    return LINUX_WAITS;
}

int64_t linux_rt_sigtimedwait(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct queued_signal signal;
    uint64_t set, deadline = LINUX_NEVER;
    int64_t failed = get_set(process, a[0], a[3], &set);
    if (!failed && a[2])
        failed = time_deadline(process, a[2], false, false, &deadline);
    if (failed)
        return failed;
    if (signal_take(process, thread, set, &signal)) {
        failed = a[1] ? signal_put_info(process, a[1], &signal) : 0;
        return failed ? failed : signal.number;
    }
    if (deadline <= linux_now(process))
        return -EAGAIN;
    thread_wait(process, thread, WAIT_SIGNAL, deadline, -EAGAIN);
    thread->wait_bits = set;
    thread->info_address = a[1];
    return LINUX_WAITS;
}

int64_t linux_rt_sigreturn(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)a;
    return signal_return(process, thread);
}
