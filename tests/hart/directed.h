/* Blocks that try one instruction with chosen operands and store each result beside the flags that it raised.
 */
#ifndef TESTS_HART_DIRECTED_H
#define TESTS_HART_DIRECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/insn.h"
#include "tests/hart/batch.h"

/* Whether the row computes a register from registers, without memory, control flow or CSRs. */
bool directed_applies(enum insn_id id);

/* How many cases there are for the row: all pairs of corner cases of its operands, in all rounding modes. */
unsigned directed_cases(enum insn_id id);

/* Fills block `index` of the batch with as many cases of the row as fit, from case `first` on; returns how
 * many. */
unsigned directed_block(enum insn_id id, unsigned first, struct batch *batch, uint64_t index);

#endif
