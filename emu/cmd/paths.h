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

/* Size of a text of --help in which "$DOC" has been replaced, with at most three long paths. */
enum { PATHS_TEXT = 16384 };

/* Writes a text of --help in which "$DOC" stands for the folder of README.md, isa/MANUAL.md and examples to expanded[size], or
 * prints it. */
void paths_expand(const char *text, char *expanded, size_t size);
void paths_print(const char *text);

#endif
