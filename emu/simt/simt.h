/* A GPU's multiprocessor: when the instructions of its warps happen.
 *
 * Issue: each scheduler has its part of the warps (warp number modulo schedulers) and issues at most one instruction a
 * clock, in order within a warp, by one of two policies: greedy-then-oldest stays with a warp until it cannot issue, then
 * takes the oldest that can; round-robin begins behind the last one (Rogers, O'Connor, Aamodt, "Cache-conscious wavefront
 * scheduling", MICRO 2012, section 4). A warp that spins (warp.h) counts as the youngest from then on, and one that could
 * have issued for SIMT_PATIENCE clocks (looked for as often) as the oldest. A scoreboard lets an instruction issue when its
 * operands and its destination are not pending. Nothing is predicted: behind a branch, jump, barrier or call the warp
 * waits.
 *
 * Units: LANES, one for each scheduler; SPECIAL and MEMORY, which the schedulers share (lower numbers first). The memory
 * pipeline takes instructions in order, one line (global) or one pass (shared memory) a clock; a line that the first-level
 * cache has no room for stops it. Loads and stores go through the cache, write-through, by lines (coalesce.h); thread
 * stacks too. Atomics pass it by, a request for each line and turn, and take the line out of it; they are made at the
 * shared level below. A fence waits for what is under way of its warp. Requests carry whether their instruction was
 * divergent.
 *
 * Function: the source executes an instruction when it issues.
 *
 * Left out: instruction fetch (always there), the operand collector's banks, double issue, replays, dirty local memory
 * (Fermi keeps thread stacks write-back), acknowledgement of stores (a block may end before its stores are answered).
 */
#ifndef EMU_SIMT_SIMT_H
#define EMU_SIMT_SIMT_H

#include "emu/mem/cache.h"
#include "emu/sim/energy.h"
#include "emu/sim/observer.h"
#include "emu/sim/stats.h"
#include "emu/simt/coalesce.h"
#include "emu/simt/shared_banks.h"

enum {
    SIMT_WARPS = 1024,
    SIMT_BLOCKS = 32,
    SIMT_PATIENCE = 65536, /* clocks */
    SIMT_SCHEDULERS = 4,
    SIMT_ACCESSES = 256,
};

enum simt_policy { SIMT_GTO, SIMT_ROUND_ROBIN };
extern const char *const simt_policy_names[]; /* by value, then NULL */

enum simt_unit { SIMT_UNIT_LANES, SIMT_UNIT_SPECIAL, SIMT_UNIT_MEMORY, SIMT_UNITS };

enum simt_work {
#define SIMT_WORK(name, ...) SIMT_WORK_##name,
#include "emu/simt/work.def"
    SIMT_WORKS
};

enum simt_stall {
#define SIMT_STALL(name, meaning) SIMT_STALL_##name,
#include "emu/simt/stall.def"
    SIMT_STALLS
};

struct simt_timing {
    uint16_t latency, interval; /* clocks, 1 to 1000 */
};

struct simt_config {
#include "emu/sim/fields_struct.h"

#include "emu/simt/simt.def"
    struct simt_timing work[SIMT_WORKS];
    uint64_t energy_instruction; /* fJ of a warp's instruction, whatever it does */
    uint64_t energy[SIMT_WORKS]; /* fJ of a thread that executes one (energy.def); 0: none */
};

/* Its parts: l1 (cache_kind) of each multiprocessor; crossbar and l2 (llc_kind) that they share. */
extern const struct part_kind simt_kind;

/* What a block takes of a multiprocessor. */
struct simt_need {
    uint32_t warps, threads;
    uint32_t registers; /* 32-bit halves of a thread; 0 takes none */
    uint64_t scratchpad;
};

struct simt;
struct custom_waiter;
struct track_sink;

/* Is told what happens in a multiprocessor; any of the functions may be NULL. Times are simulated, in fs. */
struct simt_observer {
    struct observer link;
    /* A scheduler has not issued from one time until another, for a cause other than base. Of each scheduler in ascending
     * order, and at once or when the multiprocessor goes on or is counted (simt_counted()). */
    void (*stalled)(void *context, uint32_t scheduler, enum simt_stall cause, uint64_t from, uint64_t to);
    /* It holds so many warps from now on. */
    void (*held)(void *context, uint32_t warps, uint64_t now);
    void *context;
};

/* A block of threads on a multiprocessor: its source's, from simt_place() until source.ended(). */
struct simt_block {
    struct simt_need need;
    void *warps[SIMT_WARPS];          /* need.warps of them: the source's name for each */
    uint32_t slots[SIMT_WARPS], left; /* the multiprocessor's */
    void *owner;                      /* the source's */
};

/* Who executes warps (emu/simt/grid.h, or a test). */
struct simt_source {
    /* The instruction that the warp executes next, or NULL: the step will not be an instruction. */
    const struct stream_op *(*next)(void *context, void *warp);
    /* Executes it, at the multiprocessor's cycle; the waiter is for units of custom instructions. It serves calls and ends of threads. When all of a block's threads have
     * come to its barrier it calls simt_release(). After WARP_IDLE *ended says whether all lanes have ended. After
     * WARP_TRAP the multiprocessor stands still. */
    void (*step)(void *context, void *warp, uint64_t cycle, struct custom_waiter *waiter,
                 struct warp_report *report, bool *ended);
    /* All warps of the block have ended; the place is free. May call simt_place() for this multiprocessor. `now` may lie
     * ahead of the queue. */
    void (*ended)(void *context, struct simt *simt, struct simt_block *block, uint64_t now);
    void *context;
};

struct simt_parts {
    const char *name; /* "simt.0" */
    struct event_queue *queue;
    struct clock clock;
    uint32_t component;
    uint16_t number;                      /* as a requester */
    struct cache *l1;                     /* on the same clock; write-through, not coherent */
    const struct mem_port_ops *lower_ops; /* where atomics go */
    void *lower;
    struct home_map *homes; /* for requests that leave the last level there, or NULL */
    struct simt_source source;
};

const char *simt_stall_name(enum simt_stall stall);

/* What an instruction is for the latencies; a memory access to shared memory is SIMT_WORK_shared instead. */
enum simt_work simt_work_of(enum insn_id id);

/* A multiprocessor without blocks. Config must have passed the check; what parts point to must outlive it. Out of memory
 * aborts. Release with simt_free(). */
struct simt *simt_new(const struct simt_config *config, const struct simt_parts *parts);
void simt_free(struct simt *simt);

/* Joins it to the port where atomics go, when simt_new() was given none. To be called before the first block. */
void simt_connect(struct simt *simt, const struct mem_port_ops *ops, void *port);

/* Whether a multiprocessor without blocks has room for such a block; and whether this one has. */
bool simt_could(const struct simt_config *config, const struct simt_need *need);
bool simt_fits(const struct simt *simt, const struct simt_need *need);

/* Starts the block, which fits, at now (the queue's). It has at least one warp. */
void simt_place(struct simt *simt, struct simt_block *block, uint64_t now);

/* To be called by source.step(): all warps of the block have come to its barrier, and go on behind it. */
void simt_release(struct simt *simt, struct simt_block *block);

/* Empties the first-level cache. */
void simt_flush(struct simt *simt);

/* How many blocks it holds, and whether there are any. */
uint32_t simt_held(const struct simt *simt);
bool simt_busy(const struct simt *simt);

/* What it has counted, brought up to the queue's time. */
struct simt_counters {
    uint64_t cycles; /* with blocks */
    uint64_t instructions, thread_instructions;
    /* The latter by kind. Those of shared memory are loads, stores and atomics too. */
    uint64_t work[SIMT_WORKS];
    uint64_t stalls[SIMT_SCHEDULERS][SIMT_STALLS];
    uint64_t accesses, requests,
        divergent;                /* global: instructions, their lines, those that coalesce_divergent() */
    struct histogram requests_of; /* of instructions: lines, up to COALESCE_LINES */
    uint64_t shared_accesses, shared_passes;
    uint64_t atomics, atomic_requests;
    uint64_t barriers, blocks;
    uint64_t apart; /* branches whose lanes went to different places */
};
const struct simt_counters *simt_counted(struct simt *simt);

/* Adds an observer, which stays the caller's (emu/sim/observer.h). */
void simt_observe(struct simt *simt, struct simt_observer *observer);

/* Shows it on tracks of the sink (track.h), as a group of its name. To be called once, before the first block. */
void simt_track(struct simt *simt, struct track_sink *sink);

/* Opens the account "instruction" and one for each kind of work: "work.alu" .... */
void simt_energy(struct simt *simt, struct energy_ledger *ledger, struct scope scope);

/* Registers "cycles", "scheduler.0.base" .... */
void simt_publish(struct simt *simt, struct stats *stats, struct scope scope);

#endif
