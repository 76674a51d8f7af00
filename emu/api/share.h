/* Where croft's files are, for the library. */
#ifndef EMU_API_SHARE_H
#define EMU_API_SHARE_H

#include <limits.h>
#include <stdbool.h>

#include "emu/sim/error.h"

/* Writes the path of `name` in croft's folder of files: `share`, or, if that is NULL, share/croft beside the folder of the library,
 * or of the program that has it in itself. False with err set if it is not there. */
bool share_find(const char *share, const char *name, char path[PATH_MAX], struct error *err);

#endif
