/* Finds the code that is reachable from entries, and the registers that it names.
 *
 * The walk is static. It follows both ways of a branch, the target of a jump, and both the target of a call and the
 * code behind it. Indirect jumps:
 *   - AUIPC and the JALR behind it, as linkers emit them, are a direct call or jump.
 *   - A return (JALR from a link register that writes no link register) ends the path.
 *   - Another indirect jump, such as a switch's, reaches all instructions that follow it, up to a return beyond which
 *     no direct jump or branch among them leads.
 *   - An indirect call counts as naming all registers that the calling convention lets it change (ra, t0-t6, a0-a7,
 *     ft0-ft11, fa0-fa7, these in double precision). What the callee saves and restores does not count.
 * Code that cannot be fetched or decoded ends a path. A walk of more than REACH_INSNS instructions ends and counts all
 * registers. */
#ifndef EMU_ANALYSIS_FLOW_REACH_H
#define EMU_ANALYSIS_FLOW_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/decode.h"

enum { REACH_INSNS = 1 << 17 };

/* The code. fetch() reads 4 bytes at pc; at the end of the code the last 2 may be missing (read as 0). Returns false if
 * there is no code at pc. */
struct reach_code {
    bool (*fetch)(void *context, uint64_t pc, uint32_t *bits);
    void *context;
};

/* A reachable instruction. */
struct reach_step {
    uint64_t pc;
    struct insn insn;
    unsigned flow;   /* flow_of() */
    bool known;      /* a jump or branch with a known target */
    uint64_t target; /* if known */
    uint64_t end;    /* of an indirect jump that is no call or return: it reaches what follows, up to here */
};

/* Receives each reachable instruction once. */
struct reach_visitor {
    void (*visit)(void *context, const struct reach_step *step);
    void *context;
    bool within; /* calls are not followed: only the code behind them is reachable */
};

struct reach {
    uint32_t integer; /* bit n: register n is named; never x0 */
    uint32_t single;  /* floating-point registers named only by single-precision instructions */
    uint32_t whole;   /* the other named floating-point registers */
    unsigned insns;   /* reachable instructions */
};

/* visitor may be NULL. */
struct reach reach_walk(const struct decoder *decoder, const struct reach_code *code, const uint64_t *entries,
                        size_t count, const struct reach_visitor *visitor);

/* Returns the 32-bit registers that the named ones consist of: 2 for an integer or double-precision register, 1 for a
 * single-precision register. */
unsigned reach_halves(const struct reach *reach);

#endif
