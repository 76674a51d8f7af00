/* Evaluates rows from captured operands: for instructions that are executed before, or long after, the hart's registers
 * hold their operands. */
#ifndef EMU_HART_DEFER_H
#define EMU_HART_DEFER_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/insn.h"

enum { DEFER_OPERANDS = 3 };

struct defer_input {
    uint64_t pc;
    uint64_t operand[DEFER_OPERANDS]; /* rs1, rs2, rs3: integer or floating-point as the row's format says */
    uint8_t mode;                     /* for rows that round: enum rounding_mode, RM_DYN resolved */
};

/* The memory that rows see. load() returns the zero-extended value, or false to give up the row. */
struct defer_view {
    bool (*load)(void *context, uint64_t address, unsigned size, uint64_t *value);
    void *context;
};

/* The effects of a row, which the caller applies. */
struct defer_outcome {
    uint64_t result;        /* for the destination register, if the format has one */
    uint64_t next_pc;       /* pc of the next instruction */
    uint64_t address, data; /* of a store; data beyond size bytes are undefined */
    uint8_t size;           /* of a store in bytes; 0: no store */
    uint8_t fflags;         /* raised: set of enum fp_flag */
};

/* Evaluates the row of *insn. Returns false if load() has refused, or if the row needs more than operands and memory:
 * AMO, LR, SC, CSR, system, fences, hints and custom opcodes, and illegal instructions. The caller checks that
 * floating-point is enabled and `mode` is legal. */
bool defer_evaluate(const struct insn *insn, const struct defer_input *input, const struct defer_view *view,
                    struct defer_outcome *outcome);

#endif
