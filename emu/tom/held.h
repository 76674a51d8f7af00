/* Bytes of a packet that sends what registers hold, in place of whole registers (ours; TOM's registers have 4 bytes). */
#ifndef EMU_TOM_HELD_H
#define EMU_TOM_HELD_H

#include "emu/simt/warp.h"

/* Returns the bytes of the warp's registers in the set, for its lanes in `lanes`. A register whose values are equal, or grow by the same
 * number from lane to lane, takes a value of 8 bytes and that number of 8. Of another one, each lane takes 8 bytes, or 4 if the upper
 * half tells nothing: the value is a sign-extended word, or a single-precision number. A byte tells the kind, and for lanes of 4 or 8
 * bytes a mask of 4. */
uint32_t tom_held_bytes(const struct warp *warp, uint64_t registers, uint32_t lanes);

#endif
