/* The host's side of the guest's console: sources of input and the destination of output. */
#ifndef EMU_IO_CONSOLE_H
#define EMU_IO_CONSOLE_H

#include "emu/io/input_log.h"

/* Input is a terminal, a file, or anything else that can be read, such as a pipe. A terminal is put in raw
 * mode; Ctrl-A x ends the run, Ctrl-A Ctrl-A sends Ctrl-A, Ctrl-A h lists these keys.
 *
 * The machine requests a byte only at its poll points: moments of the simulated run, such as the end of each
 * quantum, at which the guest waits for a byte (uart16550_waits(), htif_waits()) or asks for one (uart16550_asks()).
 *
 * A file's bytes are always available. The moments at which they are delivered therefore depend only on
 * machine, program and file, and runs repeat exactly. The same holds for a pipe (or socket, or device): while
 * it is empty, a guest that asks for a byte stands still, with its clock, until the other end writes or closes.
 * At each poll point, one byte of a pipe is delivered.
 *
 * A pipe may stay open and never send anything, and a guest that waits may have no interest in a byte, such as a kernel
 * that has opened the port. Until the pipe's first byte, such a guest (console_offer()) therefore goes on. It gets a byte, or
 * stands still, when nothing but input can happen in it, or when it has printed nothing for `patience`. After the
 * first byte, a guest that waits counts as one that asks, also if it would print an answer first: a host program that writes
 * again only after it has read the guest's output needs a terminal.
 *
 * Input from a terminal depends on host time, as does a pipe with `live`. Record and replay such a run to
 * repeat it: a replayed byte is delivered at the poll point with the recorded instruction and tick counts. */
struct console_options {
    int input;                              /* file descriptor, stays open; -1: no input */
    int output;                             /* file descriptor, stays open; -1: output is dropped */
    bool live;                              /* for debuggers: take what a pipe holds, without waiting */
    uint64_t patience;                      /* ticks without output, see above */
    const char *record;                     /* path of the file to which input is recorded, or NULL */
    const char *replay;                     /* path of the file that replaces input, or NULL */
    struct moment (*moment)(void *context); /* returns the current moment, exact at poll points */
    void (*writes)(void *context);          /* called before output is written to the host; or NULL */
    bool (*stops)(void *context);           /* returns true when the run ends: stop waiting; or NULL */
    void *context;
};

struct console;

struct console *console_new(const struct console_options *options, struct error *err);

/* Writes the buffered output, restores the terminal, and closes the record. Returns false and sets err if
 * output or record are incomplete. Releases the console in any case. NULL is allowed. */
bool console_close(struct console *console, struct error *err);

/* Outputs a byte. It reaches the host at the next console_poll(), console_wait() or console_close() at the
 * latest. */
void console_put(struct console *console, uint8_t byte);

/* Takes the next byte of input. Returns false if there is none at this moment, which must be a poll point.
 * Call it only for a guest that asks: it sleeps while a pipe (not `live`) is empty, and warns once if that takes
 * ten seconds. Signals still end the process meanwhile. */
bool console_get(struct console *console, uint8_t *byte);

/* As console_get(), for a guest that waits but does not ask: returns false at once while a pipe is not to be waited for. */
bool console_offer(struct console *console, uint8_t *byte);

/* Writes the buffered output. */
void console_flush(struct console *console);

enum console_state {
    CONSOLE_RUNNING,
    CONSOLE_QUIT,   /* the user ended the run */
    CONSOLE_FAILED, /* output or input failed, or the run differs from the recorded one: see err */
};

/* Writes output and checks the host for input; call it at each poll point. Most calls return at once. */
enum console_state console_poll(struct console *console, struct error *err);

/* Sleeps until the host has input, for at most `milliseconds` (-1: no limit); call it while the guest is
 * idle. May return early, for example when a signal arrives. Returns false at once if no input will ever
 * come. Call console_poll() afterwards. */
bool console_wait(struct console *console, int milliseconds);

/* As console_wait(), for a guest whose time stands still until it gets a byte. A replay fails if it has
 * entries left but none for this moment, because it can never deliver them. */
bool console_await(struct console *console, int milliseconds);

/* Returns whether a user can end the run: a user at a terminal, or a replayed session with entries left. */
bool console_interactive(const struct console *console);

/* Returns the file descriptor on which console_wait() waits, or -1, for waiting on several descriptors at
 * once. When it is readable, call console_wait() with 0 milliseconds. */
int console_input(const struct console *console);

#endif
