/* How much several host threads could gain: the work of each partition of a model in each window of simulated time.
 *
 * A conservative parallel simulation executes a window as long as the lookahead, the shortest time in which one partition can
 * act on another, on all threads at once; then all wait at a barrier. A window begins with the first event after the window
 * before, so that idle times cost nothing. Its time is the work of the thread that has most. A window in which something
 * happens that has no lookahead must be executed in order (windows_order()): its time is the work of all.
 *
 * Partitions are divided over threads once, by their weights, the heaviest first, each to the thread that has least. */
#ifndef EMU_MACHINE_STUDY_WINDOWS_H
#define EMU_MACHINE_STUDY_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

enum { WINDOWS_THREADS = 4, WINDOWS_MOST = 16 }; /* 2, 4, 8, 16 threads */

/* Two measures of work. */
enum windows_work { WINDOWS_EVENTS, WINDOWS_HOST, WINDOWS_WORKS };

/* Why a window is in order. */
enum windows_cause { WINDOWS_LAUNCH, WINDOWS_ATOMIC, WINDOWS_SHARED, WINDOWS_CAUSES };

struct windows;

/* The lookahead is in fs, at least 1. weights[partitions] are copied. */
struct windows *windows_new(uint64_t lookahead, const uint64_t *weights, uint32_t partitions);
void windows_free(struct windows *windows); /* accepts NULL */

/* Begins a window at `time` unless the present one lasts; returns whether it does. Times must not decrease. Call it before the
 * work of that time. */
bool windows_reach(struct windows *windows, uint64_t time);

/* Ends the present window, unless it has no work yet, and begins one at `time`. */
void windows_end(struct windows *windows, uint64_t time);

/* Adds work of a partition to the present window. */
void windows_add(struct windows *windows, uint32_t partition, enum windows_work work, double amount);

/* Puts the present window in order. */
void windows_order(struct windows *windows, enum windows_cause cause);

/* Says that a partition accesses 32-bit words of a line (at most 64; bit: a word) in the present window. Returns whether another
 * partition has written one of them in it, or, when this is a store, read one. */
bool windows_access(struct windows *windows, uint32_t partition, uint64_t line, uint64_t words, bool store);

/* The results; they end the present window. */
uint64_t windows_count(struct windows *windows);
uint64_t windows_ordered(struct windows *windows); /* windows that are in order */
uint64_t windows_by_cause(struct windows *windows,
                          enum windows_cause cause); /* these may have several causes */
double windows_total(struct windows *windows, uint32_t partition, enum windows_work work);
unsigned windows_index(unsigned threads); /* 0 to 3 for 2, 4, 8, 16 threads */
uint32_t windows_thread(const struct windows *windows, uint32_t partition,
                        unsigned threads); /* its thread of 2, 4, 8 or 16 */

/* Returns the work of all partitions over that of the slowest threads in all windows and a barrier after each; 1 without
 * work. in_order: with the windows that are in order; they need no barrier. */
double windows_gain(struct windows *windows, unsigned threads, enum windows_work work, bool in_order,
                    double barrier);

#endif
