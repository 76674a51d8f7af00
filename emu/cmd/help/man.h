/* Manual pages in the macros of man(7), from the tables that --help prints. */
#ifndef EMU_CMD_HELP_MAN_H
#define EMU_CMD_HELP_MAN_H

#include "emu/cmd/cmd.h"

/* Print croft(1), and the page of one command, croft-NAME(1), to standard output. */
void man_croft(const struct command *commands, size_t count);
void man_command(const struct command *command);

#endif
