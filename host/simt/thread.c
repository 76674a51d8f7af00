/* What newlib keeps for each thread: errno and the rest of struct _reent, made when a thread first asks. */
#include <malloc.h>
#include <reent.h>
#include <stdint.h>

#include "host/simt/simt.h"

#undef __getreent
struct _reent *__getreent(void);

register uintptr_t simt_tp __asm__("tp");

struct _reent *__getreent(void)
{
    extern char __tls_main[]; /* the first thread's storage: linker/host.ld */
    if (simt_tp == (uintptr_t)__tls_main)
        return _impure_ptr;
    struct simt_thread *thread = (struct simt_thread *)simt_tp - 1;
    if (!thread->reent) {
        /* Until there is one, and if there is no memory for one, the first thread's serves. */
        thread->reent = _impure_ptr;
        struct _reent *own = _malloc_r(_impure_ptr, sizeof *own);
        if (own) {
            _REENT_INIT_PTR(own);
            thread->reent = own;
        }
    }
    return thread->reent;
}

void simt_thread_end(struct _reent *reent)
{
    if (reent == _impure_ptr)
        return;
    _reclaim_reent(reent);
    _free_r(_impure_ptr, reent);
}
