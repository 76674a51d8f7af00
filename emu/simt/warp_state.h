/* A warp from within; for emu/simt/warp*.c alone. */
#ifndef EMU_SIMT_WARP_STATE_H
#define EMU_SIMT_WARP_STATE_H

#include "emu/hart/custom.h"
#include "emu/simt/warp.h"
#include "emu/simt/warp_code.h"

/* The group is the lanes in `mask`, which stand at `pc` in calls `depth` deep; the other lanes that have not ended are
 * parked, with a pc and depth of their own in lane_pc and lane_depth. */
struct warp {
    _Alignas(64) uint64_t x[33][WARP_LANES]; /* x[HART_SINK] takes what is written to x0 */
    uint64_t f[32][WARP_LANES];
    uint64_t select[WARP_LANES]; /* all ones for lanes of the group; only valid while `partial` */
    uint64_t address[WARP_LANES],
        data[WARP_LANES]; /* of the memory access that is under way, or was the last */

    uint64_t pc;
    uint64_t bound;           /* the group goes on while pc is below: there a parked lane is due */
    uint64_t count, deadline; /* instructions executed, and when a lane that waits must be looked after */
    uint64_t page;            /* of the ops; UINT64_MAX: none */
    struct warp_op *ops;
    uint32_t mask, live, waiting;
    uint32_t lanes; /* in the group */
    int32_t depth;
    bool partial;  /* some lane that has not ended is not in the group */
    bool sharing;  /* the group holds `oldest`, which goes first for a while */
    bool yielding; /* the group has executed `pause`, or spins: as if others had waited long enough */
    bool taken, taken_apart, spins;
    bool frm_set; /* some lane's frm is not 0 */
    uint8_t oldest;
    uint8_t trap_lane;
    struct trap trap;

    uint64_t lane_pc[WARP_LANES], lane_since[WARP_LANES];
    int32_t lane_depth[WARP_LANES];
    uint8_t fflags[WARP_LANES], frm[WARP_LANES];
    uint32_t reserved; /* lanes that hold a reservation of `reservation`, made at its block's `version` */
    uint64_t reservation[WARP_LANES];
    uint32_t version[WARP_LANES];

    uint32_t jumps; /* backward, taken by the whole group */
    struct warp_look {
        uint64_t pc, x[32]; /* the jump, and the first lane's registers */
        uint32_t mask;
    } look; /* the last one; pc 0: none */

    struct warp_memory *memory;
    struct warp_scratchpad pad;
    uint64_t thread_insns;
    struct warp_place place;
    bool timed;
    uint64_t cycles, ticks;
    struct custom_waiter *waiter; /* for units of custom instructions, or NULL */
};

/* warp_schedule.c: makes the group that is due. False when no lane can run. */
bool warp_schedule(struct warp *warp);

/* Whether the group may go on. */
static inline bool warp_due(const struct warp *warp)
{
    return warp->pc < warp->bound && warp->count < warp->deadline;
}

/* Parks the group: it stands at pc. */
void warp_park(struct warp *warp, uint64_t pc);

/* Sends the lanes of the group in `taken` to target and the others to next; neither part is empty. */
void warp_split(struct warp *warp, uint32_t taken, uint64_t target, uint64_t next);

/* The same, each to targets[lane]; they are not all the same. */
void warp_scatter(struct warp *warp, const uint64_t targets[WARP_LANES]);

/* The group has entered or left a call, and has its new pc. */
void warp_change_depth(struct warp *warp, int change);

/* The group lets others go first. */
void warp_yield(struct warp *warp);

/* Looks whether the group, which has taken the backward jump at pc, spins. */
void warp_look(struct warp *warp, uint64_t pc);

/* Notes a trap of a lane. Returns WARP_TRAP. */
enum warp_event warp_raise(struct warp *warp, unsigned lane, enum trap_cause cause, uint64_t value);

/* warp_access.c: the ways of accesses that the rows' own ways do not cover. size is 1, 2, 4 or 8. */
bool warp_load_slow(struct warp *warp, unsigned lane, unsigned size);
bool warp_store_check(struct warp *warp, unsigned lane, unsigned size);
void warp_store_slow(struct warp *warp, unsigned lane, unsigned size);
/* The lane stores at address: other lanes' reservations of the bytes end. */
void warp_disturb(struct warp *warp, unsigned lane, uint64_t address);
void warp_reserve(struct warp *warp, unsigned lane, uint64_t address);
/* Takes the lane's reservation away; whether it was for address and still held. */
bool warp_claim(struct warp *warp, unsigned lane, uint64_t address);

/* warp_csr.c: one lane's access. False: there is no such CSR. */
enum warp_csr { WARP_CSR_SWAP, WARP_CSR_SET, WARP_CSR_CLEAR };
bool warp_csr(struct warp *warp, const struct insn *insn, unsigned lane, enum warp_csr operation,
              uint64_t operand, uint64_t *old);

/* Lets the unit of a custom instruction serve the group; operands are set. False: a lane has trapped. */
bool warp_custom(struct warp *warp, const struct warp_op *op, struct custom_lanes *lanes);

/* warp_fp.c: a floating-point row lane by lane, in any rounding mode, with exact flags for each. */
enum warp_event warp_fp_each(struct warp *warp, const struct warp_op *op);
/* Adds the flags of the row, whose sources are unchanged yet, to the lanes in `lacking`. */
void warp_fp_attribute(struct warp *warp, const struct warp_op *op, uint32_t lacking);

#endif
