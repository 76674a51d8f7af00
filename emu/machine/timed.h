/* A timed machine: the parts of a machine description, built around existing harts and run by a scheduler
 * (scheduler.h).
 *
 * Host cores have coherent first-level caches above the shared second level; the caches of accelerators are
 * not coherent. Both reach the memory controllers through the crossbar, if there is one. The crossbar sends a
 * memory request to the controller of its first byte.
 *
 * Components are numbered in the order in which they are made. So of events at the same time, those of timers
 * come first, then those of the memories, the crossbar, the second level, and each core with its caches and
 * TLBs. Simulated time ends after five hours (clock.h); a timer later than that never fires.
 *
 * A hart stops for the outside (a debugger, a limit, a call) when all its earlier instructions are complete,
 * and starts again with an empty pipeline; so debugging changes times slightly. A store of one hart
 * immediately ends the reservations that other harts hold in the same 64 bytes.
 *
 * Calls that the emulator serves (system calls, semihosting) take no simulated time, but all earlier
 * instructions are complete and no later ones have started. Loads and stores by the emulator itself bypass
 * all caches. */
#ifndef EMU_MACHINE_TIMED_H
#define EMU_MACHINE_TIMED_H

#include <stdio.h>

#include "emu/core/mechanism.h"
#include "emu/debug/trace.h"
#include "emu/hart/hart.h"
#include "emu/machine/machine.h"
#include "emu/machine/scheduler.h"
#include "emu/sim/report/stats.h"

struct timed_options {
    const struct machine_config *machine; /* a machine with timed cores */
    uint64_t max_time; /* limit of simulated time in fs, at which the run ends; UINT64_MAX: none */
    /* time only regions of interest; elsewhere execute functionally and keep caches warm */
    bool roi;
    /* report accesses to lines whose newest version is elsewhere; not in the caches of multiprocessors */
    bool check_coherence;
    bool check_tasks;    /* let the mechanism check its tasks */
    bool check_dram;     /* check the memories' commands against the datasheets' rules */
    struct trace *trace; /* a trace of the parts, or NULL */
    /* Called for each executed instruction, of a user program's accelerators only for those of regions; NULL:
     * not called. Makes execution slow, because instructions are stepped. */
    void (*observe)(void *context, struct hart *hart, const struct step_report *report);
    void *context;
    struct core_mechanism mechanism; /* takes instructions from cores, and runs accelerators; or none */
    /* Results depend on neither; 0: one. threads: of the host, on which the run is executed (timed/windows.h); queues: without several
     * threads, partitions (plan/cut.h) share so many. */
    unsigned threads, queues;
    bool study;          /* measure what a parallel simulation could gain; not with a trace */
    const char *program; /* ELF file, for symbols and lines in messages, or NULL */
    uint64_t bias;       /* symbols_move() */
    bool progress;       /* show progress on standard error if that is a terminal */
};

struct timed;

/* Builds the machine around harts[count]: the first ones on the host's cores, the others on accelerators.
 * Cores without a hart are left out. What the arguments point to must outlive the machine. No hart runs yet.
 * Returns NULL with err set on failure. Release the machine with timed_free(), before the harts. */
struct timed *timed_new(const struct timed_options *options, struct hart *harts, unsigned count,
                        struct error *err);
void timed_free(struct timed *timed);

/* Registers the statistics of all parts: "sim.time", "host.0.cycles", "l2.misses" ... */
void timed_publish(struct timed *timed, struct stats *stats);

/* Returns the energies of all parts, after timed_publish(). */
const struct energy_ledger *timed_energies(const struct timed *timed);

/* Returns the simulated time that the event queue has reached, in fs. */
uint64_t timed_now(const struct timed *timed);

/* Returns whether a fault has ended the run while several threads worked, so that statistics are not those of one thread. */
bool timed_cut_short(const struct timed *timed);

/* Returns the queue whose events move the machine's time. */
struct event_queue *timed_queue(struct timed *timed);

/* Returns the limit of simulated time that has ended the run: "--max-time", or a key, which standard error has reported; or
 * NULL. */
const char *timed_limit(const struct timed *timed);

/* Makes system_run() run the system, whose harts must be the machine's, in simulated time. */
void timed_attach(struct timed *timed, struct system *system);

/* Prints what a parallel simulation could gain, if the options ask for it (emu/machine/study/study.h). */
void timed_study(struct timed *timed, FILE *file);

/* Ends the run: brings the statistics of the parts up to date. Does not close the trace. Adds facts about the
 * run to `stats` unless it is NULL. Prints the results of the checks on standard error. Returns the number of
 * checks and memories with findings. */
unsigned timed_finish(struct timed *timed, struct stats *stats);

#endif
