/* What the files of the run loop share. system.c is the top: it runs a system by rounds (rounds.c) or by
 * events (events.c). Both serve stops, and ask for limits and times, in stops.c. */
#ifndef EMU_MACHINE_RUN_STATE_H
#define EMU_MACHINE_RUN_STATE_H

#include "emu/machine/scheduler.h"

/* stops.c */

/* Serves a stop of hart i through the hooks. Returns true if the hart continues; otherwise system_run() must
 * return *stop. */
bool scheduler_serve(struct system *system, unsigned i, enum hart_stop why, enum system_stop *stop);

/* Returns true if hart i stands at an open call. A debugger that has moved its pc has ended the call. */
bool scheduler_in_call(struct system *system, unsigned i);

/* Makes this system_run() end after `max_insns` instructions of the threads. UINT64_MAX: no limit. */
void scheduler_limit_run(struct system *system, uint64_t max_insns);

/* Return the instructions left until the end of this system_run() (threads) and until max_insns (all harts),
 * both including those executed for open calls. UINT64_MAX: no limit. */
uint64_t scheduler_left_of_run(const struct system *system);
uint64_t scheduler_left_of_all(const struct system *system);

/* Shows progress when it is due, after a turn or a quantum of `insns` instructions. */
void scheduler_look(struct system *system, uint64_t insns);

/* Returns how much of the round the current hart has used, in ns. */
static inline uint64_t scheduler_turn_used(const struct system *system)
{
    return hart_progress(&system->harts[system->current]) - system->round.turn_start;
}

/* rounds.c: runs the current hart's turn, or the rest of it, for at most `allowed` instructions
 * (not 0). False when system_run() must return *stop. */
bool scheduler_turn(struct system *system, uint64_t allowed, enum system_stop *stop);

/* events.c: lets events fire until a hart stops. False when system_run() must return *stop. */
bool scheduler_advance(struct scheduler *scheduler, enum system_stop *stop);

/* Call it when the next timer event may have become earlier. */
void scheduler_set_timer(struct scheduler *scheduler);

/* Stops all harts between two instructions, before they are reset. */
void scheduler_halt(struct scheduler *scheduler);

/* Restarts the cores after the harts have been reset. */
void scheduler_start(struct scheduler *scheduler);

#endif
