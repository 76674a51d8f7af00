/* Origins of the values that a part's energy accounts use: the description, --set or the default. */
#ifndef EMU_MACHINE_DESCRIBE_SOURCES_H
#define EMU_MACHINE_DESCRIBE_SOURCES_H

#include "emu/schema/tree.h"

/* The part that accounts are opened for, with all parts below it. */
struct sources {
    const struct tree *tree;
    const struct instance *part;
};

/* For struct energy_sources, whose context is a struct sources: writes a field's value and origin to
 * buffer[size], for example "energy_bit 7 pJ (--set)". The scope is the part's name, which names of parts
 * below it may follow; the field is that of the last part named. Numbers and sections in the scope are
 * ignored ("simt.0.l1", "link.request"). */
void sources_of_field(const void *context, const char *scope, const char *field, char *buffer, size_t size);

#endif
