/* The result of one instruction as a sum. */
#ifndef EMU_ANALYSIS_TILES_EVALUATE_H
#define EMU_ANALYSIS_TILES_EVALUATE_H

#include "emu/analysis/flow/cfg.h"
#include "emu/analysis/tiles/sums.h"

/* Returns what an instruction that accesses no memory writes to its register, from its operands (rs1, rs2); SUM_UNKNOWN: it is
 * no sum of them. */
int evaluate(struct sums *sums, const struct cfg_insn *insn, int a, int b);

#endif
