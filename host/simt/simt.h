/* What the parts of the SIMT runtime share. */
#ifndef HOST_SIMT_SIMT_H
#define HOST_SIMT_SIMT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/reent.h>

#include "host/simt/layout.h"
#include "isa/include/croft/simt_call.h"

/* Beneath the thread-local storage that tp points to; set up by croft_simt_enter() (entry.S). */
struct simt_thread {
    uint64_t number;      /* 0 until simt_thread_number() asks for it */
    uint64_t after;       /* where it goes when simt_thread_finish() is through */
    uint64_t end;         /* where it goes when its kernel has returned */
    struct _reent *reent; /* NULL until newlib asks for it */
};

#define SIMT_THREAD_AT(field) ((int)offsetof(struct simt_thread, field) - (int)sizeof(struct simt_thread))
_Static_assert(sizeof(struct simt_thread) == SIMT_THREAD_SIZE &&
                   SIMT_THREAD_AT(number) == SIMT_THREAD_NUMBER &&
                   SIMT_THREAD_AT(after) == SIMT_THREAD_AFTER && SIMT_THREAD_AT(end) == SIMT_THREAD_END &&
                   SIMT_THREAD_AT(reent) == SIMT_THREAD_REENT,
               "entry.S finds the fields");

/* A number that no other thread of the program has had, > 0. */
uint64_t simt_thread_number(void);

/* Runs the whole grid on this core. Returns 0; or -1 and errno ENOMEM or EBUSY (already within a grid). */
int simt_scalar_run(const struct simt_launch_record *launch);

/* entry.S: saves the registers that a call preserves on the stack, its pointer in *from, and goes on where `to` was
 * saved. simt_scalar_begin is where a coroutine goes on for the first time: at s0, with a0 = s1 and ra = s2. */
void simt_scalar_switch(uint64_t **from, uint64_t *to);
void simt_scalar_begin(void);

/* Gives up what newlib keeps for the thread. simt_thread_finish (entry.S) calls it with the thread's own, and goes on
 * where `after` says. */
void simt_thread_end(struct _reent *reent);
void simt_thread_finish(void);

/* What simt_barrier() and simt_pause() do on the scalar core. */
void simt_scalar_barrier(void);
void simt_scalar_yield(void);

#endif
