/* What determines a run: croft itself, the program's bytes, its arguments, croft run's options, the files that these name, and
 * the resolved machine. */
#ifndef EMU_EXPERIMENT_IDENTITY_H
#define EMU_EXPERIMENT_IDENTITY_H

#include "emu/experiment/experiment.h"

struct identity;

/* Returns NULL and sets err if croft's own files cannot be read. */
struct identity *identity_new(const struct experiment_where *where, struct error *err);
void identity_free(struct identity *identity);

/* A run's. The texts are valid until the next call. */
struct identity_run {
    struct digest key;
    const char *inputs;                  /* what the key is the digest of: one line for each thing */
    const char *machine;                 /* the resolved description, without comments */
    const struct machine_config *loaded; /* the machine, if it is the one that was loaded last; or NULL */
};

/* Returns false and sets err if the run cannot begin: its program cannot be read, or its machine is wrong. */
bool identity_find(struct identity *identity, const struct experiment_task *task, struct identity_run *run,
                   struct error *err);

#endif
