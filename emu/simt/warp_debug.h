/* A debugger's control of warps: breakpoints, warps that are held, lanes that step, and what stopped them.
 *
 * The lanes of a warp move together: a step of a lane executes instructions of its warp until the lane has executed one. A
 * breakpoint stops a warp before the instruction, when the lanes that stand there are next. When a warp is stopped, the run
 * ends soon (stop()); no instruction of the other warps is lost or repeated. */
#ifndef EMU_SIMT_WARP_DEBUG_H
#define EMU_SIMT_WARP_DEBUG_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/hart.h"

enum { WARP_BREAKPOINTS = 256 };

struct custom_waiter;
struct warp;
struct warp_memory;
struct warp_report;

enum warp_debug_stop {
    WARP_STOP_NONE,
    WARP_STOP_BREAK, /* `lanes` are before the instruction at the breakpoint `pc` */
    WARP_STOP_STEP,  /* `lanes`, which step, have executed an instruction */
    WARP_STOP_END,   /* `lanes`, which step, have ended */
    WARP_STOP_TRAP,  /* `lanes`, one lane, has trapped with `trap`; nothing was executed */
};

/* Initialize with zeroes, but for `stop`. */
struct warp_debug {
    uint32_t count; /* number of breakpoints */
    uint64_t breakpoints[WARP_BREAKPOINTS];
    bool hold; /* warps that begin are held */
    bool pass; /* the next trap ends the program */
    /* What stopped the run; the debugger sets it to WARP_STOP_NONE. */
    enum warp_debug_stop why;
    struct warp *warp;
    uint32_t lanes;
    uint64_t pc;
    struct trap trap;
    /* waiter of the trapped warp, if it is on a timed multiprocessor: custom_returned() lets the warp try again */
    struct custom_waiter *waiter;
    /* Makes the run end soon. */
    void (*stop)(void *context);
    void *context;
};

/* Insert or remove a breakpoint at a program address. `memory` is that of the warps, NULL before the first launch. Return
 * false if there is no room, or no such breakpoint. */
bool warp_debug_insert(struct warp_debug *debug, struct warp_memory *memory, uint64_t address);
bool warp_debug_remove(struct warp_debug *debug, struct warp_memory *memory, uint64_t address);
bool warp_debug_has(const struct warp_debug *debug, uint64_t address);

/* Holds the warp, or lets it run, with the set of its lanes that step. */
void warp_debug_move(struct warp *warp, bool held, uint32_t steps);
bool warp_debug_held(const struct warp *warp);
uint32_t warp_debug_steps(const struct warp *warp);

/* For executors of warps. Each function returns whether the run must end, and then notes why in `debug`: because the warp's next
 * instruction is at a breakpoint; because lanes that step have executed the reported step; because of the reported trap, unless
 * `pass` is set. */
bool warp_debug_break(struct warp_debug *debug, struct warp *warp);
bool warp_debug_stepped(struct warp_debug *debug, struct warp *warp, const struct warp_report *report);
bool warp_debug_trap(struct warp_debug *debug, struct warp *warp, const struct warp_report *report);

#endif
