/* The engine that executes runs on this host, as children of this process. */
#ifndef EMU_EXPERIMENT_ENGINES_LOCAL_H
#define EMU_EXPERIMENT_ENGINES_LOCAL_H

#include "emu/experiment/engines/engine.h"

/* What the local engine uses of this host. */
struct engine_local_options {
    const char *out; /* folder for temporary files */
    unsigned jobs;   /* runs at a time */
    uint64_t memory; /* bytes for all runs; 0: the memory that is free */
    long expected;   /* KiB that a run takes, as far as known; 0: unknown */
    engine_body *body;
};

struct engine *engine_local(const struct engine_local_options *options);

#endif
