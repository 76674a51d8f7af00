/* Finds the --set option that makes a description fail. */
#ifndef EMU_SCHEMA_BLAME_H
#define EMU_SCHEMA_BLAME_H

#include <stddef.h>

#include "emu/sim/error.h"

/* Loads a description with some of the settings NAME=VALUE, and forgets it. Returns false and sets err if it fails. */
typedef bool blame_load(void *context, const char *const *sets, size_t count, struct error *err);

/* Prefixes the message `err` of a description that fails with "--set 'NAME=VALUE'" if that setting is the reason: without it, the
 * description loads, or fails for another reason. A message that names the key of a setting stays as it is. Returns false. */
bool blame_setting(const char *const *sets, size_t count, blame_load *load, void *context, struct error *err);

#endif
