/* Files of /dev/shm, by which shm_open() and sem_open() share memory: of the program alone, and gone when it ends. */
#ifndef EMU_ENV_LINUX_CALLS_PATHS_SHARED_NAME_H
#define EMU_ENV_LINUX_CALLS_PATHS_SHARED_NAME_H

#include "emu/env/linux/served.h"

/* Returns the name of a file of /dev/shm if a path leads there, or NULL. */
const char *shared_name(const char *path);

/* Opens such a file with Linux's flags. Returns a host descriptor or -errno. */
int shared_open(struct process *process, const char *name, uint64_t flags, uint64_t mode);

/* Remove a file's name, and give it another one or, if it `moves`, a new one; `to` may be taken if it `replaces`. NULL: the path does not
 * lead to /dev/shm. Return 0 or -errno. */
int64_t shared_remove(struct process *process, const char *name);
int64_t shared_link(struct process *process, const char *name, const char *to, bool moves, bool replaces);

/* Forgets all names. */
void shared_free(struct process *process);

#endif
