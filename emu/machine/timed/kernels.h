/* Figures of each kernel that a program launches: what a roofline and a breakdown of stalls need. They are
 * facts of a run (stats_fact_number()), named by the kernel: "kernel.NAME.time" and so on; README.md lists
 * them.
 *
 * A figure is the sum over the kernel's launches. A launch's share is what all multiprocessors and memories
 * count from the start of its first block to the end of its last one; launches that overlap each include all
 * of that. */
#ifndef EMU_MACHINE_TIMED_KERNELS_H
#define EMU_MACHINE_TIMED_KERNELS_H

#include "emu/sim/report/stats.h"
#include "emu/simt/multiprocessor.h"

struct symbols;
struct kernels;

/* What the machine has counted so far. */
struct kernels_sample {
    uint64_t time, bytes; /* fs; bytes of bursts of all memories */
    uint64_t instructions, thread_instructions, flops;
    uint64_t slots[SIMT_STALLS]; /* clocks of schedulers, by cause */
};

/* Never returns NULL. `symbols` must outlive the result. kernels_free() accepts NULL. */
struct kernels *kernels_new(struct symbols *symbols);
void kernels_free(struct kernels *kernels);

/* Record that launch number `launch`, of the kernel whose function starts at pc, has begun or ended. */
void kernels_begin(struct kernels *kernels, uint64_t launch, uint64_t pc,
                   const struct kernels_sample *sample);
void kernels_end(struct kernels *kernels, uint64_t launch, const struct kernels_sample *sample);

/* Adds a multiprocessor's counters to the sample. */
void kernels_add(struct kernels_sample *sample, const struct simt_counters *counters, uint32_t schedulers);

/* Adds the kernels' facts to stats, with the machine's peaks: `flops` and `bytes` per second. Adds nothing if
 * no kernel was launched. */
void kernels_facts(const struct kernels *kernels, uint64_t flops, uint64_t bytes, struct stats *stats);

#endif
