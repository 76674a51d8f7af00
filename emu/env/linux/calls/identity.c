/* Calls on users, groups, sessions and priorities: there is one user, one process, and one priority. */
#include <errno.h>
#include <string.h>

#include "emu/env/linux/served.h"
#include "emu/env/loader/stack.h"

enum { SAME = -1, SET_USERS_MOST = 3 };

/* Returns 0 if all identities are the program's own, or -1, which keeps it; else -EPERM. */
static int64_t keep_identity(const uint64_t *identities, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if ((int32_t)identities[i] != SAME && (uint32_t)identities[i] != GUEST_USER_ID)
            return -EPERM;
    return 0;
}

int64_t linux_set_identity(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)process;
    (void)thread;
    return (int32_t)a[0] == SAME ? -EINVAL : keep_identity(a, 1);
}

int64_t linux_set_identities(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)process;
    (void)thread;
    return keep_identity(a, 2);
}

int64_t linux_set_all_identities(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)process;
    (void)thread;
    return keep_identity(a, SET_USERS_MOST);
}

/* Stores the real, effective and saved identity. */
int64_t linux_get_identities(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint32_t identity = GUEST_USER_ID;
    (void)thread;
    for (unsigned i = 0; i < SET_USERS_MOST; i++) {
        int64_t failed = guest_put(process->user, a[i], &identity, sizeof identity);
        if (failed)
            return failed;
    }
    return 0;
}

/* Returns the identity before, which remains. */
int64_t linux_set_file_identity(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)process;
    (void)thread;
    (void)a;
    return GUEST_USER_ID;
}

/* There are no further groups. */
int64_t linux_getgroups(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)process;
    (void)thread;
    return (int32_t)a[0] < 0 ? -EINVAL : 0;
}

static int64_t find_process(uint64_t id)
{
    return (int32_t)id < 0 ? -EINVAL : id == 0 || id == GUEST_PROCESS_ID ? 0 : -ESRCH;
}

int64_t linux_getsid(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)process;
    (void)thread;
    return a[0] == 0 || a[0] == GUEST_PROCESS_ID ? GUEST_PROCESS_ID : -ESRCH;
}

/* Returns whether a number is 0 or that of a thread. */
static bool is_thread(const struct process *process, uint64_t id)
{
    return id == 0 || thread_find(process, (int32_t)id);
}

int64_t linux_capget(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { VERSION_1 = 0x19980330, VERSION_2 = 0x20071026, VERSION_3 = 0x20080522, HALF = 12 };
    static const uint32_t none[6] = {0}, latest = VERSION_3;
    struct {
        uint32_t version;
        int32_t thread;
    } header;
    (void)thread;
    const void *from = guest_readable(process->user, a[0], sizeof header);
    if (!from)
        return -EFAULT;
    memcpy(&header, from, sizeof header);
    const bool one = header.version == VERSION_1;
    if (!one && header.version != VERSION_2 && header.version != VERSION_3) {
        const int64_t failed = guest_put(process->user, a[0], &latest, sizeof latest);
        return failed ? failed : a[1] ? -EINVAL : 0;
    }
    if (header.thread < 0)
        return -EINVAL;
    if (header.thread && !is_thread(process, (uint64_t)header.thread))
        return -ESRCH;
    return a[1] ? guest_put(process->user, a[1], none, one ? HALF : 2 * HALF) : 0;
}

enum { WHICH_LAST = 2, PRIORITY = 20 }; /* getpriority returns 20 - nice value */

int64_t linux_getpriority(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    if (a[0] > WHICH_LAST)
        return -EINVAL;
    return a[0] != 0 || is_thread(process, a[1]) ? PRIORITY : -ESRCH;
}

int64_t linux_setpriority(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    if (a[0] > WHICH_LAST)
        return -EINVAL;
    if (a[0] == 0 && !is_thread(process, a[1]))
        return -ESRCH;
    return (int32_t)a[2] < 0 ? -EACCES : 0;
}

enum { POLICY_OTHER = 0, POLICY_FIFO = 1, POLICY_TURNS = 2, POLICY_BATCH = 3, POLICY_IDLE = 5 };

static bool is_policy(uint64_t policy)
{
    return policy <= POLICY_BATCH || policy == POLICY_IDLE;
}

int64_t linux_sched_getscheduler(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    if ((int32_t)a[0] < 0)
        return -EINVAL;
    return is_thread(process, a[0]) ? POLICY_OTHER : -ESRCH;
}

int64_t linux_sched_getparam(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const int32_t priority = 0;
    (void)thread;
    if ((int32_t)a[0] < 0 || !a[1])
        return -EINVAL;
    if (!is_thread(process, a[0]))
        return -ESRCH;
    return guest_put(process->user, a[1], &priority, sizeof priority);
}

/* a[]: thread, policy, address of the priority. */
int64_t linux_sched_setscheduler(struct process *process, struct thread *thread, const uint64_t a[6])
{
    int32_t priority;
    (void)thread;
    if ((int32_t)a[0] < 0 || (int32_t)a[1] < 0 || !a[2])
        return -EINVAL;
    const void *from = guest_readable(process->user, a[2], sizeof priority);
    if (!from)
        return -EFAULT;
    memcpy(&priority, from, sizeof priority);
    if (!is_thread(process, a[0]))
        return -ESRCH;
    bool real_time = a[1] == POLICY_FIFO || a[1] == POLICY_TURNS;
    if (!is_policy(a[1]) || (real_time ? priority < 1 || priority > 99 : priority != 0))
        return -EINVAL;
    return real_time ? -EPERM : 0;
}

int64_t linux_sched_setparam(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint64_t arguments[6] = {a[0], POLICY_OTHER, a[1]};
    return linux_sched_setscheduler(process, thread, arguments);
}

int64_t linux_sched_get_priority_max(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { MOST = 99 };
    (void)process;
    (void)thread;
    return !is_policy(a[0]) ? -EINVAL : a[0] == POLICY_FIFO || a[0] == POLICY_TURNS ? MOST : 0;
}

int64_t linux_sched_get_priority_min(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)process;
    (void)thread;
    return !is_policy(a[0]) ? -EINVAL : a[0] == POLICY_FIFO || a[0] == POLICY_TURNS;
}

int64_t linux_sched_rr_get_interval(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint64_t time[2] = {0, LINUX_SLICE};
    (void)thread;
    if ((int32_t)a[0] < 0)
        return -EINVAL;
    return is_thread(process, a[0]) ? guest_put(process->user, a[1], time, sizeof time) : -ESRCH;
}

int64_t linux_getcpu(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint32_t words[2] = {thread->host, 0};
    for (int i = 0; i < 2; i++) {
        int64_t failed = a[i] ? guest_put(process->user, a[i], &words[i], sizeof words[i]) : 0;
        if (failed)
            return failed;
    }
    return 0;
}

int64_t linux_getpgid(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)process;
    (void)thread;
    int64_t failed = find_process(a[0]);
    return failed ? -ESRCH : GUEST_PROCESS_ID;
}

enum { IO_CLASS = 13, IO_LEVELS = 7, IO_NONE = 0, IO_REAL_TIME = 1, IO_BEST_EFFORT = 2, IO_IDLE = 3 };

/* Applies a priority of input and output to whom `which` and `who` name: a thread, a group of processes, a user. Without `set` returns the
 * highest one. Returns it, 0 or -errno. */
static int64_t io_priority(struct process *process, struct thread *asks, const uint64_t a[6], bool set)
{
    enum { THREAD = 1, GROUP, USER, LEVEL = 4 };
    const uint32_t which = (uint32_t)a[0], who = (uint32_t)a[1];
    const uint32_t unset = IO_BEST_EFFORT << IO_CLASS | LEVEL,
                   own = which == USER ? GUEST_USER_ID : GUEST_PROCESS_ID;
    struct thread *one = which == THREAD ? (who ? thread_find(process, (int32_t)who) : asks) : NULL;
    if (which < THREAD || which > USER)
        return -EINVAL;
    if (which == THREAD ? !one : who && who != own)
        return -ESRCH;
    if (set && one)
        one->io_priority = (uint16_t)a[2];
    if (one)
        return set ? 0 : one->io_priority;
    uint32_t highest = UINT32_MAX;
    for (struct thread *thread = process->threads; thread; thread = thread->next) {
        const uint32_t has = thread->io_priority >> IO_CLASS == IO_NONE ? unset : thread->io_priority;
        highest = has < highest ? has : highest;
        if (set)
            thread->io_priority = (uint16_t)a[2];
    }
    return set ? 0 : highest;
}

int64_t linux_ioprio_get(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return io_priority(process, thread, a, false);
}

/* a[]: kind of who, who, class in the bits from 13 on and level. Real-time classes need privileges. */
int64_t linux_ioprio_set(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint32_t class = (uint32_t)a[2] >> IO_CLASS & IO_LEVELS;
    if (class > IO_IDLE || (class == IO_NONE && (a[2] & IO_LEVELS)))
        return -EINVAL;
    return class == IO_REAL_TIME ? -EPERM : io_priority(process, thread, a, true);
}
