/* The registers that a kernel's code needs at a time, in units of 32 bits, as a GPU's register file counts them.
 *
 * A live integer register (liveness.h) takes two units if its upper bits are demanded and it is not known to hold an
 * extended word (values.h), otherwise one; a floating-point register two if a double is live in it. The result is the
 * maximum over all places in the code, the registers that callers keep over their calls included.
 *
 * Not counted, because a GPU has other means for them: return addresses, sp, gp, tp; and a callee's saving of its
 * caller's registers, unless the caller needs them. Results do not depend on the order of functions.
 *
 * A call through a pointer counts what the calling convention lets it change, as in reach.h. */
#ifndef EMU_ANALYSIS_PRESSURE_H
#define EMU_ANALYSIS_PRESSURE_H

#include "emu/analysis/flow/reach.h"

struct pressure {
    unsigned units;     /* 32-bit registers that a thread needs at a time; at least 1 */
    unsigned named;     /* reach_halves(): those that the code names, as the compiler has assigned them */
    uint64_t where;     /* address of an instruction where `units` are needed */
    unsigned functions; /* number of functions in the code */
};

/* If the code has more than REACH_INSNS instructions, `units` is the number of registers that it names. */
struct pressure pressure_of(const struct decoder *decoder, const struct reach_code *code, uint64_t entry);

#endif
