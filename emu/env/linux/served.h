/* The servers of calls.def. */
#ifndef EMU_ENV_LINUX_SERVED_H
#define EMU_ENV_LINUX_SERVED_H

#include "emu/env/linux/state.h"

/* A call of a thread; a[0..5] are its arguments. Returns the result or -errno, LINUX_WAITS, LINUX_RETURNS or LINUX_TURNS. */
#define OWN(name) int64_t linux_##name(struct process *process, struct thread *thread, const uint64_t a[6]);
#define USER(name)
#define GIVES(value)
#define LINUX_CALL(number, name, state, server, meaning) server
#include "emu/env/linux/calls.def"
#undef LINUX_CALL
#undef GIVES
#undef USER
#undef OWN

/* Numbers of the calls. */
enum linux_call_number {
#define LINUX_CALL(number, name, ...) LINUX_CALL_##name = (number),
#include "emu/env/linux/calls.def"
#undef LINUX_CALL
};

#endif
