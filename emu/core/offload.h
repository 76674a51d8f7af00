/* Offloading tasks: what a core and an offload mechanism (emu/nucd/engine.h) ask of each other.
 *
 * A core that meets an instruction which the mechanism takes asks it for one executed instruction after the other, instead
 * of batches of its stream. The mechanism holds back what these do to the hart until the core says that they have
 * retired. The core alone knows when things happen: it gives tasks and what stands behind them their times, as it does
 * with misses; the mechanism alone knows what happens. Nothing here is called from within another call of this file,
 * but for core_offload_...() from within event callbacks of the mechanism.
 *
 * Any core serves a mechanism. One that blocks takes a task, waits for it as for a load, lets it retire and leaves: it
 * has one instruction ahead at most, and needs takes(), step(), task_ready(), retired(), interrupt() and left(). One that
 * runs ahead dispatches what stands behind tasks as well, and needs look() and drained() for that.
 *
 * Instructions that are ahead are numbered in program order, as in emu/nucd/window.h, by the mechanism; numbers of
 * squashed ones are given out again. */
#ifndef EMU_CORE_OFFLOAD_H
#define EMU_CORE_OFFLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/stream.h"

struct core;

enum offload_stop {
    /* The next instruction: number, entry, next_pc. */
    OFFLOAD_DISPATCHED,
    /* Likewise, and it begins a task: it is complete when core_offload_complete() says so. */
    OFFLOAD_TASK,
    /* Nothing can be dispatched before `number`, which is ahead, is complete; or if it is already, before it has
     * retired. 0: before core_offload_go_on() is called. */
    OFFLOAD_WAIT,
    /* When all that is ahead has retired, the core goes on the normal way: hart->pc is then the instruction that
     * cannot be executed ahead. */
    OFFLOAD_LEAVE,
};

struct offload_step {
    enum offload_stop stop;
    uint64_t number;
    /* Valid until the instruction retires or is squashed; of a load's or store's addresses look() tells. A task's
     * operation is its nucd's, of which rs1 tells how long the region is, with the result's register in rd
     * (STREAM_NONE: it has none). */
    struct stream_entry entry;
    uint64_t next_pc; /* of what follows in program order: of a task, the end of its region */
};

/* What is known by now of an instruction that is ahead. */
struct offload_view {
    bool evaluated;     /* its function is done: only time is open */
    bool address_known; /* of a load or store */
    uint64_t address, physical;
    uint64_t held_for; /* a load: the number of the task or store whose bytes it waits for; 0: none */
};

struct offload_ops {
    /* A batch has ended with STREAM_STEP at the hart's pc, and no interrupt or stop is due there: whether the
     * mechanism takes the instruction. If so, the core calls step() from now on, until OFFLOAD_LEAVE or a squash lets
     * it leave. */
    bool (*takes)(void *context);

    /* Dispatches the next instruction in program order, if nothing is in its way. */
    struct offload_step (*step)(void *context);

    /* Of an instruction that is ahead. May come from within core_offload_complete(). */
    void (*look)(const void *context, uint64_t number, struct offload_view *view);

    /* The task's nucd was decoded, and dispatched, at `decoded`; and all instructions in front of it but other tasks are
     * complete and cannot be squashed any more at `ready` (both fs, ready >= the queue's now). Called once for each
     * task, in order. */
    void (*task_ready)(void *context, uint64_t number, uint64_t decoded, uint64_t ready);

    /* All instructions up to `number` have retired, the last at time `at` (fs; it may lie ahead of the queue's now, by
     * less than a batch). They reach the hart and memory. */
    void (*retired)(void *context, uint64_t number, uint64_t at);

    /* An interrupt or a stop is due. Everything from the oldest task on that is not complete is squashed: returns its
     * number, or that of the next instruction to dispatch when there is none. Tasks go on running. */
    uint64_t (*interrupt)(void *context);

    /* The core has left: all in front of what was squashed, or of the instruction to be executed the normal way, has
     * retired, and hart->pc is there. If a task has faulted there, the hart takes its trap now (privileged harts) or
     * hart->trap names it, and the stop that the server has to be told of is returned; else HART_STOP_LIMIT. */
    enum hart_stop (*left)(void *context, uint64_t now);

    /* Stores of which core_offload_storing() has told may have reached the cache. May come from within any call to the
     * core, and be NULL. */
    void (*drained)(void *context);
};

/* In struct core_parts; ops NULL: there is none. */
struct core_offload {
    const struct offload_ops *ops;
    void *context;
};

/* How a kind of core hears of what the functions below tell; they explain the arguments. */
struct core_offload_events {
    void (*complete)(struct core *core, uint64_t number, uint64_t now);
    void (*squash)(struct core *core, uint64_t number, uint64_t now);
    void (*go_on)(struct core *core, uint64_t now);
    void (*interrupted)(struct core *core, uint64_t now);
    void (*arrived)(struct core *core, uint64_t number, uint64_t now);
    bool (*storing)(struct core *core, uint64_t first, uint64_t last);
};

/* For the mechanism, from its events at time now (not from within offload_ops). The core must be ahead. */

/* The task is complete; what has waited for it is evaluated, and look() tells the news of all behind it. If that has
 * squashed something, core_offload_squash() comes first. May come before task_ready() for a task that was launched
 * earlier and is reached again; task_ready() is then not called for it. */
void core_offload_complete(struct core *core, uint64_t number, uint64_t now);

/* Everything from number on is squashed: it was not executed. The core leaves when all in front of it has retired; what
 * is under way in caches for squashed instructions ends, without effect. */
void core_offload_squash(struct core *core, uint64_t number, uint64_t now);

/* What OFFLOAD_WAIT named as 0 has changed. Does nothing to a core that does not wait so. */
void core_offload_go_on(struct core *core, uint64_t now);

/* The hart's interrupts or `yield` have changed: a core that waits ahead looks at them. For whoever drives the hart;
 * does nothing to other cores. */
void core_offload_interrupted(struct core *core, uint64_t now);

/* Whether stores that have retired, and touch bytes first..last (the program's addresses), are still on their way to
 * the cache; then drained() is called once some stores have got there. */
bool core_offload_storing(struct core *core, uint64_t first, uint64_t last);

/* The task's packet has reached its accelerator at time now: what the core waits for it from now on is counted as
 * CPI_task, what it did before as CPI_offload. */
void core_offload_arrived(struct core *core, uint64_t number, uint64_t now);

#endif
