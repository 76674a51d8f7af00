/* `croft cc --offload`: marks the candidates of a program by hints (tom.begin) and adds the table of candidates. */
#ifndef EMU_CMD_CC_OFFLOAD_H
#define EMU_CMD_CC_OFFLOAD_H

#include "emu/cmd/cc/units.h"

/* Compiles and links the user's command line. Returns the exit status, or -1 with err set. */
int cc_offload(const struct cc_units *units, unsigned address, bool held, struct error *err);

#endif
