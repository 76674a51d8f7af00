/* A warp: up to 32 threads of ordinary RV64 code, executed one instruction at a time for the threads that
 * stand at it. This file has the function; the callers of warp_step() and warp_run() determine the time
 * (emu/simt/grid/grid.h: none; emu/simt/multiprocessor.h: timed).
 *
 * A register is an array over the lanes, and each row of the instruction table is a loop over the lanes under
 * a mask.
 *
 * Divergence (warp_memory_setup.reconvergence). WARP_MINPC: of the runnable threads, those with the deepest call
 * depth execute next, and of these those with the lowest pc. So lanes that have parted meet again where their
 * paths join (implicit reconvergence), without special instructions, for all code that compilers generate.
 * WARP_STACKED: lanes that have parted meet at the immediate post-dominator of the branch (warp/code/meet.h). A stack has
 * a level for all lanes that meet and one for each path to there; the top level executes until its lanes are there.
 * Lanes that wait for the block's barrier or are away let the level below go on: then lanes of one level are at
 * different places, and the rule of WARP_MINPC applies within the level.
 *
 * A call is a jump that writes x1 or x5; a return is a jump through one of them that writes neither. Code that
 * leaves calls in other ways (longjmp) is executed correctly, but may reconverge later.
 *
 * Fairness. A lane that spins on another lane's store must not be executed for ever. Therefore, once a lane
 * has waited for WARP_TURN instructions, the one that has waited longest is executed first for WARP_SHARE
 * instructions: no runnable lane waits for more than WARP_TURN + 31 * WARP_SHARE instructions of its warp. While the
 * reconvergence stack has levels above the first, a lane waits for up to WARP_PATIENCE instructions; then these levels
 * are dropped.
 * The hint `pause` lets other lanes go first at once, and so does a group that is found spinning; both also drop the
 * levels. To find spinning, the integer registers of a group's first lane are recorded after every WARP_LOOK backward
 * jumps that a group takes as a whole. If jump, group and values equal the last record, the group has only waited in
 * between (as in DDOS, but with registers instead of hashes of branch operands: ElTantawy, Aamodt, "Warp scheduling for
 * fine-grained synchronization", HPCA 2018, section IV). A wrong guess costs time but does not change results. `pause`
 * and spinning are reported to the caller, because other warps may be waiting too.
 *
 * Lanes that a unit has taken at a HINT (take_lanes(), emu/hart/custom.h) are away until it returns them.
 * The other lanes go on.
 *
 * Each lane has its own pc, call depth, fflags, frm and reservation. If several lanes of one store write a
 * byte, the highest lane wins. A load or store relative to sp in another lane's stack traps: the stack has overflowed.
 * Atomics are executed one lane after another, the lowest first. FENCE, FENCE.I and HINTs without a unit do nothing,
 * except for `pause`. Cache-block operations and privileged instructions are illegal.
 * Custom instructions go to their unit (emu/hart/custom.h), and their results are written when all lanes are
 * served; without a unit they are illegal. */
#ifndef EMU_SIMT_WARP_H
#define EMU_SIMT_WARP_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/stream.h"
#include "emu/simt/warp_memory.h"

enum {
    WARP_LANES = 32,
    WARP_TURN = 4096, /* instructions of the warp */
    WARP_SHARE = 256,
    WARP_LOOK = 32,         /* backward jumps */
    WARP_PATIENCE = 1 << 20 /* instructions of the warp; of a reconvergence stack */
};

/* The event of a step. */
enum warp_event {
    WARP_DONE, /* an instruction was executed */
    /* the lanes in `mask` have reached the block's barrier; they wait until warp_release() */
    WARP_BARRIER,
    /* the lanes in `mask` have ended, by a return to address 0; no instruction was executed, `op` is NULL */
    WARP_EXIT,
    /* ECALL of `lane`: the environment serves its registers, then calls warp_called() */
    WARP_CALL,
    WARP_TRAP,  /* `lane` traps with `trap`; nothing was executed for any lane */
    WARP_IDLE,  /* no lane can run: all wait at the barrier or have ended */
    WARP_AWAY,  /* no lane can run, and units have some lanes (warp_return()) */
    WARP_BREAK, /* the lanes in `mask` are at a breakpoint (warp_debug.h); nothing was executed */
    /* With a clock, set by the block scheduler in place of a trap or a call: the lane's page is not there yet, or
     * its call is served later. Nothing was executed; the warp tries again. */
    WARP_MISSING,
    WARP_LATER,
};

/* The report of a step, for the lanes in `mask`. */
struct warp_report {
    enum warp_event event;
    const struct stream_op *op; /* valid until the next step of this warp */
    uint32_t mask;
    uint8_t lane;
    struct trap trap;
    uint64_t pc;      /* address of the instruction */
    bool taken_apart; /* a branch or jump sent its lanes to different addresses */
    bool taken;       /* a branch or jump was taken by some lane */
    bool spins;       /* the instruction was `pause`, or the group was found spinning */
    bool handed_over; /* before it, lanes were sent on from where they waited for others of the warp */
    /* For a load, store or atomic: the space of the first lane's access, and the addresses of the lanes in
     * `mask`. Addresses are physical in WARP_GLOBAL and WARP_STACK, and offsets into the block's scratchpad
     * in WARP_SHARED. The bytes of an access are contiguous unless it crosses a page or, on a stack, an
     * 8-byte word. */
    enum warp_space space;
    /* set of lanes whose access goes to the scratchpad; the others access memory */
    uint32_t shared_mask;
    const uint64_t *address; /* the lanes' program addresses; valid until the next step of this warp */
    uint64_t physical[WARP_LANES];
    bool paused; /* set by the block scheduler: a debugger stops the run after this step */
};

/* A block's place in its grid, and a warp's place in its block. */
struct warp_place {
    uint32_t block[3], block_size[3], grid_size[3];
    uint64_t launch; /* number of the launch, for messages */
    uint32_t host;   /* number of the host that launched it */
    uint32_t warp;   /* number in the block; its threads begin at warp * width */
    uint32_t multiprocessor;
    uint32_t stacks;     /* number of the warp in the stack window (warp_memory.h) */
    uint8_t *scratchpad; /* of the block; NULL: none */
    uint64_t scratchpad_size;
};

struct warp;
struct custom_waiter;

/* Creates a warp without threads on a memory, which must outlive it. Returns NULL with err set when the host
 * has no memory. Release it with warp_free(), which accepts NULL. */
struct warp *warp_new(struct warp_memory *memory, struct error *err);
void warp_free(struct warp *warp);

/* Starts the threads of the warp's place, at most as many as the memory's width; at least one must exist.
 * Registers: pc = entry, a0 = argument, gp, sp = the top of the lane's stack, ra = 0, all others 0. */
void warp_start(struct warp *warp, const struct warp_place *place, uint64_t entry, uint64_t argument,
                uint64_t gp);

/* Returns the instruction that the next step executes, and stores its lanes. Returns NULL if the step will
 * not be an instruction: WARP_EXIT, WARP_IDLE, or a trap at the fetch. Has no visible effect. */
const struct stream_op *warp_next(struct warp *warp, uint32_t *mask);

/* Returns the set of lanes that the next step executes, if they are at a breakpoint, and stores their pc; otherwise 0. */
uint32_t warp_at_break(struct warp *warp, uint64_t *pc);

/* Executes one step. Returns report->event. */
enum warp_event warp_step(struct warp *warp, struct warp_report *report);

/* Executes up to max_insns instructions, until an event other than WARP_DONE. Returns and reports the event,
 * without `physical`, `space`, `taken` and `taken_apart`. WARP_DONE: the limit was reached. */
enum warp_event warp_run(struct warp *warp, uint64_t max_insns, struct warp_report *report);

/* Releases the lanes that wait at the barrier. */
void warp_release(struct warp *warp);

/* Ends the reported ECALL of the lane: sets its a0 to `result` and continues after it. */
void warp_called(struct warp *warp, unsigned lane, uint64_t result);

/* Returns a lane that a unit has taken: it continues at `pc`. With a trap, it traps there instead, in the
 * warp's next step. */
void warp_return(struct warp *warp, unsigned lane, uint64_t pc, const struct trap *trap);

/* Ends a lane's thread. */
void warp_end(struct warp *warp, unsigned lane);

/* Return the set of lanes that have not ended, and the set of those that wait at the barrier. */
uint32_t warp_live(const struct warp *warp);
uint32_t warp_waiting(const struct warp *warp);

/* Access a lane's registers: 0 to 31 are integer registers, 32 to 63 floating-point registers. */
uint64_t warp_register(const struct warp *warp, unsigned reg, unsigned lane);
void warp_set_register(struct warp *warp, unsigned reg, unsigned lane, uint64_t value);
uint64_t warp_pc(const struct warp *warp, unsigned lane);
/* Reads a CSR of the lane. Returns false if threads do not have it. */
bool warp_csr_peek(const struct warp *warp, unsigned lane, unsigned number, uint64_t *value);
unsigned warp_fcsr(const struct warp *warp, unsigned lane);
void warp_set_fcsr(struct warp *warp, unsigned lane, unsigned fcsr);

/* Returns the memory given to warp_new(). Units of custom instructions reach the lanes' bytes by it and by
 * warp_scratchpad(). */
struct warp_memory *warp_memory_of(const struct warp *warp);

const struct warp_place *warp_where(const struct warp *warp);

/* Returns whether the lane's sp is below its own stack, in a lower stack or below the window of stacks: the thread's stack
 * has overflowed. Stores how many bytes sp is below the lowest address of the stack. */
bool warp_overflowed(const struct warp *warp, unsigned lane, uint64_t *bytes);

/* Store the coordinates of the lane's thread in its block, and return the thread's number in the grid. */
void warp_thread(const struct warp *warp, unsigned lane, uint32_t thread[3]);
uint64_t warp_thread_id(const struct warp *warp, unsigned lane);

/* Returns the scratchpad that the warp's lanes access in WARP_SHARED. */
const struct warp_scratchpad *warp_scratchpad(const struct warp *warp);

/* Return the instructions executed since warp_new(): counted once per warp, and once per lane. */
uint64_t warp_insns(const struct warp *warp);
uint64_t warp_thread_insns(const struct warp *warp);

/* Sets the waiter for units of custom instructions (emu/hart/custom.h). NULL, which is the initial value:
 * none. */
void warp_set_waiter(struct warp *warp, struct custom_waiter *waiter);

/* Sets what the CSR `cycle` returns, and the CSR `time`: `time` divided by `tick`, both in femtoseconds. Before the first
 * call, they return the number of instructions executed. */
void warp_set_clock(struct warp *warp, uint64_t cycles, uint64_t time, uint64_t tick);

#endif
