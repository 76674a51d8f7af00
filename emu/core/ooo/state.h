/* The state shared by the files of emu/core/ooo, and their calls to each other.
 *
 * Instructions are numbered in program order; number n is at rob_entries[n & rob_mask]. An instruction leaves the
 * reorder buffer when it retires or, behind a task with a checkpoint, before that (struct offload_ops, pass()). Times
 * are cycles of the core's clock since time 0; OOO_NEVER is a time that is not known yet. */
#ifndef EMU_CORE_OOO_STATE_H
#define EMU_CORE_OOO_STATE_H

#include "emu/core/frontend/code_map.h"
#include "emu/core/ooo.h"
#include "emu/core/ooo/ports.h"
#include "emu/core/serial.h"
#include "emu/core/tlb.h"

#define OOO_NEVER UINT64_MAX

enum {
    OOO_NONE = UINT16_MAX,     /* no entry */
    OOO_CYCLES = PORTS_WINDOW, /* cycles of the issue queue's calendar */
    OOO_SOON =
        OOO_CYCLES -
        65, /* an instruction ready before that many cycles have passed issues within OOO_CYCLES - 1 cycles
                                    of its dispatch, if a port is free in its row */
    OOO_WAIT_BITS = 1024, /* wait bits, indexed by the pc of a load */
    OOO_BUCKETS = 256,    /* buckets of the store queue's index by 8-byte granule */
    OOO_OPERANDS = 3,
    OOO_LOOKAHEAD = 16, /* instructions for which dispatch finds room at once */
    OOO_BLOCKS = 8,     /* cache-block operations under way; ours: as many as a small cache's misses */
};

/* Rare kinds come last. OOO_SPECIAL: as OOO_PLAIN, but unpipelined, or with more than two ports or
 * a third operand. */
enum ooo_kind { OOO_PLAIN, OOO_LOAD, OOO_STORE, OOO_SPECIAL, OOO_SERIAL, OOO_TASK };

/* The properties of an instruction in this core, by its id; 16 bytes. */
struct ooo_class {
    struct ports_use use;
    uint16_t latency;
    uint32_t facts; /* the kind, as in ooo_entry.facts */
};

/* An entry of the reorder buffer, in one cache line of the host: all data of instructions with known operands. It and
 * other data written for every instruction have no fields of character type, because a compiler must assume that those
 * alias everything. */
struct ooo_entry {
    uint64_t fetch, dispatch, issue, complete, retire;
    uint64_t pc;
    uint16_t id;
    uint16_t memory;     /* index in the ring of loads or stores */
    uint16_t dependents; /* first operand that waits for the result (ooo_operand), or OOO_NONE */
    uint16_t waiting;    /* of a pending instruction: operands of unknown time that delay its issue */
    uint32_t facts;      /* OOO_RD ... below */
    uint16_t cause;      /* enum cpi_cause of the cycles from issue to completion */
    uint16_t level;      /* enum mem_level, of a load */
};

/* Fields of ooo_entry.facts. */
enum {
    OOO_RD = 0xff,
    OOO_KIND_SHIFT = 8, /* enum ooo_kind, 4 bits */
    OOO_KIND = 0xf00,
    OOO_BEFORE_SHIFT = 12, /* enum cpi_cause of the cycles until dispatch, 4 bits */
    OOO_BEFORE = 0xf000,
    OOO_MISPREDICTED = 1 << 16, /* fetch waits for its completion */
    OOO_SQUASHES = 1 << 17,     /* everything after it was fetched again */
    OOO_EARLY = 1 << 18,        /* a task that was complete before its nucd issued */
    OOO_PARTED =
        1
        << 19, /* the first part of its execution may have its own cause: a task, or a load after a page walk */
};

static inline bool ooo_is(uint32_t facts, enum ooo_kind kind)
{
    return (facts & OOO_KIND) == (uint32_t)kind << OOO_KIND_SHIFT;
}

/* The additional data of an entry whose operands have unknown times. */
struct ooo_pending {
    uint64_t ready; /* latest of the known operands; of an issued task: cycle in which its packet arrived */
    uint16_t next[OOO_OPERANDS]; /* in the producer's list of dependents */
};

/* An operand in a list of dependents: index in the reorder buffer * 4 + operand number. A store's data is operand 1. */
static inline uint16_t ooo_operand(uint64_t place, unsigned number)
{
    return (uint16_t)(place * 4 + number);
}

enum ooo_load_step { OOO_TRANSLATE, OOO_CHECK, OOO_ACCESS };

/* A part of a load or store; an access that crosses a line has two. */
struct ooo_piece {
    struct cache_waiter waiter;
    uint64_t physical;
    uint64_t cycle; /* cycle of the access; a line that comes earlier does not complete it */
    uint8_t bytes;
    bool full; /* refused by the cache: to be repeated */
};

struct ooo;

struct ooo_load {
    struct ooo *owner;
    uint64_t number; /* of the instruction */
    uint64_t address, physical;
    uint64_t older;  /* number of stores before it in program order */
    uint64_t time;   /* earliest cycle of the access; later its completion */
    uint64_t walked; /* end of its page walk, or 0; its instruction is OOO_PARTED */
    struct cache_waiter walk;
    struct ooo_piece pieces[2];
    uint16_t next; /* next load in a store's list */
    uint8_t size, step;
    uint8_t parts; /* pieces under way */
    uint8_t level;
    bool speculated; /* it read before the address of an overlapping older store was known: fetch waits */
    bool deferred;   /* its address was unknown at dispatch */
    bool ahead;      /* ask the offload mechanism whether it may access memory */
    bool walking;    /* a page walk is under way */
    bool prefetch;   /* a prefetch instruction, which waits for no line */
};

struct ooo_store {
    struct ooo *owner;
    uint64_t pc;
    uint64_t index; /* number of the store, from OOO_QUEUE_MOST on */
    uint64_t address, physical;
    uint64_t known;       /* cycle in which its address is known */
    uint64_t data;        /* cycle in which its data are known */
    uint64_t time;        /* earliest cycle to drain, then the latest of its pieces */
    uint64_t done;        /* cycle in which it is in the cache */
    uint64_t freed;       /* cycle in which it and all older stores are in the cache */
    uint64_t previous[2]; /* indices of the previous stores in the buckets of its granules */
    struct ooo_piece pieces[2];
    uint16_t loads; /* first load that waits for it, or OOO_NONE */
    uint8_t size;
    uint8_t parts;   /* pieces under way or refused */
    uint8_t started; /* pieces that have been accessed */
    uint8_t count;   /* number of pieces; 0: its address is unknown, and it is not in the index */
    uint8_t level;
};

/* The phase of the whole core. */
enum ooo_phase {
    OOO_RUN,    /* dispatching the batch */
    OOO_DRAIN,  /* before a serial instruction or a stop: older instructions complete */
    OOO_STEP,   /* the serial instruction's cycle has come */
    OOO_REPLY,  /* the serial instruction waits for the data cache */
    OOO_AHEAD,  /* ahead of offloaded tasks: the mechanism gives instructions one by one */
    OOO_STOPPED /* the cycle has come to hand `stop` to the server */
};

/* What fetch waits for. TARGET: the length of a task's region. */
enum ooo_fetch_wait { FETCH_GOES, FETCH_BRANCH, FETCH_ORDER, FETCH_TARGET, FETCH_LINE, FETCH_WALK };

struct ooo_fetch {
    uint64_t block;    /* address of the aligned block fetched last; OOO_NEVER: the next one starts afresh */
    uint64_t cycle;    /* cycle in which it was fetched */
    uint64_t next;     /* earliest cycle of the next block */
    uint64_t line;     /* address of the current line */
    uint64_t page;     /* number of the page requested last from the TLB */
    uint64_t wrong_pc; /* first pc of the wrong path; 0: there is none */
    uint64_t fetched;  /* ooo_fetched() of this block's instructions */
    enum ooo_fetch_wait wait;
    enum cpi_cause next_cause; /* of cycles until the dispatch of the next block's instructions */
    bool wrong_done;           /* the wrong path has been fetched */
    struct cache_waiter waiter, wrong_waiter;
    bool wrong_busy;
};

/* The fetch of an entry of the batch, before dispatch, in one word, because the host's processor forwards a store only
 * to a load of the same size: cycle << OOO_FETCHED_SHIFT | facts. The facts are OOO_BEFORE and OOO_MISPREDICTED of
 * ooo_entry.facts, shifted down. */
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
    AHEAD_AWAITS,  /* awaits the completion or retirement of an instruction */
    AHEAD_HALTS,   /* waits for core_offload_go_on() */
    AHEAD_FINISHES /* leaves when everything dispatched has retired */
};

struct ooo_ahead {
    struct offload_view view; /* of the load or store in the batch */
    enum ooo_ahead_aim aim;
    enum cpi_cause cause; /* cause of the next dispatch's delay */
    uint64_t offset;      /* an instruction's number in the core minus its number in the mechanism */
    uint64_t begun;       /* number of the first instruction that was ahead */
    uint64_t kept;        /* older instructions have retired; head, unless `passing` */
    uint64_t kept_at;     /* cycle of the last retirement, while `passing` */
    uint64_t told;        /* older instructions have been reported as retired */
    uint64_t freed;       /* cycle until which an older instruction waited for a task and could be squashed */
    uint64_t scanned;     /* older instructions are tasks, or are complete or settled by cycle `ready` */
    uint64_t ready;
    uint64_t stalled; /* number of the task for whose packet fetch waits; OOO_NEVER: none */
    uint64_t awaited; /* number of the awaited instruction */
    uint64_t resumed; /* earliest cycle of the next dispatch */
    uint64_t end;     /* end of all squashed numbers */
    uint32_t clocks;  /* clocks that the last checkpoint took */
    uint32_t busy;    /* squashed loads that still have cache accesses or page walks under way */
    bool retirement;  /* await retirement: the instruction was already complete */
    bool is_task;     /* the batch is a task */
    bool early;       /* the batch is a task that is complete */
    bool stalls;      /* the batch is a task whose packet fetch waits for */
    bool stepped;     /* the mechanism has given an instruction */
    bool squashed, interrupted;
    bool asked;    /* the mechanism waits for stores to drain */
    bool passing;  /* instructions have left the reorder buffer that have not retired */
    bool restores; /* squashed instructions had left the reorder buffer: a checkpoint is restored */
    bool bound;    /* the instruction `scanned` waits for a task and can still be squashed */
};

/* The issue queue. Most of the time it has room, which `bounds` tells: an instruction finds room if all but the iq - 1 before
 * it have issued. Only when that is not so, instructions are entered in a calendar that counts them (queue.c). */
struct ooo_queue {
    uint64_t
        issued; /* by this cycle, all instructions dispatched so far have issued, except those in `pending` */
    uint64_t at;            /* cycle for which `used` is valid */
    uint64_t due;           /* cycle of the last dispatch, for which it should be */
    uint64_t booked;        /* older instructions are in the calendar, or have issued by cycle `at` */
    uint64_t unknown;       /* OOO_NEVER if some are pending, else 0 */
    uint32_t used, pending; /* entries in use by booked instructions; entries whose issue cycle is unknown */
    uint16_t issues[OOO_CYCLES]; /* booked instructions that issue in a cycle after `at` */
    /* by number: cycle by which this instruction and all before it have issued; OOO_NEVER: not known */
    uint64_t bounds[OOO_ROB_MOST];
};

struct ooo_counts {
    uint64_t held; /* ahead of tasks: loads that waited for bytes of a task */
    uint64_t instructions, fetch_wrong_lines, forwarded, partial, violations, waited;
    uint64_t rob_full, load_queue_full, store_queue_full, issue_queue_full, renames_full;
};

struct ooo {
    struct core core;
    struct cache *l1i, *l1d;
    uint64_t period;     /* of the clock, in fs */
    uint64_t floor;      /* cycle of the queue's now */
    uint64_t head, tail; /* oldest instruction in the reorder buffer; next one to be dispatched */
    uint64_t rob_mask;
    uint64_t times[66]; /* cycles in which registers are ready; 64: no operand, always 0; 65: unused */
    uint64_t rob, iq, frontend_clocks;
    uint32_t decode_width, retire_width, full_width, hit_clocks, line_bytes;

    /* Dispatch. */
    uint64_t dispatched_at;
    uint32_t dispatched; /* instructions dispatched in that cycle */
    uint32_t position;   /* next entry of the batch to dispatch */
    uint32_t fetched;    /* entries of the batch that have been fetched */
    struct ooo_queue queue;
    uint64_t loads, stores; /* loads dispatched so far; index of the next store */
    uint64_t int_writes, fp_writes;
    uint32_t load_queue, store_queue, int_renames, fp_renames;
    uint32_t load_mask, store_mask, int_mask, fp_mask;

    /* Retirement. */
    uint64_t retired_at;
    uint32_t retired;    /* instructions retired in that cycle */
    uint32_t credit;     /* instructions retired whose share of a full-width cycle is not counted yet */
    uint64_t drained_at; /* cycle of the last access of a store */
    uint64_t drain;      /* index of the next store to access the cache */
    uint64_t drain_tail; /* index after the last retired store */
    uint64_t freed;      /* index of the oldest store that is not in the cache */
    uint64_t freed_at;

    struct ooo_fetch fetch;
    uint64_t block_mask;
    uint64_t line_mask;
    uint32_t fetch_queue, fetch_bytes, taken_clocks, late_clocks, redirect_clocks;
    bool speculate;
    bool few_registers; /* count registers, because renaming can be a limit */
    bool blocked;       /* waits in the event loop for a time to become known */
    bool noting;        /* instructions are reported to an observer */
    bool slept;
    bool warmed;       /* the last batch was executed without time */
    uint64_t retry_at; /* cycle in which a blocked core checks again; 0: none */

    enum ooo_phase phase;
    enum stream_end end; /* why the batch ended */
    enum hart_stop stop;
    uint64_t passed; /* pc of a reported breakpoint, to be stepped over; OOO_NEVER: none */
    struct ooo_ahead ahead;
    struct serial serial;
    struct ooo_entry serial_entry;
    struct cache_waiter serial_waiter;
    struct cache_waiter settle_waiter; /* of a release; busy if `settling` */
    uint64_t settled;                  /* cycle in which one was complete */
    bool settling;
    struct cache_waiter block_waiters[OOO_BLOCKS]; /* waiters of cache-block operations under way */
    uint32_t blocks;                               /* set of block_waiters in use */
    uint32_t serial_offset;                        /* bytes of the serial access that are done */

    uint32_t work_count;
    uint16_t work[2 * OOO_ROB_MOST]; /* entries whose last operand has become known */

    uint64_t fetches[STREAM_BATCH]; /* ooo_fetched() */
    uint64_t producer[66];          /* number of the writer of a register whose time is OOO_NEVER */
    uint64_t load_numbers[OOO_QUEUE_MOST], int_numbers[OOO_ROB_MOST], fp_numbers[OOO_ROB_MOST];
    uint64_t buckets[OOO_BUCKETS];          /* index of the last store to a bucket's granules */
    uint64_t wait_bits[OOO_WAIT_BITS / 64]; /* of loads that wait for the addresses of older stores */
    struct code_map code;
    struct ooo_class *classes; /* by id */
    struct ooo_load load_ring[OOO_QUEUE_MOST];
    struct ooo_store store_ring[OOO_QUEUE_MOST];
    struct ports ports;
    struct predictor predictor;
    struct ooo_counts count;
    struct core_config config;
    struct ooo_entry *rob_entries; /* a ring of rob_mask + 1, for all instructions that have not retired */
    struct ooo_pending *pending;   /* indexed like rob_entries */
    struct insn *insns;            /* indexed like rob_entries; for observers */
};

static inline struct ooo_entry *ooo_at(struct ooo *o, uint64_t number)
{
    return &o->rob_entries[number & o->rob_mask];
}

static inline uint64_t ooo_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Returns the simulated time of an access in a cycle, at least the queue's now. */
static inline uint64_t ooo_time(const struct ooo *o, uint64_t cycle)
{
    return ooo_later(cycle, o->floor) * o->period;
}

static inline const struct core_offload *ooo_mechanism(const struct ooo *o)
{
    return &o->core.parts.offload;
}

/* The files of the core, from the lowest to the top one (ooo.c). Each calls only those before it. */

/* wake.c */

/* Begins a callback at time now: earlier cycles cannot be used any more. */
void ooo_callback(struct ooo *o, uint64_t now);
/* Schedules the event of a blocked core; call it when a time has become known, at the queue's now. A core that is ahead
 * checks in any case, because the mechanism may wait for retirements. */
void ooo_go_on(struct ooo *o);
/* Makes the core wait for ooo_go_on(). Returns false. */
static inline bool ooo_block(struct ooo *o)
{
    o->blocked = true;
    return false;
}

/* fetch.c */

void ooo_fetch_init(struct ooo *o);
/* Fetches an instruction by pc and length after all others, in cycle o->fetch.cycle. Returns false if that cycle is
 * not known yet. */
bool ooo_fetch_at(struct ooo *o, uint64_t pc, unsigned length);
/* The parts of ooo_fetch_one() for the first instruction that ends in a block, and for branches and jumps. */
bool ooo_fetch_enter(struct ooo *o, const struct stream_op *op, uint64_t block);
bool ooo_fetch_control(struct ooo *o, const struct stream_entry *in, uint32_t i);
/* Fetches the next entry of the batch. Returns false if its cycle is not known yet. */
static inline bool ooo_fetch_one(struct ooo *o)
{
    uint32_t i = o->fetched;
    const struct stream_entry *in = &o->core.stream.entries[i];
    const struct stream_op *op = in->op;
    uint64_t block = (op->pc + op->length - 1) & o->block_mask;
    if (block != o->fetch.block && !ooo_fetch_enter(o, op, block))
        return false;
    if (op->flags & (STREAM_BRANCH | STREAM_JUMP))
        return ooo_fetch_control(o, in, i);
    o->fetches[i] = o->fetch.fetched;
    o->fetched = i + 1;
    return true;
}
/* Makes fetch, which waits, continue right after `cycle`. */
void ooo_fetch_redirect(struct ooo *o, uint64_t cycle, enum cpi_cause cause);
/* Makes fetch continue after a task's region, whose length is known at `cycle`. */
void ooo_fetch_target(struct ooo *o, uint64_t cycle, enum cpi_cause cause);
/* Tells fetch that the mispredicted branch executes at `cycle`. */
void ooo_fetch_resolve(struct ooo *o, uint64_t cycle);
/* Discards translations, which may have changed. */
void ooo_fetch_forget(struct ooo *o);

/* queue.c */

/* Notes that the instruction being dispatched, which is not pending, issues at `cycle`. */
void ooo_queue_far(struct ooo *o);
static inline void ooo_queue_issue(struct ooo *o, uint64_t dispatch, uint64_t cycle)
{
    o->queue.issued = ooo_later(o->queue.issued, cycle);
    if (__builtin_expect(cycle - dispatch >= OOO_CYCLES - 1, 0))
        ooo_queue_far(o);
}
/* Notes that the instruction being dispatched is pending, and that one is not any more. */
static inline void ooo_queue_pend(struct ooo *o)
{
    o->queue.pending++;
    o->queue.unknown = OOO_NEVER;
}
static inline void ooo_queue_known(struct ooo *o)
{
    o->queue.unknown = --o->queue.pending ? OOO_NEVER : 0;
}
/* Notes that an instruction that was pending issues, as its entry says. */
void ooo_queue_leave(struct ooo *o, uint64_t number);
/* Notes that the instruction was dispatched. */
static inline void ooo_queue_enter(struct ooo *o, uint64_t number)
{
    o->queue.bounds[number % OOO_ROB_MOST] = o->queue.issued | o->queue.unknown;
}
/* Returns the first cycle at or after `cycle`, and not before the last dispatch, in which the queue has room for the instruction
 * `number`. OOO_NEVER: not known yet, also if a pending instruction could make room before those with known times. */
uint64_t ooo_queue_search(struct ooo *o, uint64_t cycle);
static inline uint64_t ooo_queue_room(struct ooo *o, uint64_t number, uint64_t cycle)
{
    if (__builtin_expect(o->queue.bounds[(number - o->iq) % OOO_ROB_MOST] > cycle, 0))
        return ooo_queue_search(o, cycle);
    return cycle;
}
/* Notes that instruction `number` does not enter the queue, which those before it have left by the next dispatch. */
static inline void ooo_queue_skip(struct ooo *o, uint64_t number)
{
    o->queue.booked = number + 1;
    ooo_queue_enter(o, number);
}
/* Empties the queue, at `cycle`, in which the oldest instruction that could enter it is o->tail. */
void ooo_queue_reset(struct ooo *o, uint64_t cycle);

/* complete.c */

/* Marks the destination register of the instruction being dispatched as unknown. */
static inline void ooo_result_unknown(struct ooo *o, unsigned rd)
{
    o->times[rd] = OOO_NEVER;
    o->times[STREAM_NONE] = 0;
    o->producer[rd] = o->tail;
}

/* Adds operand `operand` of an instruction to the dependents of the instruction `producer`. */
void ooo_depend(struct ooo *o, uint64_t number, unsigned operand, uint64_t producer);
/* Completes an instruction at `cycle`: its result is known. */
void ooo_complete(struct ooo *o, uint64_t number, uint64_t cycle);

/* overlap.c */

/* Returns the bucket of a granule. A bucket holds the index of the last store to any of its granules, and each store
 * the index of the one before it. Two adjacent granules are never in the same bucket. */
static inline unsigned ooo_bucket(uint64_t granule)
{
    return (unsigned)(granule ^ granule >> 8) % OOO_BUCKETS;
}

/* Sets up the pieces of an access. Returns their number. */
unsigned ooo_find_pieces(struct ooo *o, struct ooo_piece pieces[2], uint64_t address, uint64_t physical,
                         unsigned size);
/* Adds a store to the index by granules. */
void ooo_store_enter(struct ooo *o, struct ooo_store *store);
/* Rebuilds the index, after an older store's address has become known, or without squashed stores. */
void ooo_store_reindex(struct ooo *o);
/* Returns the youngest store before `load` that overlaps it and is still in the queue at `cycle`, or NULL. */
struct ooo_store *ooo_find_overlap(struct ooo *o, const struct ooo_load *load, uint64_t cycle);

/* load.c */

/* Returns whether the load was squashed. Nothing is dispatched between the squash and leaving. */
static inline bool ooo_is_squashed(const struct ooo *o, const struct ooo_load *load)
{
    return load->number >= o->tail;
}

/* Returns whether loads at pc wait for the addresses of all older stores. */
static inline bool ooo_waits_for_order(const struct ooo *o, uint64_t pc)
{
    return o->wait_bits[pc / 2 % OOO_WAIT_BITS / 64] >> pc / 2 % 64 & 1;
}

/* Returns whether a just dispatched load needs no translation, and no store affects it from `cycle` on. A quick test: false does
 * not imply that there is such a store. A prefetch fails it, since it does not end within 8 bytes. */
static inline bool ooo_load_is_plain(const struct ooo *o, const struct stream_entry *in, uint64_t cycle)
{
    uint64_t granule = in->physical / 8, index = o->buckets[ooo_bucket(granule)];
    if (in->physical % 8 + in->op->size > 8 || o->core.parts.tlb || ooo_waits_for_order(o, in->op->pc))
        return false;
    if (index + o->store_mask + 1 < o->stores) /* a later store has taken its place */
        return true;
    const struct ooo_store *store = &o->store_ring[index & o->store_mask];
    return store->index != index || (index < o->freed && store->freed <= cycle);
}

/* Initialises the queue entry of a load that is being dispatched. */
struct ooo_load *ooo_load_enter(struct ooo *o, const struct stream_entry *in, struct ooo_entry *e);
/* Starts a load that has just been dispatched and issued, so that its address is known at `cycle`. */
void ooo_load_first(struct ooo *o, const struct stream_entry *in, struct ooo_entry *e, uint64_t cycle);
/* Holds a just dispatched load, whose address is known at `cycle`, for the task or store `held_for`. */
void ooo_load_hold(struct ooo *o, struct ooo_load *load, uint64_t held_for, uint64_t cycle);
/* Makes a load whose address is known access memory at `cycle`. */
void ooo_load_go(struct ooo *o, struct ooo_load *load, uint64_t cycle);
/* Continues a load at `cycle`, after it has waited for operands or a task's bytes, unless it is held. */
void ooo_load_ahead(struct ooo *o, struct ooo_load *load, uint64_t cycle);
/* Continue a load after the cache's answer, from `level`, to the access of a piece, and after its page walk. Return false if it
 * was squashed. */
bool ooo_load_came(struct ooo *o, struct ooo_load *load, struct ooo_piece *piece, unsigned level);
bool ooo_load_walked(struct ooo *o, struct ooo_load *load);

/* store.c */

/* Makes the loads that wait for a store check again, because something about it has become known. */
void ooo_store_wake(struct ooo *o, struct ooo_store *store);
/* Continues a store after the cache's answer, from `level`, to the access of a piece. */
void ooo_store_came(struct ooo *o, struct ooo_store *store, struct ooo_piece *piece, unsigned level);
/* Asks the mechanism for the address of a store, which has become known, and enters the store into the index. */
void ooo_store_place(struct ooo *o, uint64_t number, struct ooo_store *store);
/* Issues a store, so that its address is known; completes it if its data are known too. */
void ooo_store_issue(struct ooo *o, struct ooo_entry *e, uint64_t number, const struct ooo_class *class,
                     uint64_t ready);
/* Retires the store at `cycle`, so that it can drain into the cache. */
void ooo_store_retire(struct ooo *o, struct ooo_store *store, uint64_t cycle);

/* execute.c */

void ooo_execute_init(struct ooo *o);
/* Issues all instructions whose last operand has become known. */
void ooo_work(struct ooo *o);
/* Issues a task, because its operands are known at `cycle`. Fetch continues after its region, unless it waits
 * for the packet. */
void ooo_task_issue(struct ooo *o, uint64_t number, uint64_t cycle);

/* retire.c */

/* Retires instructions up to number `last`. Returns false if one of them is not complete. */
bool ooo_retire(struct ooo *o, uint64_t last);
/* Retires what it can while the core waits. Returns whether that may let it continue; otherwise the core is blocked. */
bool ooo_retire_waiting(struct ooo *o);
/* Attributes the cycles until `cycle`, in which nothing retires, to `cause`. */
void ooo_pass(struct ooo *o, uint64_t cycle, enum cpi_cause cause);

/* dispatch.c */

/* Fetches and dispatches the rest of the batch. Returns false if that depends on an unknown time. */
bool ooo_run_batch(struct ooo *o);
/* ooo_run_batch() for the single instruction given to a core that is ahead. */
bool ooo_run_ahead(struct ooo *o);

/* ahead.c */

extern const struct core_offload_events ooo_offload_events;
/* Asks whether the offload mechanism takes the next instruction, which has to be stepped; if so, the core is ahead. */
bool ooo_ahead_begin(struct ooo *o);
/* Continues ahead of tasks. Returns false if the core has to wait. */
bool ooo_ahead(struct ooo *o, uint64_t now);

/* serial.c */

void ooo_serial_init(struct ooo *o);
/* Continues a serial instruction or a stop. Returns false if the core has to wait: it is blocked, asleep or has
 * scheduled its event. */
bool ooo_serial(struct ooo *o, uint64_t now);

#endif
