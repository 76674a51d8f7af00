/* Where exits of blocks lead: blocks of the hart, and of a region (region_find(), region_target() in emu/jit/region.h). */
#ifndef EMU_JIT_REGION_TARGETS_H
#define EMU_JIT_REGION_TARGETS_H

#include <stdint.h>

#include "emu/hart/exec/op.h"

struct hart;

/* Returns the number of the hart's block to which an exit to `to` leads, also one on another page, or UINT32_MAX. */
uint32_t targets_block(const struct hart *hart, const union op *to);

#endif
