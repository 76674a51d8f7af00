/* A machine with a clock: the parts that a description asks for, built around harts that exist already. Its scheduler
 * (scheduler.h) runs them.
 *
 * Host cores have coherent first-level caches over the shared second level; accelerators have caches of their
 * own, outside of that. Both reach the memory controllers through the crossbar, if there is one. A memory
 * request that the crossbar carries goes to the controller of its first byte.
 *
 * Components are numbered in the order of their making: of events at one time, those of timers come first,
 * then memory's, the crossbar's, the second level's, and each core's with its caches and TLBs. Simulated time
 * lasts for five hours (clock.h); a timer beyond that never comes.
 *
 * A hart that stops for somebody outside (a debugger, a limit, a call) does so when all that came before is
 * done, and begins anew behind it; so debugging changes times a little. Of several harts, what one stores
 * ends the reservations that others hold in the same 64 bytes, at once.
 *
 * Calls that the emulator serves (system calls, semihosting) cost no simulated time, but all that came before
 * them is done and nothing behind them has begun. Loads and stores of the emulator itself pass no caches.
 */
#ifndef EMU_MACHINE_TIMED_H
#define EMU_MACHINE_TIMED_H

#include "emu/debug/trace.h"
#include "emu/hart/hart.h"
#include "emu/machine/machine.h"
#include "emu/machine/scheduler.h"
#include "emu/sim/stats.h"

struct nucd;

struct timed_options {
    const struct machine_config *machine; /* whose cores are timing cores */
    uint64_t max_time; /* fs of simulated time, after which the run ends; UINT64_MAX: never */
    bool roi;          /* in time only within regions of interest; else functional, with caches kept warm */
    bool check_coherence; /* look for accesses whose newest version is elsewhere */
    bool check_nucd;      /* look for accesses of tasks that their nucds do not name; needs nucd */
    bool check_dram;      /* re-read the commands of the memory against the datasheets' rules */
    struct trace *trace;  /* watches the parts; or NULL */
    /* Is told of each executed instruction, if not NULL: then all go one by one, slowly. */
    void (*observe)(void *context, struct hart *hart, const struct step_report *report);
    void *context;
    struct nucd *nucd;   /* gives accelerators tasks (emu/nucd/nucd.h); or NULL */
    const char *program; /* ELF file, for names and lines in messages; or NULL */
    bool progress;       /* show on standard error, if that is a terminal, how far the run is */
};

struct timed;

/* Builds the machine around harts[count], the first of them on the host's cores, the others on accelerators;
 * cores without a hart are left out. With nucd, accelerators beside a host that is not privileged are not
 * observed. What is passed must outlive it. Harts stay where they are: nothing runs
 * yet. NULL with err set when the host has no memory or a trace cannot be written. Release with timed_free(),
 * before the harts. */
struct timed *timed_new(const struct timed_options *options, struct hart *harts, unsigned count,
                        struct phys *memory, struct error *err);
void timed_free(struct timed *timed);

/* Registers the statistics of all parts: "sim.time", "host.0.cycles", "l2.misses" ... */
void timed_publish(struct timed *timed, struct stats *stats);

/* Simulated time in fs: that which the queue has reached. */
uint64_t timed_now(const struct timed *timed);

/* By which limit simulated time is over: "--max-time", or the key "nucd.timeout", of which standard error was told; or
 * NULL. */
const char *timed_limit(const struct timed *timed);

/* Makes system_run() and its companions drive the system, whose harts these are, in time. */
void timed_attach(struct timed *timed, struct system *system);

/* Ends the run: brings the memory up to date, closes no trace. Adds facts about the run to stats, if not
 * NULL, prints what the checks have found on standard error, and returns how many findings there are. */
unsigned timed_finish(struct timed *timed, struct stats *stats);

#endif
