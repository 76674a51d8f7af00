/* What determines a run: croft itself, the program's bytes, its arguments, croft run's options, the files that these name, and
 * the resolved machine. */
#ifndef EMU_EXPERIMENT_RUNS_IDENTITY_H
#define EMU_EXPERIMENT_RUNS_IDENTITY_H

#include "emu/experiment/digest.h"
#include "emu/experiment/options.h"
#include "emu/experiment/runs/task.h"

struct identity;

/* Digests croft's own files. Returns NULL and sets err if they cannot be read. Release it with identity_free(). */
struct identity *identity_new(const struct experiment_where *where, struct error *err);
void identity_free(struct identity *identity);

/* The identity of a run. The texts are valid until the next call of identity_find(). */
struct identity_run {
    struct digest key;
    const char *inputs;                  /* the text that `key` digests: a line for each input */
    const char *machine;                 /* the resolved description, without comments */
    const struct machine_config *loaded; /* the machine, if it is the one that was loaded last; or NULL */
};

/* Finds the identity of a task's run. Returns false and sets err if the run cannot begin: its program cannot be read, or its
 * machine is wrong. */
bool identity_find(struct identity *identity, const struct experiment_task *task, struct identity_run *run,
                   struct error *err);

/* Digests a program without the names of its source files: if one of them is written in assembler, the linker names the
 * compiler's temporary file, which is another one each time. Returns false and sets err if it cannot be read. */
bool identity_program(const char *path, struct digest *digest, struct error *err);

/* Digests an executable of this host: its build ID and size, or all of it. All of croft takes as long as several short runs. Returns
 * false and sets err if it cannot be read. */
bool identity_executable(const char *path, struct digest *digest, struct error *err);

#endif
