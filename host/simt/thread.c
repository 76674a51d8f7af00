/* Per-thread data of the runtime and newlib: a number, errno and the rest of struct _reent, all created on
 * first use. */
#include <croft/nucd.h>
#include <malloc.h>
#include <reent.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "host/simt/simt.h"

#undef __getreent
struct _reent *__getreent(void);

register uintptr_t simt_tp __asm__("tp");

/* Returns the calling thread's data, or NULL for the first thread. Bit 0 of tp: entry.S has left them to be
 * initialized here; `end` is then 0, where threads of multiprocessors end. */
static struct simt_thread *simt_thread_self(void)
{
    extern char __tls_main[]; /* the first thread's storage: linker/host.ld */
    if (simt_tp & 1) {
        simt_tp -= 1;
        ((struct simt_thread *)simt_tp)[-1] = (struct simt_thread){.end = 0};
    }
    return simt_tp == (uintptr_t)__tls_main ? NULL : (struct simt_thread *)simt_tp - 1;
}

uint64_t simt_thread_number(void)
{
    static atomic_ulong last = 1; /* number of the first thread */
    struct simt_thread *thread = simt_thread_self();
    if (!thread)
        return 1;
    if (thread->number == 0)
        thread->number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    return thread->number;
}

/* Regions of one host share this data: the order point lets one after another use it, in program order. */
struct _reent *__getreent(void)
{
    croft_nucd_order();
    struct simt_thread *thread = simt_thread_self();
    if (!thread)
        return _impure_ptr;
    if (!thread->reent) {
        /* While it is being allocated, and if that fails, the first thread's is used. */
        thread->reent = _impure_ptr;
        struct _reent *own = _malloc_r(_impure_ptr, sizeof *own);
        if (own) {
            _REENT_INIT_PTR(own);
            thread->reent = own;
            thread->after = thread->end;
            thread->end = (uintptr_t)simt_thread_finish;
        }
    }
    return thread->reent;
}

void simt_thread_end(struct _reent *reent)
{
    _reclaim_reent(reent);
    _free_r(_impure_ptr, reent);
}
