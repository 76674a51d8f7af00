/* The progress line of a run: rewritten twice a second on a terminal and erased at the end.
 *
 * It never affects simulated results. It appears only on a terminal, so that log files do not contain it.
 */
#ifndef EMU_DEBUG_PROGRESS_H
#define EMU_DEBUG_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    PROGRESS_CALLS = 256,         /* calls of progress_tick() between two reads of the host's clock */
    PROGRESS_INTERVAL = 500000000 /* host ns between two updates of the line */
};

struct progress {
    uint32_t countdown;    /* calls until the next read of the clock; 0: no terminal */
    FILE *out;             /* NULL: no terminal */
    int width;             /* columns of the line on the screen; 0: no line */
    uint64_t due;          /* host time of the next update, ns */
    uint64_t since;        /* host time of the last update, ns */
    uint64_t instructions; /* instructions at the last update */
};

/* Prepares to show progress on `out` (standard error) if that is a terminal; otherwise all functions do
 * nothing. */
void progress_init(struct progress *progress, FILE *out);

/* Reads the host's clock and updates the line if it is due. Arguments as for progress_tick(). */
void progress_look(struct progress *progress, uint64_t now, uint64_t instructions);

/* Called by the run loop as often as it likes. `now`: simulated time in fs; `instructions`: total of all
 * harts. */
static inline void progress_tick(struct progress *progress, uint64_t now, uint64_t instructions)
{
    if (progress->countdown != 0 && --progress->countdown == 0)
        progress_look(progress, now, instructions);
}

/* Like progress_look(), with the host's time in ns given by the caller: for tests. */
void progress_update(struct progress *progress, uint64_t host, uint64_t now, uint64_t instructions);

/* Erases the line, before other output and at the end. The next update shows it again. */
void progress_hide(struct progress *progress);

#endif
