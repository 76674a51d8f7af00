/* Harts over one memory and its devices: a whole machine, or a user program with the accelerators that take its tasks.
 * The run loop is the same for all of them (scheduler.h). */
#ifndef EMU_MACHINE_SYSTEM_H
#define EMU_MACHINE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/dev/timebase.h"
#include "emu/hart/hart.h"
#include "emu/mem/bus.h"
#include "emu/mem/phys.h"
#include "emu/sim/error.h"
#include "isa/decode.h"

enum { SYSTEM_TICK_NS = 1000000000 / TIMEBASE_HZ, SYSTEM_QUANTUM_MIN = 100 };

enum system_stop {
    SYSTEM_LIMIT,   /* system_run()'s max_insns, or system->max_insns, have retired */
    SYSTEM_EXIT,    /* system_exit() was called: system->status */
    SYSTEM_RESET,   /* system_request_reset() was called */
    SYSTEM_BREAK,   /* hart `current` is at a breakpoint */
    SYSTEM_STEPPED, /* hart `current`, which was to step, has done so */
    SYSTEM_WATCH,   /* hart `current` has touched a watchpoint */
    SYSTEM_TRAP, /* hart `current`, which is not privileged, has trapped, and hooks.trap does not serve it */
    SYSTEM_WATCHED, /* what the outside wanted: system_interrupt() was called */
    SYSTEM_STUCK,   /* all harts wait for an interrupt that nothing can raise */
    SYSTEM_EXPIRED, /* simulated time is over: system_time_limit() says by which limit */
};

struct system;

/* What a debugger lets a hart do; all harts begin with SYSTEM_GO. */
enum system_motion {
    SYSTEM_GO,
    SYSTEM_STEP, /* after one instruction, or the trap it takes, system_run() returns SYSTEM_STEPPED */
    SYSTEM_HOLD, /* it executes nothing */
};

/* What the system asks of those around it. All may be NULL. */
struct system_hooks {
    /* Runs a hart in place of hart_run(), in rounds: logs. */
    enum hart_stop (*run)(void *context, struct hart *hart, uint64_t max_insns);
    /* Brings devices up to date with system_time(); called at every round, or every SCHEDULER_POLL. */
    void (*update)(void *context);
    /* The tick at which a device changes by itself, or UINT64_MAX. */
    uint64_t (*next_event)(void *context);
    /* Nothing happens before something arrives from outside: wait for it, and return whether something may
     * come. */
    bool (*wait)(void *context);
    void (*marker)(void *context, struct hart *hart);
    /* A semihosting call: serve it, and call hart_retire_call(). */
    void (*semihosting)(void *context, struct hart *hart);
    /* A trap of a hart that is not privileged. True when it was a call, which is served now and may have called
     * system_sleep() or scheduler_wait(); false: system_run() returns SYSTEM_TRAP. */
    bool (*trap)(void *context, struct hart *hart);
    /* The emulator will print something: what the guest has printed before comes first. */
    void (*flush)(void *context);
    void *context;
};

/* A round of a system without a clock: each hart in turn runs the same stretch of simulated time. */
struct system_round {
    uint64_t start, length; /* in ns of simulated time */
    uint64_t turn_start;    /* the current hart's progress at the start of its turn */
    bool turn_over;         /* it has nothing to do in the rest of its turn */
};

struct system {
    unsigned count;
    unsigned
        threads; /* the first harts, which a debugger sees; the others are a user program's accelerators */
    struct hart *harts;
    struct bus bus;
    struct phys *memory;
    struct system_hooks hooks;
    struct scheduler
        *scheduler;     /* NULL: there is no clock; harts run in rounds, an instruction a nanosecond */
    uint64_t quantum;   /* the longest round, in instructions: at least SYSTEM_QUANTUM_MIN */
    uint64_t max_insns; /* system_run() returns when all harts together have executed so many */

    unsigned current; /* the hart whose turn it is, or that has stopped last */
    struct system_round round;
    uint64_t end;  /* of this system_run(): progress of the threads */
    bool *waiting; /* by hart: asleep until there is an interrupt */
    enum system_motion *motion;
    bool exited, reset, interrupted;
    int status;
};

/* Makes count (at least 1) privileged harts, in machine mode out of reset, over memory and decoder,
 * which must outlive the system. Devices are added to system->bus by the caller. Release with system_free().
 */
bool system_init(struct system *system, unsigned count, uint64_t quantum, struct phys *memory,
                 const struct decoder *decoder, struct error *err);

/* Makes the harts of a user program: its own, which is not privileged and whose calls hooks.trap serves, and so
 * many privileged ones of accelerators. As system_init() otherwise. */
bool system_init_user(struct system *system, unsigned accelerators, struct phys *memory,
                      const struct decoder *decoder, struct error *err);
void system_free(struct system *system);

/* Puts all harts back to reset, at pc. Memory and devices are the caller's. */
void system_restart(struct system *system, uint64_t pc);

/* Runs until the threads have retired max_insns more instructions, or something stops it (scheduler.h). Goes on where
 * it stopped. */
enum system_stop system_run(struct system *system, uint64_t max_insns);

/* Simulated time in ticks, as the running hart sees it. */
uint64_t system_time(const struct system *system);

/* The progress of all harts together: what limits count. */
uint64_t system_instructions(const struct system *system);

/* For devices and services: ends the run, restarts the machine, or looks at timers anew. */
void system_exit(struct system *system, int status);
void system_request_reset(struct system *system);
void system_timer_moved(struct system *system);

/* Drives one of the wires of a hart: hart_set_interrupt(). */
void system_set_interrupt(struct system *system, unsigned hart, unsigned number, bool level);

/* The tick, counted from the start, of the next timer event after tick `now`: of devices and of the harts'
 * own compare registers. At most now when a device is late; UINT64_MAX when there is none. */
uint64_t system_next_event(const struct system *system, uint64_t now);

/* Lets the harts' `time` read `ticks` from now on: mtime was written. */
void system_set_time(struct system *system, uint64_t ticks);

/* To be called before the guest's output is written to the host. */
void system_quiet(struct system *system);

/* Makes system_run() return SYSTEM_WATCHED soon. May be called from a signal handler. */
void system_interrupt(struct system *system);

#endif
