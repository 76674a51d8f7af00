/* Traps of lanes, and the handlers of ops that execute nothing. */
#include "emu/simt/warp/state.h"

enum warp_event warp_raise(struct warp *warp, unsigned lane, enum trap_cause cause, uint64_t value)
{
    warp->trap_lane = (uint8_t)lane;
    warp->trap = (struct trap){cause, value};
    return WARP_TRAP;
}

enum warp_event warp_illegal(struct warp *warp, const struct warp_op *op)
{
    return warp_raise(warp, (unsigned)__builtin_ctz(warp->mask), TRAP_ILLEGAL_INSTRUCTION, op->insn.bits);
}

enum warp_event warp_fetch_fault(struct warp *warp, const struct warp_op *op)
{
    struct warp_op *again = (struct warp_op *)(uintptr_t)op;
    uint64_t pc = op->stream.pc;
    again->run = NULL;
    return warp_raise(warp, (unsigned)__builtin_ctz(warp->mask),
                      warp->memory->setup.translate ? TRAP_FETCH_PAGE : TRAP_FETCH_ACCESS, pc);
}

enum warp_event warp_break(struct warp *warp, const struct warp_op *op)
{
    (void)warp;
    (void)op;
    return WARP_BREAK;
}
