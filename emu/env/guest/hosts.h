/* Threads of a program on several hosts, without the kernel, as host/kernel/hosts.h has them: Linux's clone starts a thread on
 * the first host without one, and fails with EAGAIN if there is none; a thread stays on its host; exit ends it, and the program
 * with the last one; threads wait for each other by futex. A host without a thread, or whose thread waits, sleeps
 * (system_suspend()). */
#ifndef EMU_ENV_GUEST_HOSTS_H
#define EMU_ENV_GUEST_HOSTS_H

#include "emu/env/guest/guest.h"

struct guest_hosts;

/* Makes the state of the system's hosts, of which the first has the program's first thread. The system must outlive it. Never
 * returns NULL. */
struct guest_hosts *guest_hosts_new(struct system *system);
void guest_hosts_free(struct guest_hosts *hosts); /* NULL is allowed */

/* Serves the call of the user's hart if it is about threads: clone, exit (but not the last thread's), futex, set_tid_address or
 * gettid. Returns false for any other. */
bool guest_hosts_serve(struct user *user);

/* Reports that all threads wait for each other, or sleep forever. Returns the exit status, 1. */
int guest_hosts_report(struct user *user);

#endif
