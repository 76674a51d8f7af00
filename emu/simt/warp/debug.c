#include "emu/simt/warp_debug.h"

#include "emu/simt/warp/state.h"

static void tell(struct warp_debug *debug, enum warp_debug_stop why, struct warp *warp, uint32_t lanes,
                 uint64_t pc)
{
    debug->why = why;
    debug->warp = warp;
    debug->lanes = lanes;
    debug->pc = pc;
    debug->waiter = NULL;
    debug->stop(debug->context);
}

void warp_debug_move(struct warp *warp, bool held, uint32_t steps)
{
    warp->held = held;
    warp->steps = steps;
}

bool warp_debug_held(const struct warp *warp)
{
    return warp->held;
}

uint32_t warp_debug_steps(const struct warp *warp)
{
    return warp->steps;
}

bool warp_debug_break(struct warp_debug *debug, struct warp *warp)
{
    uint64_t pc;
    uint32_t lanes = warp_at_break(warp, &pc);
    if (lanes)
        tell(debug, WARP_STOP_BREAK, warp, lanes, pc);
    return lanes != 0;
}

bool warp_debug_stepped(struct warp_debug *debug, struct warp *warp, const struct warp_report *report)
{
    uint32_t lanes = warp->steps;
    switch (report->event) {
    case WARP_DONE:
    case WARP_BARRIER:
    case WARP_EXIT: lanes &= report->mask; break;
    case WARP_CALL: lanes &= UINT32_C(1) << report->lane; break;
    default: return false;
    }
    if (!lanes)
        return false;
    warp->steps = 0;
    /* A call may have ended the thread. */
    bool ends = !(lanes & warp->live);
    tell(debug, ends ? WARP_STOP_END : WARP_STOP_STEP, warp, ends ? lanes : lanes & warp->live, report->pc);
    return true;
}

bool warp_debug_trap(struct warp_debug *debug, struct warp *warp, const struct warp_report *report)
{
    if (debug->pass)
        return false;
    tell(debug, WARP_STOP_TRAP, warp, UINT32_C(1) << report->lane, report->pc);
    debug->trap = report->trap;
    return true;
}
