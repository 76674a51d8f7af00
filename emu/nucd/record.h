/* Records of offloaded tasks, for traces: what became of a task, and when it reached each step. */
#ifndef EMU_NUCD_RECORD_H
#define EMU_NUCD_RECORD_H

#include "emu/nucd/task.h"
#include "emu/sim/clock.h"

enum nucd_outcome {
    NUCD_RETIRED,
    NUCD_SQUASHED,   /* before it was sent; it starts anew as another task when its nucd is reached again */
    NUCD_DROPPED,    /* squashed after it was sent, and not reached again: its result was not used */
    NUCD_KILLED,     /* after a fault */
    NUCD_UNFINISHED, /* the run has ended first */
    NUCD_REFUSED,    /* not a task: the host runs the region, for `cause` */
    NUCD_DRIVEN,     /* completed for the kernel's driver */
    NUCD_OUTCOMES,
};

/* The times of a task's steps, in fs. CLOCK_NEVER: not reached. */
struct engine_times {
    uint64_t decoded;        /* the nucd is decoded */
    uint64_t freed, ready;   /* see offload_ops.task_ready() */
    uint64_t made;           /* the packet is in the write buffer */
    uint64_t clear, cleaned; /* no store of the host is held or drains to its ranges; the ranges are clean */
    uint64_t free;           /* no task blocks it */
    uint64_t sent, arrived;
    uint64_t idle;     /* it was first in the work queue of an accelerator that ran no other task */
    uint64_t begun;    /* the region's first instruction was issued */
    uint64_t ended;    /* the region's end was reached */
    uint64_t complete; /* the accelerator has written its data cache back and reports */
    uint64_t reported; /* the host has received the report */
    uint64_t left;     /* the nucd has retired, or the task was squashed, dropped or killed */
};

/* Returns times none of which is reached. */
static inline struct engine_times engine_times_none(void)
{
    const uint64_t never = CLOCK_NEVER;
    return (struct engine_times){.decoded = never,
                                 .freed = never,
                                 .ready = never,
                                 .made = never,
                                 .clear = never,
                                 .cleaned = never,
                                 .free = never,
                                 .sent = never,
                                 .arrived = never,
                                 .idle = never,
                                 .begun = never,
                                 .ended = never,
                                 .complete = never,
                                 .reported = never,
                                 .left = never};
}

/* Cycles of the host, as the statistics nucd.offload_cycles and so on count them; valid once the region has
 * begun. */
struct nucd_cycles {
    uint64_t offload, wait, generator, transfer, start;
    uint64_t dependent, held, cleaning, blocked, queued, elapsed;
};

#define NUCD_NO_RECORD UINT64_MAX /* in place of a task's number: none */

struct nucd_record {
    enum nucd_outcome outcome;
    uint64_t number; /* from 0 in the order of dispatch, for each host; NUCD_NO_RECORD: not known */
    unsigned host;
    const struct nucd_task *task; /* without `described`, only pc, begin and end are valid */
    bool described;
    bool sent;
    unsigned accelerator; /* valid if sent; as the machine numbers it */
    struct engine_times at;
    struct nucd_cycles cycles;
    uint64_t blocked_by; /* number of the last older task that it waited for; NUCD_NO_RECORD: none */
    const char *cause;   /* of a refusal; or NULL */
};

#endif
