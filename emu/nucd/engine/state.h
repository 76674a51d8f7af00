/* The state shared by the files of the offload engine, and their calls to each other. */
#ifndef EMU_NUCD_ENGINE_STATE_H
#define EMU_NUCD_ENGINE_STATE_H

#include <assert.h>

#include "emu/hart/hart.h"
#include "emu/nucd/engine.h"
#include "emu/nucd/window.h"

/* Tasks in the window, as many squashed ones, and dropped ones with something under way. */
enum { ENGINE_TASKS = ENGINE_FIRST_TAG };

#define ENGINE_NOWHERE UINT64_MAX /* odd, so no instruction has this address */

/* The threads of a warp that were taken at one nucd. */
struct engine_group {
    struct engine_group *next;  /* in the list of groups with threads without a task, or of free groups */
    struct engine_group *after; /* in the list of all groups */
    struct engine *engine;
    struct warp *warp; /* NULL: a thread has trapped */
    struct custom_waiter *waiter;
    struct insn insn;
    uint64_t pc, time; /* of the nucd: its address; its issue, fs */
    uint32_t lanes;    /* all of its threads */
    uint32_t left;     /* threads without a task */
    uint32_t running;  /* threads whose tasks are not complete; they include `left` */
    uint64_t end[CUSTOM_LANES];
    struct event event;
};

/* The next block to clean, in the input ranges that need it and then in the output ranges. */
struct engine_sweep {
    struct nucd_range ranges[2 * NUCD_SEGMENTS];
    unsigned count, inputs; /* number of ranges; of input ranges, which come first */
    unsigned range;         /* the current one */
    uint64_t at;
};

/* The step of a task for which its event fires. */
enum engine_step { ENGINE_READY, ENGINE_RELEASE, ENGINE_RESUME, ENGINE_KILL };

struct engine_task {
    struct engine_task *previous, *next; /* neighbours in its list, in program order */
    struct engine_task *behind;          /* next in the generator's queue */
    struct engine *engine;
    struct nucd_task task;
    struct engine_times at;
    struct nucd_cycles cycles;
    uint64_t serial;   /* its number in records; NUCD_NO_RECORD: left() was called, or never will be */
    uint64_t blocker;  /* serial of the last older task that blocked it; NUCD_NO_RECORD: none */
    bool waited;       /* only older tasks kept it from being released */
    uint64_t number;   /* number in the window; WINDOW_NONE: squashed */
    uint64_t deadline; /* time by which it must report; CLOCK_NEVER: none */
    int slot;          /* slot in the dependency table, or NUCD_NO_TASK */
    uint16_t tag;      /* index in engine.tasks */
    bool used;
    bool ready, queued, made, clear, cleaned, released;
    bool sent, done, stopped;
    bool checkpoint; /* it has left the reorder buffer and holds a checkpoint */
    bool refused;    /* counted in checkpoints_full */
    bool told;       /* the host has been told of its fault */
    bool dead;       /* dropped; its place is free when nothing is under way for it */
    unsigned accelerator;
    unsigned cleaning;              /* cache operations under way */
    struct engine_task *follows;    /* older task that cleans the same input range; counted in `cleaning` */
    struct nucd_access_set *access; /* the lines that it will access, from the oracle; NULL: not known */
    struct nucd_range outputs;      /* hull of physical addresses; first > last: empty */
    struct cache_waiter waiter, block_waiter; /* pieces, and blocks of a sweep, under way */
    struct event event;
    enum engine_step step;
    struct engine_group *group; /* of the thread; NULL: the host's task */
    uint8_t lane;
    struct engine_sweep sweep;      /* of a thread's task */
    struct task_unit_report report; /* valid when done or stopped */
};

struct engine_list {
    struct engine_task *first, *last;
};

/* A transfer on its way to an accelerator. */
struct engine_flight {
    uint64_t due;
    unsigned accelerator, count, words;
    uint16_t tags[NUCD_TRANSFER_TASKS];
    uint64_t word[NUCD_TRANSFER_TASKS * NUCD_PACKET_WORDS];
};

/* A report on its way back. */
struct engine_answer {
    uint64_t due, made; /* made: the time at which the unit reported */
    unsigned accelerator;
    struct task_unit_report report;
};

struct engine_counters {
    uint64_t offloads, cycles, elapsed;
    uint64_t least, most; /* cycles of an offload since the last reset of statistics */
    uint64_t wait, generator, transfer, start;
    uint64_t dependent, held, cleaning, blocked, queued;
    uint64_t table_full, squashed, kept, faults, ordered, resumed, killed, returned;
    uint64_t groups, group_cycles;
    uint64_t checkpoints, checkpoints_full;
    uint64_t foreseen, unforeseen;
    uint64_t occupied;           /* cycles for which complete tasks had their accelerators */
    uint64_t turns, turn_cycles; /* waits for room, until the next transfer */
    uint64_t launches, gaps;     /* tasks after another one in the window; instructions between them */
};

/* Distributions of the cycles that each task spent in its steps. */
struct engine_spreads {
    struct histogram offload, wait, generator, transfer, start;
    struct histogram dependent, held, cleaning, blocked, queued;
    struct histogram run, commit, retire;
};

enum { ENGINE_FLIGHTS = 16 };

struct engine {
    struct engine_config config;
    struct engine_parts parts;
    struct core *core;
    struct stream *stream;
    struct window *window;
    struct nucd_depend depend;
    struct nucd_scheduler scheduler;
    struct nucd_causes causes;

    struct engine_list ahead; /* tasks in the window */
    /* squashed tasks that were not reached again; those that were not sent start anew then */
    struct engine_list records;
    unsigned checkpoints;       /* in use */
    unsigned running;           /* number of records that have not reported */
    unsigned held;              /* number of tasks that are ready except for stores of the host */
    bool full;                  /* the core waits for a free slot of the dependency table */
    uint64_t last_nucd;         /* number of the window's latest task; WINDOW_NONE: none */
    uint64_t last_task;         /* number of the latest task, also after squashes */
    struct engine_task *frozen; /* task that the next nucdctl acts on */
    uint64_t host_pc;           /* nucd whose region the host must run itself; ENGINE_NOWHERE: none */
    struct engine_fault fault;
    bool faulted;

    struct engine_task *waiting, *waiting_last; /* queue of the generator */
    struct engine_task *reading, *writing;      /* tasks in the generator's two stages */
    bool read;                                  /* the first stage is complete */
    struct event read_event, write_event;

    uint64_t scan_free; /* time at which the first level's tags are free for the next range */
    struct event send_event, land_event, answer_event, timeout_event;
    uint64_t link_free;
    uint64_t turn_since; /* time since which ready packets find no room; CLOCK_NEVER: they do not wait */
    struct engine_flight flights[ENGINE_FLIGHTS];
    unsigned flight_first, flight_count;
    struct engine_answer *answers;
    unsigned answer_first, answer_count, answer_room; /* answer_room is a power of two */

    uint64_t idle_since[NUCD_ACCELERATORS]; /* time at which the accelerator ended its latest task */
    struct engine_counters count, since;    /* since: the counters at the last reset of statistics */
    struct engine_spreads spreads;
    uint64_t serials; /* number of tasks that were given a serial */
    uint16_t by_number[WINDOW_MOST], by_slot[NUCD_TASKS];
    /* For a multiprocessor. */
    struct engine_list threads; /* its tasks, in the order in which they were made */
    unsigned thread_count;
    struct engine_group *groups, *free_groups, *starting, *starting_last;
    uint64_t host_scan_free; /* like scan_free, of the host's cache */

    unsigned places; /* number of elements of `tasks` that were ever used */
    struct engine_task tasks[ENGINE_TASKS];
};

static inline uint64_t engine_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Returns a number of clocks in fs; 0 in mode `ideal`. */
static inline uint64_t engine_clocks(const struct engine *e, uint64_t clocks)
{
    return e->config.ideal ? 0 : clocks * e->parts.clock.period;
}

/* Lets other engines that share accelerators try to send. */
static inline void engine_make_room(const struct engine *e)
{
    if (e->parts.room)
        e->parts.room(e->parts.context);
}

/* Returns whether the task, which has stopped, waits at an order point until it is its host's oldest. */
static inline bool engine_at_order_point(const struct engine_task *t)
{
    return t->report.cause == TRAP_NUCD_ORDER;
}

static inline struct engine_task *engine_numbered(struct engine *e, uint64_t number)
{
    return &e->tasks[e->by_number[number % WINDOW_MOST]];
}

/* Returns the task that a packet's tag stands for if engine_has_tag(). */
static inline struct engine_task *engine_tagged(struct engine *e, uint16_t tag)
{
    return &e->tasks[(uint16_t)(tag - e->parts.first_tag) % ENGINE_TASKS];
}

/* Schedules the task's event for a step, at `time`. */
static inline void engine_schedule(struct engine_task *t, enum engine_step step, uint64_t time)
{
    t->step = step;
    event_schedule(t->engine->parts.queue, &t->event, time);
}

/* The files below use only those before them. They call nothing of engine.c, which alone moves tasks on. */

/* generate.c */
/* For the event of the first stage: the task's registers are read. */
void engine_generate_read(void *engine, uint64_t now);
/* For the event of the second stage: the packet is in the write buffer. Returns its task. */
struct engine_task *engine_generate_written(struct engine *e, uint64_t now);
/* Lets both stages go on as far as they can. Call it when the second stage, or the write buffer, has room again. */
void engine_generate_go(struct engine *e, uint64_t now);
/* Queues the task, or removes it wherever it is in the generator. */
void engine_generate_add(struct engine_task *t);
void engine_generate_remove(struct engine_task *t);
/* Returns the time that the task's packet takes in the generator when nothing delays it, in fs. */
uint64_t engine_generate_clocks(const struct engine_task *t);

/* stats.c. engine_count_begun(): the first instruction of the task's region was issued at `time` (fs).
 * engine_count_retired(): the task has retired. */
void engine_count_begun(struct engine_task *t, uint64_t time);
void engine_count_retired(struct engine_task *t);
void engine_spreads_init(struct engine_spreads *spreads);

/* record.c: engine_tell_dispatched() gives a task its serial. engine_tell_left() tells of a task that leaves
 * at `at`, once; engine_tell_refused() of a nucd whose region the host runs. */
void engine_tell_dispatched(struct engine_task *t);
void engine_tell_expired(const struct engine_task *t);
void engine_tell_left(struct engine_task *t, enum nucd_outcome outcome, uint64_t at);
void engine_tell_refused(const struct engine *e, uint64_t pc, const char *cause);

/* report.c */
/* Takes the first report from the link, when it is due. */
struct engine_answer engine_report_take(struct engine *e);
/* Sets the timeout event to `deadline` (fs) if it is not pending. Deadlines never get earlier. */
void engine_watch_time(struct engine *e, uint64_t deadline);
/* For the timeout event: tells of each task whose deadline has passed, and waits for the earliest deadline of the
 * others. */
void engine_look_for_late(void *engine, uint64_t now);

/* clean.c. t->cleaning counts the operations under way; t->waiter and t->block_waiter call engine.c, which then
 * counts down. */
/* Begins to clean the task's ranges, at `at` (fs) or later. Returns whether all of it is done. */
bool engine_clean(struct engine_task *t, uint64_t at);
/* Begins to invalidate the output ranges of a thread's complete task. Returns whether all of it is done. */
bool engine_clean_after(struct engine_task *t);
/* Begins the next block of a sweep. Returns false if there is none. */
bool engine_clean_block(struct engine_task *t);
/* Keeps the hull of the output ranges in flight out of the caches. */
void engine_keep_out(struct engine *e);

/* send.c */
void engine_send_init(struct engine *e);
/* Schedules the next transfer if a packet is ready. */
void engine_send_go(struct engine *e, uint64_t now);
/* Sends a transfer. Returns false if none can be sent: the link or all work queues are full. */
bool engine_send_next(struct engine *e, uint64_t now);
/* Removes the first transfer from the link. */
void engine_send_landed(struct engine *e);

/* task.c */
/* Fills in the task that the nucd describes. Returns false, after counting the cause and warning, if it is malformed.
 * The caller sets the operands except xn and xd. */
bool engine_describe(struct engine *e, const struct insn *insn, struct nucd_operands operands,
                     struct nucd_task *task);
/* Returns a new task. engine.c initialises its event when the task is ready. */
struct engine_task *engine_task_new(struct engine *e, const struct nucd_task *task);
/* Drops the task. Its place is free when nothing is under way for it. */
void engine_task_drop(struct engine_task *t);
/* Call it when something that was under way for the task has ended. Returns true if the task is dead. */
bool engine_task_ended(struct engine_task *t);
void engine_list_append(struct engine_list *list, struct engine_task *t);
void engine_list_remove(struct engine_list *list, struct engine_task *t);
/* Resumes the frozen task: its accelerator is told after the link's latency. */
void engine_task_resume(struct engine_task *t);
/* Frees the task's checkpoint, if it has one. */
void engine_task_restored(struct engine_task *t);
/* Adds the task to the window's tasks as entry `number`. */
void engine_task_enter(struct engine_task *t, uint64_t number);
/* Squashes the window's instructions and tasks from `number` on. */
void engine_squash(struct engine *e, uint64_t number);
/* Squashes the tasks from `number` on, after window and core have squashed the instructions. */
void engine_squash_tasks(struct engine *e, uint64_t number);
/* Drops all records, because the program has taken another path. */
void engine_forget_records(struct engine *e);

/* fault.c */
/* Tells the host of the fault of the oldest record, if its hart is at the record's nucd. Returns the hart's
 * stop. */
enum hart_stop engine_trap(struct engine *e);
/* nucdctl was written. */
void engine_control(void *engine, uint64_t action);

/* threads.c */
/* Returns a group of those lanes that are at a well-formed nucd; NULL: there is none. */
struct engine_group *engine_threads_take(struct engine *e, const struct custom_lanes *lanes);
/* Adds the group to those that wait for tasks. */
void engine_threads_enter(struct engine_group *g);
/* Returns a new task for the next thread that waits, the oldest group's first; NULL: none waits, or config.tasks are
 * under way. */
struct engine_task *engine_threads_next(struct engine *e, uint64_t now);
/* The accelerator has reported the end of a thread's task. */
void engine_threads_completed(struct engine_task *t);
/* The ranges of a complete task are invalidated. */
void engine_threads_returned(struct engine_task *t, uint64_t now);
/* A fault. */
void engine_threads_stopped(struct engine_task *t);
void engine_threads_free(struct engine *e);

/* commit.c: applies instructions up to `number`, which retire at `at` (fs), to hart and memory, and tells
 * observers. */
void engine_commit(struct engine *e, uint64_t number, uint64_t at);

/* dispatch.c: takes() and step() of struct offload_ops. */
bool engine_takes(void *context);
struct offload_step engine_dispatch(void *context);

#endif
