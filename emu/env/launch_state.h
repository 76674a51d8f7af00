/* Launches from within; for emu/env/launch*.c alone. */
#ifndef EMU_ENV_LAUNCH_STATE_H
#define EMU_ENV_LAUNCH_STATE_H

#include "emu/env/kernel_pages.h"
#include "emu/env/launch.h"

/* Bytes of a thread's own memory that a call works on. */
struct copy {
    struct copy *next;
    uint64_t address, length;
    bool write;
    uint8_t bytes[];
};

struct launch {
    struct user *user;
    const struct launch_options *options;
    const struct phys *all;
    uint64_t stacks;
    struct warp_memory memory;
    bool ready; /* memory is initialised */
    struct grid grid;
    struct grid_host host;
    uint64_t number;               /* of the last launch */
    bool paused;                   /* it waits for pages that the kernel is asked for */
    bool running;                  /* a device may have threads that have not ended */
    struct warp *caller;           /* whose lane's call is being served */
    struct copy *copies;           /* the youngest first */
    struct kernel_missing missing; /* of a lane's call */
    uint64_t asked[7];             /* a lane's call that the kernel is to serve; [0]: number, 0: none */
    bool answered;                 /* it has: */
    uint64_t answer;
};

/* launch_thread.c: a lane's call as struct grid_host wants it; and the message of its trap, which ends the program. */
bool launch_serve(void *context, struct warp *warp, unsigned lane, uint64_t *result);
void launch_fault(void *context, struct warp *warp, const struct warp_report *report);

#endif
