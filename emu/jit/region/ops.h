/* What an instruction of a region's block is to the interpreter. */
#ifndef EMU_JIT_REGION_OPS_H
#define EMU_JIT_REGION_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/jit/region.h"

/* Returns the op's handler in the interpreter. */
op_handler *ops_handler(const struct hart *hart, const union op *op);

/* Returns whether the interpreter executes the instruction by step.h. */
bool ops_is_stepped(const struct hart *hart, const struct block_insn *at);

/* Returns whether it is a conversion for the static rounding mode RTZ that has a row of its own. */
bool ops_truncates(const struct hart *hart, const struct insn *insn);

/* Returns whether it loads or stores at an offset to a register. */
bool ops_accesses(const struct insn *insn, bool store);

/* Offsets to a register. */
struct ops_range {
    int64_t least, most;
};

/* Returns the offsets of the accesses of the block from instruction i on by the register's present value. */
struct ops_range ops_coming(const struct hart *hart, const struct region_block *block, uint32_t i, unsigned r,
                            bool store);

/* Returns the slot after an instruction's op. */
const union op *ops_after(const struct block_insn *at);

#endif
