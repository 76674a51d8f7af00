/* Liveness: the registers whose values are used later, before they are written again, and those whose upper 32 bits are used
 * (demanded bits). An addition demands of its operands what is demanded of its result; addresses,
 * comparisons and divisions of 64 bits demand all bits, operations on words and stores of up to 4 bytes only the lower
 * ones. */
#ifndef EMU_ANALYSIS_LIVENESS_H
#define EMU_ANALYSIS_LIVENESS_H

#include "emu/analysis/values.h"

/* Sets of registers, numbered as in isa/decoder/flow.h. Without x0. */
struct live {
    uint64_t any, high; /* of a floating-point register, `high` tells that a double is live in it */
};

/* What is live before and after each instruction of the graph. */
struct liveness {
    struct live *in, *out;
};

/* Finds what is live.
 *
 * values NULL: all that execution needs to continue unchanged. A return needs what the calling convention promises its caller
 * (results, callee-saved registers, sp, gp, tp), an indirect jump also arguments, since it may be a call at the function's end.
 * A call needs its arguments (all that there can be, or cfg_insn.arguments), or what its function reads; a register is live
 * through a call if it is live behind it, because compilers that see a callee rely on registers that it happens not to change
 * (such registers are not live in the callee). All other registers may have any value: only copies of unused values change, in
 * callees' frames.
 *
 * values given: only the uses for which a register must keep a value, which are fewer. A function's saving of a caller's value
 * (as `values` tells) and return addresses are no uses, a return needs the results that known callers use, and calls change what
 * values_changed_by() says. */
struct liveness liveness_of(const struct cfg *cfg, const struct values *values);

/* As without values, for a graph whose entries are kernels: nobody calls them, and nobody uses what registers hold when they return,
 * but sp, gp and tp. A return of another function needs only what some call of it uses, unless the function is `exposed`. A call by
 * t0 needs sp, gp, tp and ra: barriers of kernels call by t0 where threads are not on multiprocessors, and keep all registers; so do
 * the compiler's functions that save a caller's. */
struct liveness liveness_of_kernels(const struct cfg *cfg);
void liveness_free(struct liveness *liveness);

/* Returns the live registers that are in the set. */
static inline struct live live_only(struct live live, uint64_t set)
{
    return (struct live){live.any & set, live.high & set};
}

#endif
