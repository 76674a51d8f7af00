/* Host threads that do parts of a piece of work at the same time. */
#ifndef EMU_SIM_THREADS_WORKERS_H
#define EMU_SIM_THREADS_WORKERS_H

#include "emu/sim/error.h"

struct workers;

/* Starts count - 1 threads. Returns NULL with err set if the host cannot. workers_free() ends them; it accepts NULL. */
struct workers *workers_new(unsigned count, void (*work)(void *context, unsigned number), void *context,
                            struct error *err);
void workers_free(struct workers *workers);

/* Calls work(context, i) for each i below count: for 0 on this thread, for the others on theirs. Returns when all have returned; all
 * that was done before is seen by each, and this thread sees all that they have done. Threads wait for the next call awake for a
 * short time, then asleep. */
void workers_run(struct workers *workers);

#endif
