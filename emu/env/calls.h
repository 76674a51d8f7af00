/* The system calls of the `user` environment. */
#ifndef EMU_ENV_CALLS_H
#define EMU_ENV_CALLS_H

#include <stdint.h>

#include "emu/env/guest/guest.h"

/* Serves the call that the guest has just made (number in a7, arguments in a0-a5). Returns the value for a0:
 * the result or -errno. May end the program. An unknown call returns -ENOSYS; each unknown number is warned
 * about once. The calls that launch threads are threads_call()'s (threads.h), which calls this function. */
int64_t calls_serve(struct user *user);

#endif
