/* Several harts over one memory and its devices, run in turn by a fixed rule, so that every run repeats. */
#ifndef EMU_MACHINE_SYSTEM_H
#define EMU_MACHINE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/hart.h"
#include "emu/mem/bus.h"
#include "emu/mem/phys.h"
#include "emu/sim/error.h"
#include "isa/decode.h"

/* Without an engine, an instruction takes 1 ns on each hart, and `time` ticks at 10 MHz. Within a round each
 * hart runs the same stretch of simulated time, a quantum of instructions or less if a timer is due before;
 * then devices are brought up to date. While all harts wait for interrupts, time jumps to the next timer; a
 * timer more than 2^63 ns from the start never comes.
 *
 * A reservation (LR) ends with its hart's turn, so that a turn must be long enough for the loops that the ISA
 * promises progress (16 instructions at most): one that is cut off fails once and then succeeds within the
 * turn. With a quantum of SYSTEM_QUANTUM_MIN or more, a turn that is shorter because of a timer, which comes
 * at ticks only, is followed or preceded by one of at least a tick. */
enum { SYSTEM_TICK_NS = 100, SYSTEM_HARTS = 65, SYSTEM_QUANTUM_MIN = 100 };

enum system_stop {
    SYSTEM_LIMIT,   /* as many instructions as asked for have retired, of all harts together */
    SYSTEM_EXIT,    /* system_exit() was called: system->status */
    SYSTEM_RESET,   /* system_request_reset() was called */
    SYSTEM_BREAK,   /* hart `current` is at a breakpoint */
    SYSTEM_STEPPED, /* hart `current`, which was to step, has done so */
    SYSTEM_WATCH,   /* hart `current` has touched a watchpoint */
    SYSTEM_WATCHED, /* what the outside wanted: system_interrupt() was called */
    SYSTEM_STUCK,   /* all harts wait for an interrupt that nothing can raise */
    SYSTEM_EXPIRED, /* the engine's time is over */
};

struct system;

/* What a debugger lets a hart do; all harts begin with SYSTEM_GO. */
enum system_motion {
    SYSTEM_GO,
    SYSTEM_STEP, /* after one instruction, or the trap it takes, system_run() returns SYSTEM_STEPPED */
    SYSTEM_HOLD, /* its turns are skipped */
};

/* What the system asks of those around it. All may be NULL. */
struct system_hooks {
    /* Runs a hart in place of hart_run(): logs. */
    enum hart_stop (*run)(void *context, struct hart *hart, uint64_t max_insns);
    /* Brings devices up to date with system_time(); called at every round. */
    void (*update)(void *context);
    /* The tick at which a device changes by itself, or UINT64_MAX. */
    uint64_t (*next_event)(void *context);
    /* Nothing happens before something arrives from outside: wait for it, and return whether something may
     * come. */
    bool (*wait)(void *context);
    void (*marker)(void *context, struct hart *hart);
    /* A semihosting call: serve it, and call hart_retire_call(). */
    void (*semihosting)(void *context, struct hart *hart);
    /* The emulator will print something: what the guest has printed before comes first. */
    void (*flush)(void *context);
    void *context;
};

/* Drives the harts in place of the rounds: a machine whose cores tell how long instructions take. */
struct system_engine {
    /* Runs until the harts have retired `end` instructions in all, or something happens. True when
     * system_run() has to return *stop; otherwise it looks at exited, reset, interrupted and `end`, and calls
     * again. */
    bool (*advance)(void *context, uint64_t end, enum system_stop *stop);
    uint64_t (*now)(void *context);                  /* ns of simulated time */
    void (*timer_moved)(void *context);              /* the next timer event may have become earlier */
    void (*interrupt)(void *context, unsigned hart); /* a wire of the hart has changed */
    void (*halt)(void *context);  /* brings all harts to rest between two instructions: they will be reset */
    void (*start)(void *context); /* they have been */
    void (*quiet)(void *context); /* the host's terminal will be written to: leave no line of ours there */
    void *context;
};

struct system {
    unsigned count;
    struct hart *harts;
    struct bus bus;
    struct phys *memory;
    struct system_hooks hooks;
    const struct system_engine *engine; /* NULL: rounds, with an instruction a nanosecond */
    uint64_t quantum;                   /* in instructions, at least SYSTEM_QUANTUM_MIN */

    uint64_t round_start, round_length; /* in ns of simulated time */
    unsigned current;                   /* the hart whose turn it is, or was */
    uint64_t used;                      /* instructions that it has retired in this round */
    uint64_t turn_start;                /* its instret at the start of its turn */
    bool turn_over;                     /* it has nothing to do in the rest of its turn */
    bool waiting[SYSTEM_HARTS];
    enum system_motion motion[SYSTEM_HARTS];
    bool exited, reset, interrupted;
    int status;
};

/* Makes count (1 to SYSTEM_HARTS) privileged harts, in machine mode out of reset, over memory and decoder,
 * which must outlive the system. Devices are added to system->bus by the caller. Release with system_free().
 */
bool system_init(struct system *system, unsigned count, uint64_t quantum, struct phys *memory,
                 const struct decoder *decoder, struct error *err);
void system_free(struct system *system);

/* Puts all harts back to reset, at pc. Memory and devices are the caller's. */
void system_restart(struct system *system, uint64_t pc);

/* Runs until max_insns more instructions have retired, or something stops it. Goes on where it stopped. */
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
