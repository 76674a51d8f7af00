/* Encodes a row and operands into the bits of an instruction: the inverse of the decoder, written independently of
 * it. */
#ifndef TESTS_ISA_ENCODE_H
#define TESTS_ISA_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/insn.h"

struct operands {
    uint8_t rd, rs1, rs2, rs3, rm;
    int32_t imm; /* as struct insn has it */
};

#define OP(...) ((struct operands){__VA_ARGS__})

/* Returns the 32-bit instruction of the row with these operands; operands that the row's format lacks are ignored. */
uint32_t encode(enum insn_id id, const struct operands *operands);

/* Returns whether the row's format can hold the immediate. */
bool encode_fits(enum insn_id id, int32_t imm);

#endif
