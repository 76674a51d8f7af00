/* A warp: up to 32 threads of ordinary RV64 code that are executed an instruction at a time, each on those of them that
 * stand at it. What happens is decided here; when, by whoever steps the warp (emu/simt/grid.h functionally, emu/simt/simt.h
 * in time).
 *
 * Registers lie lane beside lane, and each row of the instruction table is a loop over the lanes under a mask.
 *
 * Divergence. Of the threads that run, those with the deepest call, and among them those with the lowest pc, execute
 * next: so lanes that have parted meet again where their paths join (implicit reconvergence), without special
 * instructions, for any code that a compiler makes. A call is a jump that writes x1 or x5, a return one from there that
 * writes neither; code that leaves calls otherwise (longjmp) stays right and merely meets later. So that a lane that spins
 * on another one's store is not executed for ever, the lane that has waited longest is executed first for WARP_SHARE
 * instructions once it has waited for WARP_TURN: no runnable lane waits for more than WARP_TURN + 31 * WARP_SHARE
 * instructions of its warp. The hint `pause` makes it so at once for the lane that has waited longest, and so does a group
 * that is found spinning: every WARP_LOOK backward jumps that a group takes as a whole, its first lane's integer
 * registers are looked at, and a group that is at the same jump with the same values as when it was looked at last has done nothing in
 * between but wait (as DDOS, but by registers instead of hashes of branches' operands: ElTantawy, Aamodt, "Warp scheduling
 * for fine-grained synchronization", HPCA 2018, section IV). To be wrong costs time, never a result. Whoever steps the
 * warp is told of both, as other warps may wait.
 *
 * Each lane has its own pc, call depth, fflags, frm and reservation. Of the lanes of one store the highest that writes a
 * byte wins; atomics are done one by one, the lowest lane first. FENCE, FENCE.I and the HINTs of our extensions do
 * nothing; cache-block operations and privileged instructions are illegal. Custom instructions go to their unit
 * (emu/hart/custom.h), and their results are written when all lanes are served; without a unit they are illegal. */
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
    WARP_LOOK = 32, /* backward jumps */
};

/* What an instruction of a warp was. */
enum warp_event {
    WARP_DONE,    /* executed; `access` says what it did to memory */
    WARP_BARRIER, /* lanes in `mask` have arrived at the block's barrier; they wait until warp_release() */
    WARP_EXIT, /* lanes in `mask` have ended: they returned to address 0. No instruction was executed, `op` is NULL */
    WARP_CALL, /* a lane's ECALL: `lane`; its registers are served by the environment, then warp_called() */
    WARP_TRAP, /* `lane` traps: `trap`; nothing was executed for the lanes of the mask */
    WARP_IDLE, /* no lane can run: all wait at the barrier or have ended */
};

/* One instruction, executed for the lanes in `mask`. */
struct warp_report {
    enum warp_event event;
    const struct stream_op *op; /* registers, class, size; valid until the next step of this warp */
    uint32_t mask;
    uint8_t lane;
    struct trap trap;
    uint64_t pc;      /* of the instruction */
    bool taken_apart; /* a branch or jump sent its lanes to different places */
    bool taken;       /* some lane's branch or jump does not go on behind it */
    bool spins;       /* it was `pause`, or the group has been found spinning */
    /* Of a load, store or atomic, of the lanes in `mask`: where the first lane's access goes, and addresses. In
     * WARP_GLOBAL and WARP_STACK they are physical, in WARP_SHARED offsets into the block's scratchpad. Bytes are
     * contiguous from there but for an access that crosses a page, or on a stack an 8-byte word. */
    enum warp_space space;
    uint32_t shared_mask; /* lanes whose access goes to the scratchpad; of the others it goes to memory */
    uint64_t physical[WARP_LANES];
};

/* A block's place in its grid, and a warp's in its block. */
struct warp_place {
    uint32_t block[3], block_size[3], grid_size[3];
    uint64_t launch; /* number of the launch, for messages */
    uint32_t warp;   /* number in the block: it has the threads from warp * width on */
    uint32_t multiprocessor;
    uint32_t stacks;     /* which warp's share of the stack window it takes (warp_memory.h) */
    uint8_t *scratchpad; /* the block's; NULL: none */
    uint64_t scratchpad_size;
};

struct warp;
struct custom_waiter;

/* A warp without threads over memory, which must outlive it. NULL when the host has no memory. */
struct warp *warp_new(struct warp_memory *memory, struct error *err);
void warp_free(struct warp *warp);

/* Gives the warp the threads of its place (at most the memory's width; at least one must exist): pc = entry, a0 =
 * argument, gp, sp = the top of the lane's stack, ra = 0, all else 0. */
void warp_start(struct warp *warp, const struct warp_place *place, uint64_t entry, uint64_t argument,
                uint64_t gp);

/* What the next step executes, and for which lanes; NULL when it is no instruction: the step will say EXIT, IDLE, or
 * trap at its fetch. Changes nothing that can be seen. */
const struct stream_op *warp_next(struct warp *warp, uint32_t *mask);

/* Executes one instruction. */
enum warp_event warp_step(struct warp *warp, struct warp_report *report);

/* Executes up to max_insns instructions, as fast as it can, until something other than WARP_DONE happens, which is
 * reported; but `physical`, `space`, `taken` and `taken_apart` are not. WARP_DONE: the limit is reached. */
enum warp_event warp_run(struct warp *warp, uint64_t max_insns, struct warp_report *report);

/* Lets the lanes that wait at the barrier go on. */
void warp_release(struct warp *warp);

/* Ends the ECALL of the lane that was reported: a0 receives result. */
void warp_called(struct warp *warp, unsigned lane, uint64_t result);

/* Ends a lane's thread where it is. */
void warp_end(struct warp *warp, unsigned lane);

/* Lanes that have not ended, and those of them that wait at the barrier. */
uint32_t warp_live(const struct warp *warp);
uint32_t warp_waiting(const struct warp *warp);

/* A lane's registers: 0 to 31 integer, 32 to 63 floating-point. */
uint64_t warp_register(const struct warp *warp, unsigned reg, unsigned lane);
void warp_set_register(struct warp *warp, unsigned reg, unsigned lane, uint64_t value);
uint64_t warp_pc(const struct warp *warp, unsigned lane);
unsigned warp_fcsr(const struct warp *warp, unsigned lane);
void warp_set_fcsr(struct warp *warp, unsigned lane, unsigned fcsr);

/* What the warp was made over: for units of custom instructions, which reach the lanes' bytes by it and by
 * warp_scratchpad(). */
struct warp_memory *warp_memory_of(const struct warp *warp);

const struct warp_place *warp_where(const struct warp *warp);

/* The lane's thread in its block, and in the grid. */
void warp_thread(const struct warp *warp, unsigned lane, uint32_t thread[3]);
uint64_t warp_thread_id(const struct warp *warp, unsigned lane);

/* What its lanes reach in WARP_SHARED. */
const struct warp_scratchpad *warp_scratchpad(const struct warp *warp);

/* Instructions executed since warp_new(), once for all their lanes, and by each of them. */
uint64_t warp_insns(const struct warp *warp);
uint64_t warp_thread_insns(const struct warp *warp);

/* Who waits for units of custom instructions from now on (emu/hart/custom.h); NULL, as at first: nobody. */
void warp_set_waiter(struct warp *warp, struct custom_waiter *waiter);

/* What `cycle` and `time` read from now on; until then, instructions executed. */
void warp_set_clock(struct warp *warp, uint64_t cycles, uint64_t ticks);

#endif
