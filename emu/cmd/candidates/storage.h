/* The storage that tables of mechanisms take in a machine. */
#ifndef EMU_CMD_CANDIDATES_STORAGE_H
#define EMU_CMD_CANDIDATES_STORAGE_H

#include <stdbool.h>

#include "emu/sim/error.h"

/* Prints the bits of these tables in a machine (a name or a file), beside what papers count. Fails if the machine cannot be
 * read, or lacks a mechanism that has such tables. */
bool candidates_print_storage(const char *machine, struct error *err);

#endif
