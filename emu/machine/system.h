/* Harts with one memory and its devices: a whole machine, or a user program with accelerators that execute
 * its tasks. All systems share one run loop (scheduler.h). */
#ifndef EMU_MACHINE_SYSTEM_H
#define EMU_MACHINE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/debug/progress.h"
#include "emu/dev/timebase.h"
#include "emu/hart/hart.h"
#include "emu/mem/phys.h"
#include "emu/mem/phys/bus.h"
#include "emu/mem/phys/memory_limit.h"
#include "emu/sim/error.h"
#include "emu/sim/snapshot/snapshot.h"
#include "isa/decode.h"

enum { SYSTEM_TICK_NS = 1000000000 / TIMEBASE_HZ };

#define SYSTEM_QUANTUM_MIN 100 /* instructions */

enum system_stop {
    SYSTEM_LIMIT,   /* system_run()'s max_insns or system->max_insns has been reached */
    SYSTEM_EXIT,    /* system_exit() was called; see system->status */
    SYSTEM_RESET,   /* system_request_reset() was called */
    SYSTEM_BREAK,   /* hart `current` is at a breakpoint */
    SYSTEM_STEPPED, /* hart `current`, in SYSTEM_STEP, has executed an instruction */
    SYSTEM_WATCH,   /* hart `current` has accessed a watchpoint */
    /* Hart `current` has trapped: an unprivileged one, and hooks.trap has not served it; one in a trap loop; or
     * hooks.marker has found that its program gives up at the trap. */
    SYSTEM_TRAP,
    SYSTEM_WATCHED, /* system_interrupt() was called */
    SYSTEM_STUCK,   /* all harts wait for an interrupt that nothing can raise */
    SYSTEM_EXPIRED, /* simulated time is over; system_time_limit() names the limit */
    SYSTEM_FULL,    /* system_limit_memory()'s limit is exceeded */
};

struct system;

/* What a debugger lets a hart do. All harts start in SYSTEM_GO. */
enum system_motion {
    SYSTEM_GO,
    SYSTEM_STEP, /* system_run() returns SYSTEM_STEPPED after one instruction or trap */
    SYSTEM_HOLD, /* the hart executes nothing */
};

/* Callbacks from the system to its users. Each may be NULL. */
struct system_hooks {
    /* Replaces hart_run() in rounds, for logs. */
    enum hart_stop (*run)(void *context, struct hart *hart, uint64_t max_insns);
    /* Updates devices to system_time(). Called every round, or every SCHEDULER_POLL. */
    void (*update)(void *context);
    /* Returns the tick at which a device next changes by itself, or UINT64_MAX. */
    uint64_t (*next_event)(void *context);
    /* Nothing can happen until input arrives: waits for input. Returns false if none can come. */
    bool (*wait)(void *context);
    /* Serves a marker. Returns true if the hart continues; false if the marker said that the program cannot: the hart is
     * now at the trap that the program has told of (hart->trap, pc), and system_run() returns SYSTEM_TRAP. */
    bool (*marker)(void *context, struct hart *hart);
    /* Serves a semihosting call; must call hart_retire_call() unless the call stays open (system_open_call()). */
    void (*semihosting)(void *context, struct hart *hart);
    /* Serves a trap of an unprivileged hart. Returns true if it was a call and is served; serving may call
     * system_sleep(), scheduler_wait() or system_open_call(). If it returns false, system_run() returns
     * SYSTEM_TRAP. */
    bool (*trap)(void *context, struct hart *hart);
    /* The emulator is about to print: write the guest's buffered output first. */
    void (*flush)(void *context);
    void *context;
};

/* A round of a system without a clock: each hart in turn runs the same interval of simulated time. */
struct system_round {
    uint64_t start, length; /* ns of simulated time */
    uint64_t turn_start;    /* current hart's progress at the start of its turn */
    bool turn_over;         /* the current hart is idle for the rest of its turn */
};

/* A call that is served in quanta (system_open_call()). */
struct system_call {
    bool open;
    unsigned hart; /* the calling hart */
    uint64_t pc;   /* address of its call instruction */
    enum hart_stop stop;
    uint64_t insns; /* executed for all calls so far */
};

struct system {
    unsigned count;
    /* The first harts: a debugger sees them. The rest are a user program's accelerators without a debugger. */
    unsigned threads;
    unsigned hosts; /* of a user program: the first harts, whose calls hooks.trap serves; else 0 */
    struct hart *harts;
    struct bus bus;
    struct phys *memory;
    struct system_hooks hooks;
    struct scheduler *scheduler; /* NULL: no clock; harts run in rounds at 1 ns per instruction */
    uint64_t quantum;            /* longest round in instructions; at least SYSTEM_QUANTUM_MIN */
    uint64_t max_insns;          /* system_run() returns when all harts together have executed this many */

    unsigned current; /* the hart whose turn it is, or that stopped last */
    struct system_round round;
    struct system_call call;
    struct progress progress; /* without a clock */
    uint64_t end;             /* where the current system_run() ends: progress of the threads */
    bool *waiting;            /* waiting[hart]: asleep until an interrupt arrives */
    enum system_motion *motion;
    bool exited, reset, interrupted, full;
    uint64_t full_pc; /* pc of hart `current` at the store that exceeded the limit of memory */
    int status;
    /* For a debugger, with a clock: system_run() returns SYSTEM_WATCHED after about this many events; 0: no
     * limit. */
    uint64_t slice;
};

/* Makes count (at least 1) privileged harts, in machine mode out of reset, over memory and decoder,
 * which must outlive the system. Devices are added to system->bus by the caller. Release with system_free().
 */
bool system_init(struct system *system, unsigned count, uint64_t quantum, struct phys *memory,
                 const struct decoder *decoder, struct error *err);

/* For debuggers: system_run() returns SYSTEM_WATCHED when the current turn, quantum or event is over. Harts are not
 * disturbed. */
void system_pause(struct system *system);

/* For debuggers that have changed a register or memory: harts that are ahead of an offloaded task execute what follows its
 * instruction again. */
void system_changed(struct system *system);

/* Makes the harts of a user program: `hosts` unprivileged harts (with a clock; otherwise 1), whose calls hooks.trap
 * serves, and `accelerators` privileged harts. Only the first host runs until system_resume(). Otherwise like
 * system_init(). */
bool system_init_user(struct system *system, unsigned hosts, unsigned accelerators, struct phys *memory,
                      const struct decoder *decoder, struct error *err);
void system_free(struct system *system);

/* Resets all harts and sets their pc. The caller resets memory and devices. */
void system_restart(struct system *system, uint64_t pc);

/* Runs until the threads have retired max_insns more instructions or a stop ends the run (scheduler.h). May
 * be called again; it then continues where it stopped. */
enum system_stop system_run(struct system *system, uint64_t max_insns);

/* For hooks.trap and hooks.semihosting: a call for which the emulator executes instructions is served in
 * quanta. The hook opens the call, executes about as many instructions as system_open_call() returns (at least
 * 1), and tells system_count_call() whether the call is over. Otherwise it leaves the hart at the call and is
 * asked to serve it again when limits, signals and the debugger have been checked. Between quanta no time
 * passes and no other hart has a turn, unless a debugger holds the calling hart. One call is open at a time: a
 * hart that then comes to a call repeats it, without reaching the hooks, until the open one is over. `insns` is
 * the number executed for all calls so far. They count against the limit of system_run() and, while the call is
 * open, against max_insns. */
uint64_t system_open_call(struct system *system, uint64_t insns);
void system_count_call(struct system *system, uint64_t insns, bool over);

/* For hooks.semihosting, without a clock: ends the turn of the calling hart, so that other harts go on. */
void system_end_turn(struct system *system);

/* For hooks.trap: keeps a call open without quanta, or closes it, after a debugger or a limit has cut its
 * wait short (scheduler_wait()). The hart repeats an open call. */
void system_keep_call(struct system *system, bool open);

/* For hooks.trap, with a clock: lets a host of a user program sleep from its stop on, until system_resume(). If that
 * is told to repeat, hooks.trap serves the host's trap again. system_resume() may be called in any event. */
void system_suspend(struct system *system, unsigned host);
void system_resume(struct system *system, unsigned host, bool repeat);

/* Returns true if a call is open: the hook, asked to serve a call, continues with it. */
bool system_in_call(const struct system *system);

/* Shows the progress line on standard error if that is a terminal, for a system without a clock. */
void system_show_progress(struct system *system);

/* Returns simulated time in ticks, as seen by the running hart. */
uint64_t system_time(const struct system *system);

/* Returns the sum of all harts' progress, which limits count. */
uint64_t system_instructions(const struct system *system);

/* Returns true when max_insns have been executed. */
bool system_limit_reached(const struct system *system);

/* Makes system_run() return SYSTEM_FULL when the limit is exceeded. The limit must outlive the system. */
void system_limit_memory(struct system *system, struct memory_limit *limit);

/* For devices and services: end the run, restart the machine, or report that a timer has changed. */
void system_exit(struct system *system, int status);
void system_request_reset(struct system *system);
void system_timer_moved(struct system *system);

/* Sets the level of a hart's interrupt, as hart_set_interrupt() does. */
void system_set_interrupt(struct system *system, unsigned hart, unsigned number, bool level);

/* Returns the tick, counted from the start, of the next timer event after tick `now`, of devices and of the
 * harts' own compare registers; UINT64_MAX if there is none. If a device is late, the result is the earliest
 * compare register's tick, or at most `now` if no compare register is due after `now`. */
uint64_t system_next_event(const struct system *system, uint64_t now);

/* Sets the value of the harts' `time` to `ticks`; time continues from there. Called when mtime is written. */
void system_set_time(struct system *system, uint64_t ticks);

/* Hides the progress line. Call it before the guest's output is written to the host. */
void system_quiet(struct system *system);

/* Saves the harts and the state of their rounds between two runs of a system without a clock, or restores them into a system that
 * has not run. `clocked`: cores will run it, so that simulated time begins at 0 and only the harts' own state counts. Devices
 * follow, because their times are relative to system_time(). Accelerators that take tasks are not restored: `count` is the number of the
 * other harts. */
void system_snapshot(struct system *system, unsigned count, bool clocked, struct snapshot *snapshot);

/* Makes system_run() return SYSTEM_WATCHED soon. Safe in a signal handler. */
void system_interrupt(struct system *system);

#endif
