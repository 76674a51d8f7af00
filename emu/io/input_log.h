/* Recorded console input: each byte, and the moment at which the guest received it. */
#ifndef EMU_IO_INPUT_LOG_H
#define EMU_IO_INPUT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/sim/error.h"

/* A moment of the simulated run. Neither count ever decreases. */
struct moment {
    uint64_t instructions; /* retired by all harts */
    uint64_t ticks;        /* 10 MHz */
};

enum { INPUT_END = -1 }; /* in place of a byte: the user ended the run */

/* The file is text. Its first line is `croft input 1`. Each further line is INSTRUCTIONS TICKS WHAT: two
 * decimal numbers, and a byte as two hexadecimal digits or `end`. Moments never decrease from line to
 * line. */
struct input_record;
struct input_replay;

/* Creates the file at `path`. Close it with input_record_close(). */
struct input_record *input_record_open(const char *path, struct error *err);
void input_record_add(struct input_record *record, struct moment at, int what);

/* Returns false and sets err if something could not be written. NULL is allowed and succeeds. */
bool input_record_close(struct input_record *record, struct error *err);

/* Reads the whole file at `path`; messages name the line. Release with input_replay_free(). */
struct input_replay *input_replay_open(const char *path, struct error *err);
void input_replay_free(struct input_replay *replay);

/* Returns the next entry without consuming it; false at the end. input_replay_next() consumes it. */
bool input_replay_peek(const struct input_replay *replay, struct moment *at, int *what);
void input_replay_next(struct input_replay *replay);

#endif
