/* Signals of croft experiment, taken between two steps of its work rather than in a handler. */
#ifndef EMU_EXPERIMENT_SIGNALS_H
#define EMU_EXPERIMENT_SIGNALS_H

/* Holds SIGINT, SIGTERM, SIGHUP and SIGQUIT (unless they were ignored) and SIGCHLD until signals_wait() takes them; ignores
 * SIGXFSZ, so that a file that may not grow is an error of write(). */
void signals_hold(void);

/* Gives a new child the signals as croft's caller had set them. */
void signals_child(void);

/* Waits until a child has ended, an ending signal arrives, or the time is over. */
void signals_wait(int milliseconds);

/* Returns the first ending signal that has arrived; 0: none. */
int signals_arrived(void);

#endif
