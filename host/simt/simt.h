/* Internal interface of the SIMT runtime. */
#ifndef HOST_SIMT_SIMT_H
#define HOST_SIMT_SIMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/reent.h>

#include "host/simt/layout.h"
#include "isa/include/croft/simt_call.h"

/* Stored just below the thread-local storage at tp; initialized by croft_simt_enter() (entry.S) or, if bit 0 of tp is
 * set, by the first function of thread.c that needs it. */
struct simt_thread {
    uint64_t number;      /* 0 until the first call of simt_thread_number() */
    uint64_t after;       /* return address of simt_thread_finish(), or the hook of simt_thread_at_end() */
    uint64_t end;         /* return address of the thread's kernel */
    struct _reent *reent; /* NULL until newlib asks for it */
};

#define SIMT_THREAD_AT(field) ((int)offsetof(struct simt_thread, field) - (int)sizeof(struct simt_thread))
_Static_assert(sizeof(struct simt_thread) == SIMT_THREAD_SIZE &&
                   SIMT_THREAD_AT(number) == SIMT_THREAD_NUMBER &&
                   SIMT_THREAD_AT(after) == SIMT_THREAD_AFTER && SIMT_THREAD_AT(end) == SIMT_THREAD_END &&
                   SIMT_THREAD_AT(reent) == SIMT_THREAD_REENT,
               "entry.S finds the fields");

/* Set in the numbers of the program's threads on further hosts (host/threads), which they have from their start. */
#define SIMT_HOST_THREAD (UINT64_C(1) << 63)

/* Returns the calling thread's number, > 0, unique among all threads of the program. */
uint64_t simt_thread_number(void);

/* Returns whether the caller is a thread of a kernel, not of the program. */
bool simt_thread_launched(void);

/* Returns whether the caller is a thread of a grid that runs on this core. */
bool simt_scalar_runs(void);

/* Runs the whole grid on this core, while launches of the program's other threads wait. Returns its number, or -1 with errno
 * ENOMEM or EBUSY (called within a grid). simt_scalar_launched() returns the last grid's number. */
long simt_scalar_run(const struct simt_launch_record *launch);
long simt_scalar_launched(void);

/* entry.S. simt_scalar_switch() pushes the callee-saved registers, stores the stack pointer to *from, and
 * continues where `to` was saved. simt_scalar_begin is where a new coroutine starts: it jumps to s0 with a0 =
 * s1 and ra = s2. */
void simt_scalar_switch(uint64_t **from, uint64_t *to);
void simt_scalar_begin(void);

/* Releases what newlib keeps for the thread. simt_thread_finish (entry.S) calls it with the thread's struct
 * _reent, then jumps to `after`. */
void simt_thread_end(struct _reent *reent);
void simt_thread_finish(void);

/* What is called once when a thread's kernel has returned; the first member of what the caller needs then. It must not
 * use stdio. */
struct simt_end {
    void (*call)(struct simt_end *end);
};

/* Sets what is called at the end of the calling thread of a grid, and returns it, or NULL. simt_thread_hooked (entry.S) calls
 * simt_thread_run_end(), which returns the thread's return address. */
void simt_thread_at_end(struct simt_end *end);
struct simt_end *simt_thread_hook(void);
uintptr_t simt_thread_run_end(void);
void simt_thread_hooked(void);

/* Where a thread on the scalar core returns to. */
void simt_scalar_ended(void);

/* simt_barrier() and simt_pause() on the scalar core. */
void simt_scalar_barrier(void);
void simt_scalar_yield(void);

#endif
