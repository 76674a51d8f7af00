/* Finds croft's own files: they are in share/croft, beside the bin folder of the running executable, and those that users read
 * in share/doc/croft. */
#ifndef EMU_CMD_PATHS_H
#define EMU_CMD_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/sim/error.h"

/* Writes the path of `name` in the data folder to path[size]. DIR/bin/croft uses DIR/share/croft, in the
 * build folder and after an installation. Returns false and sets err if the executable cannot be located,
 * `name` does not exist, or the path does not fit. */
bool paths_share(const char *name, char *path, size_t size, struct error *err);

/* Prints a text of --help in which "$DOC" stands for the folder of README.md, isa/MANUAL.md and examples. */
void paths_print(const char *text);

#endif
