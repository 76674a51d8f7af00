/* A GPU's multiprocessor: the timing of its warps' instructions.
 *
 * Issue. Each scheduler owns the warps whose number modulo the number of schedulers is its own, and issues at
 * most one instruction per clock, in order within a warp. There are two policies (Rogers, O'Connor, Aamodt,
 * "Cache-conscious wavefront scheduling", MICRO 2012, section 4): greedy-then-oldest stays with a warp until
 * it cannot issue, then takes the oldest that can; round-robin takes the next that can. A warp that spins
 * (warp.h) becomes the youngest. A warp that could have issued for SIMT_PATIENCE clocks becomes the oldest;
 * this is checked every SIMT_PATIENCE clocks. A scoreboard lets an instruction issue when its operands and
 * its destination are not pending. There is no branch prediction: after a branch, jump, barrier or call the
 * warp waits.
 *
 * Units. Each scheduler has its own LANES; the schedulers share SPECIAL and MEMORY, lower numbers first. The
 * memory pipeline takes instructions in order, one line (global memory) or one pass (shared memory) per
 * clock; with `l1_banks`, a line takes a clock for each word that it wants of one bank, whether it is there or not. It stalls while the first-level cache has no room for a line. Loads and stores go through the cache,
 * line by line (coalesce.h), which is write-through except for thread stacks (emu/mem/cache.h). Atomics bypass the cache with a
 * request per line and turn, invalidate the line in it, and are executed at the shared level below. A fence
 * waits for all accesses of its warp. A request tells whether its instruction was divergent.
 *
 * Units of custom instructions (emu/hart/custom.h). When a unit has taken some of a warp's threads and no other
 * thread of the warp can run, the warp waits, as for a load.
 *
 * Translation. Where programs have virtual addresses, an access whose pages the multiprocessor's TLB does not hold
 * leaves the memory pipeline to later accesses until the TLB holds them (mmu.h). A warp whose page is missing waits, after
 * the walk that finds nothing, until the host has brought the page in, and then executes the instruction.
 *
 * Function. The source executes an instruction when it issues.
 *
 * Not modelled: instruction fetch (code is always available), the operand collector's banks, double issue,
 * replays, acknowledgement of stores (a block may end before its stores are answered; with caches by word, a launch may not), the coherence of stacks that
 * threads of other multiprocessors access by pointers. */
#ifndef EMU_SIMT_MULTIPROCESSOR_H
#define EMU_SIMT_MULTIPROCESSOR_H

#include "emu/mem/cache.h"
#include "emu/sim/observer.h"
#include "emu/sim/report/energy.h"
#include "emu/sim/report/stats.h"
#include "emu/simt/coalesce.h"
#include "emu/simt/grid/placement.h"
#include "emu/simt/mmu.h"
#include "emu/simt/shared_banks.h"

enum {
    SIMT_WARPS = 1024,
    SIMT_BLOCKS = 32,
    SIMT_PATIENCE = 65536, /* clocks */
    SIMT_SCHEDULERS = 4,
    SIMT_ACCESSES = 256,
    SIMT_STACK = 16 * 1024, /* bytes; default of config.stack */
    SIMT_STACK_LEAST = 1024,
};

enum simt_policy { SIMT_GTO, SIMT_ROUND_ROBIN };
extern const char *const simt_policy_names[]; /* indexed by value; ends with NULL */

enum simt_unit { SIMT_UNIT_LANES, SIMT_UNIT_SPECIAL, SIMT_UNIT_MEMORY, SIMT_UNITS };

enum simt_work {
#define SIMT_WORK(name, ...) SIMT_WORK_##name,
#include "emu/simt/multiprocessor/work.def"
    SIMT_WORKS
};

enum simt_stall {
#define SIMT_STALL(name, meaning) SIMT_STALL_##name,
#include "emu/simt/multiprocessor/stall.def"
    SIMT_STALLS
};

struct simt_timing {
    uint16_t latency, interval; /* clocks, 1 to 1000 */
};

struct simt_config {
#include "emu/sim/fields_struct.h"

#include "emu/simt/simt.def"
    struct simt_timing work[SIMT_WORKS];
    uint64_t energy_instruction; /* fJ per warp instruction of any kind */
    uint64_t energy[SIMT_WORKS]; /* fJ per thread that executes one (energy.def); 0: none */
    uint64_t energy_register;    /* fJ per register of a thread that is read or written */
    uint64_t power_static;       /* uW */
};

/* The part kind `simt`. Its subparts are an l1 (cache_kind) per multiprocessor, and a shared crossbar and l2
 * (llc_kind). */
extern const struct part_kind simt_kind;

/* The resources of a multiprocessor that a block takes. */
struct simt_need {
    uint32_t warps, threads;
    uint32_t registers; /* 32-bit registers per thread; 0: none */
    uint64_t scratchpad;
};

struct simt;
struct custom_waiter;
struct mem_push;
struct track_sink;

/* Observes a multiprocessor. Functions may be NULL. Times are simulated time in fs. */
struct simt_observer {
    struct observer link;
    /* A scheduler has not issued between two times, for a cause other than base. Calls for a scheduler come
     * in ascending order, at once or when the multiprocessor continues or simt_counted() is called. */
    void (*stalled)(void *context, uint32_t scheduler, enum simt_stall cause, uint64_t from, uint64_t to);
    /* The multiprocessor holds `warps` warps from `now` on. */
    void (*held)(void *context, uint32_t warps, uint64_t now);
    /* A block, of which `warp` is the place of a warp, was on the multiprocessor between two times. */
    void (*left)(void *context, const struct warp_place *warp, uint64_t from, uint64_t to);
    void *context;
};

/* A block of threads on a multiprocessor. It belongs to the source; the multiprocessor uses it from
 * simt_place() until source.ended(). */
struct simt_block {
    struct simt_need need;
    void *warps[SIMT_WARPS];          /* need.warps elements: the source's handle of each warp */
    uint32_t slots[SIMT_WARPS], left; /* for the multiprocessor */
    /* lowest offset in the storage of stacks (warp_memory.h) of a line that its warps have accessed; UINT64_MAX:
     * none. Set by the multiprocessor */
    uint64_t stack_low;
    uint64_t
        stacks_written; /* lines of stacks that the first-level cache had written back when it was placed */
    uint64_t placed;    /* fs: when it was placed */
    void *owner;        /* for the source */
};

/* The executor of warps (emu/simt/grid/grid.h, or a test). */
struct simt_source {
    /* Returns the instruction that the warp executes next, or NULL if its next step is not an instruction. */
    const struct stream_op *(*next)(void *context, void *warp);
    /* Executes the warp's next step at a cycle of the multiprocessor. `waiter` is for units of custom
     * instructions. It handles calls and ends of threads. When all threads of a block have reached its
     * barrier, it calls simt_release(). After WARP_IDLE, *ended tells whether all lanes have ended. After
     * WARP_TRAP, the multiprocessor stops. */
    void (*step)(void *context, void *warp, uint64_t cycle, struct custom_waiter *waiter,
                 struct warp_report *report, bool *ended);
    /* All warps of the block have ended, and its resources are free. It may call simt_place() for this
     * multiprocessor. `now` may be ahead of the queue's time. */
    void (*ended)(void *context, struct simt *simt, struct simt_block *block, uint64_t now);
    /* A walk has found no page for the warp, whose last step was WARP_MISSING. The source calls custom_returned()
     * for the step's waiter when the page is there. After WARP_LATER, it also calls it, when the warp can try again. */
    void (*missing)(void *context, void *warp);
    /* Returns the warp's place. NULL: unknown, so that the multiprocessor shows no blocks and traces no accesses. */
    const struct warp_place *(*where)(void *context, void *warp);
    /* Under a debugger (simt_debug()): returns whether the run stops before the warp's next step. Then the
     * multiprocessor stops in the middle of the cycle, and asks again when the run goes on. It also stops after a step
     * whose report says `paused`. */
    bool (*breaks)(void *context, void *warp);
    void *context;
};

struct simt_parts {
    const char *name; /* such as "simt.0" */
    struct event_queue *queue;
    struct clock clock;
    uint32_t component;
    uint16_t number;                      /* requester number */
    struct cache *l1;                     /* on the same clock; write-through, not coherent */
    const struct mem_port_ops *lower_ops; /* port for atomics */
    void *lower;
    struct home_map *homes; /* homes for requests that leave the last cache level at that port, or NULL */
    struct simt_mmu *mmu;   /* NULL: addresses are physical */
    struct simt_source source;
};

const char *simt_stall_name(enum simt_stall stall);

/* Returns the kind of work of an instruction. An access to shared memory counts as SIMT_WORK_shared
 * instead. */
enum simt_work simt_work_of(enum insn_id id);

/* Creates a multiprocessor without blocks. The configuration must have passed the check. What parts point to
 * must outlive it. Out of memory aborts. Release it with simt_free(), which accepts NULL. */
struct simt *simt_new(const struct simt_config *config, const struct simt_parts *parts);
void simt_free(struct simt *simt);

/* Connects the port for atomics if simt_new() was given none. Call it before the first block. */
void simt_connect(struct simt *simt, const struct mem_port_ops *ops, void *port);

/* simt_set_source() replaces the multiprocessor's source. simt_source_of() returns the present one: copy it before it is
 * replaced if the new source calls it. For mechanisms that take warps from multiprocessors or give them warps. Call both
 * before the first block. */
const struct simt_source *simt_source_of(const struct simt *simt);
void simt_set_source(struct simt *simt, const struct simt_source *source);

/* Makes warps wait at HINTs of an extension, too, until their earlier instructions are complete, because a unit
 * may take threads there (take_lanes(), emu/hart/custom.h). Call it before the first block, once for each such unit. */
void simt_offer(struct simt *simt, enum insn_extension extension);

/* Return whether an empty multiprocessor (simt_could()), or this one now (simt_fits()), has room for a block. */
bool simt_could(const struct simt_config *config, const struct simt_need *need);
bool simt_fits(const struct simt *simt, const struct simt_need *need);

/* Returns how many such blocks an empty multiprocessor holds. *limit names the resource that allows no more: "blocks",
 * "warps", "threads", "registers" or "scratchpad". */
uint32_t simt_occupancy(const struct simt_config *config, const struct simt_need *need, const char **limit);

/* Starts a block at time `now`, which must be the queue's. simt_fits() must be true for it, and it has at
 * least one warp. */
void simt_place(struct simt *simt, struct simt_block *block, uint64_t now);

/* Called by source.step() when all warps of the block have reached its barrier: they continue after it. */
void simt_release(struct simt *simt, struct simt_block *block);

/* A launch begins: empties the first-level cache, but for thread stacks; a cache by word drops what others may have stored. */
void simt_flush(struct simt *simt);

/* Begins a release, at the queue's time: all that its threads have stored will be where others find it; with caches by word,
 * registered. Stores and atomics wait meanwhile. Returns its number: it is complete when simt_settled() is at least that, which may
 * be at once. */
uint64_t simt_settle_begin(struct simt *simt, uint64_t now);
/* Returns the number of releases that were not complete at once and are now. */
uint64_t simt_settled(const struct simt *simt);

/* Makes the push wait until the first-level cache has the stores that threads have executed so far, and memory, or the level that
 * executes them, has answered the atomics. Returns false, and does nothing, if the pipeline holds none. done() may call for
 * a time ahead of the queue's. */
bool simt_push(struct simt *simt, struct mem_push *push);
/* Returns whether the pipeline holds a store to the line, or an atomic that has not been answered. */
bool simt_storing(const struct simt *simt, uint64_t line);

/* Returns the multiprocessor's link for atomics, for a mechanism that sends requests the same way. Its port is known when the
 * run begins. */
const struct mem_link *simt_lower(const struct simt *simt);

/* Tells the multiprocessor the physical range of all thread stacks. */
void simt_set_stacks(struct simt *simt, uint64_t first, uint64_t size);

/* Drops a physical range, which is part of the stacks of a block that has just ended, from the caches. */
void simt_drop_stacks(struct simt *simt, const struct simt_block *block, uint64_t first, uint64_t size);

/* Tells whether a debugger controls the warps. simt_hold(), at the queue's time, keeps a warp of a block from issuing, or
 * lets it issue again. */
void simt_debug(struct simt *simt, bool debugged);
void simt_hold(struct simt *simt, const struct simt_block *block, uint32_t warp, bool held, uint64_t now);

/* Keeps the memory pipeline from beginning accesses and going on with them, or lets it go on, at the queue's time. What has left
 * the pipeline is not concerned. For a mechanism that has the multiprocessor's way to memory for itself. */
void simt_stop_memory(struct simt *simt, bool stopped, uint64_t now);

/* Return the multiprocessor's name and its clock. */
const char *simt_name(const struct simt *simt);
struct event_queue *simt_queue(const struct simt *simt);
const struct clock *simt_clock(const struct simt *simt);

/* Return the number of blocks that the multiprocessor holds, and whether it holds any. */
uint32_t simt_held(const struct simt *simt);
bool simt_busy(const struct simt *simt);

/* The counters of a multiprocessor. simt_counted() returns them, updated to the queue's time. */
struct simt_counters {
    uint64_t cycles; /* cycles with blocks */
    uint64_t instructions, thread_instructions;
    /* Thread instructions by kind. Accesses to shared memory are also counted as loads, stores or atomics. */
    uint64_t work[SIMT_WORKS];
    uint64_t stalls[SIMT_SCHEDULERS][SIMT_STALLS];
    /* of global memory: instructions, their lines, and the instructions for which coalesce_divergent() is
     * true */
    uint64_t accesses, requests, divergent;
    struct histogram requests_of;    /* instructions by their number of lines, up to COALESCE_LINES */
    struct histogram loads_of;       /* loads among them, by their number of lines */
    uint64_t one_response;           /* loads of which the first-level cache answered all lines but one */
    struct histogram response_delay; /* loads with more responses from below: cycles from first to last */
    uint64_t shared_accesses, shared_passes, shared_words;
    uint64_t l1_passes,
        l1_words
            [2]; /* with config.l1_banks: of lines; words of loads and stores beyond the first of a line */
    uint64_t atomics, atomic_requests;
    uint64_t barriers, blocks;
    uint64_t apart;                             /* branches that split a group of lanes */
    uint64_t registers_read, registers_written; /* of threads */
    uint64_t flops; /* floating-point operations of threads; a fused multiply-add is two */
    uint64_t handovers;
};
const struct simt_counters *simt_counted(struct simt *simt);

/* Returns the multiprocessor's TLB; NULL: addresses are physical. */
struct simt_tlb *simt_translation(const struct simt *simt);

/* Adds an observer, which the caller continues to own (emu/sim/observer.h). */
void simt_observe(struct simt *simt, struct simt_observer *observer);

/* Shows the multiprocessor on tracks of the sink (multiprocessor/track.h), in a group with its name, or writes records of
 * its requests (access_trace.h), whose header the caller writes. Call it once, before the first block. */
void simt_track(struct simt *simt, struct track_sink *sink);

/* Opens the accounts "instruction", "registers" and "static", and one for each kind of work, such as "work.alu"; the
 * scratchpad's is "work.shared". With `l1_banks`, "l1.words" has what the first-level cache takes beyond one word of a line. */
void simt_energy(struct simt *simt, struct energy_ledger *ledger, struct scope scope);

/* Registers "cycles", "scheduler.0.base" and so on. */
void simt_publish(struct simt *simt, struct stats *stats, struct scope scope);

#endif
