/* What the parts of TOM know of the machine around them (emu/schema/assembly.h). */
#ifndef EMU_TOM_SITE_H
#define EMU_TOM_SITE_H

#include "emu/schema/assembly.h"

/* Hooks of tom_unit_kind. tom_unit_plan() refuses a unit to which nothing sends blocks. tom_unit_place() leaves the unit out if
 * the machine has no multiprocessors. */
bool tom_unit_plan(const struct assembly *assembly, const struct instance *unit, struct error *err);
const void *tom_unit_place(const struct assembly *assembly, const struct instance *unit,
                           const struct mem_site *memory);

/* Hook of tom_kind. */
const void *tom_place(const struct assembly *assembly, const struct instance *tom,
                      const struct mem_site *memory);

#endif
