/* How often a loop's body is executed each time that the loop is entered.
 *
 * The count is found for loops with one exit, a branch that compares a register with one that the loop does not change,
 * where the loop adds a constant to the first one once in each round, before the branch, or behind it if the branch is where
 * the loop begins. The constant may be in a register that the loop does not change. With D = limit - start
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
    uint64_t step; /* s; 0: it is in step_register */
    int64_t first; /* D >= first + n * s */
    /* By trip_guess() only: s is the size of what this register holds, else REGISTER_NONE. The body is executed at least n
     * times if the loop goes on while they differ:  |D| >= n * s;  less:  D > (n - 1) * s;  less or equal:  D >= (n - 1) * s */
    uint8_t step_register;
    enum trip_relation { TRIP_DIFFERS, TRIP_LESS, TRIP_LESS_EQUAL, TRIP_OTHER } relation;
    const char *unknown; /* if TRIP_UNKNOWN: why, for messages: "it has several exits" */
};

/* Returns the trip count of a loop of the function. */
struct trip trip_of(const struct function *function, unsigned loop);

/* The same, for a reader that survives a wrong count: where the step is in a register whose value is not known, and where the
 * limit is loaded in each round, by the value that it was loaded with before the loop. */
struct trip trip_guess(const struct function *function, unsigned loop);

/* Returns whether a register holds a constant of the code where a node begins. */
bool trip_constant(const struct function *function, unsigned node, unsigned reg, int64_t *constant);

/* Returns the least D with which the body is executed n times; not with a step_register. */
int64_t trip_threshold(const struct trip *trip, uint64_t n);

#endif
