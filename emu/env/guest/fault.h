/* Reports that explain on standard error why a program cannot continue. */
#ifndef EMU_ENV_GUEST_FAULT_H
#define EMU_ENV_GUEST_FAULT_H

#include "emu/env/guest/guest.h"

/* Describes the trap at which the hart has stopped (not an environment call): the cause, the place, the
 * relevant registers and the callers. Returns the exit status: 128 + SIGILL, SIGTRAP or SIGSEGV, as on
 * Linux. */
int fault_report(struct user *user);

/* As fault_report(), for a trap at `pc` in a region that an accelerator executed; the hart's pc is at the
 * instruction that began the task. */
int fault_report_task(struct user *user, unsigned accelerator, uint64_t pc);

/* Reports that the program has ended itself by a signal. Returns the exit status, 128 + number. */
int fault_signal(struct user *user, int number);

/* Reports that a signal to the emulator has ended the run. Returns 128 + its number. */
int fault_interrupt(struct user *user);

/* Reports that the instruction limit has been reached. Returns USER_STATUS_LIMIT. */
int fault_limit(struct user *user);

/* Reports that the program sleeps beyond the end of simulated time. Returns 1. */
int fault_asleep(struct user *user, bool several);

/* Reports that the limit of simulated time has been reached. Returns USER_STATUS_LIMIT. */
int fault_time(struct user *user);

/* Reports that the store at `pc`, or the call there, has exceeded the limit of memory. Returns USER_STATUS_LIMIT. */
int fault_memory(struct user *user, uint64_t pc);

#endif
