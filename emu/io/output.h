/* Files that appear whole: each is written to a file beside its place, which is renamed to the place when it is complete. Until
 * then, and if it is dropped, an older file stays as it is. For results; logs, traces and records of input are written in place
 * as they grow, because users follow them. */
#ifndef EMU_IO_OUTPUT_H
#define EMU_IO_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/sim/error.h"

struct output;

/* Returns whether a file can be written, so that errors in a path are reported before a long run. *created tells whether this
 * made an empty file. If false, sets err as output_open() does. An older file is not changed. */
bool output_try(const char *path, bool *created, struct error *err);

/* Opens a file for writing. A place that is a device, a pipe, a link to nothing or one of several names of a file, or that is in
 * a folder in which no file can be created, is written directly. Returns NULL with err set, as "cannot write 'PATH': REASON".
 * Release with output_keep() or output_drop(). */
struct output *output_open(const char *path, struct error *err);

FILE *output_stream(const struct output *output);

/* Closes the file, renames it to its place, and frees output. Returns false with err set, as "writing 'PATH' failed: REASON", if
 * any byte could not be written; then an older file stays, unless it was written directly. */
bool output_keep(struct output *output, struct error *err);

/* Closes the file, removes it unless it was written directly, and frees output. Accepts NULL. */
void output_drop(struct output *output);

#endif
