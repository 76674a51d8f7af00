/* The flow between a region's blocks: where its budget is checked, and its small loops. */
#ifndef EMU_JIT_REGION_FLOW_H
#define EMU_JIT_REGION_FLOW_H

#include "emu/jit/region.h"

struct hart;

/* Marks the heads and loops of a region with its entries. */
void flow_mark(struct region *region, const struct hart *hart);

#endif
