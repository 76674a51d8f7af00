/* Dotted names, such as accel.3.l1d.size: their components. */
#ifndef EMU_SCHEMA_DOTTED_H
#define EMU_SCHEMA_DOTTED_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the length of a dotted name's first component. */
size_t name_length(const char *name);

/* Returns a dotted name without its first component; "" if it has only one. */
const char *name_behind(const char *name);

/* Returns true if the name's first component is a number or `*`. */
bool name_is_index(const char *name);

/* Returns true if the name's first component is the word. */
bool name_begins(const char *name, const char *word);

#endif
