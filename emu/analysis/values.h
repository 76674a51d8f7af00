/* What registers hold, as far as the code tells: the sign or zero extension of a word, because of the instruction that wrote
 * it, or the value that the function's caller left there. Found by a forward analysis over all functions of a graph. */
#ifndef EMU_ANALYSIS_VALUES_H
#define EMU_ANALYSIS_VALUES_H

#include "emu/analysis/convention.h"
#include "emu/analysis/flow/cfg.h"

/* Sets of registers: those with a sign-extended word, a zero-extended word, and the value that the caller left. */
struct facts {
    uint64_t extended_sign, extended_zero, entry;
};

struct values {
    struct facts *before; /* by instruction of the graph; of those that no function reaches, no registers */
    const struct cfg *cfg;
};

/* Release the result with values_free(). */
struct values values_of(const struct cfg *cfg);
void values_free(struct values *values);

/* Returns what holds behind the instruction. */
struct facts values_after(const struct values *values, int insn);

/* Returns what is known of the register: bit 0: it holds a sign-extended, bit 1: a zero-extended word. */
unsigned values_known(const struct facts *facts, unsigned reg);

/* Returns the registers that a call changes. A function that is called by t0 keeps all others (host/simt/entry.S, and the
 * compiler's functions that save registers). */
uint64_t values_changed_by(const struct cfg_insn *call);

#endif
