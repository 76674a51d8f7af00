/* Where the numbers of a part's energy accounts come from, as its description says. */
#ifndef EMU_MACHINE_SOURCES_H
#define EMU_MACHINE_SOURCES_H

#include "emu/schema/tree.h"

/* The part that accounts are opened for, with all parts below it. */
struct sources {
    const struct tree *tree;
    const struct instance *part;
};

/* For struct energy_sources, whose context is a struct sources: writes "energy_bit 7 pJ (--set)". The scope is the part's
 * name, and behind it names of parts below, whose fields are meant then; numbers and sections among them are passed over
 * ("simt.0.l1", "link.request"). */
void sources_of_field(const void *context, const char *scope, const char *field, char *buffer, size_t size);

#endif
