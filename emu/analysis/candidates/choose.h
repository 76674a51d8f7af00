/* The choice among the blocks that candidates_of() has found. */
#ifndef EMU_ANALYSIS_CANDIDATES_CHOOSE_H
#define EMU_ANALYSIS_CANDIDATES_CHOOSE_H

#include "emu/analysis/candidates.h"

enum { CANDIDATE_INSNS = 1024 }; /* most instructions of a block */

/* Keeps those that candidates_of() returns: none that overlap, `most` at most, ordered by `begin`. Sets left_out. */
void candidates_choose(struct candidates *found, const struct cfg *cfg, size_t most);

/* Sets in[] of the instructions of all candidates. */
void candidates_mark(const struct candidates *found, const struct cfg *cfg, bool *in);

#endif
