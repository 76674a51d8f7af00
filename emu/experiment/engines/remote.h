/* The engines that execute runs on other hosts: Slurm and GNU parallel. */
#ifndef EMU_EXPERIMENT_ENGINES_REMOTE_H
#define EMU_EXPERIMENT_ENGINES_REMOTE_H

#include "emu/experiment/engines/engine.h"

/* Options of the engines that use Slurm and GNU parallel. */
struct engine_remote_options {
    const char *out, *croft;
    unsigned jobs;                /* runs at a time; for GNU parallel, on each host */
    const char *partition, *time; /* of Slurm; NULL: its default */
    uint64_t memory;              /* bytes of each run; 0: Slurm's default */
    const char *hosts;            /* of GNU parallel, as for its --sshlogin; NULL: this host */
};

/* Return NULL and set err if the programs are missing. */
struct engine *engine_slurm(const struct engine_remote_options *options, struct error *err);
struct engine *engine_parallel(const struct engine_remote_options *options, struct error *err);

#endif
