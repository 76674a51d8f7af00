/* Evaluates rows from captured operands: for instructions that are executed before, or long after, the hart's
 * registers hold what they read. */
#ifndef EMU_HART_EXEC_DEFER_H
#define EMU_HART_EXEC_DEFER_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/insn.h"

enum { DEFER_OPERANDS = 3 };

struct defer_input {
    uint64_t pc;
    uint64_t operand[DEFER_OPERANDS]; /* rs1, rs2, rs3: integer or floating-point as the row's format says */
    uint8_t mode;                     /* enum rounding_mode, RM_DYN resolved, of rows that round */
};

/* How rows see memory. load() gives the zero-extended value, or false: then the row is given up. */
struct defer_view {
    bool (*load)(void *context, uint64_t address, unsigned size, uint64_t *value);
    void *context;
};

/* What the row does; the caller lets it happen. */
struct defer_outcome {
    uint64_t result;        /* for the destination register, if the format has one */
    uint64_t next_pc;       /* where the program goes on */
    uint64_t address, data; /* of a store; data beyond size bytes mean nothing */
    uint8_t size;           /* of a store in bytes; 0: it stores nothing */
    uint8_t fflags;         /* raised: set of enum fp_flag */
};

/* Evaluates the row of *insn. False when load() has refused, or the row needs more than operands and memory:
 * AMO, LR, SC, CSR, system, fences, hints and custom opcodes, and what is no instruction. Whether
 * floating-point is switched on and `mode` is legal is the caller's affair. */
bool defer_evaluate(const struct insn *insn, const struct defer_input *input, const struct defer_view *view,
                    struct defer_outcome *outcome);

#endif
