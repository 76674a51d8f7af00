/* The control flow of an instruction, and the registers that it names. */
#ifndef ISA_DECODER_FLOW_H
#define ISA_DECODER_FLOW_H

#include <stdint.h>

#include "isa/insn.h"

enum flow {
    FLOW_BRANCH = 1,   /* conditional */
    FLOW_JUMP = 2,     /* unconditional, direct or indirect */
    FLOW_INDIRECT = 4, /* JALR */
    FLOW_CALL = 8,     /* a jump that writes x1 or x5 (unprivileged specification, table 2.1) */
    FLOW_RETURN = 16,  /* a JALR from x1 or x5 that writes neither of them */
};

/* Returns a set of enum flow; 0 if the next instruction always follows. */
unsigned flow_of(const struct insn *insn);

enum { REGISTER_NONE = 64 };

/* Registers by number: 0 to 31 integer, 32 to 63 floating-point; REGISTER_NONE for x0 and for missing operands. */
struct insn_registers {
    uint8_t rd, rs1, rs2, rs3;
};

struct insn_registers insn_registers(const struct insn *insn);

#endif
