/* The run loop of every system: what stops it, who serves stops, and how harts take turns.
 *
 * system_run() lets the harts go on until one of them stops, serves the stop by the system's hooks, and goes on until
 * something ends the run: a limit, a signal, the program, or what a debugger waits for. There are two paces.
 *
 * Rounds, of systems without a clock. An instruction takes 1 ns on each hart, and `time` ticks at 10 MHz (of a user
 * program: at 1 GHz). Within a round each hart runs the same stretch of simulated time, a quantum of instructions or
 * less if a timer is due before; then devices are brought up to date. While all harts wait for interrupts, time jumps to
 * the next timer; a timer more than 2^63 ns from the start never comes. A reservation (LR) ends with its hart's turn if
 * there are others, so that a turn must be long enough for the loops that the ISA promises progress (16 instructions at
 * most): one that is cut off fails once and then succeeds within the turn. With a quantum of SYSTEM_QUANTUM_MIN or more,
 * a turn that is shorter because of a timer, which comes at ticks only, is followed or preceded by one of at least a
 * tick.
 *
 * Events, of systems with a clock: a struct scheduler over the event queue of the machine's parts. Cores run by events
 * of their own and tell scheduler_stopped() when their hart stops. Every SCHEDULER_POLL devices are brought up to date
 * and what is left of a limit is shared out; so a core that meets no other event stops there. */
#ifndef EMU_MACHINE_SCHEDULER_H
#define EMU_MACHINE_SCHEDULER_H

#include "emu/core/core.h"
#include "emu/debug/progress.h"
#include "emu/machine/system.h"

#define SCHEDULER_POLL UINT64_C(10000000000) /* fs: 10 us */

enum { SCHEDULER_COMPONENTS = 3 };

struct scheduler_core {
    struct core *core;
    bool paused; /* asleep because its hart has stopped */
};

struct scheduler {
    struct event_queue *queue;
    struct system *system;        /* whose harts the cores run; NULL: a stop only sets `stopped` */
    struct scheduler_core *cores; /* by hart */
    unsigned count;

    bool stopped; /* leave the event loop: core `stopper` has stopped, or time is over */
    unsigned stopper;
    enum hart_stop stop;
    bool served; /* the stop has been served within its event, */
    bool ends;   /* and ends system_run() */
    enum system_stop result;
    const char *expired; /* simulated time is over: by this limit; or NULL */

    struct event time_event;  /* the limit of simulated time */
    struct event timer_event; /* the next device or stimecmp is due */
    struct event poll_event;
    bool halting;     /* the harts will be reset: no core goes on */
    bool idle;        /* all cores sleep; nothing polls */
    bool waits;       /* scheduler_wait(): it polls though all cores sleep */
    uint64_t wake_at; /* system_sleep(): fs; CLOCK_NEVER: paused cores do not go on */
    struct progress progress;
    void (*reset)(void *context); /* resets the machine's parts; NULL: there are none */
    void *reset_context;
};

/* A scheduler over the queue, without cores. Its events are components first to first + SCHEDULER_COMPONENTS - 1. What is
 * passed must outlive it. Release with scheduler_free(), before the system. */
void scheduler_init(struct scheduler *scheduler, struct event_queue *queue, uint32_t first);
void scheduler_free(struct scheduler *scheduler);

/* Adds the core of the next hart. */
void scheduler_add(struct scheduler *scheduler, struct core *core);

/* From now on system_run() runs the system, whose harts the cores have, by the scheduler's events. */
void scheduler_attach(struct scheduler *scheduler, struct system *system);

/* Lets the run end at a time (fs), by --max-time. */
void scheduler_limit_time(struct scheduler *scheduler, uint64_t time);

/* Ends the run: simulated time is over, by this limit ("--max-time", or a key), which must outlive the scheduler. */
void scheduler_expire(struct scheduler *scheduler, const char *limit);

/* Shows on standard error, if that is a terminal, how far the run is. */
void scheduler_show_progress(struct scheduler *scheduler);

/* For cores (struct core_server): core number i has stopped. */
enum core_next scheduler_stopped(struct scheduler *scheduler, unsigned i, enum hart_stop stop);

/* An interrupt wire of the hart has changed. */
void scheduler_interrupt(struct scheduler *scheduler, unsigned i);

/* To be called before a message is printed: takes the progress away, and lets the guest's output come first. */
void scheduler_begin_message(struct scheduler *scheduler);

/* Lets time pass, from within hooks.trap, until met(context) is true. False when something ends the run before. */
bool scheduler_wait(struct scheduler *scheduler, bool (*met)(const void *context), const void *context);

/* Lets the hart whose call hooks.trap serves go on so many ns later; never, if that is beyond the end of simulated time
 * (clock.h). Without a clock it does nothing. */
void system_sleep(struct system *system, uint64_t ns);

/* ns of simulated time. */
uint64_t system_nanoseconds(const struct system *system);

/* The limit of simulated time that has ended the run: "--max-time", or a key. NULL while there is time. */
const char *system_time_limit(const struct system *system);

/* What follows is for system.c and scheduler*.c. */

/* Serves a stop of hart i by the hooks. True when the hart goes on; otherwise system_run() has to return *stop. */
bool scheduler_serve(struct system *system, unsigned i, enum hart_stop why, enum system_stop *stop);

/* What this system_run() leaves to the threads, and max_insns to all harts: instructions; UINT64_MAX: no limit. */
uint64_t scheduler_left_of_run(const struct system *system);
uint64_t scheduler_left_of_all(const struct system *system);

/* scheduler_rounds.c: gives a hart its turn, or what is left of it, of so many instructions at most (not 0). False when
 * system_run() has to return *stop. */
bool scheduler_turn(struct system *system, uint64_t allowed, enum system_stop *stop);

/* ns of simulated time, as the current hart sees it. */
uint64_t scheduler_round_time(const struct system *system);

/* scheduler_events.c: lets events fire until a hart stops. False when system_run() has to return *stop. */
bool scheduler_advance(struct scheduler *scheduler, enum system_stop *stop);

/* The next timer event may have become earlier. */
void scheduler_set_timer(struct scheduler *scheduler);

/* Brings all harts to rest between two instructions, as they will be reset. */
void scheduler_halt(struct scheduler *scheduler);

/* They have been. */
void scheduler_start(struct scheduler *scheduler);

#endif
