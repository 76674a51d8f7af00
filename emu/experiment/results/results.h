/* results.db: what runs have left, in SQLite. A run is found by the digest of what determines it, so experiments that name the
 * same file share the runs that they have in common.
 *
 * Runs are added to a transaction that results_commit() ends. The journal is a write-ahead log with synchronous = NORMAL: a
 * killed process loses nothing that was committed, and a power failure can lose the last transactions, but never damages the
 * file; runs that are lost are executed again. With synchronous = FULL each transaction would wait for the disk.
 *
 * The file's tables:
 *   text(id, digest, bytes)      texts that many runs share, each once; compressed with zstd
 *   run(key, ...)                one row a run: what determines it, how it ended, what it printed, its statistics
 *   experiment(name, ...)        the tables of each experiment, for croft report */
#ifndef EMU_EXPERIMENT_RESULTS_RESULTS_H
#define EMU_EXPERIMENT_RESULTS_RESULTS_H

#include <stdint.h>

#include "emu/experiment/digest.h"
#include "emu/experiment/engines/outcome.h"
#include "emu/experiment/results/statistics.h"

struct results;

/* Opens the file, or makes it if `make` is set. Returns NULL and sets err on failure: also if the file belongs to another
 * program or has another version's format. */
struct results *results_open(const char *path, bool make, struct error *err);

/* Commits and closes. Accepts NULL. Returns false and sets err if added runs could not be stored. */
bool results_close(struct results *results, struct error *err);

/* How a run has ended. The caller frees failure (NULL: it succeeded). */
struct results_run {
    char *failure;
    double seconds;
    long memory; /* KiB */
};

/* Finds a run. Returns 1 and fills *run, 0 if there is none, or -1 with err set. */
int results_find(struct results *results, const struct digest *key, struct results_run *run,
                 struct error *err);

/* What results_add() stores of a run besides its outcome. */
struct results_note {
    const char *inputs;  /* what determines the run, as text (identity.h) */
    const char *command; /* as typed in a shell */
    const char *machine; /* the resolved description */
    const char *failure; /* NULL: it succeeded */
};

/* Adds a run, or replaces it. If its statistics cannot be read, it is stored as failed: then *failure gets the message, which
 * the caller frees. Returns false and sets err if it cannot be stored, as on a full disk. */
bool results_add(struct results *results, const struct digest *key, const struct outcome *outcome,
                 const struct results_note *note, char **failure, struct error *err);

/* Ends the transaction, if one is open. Returns false and sets err on failure. */
bool results_commit(struct results *results, struct error *err);

/* Reads a run's statistics, to be released with statistics_free(). The names stay valid until results_close(). Returns false
 * and sets err if the run has none. */
bool results_statistics(struct results *results, const struct digest *key, struct statistics *statistics,
                        struct error *err);

/* Returns the i-th of the different sets of names that the statistics read so far have; NULL: there are fewer. */
const struct statistics_names *results_names(const struct results *results, size_t i);

/* Texts of a run. */
enum results_text { RESULTS_OUTPUT, RESULTS_MESSAGES, RESULTS_MACHINE, RESULTS_COMMAND, RESULTS_INPUTS };

/* Reads a text of a run; *text gets no bytes if there is none. The caller frees it. Returns false and sets err on failure. */
bool results_read(struct results *results, const struct digest *key, enum results_text which,
                  struct outcome_text *text, struct error *err);

/* Stores or replaces an experiment's description and tables (results.json), and reads them. `name` NULL: the one that was
 * stored last. results_experiment() returns NULL with err set if there is none; the caller frees the text. */
bool results_describe(struct results *results, const char *name, const char *description, const char *tables,
                      struct error *err);
char *results_experiment(struct results *results, const char *name, struct error *err);

#endif
