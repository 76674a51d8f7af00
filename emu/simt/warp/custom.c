/* Custom instructions and HINTs: the units that execute them or take lanes. */
#include "emu/simt/warp/state.h"

static void describe_lanes(struct warp *warp, const struct warp_op *op, struct custom_lanes *lanes)
{
    _Static_assert((int)CUSTOM_LANES == (int)WARP_LANES, "a call holds the lanes of a warp");
    lanes->insn = &op->insn;
    lanes->pc = op->stream.pc;
    lanes->mask = warp->mask;
    lanes->cycle = warp->timed ? warp->cycles : 0;
    lanes->time = custom_time(warp->waiter, warp->cycles);
    lanes->waiter = warp->waiter;
    lanes->warp = warp;
}

uint32_t warp_take(struct warp *warp, const struct warp_op *op)
{
    const struct custom_unit *unit = custom_find(warp->memory->setup.custom, &op->insn);
    struct custom_lanes lanes;
    if (!unit || !unit->take_lanes)
        return 0;
    describe_lanes(warp, op, &lanes);
    return unit->take_lanes(unit->context, &lanes);
}

bool warp_custom(struct warp *warp, const struct warp_op *op, struct custom_lanes *lanes)
{
    describe_lanes(warp, op, lanes);
    if (custom_execute_lanes(custom_find(warp->memory->setup.custom, &op->insn), lanes))
        return true;
    (void)warp_raise(warp, lanes->lane, lanes->trap.cause, lanes->trap.value);
    return false;
}
