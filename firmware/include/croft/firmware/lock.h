/* A spin lock between harts. */
#ifndef CROFT_FIRMWARE_LOCK_H
#define CROFT_FIRMWARE_LOCK_H

#include <stdbool.h>

/* All zeros: free. */
struct lock {
    int taken;
};

static inline bool lock_try(struct lock *lock)
{
    return __atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE) == 0;
}

/* Spins until the lock is free. Not recursive: an interrupt handler must not take a lock that the interrupted
 * code may hold. */
static inline void lock_take(struct lock *lock)
{
    while (!lock_try(lock))
        while (__atomic_load_n(&lock->taken, __ATOMIC_RELAXED))
            ;
}

static inline void lock_release(struct lock *lock)
{
    __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
}

#endif
