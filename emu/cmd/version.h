/* The version of croft. */
#ifndef EMU_CMD_VERSION_H
#define EMU_CMD_VERSION_H

#define CROFT_VERSION "0.1.0"

#endif
