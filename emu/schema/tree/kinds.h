/* The kinds of parts that a description can name, and the keys of each. */
#ifndef EMU_SCHEMA_TREE_KINDS_H
#define EMU_SCHEMA_TREE_KINDS_H

#include "emu/schema/tree.h"
#include "emu/sim/text/nearest.h"

/* Finds a kind that the key `kind` can name. NULL when there is none. */
const struct part_kind *tree_kind(const struct tree *tree, const char *name);

/* Writes the names of all kinds, and which of them is nearest to a wrong name. */
enum { TREE_KINDS = 512 };
void tree_kinds(const struct tree *tree, const char *wrong, char names[TREE_KINDS],
                struct nearest_hint *hint);

/* Returns true if the name is a field, a port or a section of the kind. */
bool kind_has_key(const struct part_kind *kind, const char *name);

/* Lists the names that can stand directly in a mapping of the kind. role NULL: a custom part. */
void kind_members(const struct part_kind *kind, const struct part_role *role, char *buffer, size_t size);

/* Sets the message for a part's name that was given a value. Returns false. */
bool tree_not_a_value(const struct part_kind *kind, const char *name, struct error *err);

#endif
