/* The internal state of a warp, and what its files do for each other. warp.c is the top; it decodes (decode.c) and calls the
 * handlers of instructions (rows.h), which use the other files. */
#ifndef EMU_SIMT_WARP_STATE_H
#define EMU_SIMT_WARP_STATE_H

#include "emu/hart/custom.h"
#include "emu/simt/warp.h"
#include "emu/simt/warp/code/code.h"

enum {
    WARP_LEVELS = 64 /* enough: each split leaves fewer lanes on top, and adds at most two levels */
};

/* A level of the reconvergence stack: the lanes of `mask` execute until each has reached `stop` in calls of this depth, or
 * has left them. Then the level below continues. */
struct warp_level {
    uint64_t stop;  /* address, or WARP_MEET_RETURN */
    uint64_t since; /* count at which it was pushed */
    uint32_t mask;
    int32_t depth;
};

/* The group is the lanes in `mask`. They are at `pc`, `depth` calls deep. The other lanes that have not ended
 * are parked, each with its own lane_pc and lane_depth. */
struct warp {
    _Alignas(64) uint64_t x[33][WARP_LANES]; /* x[HART_SINK] takes writes to x0 */
    uint64_t f[32][WARP_LANES];
    uint64_t select[WARP_LANES]; /* all ones for lanes of the group; valid unless these are all */
    /* of the current or last memory access */
    uint64_t address[WARP_LANES], data[WARP_LANES];

    uint64_t pc;
    /* The group continues while pc - base < bound; else another lane may be due. minpc: base is 0, and a parked lane is at
     * `bound`. stack: base is 1 more than the pc at which the group has to stop, or 0, and bound is UINT64_MAX. */
    uint64_t base, bound;
    uint64_t count, deadline; /* instructions executed; count at which a waiting lane is due */
    uint64_t page;            /* page of `ops`; UINT64_MAX: none */
    struct warp_op *ops;
    uint32_t mask, live, waiting;
    uint32_t away;  /* set of lanes taken by a unit */
    uint32_t kept;  /* set of lanes that have ended by warp_arrive(): their registers stay as they are */
    uint32_t lanes; /* number of lanes in the group */
    int32_t depth;
    bool partial;  /* some lane that has not ended, or is kept, is not in the group */
    bool sharing;  /* the group holds `oldest`, which goes first until `deadline` */
    bool yielding; /* the group executed `pause` or spins: the other lanes go first */
    bool taken, taken_apart, spins;
    bool handed_over; /* the levels above the first were dropped; the next report says so */
    bool stacked;     /* reconvergence by `levels` */
    bool mixed;       /* the lanes of the top level that can run are at different places */
    bool frm_set;     /* some lane's frm is not 0 */
    bool failed;      /* a unit has returned `trap_lane` with a trap, at `trap_pc` */
    bool held;        /* a debugger holds the warp */
    uint32_t steps;   /* set of lanes that step under a debugger */
    uint8_t oldest;
    uint8_t trap_lane;
    struct trap trap;
    uint64_t trap_pc;

    _Alignas(64) uint64_t lane_pc[WARP_LANES], lane_since[WARP_LANES];
    int64_t lane_depth[WARP_LANES];
    uint8_t fflags[WARP_LANES], frm[WARP_LANES];
    uint32_t reserved; /* set of lanes with a reservation: address and version of its block */
    uint64_t reservation[WARP_LANES];
    uint32_t version[WARP_LANES];

    uint32_t level_count; /* at least 1: the first level has all lanes, and no stop */
    struct warp_level levels[WARP_LEVELS];

    uint32_t jumps; /* backward jumps taken by the whole group */
    struct warp_look {
        uint64_t pc, x[32]; /* address of the jump; registers of the first lane */
        uint32_t mask;
    } look; /* last record of warp_look(); pc 0: none */

    struct warp_memory *memory;
    struct warp_scratchpad pad;
    uint64_t thread_insns;
    struct warp_place place;
    bool timed;
    uint64_t cycles, time, tick;  /* warp_set_clock() */
    struct custom_waiter *waiter; /* for units of custom instructions; NULL: none */
};

/* Returns the number of threads of a block. */
static inline uint64_t warp_block_threads(const struct warp_place *place)
{
    return (uint64_t)place->block_size[0] * place->block_size[1] * place->block_size[2];
}

/* schedule.c: chooses the group that is due. Returns false when no lane can run. */
bool warp_schedule(struct warp *warp);

/* Returns whether the group may continue. */
static inline bool warp_due(const struct warp *warp)
{
    return warp->pc - warp->base < warp->bound && warp->count < warp->deadline;
}

/* Parks the group's lanes at pc. */
void warp_park(struct warp *warp, uint64_t pc);

/* Sends the lanes of the group that the branch has taken to `target` and the others to `next`. Neither set is empty. */
void warp_split(struct warp *warp, const struct warp_op *op, uint32_t taken, uint64_t target, uint64_t next);

/* Sends each lane of the group, which has entered or left a call if the jump does, to targets[lane]. The targets are not all
 * equal. */
void warp_scatter(struct warp *warp, const struct warp_op *op, const uint64_t targets[WARP_LANES]);

/* Call it when the group, with its new pc, has entered or left a call. */
void warp_change_depth(struct warp *warp, int change);

/* Lets other lanes go before the group. */
void warp_yield(struct warp *warp);

/* Checks whether the group, which has taken the backward jump at pc, spins. */
void warp_look(struct warp *warp, uint64_t pc);

/* decode.c: chooses the variant of the code if none is chosen. */
void warp_choose_table(struct warp_code *code);

/* decode.c: decodes the instruction at pc. If it cannot be fetched, running the op traps and resets it to not decoded. */
void warp_decode(struct warp_memory *memory, struct warp_op *op, uint64_t pc);

/* trap.c: notes a trap of a lane. Returns WARP_TRAP. */
enum warp_event warp_raise(struct warp *warp, unsigned lane, enum trap_cause cause, uint64_t value);

/* Handlers without a row. warp_break() is for an instruction at a breakpoint: it executes nothing. */
warp_handler warp_illegal, warp_fetch_fault, warp_break;

/* access.c: returns the first address of a lane's stack. */
uint64_t warp_stack_of(const struct warp *warp, unsigned lane);
/* Checks a load or store relative to sp. A lane that accesses the stack of another lane traps: returns false. */
bool warp_stack_check(struct warp *warp, const struct warp_op *op);

/* Slow paths of accesses that the handlers' fast paths do not cover. size is 1, 2, 4 or 8
 * bytes. */
/* Raises the trap of an atomic access to local memory that a mechanism refuses (local_memory.h). Returns whether it does. */
bool warp_atomic_refused(struct warp *warp, unsigned lane, unsigned size, bool store);
bool warp_load_slow(struct warp *warp, unsigned lane, unsigned size);
bool warp_store_check(struct warp *warp, unsigned lane, unsigned size);
void warp_store_slow(struct warp *warp, unsigned lane, unsigned size);
/* Ends other lanes' reservations of the 8 bytes at an address to which the lane stores. */
void warp_disturb(struct warp *warp, unsigned lane, uint64_t address);
void warp_reserve(struct warp *warp, unsigned lane, uint64_t address);
/* Ends the lane's reservation. Returns whether it was for `address` and still held. */
bool warp_claim(struct warp *warp, unsigned lane, uint64_t address);

/* csr.c: accesses a CSR for one lane. Returns false if the CSR does not exist or cannot be written. */
enum warp_csr { WARP_CSR_SWAP, WARP_CSR_SET, WARP_CSR_CLEAR };
bool warp_csr(struct warp *warp, const struct insn *insn, unsigned lane, enum warp_csr operation,
              uint64_t operand, uint64_t *old);

/* Reads one of the CSRs from sthread_x to sdma, which do not change, for all lanes. */
void warp_csr_lanes(const struct warp *warp, unsigned number, uint64_t values[WARP_LANES]);

/* custom.c: executes a custom instruction of the group by its unit; the operands are set. Returns false if a lane has
 * trapped. */
bool warp_custom(struct warp *warp, const struct warp_op *op, struct custom_lanes *lanes);

/* Offers the group to the unit of a HINT. Returns the lanes that it takes. */
uint32_t warp_take(struct warp *warp, const struct warp_op *op);

/* fp.c: executes a floating-point row lane by lane, in any rounding mode, with exact flags per lane. */
enum warp_event warp_fp_each(struct warp *warp, const struct warp_op *op);
/* Adds the flags of the row, whose sources are unchanged, to the lanes in `lacking`. */
void warp_fp_attribute(struct warp *warp, const struct warp_op *op, uint32_t lacking);

#endif
