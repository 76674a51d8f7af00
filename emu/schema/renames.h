/* Obsolete keys of descriptions: one table for the messages about them, in machines and experiments, and for
 * rewriting files. */
#ifndef EMU_SCHEMA_RENAMES_H
#define EMU_SCHEMA_RENAMES_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/sim/error.h"

/* Returns true if the dotted name, without copy numbers, is an obsolete key; err then tells what to write
 * instead. */
bool renames_explain(const char *name, struct error *err);

/* Returns the part whose presence this obsolete key controlled, or NULL. */
const char *renames_presence(const char *name);

/* Returns true if the dotted name is the obsolete name of a part; err then tells the new name. Call it only
 * for a name at the top level of a machine that has no part of that name. */
bool renames_moved(const char *name, struct error *err);

/* Writes the description in the file at path as YAML with current keys, in the same order. Comments stay; one
 * after a key, on its line, moves to the line above. A comment also names each key that is left out and the
 * reason. Does not read the description that it extends. A file without obsolete keys keeps its meaning.
 * False with err set when the file cannot be read or is not a description. */
bool renames_migrate(const char *path, FILE *out, struct error *err);

#endif
