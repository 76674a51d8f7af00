/* Checks of a run's machine before the run begins. */
#ifndef EMU_CMD_RUN_SETTING_H
#define EMU_CMD_RUN_SETTING_H

#include <limits.h>

#include "emu/machine/machine.h"

/* Warns on standard error of keys that are set but have no effect. user: the program runs without the
 * kernel. */
void setting_warn(const struct machine_config *machine, bool user);

/* Returns false, with err set, if the harts lack extensions that croft's own programs beside the user's need: its kernel, and
 * its firmware for accelerators. */
bool setting_isa(const struct machine_config *machine, bool kernel, bool firmware, struct error *err);

/* Writes the path of croft's own firmware for accelerators that take tasks. Returns false and sets err if it is missing. */
bool setting_own_firmware(char path[PATH_MAX], struct error *err);

/* Writes the path of the firmware for accelerators that take tasks: the given one, or croft's own except in
 * machine mode (`bare`); "" if there is none. Returns false and sets err if the given firmware cannot be used
 * or croft's own is missing. */
bool setting_firmware(const struct machine_config *machine, const char *given, bool bare, char path[PATH_MAX],
                      struct error *err);

#endif
