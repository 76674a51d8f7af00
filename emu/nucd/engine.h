/* The offload engine beside a host core or a multiprocessor: packet generator, dependency table, cleaning,
 * scheduler, packet sender, completion and faults (NUCD paper, sections IV-A and IV-C; its figure 6).
 *
 * The engine is the core's offload mechanism (emu/core/offload.h), over a window of instructions executed
 * ahead of retirement (emu/nucd/window.h). It sends tasks to the task units of accelerators
 * (emu/nucd/units/task_unit.h).
 *
 * A task passes these stages, timed in clocks of the host, as soon as no instruction before its nucd, other
 * than older tasks, can trap or be squashed any more (struct offload_ops, task_ready()):
 *   generator   one unit with two stages. The input-load sequencer reads Xn, Xd and Xt, then the registers
 *               that they name, gp and tp, through read_ports ports. The packet producer writes the packet
 *               into the scheduler's write buffer, write_words words per clock, after waiting for room there.
 *               The sequencer takes the next task when the producer has taken the last one.
 *   cleaning    begins when no store of the host to the task's ranges is held or on its way to the cache.
 *               Input ranges are cleaned, output ranges cleaned and invalidated, in the host's first- and
 *               second-level caches, as by cache-block operations. At the first level, the ranges of all
 *               tasks pass one after another. An input range that lies within an input range of an older,
 *               incomplete task is not cleaned again: stores before the older task are clean when that task's
 *               ranges are, and later stores are held. The generator works at the same time.
 *   table       one lookup in the dependency table, table_clocks, as soon as packet and ranges are ready and
 *               no task in flight blocks this one.
 *   scheduler   schedule_clocks to choose an accelerator and coalesce; one transfer at a time, when the link
 *               is free.
 *   link        link_width bytes per clock, plus link_clocks of latency, to the accelerator's work queue.
 *               Reports of task units take link_clocks and one flit on their way back.
 * In mode `ideal`, all stages take no time; dependencies, credits and the size of the window still limit.
 *
 * Retirement. With checkpoints, a task whose packet has arrived leaves the reorder buffer when it is the oldest
 * instruction there, if a checkpoint is free for the registers before it; the instructions after it follow. They
 * have no effect on hart and memory before the task is complete: the window holds them, and their stores stay in
 * the store queue. A fault or an interrupt finds the same state as with retirement in order, and costs the time
 * to restore a checkpoint.
 *
 * While a task is in flight, no cache of a host, and no last level below them, is filled by a prefetch or
 * a wrong-path fetch with a line of the hull of the engine's output ranges in flight (emu/mem/keep_out.h).
 * So neither brings a cleaned line back, not even one of another host or one that was under way.
 *
 * Faults. A fault in a region squashes all instructions from the region's nucd on, and freezes the task at
 * its accelerator. When all instructions before the nucd have retired, the host traps at the nucd
 * (isa/MANUAL.md, "Offload traps"). Tasks that are squashed after they were sent, because of a fault or an
 * interrupt, run to their end, and nothing is dispatched ahead until they have. When their nucds are reached
 * again in the same order, their results are used. When the program reaches another nucd first, these results
 * are dropped and frozen tasks are killed. An operating system that changes threads lets the hart settle first
 * (struct hart_offload): the engine then begins no task, but finds those that were sent again.
 *
 * Order points. A task that is not the host's oldest instruction when it is sent stops at its first order point
 * (nucd.order) as at a fault. When all instructions before its nucd have retired, the host does not trap but
 * dispatches the nucd, which resumes the task. It is then the host's oldest, and no order point stops it any more.
 *
 * A frozen task keeps its accelerator. So no older task may be queued behind a task that could freeze, nor
 * any task of another host (scheduler.h). When all accelerators are frozen, the host whose task has frozen
 * last runs an older task's region itself; when its frozen task is complete, others get the accelerator.
 *
 * Multiprocessors. The engine of a multiprocessor takes the threads of a warp that reach a well-formed
 * nucd together (take_lanes(), emu/hart/custom.h). Each thread's task passes the same stages, in clocks of
 * the multiprocessor, the lowest lane first. At most `tasks` of them are under way; the others wait. There
 * is no table lookup: tasks of different threads are not ordered, and a thread has one at a time. Ranges
 * are cleaned in the caches of the multiprocessor and in the coherent caches of the hosts at the same time;
 * a range that an older task of the same warp instruction cleans is not cleaned again. When a task is
 * complete, its output ranges are invalidated once more in the caches of the multiprocessor. When all tasks
 * of the warp's instruction are complete, its threads continue behind their regions. A fault in a region
 * traps the thread at its nucd; there is no resumption.
 *
 * Engines may share accelerators (scheduler.h). The tags of their packets differ, except those of hosts: only one
 * host at a time has tasks at an accelerator.
 *
 * Not modelled:
 *   - separate links from an accelerator to several engines: all see a credit when it reaches the first host
 *     that has the accelerator, and room at an accelerator when its last completion reaches the host that had
 *     it;
 *   - regions in logs of the host: these show only the nucds;
 *   - a nucd within a region that the host runs because all accelerators are frozen: squashed tasks are then
 *     not found again;
 *   - cleaning of virtual addresses that are not mapped when the task leaves: no line can be there. */
#ifndef EMU_NUCD_ENGINE_H
#define EMU_NUCD_ENGINE_H

#include "emu/core/offload.h"
#include "emu/hart/custom.h"
#include "emu/mem/cache.h"
#include "emu/nucd/engine/scheduler.h"
#include "emu/nucd/record.h"
#include "emu/nucd/units/task_unit.h"
#include "emu/nucd/window.h"

enum {
    /* Tags of packets of multiprocessors' engines, NUCD_TASKS each, follow those of the hosts' engines. */
    ENGINE_FIRST_TAG = 2048,
    ENGINE_MULTIPROCESSORS = (65536 - ENGINE_FIRST_TAG) / NUCD_TASKS,
};

struct engine_config {
    uint32_t rob, stores;                   /* the core's; they size the window; rob: 1 to WINDOW_MOST */
    uint32_t checkpoints;                   /* 0: tasks stay in the reorder buffer until they are complete */
    uint32_t checkpoint_clocks;             /* to take or to restore one */
    uint32_t checkpoint_window;             /* entries of the window with checkpoints, rob to WINDOW_MOST */
    uint64_t granule;                       /* bytes to which the dependency table rounds ranges out */
    bool oracle;                            /* an oracle tells the lines that tasks access (foresee.h) */
    bool stalls;                            /* the front end stalls until a task's packet has arrived */
    uint32_t tasks;                         /* entries of the dependency table, 1 to NUCD_TASKS */
    struct nucd_scheduler_config scheduler; /* passed its check */
    bool ideal;
    uint32_t read_ports, write_words;       /* at least 1 */
    uint32_t table_clocks, schedule_clocks; /* at least 1 */
    uint32_t link_width, link_clocks;       /* at least 1; bytes per clock, clocks */
    /* Time (fs) that a task may be at an accelerator without a report, while no older task is there. */
    uint64_t timeout;
};

/* The host's accelerators, numbered from 0. */
struct engine_accelerators {
    /* push: a transfer arrives; there is room for it. Before that, sent(), which may be NULL, is called for
     * each of its tasks in order. */
    void (*push)(void *context, unsigned accelerator, const uint64_t *words, unsigned count);
    void (*sent)(void *context, unsigned accelerator, uint16_t tag, const struct nucd_task *task);
    void (*resume)(void *context, unsigned accelerator); /* resumes the frozen task */
    void (*kill)(void *context, unsigned accelerator);   /* ends the current task, which reports KILLED */
    void *context;
};

/* The core's functions: core_offload_complete() and its companions. */
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
    uint64_t nucd, pc; /* address of the nucd; of the instruction that faulted */
    uint64_t cause, value;
};

struct engine_parts {
    /* The host's hart. For a multiprocessor: the hart whose program launches threads; it is not changed. */
    struct hart *hart;
    struct event_queue *queue;
    struct clock clock;
    uint32_t component; /* component number of the engine's events */
    uint16_t number;    /* requester number of the host core */
    struct cache *l1d;
    /* the list of the caches of all hosts, and the engine's number in it */
    struct keep_out *keep_out;
    unsigned keep_out_owner;
    /* NULL: the engine of a multiprocessor; l1d is its first-level cache */
    const struct engine_core_ops *core;
    /* of a multiprocessor: the first-level cache of a host, which is coherent with those of all others */
    struct cache *host_l1d;
    /* of a multiprocessor: bytes that a cache operation reaches, from an aligned address on
     * (simt_cluster_beside()); 0: any number */
    uint32_t block;
    uint16_t first_tag;        /* of its packets; the tags of engines that share accelerators differ */
    struct nucd_limits limits; /* engine_new() sets capabilities and accelerators from config */
    struct engine_accelerators accelerators;
    /* Warns of a malformed nucd, once per pc. */
    void (*warn)(void *context, uint64_t pc, const char *text);
    /* Called when a task has not reported in time. The task is still running; the record's host is 0. */
    void (*expired)(void *context, const struct nucd_record *record);
    /* Called after credits were returned or a packet has left the scheduler: other engines that share
     * accelerators may be able to send (engine_try()). NULL: none do. */
    void (*room)(void *context);
    /* Called when the region of a task begins, and when the task has left the engine or a nucd is refused.
     * The record's host is 0. They may be NULL. */
    void (*began)(void *context, const struct nucd_record *record);
    void (*left)(void *context, const struct nucd_record *record);
    void *context; /* context of the functions from warn on */
};

struct engine;

/* Creates an engine. Copies config and parts; what parts point to must outlive the engine. Returns NULL with
 * err set when the host has no memory. Release it with engine_free(), when no more events will fire. */
struct engine *engine_new(const struct engine_config *config, const struct engine_parts *parts,
                          struct error *err);
void engine_free(struct engine *engine);

/* Returns the mechanism for struct core_parts. */
struct core_offload engine_offload(struct engine *engine);

/* Connects the engine to its core; call it before the core runs. The engine reports retired instructions to
 * the stream's observer, and stores to its peers. */
void engine_attach(struct engine *engine, struct core *core, struct stream *stream);

/* For the engine of a multiprocessor: the function take_lanes() of struct custom_unit; the context is the
 * engine. */
uint32_t engine_take_lanes(void *context, struct custom_lanes *lanes);

/* Makes `number` the same accelerator as `theirs` of another engine (nucd_scheduler_share()). */
void engine_share(struct engine *engine, unsigned number, struct engine *other, unsigned theirs,
                  struct nucd_turns *turns);

/* Sends packets if credits allow it, at the queue's now. */
void engine_try(struct engine *engine);

/* Returns whether tasks of this host are at an accelerator that hosts share. */
bool engine_owns(const struct engine *engine, unsigned accelerator);

/* Returns whether a task with this tag in its packet may be the engine's. */
bool engine_has_tag(const struct engine *engine, uint16_t tag);

/* Returns the task that is at the accelerator with that tag, or NULL. */
const struct nucd_task *engine_task_at(const struct engine *engine, unsigned accelerator, uint16_t tag);

/* Notes that an accelerator has ended a task of another engine, at the queue's now. */
void engine_note_end(struct engine *engine, unsigned accelerator);

/* Takes a report of an accelerator's unit, at the queue's now. */
void engine_report(struct engine *engine, unsigned accelerator, const struct task_unit_report *report);

/* Notes that the first instruction of the task's region was issued at `time` (fs). */
void engine_begun(struct engine *engine, uint16_t tag, uint64_t time);

/* Notes that the task's region has reached its end at `time` (fs). */
void engine_ended(struct engine *engine, unsigned accelerator, uint16_t tag, uint64_t time);

/* Calls left() for all tasks that have not left, because the run is over. */
void engine_tell_rest(struct engine *engine);

/* Returns the fault for which the hart, or a thread, has stopped last if the hart takes no traps; NULL if
 * there is none. */
const struct engine_fault *engine_fault(const struct engine *engine);

/* Returns whether squashed tasks that were sent have not been reached again. */
bool engine_keeps(const struct engine *engine);

/* Registers "offloads", "offload_cycles", "malformed.signature" and so on. */
void engine_publish(struct engine *engine, struct stats *stats, struct scope scope);

/* Adds derived values since the start or the last reset of statistics: minimum, mean and maximum cycles of an
 * offload (excluding dependent, held, cleaning, blocked and queued cycles, like PREFIX.offload_cycles), and the launch
 * window: the number of tasks that fit into the reorder buffer at the mean distance between their nucds. */
void engine_add_facts(const struct engine *engine, struct stats *stats, struct scope scope);

#endif
