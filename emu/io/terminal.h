/* The user's terminal in raw mode, restored however croft ends. */
#ifndef EMU_IO_TERMINAL_H
#define EMU_IO_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

#include "emu/sim/error.h"

struct terminal {
    int file;
    struct termios saved;
    pid_t guard;    /* child that restores the terminal if croft dies without restoring it; at most 0: none */
    int guard_pipe; /* write end of the pipe that the guard reads; it closes when croft dies */
};

/* Puts the terminal `file` into raw mode: each byte arrives when it is typed, without echo, and no key sends
 * a signal. Output processing stays on. Undo with terminal_restore(). */
bool terminal_make_raw(struct terminal *terminal, int file, struct error *err);

void terminal_restore(struct terminal *terminal);

#endif
