/* The internal state of threads. */
#ifndef EMU_ENV_THREADS_STATE_H
#define EMU_ENV_THREADS_STATE_H

#include "emu/env/guest/kernel_pages.h"
#include "emu/env/threads.h"

/* What the kernel must do for a waiting warp: bring in bytes, or serve a call about memory. */
struct request {
    struct request *next;
    struct warp *warp;
    unsigned lane, host; /* the host that launched the warp, and serves the request */
    struct custom_waiter *waiter;
    struct kernel_missing bytes; /* length 0: a call */
    struct trap trap;            /* trap of the access, for a message if the bytes cannot be brought in */
    uint64_t call[7], result;    /* the call's number and arguments; its result */
    uint64_t pc;
};

/* A host of the program, on a timed machine. */
struct threads_host {
    /* Its call waits for `awaited`, or did when the run ended. With one host and without the kernel, also within the call. */
    bool waits;
    uint64_t awaited; /* a launch's number, 0 (all launches), or LAUNCH_ROOM */
};

/* A program's call that began a launch which takes turns, to know it when it is repeated. Without padding. */
struct threads_call {
    uint64_t owner, pc, sp, at; /* as threads.owner; at: address of the record */
    uint64_t alternate;         /* 1: on the alternate signal stack */
    struct simt_launch_record record;
};

struct threads {
    struct user *user;
    const struct launch_options *options;
    struct launch_host host;
    struct launch *launch;
    const struct threads_scheduler *scheduler; /* NULL: none */
    uint64_t stacks;
    struct system *system;         /* runs the program; NULL: calls run to their end at once */
    bool paused;                   /* the launch waits until the kernel has brought pages in */
    struct kernel_missing missing; /* missing bytes of a lane's call */
    uint64_t asked[7];             /* a lane's call for the kernel; [0]: its number, 0: none */
    bool answered;                 /* the kernel has served that call, with the result `answer` */
    uint64_t answer;
    struct hart *shown; /* a lane of the watched warp, as logs read it; NULL: none yet */
    /* Without a clock and with several hosts, a launch takes turns with the harts. */
    bool turns;     /* that is so */
    bool turn_over; /* the call must be repeated when others have had their turns */
    uint64_t
        owner; /* host whose launch has not ended, plus 1, or the scheduler's number of its thread; 0: none */
    struct threads_call open; /* the owner's call */
    /* An owner's call whose launch has ended within another call, of a signal handler; owner 0: none. */
    struct threads_call left;
    int64_t left_result;
    unsigned host_count;
    struct threads_host *hosts; /* hosts[host_count] */
    /* On a timed machine, under the kernel, with several hosts or with a scheduler: threads run beside the hosts' harts, and a call that waits
     * is repeated. */
    bool beside;
    struct request *requests, **newest; /* requests not given to the kernel yet, oldest first */
    struct request *given;              /* the request that the kernel is serving */
    struct request *served;             /* served calls that their lanes have not repeated yet */
};

/* emu/env/threads/log.c: logs what each lane of a watched warp has executed. */
void threads_log(void *context, struct warp *warp, const struct warp_report *report);

/* emu/env/threads/request.c: the queue. Adds a request for what the lane needs: the page of `trap`, or if that is NULL,
 * threads->asked or threads->missing, which it forgets. Returns false if the lane needs nothing. */
bool threads_request_add(struct threads *threads, struct warp *warp, unsigned lane, const struct trap *trap,
                         struct custom_waiter *waiter);

/* Takes the oldest request for a host, which becomes threads->given. NULL: there is none. */
const struct request *threads_request_give(struct threads *threads, unsigned host);
bool threads_request_waits(const struct threads *threads, unsigned host);

/* Ends threads->given. A call's result is kept for threads_request_take(); for bytes, `result` is NULL. */
void threads_request_end(struct threads *threads, const uint64_t *result);

/* Returns true, sets *result and forgets it if the kernel has served the lane's call. */
bool threads_request_take(struct threads *threads, const struct warp *warp, unsigned lane, uint64_t *result);
void threads_request_drop(struct threads *threads);

#endif
