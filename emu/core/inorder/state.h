/* The state of an in-order core, shared by its parts inorder_*.c. */
#ifndef EMU_CORE_INORDER_STATE_H
#define EMU_CORE_INORDER_STATE_H

#include "emu/core/code.h"
#include "emu/core/inorder/inorder.h"
#include "emu/core/serial.h"
#include "emu/core/tlb.h"

/* Times are cycle numbers of the core's clock. In `ready` they are combined with what is blamed for waiting
 * until then, so that the latest operand brings its cause along. */
enum {
    READY_CAUSE_BITS = 4,
    READY_CAUSES = (1 << READY_CAUSE_BITS) - 1,
    INORDER_REGISTERS = 66, /* STREAM_NONE is never waited for; behind it, what is written to nothing */
    INORDER_SINK = 65,
};
#define INORDER_PENDING UINT64_MAX
#define INORDER_NOWHERE UINT64_MAX

static_assert(CPI_CAUSES <= 1 << READY_CAUSE_BITS, "a cause fits beside a cycle");

static inline uint64_t ready_at(uint64_t cycle, unsigned cause)
{
    return cycle << READY_CAUSE_BITS | cause;
}

/* What an instruction takes of a cycle's issue slots. */
enum {
    USES_SLOT = 1, /* the second slot */
    USES_MEMORY = 2,
    USES_MULTIPLY = 4,
    USES_FLOAT = 8,
    USES_ALL = 0xff,
};

/* In inorder_rule.slow. */
enum {
    SLOW_RESULT = 1, /* its result, or its pipe, takes long */
    SLOW_THIRD = 2,  /* it has a third operand */
};

struct inorder_rule {
    uint32_t result; /* ready_at() of its latency and of what waiting for it is blamed on */
    uint8_t uses;    /* what must be free */
    uint8_t after;   /* what is taken, when it is the first of its cycle */
    uint8_t iclass;
    uint8_t slow; /* set of SLOW_... */
};

/* A load that waits; half is the second part of one that crosses a line. */
struct inorder_load {
    struct cache_waiter waiter, half;
    uint64_t ready; /* of the parts that have come */
    uint64_t number;
    uint8_t rd, parts, level;
    bool room; /* waits until the access can be repeated */
};

enum inorder_store_state {
    STORE_QUEUED, /* behind one that waits for room */
    STORE_FULL,   /* waits until the access can be repeated */
    STORE_MISSED,
    STORE_DONE,
};

struct inorder_store {
    struct cache_waiter waiter;
    uint64_t physical;
    struct cache_actor actor;
    uint8_t size, state;
};

/* How far an instruction has come that could not issue at once, so that nothing is done twice. */
enum { STAGE_TRANSLATED = 1, STAGE_FIRST = 2, STAGE_SECOND_TRANSLATED = 4 };

enum inorder_phase {
    PHASE_ISSUE,  /* of the batch's entries */
    PHASE_DRAIN,  /* before an instruction that is executed alone, or a stop */
    PHASE_STEP,   /* time has come for it */
    PHASE_STORES, /* before a task: stores leave */
    PHASE_TASK,   /* it waits for the task, or has yet to leave the mechanism */
    PHASE_ACCESS, /* it waits for the data cache */
    PHASE_STOP,   /* time has come to hand `stop` to the server */
};

/* The task that the core waits for (offload.c). */
struct inorder_offload {
    struct offload_step step; /* what the mechanism gave last */
    uint64_t pc, from;        /* where the core asked, and in which cycle */
    uint64_t arrived;         /* cycle in which the packet had reached its accelerator, or INORDER_PENDING */
    bool entered;             /* the step's instruction is ahead */
    bool complete;            /* and can retire */
    bool halted;              /* until core_offload_go_on() */
    bool interrupted;         /* the mechanism has been told */
    bool leaving;
    bool refused; /* the instruction is executed the normal way */
};

struct inorder_notes;

struct inorder {
    struct core core;

    /* Issue. */
    uint64_t next;  /* first cycle in which nothing has issued yet */
    uint64_t cycle; /* in which the instruction at hand issues: next, or the one before,
                       beside another one */
    uint64_t late;  /* ready_at() of the last of the results that take long, INORDER_PENDING if one of
                       `ready` is, and the same but for pending loads; without causes */
    uint64_t late_known;
    uint64_t ready[INORDER_REGISTERS]; /* ready_at(), or INORDER_PENDING */
    uint32_t at;                       /* entry of the batch that is next */
    uint8_t used;                      /* of the slots of the cycle before next: USES_... */
    bool wrong;                        /* the instruction at hand is mispredicted; for its note */
    bool blocked;                      /* a waiter will go on */
    bool slept;
    bool noting;                /* instructions are told to an observer */
    bool noting_loads;          /* likewise, or loads are under way that were noted while they were */
    bool stalls_told;           /* and stalls */
    uint64_t origin;            /* next - origin is core.cycles */
    uint64_t busy[CLASS_COUNT]; /* until when pipes that are not pipelined are */
    uint16_t intervals[INSN_COUNT];
    struct inorder_rule rules[INSN_COUNT];

    /* Fetch. */
    uint64_t block;                 /* pc of the last block, or INORDER_NOWHERE */
    uint64_t block_end;             /* pc behind it, or 0 */
    uint64_t line;                  /* pc of the line of the last access */
    uint64_t page;                  /* pc / page size of the last translation */
    uint64_t fetched;               /* cycle in which the block was */
    uint64_t fetch_next;            /* first cycle in which the next block can be */
    uint64_t redirect_until;        /* waiting for instructions until then is the fault of redirect_cause */
    uint64_t arrived;               /* when the line that was waited for came */
    uint64_t walked;                /* when the page that was asked for last was known */
    uint64_t block_mask, code_mask; /* of pc: its block, its line */
    uint32_t blocks, block_at;
    uint8_t redirect_cause;
    bool fetching;
    uint64_t left[INORDER_BLOCKS]; /* when the instructions of earlier blocks were issued; a ring */
    struct cache_waiter fetch_waiter, tlb_waiter;
    bool walking;     /* pages of code or data */
    bool page_walked; /* a walk was for the page of code */

    /* Memory. */
    uint64_t line_mask;
    uint64_t load_clocks;              /* of a load that hits */
    uint64_t hit_clocks, fetch_clocks; /* of a hit in the data cache; from fetch to issue */
    uint64_t free_loads, all_loads;    /* sets of `loads` */
    union {
        struct {
            uint32_t store_count;
            uint8_t stage;    /* of the entry that is next: set of STAGE_... */
            bool translating; /* data addresses */
            uint8_t refused;  /* loads with `room` */
        };
        uint64_t uncommon; /* 0: nothing of that has to be looked at */
    };
    uint32_t first_store; /* ring */
    uint32_t started;     /* stores of the ring that have asked the cache */
    uint64_t store_next;  /* first cycle in which the next store can leave */
    uint64_t store_done;  /* when all that have left the buffer are in the cache */
    uint64_t freed;       /* when an entry of a queue last became free */
    uint8_t freed_cause;
    uint32_t split; /* load that is half done */
    uint64_t split_ready;

    /* What is executed alone. */
    enum inorder_phase phase;
    enum stream_end end; /* of the batch */
    enum hart_stop stop;
    uint64_t passed; /* breakpoint that was reported: step over it */
    struct serial serial;
    struct cache_waiter serial_waiter;
    uint64_t serial_from, serial_ready; /* issue and completion */
    uint32_t serial_offset;             /* of its access, what is done */
    bool serial_waits;
    struct inorder_offload offload;

    struct core_config config;
    struct core_latencies latency;
    struct predictor predictor;
    struct code_map code;
    struct inorder_notes *notes;
    struct inorder_load loads[INORDER_LOADS];
    struct inorder_store stores[INORDER_STORES];

    uint64_t number; /* of the batch's first instruction */

    /* Since reset. */
    uint64_t forwarded, load_misses, crossings, wrong_lines;
};

static inline uint64_t inorder_time(const struct inorder *c, uint64_t cycle)
{
    uint64_t time = clock_time(&c->core.parts.clock, cycle), now = c->core.parts.queue->now;
    return time < now ? now : time;
}

void inorder_stalled(struct inorder *c, unsigned cause, uint64_t from, uint64_t to);

/* Nothing issues before `cycle` because of cause. Without branches, which the host could not predict. */
static inline void inorder_stall(struct inorder *c, uint64_t cycle, unsigned cause)
{
    uint64_t lost = cycle > c->next ? cycle - c->next : 0;
    if (__builtin_expect(c->stalls_told, 0))
        inorder_stalled(c, cause, c->next, c->next + lost);
    c->used = cycle >= c->next ? USES_ALL : c->used;
    c->core.cpi[cause] += lost;
    c->next += lost;
}

/* Chooses the cycle of an instruction that takes these slots; whether it issues beside the one before. */
static inline bool inorder_choose(struct inorder *c, unsigned uses)
{
    bool pairs = !(c->used & uses);
    c->cycle = c->next - pairs;
    return pairs;
}

/* Translates an address of the instruction that is next, once for each stage. False while a walk is under
 * way. */
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

/* Lets the core go on, if it is blocked. */
void inorder_kick(struct inorder *c, uint64_t now);

/* inorder_fetch.c. Functions that return false have to be called again when the core is kicked. */
void inorder_fetch_init(struct inorder *c);
/* The block of pc, a byte of the instruction at insn. */
bool inorder_fetch_slowly(struct inorder *c, uint64_t pc, uint64_t insn);
void inorder_redirect(struct inorder *c, uint64_t cycle, unsigned cause);
/* A jump or branch for which the front end was not ready; whether what it has fetched behind is wrong. */
bool inorder_surprise(struct inorder *c, const struct stream_op *op, enum predict_outcome outcome);

/* inorder_memory.c */
void inorder_memory_init(struct inorder *c);
bool inorder_load_slowly(struct inorder *c, const struct stream_entry *entry, uint64_t *ready);
bool inorder_load_missed(struct inorder *c, struct inorder_load *load, const struct stream_op *op,
                         enum cache_outcome outcome);
void inorder_store_missed(struct inorder *c, const struct stream_entry *entry, enum cache_outcome outcome);
bool inorder_store_slowly(struct inorder *c, const struct stream_entry *entry);
unsigned inorder_level_cause(unsigned level);

/* inorder_issue.c */
bool inorder_fetch(struct inorder *c, uint64_t pc, unsigned length);
bool inorder_issue(struct inorder *c);
void inorder_warm(struct inorder *c);

/* inorder_serial.c */
void inorder_serial_init(struct inorder *c);
bool inorder_serial(struct inorder *c, uint64_t now);
/* Comes back in an event at `cycle`, so that all that happens before it has happened; true if it is that time. */
bool inorder_reach(struct inorder *c, uint64_t cycle);
/* Addresses and code may be others now. */
void inorder_refetch(struct inorder *c);

/* inorder_offload.c: the core's mechanism. */
extern const struct core_offload_events inorder_offload_events;
/* Whether it takes the instruction at the hart's pc. Asked once for each time that the instruction is reached. */
bool inorder_offload_takes(struct inorder *c);
/* Goes on with the task. False while it is under way; else the core has left, with phase and stop set. */
bool inorder_offload_go(struct inorder *c);

/* inorder_note.c: for observers of instructions. */
struct inorder_notes *inorder_notes_new(void);
void inorder_notes_free(struct inorder_notes *notes);
bool inorder_notes_wait(const struct inorder *c); /* for loads */
void inorder_note(struct inorder *c, const struct stream_op *op, uint64_t complete, bool mispredicted);
void inorder_note_load(struct inorder *c, uint64_t number, uint64_t complete, unsigned level);

#endif
