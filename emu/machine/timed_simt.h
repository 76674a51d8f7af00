/* The multiprocessors of a machine with a clock: their caches, the crossbar to the slices of their second level, and the
 * launches that the host starts and waits for. Slices reach memory by the machine's crossbar if there is one, else
 * directly. Not coherent with the host's caches: what one side has written the other sees at once (bytes are in one
 * place), but no cleaning is charged for it. */
#ifndef EMU_MACHINE_TIMED_SIMT_H
#define EMU_MACHINE_TIMED_SIMT_H

#include "emu/core/simt_grid.h"

struct timed;

/* Why launches cannot go on. */
struct timed_simt_failure {
    enum grid_end end; /* GRID_DONE: they can */
    struct warp *warp;
    struct warp_report report; /* of GRID_TRAP */
};

/* Whether the machine has multiprocessors; the others are for machines that do. */
bool timed_simt_present(const struct timed *timed);

/* As simt_grid.h has them. */
void timed_simt_bind(struct timed *timed, struct warp_memory *memory, const struct grid_host *host);
bool timed_simt_possible(const struct timed *timed, const struct grid_launch *launch, uint32_t registers);
uint64_t timed_simt_launch(struct timed *timed, const struct grid_launch *launch, uint32_t registers,
                           uint64_t queue);

/* Lets time pass, while the host's core does nothing, until launch `number` (0: each) has ended. False when something ends
 * the run before: max_time, a signal, or a failure. */
bool timed_simt_wait(struct timed *timed, uint64_t number);

/* After a failure timed_run() returns HART_STOP_YIELD. */
const struct timed_simt_failure *timed_simt_failure(const struct timed *timed);

/* For timed_build.c. NULL for a machine without multiprocessors. Needs memory, and the crossbar if there is to be one. */
struct timed_simt;
bool timed_simt_new(struct timed *timed, struct error *err);
void timed_simt_free(struct timed *timed);
void timed_simt_publish(struct timed *timed, struct stats *stats);

#endif
