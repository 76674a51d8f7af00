/* Files that appear whole: written beside their place, which they take when they are complete. Until then, and if they are
 * dropped, an older file stays as it is. For results; logs, traces and records of input are written in place as they grow,
 * because users follow them. */
#ifndef EMU_IO_OUTPUT_H
#define EMU_IO_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/sim/error.h"

struct output;

/* Returns whether a file can be written, for errors in a path to be reported before a long run. Sets *created if this has
 * made an empty file. On false, err is set as by output_open(). An older file is not changed. */
bool output_try(const char *path, bool *created, struct error *err);

/* Opens a file for writing. A place that is a device, a pipe, a link to nothing, one of several names of a file, or in a folder
 * that takes no new files is written directly. Returns NULL with err set, as "cannot write 'PATH': REASON". End with output_keep() or output_drop(). */
struct output *output_open(const char *path, struct error *err);

FILE *output_stream(const struct output *output);

/* Closes the file and puts it in its place. Returns false with err set, as "writing 'PATH' failed: REASON", if any byte could
 * not be written; then the older file stays. */
bool output_keep(struct output *output, struct error *err);

/* Closes and removes the file. Accepts NULL. */
void output_drop(struct output *output);

#endif
