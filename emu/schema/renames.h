/* Keys of older descriptions: one table for the messages about them and for rewriting a file. */
#ifndef EMU_SCHEMA_RENAMES_H
#define EMU_SCHEMA_RENAMES_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/sim/error.h"

/* Whether the dotted name, which has no numbers, is such a key; the message then says what to write. */
bool renames_explain(const char *name, struct error *err);

/* Whether the dotted name, at the top of a machine without a part of that name, is that of a part that has another name. */
bool renames_moved(const char *name, struct error *err);

/* Writes the description in the file at path with today's keys, in the same order, as YAML; comments are not kept. What it
 * extends is not read. A file without such a key keeps its meaning. False with a message when it is no description. */
bool renames_migrate(const char *path, FILE *out, struct error *err);

#endif
