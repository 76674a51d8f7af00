/* Figures of each kernel that a program launches: what a roofline and a breakdown of stalls need. They are facts of a run
 * (stats_fact_number()), named by the kernel: "kernel.NAME.time" and so on; README.md lists them.
 *
 * A figure is the sum over the kernel's launches of what all multiprocessors and memories have counted from a launch's first
 * block to the end of its last one. Of launches that overlap, each counts all of it. */
#ifndef EMU_MACHINE_KERNELS_H
#define EMU_MACHINE_KERNELS_H

#include "emu/sim/stats.h"
#include "emu/simt/simt.h"

struct symbols;
struct kernels;

/* What the machine has counted so far. */
struct kernels_sample {
    uint64_t time, bytes; /* fs; bytes of bursts of all memories */
    uint64_t instructions, thread_instructions, flops;
    uint64_t slots[SIMT_STALLS]; /* clocks of schedulers, by cause */
};

/* Never returns NULL. `symbols` must outlive it. kernels_free() accepts NULL. */
struct kernels *kernels_new(struct symbols *symbols);
void kernels_free(struct kernels *kernels);

/* A launch of the kernel whose function begins at pc has begun or ended. */
void kernels_begin(struct kernels *kernels, uint64_t launch, uint64_t pc,
                   const struct kernels_sample *sample);
void kernels_end(struct kernels *kernels, uint64_t launch, const struct kernels_sample *sample);

/* Adds a multiprocessor's counters. */
void kernels_add(struct kernels_sample *sample, const struct simt_counters *counters, uint32_t schedulers);

/* Adds the facts, and the machine's peaks: operations and bytes per second. */
void kernels_facts(const struct kernels *kernels, uint64_t flops, uint64_t bytes, struct stats *stats);

#endif
