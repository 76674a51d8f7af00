/* Completion of command lines for shells: croft.bash and _croft in this folder ask `croft complete`. */
#ifndef EMU_CMD_HELP_COMPLETE_H
#define EMU_CMD_HELP_COMPLETE_H

#include "emu/cmd/cmd.h"

/* Prints what the last of the words behind `croft` can become, a line each: the word, a tab, and its meaning. The lines
 * "<file>" and "<folder>" stand for names of files and folders. Prints nothing for what it does not know. Returns 0. */
int complete(const struct command *commands, size_t command_count, int count, char **words);

#endif
