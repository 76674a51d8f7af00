/* How an experiment is executed: paths, and values from the command line. */
#ifndef EMU_EXPERIMENT_OPTIONS_H
#define EMU_EXPERIMENT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/experiment/engines/engine.h"

enum experiment_engine { EXPERIMENT_LOCAL, EXPERIMENT_SLURM, EXPERIMENT_PARALLEL };

/* Paths, and values from the command line. */
struct experiment_where {
    const char *croft, *out, *folder; /* folder: the description's */
    const char *results;              /* path of results.db */
    const char *machines;             /* folder of the shipped machines */
    const char *parts[4]; /* files that are part of croft, ended by NULL: they determine runs, too */
    const char *const *sets;
    size_t set_count;
    unsigned jobs;
    uint64_t memory; /* bytes for all runs; 0: what is free */
    enum experiment_engine engine;
    const char *partition, *time, *hosts; /* the first two for Slurm, hosts for GNU parallel; NULL: none */
    bool retry_failed;
    engine_body *body;
};

#endif
