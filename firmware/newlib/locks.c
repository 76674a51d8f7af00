/* newlib's locks in machine mode: recursive, between harts. They let several harts use stdio and malloc();
 * errno is common to all harts. Interrupt handlers should use uart.h instead. */
#include <croft/firmware/hart.h>
#include <croft/firmware/lock.h>
#include <stdlib.h>
#include <sys/lock.h>

struct __lock {
    struct lock lock;
    unsigned owner; /* hart + 1, or 0 */
    unsigned depth;
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

void __retarget_lock_acquire_recursive(_LOCK_T lock)
{
    unsigned self = hart_id() + 1;
    if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != self) {
        lock_take(&lock->lock);
        __atomic_store_n(&lock->owner, self, __ATOMIC_RELAXED);
    }
    lock->depth++;
}

void __retarget_lock_acquire(_LOCK_T lock)
{
    __retarget_lock_acquire_recursive(lock);
}

int __retarget_lock_try_acquire_recursive(_LOCK_T lock)
{
    unsigned self = hart_id() + 1;
    if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != self) {
        if (!lock_try(&lock->lock))
            return 0;
        __atomic_store_n(&lock->owner, self, __ATOMIC_RELAXED);
    }
    lock->depth++;
    return 1;
}

int __retarget_lock_try_acquire(_LOCK_T lock)
{
    return __retarget_lock_try_acquire_recursive(lock);
}

void __retarget_lock_release_recursive(_LOCK_T lock)
{
    if (--lock->depth == 0) {
        __atomic_store_n(&lock->owner, 0, __ATOMIC_RELAXED);
        lock_release(&lock->lock);
    }
}

void __retarget_lock_release(_LOCK_T lock)
{
    __retarget_lock_release_recursive(lock);
}
