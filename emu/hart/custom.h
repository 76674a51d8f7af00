/* Custom instructions: how a row of class CUSTOM reaches the mechanism that serves it.
 *
 * The row's meaning is one call, such as `rd = custom(rs1, rs2)`, and its extension names the mechanism. A mechanism fills
 * a struct custom_unit and puts it into a table of units, custom_serve(), while the machine is built; the builder gives
 * the table to each hart (hart->custom) and to the memory of warps (warp_memory_setup.custom). An extension without a
 * unit stays illegal. A mechanism's own rows lie in its room (isa/custom.def).
 *
 * When a unit is called. Harts: the fast handlers leave custom instructions to step.h, and timing cores execute them
 * alone, at the core's time (STREAM_SERIAL). A unit may ask for a yield. Rows that are evaluated from captured operands
 * (exec_defer.h) refuse them. Warps: execute() is called for the lanes of the group, lowest first, or execute_lanes() once
 * for all of them; with a clock, in the cycle of issue, up to which the multiprocessor may have run ahead of the event
 * queue.
 *
 * Time. An instruction takes what its class takes, unless the unit asks for more: custom_later() keeps whoever has the
 * instruction waiting until custom_done(). In-order and out-of-order cores issue nothing meanwhile; in a warp, what needs
 * the result waits, as for a load, and so do its next custom instruction, its fences and its end. Results hold at once:
 * only time is open. Without a clock, nobody waits. */
#ifndef EMU_HART_CUSTOM_H
#define EMU_HART_CUSTOM_H

#include "emu/hart/hart.h"

struct warp;

enum { CUSTOM_OPERANDS = 2, CUSTOM_LANES = 32 };

/* A core or warp that waits for units, as a cache_waiter for lines. Its owner sets the first two. */
struct custom_waiter {
    void (*done)(struct custom_waiter *waiter, uint64_t now); /* all that it waits for is complete */
    void *owner;
    unsigned waits; /* calls of custom_later() whose custom_done() has not come */
};

/* One thread's instruction. */
struct custom_call {
    const struct insn *insn; /* id says which row; imm and the registers' numbers */
    uint64_t pc;
    uint64_t operand[CUSTOM_OPERANDS]; /* what the row hands over */
    uint64_t result;                   /* what the row receives; 0 unless the unit sets it */
    struct trap trap;             /* of a call that fails; an illegal instruction unless the unit sets it */
    uint64_t cycle;               /* of the core's or multiprocessor's clock since reset; 0 without a clock */
    struct custom_waiter *waiter; /* for custom_later() */
    struct hart *hart;            /* who executes it; NULL: the lane of a warp */
    struct warp *warp;
    unsigned lane;
};

/* One instruction of the lanes in `mask`; operands and results by lane. */
struct custom_lanes {
    const struct insn *insn;
    uint64_t pc;
    uint64_t operand[CUSTOM_OPERANDS][CUSTOM_LANES]; /* valid in the mask */
    uint64_t result[CUSTOM_LANES];                   /* 0 unless the unit sets it */
    uint32_t mask;                                   /* never 0 */
    unsigned lane;                                   /* which one traps; the lowest unless the unit sets it */
    struct trap trap;                                /* as in a call */
    uint64_t cycle;                                  /* likewise */
    struct custom_waiter *waiter;                    /* likewise */
    struct warp *warp;
};

/* What a mechanism offers. Both functions return false when the instruction traps; then they have changed nothing, as it
 * may be executed again. They reach the program's memory through access.h or warp_memory.h, and are called in the host's
 * default floating-point environment. */
struct custom_unit {
    bool (*execute)(void *context, struct custom_call *call); /* NULL: there is no unit */
    /* For all lanes of a warp at once: needed where one lane may trap when others have been served. NULL: execute(), lane
     * by lane. */
    bool (*execute_lanes)(void *context, struct custom_lanes *lanes);
    void *context; /* must outlive the table's users */
};

struct custom_units {
    struct custom_unit of[EXTENSION_COUNT];
};

/* Lets *unit, which is copied, serve the extension's instructions. An extension has one unit at most in a table. */
void custom_serve(struct custom_units *units, enum insn_extension extension, const struct custom_unit *unit);

/* The unit of an instruction of class CUSTOM; NULL: none. units may be NULL. */
const struct custom_unit *custom_find(const struct custom_units *units, const struct insn *insn);

/* Executes call->insn on the unit, or on none, which is illegal. Sets trap and result beforehand; the caller has set the
 * rest. False: call->trap. */
bool custom_execute(const struct custom_unit *unit, struct custom_call *call);

/* The same for the lanes of a warp. */
bool custom_execute_lanes(const struct custom_unit *unit, struct custom_lanes *lanes);

/* For units, in execute() of a call that does not trap: the instruction, or this lane's, is complete when the unit calls
 * custom_done() with the waiter that is returned, once, in an event later than the call. NULL: nobody can wait; it is
 * complete at once. */
struct custom_waiter *custom_later(struct custom_waiter *waiter);

/* At the queue's now. */
void custom_done(struct custom_waiter *waiter, uint64_t now);

#endif
