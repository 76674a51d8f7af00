/* Functions that code outside of a graph may call. */
#ifndef EMU_CMD_CODE_EXPOSED_H
#define EMU_CMD_CODE_EXPOSED_H

#include "emu/analysis/flow/cfg.h"
#include "emu/cmd/code/program.h"

/* Sets `exposed` of the graph's functions: those that code outside of it jumps to, and those whose address some code or data may
 * name. If the graph has no call and no jump to unknown code, nothing outside runs, and none is exposed. */
void program_mark_exposed(struct program *program, const struct decoder *decoder, struct cfg *cfg);

#endif
