/* What a barrier costs on this host. */
#ifndef EMU_MACHINE_STUDY_BARRIER_H
#define EMU_MACHINE_STUDY_BARRIER_H

/* Returns the time in ns in which two threads that run on two processors pass a barrier, at which they spin; NAN if the host
 * gives the process no second thread. Takes some milliseconds. */
double barrier_cost(void);

#endif
