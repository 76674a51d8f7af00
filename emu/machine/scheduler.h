/* The run loop of all systems: what stops it, who serves stops, and how harts take turns.
 *
 * system_run() runs the harts until one of them stops, serves the stop through the system's hooks, and
 * continues until something ends the run: a limit, a signal, the program, or an event that a debugger waits
 * for. There are two modes.
 *
 * Rounds, for systems without a clock. An instruction takes 1 ns on each hart; `time` ticks at 10 MHz (in a
 * user program at 1 GHz). In a round, each hart runs the same interval of simulated time: a quantum of
 * instructions, or less if a timer is due earlier. Then devices are updated. While all harts wait for
 * interrupts, time jumps to the next timer; a timer more than 2^63 ns after the start never fires. With
 * several harts, a reservation (LR) ends with its hart's turn, so a turn must be long enough for the LR/SC
 * loops for which the ISA guarantees progress (at most 16 instructions): a loop that is cut off fails once
 * and then succeeds within the next turn. A timer can shorten a turn, but timers fire only at ticks, so with
 * a quantum of SYSTEM_QUANTUM_MIN or more the turn before or after a shortened turn lasts at least a tick.
 *
 * Events, for systems with a clock: a struct scheduler on the event queue of the machine's parts. Cores run
 * by their own events and call scheduler_stopped() when their hart stops. Every SCHEDULER_POLL, devices are
 * updated and the remaining instruction limits are distributed to the cores; a core that meets no other event
 * stops at its limit. A bounded system_run(), such as a debugger's, also ends after SCHEDULER_QUIET polls
 * without an executed instruction, because harts may wait for others that the debugger holds. If no
 * instruction ends for a second of processor time while a core is awake, a warning is printed once, because a
 * part may never answer.
 *
 * A call for which the emulator executes instructions outside the harts, such as those of a launch's threads,
 * is served in quanta (system_open_call()). In rounds, each quantum is a turn of the calling hart, and
 * system_run() checks limits, signals and the debugger in between. In events, all quanta are one event, which
 * only the end of the run can cut short. */
#ifndef EMU_MACHINE_SCHEDULER_H
#define EMU_MACHINE_SCHEDULER_H

#include "emu/core/core.h"
#include "emu/debug/progress.h"
#include "emu/machine/system.h"

#define SCHEDULER_POLL UINT64_C(10000000000) /* fs: 10 us */

enum { SCHEDULER_COMPONENTS = 3, SCHEDULER_QUIET = 1000 };

struct scheduler_core {
    struct core *core;
    bool paused;      /* asleep because its hart has stopped */
    bool suspended;   /* system_suspend() keeps it asleep */
    uint64_t wake_at; /* set by system_sleep(): fs; CLOCK_NEVER: it never continues once it is paused */
    /* The stop `owed` is served as soon as the hart may move: a breakpoint or watchpoint to which it came while a
     * debugger held it, or the trap of a call that waited (system_resume()). */
    bool owes;
    enum hart_stop owed;
};

struct scheduler {
    struct event_queue *queue;
    struct system *system;        /* system whose harts the cores run; NULL: a stop only sets `stopped` */
    struct scheduler_core *cores; /* cores[hart] */
    unsigned count;

    bool stopped; /* leave the event loop: core `stopper` has stopped, or time is over */
    unsigned stopper;
    enum hart_stop stop;
    bool served; /* the stop was served within its event */
    bool ends;   /* the served stop ends system_run() */
    enum system_stop result;
    const char *expired; /* name of the limit at which simulated time ended; NULL: not ended */

    struct event time_event;  /* fires at the limit of simulated time */
    struct event timer_event; /* fires when the next device timer or stimecmp is due */
    struct event poll_event;
    bool halting;   /* the harts are about to be reset: no core continues */
    bool idle;      /* all cores sleep and no poll event is scheduled */
    bool waits;     /* in scheduler_wait(): polls although all cores sleep */
    bool beside;    /* set by scheduler_set_beside(): polls although all cores sleep */
    uint64_t fired; /* events since the last slice (system->slice) */
    unsigned quiet; /* polls since an instruction was last executed */
    uint64_t seen;  /* instructions executed at the last poll */
    struct {
        uint64_t host; /* processor time of this process at the start of the standstill, in ns; 0: none */
        uint64_t from; /* simulated time at its start, in fs */
        bool told;     /* the warning has been printed */
    } still;           /* a standstill: no instruction ends */
    struct progress progress;
    /* Fires the next event in place of event_queue_step(); NULL: nobody watches events. */
    bool (*step)(void *context, struct event_queue *queue);
    void *step_context;
    void (*reset)(void *context); /* resets the machine's parts; NULL: there are none */
    void *reset_context;
};

/* Initializes a scheduler without cores on the queue. Its events are components first to first +
 * SCHEDULER_COMPONENTS - 1. The queue must outlive it. Call scheduler_free() before system_free(). */
void scheduler_init(struct scheduler *scheduler, struct event_queue *queue, uint32_t first);
void scheduler_free(struct scheduler *scheduler);

/* Adds the core of the next hart. */
void scheduler_add(struct scheduler *scheduler, struct core *core);

/* Makes system_run() run the system by the scheduler's events. The scheduler's cores must run the system's
 * harts. */
void scheduler_attach(struct scheduler *scheduler, struct system *system);

/* Ends the run at `time` (fs), for --max-time. */
void scheduler_limit_time(struct scheduler *scheduler, uint64_t time);

/* Ends the run because simulated time is over. `limit` names the limit ("--max-time", or a key); the string
 * must outlive the scheduler. */
void scheduler_expire(struct scheduler *scheduler, const char *limit);

/* Shows the progress line on standard error if that is a terminal. */
void scheduler_show_progress(struct scheduler *scheduler);

/* Called by cores (struct core_server): the hart of core i has stopped. Returns whether the core continues or
 * sleeps. */
enum core_next scheduler_stopped(struct scheduler *scheduler, unsigned i, enum hart_stop stop);

/* The level of one of hart i's interrupts has changed. */
void scheduler_interrupt(struct scheduler *scheduler, unsigned i);

/* Call it before printing a message: hides the progress line and writes the guest's buffered output first. */
void scheduler_begin_message(struct scheduler *scheduler);

/* Sets whether parts other than harts are working and may interrupt harts. While they are, a system is not
 * stuck although all of its harts wait. */
void scheduler_set_beside(struct scheduler *scheduler, bool beside);

/* Lets time pass, called from hooks.trap, until met(context) is true, which can become true only in an event that changes
 * *changes. False when the run ends before, or when system_run() must return before; then scheduler_goes_on() is true, and the
 * call is repeated (system_keep_call()). */
bool scheduler_wait(struct scheduler *scheduler, bool (*met)(const void *context), const void *context,
                    const uint64_t *changes);

bool scheduler_goes_on(const struct scheduler *scheduler);

/* Lets the hart whose call hooks.trap is serving continue `ns` later, or never if that is beyond the end of
 * simulated time (clock.h). Adds up over several calls. Does nothing without a clock. */
void system_sleep(struct system *system, uint64_t ns);

/* Returns simulated time in ns. */
uint64_t system_nanoseconds(const struct system *system);

/* Returns the limit of simulated time that ended the run: "--max-time", or a key. NULL while there is time. */
const char *system_time_limit(const struct system *system);

#endif
