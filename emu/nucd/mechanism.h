/* NUCD as the mechanism of a timed machine's cores. */
#ifndef EMU_NUCD_MECHANISM_H
#define EMU_NUCD_MECHANISM_H

#include "emu/core/mechanism.h"

struct nucd;

/* Returns the mechanism. NULL: there is none. */
struct core_mechanism nucd_mechanism(struct nucd *nucd);

#endif
