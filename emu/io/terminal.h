/* The user's terminal in raw mode, and its way back whatever happens to us. */
#ifndef EMU_IO_TERMINAL_H
#define EMU_IO_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

#include "emu/sim/error.h"

struct terminal {
    int file;
    struct termios saved;
    pid_t guard; /* a child that restores the terminal when we die without having done so; else at most 0 */
    int guard_pipe; /* whose other end the guard reads: it closes when we die, by whatever cause */
};

/* Puts the terminal behind `file` in raw mode: each byte arrives as it is typed, unechoed, and no key is a
 * signal. Output keeps its processing. Undo with terminal_restore(). */
bool terminal_make_raw(struct terminal *terminal, int file, struct error *err);

void terminal_restore(struct terminal *terminal);

#endif
