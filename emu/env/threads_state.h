/* Internal state of threads; for emu/env/threads*.c only. */
#ifndef EMU_ENV_THREADS_STATE_H
#define EMU_ENV_THREADS_STATE_H

#include "emu/env/kernel_pages.h"
#include "emu/env/threads.h"

/* A copy of bytes of a thread's own memory, used by a call. */
struct copy {
    struct copy *next;
    uint64_t address, length;
    bool write;
    uint8_t bytes[];
};

/* What the kernel must do for a waiting warp: bring in bytes, or serve a call about memory. */
struct request {
    struct request *next;
    struct warp *warp;
    unsigned lane;
    struct custom_waiter *waiter;
    struct kernel_missing bytes; /* length 0: a call */
    struct trap trap;            /* trap of the access, for a message if the bytes cannot be brought in */
    uint64_t call[7], result;    /* the call's number and arguments; its result */
    uint64_t pc;
};

struct threads {
    struct user *user;
    const struct launch_options *options;
    struct launch_host host;
    struct launch *launch;
    uint64_t stacks;
    struct system *system;         /* runs the program; NULL: calls run to their end at once */
    bool paused;                   /* the launch waits until the kernel has brought pages in */
    struct warp *caller;           /* warp whose lane's call is being served */
    struct copy *copies;           /* youngest first */
    struct kernel_missing missing; /* missing bytes of a lane's call */
    uint64_t asked[7];             /* a lane's call for the kernel; [0]: its number, 0: none */
    bool answered;                 /* the kernel has served that call, with the result `answer` */
    uint64_t answer;
    struct hart *shown; /* a lane of the watched warp, as logs read it; NULL: none yet */
    /* On a timed machine, under the kernel. */
    bool beside;                        /* threads run beside the kernel's hart */
    bool waits;                         /* the program's call waits for `awaited` */
    uint64_t awaited;                   /* a launch's number, 0 (all launches), or LAUNCH_ROOM */
    struct request *requests, **newest; /* requests not given to the kernel yet, oldest first */
    struct request *given;              /* the request that the kernel is serving */
    struct request *served;             /* served calls that their lanes have not repeated yet */
};

/* threads_log.c: logs what each lane of a watched warp has executed. */
void threads_log(void *context, struct warp *warp, const struct warp_report *report);

/* threads_kernel.c: struct grid_host's functions for threads beside the kernel's hart. */
bool threads_missing(void *context, const struct trap *trap);
bool threads_later(void *context, struct warp *warp, unsigned lane, const struct trap *trap,
                   struct custom_waiter *waiter);
void threads_ended(void *context);

/* Returns the permission (CROFT_RANGE_...) that an access lacked when it raised a page fault. */
uint32_t threads_permission(enum trap_cause cause);

/* Makes the program's call wait for `what` (struct threads.awaited). The kernel then repeats the call. */
void threads_await(struct threads *threads, uint64_t what);

/* Returns true, sets *result and forgets it if the kernel has served the lane's call. Otherwise sets
 * threads->asked to the call and returns false. */
bool threads_take_answer(struct threads *threads, const struct warp *warp, unsigned lane, uint64_t *result);
void threads_drop_requests(struct threads *threads);

/* threads_call.c: serves a lane's call for struct grid_host, and reports its trap, which ends the program. */
bool threads_serve(void *context, struct warp *warp, unsigned lane, uint64_t *result);
void threads_fault(void *context, struct warp *warp, const struct warp_report *report);

#endif
