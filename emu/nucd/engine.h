/* The offload engine beside a host core: packet generator, dependency table, cleaning, scheduler, packet
 * sender, completion and faults (NUCD paper, sections IV-A and IV-C; its figure 6).
 *
 * The engine is the core's offload mechanism (emu/core/offload.h) over a window of instructions that are ahead
 * (emu/nucd/window.h), and sends tasks to the task units of accelerators (emu/nucd/task_unit.h).
 *
 * A task's way, in clocks of the host, begins when all in front of its nucd is complete and cannot be squashed:
 *   generator   one unit of two stages. The input-load sequencer reads Xn, Xd and Xt, then the registers that they
 *               name, gp and tp, through read_ports ports; the packet producer writes the packet into the scheduler's
 *               write buffer, write_words words a clock, and waits for room there. The sequencer takes the next task
 *               when the producer has taken the last one.
 *   cleaning    begins when no store of the host that touches the ranges is held or on its way to the cache any more:
 *               input ranges are cleaned, output ranges cleaned and invalidated, in the host's first and second level,
 *               as cache-block operations do it; at the first level the ranges of all tasks pass one after the other.
 *               An input range within an input range of an older task that is not complete is not cleaned again: what
 *               the host stored to it before that task is clean when that task's ranges are, what it stores behind is
 *               held. The generator works meanwhile.
 *   table       a look at the dependency table, table_clocks, as soon as packet and ranges are ready and nothing that
 *               is in flight blocks the task.
 *   scheduler   schedule_clocks to choose an accelerator and coalesce, one transfer at a time as the link is free.
 *   link        a flit of link_width bytes a clock, and link_clocks of latency, to the accelerator's work queue; what
 *               units report takes link_clocks and a flit back.
 * In `ideal` all of these take no time; dependencies, credits and the width of the window remain.
 *
 * While a task is in flight, prefetches and wrong-path fetches stay out of the hull of all output ranges in flight.
 *
 * Faults. A region's fault squashes from its nucd on; the task is frozen at its accelerator. When all in front has
 * retired, the host traps there (isa/MANUAL.md, "Offload traps"). Tasks that were sent and squashed, by a fault or an
 * interrupt, run to their end; nothing new is dispatched ahead before that, and when their nucds are reached again, in
 * their order, their results are taken over. A program that comes to another nucd first has gone another way: then such
 * results are forgotten, and what is frozen is killed.
 *
 * A frozen task keeps its accelerator, so that no older task is queued behind it; where all accelerators are frozen,
 * the host runs an older task's region itself.
 *
 * Left out: several hosts with one accelerator (each engine would need credits of its own); regions in logs of the host, which show their
 * nucds; nucds within a region that the host runs in a frozen accelerator's place, after which squashed tasks are not
 * found again; virtual addresses that are not mapped when the task leaves are not cleaned, as no line can be there. */
#ifndef EMU_NUCD_ENGINE_H
#define EMU_NUCD_ENGINE_H

#include "emu/core/offload.h"
#include "emu/mem/cache.h"
#include "emu/nucd/scheduler.h"
#include "emu/nucd/task_unit.h"

struct engine_config {
    uint32_t rob, stores;                   /* of the core: the window's; 1 to WINDOW_ROB_MOST */
    uint32_t tasks;                         /* entries of the dependency table, 1 to NUCD_TASKS */
    struct nucd_scheduler_config scheduler; /* has passed its check */
    bool ideal;
    uint32_t read_ports, write_words;       /* at least 1 */
    uint32_t table_clocks, schedule_clocks; /* at least 1 */
    uint32_t link_width, link_clocks;       /* at least 1; bytes a clock */
    uint64_t timeout;                       /* fs from a task's sending to its report */
};

/* The accelerators of the host, numbered from 0. */
struct engine_accelerators {
    /* A transfer arrives, for which there is room, after sent() (may be NULL) has named its tasks in order. */
    void (*push)(void *context, unsigned accelerator, const uint64_t *words, unsigned count);
    void (*sent)(void *context, unsigned accelerator, uint16_t tag, const struct nucd_task *task);
    void (*resume)(void *context, unsigned accelerator); /* the frozen task goes on */
    void (*kill)(void *context, unsigned accelerator);   /* the task under way ends; KILLED is reported */
    void *context;
};

/* What the core offers: core_offload_complete() and its companions. */
struct engine_core_ops {
    void (*complete)(struct core *core, uint64_t number, uint64_t now);
    void (*squash)(struct core *core, uint64_t number, uint64_t now);
    void (*go_on)(struct core *core, uint64_t now);
    void (*arrived)(struct core *core, uint64_t number, uint64_t now);
    bool (*storing)(struct core *core, uint64_t first, uint64_t last);
};

/* A fault in a region. */
struct engine_fault {
    unsigned accelerator;
    uint64_t nucd, pc; /* of the nucd, and of the instruction that has faulted */
    uint64_t cause, value;
};

struct engine_parts {
    struct hart *hart;
    struct event_queue *queue;
    struct clock clock;
    uint32_t component;      /* of its events */
    uint16_t number;         /* of the host core, as a requester */
    struct cache *l1d, *l1i; /* l1i may be NULL */
    const struct engine_core_ops *core;
    struct nucd_limits limits; /* of nucds; capabilities and accelerators are the scheduler's */
    struct engine_accelerators accelerators;
    /* Of a malformed nucd, once for each place. */
    void (*warn)(void *context, uint64_t pc, const char *text);
    /* A task has not reported in time; it is still under way. */
    void (*expired)(void *context, unsigned accelerator, const struct nucd_task *task);
    void *context; /* of warn and expired */
};

struct engine;

/* The config and parts are copied; what parts point to outlives the engine. NULL when the host has no memory. Release
 * with engine_free(), when no more events will fire. */
struct engine *engine_new(const struct engine_config *config, const struct engine_parts *parts,
                          struct error *err);
void engine_free(struct engine *engine);

/* For struct core_parts. */
struct core_offload engine_offload(struct engine *engine);

/* The core is made: to be called before it runs. Its stream's observer is told of what retires, its peers of stores. */
void engine_attach(struct engine *engine, struct core *core, struct stream *stream);

/* What an accelerator's unit tells, at the queue's now. */
void engine_report(struct engine *engine, unsigned accelerator, const struct task_unit_report *report);

/* The first instruction of the task's region was executed at time (fs). */
void engine_begun(struct engine *engine, uint16_t tag, uint64_t time);

/* The fault for which the hart has stopped last, of harts that take no traps; NULL: there was none. */
const struct engine_fault *engine_fault(const struct engine *engine);

/* Registers "offloads", "offload_cycles", "malformed.signature" ... */
void engine_publish(struct engine *engine, struct stats *stats, struct scope scope);

/* Adds what a sum cannot say, since the statistics' start or last reset: least, mean and most cycles of an offload
 * (without held, cleaning, blocked and queued ones, as PREFIX.offload_cycles), and the launch window: how many tasks'
 * launches the reorder buffer has room for, as far apart as they were. */
void engine_add_facts(const struct engine *engine, struct stats *stats, struct scope scope);

#endif
