/* How the fields of parts' configurations become keys of a section and back; for the files parts*.c only. */
#ifndef EMU_MACHINE_PARTS_FIELD_H
#define EMU_MACHINE_PARTS_FIELD_H

#include <stddef.h>

#include "emu/machine/machine.h"

/* A field of a part's configuration, described by the key of the same name in the part's section. */
struct parts_field {
    const char *name;
    size_t offset, size;
};

/* Of struct cache_config, llc_config and crossbar_config; NULL names end them. */
extern const struct parts_field parts_l1_fields[], parts_llc_fields[], parts_crossbar_fields[];

/* Fills the fields of a part from the keys of its section. */
void parts_fill(const struct machine_config *config, const char *section, const struct parts_field *fields,
                void *part);

/* Gives the automatic keys of a section their values from the part's fields. */
void parts_draw(struct machine_config *config, const char *section, const struct parts_field *fields,
                const void *part);

#endif
