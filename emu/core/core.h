/* What all timing cores share: the hart's stream, clock, caches, and the accounting of cycles. */
#ifndef EMU_CORE_CORE_H
#define EMU_CORE_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/core/offload.h"
#include "emu/core/report/cpi.h"
#include "emu/core/report/energy.h"
#include "emu/hart/custom.h"
#include "emu/hart/stream.h"
#include "emu/mem/cache.h"
#include "emu/sim/event.h"
#include "emu/sim/observer.h"

struct core;
struct core_passages;
struct core_track;
struct track_sink;

/* What a core does after a stop of its hart has been served. */
enum core_next {
    CORE_CONTINUE, /* continues at once */
    CORE_SLEEP,    /* sleeps until core_wake() */
};

/* Callbacks of the core. It calls stopped() at the time of the stop, when all instructions before it are
 * complete. */
struct core_server {
    /* The hart has stopped (HART_STOP_TRAP, MARKER, SEMIHOST, BREAK, WATCH, YIELD), or has reached the core's
     * instruction limit (HART_STOP_LIMIT). The core itself handles WFI. */
    enum core_next (*stopped)(void *context, struct core *core, enum hart_stop stop, uint64_t now);
    void *context;
    /* FENCE.I has retired, so others may have to fetch their code again. May be NULL. */
    void (*code_changed)(void *context, struct core *core);
};

/* The pipeline times of one instruction, in cycles of the core's clock; reported in program order at retirement. */
struct core_note {
    uint64_t number; /* of the instruction, counted from 0 */
    uint64_t pc;
    struct insn insn;
    uint64_t fetch, dispatch, issue, complete, retire;
    uint8_t level;     /* enum mem_level; of a load */
    bool mispredicted; /* the instructions fetched after it were squashed */
};

/* Observes a core; either function may be NULL. */
struct core_observer {
    struct observer link;
    void (*retired)(void *context, const struct core *core, const struct core_note *note);
    /* The core was stalled between two times (fs) because of `cause` (enum cpi_cause). */
    void (*stalled)(void *context, const struct core *core, unsigned cause, uint64_t from, uint64_t to);
    void *context;
};

/* Result latency and repeat interval of a class of instructions, in cycles, and the ports (bits) on which it can
 * issue. */
struct core_latency {
    uint16_t latency;  /* from issue until a dependent instruction can issue, at least 1 */
    uint16_t interval; /* cycles until the port takes the next one of the class; 1: pipelined */
    uint16_t ports;    /* unused by in-order cores, which have one pipe for each class */
};

/* A device with a direct path from the core. */
struct core_near {
    uint64_t base, size; /* physical addresses; size 0: no such device */
    uint64_t clocks;     /* core clocks of an access, round trip */
    bool beside;         /* no interconnect lies between core and device, so stores are not posted */
};

enum { CORE_POSTED_MOST = 64 };

/* Stores to devices for whose answers the core does not wait. Answers come in the order of the stores. */
struct core_posted {
    /* Cycles in which the last parts.posted_stores of them are answered; a ring. */
    uint64_t answers[CORE_POSTED_MOST];
    uint64_t last; /* cycle in which the youngest store is answered; 0: there was none */
    uint32_t next; /* index in `answers` of the next store, which waits until the cycle there */
};

struct core_parts {
    const char *name; /* "host.0" */
    struct hart *hart;
    struct event_queue *queue;
    struct clock clock;
    uint32_t component; /* component number of its events */
    uint16_t number;    /* requester number; also identifies the core to observers */
    struct cache *l1i, *l1d;
    struct core_tlb *tlb; /* timing of address translation; NULL: none */
    uint64_t mmio_clocks; /* core clocks of an access to any other device, round trip */
    struct core_near near;
    /* Largest number of posted stores without an answer, at most CORE_POSTED_MOST; 0: no store is posted. */
    uint32_t posted_stores;
    uint64_t tick; /* fs after which the hart's `time` advances by 1; 0: 100 ns */
    struct core_server server;
    struct core_offload offload; /* the offload mechanism, if any */
};

/* The operations of a kind of core. */
struct core_ops {
    void (*run)(struct core *core, uint64_t now); /* handler of the core's event: continue */
    void (*publish)(struct core *core, struct stats *stats, struct scope scope);
    void (*free)(struct core *core);
    const struct core_offload_events *offload;
};

/* The first member of every core's struct. */
struct core {
    const struct core_ops *ops;
    struct core_parts parts;
    struct stream stream;
    struct event event;        /* runs the core */
    struct custom_waiter unit; /* waits for the units of custom instructions */
    struct core_posted posted;
    /* hart_progress() at which server.stopped(HART_STOP_LIMIT) is called; UINT64_MAX: never */
    uint64_t limit;
    bool asleep;  /* in WFI, or put to sleep by server.stopped(); core_wake() wakes it */
    bool waiting; /* in WFI: sleeps again if no interrupt is pending on waking */
    bool warming; /* only warms caches and predictors, at 1 cycle an instruction */
    bool observes_retired, observes_stalled; /* some observer has that function */
    struct observer_list observers;          /* struct core_observer */
    struct core_track *track;                /* shows stalls and marks in a trace; NULL: none */
    struct core_passages *passages;          /* shows instructions in a trace; NULL: none */

    /* Counts since reset. cycles is the sum of cpi. */
    uint64_t cycles;
    uint64_t cpi[CPI_CAUSES];
    uint64_t idle_since; /* fs, valid while asleep */
    uint64_t idle_time;  /* total time asleep, fs */
    struct core_energy energy;
    uint64_t prefetch_insns, prefetch_faults;
};

/* For kinds of cores: initialises the common part of a new core, which sleeps from the queue's now on. Returns false if
 * the host has no memory. */
bool core_init(struct core *core, const struct core_ops *ops, const struct core_parts *parts,
               struct error *err);

/* For kinds of cores: puts the core to sleep at `now`, an edge of its clock. */
void core_sleep(struct core *core, uint64_t now);

/* For kinds of cores: hands a stop to the server. Returns false if the core is now asleep; WFI sleeps unless an interrupt
 * is pending. */
bool core_stop(struct core *core, enum hart_stop stop, uint64_t now);

/* Makes a sleeping or new core run from time `now` on. Does nothing to a core that is awake. */
void core_wake(struct core *core, uint64_t now);

/* For kinds of cores: requests, at `time`, what the prefetch instruction asks for: a line in the data cache, with ownership for
 * prefetch.w, or in the instruction cache for prefetch.i. Does nothing for EFFECTS_NOWHERE. */
void core_prefetch(struct core *core, const struct stream_op *op, uint64_t physical, uint64_t time);

/* Adds or removes an observer, which the caller owns (emu/sim/observer.h), at any time. A new observer is told from the
 * next batch of instructions on; a removed one is told nothing more. An observer that is being told may remove
 * itself. */
void core_observe(struct core *core, struct core_observer *observer);
void core_unobserve(struct core *core, const struct core_observer *observer);

/* Shows the core on tracks of the sink (track.h, passage.h), as a group or a stream with the name of the
 * core. Call it once, before the core runs. */
void core_track(struct core *core, struct track_sink *sink);

/* Switches between timed execution and warming only (--detail roi). Call it in server.stopped() or while the core
 * sleeps. */
void core_set_warming(struct core *core, bool warming);

/* Registers "cycles", "cpi.base" ... and the counters of the kind of core. */
void core_publish(struct core *core, struct stats *stats, struct scope scope);

/* Frees the core and its stream. NULL is allowed. */
void core_free(struct core *core);

#endif
