/* Files of /dev/shm, by which shm_open() and sem_open() share memory: of the program alone, and gone when it ends. */
#ifndef EMU_ENV_LINUX_CALLS_PATHS_SHARED_NAME_H
#define EMU_ENV_LINUX_CALLS_PATHS_SHARED_NAME_H

#include "emu/env/linux/served.h"

/* The folder of the host's that stands for /dev/shm, and its number here (own_file_stat()). */
#define SHARED_PATH   "/dev/shm"
#define SHARED_FOLDER "/proc/self/task"
enum { SHARED_NUMBER = 2 };

/* A name, and the memory file that it leads to. */
struct named_memory {
    char *name;
    int host;
};

/* Returns the name of a file of /dev/shm if a path leads there, or NULL. It has more components than one if the path leads on. */
const char *shared_name(const char *path);

/* Returns whether a path is that of the folder itself. */
bool shared_is_folder(const char *path);

/* Opens the folder. Returns a descriptor or -errno. */
int64_t shared_open_folder(struct process *process, bool close_on_exec);

/* Lists an open one's entries, as getdents64 whose arguments are a[]. */
int64_t shared_list(struct process *process, struct file *file, const uint64_t a[6]);

/* Opens such a file with Linux's flags, as its owner may. Returns a host descriptor or -errno. */
int shared_open(struct process *process, const char *name, uint64_t flags, uint64_t mode);

/* Returns the memory file of a name, which stays its own, or -errno. */
int shared_find(const struct process *process, const char *name);

/* Returns why something else than a file cannot be made there: -EEXIST, -EPERM and others. */
int64_t shared_refuse(const struct process *process, const char *name);

/* Remove a file's name (`is_folder`: as rmdir), and give it another one or, if it `moves`, a new one; `to` may be taken if it `replaces`. NULL: the path does not
 * lead to /dev/shm. Return 0 or -errno. */
int64_t shared_remove(struct process *process, const char *name, bool is_folder);
int64_t shared_link(struct process *process, const char *name, const char *to, bool moves, bool replaces);

/* Forgets all names. */
void shared_free(struct process *process);

#endif
