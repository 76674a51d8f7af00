/* The state of a multiprocessor, and what its files do for each other: multiprocessor.c, the top, takes all callbacks; issue.c and
 * memory.c call nobody above them. */
#ifndef EMU_SIMT_MULTIPROCESSOR_STATE_H
#define EMU_SIMT_MULTIPROCESSOR_STATE_H

#include "emu/hart/custom.h"
#include "emu/mem/push.h"
#include "emu/sim/report/track.h"
#include "emu/simt/local_memory.h"
#include "emu/simt/multiprocessor.h"

/* Times are cycle numbers of the multiprocessor's clock. The lowest bits of a `ready` time hold the cause of
 * waiting for it (enum simt_stall), so that the latest operand determines the cause. Sets of warps have one
 * bit per slot, in as many words as the configuration's warps need. */
enum {
    SIMT_CAUSE_BITS = 3,
    SIMT_REGISTERS = STREAM_NONE + 1,
    SIMT_WHEEL = 1024, /* cycles that a warp can sleep at once; a power of two */
    SIMT_ATOMICS = 256,
    SIMT_WORDS = SIMT_WARPS / 64,
};

static_assert(SIMT_STALLS <= 1 << SIMT_CAUSE_BITS, "a cause fits beside a cycle");
static_assert(EXTENSION_COUNT <= 64, "a set of extensions fits in 64 bits");

/* The state of a warp: a unit (enum simt_unit) to which it could issue; simt_waits(cause), for causes from
 * scoreboard to barrier; or SIMT_NOWHERE, for all other warps and for free slots. */
enum { SIMT_NOWHERE = SIMT_UNITS + SIMT_STALL_barrier - SIMT_STALL_scoreboard + 1, SIMT_STATES };

static inline uint8_t simt_waits(enum simt_stall cause)
{
    return (uint8_t)(SIMT_UNITS + cause - SIMT_STALL_scoreboard);
}

static inline uint64_t simt_ready_at(uint64_t cycle, enum simt_stall cause)
{
    return cycle << SIMT_CAUSE_BITS | cause;
}

/* A warp and its next instruction. */
struct simt_warp {
    uint64_t ready[SIMT_REGISTERS]; /* simt_ready_at() of registers that are not pending */
    uint64_t next;                  /* simt_ready_at() of the instruction itself */
    uint64_t pending;               /* set of registers that wait for memory or a unit */
    uint64_t uses;                  /* set of registers that the instruction reads or writes */
    void *warp;                     /* NULL: the slot is free */
    struct simt_block *block;
    uint32_t under_way; /* number of loads, stores, atomics and unit operations */
    uint8_t unit;       /* enum simt_unit */
    uint8_t work;       /* enum simt_work */
    uint8_t state;      /* changed only by enter() of issue.c */
    bool fence;         /* the instruction waits until nothing is under way */
    bool releases;      /* with caches by word: and until all stores are registered */
    bool acquires;      /* with them: older copies of words are dropped before it */
    bool acquiring;     /* with them: it is an atomic that acquires, for which the next instruction waits */
    bool custom;        /* the instruction waits until `unit_waiter` is free */
    bool offers;        /* a unit may take threads at the instruction, so it waits for all earlier results */
    uint8_t unit_rd;    /* destination of the instruction in `unit_waiter` */
    bool ended;
    bool absent;                /* waits for a page or a call (WARP_MISSING, WARP_LATER) */
    bool held;                  /* by a debugger */
    const struct stream_op *op; /* NULL: the warp waits at a barrier, or has ended */
    struct custom_waiter unit_waiter;
    struct simt *simt;
};

enum simt_access_kind { SIMT_LOAD, SIMT_STORE, SIMT_ATOMIC };

/* A memory instruction in the pipeline or under way. */
struct simt_access {
    struct simt_access *next; /* in the list of free ones */
    struct simt *simt;
    enum simt_access_kind kind;
    uint16_t slot;
    uint8_t rd; /* STREAM_NONE: none */
    bool divergent;
    uint32_t count, sent, answered;         /* numbers of lines */
    uint32_t responses;                     /* from below the first-level cache */
    uint64_t ready;                         /* cycle in which the value is ready, as known so far */
    uint64_t first_response, last_response; /* cycles */
    uint64_t pc;
    uint64_t number;      /* of a store or an atomic, among those that have been taken */
    uint32_t passes;      /* passes of shared memory; they come before lines */
    uint32_t pages;       /* pages that the TLB has not found yet; then it is not in the queue */
    bool passed;          /* the passes are done */
    bool local;           /* local memory has more to send for it; this comes before lines */
    uint32_t local_waits; /* answers that local memory owes */
    struct coalesce_line lines[COALESCE_LINES];
    struct cache_waiter waiters[COALESCE_LINES];
};

/* A request of an atomic. */
struct simt_atomic {
    struct simt_atomic *next; /* in the list of free ones, or of refused ones */
    struct simt_access *access;
    struct mem_request request;
};

struct simt_scheduler {
    uint64_t own; /* slots of its warps, the same in each word of a set */
    uint64_t lanes_free;
    uint32_t last; /* slot that issued last */
    bool greedy;   /* `last` is preferred */
    uint8_t cause; /* enum simt_stall if it is known why none of its warps issues, else SIMT_STALLS */
    uint32_t count[SIMT_STATES]; /* number of its warps in each state */
};

struct simt {
    struct simt_config config;
    struct simt_parts parts;
    struct event event;
    char *name;

    uint64_t cycle; /* first cycle that is not counted */
    bool busy;      /* has blocks */
    bool halted;    /* stopped by a trap */
    bool running;   /* run() is active and notices all changes itself */
    bool debugged;  /* a debugger may stop the run */
    bool halfway;   /* a debugger has stopped it in `cycle`, before scheduler `resume` has issued */
    uint32_t resume;
    uint64_t offered; /* set of the extensions of the HINTs at which units may take threads */

    uint32_t words;                             /* number of words of a set of warps */
    uint32_t ready[SIMT_UNITS];                 /* number of warps in state `unit` */
    uint64_t can_issue[SIMT_UNITS][SIMT_WORDS]; /* set of warps in state `unit` */
    uint64_t *wheel;                            /* SIMT_WHEEL sets: warps to classify again in a cycle */
    uint64_t wheel_used[SIMT_WHEEL / 64];
    uint32_t wheel_words; /* set of the words of wheel_used that are not 0 */
    uint64_t special_free, memory_free;
    struct simt_scheduler schedulers[SIMT_SCHEDULERS];
    struct simt_warp *warps;    /* config.warps elements */
    uint64_t ages[SIMT_WARPS];  /* by slot; smaller is older */
    uint64_t since[SIMT_WARPS]; /* by slot: cycle since when the warp could issue */
    uint64_t age, eldest;       /* age of the next warp; smallest age so far */
    uint64_t look;              /* cycle of the next check for starving warps */
    uint64_t free_slots[SIMT_WORDS];
    struct simt_block *released; /* block released in the current step */
    struct warp_report report;   /* of the last step */
    struct simt_need taken;      /* by all blocks; `registers` counts those of all threads */
    uint32_t blocks;

    /* The memory pipeline. */
    /* Accesses that have never been taken are free, too, and follow one another in the array (simt_memory_take()), so that no
     * memory is touched for them. */
    struct simt_access *accesses, *free_accesses;
    void (*line_done)(struct cache_waiter *waiter, uint64_t now, unsigned level); /* of an access's waiters */
    struct simt_access *queue[SIMT_ACCESSES]; /* ring, in order of issue */
    uint32_t queue_first, queue_count;
    uint64_t pipe_free;                     /* cycle until which a shared access occupies the pipeline */
    bool refused;                           /* the head waits until the cache has room or a request is free */
    bool full;                              /* an atomic at the head waits for the cache */
    bool local_refused;                     /* the head waits for local memory */
    bool stopped;                           /* by simt_stop_memory() */
    const struct simt_local_ops *local_ops; /* NULL: a scratchpad */
    void *local;

    uint64_t stores_taken; /* stores and atomics so far */
    uint32_t stores_held;  /* of these, those that are not complete */
    struct mem_pushes pushes;

    bool by_word;     /* the first-level cache is a unit of a DeNovo domain */
    bool settling;    /* a release is under way, whose end simt_settle() tells */
    bool queued;      /* `settles` waits in the cache */
    uint64_t settled; /* releases that were under way and are complete */
    bool holds;       /* the head of the queue, which stores, waits for the end of the release */
    struct cache_waiter settles;

    uint64_t stacks_first, stacks_size; /* physical range of thread stacks */
    struct simt_tlb *tlb;               /* waiters: accesses, then slots; NULL: addresses are physical */

    struct mem_link link; /* link for atomics */
    struct simt_atomic *atomics, *free_atomics;
    struct simt_atomic *unsent, *unsent_last; /* requests refused by the port, in order */

    struct simt_counters counters;
    struct observer_list observers; /* struct simt_observer */
    struct simt_track *track;       /* of one of them, or NULL */
    struct track_sink *track_sink;  /* of `track`; NULL: none, or the trace has ended */
    struct track_end track_end;
    struct track trace; /* of accesses (access_trace.h); sink NULL: none */
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

/* issue.c */

/* Tells observers that the number of warps that the multiprocessor holds has changed in the cycle. */
void simt_tell_held(const struct simt *simt, uint64_t cycle);
/* Fetches the slot's next instruction, and executes steps that are not instructions. */
void simt_fetch(struct simt *simt, uint32_t slot, uint64_t cycle);
/* Sets the state of the slot's warp by what its instruction waits for. */
void simt_classify(struct simt *simt, uint32_t slot, uint64_t cycle);
/* Lets warps go on that have waited for the end of a release. */
void simt_settle(struct simt *simt);
/* Ends the slot's wait for an access or a unit: register rd is ready in cycle `ready`. */
void simt_end_wait(struct simt *simt, uint32_t slot, uint8_t rd, uint64_t ready);
/* Wakes the warps that are due in the cycle, and lets each scheduler issue. */
void simt_issue(struct simt *simt, uint64_t cycle);
/* Counts `count` cycles from simt->cycle on in which nothing issues and nothing changes. */
void simt_count_stalls(struct simt *simt, uint64_t count);
/* Returns the next cycle, `cycle` or later, in which something happens without an external event, or
 * UINT64_MAX. */
uint64_t simt_next_cycle(const struct simt *simt, uint64_t cycle);

/* memory.c */

/* Returns whether all stores and atomics so far are registered or done, in the first-level cache and in local memory; if not, the
 * multiprocessor is told (settles, simt_local_settled()). */
bool simt_memory_settled(struct simt *simt);
/* Drops copies of words that others may have stored since. */
void simt_memory_acquire(struct simt *simt);
void simt_memory_init(struct simt *simt);
void simt_memory_free(struct simt *simt);
static inline bool simt_memory_room(const struct simt *simt)
{
    return simt->queue_count < simt->config.memory_queue && simt->free_accesses;
}
/* Takes the slot's instruction, described by simt->report. There must be room. */
void simt_memory_take(struct simt *simt, uint32_t slot);
/* Makes the slot's warp wait for the walk that finds the page of report->trap missing. */
void simt_memory_fault(struct simt *simt, uint32_t slot, uint64_t cycle);
/* Sends a line or makes the passes of an access in this cycle. Returns the access if it is complete, otherwise NULL. */
struct simt_access *simt_memory_step(struct simt *simt, uint64_t cycle);
/* Returns whether simt_memory_step() can do nothing in this future cycle but be refused by the first-level cache; then it has
 * been. */
bool simt_memory_foresee(struct simt *simt, uint64_t cycle);
/* The TLB has found a page of the access. */
void simt_memory_translated(struct simt *simt, struct simt_access *access);
/* A line was answered from below the first-level cache. Returns whether the access is complete. */
bool simt_memory_answered(struct simt *simt, struct simt_access *access, uint64_t cycle);
/* A request of an atomic was answered. Returns its access if that is complete, otherwise NULL. */
struct simt_access *simt_memory_atomic_done(struct simt *simt, struct mem_request *request, uint64_t cycle);
/* Local memory has answered a wait of the access. Returns whether the access is complete. */
bool simt_memory_local_answered(struct simt *simt, struct simt_access *access, uint64_t cycle);
/* Sends the requests that the port has refused, until it refuses one. */
void simt_memory_send_rest(struct simt *simt, uint64_t now);
/* Frees an access that is complete at time `now` (fs). */
void simt_memory_release(struct simt *simt, struct simt_access *access, uint64_t now);

#endif
