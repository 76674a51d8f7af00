/* Construction parameters of TOM's parts in a timed machine (emu/tom/tom.h). */
#ifndef EMU_MACHINE_TIMED_TOM_H
#define EMU_MACHINE_TIMED_TOM_H

#include "emu/mem/site.h"
#include "emu/schema/tree.h"

struct timed;

/* For timed_build.c: return the construction parameters of a part, which belong to the machine. Of a unit, NULL: it is
 * left out, because the machine has no multiprocessors. */
const void *timed_tom_site(struct timed *timed, const struct mem_site *memory);
const void *timed_tom_unit_site(struct timed *timed, const struct instance *instance,
                                const struct mem_site *memory);

/* Tells TOM's parts that the program has allocated [base, base + bytes), or, if bytes is 0, that it has freed
 * the allocation that begins at base. */
void timed_tom_allocated(const struct timed *timed, uint64_t base, uint64_t bytes);

/* Tells TOM's parts that the run has ended. */
void timed_tom_finish(const struct timed *timed);

/* Prints what --check coherence has found between multiprocessors. Returns the number of parts with findings. */
unsigned timed_tom_findings(const struct timed *timed);

#endif
