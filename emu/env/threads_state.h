/* Threads from within; for emu/env/threads*.c alone. */
#ifndef EMU_ENV_THREADS_STATE_H
#define EMU_ENV_THREADS_STATE_H

#include "emu/env/kernel_pages.h"
#include "emu/env/threads.h"

/* Bytes of a thread's own memory that a call works on. */
struct copy {
    struct copy *next;
    uint64_t address, length;
    bool write;
    uint8_t bytes[];
};

struct threads {
    struct user *user;
    const struct launch_options *options;
    struct launch_host host;
    struct launch *launch;
    uint64_t stacks;
    struct system *system; /* runs the program; NULL: nobody looks at anything before a call is over */
    bool paused;           /* the launch waits for pages that the kernel is asked for */
    struct warp *caller;   /* whose lane's call is being served */
    struct copy *copies;   /* the youngest first */
    struct kernel_missing missing; /* of a lane's call */
    uint64_t asked[7];             /* a lane's call that the kernel is to serve; [0]: number, 0: none */
    bool answered;                 /* it has: */
    uint64_t answer;
};

/* threads_call.c: a lane's call as struct grid_host wants it; and the message of its trap, which ends the program. */
bool threads_serve(void *context, struct warp *warp, unsigned lane, uint64_t *result);
void threads_fault(void *context, struct warp *warp, const struct warp_report *report);

#endif
