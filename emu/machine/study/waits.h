/* How much several host threads could gain if nothing is known in advance: threads access memory on bytes that all share, so an
 * event in which they do waits until all partitions have executed all that is before it. Other events go on in parallel.
 *
 * Each host thread has a clock of its work. An event that waits starts at the latest of all clocks, others at that of their
 * thread. At the end of a window (windows.h) all wait for all. So all events that wait are in one chain, and what the waiting
 * itself costs adds up. */
#ifndef EMU_MACHINE_STUDY_WAITS_H
#define EMU_MACHINE_STUDY_WAITS_H

#include "emu/machine/study/windows.h"

struct waits;

/* Divides partitions over threads as `windows` does, which must outlive the result. */
struct waits *waits_new(const struct windows *windows);
void waits_free(struct waits *waits); /* accepts NULL */

/* A window begins. */
void waits_window(struct waits *waits);

/* The next event of a partition waits. Call it before its work is added. */
void waits_wait(struct waits *waits, uint32_t partition);

/* Adds work of a partition. */
void waits_add(struct waits *waits, uint32_t partition, enum windows_work work, double amount);

/* Returns how often an event had to learn how far other threads are. */
uint64_t waits_count(const struct waits *waits, unsigned threads);

/* Returns all work over the latest clock; 1 without work. `barrier` is what the end of a window costs; to learn that all others
 * have passed a time costs half of it, if one of them has worked since. */
double waits_gain(const struct waits *waits, unsigned threads, enum windows_work work, double barrier);

#endif
