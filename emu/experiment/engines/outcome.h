/* The outcome of a run: its status, the texts that it printed, its statistics. */
#ifndef EMU_EXPERIMENT_ENGINES_OUTCOME_H
#define EMU_EXPERIMENT_ENGINES_OUTCOME_H

#include <stddef.h>
#include <stdio.h>

#include "emu/sim/error.h"

/* Text of a run, with a NUL after its last byte; bytes is NULL if there is none. */
struct outcome_text {
    char *bytes;
    size_t size;
};

enum outcome_stream { OUTCOME_OUTPUT, OUTCOME_MESSAGES, OUTCOME_STATISTICS, OUTCOME_STREAMS };

enum { OUTCOME_MOST = 64 << 20 }; /* bytes kept of what a run prints; if it prints more, half from each end */

struct outcome {
    int status; /* as of waitpid(); -1: the run could not be started */
    double seconds;
    long memory; /* the largest resident set, in KiB */
    struct outcome_text streams[OUTCOME_STREAMS];
};

/* Reads an open file from its beginning into *text. Returns false and sets err on failure. */
bool outcome_read(int file, size_t most, struct outcome_text *text, struct error *err);

/* Returns one line about the failure of a run or of a compiler, which the caller frees: how it ended, and the line of its messages
 * that says why, or the last one. NULL: it succeeded. */
char *outcome_failure(const struct outcome *outcome, bool compiler);

void outcome_free(struct outcome *outcome);

#endif
