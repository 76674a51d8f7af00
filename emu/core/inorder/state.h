/* The state of an in-order core, shared by the files of emu/core/inorder. */
#ifndef EMU_CORE_INORDER_STATE_H
#define EMU_CORE_INORDER_STATE_H

#include "emu/core/frontend/code_map.h"
#include "emu/core/inorder.h"
#include "emu/core/serial.h"
#include "emu/core/tlb.h"

/* Times are cycle numbers of the core's clock. Elements of `ready` combine a cycle with the cause of waiting until
 * then, so that the latest operand also yields the cause. */
enum {
    READY_CAUSE_BITS = 4,
    READY_CAUSES = (1 << READY_CAUSE_BITS) - 1,
    INORDER_REGISTERS = 66, /* STREAM_NONE: always ready; 65: destination of results that are discarded */
    INORDER_SINK = 65,
};
#define INORDER_PENDING UINT64_MAX
#define INORDER_NOWHERE UINT64_MAX

static_assert(CPI_CAUSES <= 1 << READY_CAUSE_BITS, "a cause fits beside a cycle");

static inline uint64_t ready_at(uint64_t cycle, unsigned cause)
{
    return cycle << READY_CAUSE_BITS | cause;
}

/* What has issued in a cycle: four counters, of all instructions and of those of three units. The core adds to each 2^n less
 * its limit, so that the counter's top bit says that no more can issue. A rule has its flags above them.
 *
 *   15  14 13   12 11       8 7      4 3     0
 *  | slow | float | multiply | memory | slots | */
enum {
    USES_SLOT = 8,
    USES_MEMORY = 8 << 4,
    USES_MULTIPLY = 8 << 8,
    USES_FLOAT = 2 << 12,
    USES_ALL = USES_SLOT | USES_MEMORY | USES_MULTIPLY | USES_FLOAT,
};

/* Flags of inorder_rule.uses. */
enum {
    SLOW_RESULT = 1 << 14, /* its latency is long, or its pipe is not pipelined */
    SLOW_THIRD = 1 << 15,  /* it has a third operand, or is a prefetch */
};

struct inorder_rule {
    uint32_t result; /* ready_at() of its latency and of the cause of waiting for it */
    uint16_t uses;   /* USES_... of counters that must not be full; SLOW_... */
    uint16_t adds;   /* to the counters of its cycle */
};

/* A pending load; half is the second part of a load that crosses a line. */
struct inorder_load {
    struct cache_waiter waiter, half;
    uint64_t ready; /* completion of the parts that have arrived */
    uint64_t number;
    uint8_t rd, parts, level;
    bool room; /* waits for room in the cache, to repeat the access */
};

enum inorder_store_state {
    STORE_QUEUED, /* after a store that waits for room in the cache */
    STORE_FULL,   /* waits for room in the cache, to repeat the access */
    STORE_MISSED,
    STORE_DONE,
};

struct inorder_store {
    struct cache_waiter waiter;
    uint64_t physical;
    struct cache_actor actor;
    uint8_t size, state;
};

/* Stages that a blocked instruction has completed, and does not repeat when it can continue. */
enum { STAGE_TRANSLATED = 1, STAGE_FIRST = 2, STAGE_SECOND_TRANSLATED = 4 };

enum inorder_phase {
    PHASE_ISSUE,  /* issuing the batch's entries */
    PHASE_DRAIN,  /* before a serial instruction or a stop: earlier instructions complete */
    PHASE_STEP,   /* the serial instruction's cycle has come */
    PHASE_STORES, /* before a task: stores drain */
    PHASE_TASK,   /* waiting for the task, or for leaving the mechanism */
    PHASE_ACCESS, /* the serial instruction waits for the data cache */
    PHASE_STOP,   /* the cycle has come to hand `stop` to the server */
};

/* The task that the core waits for (offload.c). */
struct inorder_offload {
    struct offload_step step; /* the mechanism's last answer */
    uint64_t pc, from;        /* pc of the request, and its cycle */
    uint64_t arrived;         /* cycle in which the packet reached its accelerator, or INORDER_PENDING */
    bool entered;             /* the step's instruction is ahead */
    bool complete;            /* it can retire */
    bool halted;              /* waiting for core_offload_go_on() */
    bool interrupted;         /* the mechanism has been told of the interrupt */
    bool leaving;
    bool refused; /* the mechanism refused: the instruction is executed normally */
};

struct inorder_notes;

struct inorder {
    struct core core;

    /* Issue. */
    uint64_t next; /* first cycle in which nothing has issued yet */
    /* issue cycle of the current instruction: next, or next - 1 beside others */
    uint64_t cycle;
    /* ready_at() without cause of the latest long result; INORDER_PENDING while a load is pending. late_known ignores
     * pending loads. */
    uint64_t late;
    uint64_t late_known;
    uint64_t ready[INORDER_REGISTERS]; /* ready_at(), or INORDER_PENDING */
    uint32_t at;                       /* the next entry of the batch */
    uint32_t used;                     /* the counters of cycle next - 1 */
    uint32_t start;                    /* to be added to `used`, see USES_... */
    bool wrong;                        /* the current instruction is mispredicted; for its note */
    bool blocked;                      /* a waiter will continue the core */
    bool slept;
    bool settling;    /* settle_waiter is busy */
    uint64_t settled; /* cycle in which a release was complete */
    struct cache_waiter settle_waiter;
    bool noting;                /* instructions are reported to an observer */
    bool noting_loads;          /* they are reported, or were when a pending load was issued */
    bool stalls_told;           /* stalls are reported to an observer */
    uint64_t origin;            /* next - origin is core.cycles */
    uint64_t busy[CLASS_COUNT]; /* end of use of unpipelined pipes */
    uint16_t intervals[INSN_COUNT];
    struct inorder_rule rules[INSN_COUNT];

    /* Fetch. */
    uint64_t block;                 /* pc of the current block, or INORDER_NOWHERE */
    uint64_t block_end;             /* pc of its end, or 0 */
    uint64_t line;                  /* pc of the line accessed last */
    uint64_t page;                  /* page number of the last translation */
    uint64_t fetched;               /* cycle in which the block was fetched */
    uint64_t fetch_next;            /* first cycle in which the next block can be fetched */
    uint64_t redirect_until;        /* waiting for instructions until then is attributed to redirect_cause */
    uint64_t arrived;               /* arrival of the line that was waited for */
    uint64_t walked;                /* when the requested translation was known */
    uint64_t block_mask, code_mask; /* pc bits that identify the block, the line */
    uint32_t blocks, block_at;
    uint8_t redirect_cause;
    bool fetching;
    uint64_t left[INORDER_BLOCKS]; /* when the instructions of earlier blocks had issued; a ring */
    struct cache_waiter fetch_waiter, tlb_waiter;
    bool walking;     /* a page walk for code or data is under way */
    bool page_walked; /* a walk was for a page of code */

    /* Memory. */
    uint64_t line_mask;
    uint64_t load_clocks;              /* latency of a load that hits */
    uint64_t hit_clocks, fetch_clocks; /* data-cache hit time; from fetch to issue */
    uint64_t free_loads, all_loads;    /* sets of elements of `loads` */
    union {
        struct {
            uint32_t store_count;
            uint8_t stage;    /* stages of the next entry: set of STAGE_... */
            bool translating; /* data addresses are translated */
            uint8_t refused;  /* number of loads with `room` */
        };
        uint64_t uncommon; /* 0: none of these members needs attention */
    };
    uint32_t first_store; /* index of the oldest store in the ring */
    uint32_t started;     /* stores in the ring that have accessed the cache */
    uint64_t store_next;  /* first cycle in which the next store can leave */
    uint64_t store_done;  /* when all stores that have left the buffer are in the cache */
    uint64_t freed;       /* when an entry of a queue was last freed */
    uint8_t freed_cause;
    uint32_t split; /* index of a load whose first part is done */
    uint64_t split_ready;

    /* Serial instructions. */
    enum inorder_phase phase;
    enum stream_end end; /* why the batch ended */
    enum hart_stop stop;
    uint64_t passed; /* pc of a reported breakpoint, to be stepped over */
    struct serial serial;
    struct cache_waiter serial_waiter;
    uint64_t serial_from, serial_ready; /* cycles of issue and completion */
    uint32_t serial_offset;             /* bytes of its access that are done */
    bool serial_waits;
    struct inorder_offload offload;

    struct core_config config;
    struct core_latencies latency;
    struct predictor predictor;
    struct code_map code;
    struct inorder_notes *notes;
    struct inorder_load loads[INORDER_LOADS];
    struct inorder_store stores[INORDER_STORES];

    uint64_t number; /* number of the batch's first instruction */

    /* Counts since reset. */
    uint64_t forwarded, load_misses, crossings, wrong_lines;
};

static inline uint64_t inorder_time(const struct inorder *c, uint64_t cycle)
{
    uint64_t time = clock_time(&c->core.parts.clock, cycle), now = c->core.parts.queue->now;
    return time < now ? now : time;
}

/* note.c: reports a stall of the cycles [from, to) to observers. */
void inorder_stalled(struct inorder *c, unsigned cause, uint64_t from, uint64_t to);

/* Stalls issue until `cycle`, attributed to `cause`. Branch-free, because the host could not predict the branches. */
static inline void inorder_stall(struct inorder *c, uint64_t cycle, unsigned cause)
{
    uint64_t lost = cycle > c->next ? cycle - c->next : 0;
    if (__builtin_expect(c->stalls_told, 0))
        inorder_stalled(c, cause, c->next, c->next + lost);
    c->used = cycle >= c->next ? USES_ALL : c->used;
    c->core.cpi[cause] += lost;
    c->next += lost;
}

/* Sets the issue cycle of an instruction that the given counters admit. Returns whether it issues beside the one before. */
static inline bool inorder_choose(struct inorder *c, unsigned uses)
{
    bool pairs = !((c->used + c->start) & uses);
    c->cycle = c->next - pairs;
    return pairs;
}

/* Translates an address of the next instruction, once for each stage. Returns false while a walk is under way. */
static inline bool inorder_translate(struct inorder *c, uint64_t address, unsigned stage)
{
    uint64_t time = inorder_time(c, c->cycle), ready;
    if (c->walking)
        return false;
    if (!(c->stage & stage)) {
        c->stage |= (uint8_t)stage;
        c->walked = 0;
        if (tlb_access(c->core.parts.tlb, address, TLB_DATA, time, &ready, &c->tlb_waiter) == TLB_WALK) {
            c->walking = true;
            return false;
        }
        if (ready > time)
            c->walked = clock_cycle(&c->core.parts.clock, ready);
    }
    if (c->walked > c->cycle) {
        inorder_stall(c, c->walked, CPI_serialise);
        c->cycle = c->next;
    }
    return true;
}

/* wake.c */
/* Schedules the core's event at the edge at or after `now` if the core is blocked. */
void inorder_go_on(struct inorder *c, uint64_t now);
/* Schedules the core's event at `cycle`, so that everything earlier happens first. Returns true if that time has
 * come. */
bool inorder_reach(struct inorder *c, uint64_t cycle);

/* fetch.c. If a function returns false, call it again when the core's event runs. */
void inorder_fetch_init(struct inorder *c);
/* Fetches the block of pc, a byte of the instruction at insn. */
bool inorder_fetch_slowly(struct inorder *c, uint64_t pc, uint64_t insn);
void inorder_redirect(struct inorder *c, uint64_t cycle, unsigned cause);
/* Discards fetched code and translations, which may be stale. */
void inorder_refetch(struct inorder *c);
/* Handles a jump or branch for which fetch was not ready. Returns whether the instructions fetched after it are
 * wrong. */
bool inorder_redirected(struct inorder *c, const struct stream_op *op, enum predict_outcome outcome);

/* memory.c */
void inorder_memory_init(struct inorder *c);
bool inorder_load_slowly(struct inorder *c, const struct stream_entry *entry, uint64_t *ready);
bool inorder_load_missed(struct inorder *c, struct inorder_load *load, const struct stream_op *op,
                         enum cache_outcome outcome);
void inorder_store_missed(struct inorder *c, const struct stream_entry *entry, enum cache_outcome outcome);
bool inorder_store_slowly(struct inorder *c, const struct stream_entry *entry);
/* Issues a prefetch in the current cycle. Returns false while a page walk is under way. */
bool inorder_prefetch(struct inorder *c, const struct stream_entry *entry);
unsigned inorder_level_cause(unsigned level);

/* issue.c */
bool inorder_fetch(struct inorder *c, uint64_t pc, unsigned length);
bool inorder_issue(struct inorder *c);
void inorder_warm(struct inorder *c);

/* serial.c */
void inorder_serial_init(struct inorder *c);
bool inorder_serial(struct inorder *c, uint64_t now);

/* offload.c */
extern const struct core_offload_events inorder_offload_events;
/* Returns whether the mechanism takes the instruction at the hart's pc. Call it once each time that the instruction is
 * reached. */
bool inorder_offload_takes(struct inorder *c);
/* Continues the task. Returns false while it is under way; otherwise the core has left, and phase and stop are set. */
bool inorder_offload_go(struct inorder *c);

/* note.c: reports to observers of instructions. */
struct inorder_notes *inorder_notes_new(void);
void inorder_notes_free(struct inorder_notes *notes);
bool inorder_notes_wait(const struct inorder *c); /* whether noted loads are pending */
void inorder_note(struct inorder *c, const struct stream_op *op, uint64_t complete, bool mispredicted);
void inorder_note_load(struct inorder *c, uint64_t number, uint64_t complete, unsigned level);

#endif
