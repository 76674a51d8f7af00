/* The storage that TOM takes in a machine. */
#ifndef EMU_CMD_CANDIDATES_STORAGE_H
#define EMU_CMD_CANDIDATES_STORAGE_H

#include <stdbool.h>

#include "emu/sim/error.h"

/* Prints the bits of TOM's tables in a machine (a name or a file), beside what the paper counts (TOM 6.6). Fails if the machine
 * cannot be read, or has no part of kind tom or tom_unit. */
bool candidates_print_storage(const char *machine, struct error *err);

#endif
