/* SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU end a run in order: with its statistics, its trace and a defined exit status.
 *
 * The first signal stops the run between two instructions. A second signal, at least a tenth of a second
 * later, ends the process at once. A signal that was ignored when croft started stays ignored.
 */
#ifndef EMU_CMD_RUN_INTERRUPT_H
#define EMU_CMD_RUN_INTERRUPT_H

#include <signal.h>

#include "emu/machine/system.h"

/* Points to the number of the signal that has arrived since interrupt_arm(); 0: none. */
const volatile sig_atomic_t *interrupt_arrived(void);

/* Makes the signals stop `system`. Only one run of the process at a time can be armed. */
void interrupt_arm(struct system *system);

/* Restores the signals. Call it after the run, before `system` is released. */
void interrupt_disarm(void);

#endif
