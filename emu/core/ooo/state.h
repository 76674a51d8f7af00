/* What the parts of the out-of-order core share: its state, and the calls between fetch, dispatch, memory and
 * retirement. For emu/core/ooo*.c only.
 *
 * Instructions are numbered in program order; number n is at rob[n & rob_mask]. Times are cycles of the
 * core's clock since time 0; OOO_NEVER stands for a time that is not known yet.
 */
#ifndef EMU_CORE_OOO_STATE_H
#define EMU_CORE_OOO_STATE_H

#include "emu/core/code.h"
#include "emu/core/ooo/ooo.h"
#include "emu/core/ports.h"
#include "emu/core/serial.h"
#include "emu/core/tlb.h"

#define OOO_NEVER UINT64_MAX

enum {
    OOO_NONE = UINT16_MAX,     /* no entry */
    OOO_CYCLES = PORTS_WINDOW, /* of the issue queue's calendar */
    OOO_WAIT_BITS = 1024,      /* loads, by pc, that have violated memory order */
    OOO_BUCKETS = 256,         /* of the store queue's index by 8-byte granule */
    OOO_OPERANDS = 3,
    OOO_BLOCKS = 8, /* cache-block operations under way: ours; as many as a small cache has misses */
};

/* The rarer last. OOO_SPECIAL: plain, but not pipelined or with more than two ports. */
enum ooo_kind { OOO_PLAIN, OOO_LOAD, OOO_STORE, OOO_SPECIAL, OOO_SERIAL, OOO_TASK };

/* What an instruction is to this core, by its id; 16 bytes. */
struct ooo_class {
    struct ports_use use;
    uint16_t latency;
    uint32_t facts; /* the kind, as in ooo_entry.facts */
};

/* A place in the reorder buffer, one line of the host: all that instructions with known operands need. There
 * are no fields of character type here and in what else is written for every instruction, as a compiler must
 * assume that those overlap all others. */
struct ooo_entry {
    uint64_t fetch, dispatch, issue, complete, retire;
    uint64_t pc;
    uint16_t id;
    uint16_t memory;     /* place in the ring of loads or stores */
    uint16_t dependents; /* first operand that waits for the result (ooo_operand), or OOO_NONE */
    uint16_t waiting;    /* of a pending one: operands of unknown time that hold up its issue */
    uint32_t facts;      /* see below */
    uint16_t cause;      /* enum cpi_cause of the cycles from issue to completion */
    uint16_t level;      /* enum mem_level, of a load */
};

/* In ooo_entry.facts. */
enum {
    OOO_RD = 0xff,
    OOO_KIND_SHIFT = 8, /* enum ooo_kind, 4 bits */
    OOO_KIND = 0xf00,
    OOO_BEFORE_SHIFT = 12, /* enum cpi_cause of the cycles until dispatch, 4 bits */
    OOO_BEFORE = 0xf000,
    OOO_MISPREDICTED = 1 << 16, /* fetch waits for its completion */
    OOO_SQUASHES = 1 << 17,     /* everything behind it was fetched again */
    OOO_EARLY = 1 << 18,        /* a task that was complete before its nucd has issued */
};

static inline bool ooo_is(uint32_t facts, enum ooo_kind kind)
{
    return (facts & OOO_KIND) == (uint32_t)kind << OOO_KIND_SHIFT;
}

/* The same place, for those whose operands have an unknown time. */
struct ooo_pending {
    uint64_t ready; /* latest of the known operands; of a task that has issued: when it arrived */
    uint16_t next[OOO_OPERANDS]; /* in the producer's list of dependents */
};

/* An operand in a list: place * 4 + its number. The data of a store is number 1. */
static inline uint16_t ooo_operand(uint64_t place, unsigned number)
{
    return (uint16_t)(place * 4 + number);
}

enum ooo_load_step { OOO_TRANSLATE, OOO_CHECK, OOO_ACCESS };

/* A piece of a load or store: accesses that cross a line have two. */
struct ooo_piece {
    struct cache_waiter waiter;
    uint64_t physical;
    uint64_t cycle; /* of the access: it is not done before that, even if its line comes earlier */
    bool full;      /* refused: to be repeated */
};

struct ooo;

struct ooo_load {
    struct ooo *owner;
    uint64_t number; /* instruction's */
    uint64_t address, physical;
    uint64_t older;  /* number of stores before it in program order */
    uint64_t time;   /* the access, at the earliest; later its completion */
    uint64_t walked; /* when its page walk was done, or 0 */
    struct cache_waiter walk;
    struct ooo_piece pieces[2];
    uint16_t next; /* in a store's list */
    uint8_t size, step;
    uint8_t parts; /* pieces under way */
    uint8_t level;
    bool speculated; /* it has read before an overlapping older store had its address: fetch waits */
    bool deferred;   /* its address was not known when it was dispatched */
    bool ahead;      /* the offload mechanism has to be asked whether it may go */
    bool walking;    /* a page walk is under way */
};

struct ooo_store {
    struct ooo *owner;
    uint64_t pc;
    uint64_t index; /* counted from OOO_QUEUE_MOST */
    uint64_t address, physical;
    uint64_t known;       /* when its address is known */
    uint64_t data;        /* when its data are */
    uint64_t time;        /* earliest time to drain, then latest of its pieces */
    uint64_t done;        /* when it is in the cache */
    uint64_t freed;       /* when it and all before it are */
    uint64_t previous[2]; /* indices of the stores before it in the buckets of its granules */
    struct ooo_piece pieces[2];
    uint16_t loads; /* first load that waits for it, or OOO_NONE */
    uint8_t size;
    uint8_t parts;   /* pieces under way or refused */
    uint8_t started; /* pieces that have been accessed */
    uint8_t count;   /* of pieces; 0: its address is not known, and it is not in the index */
    uint8_t level;
};

/* What the core as a whole is about. */
enum ooo_phase {
    OOO_RUN,    /* dispatches the batch */
    OOO_DRAIN,  /* before an instruction that is executed alone, or a stop */
    OOO_STEP,   /* time has come for it */
    OOO_REPLY,  /* it waits for the data cache */
    OOO_AHEAD,  /* of offloaded tasks: the mechanism gives instructions one by one */
    OOO_STOPPED /* time has come to hand `stop` to the server */
};

/* TARGET: the length of a task's region. */
enum ooo_fetch_wait { FETCH_GOES, FETCH_BRANCH, FETCH_ORDER, FETCH_TARGET, FETCH_LINE, FETCH_WALK };

struct ooo_fetch {
    uint64_t block;    /* aligned address of the block that was fetched last; OOO_NEVER: none follows on */
    uint64_t cycle;    /* when */
    uint64_t next;     /* earliest cycle of the next block */
    uint64_t line;     /* address of the line that is at hand */
    uint64_t page;     /* number of the page that the TLB was asked for last */
    uint64_t wrong_pc; /* where the wrong path begins; 0: nowhere */
    uint64_t fetched;  /* ooo_fetched() of this block's instructions */
    enum ooo_fetch_wait wait;
    enum cpi_cause next_cause; /* of cycles before the dispatch of the next block's */
    bool wrong_done;           /* the wrong path has been fetched */
    struct cache_waiter waiter, wrong_waiter;
    bool wrong_busy;
};

/* What is known of an entry of the batch before it is dispatched, in one word, since the host's processor
 * passes a store on only to a load of the same size: cycle << OOO_FETCHED_SHIFT | facts, where facts are
 * OOO_BEFORE and OOO_MISPREDICTED as in ooo_entry.facts, moved down. */
enum { OOO_FETCHED_SHIFT = 5, OOO_FETCHED_WRONG = OOO_MISPREDICTED >> OOO_BEFORE_SHIFT };

static inline uint64_t ooo_fetched(uint64_t cycle, uint64_t cause)
{
    return cycle << OOO_FETCHED_SHIFT | cause;
}

static inline uint32_t ooo_fetched_facts(uint64_t fetched)
{
    return (uint32_t)(fetched & (OOO_BEFORE | OOO_MISPREDICTED) >> OOO_BEFORE_SHIFT) << OOO_BEFORE_SHIFT;
}

/* What a core that is ahead does next. */
enum ooo_ahead_aim {
    AHEAD_GOES,    /* asks for the next instruction */
    AHEAD_AWAITS,  /* an instruction's completion or retirement */
    AHEAD_HALTS,   /* until core_offload_go_on() */
    AHEAD_FINISHES /* leaves when all that was dispatched has retired */
};

struct ooo_ahead {
    struct offload_view view; /* of the load or store in the batch */
    enum ooo_ahead_aim aim;
    enum cpi_cause cause; /* of what has put off the next dispatch */
    uint64_t offset;      /* an instruction's number here is the mechanism's plus this */
    uint64_t begun;       /* number of the first instruction that was ahead */
    uint64_t told;        /* all before are known to the mechanism to have retired */
    uint64_t scanned;     /* all before are tasks, or complete at `ready` */
    uint64_t ready;
    uint64_t awaited; /* number */
    uint64_t resumed; /* next dispatch, at the earliest */
    uint64_t end;     /* behind all numbers that were squashed */
    uint32_t busy;    /* squashed loads that caches and page walks still work for */
    bool retirement;  /* the awaited one was complete when the wait began: it has to retire */
    bool is_task;     /* what is in the batch */
    bool early;       /* and it is complete */
    bool stepped;     /* something was given */
    bool squashed, interrupted;
    bool asked; /* the mechanism waits for stores to drain */
};

struct ooo_counts {
    uint64_t held; /* ahead of tasks: loads that waited for bytes of theirs */
    uint64_t instructions, fetch_wrong_lines, forwarded, partial, violations, waited;
    uint64_t rob_full, load_queue_full, store_queue_full, issue_queue_full, renames_full;
};

struct ooo {
    struct core core;
    struct cache *l1i, *l1d;
    uint64_t period;     /* of the clock, fs */
    uint64_t floor;      /* cycle of the queue's now */
    uint64_t head, tail; /* oldest instruction not retired; next to be dispatched */
    uint64_t rob_mask;
    uint64_t times[66]; /* when registers are there; 64: no operand, always 0; 65: unused */
    uint32_t rob, iq, decode_width, retire_width, full_width;
    uint32_t frontend_clocks, hit_clocks, line_bytes;

    /* Dispatch. */
    uint64_t dispatched_at;
    uint32_t dispatched;          /* in that cycle */
    uint32_t position;            /* in the batch */
    uint32_t fetched;             /* entries of the batch that are fetched */
    uint32_t iq_used, iq_pending; /* waiting to issue; of which issue is unknown */
    uint64_t iq_at;               /* cycle for which iq_used is right */
    uint64_t loads, stores;       /* dispatched so far; index of the next */
    uint64_t int_writes, fp_writes;
    uint32_t load_queue, store_queue, int_renames, fp_renames;
    uint32_t load_mask, store_mask, int_mask, fp_mask;

    /* Retirement. */
    uint64_t retired_at;
    uint32_t retired;    /* in that cycle */
    uint32_t credit;     /* instructions retired whose share of a full-width cycle is not counted yet */
    uint64_t drained_at; /* last access of a store */
    uint64_t drain;      /* index of the next store to access the cache */
    uint64_t drain_tail; /* index behind the last retired store */
    uint64_t freed;      /* index of the oldest store that is not done */
    uint64_t freed_at;

    struct ooo_fetch fetch;
    uint64_t block_mask;
    uint64_t line_mask;
    uint32_t fetch_queue, fetch_bytes, taken_clocks, late_clocks, redirect_clocks;
    bool speculate;
    bool few_registers; /* renaming can be a limit; otherwise it is not counted */
    bool blocked;       /* returned to the event loop, and waits for a time to become known */
    bool noting;        /* somebody observes */
    bool slept;
    bool warmed;       /* the last batch was without time */
    uint64_t retry_at; /* cycle in which a blocked core looks again in any case; 0: none */

    enum ooo_phase phase;
    enum stream_end end; /* of the batch */
    enum hart_stop stop;
    uint64_t passed; /* breakpoint that was reported: it is stepped over; OOO_NEVER: none */
    struct ooo_ahead ahead;
    struct serial serial;
    struct ooo_entry serial_entry;
    struct cache_waiter serial_waiter;
    struct cache_waiter block_waiters[OOO_BLOCKS]; /* of cache-block operations under way */
    uint32_t blocks;                               /* set of them */
    uint32_t serial_offset;                        /* of its access: what is done */

    uint32_t work_count;
    uint16_t work[2 * OOO_ROB_MOST]; /* places whose last operand has become known */

    uint64_t fetches[STREAM_BATCH]; /* ooo_fetched() */
    uint64_t producer[66];          /* instruction that writes a register whose time is OOO_NEVER */
    uint64_t load_numbers[OOO_QUEUE_MOST], int_numbers[OOO_ROB_MOST], fp_numbers[OOO_ROB_MOST];
    uint64_t buckets[OOO_BUCKETS]; /* index of the last store to a granule */
    uint8_t wait_bits[OOO_WAIT_BITS / 8];
    struct code_map code;
    struct ooo_class classes[INSN_COUNT];
    struct ooo_entry rob_entries[OOO_ROB_MOST] __attribute__((aligned(64)));
    struct ooo_pending pending[OOO_ROB_MOST];
    struct ooo_load load_ring[OOO_QUEUE_MOST];
    struct ooo_store store_ring[OOO_QUEUE_MOST];
    uint16_t issues[OOO_CYCLES]; /* instructions that issue in a cycle later than iq_at */
    struct ports ports;
    struct insn insns[OOO_ROB_MOST]; /* for observers */
    struct predictor predictor;
    struct ooo_counts count;
    struct core_config config;
};

extern const struct core_offload_events ooo_offload_events;

static inline struct ooo_entry *ooo_at(struct ooo *o, uint64_t number)
{
    return &o->rob_entries[number & o->rob_mask];
}

static inline uint64_t ooo_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The index by granules: a bucket names the last store to any of its granules, and each store the one before
 * it. Two neighbouring granules are never in the same bucket. */
static inline unsigned ooo_bucket(uint64_t granule)
{
    return (unsigned)(granule ^ granule >> 8) % OOO_BUCKETS;
}

/* The simulated time of an access in a cycle; never before the queue's now. */
static inline uint64_t ooo_time(const struct ooo *o, uint64_t cycle)
{
    return ooo_later(cycle, o->floor) * o->period;
}

/* An instruction that waited in the issue queue issues. */
static inline void ooo_issued(struct ooo *o, uint64_t cycle)
{
    uint64_t ahead = cycle - o->iq_at;
    if (__builtin_expect(ahead - 1 < OOO_CYCLES - 1, 1))
        o->issues[cycle % OOO_CYCLES]++;
    else if (cycle <= o->iq_at)
        o->iq_used--;
    else
        o->issues[(o->iq_at + OOO_CYCLES - 1) % OOO_CYCLES]++;
}

/* --- ooo_fetch.c --- */

void ooo_fetch_init(struct ooo *o);
/* When the instruction of that pc and length is fetched behind all others: o->fetch.cycle; false when that is
 * not known yet. */
bool ooo_fetch_at(struct ooo *o, uint64_t pc, unsigned length);
/* Works out when the next entry of the batch is fetched; false when that is not known yet. ooo_fetch_one() is
 * the common case, an instruction in the block of the one before it. */
bool ooo_fetch_slowly(struct ooo *o);
static inline bool ooo_fetch_one(struct ooo *o)
{
    uint32_t i = o->fetched;
    const struct stream_op *op = o->core.stream.entries[i].op;
    uint64_t block = (op->pc + op->length - 1) & o->block_mask;
    if (block != o->fetch.block || op->flags & (STREAM_BRANCH | STREAM_JUMP))
        return ooo_fetch_slowly(o);
    o->fetches[i] = o->fetch.fetched;
    o->fetched = i + 1;
    return true;
}
/* What the front end waited for is known at cycle; it goes on right behind. */
void ooo_fetch_redirect(struct ooo *o, uint64_t cycle, enum cpi_cause cause);
/* The mispredicted branch executes at cycle. */
void ooo_fetch_resolve(struct ooo *o, uint64_t cycle);
/* Translations may have changed. */
void ooo_fetch_forget(struct ooo *o);

/* --- ooo_serial.c --- */

void ooo_serial_init(struct ooo *o);
/* Goes on with what is executed alone, or with a stop. False when the core has to wait; it is blocked, asleep
 * or has an event then. */
bool ooo_serial(struct ooo *o, uint64_t now);

/* --- ooo_issue.c --- */

/* Fetches and dispatches what is left of the batch; false when that waits for an unknown time. */
bool ooo_run_batch(struct ooo *o);
/* The same for the one instruction that was given to a core that is ahead. */
bool ooo_run_ahead(struct ooo *o);
/* Puts operand `operand` of an instruction on the list of those that wait for another one's result. */
void ooo_depend(struct ooo *o, uint64_t number, unsigned operand, uint64_t producer);
/* The result of an instruction is there. */
void ooo_complete(struct ooo *o, uint64_t number, uint64_t cycle);
/* Issues all instructions whose last operand has become known. */
void ooo_work(struct ooo *o);
/* Lets a blocked core look again; called by whatever has made a time known, at the queue's now. One that is ahead
 * looks in any case, as others wait for what retires. */
void ooo_go_on(struct ooo *o);
/* Nothing goes on: retires what can be, which may let something go on after all; otherwise the core is blocked. */
bool ooo_relieved(struct ooo *o);
/* A callback begins: times before now cannot be used any more. */
void ooo_callback(struct ooo *o, uint64_t now);

/* From here on the time of a register that the instruction to be dispatched writes is not known. */
static inline void ooo_result_unknown(struct ooo *o, unsigned rd)
{
    o->times[rd] = OOO_NEVER;
    o->times[STREAM_NONE] = 0;
    o->producer[rd] = o->tail;
}

/* --- ooo_load.c, ooo_store.c --- */

void ooo_load_init(struct ooo *o);
void ooo_store_init(struct ooo *o);
/* The same for a load that has just been dispatched and issued: the common case is a hit that no store in the
 * queue has to do with. */
void ooo_load_first(struct ooo *o, const struct stream_entry *in, struct ooo_entry *e, uint64_t cycle);
/* Fills in a load that has just been dispatched. */
struct ooo_load *ooo_load_enter(struct ooo *o, const struct stream_entry *in, struct ooo_entry *e);
/* A load whose address is known accesses memory at cycle. */
void ooo_load_go(struct ooo *o, struct ooo_load *load, uint64_t cycle);
/* Enters a store into the index by granules. */
void ooo_store_enter(struct ooo *o, struct ooo_store *store);
/* Makes the index anew, for a store whose address was not known when younger ones were entered, or without those
 * that were squashed. */
void ooo_store_reindex(struct ooo *o);
/* The youngest store before `load` that overlaps it and is in the queue still at cycle, or NULL. */
struct ooo_store *ooo_store_overlap(struct ooo *o, const struct ooo_load *load, uint64_t cycle);
/* Whether no store before a load that has just been dispatched can matter to it from cycle on: a quick look
 * that may say false where ooo_store_overlap() would find none. */
static inline bool ooo_store_none(const struct ooo *o, uint64_t physical, unsigned size, uint64_t cycle)
{
    uint64_t granule = physical / 8;
    uint64_t index = o->buckets[ooo_bucket(granule)];
    const struct ooo_store *store = &o->store_ring[index & o->store_mask];
    return physical % 8 + size <= 8 && (store->index != index || (index < o->freed && store->freed <= cycle));
}
/* Something about a store has become known: loads that wait for it look again. */
void ooo_store_wake(struct ooo *o, struct ooo_store *store);
/* The store has retired at cycle and drains. */
void ooo_store_retire(struct ooo *o, struct ooo_store *store, uint64_t cycle);
/* Sets up the pieces of an access; returns how many they are. */
unsigned ooo_pieces(struct ooo *o, struct ooo_piece pieces[2], uint64_t address, uint64_t physical,
                    unsigned size);

/* --- ooo_ahead.c --- */

/* What comes next has to be stepped: whether the offload mechanism takes it; then the core is ahead. */
bool ooo_ahead_begin(struct ooo *o);
/* Goes on ahead. False when the core has to wait. */
bool ooo_ahead(struct ooo *o, uint64_t now);
/* Tells the mechanism what has retired. */
void ooo_ahead_retired(struct ooo *o);
/* The task that is dispatched last has its operands at cycle. */
void ooo_ahead_issue(struct ooo *o, uint64_t number, uint64_t cycle);
/* A load whose operands and bytes were waited for goes on at cycle, unless it is held. */
void ooo_ahead_load(struct ooo *o, struct ooo_load *load, uint64_t cycle);
/* A load that was just dispatched has its address at cycle, and waits for what the mechanism said. */
void ooo_ahead_hold(struct ooo *o, struct ooo_load *load, uint64_t held_for, uint64_t cycle);
/* A store's address has become known. */
void ooo_ahead_place(struct ooo *o, uint64_t number, struct ooo_store *store);
/* Stores have drained for which the mechanism waits. */
void ooo_ahead_drained(struct ooo *o);
/* Something under way for a squashed load has ended. */
void ooo_ahead_ended(struct ooo *o, struct ooo_load *load);
/* Whether the load was squashed: between the squash and the leaving, nothing is dispatched. */
static inline bool ooo_is_squashed(const struct ooo *o, const struct ooo_load *load)
{
    return load->number >= o->tail;
}

/* --- ooo_retire.c --- */

/* Retires instructions up to number `last`; false when the oldest of them is not complete. */
bool ooo_retire(struct ooo *o, uint64_t last);
/* Counts the cycles until `cycle`, in which nothing retires. */
void ooo_pass(struct ooo *o, uint64_t cycle, enum cpi_cause cause);

#endif
