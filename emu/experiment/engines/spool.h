/* A folder that croft and its workers share: an engine that executes runs elsewhere writes a file for each run, and finds the run's
 * outcome there. All hosts need the folder, croft and the programs under the same paths.
 *
 * KEY.run is a run to execute, KEY.done its outcome, which appears whole. croft holds a lock on `lock`: a worker that finds it free
 * ends itself, so that no worker outlives its croft. */
#ifndef EMU_EXPERIMENT_ENGINES_SPOOL_H
#define EMU_EXPERIMENT_ENGINES_SPOOL_H

#include <limits.h>

#include "emu/experiment/engines/engine.h"

struct spool {
    char folder[PATH_MAX];
    int lock;
    struct spool_run {
        int number, tries;
        char key[DIGEST_TEXT];
        bool submitted;
        long job; /* the engine's numbers of job and task */
        int task;
    } * runs; /* under way */
    int count;
};

/* Makes the folder DIR/spool and takes the lock. Returns false and sets err on failure. */
bool spool_open(struct spool *spool, const char *out, struct error *err);

/* Removes the files of runs that are under way, and the folder if it is empty. */
void spool_close(struct spool *spool);

/* Writes the file of a run. Returns false and sets err on failure. */
bool spool_add(struct spool *spool, const struct engine_run *run, struct error *err);

/* Hands out a run whose outcome has arrived. Returns as engine_ops.next(). */
int spool_next(struct spool *spool, struct engine_done *done, struct error *err);

/* Returns whether the outcome of runs[i] has arrived. */
bool spool_has(const struct spool *spool, int i);

/* Removes runs[i], which has no outcome, and stores it to *done: as a run to start again or, if message is not NULL, as failed
 * with that message. */
void spool_lose(struct spool *spool, int i, const char *message, struct engine_done *done);

/* Executes the run KEY of a folder, and writes its outcome there. Returns an exit status. */
int spool_work(const char *folder, const char *key, engine_body *body);

#endif
