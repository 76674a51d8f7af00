/* SIGINT and SIGTERM end a run the normal way: with its statistics, its trace and an exit status of its own.
 *
 * The first signal stops the run between two instructions; a second one, a tenth of a second later or more,
 * ends the process at once. A signal that was ignored from the beginning stays so.
 */
#ifndef EMU_CMD_INTERRUPT_H
#define EMU_CMD_INTERRUPT_H

#include <signal.h>

#include "emu/machine/system.h"

/* 0, or the number of the signal that has arrived since interrupt_arm(). */
const volatile sig_atomic_t *interrupt_arrived(void);

/* From now on the signals stop the system. One run of the process at a time. */
void interrupt_arm(struct system *system);

/* To be called after the run, before what was armed is released. */
void interrupt_disarm(void);

#endif
