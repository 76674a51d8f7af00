/* What the files of the offload engine share. */
#ifndef EMU_NUCD_ENGINE_STATE_H
#define EMU_NUCD_ENGINE_STATE_H

#include <assert.h>

#include "emu/hart/hart.h"
#include "emu/nucd/engine.h"
#include "emu/nucd/window.h"

/* Tasks in the window, as many that were squashed, and those that end with what is still under way for them. */
enum { ENGINE_TASKS = 4 * WINDOW_ROB_MOST };

#define ENGINE_NOWHERE UINT64_MAX /* odd: no instruction is there */

/* What a task's event stands for. */
enum engine_step { ENGINE_READY, ENGINE_RELEASE, ENGINE_RESUME, ENGINE_KILL };

/* When a task got how far, fs. */
struct engine_times {
    uint64_t decoded, ready; /* ready: all in front of it is complete */
    uint64_t made;           /* the packet is in the write buffer */
    uint64_t clear, cleaned; /* no held store is in its way; its ranges are clean */
    uint64_t free;           /* nothing blocks it */
    uint64_t sent, arrived;
};

struct engine_task {
    struct engine_task *previous, *next; /* of its list, in program order */
    struct engine_task *behind;          /* in the generator's queue */
    struct engine *engine;
    struct nucd_task task;
    struct engine_times at;
    uint64_t number;   /* in the window; WINDOW_NONE: it was squashed */
    uint64_t deadline; /* when it has to have reported; CLOCK_NEVER: it need not */
    int slot;          /* in the dependency table, or NUCD_NO_TASK */
    uint16_t tag;      /* its place among the engine's tasks */
    bool used;
    bool ready, queued, made, clear, cleaned, released;
    bool sent, done, stopped;
    bool told; /* of its fault the host knows */
    bool dead; /* squashed, or killed: ends with what is still under way for it */
    unsigned accelerator;
    unsigned cleaning;           /* ranges under way */
    struct engine_task *follows; /* cleans an input range that is this one's, too; counted in cleaning */
    struct nucd_range outputs;   /* physical hull; first > last: none */
    struct cache_waiter waiter;
    struct event event;
    enum engine_step step;
    struct task_unit_report report; /* when done or stopped */
};

struct engine_list {
    struct engine_task *first, *last;
};

/* On its way to an accelerator. */
struct engine_flight {
    uint64_t due;
    unsigned accelerator, count, words;
    uint16_t tags[NUCD_TRANSFER_TASKS];
    uint64_t word[NUCD_TRANSFER_TASKS * NUCD_PACKET_WORDS];
};

/* On its way back. */
struct engine_answer {
    uint64_t due;
    unsigned accelerator;
    struct task_unit_report report;
};

struct engine_counters {
    uint64_t offloads, cycles, elapsed;
    uint64_t least, most; /* cycles of an offload since the statistics' last reset */
    uint64_t wait, generator, transfer, start;
    uint64_t held, cleaning, blocked, queued;
    uint64_t table_full, squashed, kept, faults, resumed, killed, returned;
    uint64_t launches, gaps; /* behind another one; instructions from the one to the next */
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

    struct engine_list ahead; /* in the window */
    struct engine_list
        records;        /* squashed and not yet reached again; those that had not left begin anew then */
    unsigned running;   /* of the records, those whose reports have not come */
    unsigned held;      /* tasks that are ready but for a store of the host */
    bool full;          /* the core waits for a place in the dependency table */
    uint64_t last_nucd; /* number of the latest task's; WINDOW_NONE: there is none to count from */
    uint64_t last_task; /* the same, but for squashes */
    struct engine_task *frozen; /* which nucdctl answers */
    uint64_t host_pc;           /* of a nucd whose region the host is to run itself; ENGINE_NOWHERE: none */
    struct engine_fault fault;
    bool faulted;

    struct engine_task *waiting, *waiting_last; /* for the generator */
    struct engine_task *reading, *writing;      /* in its stages */
    bool read;                                  /* what is in the first stage is complete */
    struct event read_event, write_event;

    uint64_t scan_free; /* when the first level's tags are free for the next range */
    struct event send_event, land_event, answer_event, timeout_event;
    uint64_t link_free;
    struct engine_flight flights[ENGINE_FLIGHTS];
    unsigned flight_first, flight_count;
    struct engine_answer *answers;
    unsigned answer_first, answer_count, answer_room; /* room: a power of two */

    uint64_t idle_since[NUCD_ACCELERATORS]; /* when the accelerator ended its latest task */
    struct engine_counters count, since;    /* what was counted at the statistics' last reset */
    uint16_t by_number[WINDOW_ROB_MOST], by_slot[NUCD_TASKS];
    unsigned places; /* of the following, those that were ever used */
    struct engine_task tasks[ENGINE_TASKS];
};

static inline uint64_t engine_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* So many clocks in fs; none where nothing takes time. */
static inline uint64_t engine_clocks(const struct engine *e, uint64_t clocks)
{
    return e->config.ideal ? 0 : clocks * e->parts.clock.period;
}

static inline struct engine_task *engine_numbered(struct engine *e, uint64_t number)
{
    return &e->tasks[e->by_number[number % WINDOW_ROB_MOST]];
}

/* The task's event fires for this at time. */
static inline void engine_schedule(struct engine_task *t, enum engine_step step, uint64_t time)
{
    t->step = step;
    event_schedule(t->engine->parts.queue, &t->event, time);
}

/* engine_task.c */
struct engine_task *engine_task_new(struct engine *e, const struct nucd_task *task);
/* The task is of no use any more; its place is free when nothing is under way for it. */
void engine_task_drop(struct engine_task *t);
/* Something that was under way for it has ended: true if the task is dead. */
bool engine_task_ended(struct engine_task *t);
void engine_list_append(struct engine_list *list, struct engine_task *t);
void engine_list_remove(struct engine_list *list, struct engine_task *t);
/* The frozen task will go on: its place is told. */
void engine_task_resume(struct engine_task *t);
/* Takes the number in the window. */
void engine_task_enter(struct engine_task *t, uint64_t number);
/* Squashes the window from number on, with its tasks. */
void engine_squash(struct engine *e, uint64_t number);
/* Likewise, where window and core have done so: the tasks' part. */
void engine_squash_tasks(struct engine *e, uint64_t number);
/* The program has gone another way. */
void engine_forget_records(struct engine *e);

/* engine_generate.c */
void engine_generate_init(struct engine *e);
void engine_generate_add(struct engine_task *t);
void engine_generate_remove(struct engine_task *t);
/* What the task's packet takes in the generator, fs, if nothing is in its way. */
uint64_t engine_generate_clocks(const struct engine_task *t);
void engine_generate_go(struct engine *e, uint64_t now);

/* engine_clean.c */
void engine_clean(struct engine_task *t, uint64_t at);
void engine_keep_out(struct engine *e);

/* engine_send.c */
void engine_send_init(struct engine *e);
/* Whatever of this is true now, the task goes on: ready and clear of stores; made, clean and not blocked. */
void engine_clear(struct engine_task *t, uint64_t at);
void engine_clear_all(struct engine *e, uint64_t at);
void engine_release(struct engine_task *t);
void engine_send_go(struct engine *e, uint64_t now);

/* Squashes from the oldest task on that can go nowhere, as faults hold all accelerators: the host runs its region. */
void engine_unblock(struct engine *e, uint64_t now);

/* engine_report.c */
void engine_report_init(struct engine *e);
/* A task was sent: looks whether it is the next that would be late. */
void engine_watch_time(struct engine *e, uint64_t deadline);
/* The host is told of the fault of the oldest record. */
enum hart_stop engine_trap(struct engine *e);
void engine_control(void *context, uint64_t action);

/* engine_commit.c: instructions up to number reach the hart, memory, and who watches. */
void engine_commit(struct engine *e, uint64_t number);

/* engine_stats.c */
void engine_count_begun(struct engine_task *t, uint64_t time);

#endif
