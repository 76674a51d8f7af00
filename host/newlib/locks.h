/* newlib's locks: recursive, based on an atomic exchange. Include this file once in each C library, after
 * defining
 *
 *     uint64_t lock_self(void)    the caller's number, > 0, different from any concurrent caller's
 *     void lock_pause(void)       called between two reads of a lock that another caller holds */
#ifndef HOST_NEWLIB_LOCKS_H
#define HOST_NEWLIB_LOCKS_H

#include <croft/nucd.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/lock.h>

struct __lock {
    atomic_uint held;
    unsigned depth;
    atomic_ulong owner; /* the holder's lock_self(); 0: free */
};

/* The names that newlib's sources use for their static locks. */
struct __lock __lock___sinit_recursive_mutex;
struct __lock __lock___sfp_recursive_mutex;
struct __lock __lock___atexit_recursive_mutex;
struct __lock __lock___at_quick_exit_mutex;
struct __lock __lock___malloc_recursive_mutex;
struct __lock __lock___env_recursive_mutex;
struct __lock __lock___tz_mutex;
struct __lock __lock___dd_hash_mutex;
struct __lock __lock___arc4random_mutex;

void __retarget_lock_init(_LOCK_T *lock)
{
    *lock = calloc(1, sizeof **lock);
    if (!*lock)
        abort();
}

void __retarget_lock_init_recursive(_LOCK_T *lock)
{
    __retarget_lock_init(lock);
}

void __retarget_lock_close(_LOCK_T lock)
{
    free(lock);
}

void __retarget_lock_close_recursive(_LOCK_T lock)
{
    free(lock);
}

/* Regions of one host have its number, so locks do not separate them; the order point does. */
int __retarget_lock_try_acquire_recursive(_LOCK_T lock)
{
    croft_nucd_order();
    uint64_t self = lock_self();
    if (atomic_load_explicit(&lock->owner, memory_order_relaxed) != self) {
        if (atomic_exchange_explicit(&lock->held, 1, memory_order_acquire))
            return 0;
        atomic_store_explicit(&lock->owner, self, memory_order_relaxed);
    }
    lock->depth++;
    return 1;
}

int __retarget_lock_try_acquire(_LOCK_T lock)
{
    return __retarget_lock_try_acquire_recursive(lock);
}

/* Waits with plain loads: these hit in a cache; atomics do not. */
void __retarget_lock_acquire_recursive(_LOCK_T lock)
{
    while (!__retarget_lock_try_acquire_recursive(lock))
        while (atomic_load_explicit(&lock->held, memory_order_relaxed))
            lock_pause();
}

void __retarget_lock_acquire(_LOCK_T lock)
{
    __retarget_lock_acquire_recursive(lock);
}

void __retarget_lock_release_recursive(_LOCK_T lock)
{
    if (--lock->depth != 0)
        return;
    atomic_store_explicit(&lock->owner, 0, memory_order_relaxed);
    atomic_store_explicit(&lock->held, 0, memory_order_release);
}

void __retarget_lock_release(_LOCK_T lock)
{
    __retarget_lock_release_recursive(lock);
}

#endif
