/* The host's side of the guest's console: where characters come from and go to. */
#ifndef EMU_IO_CONSOLE_H
#define EMU_IO_CONSOLE_H

#include "emu/io/input_log.h"

/* Input is a terminal, which is put in raw mode (Ctrl-A x ends the run, Ctrl-A Ctrl-A sends Ctrl-A, Ctrl-A h
 * lists these), a file, or anything else that can be read, such as a pipe.
 *
 * The machine asks for a character at its poll points only: moments of the simulated run, such as the end of
 * each quantum, at which the guest waits for one (uart16550_waits(), htif_waits()). A file's bytes are always
 * there; their moments therefore depend on nothing but machine, program and file, and runs repeat to the
 * byte. So do those of a pipe (or socket, or device), which is read until it has something: then a guest that
 * waits stands still, with its clock, until the host's other end writes or closes. That holds also for one
 * that has merely looked in vain a few times, such as a boot loader that counts down, and one that would
 * first have answered: who converses with a guest, and writes only after having read, needs a terminal. At
 * each poll point one byte of a pipe is delivered.
 *
 * What comes from a terminal depends on the host's time, as does a pipe with `live`, and such a run is
 * repeated by recording and replaying it: a replayed byte is delivered at the poll point whose instruction
 * and tick counts are the recorded ones. */
struct console_options {
    int input;  /* file descriptor, or -1: there is no input. It stays open */
    int output; /* file descriptor, or -1: output is dropped. It stays open */
    bool live;  /* take from a pipe what is there at the moment, and never wait for it: for debuggers */
    const char *record;                     /* path of the file to write input to, or NULL */
    const char *replay;                     /* path of the file to take input from instead, or NULL */
    struct moment (*moment)(void *context); /* the present one, exact at poll points */
    void (*writes)(void *context);          /* output will be written to the host; or NULL */
    bool (*stops)(void *context);           /* the run ends: wait for nothing any more; or NULL */
    void *context;
};

struct console;

struct console *console_create(const struct console_options *options, struct error *err);

/* Writes what is buffered, restores the terminal, and closes the record. False when output or record are not
 * complete; the console is released in any case. NULL is allowed. */
bool console_close(struct console *console, struct error *err);

/* Outputs a byte. It reaches the host at the next console_poll(), console_wait() or console_close() at the
 * latest. */
void console_put(struct console *console, uint8_t byte);

/* The next byte of input, if there is one at this moment, which must be a poll point. Only for a guest that
 * waits: sleeps while a pipe that is not live has nothing. Signals end the process meanwhile as ever. */
bool console_get(struct console *console, uint8_t *byte);

/* Writes what is buffered. */
void console_flush(struct console *console);

enum console_state {
    CONSOLE_RUNNING,
    CONSOLE_QUIT,   /* the user has ended the run */
    CONSOLE_FAILED, /* err says why: output or input has failed, or the run is not the recorded one */
};

/* To be called at each poll point: looks after the host's side. Cheap when called often. */
enum console_state console_poll(struct console *console, struct error *err);

/* Sleeps until the host has input, for at most that many milliseconds (-1: without limit), when the guest
 * has nothing to do before. May return early, as when a signal arrives. False, at once, when no input will
 * ever come. Poll afterwards. */
bool console_wait(struct console *console, int milliseconds);

/* Like console_wait(), for a guest whose time stands still until it has a byte: a replay that has entries,
 * but none for this moment, can never deliver them, and fails. */
bool console_await(struct console *console, int milliseconds);

/* Whether a user can end the run: one who sits at a terminal, or whose session is replayed and goes on. */
bool console_interactive(const struct console *console);

/* The file descriptor on which console_wait() waits, or -1; for waiting on several things at once. After it
 * has become readable, call console_wait() with 0 milliseconds. */
int console_input(const struct console *console);

#endif
