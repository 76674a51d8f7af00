/* Engines: where runs are executed. Each engine takes runs and hands back their outcomes, in any order. */
#ifndef EMU_EXPERIMENT_ENGINE_H
#define EMU_EXPERIMENT_ENGINE_H

#include <stdint.h>

#include "emu/experiment/digest.h"
#include "emu/experiment/outcome.h"

struct machine_config;

/* A machine that is loaded, and from what: children take it over, which is faster than to load it again. */
struct engine_machine {
    const struct machine_config *config;
    const char *name;
    char *const *sets; /* as of croft run --set, NULL-terminated */
};

/* A run to execute. The texts stay the caller's, until the call returns. */
struct engine_run {
    int number; /* the caller's */
    const struct digest *key;
    char **words;   /* of the command, NULL-terminated: a croft, "run", ... or anything else */
    int statistics; /* index of the word that names the file of statistics; the engine replaces it. 0: none */
    bool own;       /* words[0] is this croft */
    const struct engine_machine *machine; /* the run's, if it is loaded; or NULL */
};

struct engine_done {
    int number;
    bool again; /* there was no memory: the run has to be started again later */
    struct outcome outcome;
};

struct engine;

struct engine_ops {
    /* Returns whether a run can be started now. */
    bool (*room)(struct engine *engine);
    /* Takes a run. Returns 1 if it is taken, 0 if there turns out to be no room now, -1 with err set if no run can be started
     * at all. */
    int (*start)(struct engine *engine, const struct engine_run *run, struct error *err);
    /* Tells that no run is waiting to be started. */
    bool (*flush)(struct engine *engine, struct error *err);
    /* Hands out a run that has ended, waiting up to so many milliseconds. Returns 1, or 0 if there is none, or -1 with err
     * set if the engine is broken. */
    int (*next)(struct engine *engine, int milliseconds, struct engine_done *done, struct error *err);
    unsigned (*running)(const struct engine *engine);
    /* Ends all runs that are under way, and frees the engine. */
    void (*close)(struct engine *engine);
};

struct engine {
    const struct engine_ops *ops;
};

/* Executes the words of a run of this croft in the calling process, which has been made for it, and returns its exit status.
 * The file descriptor gets the statistics; -1: none are wanted. machine: as of struct engine_run. */
typedef int engine_body(int argc, char **argv, int statistics, const struct engine_machine *machine);

/* The processors and the memory of this machine. */
struct engine_local_options {
    const char *out; /* folder for temporary files */
    unsigned jobs;   /* runs at a time */
    uint64_t memory; /* bytes for all runs; 0: what is free */
    long expected;   /* KiB that a run takes, as far as known; 0: unknown */
    engine_body *body;
};

struct engine *engine_local(const struct engine_local_options *options);

#endif
