/* Where croft's own files are: share/croft beside the bin folder of the running executable. */
#ifndef EMU_CMD_PATHS_H
#define EMU_CMD_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/sim/error.h"

/* Writes the path of `name` in the data folder (DIR/bin/croft uses DIR/share/croft, in the build folder as
 * after an installation) to path[size]. Fails when the executable cannot be located, nothing of that name
 * exists, or the path does not fit. */
bool paths_share(const char *name, char *path, size_t size, struct error *err);

#endif
