/* The runtime of <croft/threads.h>: Linux's clone and futex. */
#include <croft/threads.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/lock.h>

#include "host/calls/call.h"
#include "host/simt/simt.h"

/* The layout of a thread's memory: stack, struct simt_thread, which the C library's locks and errno need, and
 * thread-local storage. tp points to the latter. */
enum { ALIGN = 64 };

extern char __tdata_start[], __tdata_end[], __tls_size[];

/* entry.S. Makes a thread that continues in croft_thread_begin() with the two words at its stack pointer. */
long croft_thread_clone(long flags, void *stack, unsigned *parent, void *tls, unsigned *child);
void croft_thread_begin(void (*run)(void *argument), void *argument);

/* Makes the linker choose the locks of host/simt/locks.c over newlib's, which do nothing. */
__attribute__((used)) static void (*const thread_locks)(_LOCK_T) = __retarget_lock_acquire;

void __sinit(struct _reent *reent);

static uint64_t thread_numbers; /* number of the youngest thread */

void croft_thread_begin(void (*run)(void *argument), void *argument)
{
    struct simt_thread *self;
    __asm__("mv %0, tp" : "=r"(self));
    run(argument);
    if (self[-1].reent)
        simt_thread_end(self[-1].reent);
    for (;;)
        call_raw(CALL_EXIT, 0, 0, 0, 0, 0);
}

int croft_thread_start(struct croft_thread *thread, void (*run)(void *argument), void *argument)
{
    enum { FLAGS = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000 | 0x80000 | 0x100000 | 0x200000 };
    const size_t tls = (size_t)__tls_size, above = (sizeof(struct simt_thread) + ALIGN - 1) / ALIGN * ALIGN;
    *thread = (struct croft_thread){0, NULL};
    char *memory = memalign(ALIGN, CROFT_THREAD_STACK + above + tls);
    if (!memory) {
        errno = ENOMEM;
        return -1;
    }
    __sinit(_GLOBAL_REENT); /* exit() flushes only the streams that the first thread has set up */
    char *storage = memory + CROFT_THREAD_STACK + above;
    memset(memory + CROFT_THREAD_STACK, 0, above + tls);
    memcpy(storage, __tdata_start, (size_t)(__tdata_end - __tdata_start));
    uintptr_t *stack = (uintptr_t *)(void *)(memory + CROFT_THREAD_STACK) - 2;
    stack[0] = (uintptr_t)run;
    stack[1] = (uintptr_t)argument;
    ((struct simt_thread *)storage)[-1].number =
        SIMT_HOST_THREAD | __atomic_add_fetch(&thread_numbers, 1, __ATOMIC_RELAXED);
    *thread = (struct croft_thread){1, memory};
    /* The word is written by the call as the thread's number, and cleared at the thread's end. */
    if (call_result(croft_thread_clone(FLAGS, stack, &thread->alive, storage, &thread->alive)) > 0)
        return 0;
    *thread = (struct croft_thread){0, NULL};
    free(memory);
    return -1;
}

void croft_thread_join(struct croft_thread *thread)
{
    _Atomic unsigned *alive = (_Atomic unsigned *)&thread->alive;
    for (unsigned seen; (seen = atomic_load(alive)) != 0;)
        call_raw(CALL_FUTEX, (long)alive, 0 /* FUTEX_WAIT */, (long)seen, 0, 0);
    free(thread->memory);
}
