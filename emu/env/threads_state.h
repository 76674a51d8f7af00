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
};

/* threads_call.c: serves a lane's call for struct grid_host, and reports its trap, which ends the program. */
bool threads_serve(void *context, struct warp *warp, unsigned lane, uint64_t *result);
void threads_fault(void *context, struct warp *warp, const struct warp_report *report);

#endif
