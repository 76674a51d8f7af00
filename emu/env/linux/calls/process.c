/* Calls on threads and the process. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "emu/env/calls/served.h"
#include "emu/env/linux/served.h"

enum { SHARES_MEMORY = 0x100, SETS_TLS = 0x80000, SETS_PARENT = 0x100000, CLEARS_CHILD = 0x200000 };
enum { SETS_CHILD = 0x1000000, IS_THREAD = 0x10000, SHARES_FILES = 0x600, SHARES_ACTIONS = 0x800 };

/* Ends the calling thread and wakes who waits for its number. The last one ends the program. */
int64_t linux_exit(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint64_t clear_tid = thread->clear_tid;
    const int32_t none = 0;
    futex_abandon(process, thread);
    if (process->user->threads)
        threads_abandon(process->user->threads, (uint64_t)thread->id);
    thread_remove(process, thread);
    if (clear_tid && address_space_write(&process->space, clear_tid, &none, sizeof none))
        (void)futex_wake(process, clear_tid, 1, UINT64_MAX);
    if (process->threads)
        return LINUX_RETURNS;
    guest_end(process->user, (int)(a[0] & 0xff));
    return LINUX_RETURNS;
}

int64_t linux_exit_group(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    guest_end(process->user, (int)(a[0] & 0xff));
    return LINUX_RETURNS;
}

static void refuse_processes(struct process *process, const char *call)
{
    if (!process->warned_of_fork)
        guest_warn(process->user,
                   "%s at 0x%" PRIx64 " is refused with ENOSYS: a program can start threads but no "
                   "other program and no copy of itself",
                   call, process->user->hart->pc);
    process->warned_of_fork = true;
}

int64_t linux_execve(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    (void)a;
    refuse_processes(process, "execve");
    return -ENOSYS;
}

/* a[]: flags, stack, address of the child's number for the parent, TLS, the same for the child. */
int64_t linux_clone(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const uint64_t needed = SHARES_MEMORY | SHARES_FILES | SHARES_ACTIONS | IS_THREAD;
    if ((a[0] & needed) != needed) {
        if ((a[0] & IS_THREAD) &&
            (a[0] & (SHARES_MEMORY | SHARES_ACTIONS)) != (SHARES_MEMORY | SHARES_ACTIONS))
            return -EINVAL;
        refuse_processes(process, a[0] & SHARES_MEMORY ? "clone without CLONE_THREAD" : "fork");
        return -ENOSYS;
    }
    if (process->thread_count == LINUX_THREADS)
        return -EAGAIN;
    struct thread *child = thread_new(process);
    child->io_priority = thread->io_priority;
    thread_store(child, &process->system.harts[thread->host]);
    child->context.pc += 4;
    child->context.x[X_A0] = 0;
    if (a[1])
        child->context.x[X_SP] = a[1];
    if (a[0] & SETS_TLS)
        child->context.x[X_TP] = a[3];
    child->blocked = thread->blocked;
    memcpy(child->name, thread->name, sizeof child->name);
    memcpy(child->affinity, thread->affinity, sizeof child->affinity);
    if (a[0] & CLEARS_CHILD)
        child->clear_tid = a[4];
    if (a[0] & SETS_PARENT)
        (void)address_space_write(&process->space, a[2], &child->id, sizeof child->id);
    if (a[0] & SETS_CHILD)
        (void)address_space_write(&process->space, a[4], &child->id, sizeof child->id);
    return child->id;
}

int64_t linux_gettid(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)process;
    (void)a;
    return thread->id;
}

int64_t linux_set_tid_address(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)process;
    thread->clear_tid = a[0];
    return thread->id;
}

int64_t linux_futex(struct process *process, struct thread *thread, const uint64_t a[6])
{
    return futex_call(process, thread, a);
}

int64_t linux_set_robust_list(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { HEAD = 24 };
    (void)process;
    if (a[1] != HEAD)
        return -EINVAL;
    thread->robust = a[0];
    thread->robust_size = a[1];
    return 0;
}

int64_t linux_get_robust_list(struct process *process, struct thread *thread, const uint64_t a[6])
{
    const struct thread *of = a[0] ? thread_find(process, (int32_t)a[0]) : thread;
    const uint64_t size = 24;
    if (!of)
        return -ESRCH;
    int64_t failed = guest_put(process->user, a[2], &size, sizeof size);
    return failed ? failed : guest_put(process->user, a[1], &of->robust, sizeof of->robust);
}

int64_t linux_umask(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)thread;
    const uint32_t old = process->umask;
    process->umask = a[0] & 0777;
    return old;
}

/* Returns the thread with a number, 0: the calling one; NULL: there is none. */
static struct thread *find(struct process *process, struct thread *thread, uint64_t id)
{
    return id ? thread_find(process, (int32_t)id) : thread;
}

static bool is_host(const struct process *process, const uint64_t *set, unsigned host)
{
    return host < process->hosts && (set[host / 64] >> host % 64 & 1);
}

int64_t linux_sched_getaffinity(struct process *process, struct thread *thread, const uint64_t a[6])
{
    uint64_t set[LINUX_HOSTS / 64] = {0};
    const uint64_t bytes = (process->hosts + 63) / 64 * 8;
    const struct thread *of = find(process, thread, a[0]);
    if (!of)
        return -ESRCH;
    if (a[1] * 8 < process->hosts || a[1] % 8 != 0)
        return -EINVAL;
    bool asked = false;
    for (unsigned i = 0; i < LINUX_HOSTS / 64; i++)
        asked |= of->affinity[i] != 0;
    for (unsigned i = 0; i < process->hosts; i++)
        if (!asked || is_host(process, of->affinity, i))
            set[i / 64] |= UINT64_C(1) << i % 64;
    int64_t failed = guest_put(process->user, a[2], set, bytes);
    return failed ? failed : (int64_t)bytes;
}

/* It is kept, but threads run on any host. */
int64_t linux_sched_setaffinity(struct process *process, struct thread *thread, const uint64_t a[6])
{
    uint64_t set[LINUX_HOSTS / 64] = {0};
    const uint64_t bytes = a[1] < sizeof set ? a[1] : sizeof set;
    struct thread *of = find(process, thread, a[0]);
    if (!of)
        return -ESRCH;
    const void *from = guest_readable(process->user, a[2], bytes);
    if (!from)
        return -EFAULT;
    memcpy(set, from, bytes);
    for (unsigned i = 0; i < process->hosts; i++)
        if (is_host(process, set, i)) {
            memcpy(of->affinity, set, sizeof set);
            return 0;
        }
    return -EINVAL;
}

int64_t linux_sysinfo(struct process *process, struct thread *thread, const uint64_t a[6])
{
    struct {
        int64_t uptime;
        uint64_t loads[3], total, free, shared, buffers, swap, swap_free;
        uint16_t processes, pad;
        uint64_t high, high_free;
        uint32_t unit;
    } info = {.uptime = (int64_t)(linux_now(process) / 1000000000), .total = process->memory.size, .unit = 1};
    (void)thread;
    info.free = frames_left(&process->space.frames);
    info.processes = (uint16_t)process->thread_count;
    return guest_put(process->user, a[0], &info, sizeof info);
}

int64_t linux_getrandom(struct process *process, struct thread *thread, const uint64_t a[6])
{
    enum { NONBLOCK = 1, RANDOM = 2, INSECURE = 4 };
    (void)thread;
    if ((a[2] & ~UINT64_C(7)) || (a[2] & (RANDOM | INSECURE)) == (RANDOM | INSECURE))
        return -EINVAL;
    return call_getrandom(process->user, a);
}
