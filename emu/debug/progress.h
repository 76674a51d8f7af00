/* How far a run is: one line on a terminal, rewritten twice a second and gone at the end.
 *
 * Nothing that is simulated sees it. It appears only on a terminal, so that logs stay as they are.
 */
#ifndef EMU_DEBUG_PROGRESS_H
#define EMU_DEBUG_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    PROGRESS_CALLS = 256,         /* of progress_tick() between two looks at the host's clock */
    PROGRESS_INTERVAL = 500000000 /* ns of the host between two lines */
};

struct progress {
    uint32_t countdown;    /* calls until the next look; 0: there is no terminal */
    FILE *out;             /* NULL: likewise */
    int width;             /* columns that the line has now; 0: it is not there */
    uint64_t due;          /* host ns */
    uint64_t since;        /* host ns when `instructions` were counted */
    uint64_t instructions; /* when the line was written last */
};

/* Ready to show progress on `out` (standard error), if that is a terminal. */
void progress_init(struct progress *progress, FILE *out);

/* Looks at the host's clock, and writes the line if it is time. */
void progress_look(struct progress *progress, uint64_t now, uint64_t instructions);

/* To be called by the run loop as often as it likes: simulated time in fs, and instructions of all harts so
 * far. */
static inline void progress_tick(struct progress *progress, uint64_t now, uint64_t instructions)
{
    if (progress->countdown != 0 && --progress->countdown == 0)
        progress_look(progress, now, instructions);
}

/* The same with the host's time given: for tests, and for loops that know it. */
void progress_update(struct progress *progress, uint64_t host, uint64_t now, uint64_t instructions);

/* Takes the line away: before something else is printed, and at the end. It comes back when it is due. */
void progress_hide(struct progress *progress);

#endif
