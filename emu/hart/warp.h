/* A warp: up to 32 threads of ordinary RV64 code that are executed an instruction at a time, each on those of them that
 * stand at it. What happens is decided here; when, by whoever steps the warp (emu/core/grid.h functionally, emu/core/simt.h
 * in time).
 *
 * Registers lie lane beside lane, and each row of the instruction table is a loop over the lanes under a mask.
 *
 * Divergence. Of the threads that run, those with the deepest call, and among them those with the lowest pc, execute
 * next: so lanes that have parted meet again where their paths join (implicit reconvergence), without special
 * instructions, for any code that a compiler makes. So that a lane that spins on another one's store is not executed for
 * ever, after WARP_TURN instructions in which some lane has waited, the lane that has waited longest is executed first for
 * WARP_SHARE instructions (isa/MANUAL.md states the bound). */
#ifndef EMU_HART_WARP_H
#define EMU_HART_WARP_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/stream.h"

enum { WARP_LANES = 32 };

/* What an instruction of a warp was. */
enum warp_event {
    WARP_DONE,    /* executed; `access` says what it did to memory */
    WARP_BARRIER, /* lanes in `mask` have arrived at the block's barrier; they wait until warp_release() */
    WARP_EXIT,    /* lanes in `mask` have ended */
    WARP_CALL, /* a lane's ECALL: `lane`; its registers are served by the environment, then warp_called() */
    WARP_TRAP, /* `lane` traps: `trap`; nothing was executed for the lanes of the mask */
    WARP_IDLE, /* no lane can run: all wait at the barrier or have ended */
};

enum warp_space {
    WARP_GLOBAL,
    WARP_SHARED,
    WARP_STACK
}; /* where an access goes: a lane's stack lies in memory, swizzled */

/* One instruction, executed for the lanes in `mask`. */
struct warp_report {
    enum warp_event event;
    const struct stream_op *op; /* registers, class, size; valid until the next step of this warp */
    uint32_t mask;
    uint8_t lane;
    struct trap trap;
    bool taken_apart; /* a branch or jump sent its lanes to different places */
    /* Of a load, store or atomic: physical addresses of the lanes in `mask`. */
    enum warp_space space;
    uint64_t physical[WARP_LANES];
};

struct warp;

#endif
