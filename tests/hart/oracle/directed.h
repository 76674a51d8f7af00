/* Blocks that execute one instruction with chosen operands and store each result with the flags that it raised. */
#ifndef TESTS_HART_ORACLE_DIRECTED_H
#define TESTS_HART_ORACLE_DIRECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/insn.h"
#include "tests/hart/oracle/batch.h"

/* Returns whether the row computes a register from registers, without memory, control flow or CSRs. */
bool directed_applies(enum insn_id id);

/* Returns the number of cases of the row: all pairs of corner cases of its operands, in all rounding modes. */
unsigned directed_cases(enum insn_id id);

/* Fills block `index` of the batch with as many cases of the row as fit, from case `first` on; returns their number. */
unsigned directed_block(enum insn_id id, unsigned first, struct batch *batch, uint64_t index);

#endif
