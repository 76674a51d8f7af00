/* Parts of warps that are executed elsewhere: the lanes that stand at one instruction, with some of their registers, continue
 * as a warp of its own, and its results come back. */
#ifndef EMU_SIMT_WARP_LEND_H
#define EMU_SIMT_WARP_LEND_H

#include "emu/simt/warp.h"

/* Sets of registers have bits 0 to 31 for integer and 32 to 63 for floating-point registers. */
#define WARP_ALL_REGISTERS UINT64_MAX

/* Returns the lanes that stand at the instruction of the warp that is next, and stores its address; 0: there is none. */
uint32_t warp_group(struct warp *warp, uint64_t *pc);

/* Makes `to` a warp of the lanes that warp_group() has returned for `from`, at the same place of the grid and at the same
 * instruction, with the registers in `in`, frm and the scratchpad. All other registers and fflags are 0. Both are warps of
 * one memory. */
void warp_lend(struct warp *to, struct warp *from, uint64_t in);

/* Copies the registers in `out` of those lanes back, adds the fflags, and makes the lanes continue at pc. Nothing was
 * executed in `to` since warp_lend(). */
void warp_take_back(struct warp *to, const struct warp *from, uint32_t lanes, uint64_t out, uint64_t pc);

/* Ends the lanes that stand at the instruction that is next, if its address is pc, and keeps their registers for
 * warp_take_back(). Returns them. */
uint32_t warp_arrive(struct warp *warp, uint64_t pc);

#endif
