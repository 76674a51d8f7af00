/* A program's launches on the multiprocessors of a machine with a clock: they are asynchronous, and the host's core sleeps
 * while it waits for them.
 *
 * How many registers a thread takes is what the program says, or what its reachable code names (emu/analysis/reach.h), found
 * out once for each entry. A block that its registers alone keep from fitting is taken for compiled with as few as fit (as
 * by a compiler's bound on registers), which is warned of once; the spills that this would mean are left out. */
#ifndef EMU_CMD_MULTIPROCESSORS_H
#define EMU_CMD_MULTIPROCESSORS_H

#include "emu/env/launch.h"
#include "emu/machine/timed.h"
#include "isa/decode.h"

enum { MULTIPROCESSORS_ENTRIES = 64 };

struct multiprocessors {
    struct launch_device device;
    struct timed *timed;
    const struct machine_config *machine;
    const struct decoder *decoder;
    struct launch_work work; /* the last one */
    struct launch_counts counts;
    bool warned;
    struct {
        uint64_t entry;
        uint32_t halves; /* 0: unknown */
    } demands[MULTIPROCESSORS_ENTRIES];
};

/* What a block can have in time: no more threads than a multiprocessor holds. */
void multiprocessors_limit(const struct machine_config *machine, struct grid_limits *limits);

/* The device of a machine that has multiprocessors; *m must stay where it is. `timed` is set when it exists. */
void multiprocessors_init(struct multiprocessors *m, const struct machine_config *machine,
                          const struct decoder *decoder);

#endif
