/* The state of a multiprocessor, shared by its parts simt*.c. */
#ifndef EMU_SIMT_STATE_H
#define EMU_SIMT_STATE_H

#include "emu/hart/custom.h"
#include "emu/simt/simt.h"

/* Times are cycle numbers of the multiprocessor's clock; in `ready` the lowest bits say what waiting for them is blamed
 * on (enum simt_stall), so that the latest operand brings its cause along. Sets of warps are bits by slot, in as many
 * words as the configuration's warps need. */
enum {
    SIMT_CAUSE_BITS = 3,
    SIMT_REGISTERS = STREAM_NONE + 1,
    SIMT_WHEEL = 1024, /* cycles ahead for which warps can be put to sleep at once; a power of two */
    SIMT_ATOMICS = 256,
    SIMT_WORDS = SIMT_WARPS / 64,
};

static_assert(SIMT_STALLS <= 1 << SIMT_CAUSE_BITS, "a cause fits beside a cycle");

/* Where a warp is: a unit (enum simt_unit), which it could issue to; simt_waits(cause), from scoreboard to barrier; or
 * SIMT_NOWHERE, as free slots are. */
enum { SIMT_NOWHERE = SIMT_UNITS + SIMT_STALL_barrier - SIMT_STALL_scoreboard + 1, SIMT_STATES };

static inline uint8_t simt_waits(enum simt_stall cause)
{
    return (uint8_t)(SIMT_UNITS + cause - SIMT_STALL_scoreboard);
}

static inline uint64_t simt_ready_at(uint64_t cycle, enum simt_stall cause)
{
    return cycle << SIMT_CAUSE_BITS | cause;
}

/* A warp, and the instruction at its head. */
struct simt_warp {
    uint64_t ready[SIMT_REGISTERS]; /* simt_ready_at() of registers that are not pending */
    uint64_t next;                  /* likewise, of the instruction's turn */
    uint64_t pending;               /* bit: register that waits for memory */
    uint64_t uses;                  /* bit: register that the instruction reads or writes */
    void *warp;                     /* NULL: the slot is free */
    struct simt_block *block;
    uint32_t under_way; /* loads and atomics */
    uint8_t unit;       /* enum simt_unit */
    uint8_t work;       /* enum simt_work */
    uint8_t state;      /* changed by enter() of simt_issue.c alone */
    bool fence;         /* the instruction waits until nothing is under way */
    bool custom;        /* likewise until nothing is in `unit_waiter` */
    uint8_t unit_rd;    /* register of the instruction in `unit_waiter` */
    bool ended;
    const struct stream_op *op; /* NULL: it waits at a barrier, or has ended */
    struct custom_waiter unit_waiter;
    struct simt *simt;
};

enum simt_access_kind { SIMT_LOAD, SIMT_STORE, SIMT_ATOMIC };

/* A memory instruction in the pipeline, or on its way. */
struct simt_access {
    struct simt_access *next; /* free */
    struct simt *simt;
    enum simt_access_kind kind;
    uint16_t slot;
    uint8_t rd; /* STREAM_NONE: none */
    bool divergent;
    uint32_t count, sent, answered; /* lines */
    uint32_t passes;                /* of shared memory, which come first */
    bool passed;                    /* they have been made */
    uint64_t ready;                 /* cycle in which the value is there as far as is known */
    uint64_t pc;
    struct coalesce_line lines[COALESCE_LINES];
    struct cache_waiter waiters[COALESCE_LINES];
};

/* A request of an atomic. */
struct simt_atomic {
    struct simt_atomic *next; /* free, or refused below */
    struct simt_access *access;
    struct mem_request request;
};

struct simt_scheduler {
    uint64_t own; /* slots, the same in each word */
    uint64_t lanes_free;
    uint32_t last;               /* slot that issued last */
    bool greedy;                 /* which it may do again */
    uint32_t count[SIMT_STATES]; /* of its warps, by where they are */
};

struct simt {
    struct simt_config config;
    struct simt_parts parts;
    struct event event;
    char *name;

    uint64_t cycle; /* first one that has not been counted */
    bool busy;      /* has blocks */
    bool halted;    /* behind a trap */
    bool running;   /* run() is on the stack: it looks at everything itself */

    uint32_t words;                             /* of each set of warps */
    uint64_t can_issue[SIMT_UNITS][SIMT_WORDS]; /* whose state is the unit */
    uint64_t *wheel;                            /* SIMT_WHEEL sets: to be looked at in that cycle */
    uint64_t wheel_used[SIMT_WHEEL / 64];
    uint64_t special_free, memory_free;
    struct simt_scheduler schedulers[SIMT_SCHEDULERS];
    struct simt_warp *warps;    /* config.warps of them */
    uint64_t ages[SIMT_WARPS];  /* by slot */
    uint64_t since[SIMT_WARPS]; /* likewise, cycle from which on it could issue */
    uint64_t age, eldest;       /* the next warp's, and the least that there has been */
    uint64_t look;              /* cycle in which it looks for warps that starve */
    uint64_t free_slots[SIMT_WORDS];
    struct simt_block *released; /* by the step that is being made */
    struct warp_report report;   /* of the last step */
    struct simt_need taken;      /* by all blocks; registers are of all threads */
    uint32_t blocks;

    /* The memory pipeline. */
    struct simt_access *accesses, *free_accesses;
    struct simt_access *queue[SIMT_ACCESSES]; /* ring, in order of issue */
    uint32_t queue_first, queue_count;
    uint64_t pipe_free; /* a shared access occupies it until then */
    bool refused;       /* by the cache, or for lack of a request: who has room says so */

    struct mem_link link; /* of atomics */
    struct simt_atomic *atomics, *free_atomics;
    struct simt_atomic *unsent, *unsent_last; /* refused below, in order */

    struct simt_counters counters;
    struct observer_list observers; /* struct simt_observer */
    struct simt_track *track;       /* of one of them, or NULL */
};

static inline uint64_t simt_time(const struct simt *simt, uint64_t cycle)
{
    return clock_time(&simt->parts.clock, cycle);
}

/* Counts `count` cycles from `cycle` on in which the scheduler does not issue. */
static inline void simt_stall(struct simt *simt, uint32_t scheduler, enum simt_stall cause, uint64_t cycle,
                              uint64_t count)
{
    simt->counters.stalls[scheduler][cause] += count;
    OBSERVER_TELL(&simt->observers, struct simt_observer, stalled, scheduler, cause, simt_time(simt, cycle),
                  simt_time(simt, cycle + count));
}

/* simt.c: the number of warps that it holds has changed in that cycle; tells its observers. */
void simt_tell_held(const struct simt *simt, uint64_t cycle);

/* simt.c: something is about to change at now that the multiprocessor sleeps for: counts the cycles until then, and lets
 * it go on. */
void simt_touch(struct simt *simt, uint64_t now);

/* simt_issue.c */
/* Looks at the instruction that is next in the slot. */
void simt_fetch(struct simt *simt, uint32_t slot, uint64_t cycle);
/* Puts the slot's warp into the set of what it waits for. */
void simt_classify(struct simt *simt, uint32_t slot, uint64_t cycle);
/* Wakes those whose cycle it is, and lets each scheduler issue. */
void simt_issue(struct simt *simt, uint64_t cycle);
/* Counts `count` cycles from simt->cycle on in which nothing issues and nothing changes. */
void simt_count_stalls(struct simt *simt, uint64_t count);
/* The next cycle from `cycle` on in which something happens without anybody's help, or UINT64_MAX. */
uint64_t simt_next_cycle(const struct simt *simt, uint64_t cycle);

/* simt_memory.c */
void simt_memory_init(struct simt *simt);
void simt_memory_free(struct simt *simt);
static inline bool simt_memory_room(const struct simt *simt)
{
    return simt->queue_count < simt->config.memory_queue && simt->free_accesses;
}
/* Takes the slot's instruction, for which there is room and which simt->report tells of. */
void simt_memory_take(struct simt *simt, uint32_t slot);
/* The unit of the warp's custom instruction is not done: rd waits for it. */
void simt_unit_take(struct simt_warp *warp, uint8_t rd);
void simt_unit_done(struct custom_waiter *waiter, uint64_t now);
/* Sends a line, or makes a pass, in this cycle. */
void simt_memory_step(struct simt *simt, uint64_t cycle);
extern const struct mem_client_ops simt_client_ops;

#endif
