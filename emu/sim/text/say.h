/* What a run tells the user on standard error. Parts and environments do not know the command that runs them; its name stands here. */
#ifndef EMU_SIM_TEXT_SAY_H
#define EMU_SIM_TEXT_SAY_H

/* Print a line: "croft run: TEXT" why a run stops, "croft run: warning: TEXT" what the user may not expect. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
