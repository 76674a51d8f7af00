/* Reports about a program that cannot go on. */
#ifndef EMU_ENV_FAULT_H
#define EMU_ENV_FAULT_H

#include "emu/env/guest.h"

/* Describes the trap that the hart has stopped at (not an environment call) on standard error: what happened,
 * where, the registers that matter, who called. Returns the exit status: 128 + SIGILL, SIGTRAP or SIGSEGV, as
 * on Linux. */
int fault_report(struct user *user);

/* The same for a trap in a region that an accelerator has executed, at pc; the hart is at its nucd. */
int fault_report_task(struct user *user, unsigned accelerator, uint64_t pc);

/* Reports that the program has sent itself a deadly signal. Returns the exit status, 128 + number. */
int fault_signal(struct user *user, int number);

/* Reports that a signal to the emulator ends the run. Returns 128 + its number. */
int fault_interrupt(struct user *user);

/* Reports that the instruction limit is reached. Returns USER_STATUS_LIMIT. */
int fault_limit(struct user *user);

/* Reports that the program sleeps beyond the end of simulated time. Returns 1. */
int fault_asleep(struct user *user);

/* Reports that the limit of simulated time is reached. Returns USER_STATUS_LIMIT. */
int fault_time(struct user *user);

#endif
