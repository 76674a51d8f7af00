/* What all timing cores have in common: their hart's stream, their clock, their caches, and where cycles
 * went. */
#ifndef EMU_CORE_CORE_H
#define EMU_CORE_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/core/energy.h"
#include "emu/core/offload.h"
#include "emu/hart/custom.h"
#include "emu/hart/stream.h"
#include "emu/mem/cache.h"
#include "emu/sim/event.h"
#include "emu/sim/observer.h"

/* Where a cycle went: CPI(name, meaning). The rows add up exactly to the cycles that a core was awake. */
enum cpi_cause {
#define CPI(name, meaning) CPI_##name,
#include "emu/core/cpi.def"
    CPI_CAUSES
};

struct core;
struct core_passages;
struct core_track;
struct track_sink;

/* What a core does after somebody has served a stop of its hart. */
enum core_next {
    CORE_CONTINUE, /* goes on at once */
    CORE_SLEEP,    /* until core_wake() */
};

/* Asked by the core, at the time at which the stop happens; all that came before it is done. */
struct core_server {
    /* The hart has stopped (HART_STOP_TRAP, MARKER, SEMIHOST, BREAK, WATCH, YIELD), or the core's instruction
     * limit is reached (HART_STOP_LIMIT). WFI is the core's own affair. */
    enum core_next (*stopped)(void *context, struct core *core, enum hart_stop stop, uint64_t now);
    void *context;
    /* FENCE.I has retired: others may have to fetch their code anew. NULL: nobody does. */
    void (*code_changed)(void *context, struct core *core);
};

/* One instruction's way through a core, in cycles of its clock; told in program order when it retires. */
struct core_note {
    uint64_t number; /* of the instruction, counted from 0 */
    uint64_t pc;
    struct insn insn;
    uint64_t fetch, dispatch, issue, complete, retire;
    uint8_t level;     /* enum mem_level, of a load */
    bool mispredicted; /* what was fetched behind it was thrown away */
};

/* Either function may be NULL. */
struct core_observer {
    struct observer link;
    void (*retired)(void *context, const struct core *core, const struct core_note *note);
    /* The core did not go on between two times (fs) because of cause (enum cpi_cause). */
    void (*stalled)(void *context, const struct core *core, unsigned cause, uint64_t from, uint64_t to);
    void *context;
};

/* Result latency and repeat interval of a class of instructions in cycles, and on which ports it can issue
 * (bits). */
struct core_latency {
    uint16_t latency;  /* from issue to the cycle in which a dependent one can issue, at least 1 */
    uint16_t interval; /* cycles before the port takes another one of the class; 1: pipelined */
    uint16_t ports;    /* ignored by the in-order core, which has one pipe a class */
};

/* Devices that the core's accesses reach on a way of their own. */
struct core_near {
    uint64_t base, size; /* physical addresses; size 0: there is none */
    uint64_t clocks;     /* of an access */
};

struct core_parts {
    const char *name; /* "host.0" */
    struct hart *hart;
    struct event_queue *queue;
    struct clock clock;
    uint32_t component; /* of its events */
    uint16_t number;    /* as a requester, and for observers */
    struct cache *l1i, *l1d;
    struct tlb_unit *tlb; /* timing of address translation; NULL: none */
    uint64_t mmio_clocks; /* a device access */
    struct core_near near;
    uint64_t tick; /* fs in which the hart's `time` advances by 1; 0: 100 ns */
    struct core_server server;
    struct core_offload offload; /* its mechanism, if it has one */
};

/* The interface of a kind of core. */
struct core_ops {
    void (*run)(struct core *core, uint64_t now); /* its event: go on */
    void (*publish)(struct core *core, struct stats *stats, struct scope scope);
    void (*free)(struct core *core);
    const struct core_offload_events *offload;
};

/* The beginning of every core's struct. */
struct core {
    const struct core_ops *ops;
    struct core_parts parts;
    struct stream stream;
    struct event event;        /* by which it goes on */
    struct custom_waiter unit; /* for units of custom instructions */
    uint64_t
        limit;    /* hart_progress() at which server.stopped(HART_STOP_LIMIT) is called; UINT64_MAX: never */
    bool asleep;  /* WFI, or server.stopped() has said so: woken by core_wake() */
    bool waiting; /* for an interrupt: falls asleep again if there is none when it is woken */
    bool warming; /* executes without time but for 1 cycle an instruction, and warms caches and predictors */
    bool tells_retired, tells_stalled; /* some observer has the function */
    struct observer_list observers;    /* struct core_observer */
    struct core_track *track;          /* one of them, or NULL */
    struct core_passages *passages;    /* likewise */

    /* Since reset. cycles is the sum of cpi. */
    uint64_t cycles;
    uint64_t cpi[CPI_CAUSES];
    uint64_t idle_since; /* fs, while asleep */
    uint64_t idle_time;  /* fs asleep in all */
    struct core_energy energy;
};

/* "frontend" */
const char *core_cause_name(enum cpi_cause cause);

/* For kinds of cores: fills in the common part of a new core, which is asleep since the queue's now. False
 * when the host has no memory. */
bool core_init(struct core *core, const struct core_ops *ops, const struct core_parts *parts,
               struct error *err);

/* For kinds of cores: falls asleep at now, an edge of its clock. */
void core_sleep(struct core *core, uint64_t now);

/* Lets a core go on at time now: it was asleep, or has just been made. Does nothing to a core that is awake.
 */
void core_wake(struct core *core, uint64_t now);

/* Adds or removes an observer, which stays the caller's (emu/sim/observer.h), at any time: one that comes is told from the
 * next batch of instructions on, one that goes is told no more. While it is told, an observer may remove itself. */
void core_observe(struct core *core, struct core_observer *observer);
void core_unobserve(struct core *core, const struct core_observer *observer);

/* Shows the core on tracks of the sink (track.h, passage.h), as a group or a stream of the core's name. To be called once, before it runs. */
void core_track(struct core *core, struct track_sink *sink);

/* From now on executes in time, or only warms (--detail roi). To be called while the core is in
 * server.stopped() or asleep. */
void core_set_warming(struct core *core, bool warming);

/* Registers "cycles", "cpi.base" ... and the kind's own counters. */
void core_publish(struct core *core, struct stats *stats, struct scope scope);

/* Also releases the stream. NULL is allowed. */
void core_free(struct core *core);

#endif
