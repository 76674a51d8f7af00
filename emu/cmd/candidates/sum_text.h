/* Sums of an analysis (emu/analysis/tiles/sums.h) as text, in the names of croft/simt.h. */
#ifndef EMU_CMD_CANDIDATES_SUM_TEXT_H
#define EMU_CMD_CANDIDATES_SUM_TEXT_H

#include "emu/analysis/flow/function.h"
#include "emu/analysis/tiles/sums.h"
#include "emu/cmd/code/program.h"

struct sum_names {
    struct program *program;
    const struct function *function;
    const struct sums *sums;
};

/* Writes a sum: [x] is what memory holds at x, a0 what the register holds where the function begins, round(FILE:LINE) how often the loop's body
 * has been executed before. Addresses of objects are their names. SUM_UNKNOWN is "?". */
void sum_text(const struct sum_names *names, int sum, char *text, size_t size);

/* Writes the source line of a loop. */
void sum_loop_text(const struct sum_names *names, int loop, char *text, size_t size);

#endif
