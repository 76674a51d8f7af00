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

bool simt_thread_launched(void)
{
    const struct simt_thread *thread = simt_thread_self();
    return thread && !(thread->number & SIMT_HOST_THREAD);
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
            if (thread->end != (uintptr_t)simt_thread_hooked) {
                thread->after = thread->end;
                thread->end = (uintptr_t)simt_thread_finish;
            }
        }
    }
    return thread->reent;
}

void simt_thread_end(struct _reent *reent)
{
    _reclaim_reent(reent);
    _free_r(_impure_ptr, reent);
}

struct simt_end *simt_thread_hook(void)
{
    const struct simt_thread *thread = simt_thread_self();
    return thread && thread->end == (uintptr_t)simt_thread_hooked ? (struct simt_end *)thread->after : NULL;
}

void simt_thread_at_end(struct simt_end *end)
{
    struct simt_thread *thread = simt_thread_self();
    thread->end = (uintptr_t)simt_thread_hooked;
    thread->after = (uintptr_t)end;
}

/* A hook takes the place of the return address, which is 0 on multiprocessors. */
uintptr_t simt_thread_run_end(void)
{
    struct simt_thread *thread = simt_thread_self();
    struct simt_end *end = (struct simt_end *)thread->after;
    end->call(end);
    if (thread->reent && thread->reent != _impure_ptr)
        simt_thread_end(thread->reent);
    return simt_scalar_runs() ? (uintptr_t)simt_scalar_ended : 0;
}
