/* Engines: where runs are executed. Each engine takes runs and hands back their outcomes, in any order. */
#ifndef EMU_EXPERIMENT_ENGINES_ENGINE_H
#define EMU_EXPERIMENT_ENGINES_ENGINE_H

#include <stdint.h>

#include "emu/experiment/digest.h"
#include "emu/experiment/engines/outcome.h"

struct machine_config;

/* A loaded machine, and the name and settings it was loaded from. Forked children use it instead of loading it again. */
struct engine_machine {
    const struct machine_config *config;
    const char *name;
    char *const *sets; /* as of croft run --set, NULL-terminated */
};

/* A run to execute. The texts belong to the caller and must last until the call returns. */
struct engine_run {
    int number; /* the caller's number of the run */
    const struct digest *key;
    char **words;   /* of the command, NULL-terminated: a croft, "run", ... or anything else */
    int statistics; /* index of the word that names the file of statistics; the engine replaces it. 0: none */
    bool own;       /* words[0] is this croft */
    const struct engine_machine *machine; /* the run's, if it is loaded; or NULL */
};

struct engine_done {
    int number;
    bool again; /* no outcome (memory ran short, or the run was lost): start it again */
    struct outcome outcome;
};

struct engine;

struct engine_ops {
    /* Returns whether a run can be started now. */
    bool (*room)(struct engine *engine);
    /* Starts a run. Returns 1 if it is started or queued, 0 if there is no room now after all, or -1 with err set if no run can
     * be started. */
    int (*start)(struct engine *engine, const struct engine_run *run, struct error *err);
    /* Tells the engine that the caller has no further run to start now. Returns false with err set on failure. */
    bool (*flush)(struct engine *engine, struct error *err);
    /* Waits at most `milliseconds` for a run to end, and stores its outcome to *done. Returns 1, 0 if none has ended, or -1 with
     * err set if the engine fails. */
    int (*next)(struct engine *engine, int milliseconds, struct engine_done *done, struct error *err);
    unsigned (*running)(const struct engine *engine);
    /* Ends all runs that are under way, and frees the engine. */
    void (*close)(struct engine *engine);
};

struct engine {
    const struct engine_ops *ops;
};

/* Executes a run of this croft in the calling process, a child made for it. Returns the run's exit status. Writes statistics to
 * the file descriptor `statistics`; -1: none. machine: as in struct engine_run. */
typedef int engine_body(int argc, char **argv, int statistics, const struct engine_machine *machine);

#endif
