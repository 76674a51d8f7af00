/* The offload interface: the calls between a core and an offload mechanism (emu/nucd/engine.h).
 * Multiprocessors, whose threads have no harts, offer their threads through take_lanes() of struct
 * custom_unit (emu/hart/custom.h).
 *
 * When a core reaches an instruction that the mechanism takes, it asks the mechanism for instructions one by one,
 * instead of executing batches of its stream; the core is then *ahead*. The mechanism executes these instructions, but
 * holds back their effects on the hart until the core reports that they have retired. The core alone decides timing: it
 * times tasks and the instructions after them, as it does with cache misses. The mechanism alone decides function. No
 * function of this file is called from within another one, except for core_offload_...() from event callbacks of the
 * mechanism.
 *
 * Any core can serve a mechanism. A blocking core takes a task, waits for it as for a load, lets it retire and leaves.
 * It has at most one instruction ahead, and needs only takes(), step(), task_ready(), retired(), interrupt() and
 * left(). A core that runs ahead also dispatches the instructions after tasks, and needs look(), pass() and drained()
 * too.
 *
 * The mechanism numbers the instructions that are ahead in program order, as in emu/nucd/window.h; numbers of squashed
 * instructions are reused. */
#ifndef EMU_CORE_OFFLOAD_H
#define EMU_CORE_OFFLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/stream.h"

struct core;

enum offload_stop {
    /* The next instruction is dispatched: number, entry, next_pc are valid. */
    OFFLOAD_DISPATCHED,
    /* The next instruction is dispatched and begins a task, complete when core_offload_complete() reports it. */
    OFFLOAD_TASK,
    /* Nothing can be dispatched until `number`, which is ahead, is complete; or, if it is complete already, until it
     * has retired. 0: until core_offload_go_on() is called. */
    OFFLOAD_WAIT,
    /* The core leaves when everything ahead has retired. hart->pc is then at the instruction that cannot be executed
     * ahead. */
    OFFLOAD_LEAVE,
};

struct offload_step {
    enum offload_stop stop;
    uint64_t number;
    /* Valid until the instruction retires or is squashed; look() gives the address of a load or store. The operation of
     * a task is its nucd's, with the register of the region's length in rs1 and the result's register in rd
     * (STREAM_NONE: none). */
    struct stream_entry entry;
    uint64_t next_pc; /* pc of the next instruction in program order; of a task: the end of its region */
    bool stalls; /* of a task: the code after its region is fetched when core_offload_arrived() reports it */
};

/* What is known of an instruction that is ahead. */
struct offload_view {
    bool evaluated;     /* it has been executed; only its timing is open */
    bool address_known; /* of a load or store */
    uint64_t address, physical;
    uint64_t held_for; /* of a load: number of the task or store whose bytes it waits for; 0: none */
};

struct offload_ops {
    /* A batch has ended with STREAM_STEP at the hart's pc, and no interrupt or stop is due there. Returns whether the
     * mechanism takes the instruction. If so, the core calls step() until it leaves after OFFLOAD_LEAVE or a squash. */
    bool (*takes)(void *context);

    /* Dispatches the next instruction in program order, if possible. */
    struct offload_step (*step)(void *context);

    /* Describes an instruction that is ahead. May be called from within core_offload_complete(). */
    void (*look)(const void *context, uint64_t number, struct offload_view *view);

    /* The task's nucd was decoded and dispatched at `decoded`. From `ready` on, no instruction before it, other than
     * tasks, can trap or be squashed any more; all of them are complete, except those that wait for a task's result or
     * for bytes that a task writes. Until `freed`, such a wait kept one of them from being safe (all fs, decoded <=
     * freed <= ready, ready >= the queue's now). Called once for each task, in order. */
    void (*task_ready)(void *context, uint64_t number, uint64_t decoded, uint64_t freed, uint64_t ready);

    /* The task is the oldest instruction in the reorder buffer, its packet has arrived, and it is not complete. Returns
     * whether the mechanism keeps a checkpoint of the registers before it, which takes *clocks clocks and as many to
     * restore. Then the task and complete instructions after it leave the reorder buffer; they retire when the task is
     * complete. The checkpoint is free when the task has retired or is squashed. Calls nothing of the core. */
    bool (*pass)(void *context, uint64_t number, uint32_t *clocks);

    /* All instructions up to `number` have retired, the last at time `at` (fs; up to a batch later than the queue's
     * now). Their effects become visible in the hart and in memory. */
    void (*retired)(void *context, uint64_t number, uint64_t at);

    /* An interrupt or a stop is due. Squashes everything from the oldest incomplete task on and returns its number; if
     * there is none, returns the number of the next instruction to dispatch. Tasks continue to run. */
    uint64_t (*interrupt)(void *context);

    /* The core has left: all instructions before the squashed one, or before the one to be executed normally, have
     * retired, and hart->pc is there. If a task has faulted there, the hart takes the trap now (privileged harts), or
     * hart->trap names it; then returns the stop to hand to the server, else HART_STOP_LIMIT. */
    enum hart_stop (*left)(void *context, uint64_t now);

    /* Stores that core_offload_storing() reported may have reached the cache. May be called from within any call to the
     * core. May be NULL. */
    void (*drained)(void *context);
};

/* Member of struct core_parts; ops NULL: no mechanism. */
struct core_offload {
    const struct offload_ops *ops;
    void *context;
    /* Largest number of instructions that have not retired, if instructions leave the reorder buffer behind
     * tasks (pass()). 0: they do not. */
    uint32_t kept;
};

/* A kind of core's implementation of the core_offload_...() functions below, which explain the arguments. */
struct core_offload_events {
    void (*complete)(struct core *core, uint64_t number, uint64_t now);
    void (*squash)(struct core *core, uint64_t number, uint64_t now);
    void (*go_on)(struct core *core, uint64_t now);
    void (*interrupted)(struct core *core, uint64_t now);
    void (*arrived)(struct core *core, uint64_t number, uint64_t now);
    bool (*storing)(struct core *core, uint64_t first, uint64_t last);
};

/* For the mechanism, from its events at time now (not from within offload_ops). The core must be ahead. */

/* The task is complete. The instructions that waited for it have been executed, and look() describes the new state; if
 * that squashed instructions, core_offload_squash() comes first. May precede task_ready() for a task that was launched
 * earlier and is reached again; then task_ready() is not called for it. */
void core_offload_complete(struct core *core, uint64_t number, uint64_t now);

/* Everything from `number` on is squashed: it has had no effect. The core leaves when everything before it has retired;
 * cache accesses of squashed instructions end without effect. */
void core_offload_squash(struct core *core, uint64_t number, uint64_t now);

/* The condition for which step() returned OFFLOAD_WAIT with number 0 has changed. Does nothing if the core is not
 * waiting for that. */
void core_offload_go_on(struct core *core, uint64_t now);

/* The hart's interrupts or `yield` have changed; a core that waits ahead checks them. Called by the driver of the hart;
 * does nothing if the core is not ahead. */
void core_offload_interrupted(struct core *core, uint64_t now);

/* Returns whether retired stores to the bytes first..last (virtual addresses) have not reached the cache yet; then
 * drained() is called after some stores have. */
bool core_offload_storing(struct core *core, uint64_t first, uint64_t last);

/* The task's packet has reached its accelerator at time now, before the task is complete. The core's waiting counts as
 * CPI_offload until now, and as CPI_task from now on. */
void core_offload_arrived(struct core *core, uint64_t number, uint64_t now);

#endif
