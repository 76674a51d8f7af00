/* Custom instructions: the interface between rows of class CUSTOM and the mechanisms that serve them.
 *
 * The row's meaning is one call, such as `rd = custom(rs1, rs2)`, and its extension names the mechanism. The mechanism
 * fills a struct custom_unit and puts it into a table of units with custom_serve(), in units() of its kind
 * (emu/sim/part.h). The builder gives the table to each hart (hart->custom), from which the memory of warps gets it
 * (warp_memory_setup.custom). An extension without a unit is illegal, as are all but AxRAM's (emu/machine/untimed.h) on
 * machines without a clock. A mechanism's rows are in its room (isa/custom.def).
 *
 * Harts: the fast handlers leave custom instructions to step.h, and timing cores execute them alone, at the core's time
 * (STREAM_SERIAL). A unit may request a yield. Rows evaluated from captured operands (emu/hart/defer.h) refuse
 * them. Warps: execute() is called for each lane of the group, lowest first, or execute_lanes() once for all of them; with
 * a clock, in the cycle of issue. The multiprocessor may have run ahead of the event queue up to that cycle: a unit starts its
 * work in an event at the call's time.
 *
 * Timing: an instruction takes the latency of its class, unless the unit asks for more: custom_later() makes the core
 * or warp wait until custom_done(). In-order and out-of-order cores issue nothing meanwhile. In a warp, instructions
 * that use the result wait, as for a load, and so do its next custom instruction, its fences and its end. After
 * custom_halt(), all its instructions wait. Results are valid at once; only the time of completion is not known yet. Without a
 * clock, nothing waits.
 *
 * HINTs: in warps, a mechanism may also take the threads that reach a HINT of its extension: take_lanes().
 * Threads that it takes execute nothing until it returns them with warp_return() (emu/simt/warp.h). Other
 * threads, and all without a clock, execute the HINT as a no-op. */
#ifndef EMU_HART_CUSTOM_H
#define EMU_HART_CUSTOM_H

#include "emu/hart/hart.h"
#include "emu/sim/clock.h"

struct warp;

enum { CUSTOM_OPERANDS = 2, CUSTOM_LANES = 32 };

/* A core or warp that waits for units, as cache_waiter does for lines. Its owner sets the fields except
 * waits and halts. */
struct custom_waiter {
    void (*done)(struct custom_waiter *waiter, uint64_t now); /* everything it waits for is complete */
    void *owner;
    struct clock clock; /* of the core or multiprocessor */
    /* of a warp: threads that a unit had taken were returned; NULL: units take none */
    void (*returned)(struct custom_waiter *waiter, uint64_t now);
    unsigned waits; /* calls of custom_later() without their custom_done() */
    bool halts;     /* custom_halt() was called for one of these */
};

/* The custom instruction of one thread. */
struct custom_call {
    const struct insn *insn; /* id identifies the row; imm and register numbers */
    uint64_t pc;
    uint64_t operand[CUSTOM_OPERANDS]; /* arguments of custom() */
    uint64_t result;                   /* value of custom(); 0 unless the unit sets it */
    struct trap trap;                  /* if the call fails; an illegal instruction unless the unit sets it */
    uint64_t cycle;               /* of the core's or multiprocessor's clock since reset; 0 without a clock */
    uint64_t time;                /* of that cycle's edge in fs, >= the queue's now; 0 without a waiter */
    struct custom_waiter *waiter; /* for custom_later() */
    struct hart *hart;            /* the hart that executes it; NULL: a lane of a warp does */
    struct warp *warp;
    unsigned lane;
};

/* A custom instruction of the lanes in `mask`; operands and results by lane. */
struct custom_lanes {
    const struct insn *insn;
    uint64_t pc;
    uint64_t operand[CUSTOM_OPERANDS][CUSTOM_LANES]; /* valid for lanes in the mask */
    uint64_t result[CUSTOM_LANES];                   /* 0 unless the unit sets it */
    uint32_t mask;                                   /* never 0 */
    unsigned lane;                                   /* the lane that traps; by default the lowest */
    struct trap trap;                                /* as in struct custom_call */
    uint64_t cycle, time;                            /* as in struct custom_call */
    struct custom_waiter *waiter;                    /* as in struct custom_call */
    struct warp *warp;
};

/* The functions of a mechanism. They return false if the instruction traps; then they must have changed nothing,
 * because it may be executed again. They access the program's memory through access.h or warp_memory.h, and are called
 * in the host's default floating-point environment. */
struct custom_unit {
    bool (*execute)(void *context, struct custom_call *call); /* NULL: such instructions are illegal */
    /* For all lanes of a warp at once: needed if one lane may trap after others have been served. NULL: execute() is
     * called for each lane. */
    bool (*execute_lanes)(void *context, struct custom_lanes *lanes);
    /* For HINTs of the extension, in warps with a clock: takes some of lanes->mask, in the cycle of issue,
     * and returns which ones. When their results are there, in events later than lanes->time, it calls
     * warp_return() for one or more of them and then custom_returned(lanes->waiter). Operands, result and
     * trap are not used. NULL: HINTs do nothing. */
    uint32_t (*take_lanes)(void *context, struct custom_lanes *lanes);
    void *context; /* must outlive the users of the table */
};

struct warp_local;

struct custom_units {
    struct custom_unit of[EXTENSION_COUNT];
    /* The local memory of warps (emu/simt/local_memory.h); NULL: a scratchpad. */
    const struct warp_local *local;
};

/* Makes *unit, which is copied, serve the extension's instructions. A table has at most one unit for an extension. */
void custom_serve(struct custom_units *units, enum insn_extension extension, const struct custom_unit *unit);

/* Returns the unit of an instruction of class CUSTOM or HINT, or NULL. units may be NULL. */
const struct custom_unit *custom_find(const struct custom_units *units, const struct insn *insn);

/* Executes call->insn on the unit; without a unit it is illegal. Initialises trap and result; the caller sets the other
 * fields. Returns false with call->trap set if the instruction traps. */
bool custom_execute(const struct custom_unit *unit, struct custom_call *call);

/* custom_execute() for the lanes of a warp. */
bool custom_execute_lanes(const struct custom_unit *unit, struct custom_lanes *lanes);

/* For units, in execute() of a call that does not trap: delays the completion of the instruction (or of this lane's)
 * until the unit calls custom_done() with the returned waiter, once, in an event later than call->time. Returns NULL if
 * nothing can wait; then the instruction is complete at once. */
struct custom_waiter *custom_later(struct custom_waiter *waiter);

/* As custom_later(), for an instruction that stores to memory when it completes: a warp, too, issues nothing before that. */
struct custom_waiter *custom_halt(struct custom_waiter *waiter);

/* Returns call->time for callers of units: the time of a cycle of the waiter's clock. waiter may be NULL. */
static inline uint64_t custom_time(const struct custom_waiter *waiter, uint64_t cycle)
{
    return waiter ? clock_time(&waiter->clock, cycle) : 0;
}

/* Completes one custom_later(), at the queue's now. */
void custom_done(struct custom_waiter *waiter, uint64_t now);

/* For units that take lanes: tells the waiter of the call that lanes were returned (warp_return()), at the
 * queue's now. */
void custom_returned(struct custom_waiter *waiter, uint64_t now);

#endif
