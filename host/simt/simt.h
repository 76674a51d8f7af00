/* What the parts of the SIMT runtime share. */
#ifndef HOST_SIMT_SIMT_H
#define HOST_SIMT_SIMT_H

#include <stdint.h>
#include <sys/reent.h>

/* Beneath the thread-local storage that tp points to; set up by croft_simt_enter() (entry.S). */
struct simt_thread {
    uint64_t number;      /* 0 until simt_thread_number() asks for it */
    uint64_t after;       /* where it goes when simt_thread_finish() is through */
    uint64_t end;         /* where it goes when its kernel has returned */
    struct _reent *reent; /* NULL until newlib asks for it */
};

/* A number that no other thread of the program has had, > 0. */
uint64_t simt_thread_number(void);

/* The system calls and the record of a launch: see isa/MANUAL.md, chapter SIMT. */
enum simt_call { SIMT_CALL_LAUNCH = 464, SIMT_CALL_WAIT = 465, SIMT_CALL_QUERY = 466 };
enum simt_query {
    SIMT_QUERY_COUNT = 0,
    SIMT_QUERY_WIDTH = 1,
    SIMT_QUERY_THREADS = 2,
    SIMT_QUERY_SCRATCHPAD = 3,
};

struct simt_launch_record {
    uint64_t entry, argument;
    uint32_t grid[3], block[3];
    uint32_t scratchpad; /* bytes */
    uint32_t registers;  /* 0: found out */
    uint64_t queue;
};

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
