/* Launches on the multiprocessors of a machine with a clock, which the host starts and waits for. Multiprocessors can be in
 * several parts of a machine, those of each stack by themselves; a launch is one of all of them, numbered in the tree's order.
 * Not coherent with the host's caches: what one side has written the other sees at once (bytes are in one place), but no
 * cleaning is charged for it. */
#ifndef EMU_MACHINE_TIMED_SIMT_H
#define EMU_MACHINE_TIMED_SIMT_H

#include "emu/schema/tree.h"
#include "emu/simt/cluster.h"

struct timed;

/* Told once that launches cannot go on; the report is that of a trap (GRID_TRAP), else NULL. */
typedef void timed_simt_fault(void *context, enum grid_end end, struct warp *warp,
                              const struct warp_report *report);

/* For machines with multiprocessors, as simt_grid.h has them. After a fault launches and waits fail. A launch for which there is no room yet waits
 * as timed_simt_wait() does; false when something ends the run meanwhile. */
void timed_simt_bind(struct timed *timed, struct warp_memory *memory, const struct grid_host *host,
                     timed_simt_fault *fault, void *context);
bool timed_simt_possible(const struct timed *timed, const struct grid_launch *launch, uint32_t registers);
bool timed_simt_launch(struct timed *timed, const struct grid_launch *launch, uint32_t registers,
                       uint64_t queue, uint64_t number);
const struct simt_counters *timed_simt_counted(struct timed *timed, uint32_t multiprocessor);

/* Lets time pass, while the host's core does nothing, until launch `number` (0: each) has ended. False when something ends
 * the run before: max_time, a signal, or a fault. */
bool timed_simt_wait(struct timed *timed, uint64_t number);

/* For timed_build.c. To be made before the parts of the machine, which timed_simt_site() gives what they are made with (NULL:
 * they are left out), and released before them. */
struct timed_simt;
bool timed_simt_new(struct timed *timed, struct error *err);
const struct simt_site *timed_simt_site(struct timed *timed, const struct instance *instance,
                                        const struct mem_site *memory);
void timed_simt_free(struct timed *timed);

/* Registers what launches count; multiprocessors are published by their kind. */
void timed_simt_publish(struct timed *timed, struct stats *stats);

#endif
