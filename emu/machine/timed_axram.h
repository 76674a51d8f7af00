/* Construction parameters of AxRAM's part in a timed machine (emu/axram/axram.h). */
#ifndef EMU_MACHINE_TIMED_AXRAM_H
#define EMU_MACHINE_TIMED_AXRAM_H

#include "emu/mem/site.h"

struct timed;

/* For timed_build.c: returns the part's struct axram_site, which belongs to the machine. */
const void *timed_axram_site(struct timed *timed, const struct mem_site *memory);

/* Prints the findings of --check coherence in AxRAM's parts. Returns the number of parts with findings. */
unsigned timed_axram_findings(const struct timed *timed);

#endif
