/* What a user may have meant who starts a program that cannot run, or without the machine that it is written for. */
#ifndef EMU_CMD_RUN_ADVICE_H
#define EMU_CMD_RUN_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/sim/error.h"

/* Adds to a message about the program's file, which begins with its path, what to do instead, if the file is missing, a source,
 * or a program of another kind. */
void advice_program(const char *path, struct error *err);

/* Returns whether the program uses the runtime of kernels for multiprocessors, but launches none. */
bool advice_lacks_launch(const char *path);

/* Returns whether the arguments of a program begin with an option that chooses one of the machines in `folder`. */
bool advice_is_machine(const char *const *arguments, size_t count, const char *folder);

#endif
