/* Launches on the multiprocessors of a timed machine, which the host starts and waits for. Multiprocessors
 * may be in several parts of a machine, for example in each stack. A launch uses all of them; they are
 * numbered in the tree's order. Their caches are not coherent with the host's: each side sees the other's
 * stores at once, because the emulator has one copy of the bytes, but no time is charged for cleaning and
 * invalidating. */
#ifndef EMU_MACHINE_TIMED_SIMT_H
#define EMU_MACHINE_TIMED_SIMT_H

#include "emu/schema/tree.h"
#include "emu/simt/cluster.h"

struct timed;

/* Called once, when launches cannot continue. report is NULL unless a trap (GRID_TRAP) is the cause. */
typedef void timed_simt_fault(void *context, enum grid_end end, struct warp *warp,
                              const struct warp_report *report);

/* The functions of emu/simt/grid/grid.h, for machines with multiprocessors. After a fault, launches and waits fail. If
 * there is no room for a launch, timed_simt_launch() waits as timed_simt_wait() does, and returns false if
 * the run ends meanwhile. */
void timed_simt_bind(struct timed *timed, struct warp_memory *memory, const struct grid_host *host,
                     timed_simt_fault *fault, void *context);
bool timed_simt_possible(const struct timed *timed, const struct grid_launch *launch, uint32_t registers);
bool timed_simt_launch(struct timed *timed, const struct grid_launch *launch, uint32_t registers,
                       uint64_t queue, uint64_t number);
const struct simt_counters *timed_simt_counted(struct timed *timed, uint32_t multiprocessor);

/* Advances time, while the host's core does nothing, until launch `number` (0: every launch) has ended.
 * Returns false if the run ends before, by max_time, a signal or a fault. */
bool timed_simt_wait(struct timed *timed, uint64_t number);

/* The functions of struct launch_device by which the kernel serves threads. timed_simt_resume() also empties the caches of
 * page walks. */
bool timed_simt_ready(const struct timed *timed, uint64_t number);
bool timed_simt_pending(const struct timed *timed, uint64_t number, struct grid_pending *pending);
void timed_simt_resume(struct timed *timed, struct custom_waiter *waiter);
void timed_simt_forget(struct timed *timed);

/* For debuggers: the functions of emu/simt/grid/timed_grid.h. */
struct warp *timed_simt_warp(const struct timed *timed, uint32_t number);
void timed_simt_moved(struct timed *timed);

/* Makes the first-level caches of multiprocessors, if they are by word, agents of the checker. */
void timed_simt_watch(struct timed *timed);

/* For build.c. Call timed_simt_new() before making the machine's parts, and timed_simt_free() before
 * releasing them. timed_simt_site() returns the construction parameters of a part; NULL: it is left out. */
struct timed_simt;
bool timed_simt_new(struct timed *timed, struct error *err);
const struct simt_site *timed_simt_site(struct timed *timed, const struct instance *instance,
                                        const struct mem_site *memory);
void timed_simt_free(struct timed *timed);
/* Returns the component of the events in which launches and blocks begin; EVENT_COMPONENTS: there are no multiprocessors. */
uint32_t timed_simt_component(const struct timed *timed);
/* Returns the scheduler of launches' blocks; NULL: the machine has no multiprocessors. */
struct simt_grid *timed_simt_grid(const struct timed *timed);

/* Returns whether launches cannot continue. */
bool timed_simt_failed(const struct timed *timed);

/* Lets the multiprocessors' threads offload regions to the mechanism, if it takes some. Call it
 * when all parts exist. Does nothing if host 0 is privileged: with virtual addresses, threads execute regions
 * themselves. Returns false with err set on failure. */
bool timed_simt_offload(struct timed *timed, struct error *err);

/* Adds the figures of kernels (kernels.h) to the facts of the run. */
void timed_simt_facts(struct timed *timed, struct stats *stats);

/* Registers the statistics of launches. The kind of the multiprocessors publishes theirs. */
void timed_simt_publish(struct timed *timed, struct stats *stats);

#endif
