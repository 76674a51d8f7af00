/* What a run tells the user on standard error. Parts and environments do not know the command that runs them; its name stands here. */
#ifndef EMU_SIM_TEXT_SAY_H
#define EMU_SIM_TEXT_SAY_H

#include <stdio.h>

/* Print a line: "croft run: TEXT" why a run stops, "croft run: warning: TEXT" what the user may not expect. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns the stream for these lines, and for longer reports: standard error, or the one that say_set() has set. */
FILE *say_stream(void);

/* Sets the stream for this thread, for programs that have several machines, each with a stream of its own; NULL: standard
 * error. Returns the one before, to be set again when the machine's work is done. */
FILE *say_set(FILE *stream);

#endif
