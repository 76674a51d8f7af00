/* Futexes (futex(2)), by virtual address, because the process shares no memory with others. */
#include <errno.h>
#include <string.h>

#include "emu/env/linux/state.h"
#include "emu/env/linux/time.h"

enum {
    FUTEX_WAIT = 0,
    FUTEX_WAKE = 1,
    FUTEX_REQUEUE = 3,
    FUTEX_CMP_REQUEUE = 4,
    FUTEX_WAKE_OP = 5,
    FUTEX_LOCK_PI = 6,
    FUTEX_UNLOCK_PI = 7,
    FUTEX_TRYLOCK_PI = 8,
    FUTEX_WAIT_BITSET = 9,
    FUTEX_WAKE_BITSET = 10,
    FUTEX_LOCK_PI2 = 13,
    FUTEX_PRIVATE = 128,
    FUTEX_REALTIME = 256,
};

/* Bits of a robust or priority-inheriting mutex. */
#define FUTEX_WAITERS    UINT32_C(0x80000000)
#define FUTEX_OWNER_DIED UINT32_C(0x40000000)
#define FUTEX_OWNER      UINT32_C(0x3fffffff)

/* Returns what waiting and waking threads meet by: private futexes are others than shared ones at the same address, as on
 * Linux. Addresses are multiples of 4. */
static uint64_t key_of(uint64_t address, uint64_t operation)
{
    return address | (operation & FUTEX_PRIVATE ? 1 : 0);
}

int64_t futex_wake(struct process *process, uint64_t address, uint64_t most, uint64_t bits)
{
    int64_t woken = 0;
    while ((uint64_t)woken < most) {
        struct thread *first = NULL;
        for (struct thread *t = process->threads; t; t = t->next)
            if (t->state == THREAD_WAITING && t->wait == WAIT_FUTEX && t->wait_address == address &&
                (t->wait_bits & bits) && (!first || t->order < first->order))
                first = t;
        if (!first)
            break;
        thread_wake(process, first, 0);
        woken++;
    }
    return woken;
}

static int64_t get_word(struct process *process, uint64_t address, uint32_t *word)
{
    if (address % 4 != 0)
        return -EINVAL;
    const void *from = guest_readable(process->user, address, 4);
    if (!from)
        return -EFAULT;
    memcpy(word, from, 4);
    return 0;
}

static int64_t wait_for(struct process *process, struct thread *thread, const uint64_t a[6], uint64_t bits,
                        bool absolute, bool realtime)
{
    uint32_t word;
    uint64_t deadline = LINUX_NEVER;
    int64_t failed = get_word(process, a[0], &word);
    if (failed)
        return failed;
    if (bits == 0)
        return -EINVAL;
    failed = a[3] ? time_deadline(process, a[3], absolute, realtime, &deadline) : 0;
    if (failed)
        return failed;
    if (word != (uint32_t)a[2])
        return -EAGAIN;
    thread_wait(process, thread, WAIT_FUTEX, deadline, -ETIMEDOUT);
    thread->wait_address = key_of(a[0], a[1]);
    thread->wait_bits = bits;
    thread->order = process->next_order++;
    return LINUX_WAITS;
}

static int64_t requeue(struct process *process, const uint64_t a[6], bool compares)
{
    uint32_t word;
    int64_t failed = get_word(process, a[0], &word);
    if (failed || a[4] % 4 != 0)
        return failed ? failed : -EINVAL;
    if ((int32_t)a[2] < 0 || (int32_t)a[3] < 0)
        return -EINVAL;
    if (compares && word != (uint32_t)a[5])
        return -EAGAIN;
    const uint64_t from = key_of(a[0], a[1]);
    int64_t count = futex_wake(process, from, a[2] & UINT32_MAX, UINT32_MAX);
    uint64_t moved = 0;
    for (struct thread *t = process->threads; t && moved < (a[3] & UINT32_MAX); t = t->next)
        if (t->state == THREAD_WAITING && t->wait == WAIT_FUTEX && t->wait_address == from) {
            t->wait_address = key_of(a[4], a[1]);
            moved++;
        }
    return count + (compares ? (int64_t)moved : 0);
}

/* Changes the word at a[4] as the operation a[5] says, and wakes threads at a[0], and at a[4] if the old word passes the
 * comparison. */
static int64_t wake_op(struct process *process, const uint64_t a[6])
{
    const uint32_t code = (uint32_t)a[5], operation = code >> 28 & 7, comparison = code >> 24 & 15;
    uint32_t argument = (uint32_t)((int32_t)(code << 8) >> 20), word;
    const int32_t limit = (int32_t)(code << 20) >> 20;
    if (code >> 31)
        argument = UINT32_C(1) << (argument & 31);
    if (a[4] % 4 != 0)
        return -EINVAL;
    void *at = guest_writable(process->user, a[4], 4);
    if (!at)
        return -EFAULT;
    if (operation > 4 || comparison > 5)
        return -ENOSYS;
    memcpy(&word, at, 4);
    const uint32_t results[] = {argument, word + argument, word | argument, word & ~argument,
                                word ^ argument};
    memcpy(at, &results[operation], 4);
    const int32_t old = (int32_t)word;
    const bool passes[] = {old == limit, old != limit, old<limit, old <= limit, old> limit, old >= limit};
    int64_t woken = futex_wake(process, key_of(a[0], a[1]), a[2] & UINT32_MAX, UINT32_MAX);
    return passes[comparison] ? woken + futex_wake(process, key_of(a[4], a[1]), a[3] & UINT32_MAX, UINT32_MAX)
                              : woken;
}

/* Returns the thread that has waited longest for the mutex with a key, or NULL. */
static struct thread *next_owner(const struct process *process, uint64_t key)
{
    struct thread *first = NULL;
    for (struct thread *t = process->threads; t; t = t->next)
        if (t->state == THREAD_WAITING && t->wait == WAIT_LOCK && t->wait_address == key)
            first = !first || t->order < first->order ? t : first;
    return first;
}

/* Takes a mutex whose word has its owner's number, or waits for it. There is one priority: nobody inherits another. */
static int64_t lock(struct process *process, struct thread *thread, const uint64_t a[6], bool tries,
                    bool realtime)
{
    uint32_t word;
    uint64_t deadline = LINUX_NEVER;
    int64_t failed = get_word(process, a[0], &word);
    if (!failed && a[3] && !tries)
        failed = time_deadline(process, a[3], true, realtime, &deadline);
    void *at = failed ? NULL : guest_writable(process->user, a[0], sizeof word);
    if (!at)
        return failed ? failed : -EFAULT;
    const int32_t owner = (int32_t)(word & FUTEX_OWNER);
    if (owner == thread->id)
        return -EDEADLK;
    if (owner && !thread_find(process, owner))
        return -ESRCH;
    if (owner && tries)
        return -EAGAIN;
    word = owner ? word | FUTEX_WAITERS : (word & FUTEX_OWNER_DIED) | (uint32_t)thread->id;
    memcpy(at, &word, sizeof word);
    if (!owner)
        return 0;
    thread_wait(process, thread, WAIT_LOCK, deadline, -ETIMEDOUT);
    thread->wait_address = key_of(a[0], a[1]);
    thread->order = process->next_order++;
    return LINUX_WAITS;
}

/* Gives a mutex to the thread that has waited longest. */
static int64_t unlock(struct process *process, const struct thread *thread, const uint64_t a[6])
{
    uint32_t word;
    const int64_t failed = get_word(process, a[0], &word);
    void *at = failed ? NULL : guest_writable(process->user, a[0], sizeof word);
    if (!at)
        return failed ? failed : -EFAULT;
    if ((int32_t)(word & FUTEX_OWNER) != thread->id)
        return -EPERM;
    struct thread *next = next_owner(process, key_of(a[0], a[1]));
    word = next ? (uint32_t)next->id | FUTEX_WAITERS : 0; /* as on Linux, also if no other waits */
    memcpy(at, &word, sizeof word);
    if (next)
        thread_wake(process, next, 0);
    return 0;
}

int64_t futex_call(struct process *process, struct thread *thread, const uint64_t a[6])
{
    bool realtime = a[1] & FUTEX_REALTIME;
    uint32_t word;
    switch (a[1] & ~(uint64_t)(FUTEX_PRIVATE | FUTEX_REALTIME)) {
    case FUTEX_WAIT: return wait_for(process, thread, a, UINT32_MAX, false, realtime);
    case FUTEX_WAIT_BITSET: return wait_for(process, thread, a, a[5] & UINT32_MAX, true, realtime);
    case FUTEX_WAKE_BITSET:
        if ((a[5] & UINT32_MAX) == 0)
            return -EINVAL;
        if (get_word(process, a[0], &word) == -EINVAL)
            return -EINVAL;
        return futex_wake(process, key_of(a[0], a[1]), a[2] & UINT32_MAX, a[5] & UINT32_MAX);
    case FUTEX_WAKE:
        if (a[0] % 4 != 0)
            return -EINVAL;
        return futex_wake(process, key_of(a[0], a[1]), a[2] & UINT32_MAX, UINT32_MAX);
    case FUTEX_REQUEUE: return requeue(process, a, false);
    case FUTEX_CMP_REQUEUE: return requeue(process, a, true);
    case FUTEX_WAKE_OP: return wake_op(process, a);
    case FUTEX_LOCK_PI: return realtime ? -ENOSYS : lock(process, thread, a, false, true);
    case FUTEX_LOCK_PI2: return lock(process, thread, a, false, realtime);
    case FUTEX_TRYLOCK_PI: return lock(process, thread, a, true, true);
    case FUTEX_UNLOCK_PI: return unlock(process, thread, a);
    default: return -ENOSYS;
    }
}

/* Reads a mutex's word. Returns whether the thread owns it. */
static bool owns(struct process *process, const struct thread *thread, uint64_t address, uint32_t *word)
{
    return address_space_read(&process->space, address, word, sizeof *word) &&
           (int32_t)(*word & FUTEX_OWNER) == thread->id;
}

/* Gives each priority-inheriting mutex of an ending thread for which others wait to the one that has waited longest. Linux does so whether
 * or not the mutex is robust, after the list of those that are; the words that it leaves are the same. */
static void give_mutexes(struct process *process, const struct thread *thread)
{
    for (struct thread *t = process->threads; t; t = t->next) {
        const uint64_t key = t->wait_address, address = key & ~UINT64_C(3);
        uint32_t word;
        if (t->state != THREAD_WAITING || t->wait != WAIT_LOCK || !owns(process, thread, address, &word))
            continue;
        struct thread *next = next_owner(process, key);
        word = (uint32_t)next->id | FUTEX_WAITERS | FUTEX_OWNER_DIED;
        (void)address_space_write(&process->space, address, &word, sizeof word);
        thread_wake(process, next, 0);
    }
}

/* Marks one robust mutex of an ending thread, and wakes a thread that waits for it. */
static void abandon(struct process *process, const struct thread *thread, uint64_t address)
{
    uint32_t word;
    if (!owns(process, thread, address, &word))
        return;
    const uint32_t new = (word & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
    (void)address_space_write(&process->space, address, &new, sizeof new);
    if (word & FUTEX_WAITERS)
        (void)futex_wake(process, address, 1, UINT32_MAX);
}

void futex_abandon(struct process *process, struct thread *thread)
{
    enum { MUTEXES_MOST = 2048 }; /* ROBUST_LIST_LIMIT of Linux */
    uint64_t head[3], entry;      /* first entry, offset of the futex, entry that is being changed */
    give_mutexes(process, thread);
    if (!thread->robust || !address_space_read(&process->space, thread->robust, head, sizeof head))
        return;
    entry = head[0] & ~UINT64_C(1);
    for (int i = 0; i < MUTEXES_MOST && entry != thread->robust; i++) {
        uint64_t next;
        bool read = address_space_read(&process->space, entry, &next, sizeof next);
        if (entry != head[2])
            abandon(process, thread, entry + head[1]);
        if (!read)
            break;
        entry = next & ~UINT64_C(1);
    }
    if (head[2])
        abandon(process, thread, (head[2] & ~UINT64_C(1)) + head[1]);
}
