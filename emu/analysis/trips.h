/* How often a loop's body is executed each time that the loop is entered.
 *
 * The count is found for loops with one exit, a branch that compares a register with one that the loop does not change,
 * where the loop adds a constant to the first one once in each round, before the branch. With D = limit - start
 * (start - limit, if the constant is negative), and s the size of the constant, the body is executed at least n times
 * (n > 1) exactly if
 *
 *   the loop goes on while they differ:          D >= n * s      (D is a multiple of s)
 *   while the first one is less (greater):       D >= (n - 1) * s + 1
 *   while it is less or equal (greater, equal):  D >= (n - 1) * s
 *
 * Comparisons are treated as signed, and as free of overflow. Compilers compare pointers in this way where programs count. */
#ifndef EMU_ANALYSIS_TRIPS_H
#define EMU_ANALYSIS_TRIPS_H

#include "emu/analysis/flow/function.h"

enum trip_kind {
    TRIP_UNKNOWN, /* not known when the loop is entered */
    TRIP_STATIC,  /* a constant in the code */
    TRIP_KNOWN,   /* known from registers when the loop is entered */
};

struct trip {
    enum trip_kind kind;
    uint64_t count; /* if TRIP_STATIC; at least 1 */
    /* if TRIP_KNOWN: D is minuend - subtrahend, each a register, or REGISTER_NONE for 0 */
    uint8_t minuend, subtrahend;
    uint64_t step; /* s */
    int64_t first; /* D >= first + n * s */
};

/* Returns the trip count of a loop of the function. */
struct trip trip_of(const struct function *function, unsigned loop);

/* Returns the least D with which the body is executed n times. */
int64_t trip_threshold(const struct trip *trip, uint64_t n);

#endif
