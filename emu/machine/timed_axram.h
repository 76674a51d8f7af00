/* The place of AxRAM's part (emu/axram/axram.h): what it is given of the machine. */
#ifndef EMU_MACHINE_TIMED_AXRAM_H
#define EMU_MACHINE_TIMED_AXRAM_H

#include "emu/mem/site.h"

struct timed;

const void *timed_axram_site(struct timed *timed, const struct mem_site *memory);

/* Prints what parts with a check have found. Returns the number of parts that have found something. */
unsigned timed_axram_findings(const struct timed *timed);

#endif
