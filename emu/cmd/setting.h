/* What a run needs to know of its machine before it begins. */
#ifndef EMU_CMD_SETTING_H
#define EMU_CMD_SETTING_H

#include <limits.h>

#include "emu/machine/machine.h"

/* Warns on standard error of keys that were set and do nothing. user: the program runs without the kernel. */
void setting_warn(const struct machine_config *machine, bool user);

/* The firmware of accelerators that take tasks: the given one, or croft's own unless the run is in machine mode. ""
 * if there is none. */
bool setting_firmware(const struct machine_config *machine, const char *given, bool bare, char path[PATH_MAX],
                      struct error *err);

#endif
