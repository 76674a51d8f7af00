/* Which registers code can name that is reachable from an entry: a kernel's demand for registers.
 *
 * A static walk: branches both ways, jumps and calls to where they lead, behind a call as well. Of indirect ones:
 *   - AUIPC and the JALR behind it are a direct call or jump, as linkers make them;
 *   - a return (JALR from a link register that writes none) ends the path;
 *   - another indirect jump, a switch's, leads into what follows it: all instructions from there on are taken for
 *     reachable up to a return behind which no jump among them leads;
 *   - an indirect call may change what the calling convention lets it (ra, t0-t6, a0-a7, ft0-ft11, fa0-fa7): these count,
 *     the doubles whole; what it saves and restores beside them does not.
 * Code that cannot be fetched or decoded ends a path. A walk of more than REACH_INSNS instructions ends, and counts all
 * registers. */
#ifndef EMU_ANALYSIS_REACH_H
#define EMU_ANALYSIS_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/decode.h"

enum { REACH_INSNS = 1 << 17 };

/* The code: up to 4 bytes at pc, of which 2 may be missing (0) behind the end; false: there are none. */
struct reach_code {
    bool (*fetch)(void *context, uint64_t pc, uint32_t *bits);
    void *context;
};

struct reach {
    uint32_t integer; /* bit: register that is named; never x0 */
    uint32_t single;  /* floating-point registers that only single-precision instructions name */
    uint32_t whole;   /* others */
    unsigned insns;   /* reachable instructions */
};

struct reach reach_walk(const struct decoder *decoder, const struct reach_code *code, uint64_t entry);

/* The 32-bit halves that a thread needs: 2 for an integer register or a whole floating-point one, 1 for one of single
 * precision. */
unsigned reach_halves(const struct reach *reach);

#endif
