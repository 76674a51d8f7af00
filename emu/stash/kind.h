/* The part kind `stash`: puts a stash in the place of the scratchpad of each multiprocessor of the machine (README.md). */
#ifndef EMU_STASH_KIND_H
#define EMU_STASH_KIND_H

#include "emu/sim/part.h"
#include "emu/stash/stash.h"

extern const struct part_kind stash_kind;

#endif
