/* What the runtime of launches needs of newlib. host/simt/linux/platform.h is that of Linux's C libraries. */
#ifndef HOST_SIMT_PLATFORM_H
#define HOST_SIMT_PLATFORM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/lock.h>

void __sinit(struct _reent *reent);

/* Makes the linker choose our locks (locks.c) over newlib's, which do nothing. */
#define SIMT_LOCKS __attribute__((used)) static void (*const simt_locks)(_LOCK_T) = __retarget_lock_acquire;

/* Is called before each launch: exit() flushes only the streams that the first thread has set up. */
static inline void simt_prepare(void)
{
    __sinit(_GLOBAL_REENT);
}

/* Ends the program with a message about a thread of a grid. */
#define simt_fail(thread, what)                                                                              \
    (fprintf(stderr, "simt: thread %llu: %s\n", (unsigned long long)(thread), what), abort())

#endif
