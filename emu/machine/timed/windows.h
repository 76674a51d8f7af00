/* One run on several threads of the host, with the statistics of one (emu/sim/threads/turns.h). The machine is cut into partitions
 * (plan/cut.h), which share the threads; hosts, launches and devices are in the first one's. While all hosts wait for launches whose blocks
 * have all begun, each thread fires the events of its partitions in windows as long as the lookahead. At other times, one thread fires
 * all events. */
#ifndef EMU_MACHINE_TIMED_WINDOWS_H
#define EMU_MACHINE_TIMED_WINDOWS_H

#include <stdbool.h>

#include "emu/sim/error.h"
#include "emu/sim/report/stats.h"

struct timed;

/* timed_windows_check() refuses what several threads cannot execute, with the reason: false with err set. Call it when the machine is planned and
 * its partitions are divided. timed_windows_start() starts the threads, when the parts are made; timed_windows_free() ends them. */
bool timed_windows_check(struct timed *timed, struct error *err);
bool timed_windows_start(struct timed *timed, struct error *err);
void timed_windows_free(struct timed *timed);

/* Executes the next window, if one can begin now. Returns whether it did. */
bool timed_windows_step(struct timed *timed);

/* Adds the number of threads, that of windows, and the share of events in them to what `stats` has of the host. */
void timed_windows_facts(const struct timed *timed, struct stats *stats);

/* Returns whether the run has ended within a window: other threads have then executed the rest of it, so the statistics are not those of
 * one thread. */
bool timed_windows_failed(const struct timed *timed);

#endif
