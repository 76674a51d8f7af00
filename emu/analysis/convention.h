/* The calling convention (RISC-V psABI), as sets of registers numbered as in isa/decoder/flow.h. */
#ifndef EMU_ANALYSIS_CONVENTION_H
#define EMU_ANALYSIS_CONVENTION_H

#include <stdint.h>

#include "isa/decoder/flow.h"
#include "isa/disasm.h"

enum { RA = 1, SP = 2, GP = 3, TP = 4, T0 = 5, REGISTERS = 64 };

#define INTEGER_ARGUMENTS  UINT64_C(0x3fc00)            /* a0 to a7 */
#define FLOAT_ARGUMENTS    (UINT64_C(0x3fc00) << 32)    /* fa0 to fa7 */
#define CALLER_SAVED       (UINT64_C(0xf003fce2))       /* ra, t0 to t2, a0 to a7, t3 to t6 */
#define CALLER_SAVED_FLOAT (UINT64_C(0xf003fcff) << 32) /* ft0 to ft11, fa0 to fa7 */
#define CALLEE_SAVED       (UINT64_C(0x0ffc0302))       /* s0 to s11, and ra, which a function also keeps */
#define CALLEE_SAVED_FLOAT (UINT64_C(0x0ffc0300) << 32) /* fs0 to fs11 */
#define RESULTS            (UINT64_C(0xc00) | UINT64_C(0xc00) << 32) /* a0, a1, fa0, fa1 */
#define POINTERS           UINT64_C(0x1c)                            /* sp, gp, tp */
#define ALL_REGISTERS      (~UINT64_C(1))

/* Returns the set of a register; that of REGISTER_NONE is empty. */
static inline uint64_t register_bit(unsigned reg)
{
    return reg < REGISTERS ? UINT64_C(1) << reg : 0;
}

/* Returns the name of a register, such as a0 or fa0. */
static inline const char *name_of_register(unsigned reg)
{
    return reg < 32 ? register_name[reg] : reg < REGISTERS ? fp_register_name[reg - 32] : "zero";
}

#endif
